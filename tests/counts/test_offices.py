"""Tables in the styles of offices: each is read with the right cells, or refused in one message."""

import itertools

import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.errors import InputError

EUROSTAT_BULK = (
    "freq,sex,geo\\TIME_PERIOD\t2021 \t2022 \n"
    "A,F,AT\t1204 \t1198 e\nA,F,BE\t876 b\t: c\nA,M,AT\t: \t1130 p\n"
)
EUROSTAT = """Dataset: Enterprises [demo]
Last updated: 01/02/2024

GEO,Total,0 to 9,10 or more
Austria,"1,204","1,100",104
Belgium,876 (b),:c,: u
Total,2080,:,300 ep

Special value:
: not available
"""
ONS = """Table 1: Residents by area and sex
This worksheet contains one table. Some shorthand is used: [c] confidential
Area,Sex,Count
Hartlepool,Female [note 1],"8,204"
Hartlepool,Male,[c]
Hartlepool,Total,"16,511"
"""
CENSUS = """"Sex","Race","Count"
"Total","Total","1,530"
"Female","Total","(D)"
"Female","White","701 r"
"Male","Total","<5"
Source: own census. D = withheld to avoid disclosing data.
"""
DESTATIS = """Bev\xf6lkerung: Kreise, Geschlecht;;;
Stichtag 31.12.2022;;;
;Geschlecht;;
Kreis;m\xe4nnlich;weiblich;Insgesamt
"Flensburg, Stadt";45.124;46.989;92.113
Kiel;.;.;247.717
Insgesamt;165.931;173.899;339.830
__________
\xa9 Amt
"""
STATCAN = """"Geography","Industry","2022"
"Canada","All","12,515"
"Ontario","All","7,020 E"
"Ontario","Mining","x"
"Quebec","Mining",".."
"""
INSEE = "D\xe9partement;Ensemble;Hommes;Femmes\nAin;652 432;320 115;332 317\nAisne;531 345;s;s\n"
SWISS = "Kanton,Total,M,F\nZ\xfcrich,1'204,600,604\nBern,980,X,X\n"
AUSTRIA = "Bezirk;Sex;Anzahl\nA;m;12\nA;w;G\n"
SCOTLAND = "Council,Age,count\nFife,0-4,1 204\nFife,5-9,*\nFife,Total,2 300\n"


@pytest.mark.parametrize(
    ("text", "given", "low", "high"),
    [  # the cells in order, as what each tells
        (EUROSTAT_BULK, {}, [1204, 1198, 876, 0, 0, 1130], [1204, 1198, 876, None, None, 1130]),
        (EUROSTAT, {"across": ["t.csv=size"]},
         [1204, 1100, 104, 876, 0, 0, 2080, 0, 300],
         [1204, 1100, 104, 876, None, None, 2080, None, 300]),
        (ONS, {"below": 10}, [8204, 0, 16511], [8204, 9, 16511]),
        (CENSUS, {}, [1530, 0, 701, 0], [1530, None, 701, 4]),
        (DESTATIS, {}, [45124, 46989, 92113, 0, 0, 247717, 165931, 173899, 339830],
         [45124, 46989, 92113, None, None, 247717, 165931, 173899, 339830]),
        (STATCAN, {"across": ["t.csv=year"], "total": ["Canada"]},
         [12515, 7020, 0, 0], [12515, 7020, None, None]),
        (INSEE, {"across": ["t.csv=sexe"]}, [652432, 320115, 332317, 531345, 0, 0],
         [652432, 320115, 332317, 531345, None, None]),
        (SWISS, {"across": ["t.csv=sex"]}, [1204, 600, 604, 980, 0, 0],
         [1204, 600, 604, 980, None, None]),
        (SCOTLAND, {}, [1204, 0, 2300], [1204, None, 2300]),
    ],
)  # fmt: skip
def test_printed_in_the_style_of_an_office(tmp_path, text, given, low, high):
    (tmp_path / "t.csv").write_text(text)
    cells = Publication(texts_tell_nothing=True, **given).read([tmp_path / "t.csv"])
    assert [cell.count.low for cell in cells] == low
    assert [cell.count.high for cell in cells] == high


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        (AUSTRIA.replace("Anzahl", "Zahl"), {}, "write a column `count`"),
        (AUSTRIA, {}, "line 3, column Anzahl: 'G' is neither a number"),
        (AUSTRIA.replace("Anzahl", "count"), {}, "line 3, column count: 'G' is neither a number"),
        (SWISS.replace("Total,M,F", "K,A,B"), {}, "--across t.csv=NAME"),
        (
            SWISS.replace("980", "n.a."),
            {"across": ["t.csv=sex"]},
            "column Total: 'n.a.' is neither a number",
        ),
        (STATCAN.replace("7,020 E", "F!"), {"across": ["t.csv=year"]}, "line 3, column 2022: 'F!'"),
        # totals that do not add because each cell is rounded by itself
        ("area,count\nN,1005\nS,500\nTotal,1510\n", {}, "contradict each other"),
        (EUROSTAT_BULK.replace("876 b", "876 (q9)"), {}, "line 3, column 2021: a value"),
    ],
)
def test_refused_where_it_is_not_understood(tmp_path, text, given, said):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=said) as error:
        audit_tables(Publication(texts_tell_nothing=True, **given).read([tmp_path / "t.csv"]))
    assert "t.csv" in str(error.value)


def test_totals_that_do_not_add_are_read_as_rounded(tmp_path):
    (tmp_path / "t.csv").write_text("area,count\nN,1005\nS,500\nTotal,1510\n")
    cells = Publication(texts_tell_nothing=True, rounded="5").read([tmp_path / "t.csv"])
    assert [(one.low, one.high) for one in audit_tables(cells).cells] == [
        (1006, 1007), (501, 502), (1508, 1509),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "odd", ["n.a.", "F", "G", "??", "12 km2", "a12", "(-)", "-", "1,2,3", "not available"]
)
def test_an_odd_cell_never_makes_labels_of_a_column_of_values(tmp_path, odd):
    """A wide table is read whole, or the odd cell is named: columns are not left out in silence."""
    numbers = [str(100 + n) for n in range(12)]
    for at in range(12):
        some = [*numbers[:at], odd, *numbers[at + 1 :]]
        rows = [[f"r{row}", *some[3 * row : 3 * row + 3]] for row in range(4)]
        lines = [["area", "F", "M", "X"], *rows]
        (tmp_path / "t.csv").write_text("\n".join(";".join(line) for line in lines) + "\n")
        said, cells = "", []
        try:
            cells = Publication(texts_tell_nothing=True, across=["t.csv=sex"]).read(
                [tmp_path / "t.csv"]
            )
        except InputError as error:
            said = str(error)
        if said:
            assert f"line {at // 3 + 2}" in said
        else:
            assert len(cells) == 12
            assert set(itertools.chain(*(cell.labels for cell in cells))) == {"area", "sex"}


def test_rows_without_numbers_are_not_taken_for_titles(tmp_path):
    (tmp_path / "t.csv").write_text("Title;;\narea;F;M\nN;1;2\nS;;x\nW;x;c\nE;c;x\n")
    cells = Publication(texts_tell_nothing=True, across=["t.csv=sex"], flat=["area"]).read(
        [tmp_path / "t.csv"]
    )
    assert [cell.labels["area"] for cell in cells] == list("NNSSWWEE")
    (tmp_path / "t.csv").write_text("Title;;\narea;F;M\nN;1;2\nS;;\nW;x;c\nE;c;x\n")
    with pytest.raises(InputError, match="line 4 has a text alone"):
        Publication(texts_tell_nothing=True, across=["t.csv=sex"]).read([tmp_path / "t.csv"])


@pytest.mark.parametrize("text", ["3 k", "1.5 m", "12 kg"])
def test_units_are_no_flags(tmp_path, text):
    (tmp_path / "t.csv").write_text(f"area,count\nN,{text}\n")
    with pytest.raises(InputError, match="line 2, column count"):
        Publication(texts_tell_nothing=True).read([tmp_path / "t.csv"])
