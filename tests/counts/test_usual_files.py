"""Usual files of offices, in four languages: each is decided after two declarations at most."""

import pytest

from narcissus.counts import Publication, audit_tables

GERMAN = """Tabelle 3: Bev\u00f6lkerung nach Kreisen und Geschlecht
Stand: 31.12.2023

Kreis;Geschlecht;Anzahl;Anteil in %
Insgesamt;Insgesamt;12.480;100,0
Insgesamt;weiblich;6.340;50,8
Insgesamt;m\u00e4nnlich;6.140;49,2
Ahrweiler;Insgesamt;5.210;41,7
Ahrweiler;weiblich;2.650;21,2
Ahrweiler;m\u00e4nnlich;2.560;20,5
Mayen;Insgesamt;7.270;58,3
Mayen;weiblich;.;.
Mayen;m\u00e4nnlich;.;.
Hinweis: . = Zahlenwert geheim zu halten
Quelle: Statistisches Landesamt, 2024
"""
FRENCH = """Tableau 2 : Personnes selon la r\u00e9gion et le sexe
Champ : France
D\u00e9partement;Ensemble;Hommes;Femmes
Ensemble;1 942;960;982
Ain;652;320;332
Aisne;531;s;s
Allier;759;s;s
s : secret statistique
Source : Insee, recensement de la population
"""
SPANISH = """Poblaci\u00f3n por municipio y edad, 2022

Municipio;0-17;18-64;65 y m\u00e1s;Total
\u00c1vila;120;340;95;555
B\u00e9jar;44;131;*;*
Coria;61;180;52;293
Deva;*;77;*;121
Total;*;728;*;1.208
Fuente: Instituto Nacional de Estad\u00edstica
* dato protegido por secreto estad\u00edstico
"""
ENGLISH = """"Table 4. Employees by industry and year"
"Geography: All regions"

"Industry","2021","2022"
"All industries","12,515","12,980"
"Agriculture","1,240","1,301"
"Mining [note 1]","x","x"
"Construction","4,021","4,177"
"Services","x","x"

"[note 1] Includes quarrying"
"Symbol legend: x suppressed to meet the confidentiality requirements"
"Source: Office of Labour Statistics"
"""


def decide(path, **given):
    """Return the answer of `narcissus tables`, and how many questions are left."""
    read = Publication(**given).understand([path])
    audit = audit_tables(*read.sure)
    if any(one.determined for one in audit.hidden):
        return "exceeded", 0
    return ("undeclared" if read.unaccounted else "met"), len(read.unaccounted)


@pytest.mark.parametrize(
    ("name", "text", "given", "verdict"),
    [
        ("kreise_2023.csv", GERMAN, {}, "exceeded"),  # a share of one decimal tells a count
        ("departements.csv", FRENCH, {}, "met"),
        ("municipios.csv", SPANISH, {}, "exceeded"),
        ("table 4.csv", ENGLISH, {"flat": ["Industry"]}, "met"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_text_of_an_office_is_decided(tmp_path, name, text, given, verdict, encoding):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    assert len(given) < 2
    assert decide(path, texts_tell_nothing=True, **given) == (verdict, 0)
    if verdict == "met":
        assert decide(path, **given)[0] == "undeclared"


HEAD = [
    ["Table 1: Residents by area, sex and age, 2023"],
    [],
    ["Area", "Female", None, None, "Male", None, None],
    [None, "0-17", "18+", "Total", "0-17", "18+", "Total"],
]
ROWS = [
    ["Ashby", 31, 140, 171, 28, 151, 179],
    ["Brampton", "c", "c", 96, "c", "c", 98],
    ["Corby", 22, 101, 123, 15, 97, 112],
    ["Derby", "c", "c", 58, "c", "c", 61],
    ["Total", 80, 368, 448, 75, 375, 450],
]
FOOT = [[], ["c = confidential"], ["Source: Office for National Statistics"]]


def write_residents(path):
    openpyxl = pytest.importorskip("openpyxl")
    styles = openpyxl.styles
    made = openpyxl.Workbook()
    made.active.title = "Contents"
    for row in (["Residents by area"], ["Published 14 March 2024"], ["Table 1", "Residents"]):
        made.active.append(row)
    sheet = made.create_sheet("Table 1")
    for row in [*HEAD, *ROWS, *FOOT]:
        sheet.append(row)
    for area in ("B3:D3", "E3:G3", "A3:A4"):
        sheet.merge_cells(area)
    for row in sheet["A3:G4"]:
        for cell in row:
            cell.font = styles.Font(bold=True)
            cell.alignment = styles.Alignment(horizontal="center")
    for cell in sheet[9]:
        cell.font = styles.Font(bold=True)
        cell.border = styles.Border(top=styles.Side("thin"))
    sheet["A1"].font = styles.Font(bold=True, size=14)
    sheet.column_dimensions["A"].width = 22
    sheet.freeze_panes = "B5"
    made.save(path)


def write_admissions(path):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Data"
    counts = {
        "North": [31, "x", "x", 140],
        "South": ["x", 44, "x", 160],
        "West": ["x", "x", 88, 133],
        "Total": [87, 83, 263, 433],
    }
    for row in (
        ["Hospital admissions by district and diagnosis"],
        [],
        ["district", "diagnosis", "count"],
    ):
        sheet.append(row)
    for area, numbers in counts.items():
        for label, number in zip(["Asthma", "Diabetes", "Other", "Total"], numbers, strict=True):
            sheet.append([area, label, number])
            fill = openpyxl.styles.PatternFill("solid", fgColor="FFEEEEEE")
            for cell in sheet[sheet.max_row] if sheet.max_row % 2 else ():
                cell.fill = fill
    sheet.auto_filter.ref = f"A3:C{sheet.max_row}"
    sheet.append([])
    sheet.append(["x: confidential"])
    made.save(path)


@pytest.mark.parametrize("write", [write_residents, write_admissions])
def test_a_workbook_of_an_office_is_decided(tmp_path, write):
    path = tmp_path / "residents.xlsx"
    write(path)
    assert decide(path)[0] == "undeclared"
    assert decide(path, texts_tell_nothing=True) == ("met", 0)
