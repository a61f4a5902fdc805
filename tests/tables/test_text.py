"""Delimited text: what is above and below a table is left out, and two parsers agree."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus import Bins
from narcissus.errors import InputError, TooLargeError
from narcissus.tables import read_table
from narcissus.tables import text as module
from narcissus.tables.parts import open_source

from .conftest import decoded

BODY = [("31", "f", "2.5"), ("42", "m", "3.5"), ("9", "f", "2.5"), ("31", "m", "3.5")]
NAMES = ("age", "sex", "pay")


def rows_of(path):
    found = open_source(path, None, (), 10**6)
    names = tuple(c.name for c in found.columns)
    rows = zip(*([c.distinct[i] for i in c.codes] for c in found.columns), strict=True)
    return names, list(rows), found.remarks


def csv_of(rows, mark=","):
    return "".join(mark.join(row) + "\n" for row in rows)


def with_index(rows):
    return [(str(n), *row) for n, row in enumerate(rows, start=1)]


TITLE = "Line 1 above the header left out"
TITLES = "Lines 1 to 2 above the header left out"
BELOW = "Line 6 below the last row left out"
TABLE = csv_of([NAMES, *BODY])


@pytest.mark.parametrize(
    ("content", "remarks"),
    [
        (TABLE, []),
        ("\n" + TABLE, []),
        ("Pay by age, 2019\n\n" + TABLE, [TITLE]),
        ("Pay,,\n,,\n" + TABLE, [TITLE]),
        ("Pay\nSource: us, them, and, more\n" + TABLE, [TITLES]),
        ("Pay; 2019\n\n" + csv_of([NAMES, *BODY], ";"), [TITLE]),
        ("Pay, 2019\n\n" + csv_of([NAMES, *BODY], "\t"), [TITLE]),
        ("sep=;\n" + csv_of([NAMES, *BODY], ";"), []),
        (TABLE + "Source: a survey\n", [BELOW]),
        (TABLE + "* preliminary,,\n", [BELOW]),
        (TABLE + "Only adults were asked\n", [BELOW]),
        (TABLE + "\nAll rounded\nand more, here\n", ["Lines 7 to 8 below the last row left out"]),
        (TABLE + ",,\nAll rounded,,\n", ["Lines 6 to 7 below the last row left out"]),
        (csv_of([(*NAMES, ""), *((*r, "") for r in BODY)]), ["1 empty column at the end left out"]),
        (csv_of([NAMES, *((*r, "") for r in BODY)]), ["1 empty column at the end left out"]),
        (
            csv_of([NAMES, *with_index(BODY)]),
            ["The first column has no name: it is taken for the names of rows"],
        ),
        ("Pay, by, sex\n2019,and,later\n\n" + TABLE, [TITLES]),
        (TABLE + "Source: us, them, all\n", [BELOW]),
        (TABLE.encode("utf-16"), []),
    ],
)
def test_lines_around_a_table_are_left_out_and_told(write, content, remarks):
    found = rows_of(write(content))
    assert found[:2] == (NAMES, BODY)
    assert found[2] == remarks
    assert read_table(write(content)).remarks == tuple(remarks)


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("who,2019,,2020\n,n,pay,n\n", ("who", "2019 n", "2019 pay", "2020 n")),
        ("who,2019,,2020\nwho,n,pay,\n", ("who", "2019 n", "2019 pay", "2020")),
    ],
)
def test_names_of_two_lines(write, head, names):
    found = rows_of(write(head + "a,1,2,3\nb,4,5,6\n"))
    assert found == (
        names,
        [("a", "1", "2", "3"), ("b", "4", "5", "6")],
        ["The names of columns are those of lines 1 to 2"],
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (TABLE + "31,f\n", "line 6 has 2 cells where the header has 3"),
        (TABLE + "31\n", "line 6 has 1 cells"),
        (TABLE + "\n31\n", "line 7 has 1 cells"),
        (TABLE + "Bad Ems\n", "line 6 has 1 cells"),
        (TABLE + "Source: us\n" + csv_of(BODY), "line 6 has 1 cells"),
        (TABLE + "Source: us\n" + csv_of(BODY) * 30, "line 6 has 1 cells"),
        (TABLE + "Source: us\n" * 66, "line 6 has 1 cells"),
        (csv_of([NAMES, *BODY * 50]) + "Source: us\n" * 70, "line 202 has 1 cells"),
        ("a,,c\nx,y,z\nu,v,w\n", "column 2 has no name"),
        ("x,y\n1,5,2\n1,6,3\n2,5,3\n2,6,4\n", "line 2 has 3 cells where the header has 2"),
        ("x,y,\n" + "1,2,\n" * 99 + "1,2,3\n", "column 3 has no name, and has values below"),
        ("a,b,c\n1,2,3,4\n", "line 2 has 4 cells where the header has 3"),
        ("Title\n\n\n", "a header and no rows"),
        ("a note\nTitle,,\nx,y,z\n", "a header and no rows"),
    ],
)
def test_what_is_no_title_and_no_note_is_refused(write, content, says):
    with pytest.raises(InputError, match=says):
        rows_of(write(content))


def test_a_blank_line_below_the_header_ends_no_title(write):
    found = rows_of(write(csv_of([NAMES]) + "\n" + csv_of(BODY)))
    assert found == (NAMES, BODY, [])
    texts = "who,sex\n\nAnn,f\nBob,m\n"
    assert rows_of(write(texts)) == (("who", "sex"), [("Ann", "f"), ("Bob", "m")], [])


def test_a_person_with_one_value_is_no_note(write):
    rows = [*BODY, ("Ann Mary Lee", "", ""), ("31", "", "")]
    assert len(rows_of(write(csv_of([NAMES, *rows])))[1]) == 6


CELL = st.text(st.sampled_from("a1., ;\t\"'\n\réß\x01"), max_size=4)


@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=12),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(",;\t"),
    broken=st.sampled_from(["", "", 'x"y', '"x', "\r", "1,2"]),
)
def test_two_parsers_agree(tmp_path_factory, rows, quoting, end, mark, broken):
    """Whatever is written, the kept reader gives what the standard library gives, or leaves it."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting, lineterminator=end, delimiter=mark)
    writer.writerows([("a", "b", "c"), *rows])
    path = tmp_path_factory.mktemp("two") / "t.csv"
    path.write_bytes((text.getvalue() + broken).encode())
    found = []
    for plain in (module._plain_rows, lambda *_: 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_BLOCK", 24)
            patch.setattr(module, "_TAIL", 1)
            patch.setattr(module, "_plain_rows", plain)
            try:
                found.append(rows_of(path))
            except InputError as error:
                found.append(str(error))
    assert found[0] == found[1]


def test_the_kept_reader_reads_what_is_plain(write, monkeypatch):
    """It takes all but the last lines, in order of appearance, with texts as they stand."""
    cells = [(f'"{i % 7:02}"', "NA" if i % 5 else "", f"{i % 3}.0") for i in range(500)]
    path = write(csv_of([("a", "b", "c"), *cells]))
    taken = []
    parsed = module._parsed
    monkeypatch.setattr(module, "_parsed", lambda d, *a: taken.append(d) or parsed(d, *a))
    _, rows, _ = rows_of(path)
    assert sum(data.count(b"\n") for data in taken) == 500 - 64
    assert rows == [(f"{i % 7:02}", None, f"{i % 3}.0") for i in range(500)]
    with pytest.raises(InputError, match="line 402 has 2 cells"):
        rows_of(write(csv_of([("a", "b", "c"), *cells[:400], ("1", "2"), *cells[400:]])))


def test_a_table_is_parsed_once(write, monkeypatch):
    path = write(csv_of([("a", "b"), *((str(i % 3), str(i % 2)) for i in range(500))]))
    calls = []
    parsed = module._parsed
    monkeypatch.setattr(module, "_parsed", lambda *a: calls.append(1) or parsed(*a))
    assert read_table(path, count_above=100).rows == 500
    assert len(calls) == 1


def test_lines_of_old_in_a_long_file(write):
    rows = rows_of(write(csv_of([NAMES, *BODY * 50_000]).replace("\n", "\r")))[1]
    assert len(rows) == 200_000


def test_bytes_of_windows_among_utf8():
    from narcissus._files import WESTERN, western

    for data in (b"a", b"\xe9,\x80\x81\n", b"\xe9," + "é€".encode(), bytes(range(256))):
        assert western(data) == data.decode("utf-8", WESTERN)


def test_windows_letters_are_told(write):
    found = rows_of(write(csv_of([NAMES, *BODY]).replace("sex", "größe").encode("cp1252")))
    assert found[0][1] == "größe"
    assert found[2] == ["Bytes that are no UTF-8 read as Windows-1252"]


WORDS = {
    "cp1252": ["größe", "Ärzte", "créée", "naïve", "Österreich", "œuvre", "niño", "Øre"],
    "cp932": ["東京都", "福岡県", "男", "女", "備考", "年齢"],
    "cp936": ["北京市", "男", "女", "上海"],
    "euc_kr": ["서울", "남", "여", "부산"],
    "cp1251": ["Москва", "Тула", "да", "нет"],
    "koi8_r": ["Москва", "Тула", "да", "нет"],
    "cp1253": ["Αθήνα", "Πάτρα", "ναι", "όχι"],
}


@pytest.mark.parametrize("encoding", WORDS)
def test_letters_of_other_alphabets_are_asked_about(encoding, write):
    """They were read as Windows-1252, and printed as such."""
    words = WORDS[encoding]
    rows = [[str(at), words[at % len(words)]] for at in range(40)]
    path = write(csv_of([["age", words[0]], *rows]).encode(encoding))
    if encoding == "cp1252":
        assert rows_of(path)[0][1] == words[0]
        return
    with pytest.raises(InputError, match="neither UTF-8 nor those of Western Europe"):
        rows_of(path)


@pytest.mark.parametrize("word", WORDS["cp1252"])
def test_one_western_word_is_read(word, write):
    body = [[str(at), word] for at in range(40)]
    assert rows_of(write(csv_of([["age", "what"], *body]).encode("cp1252")))[1][0][1] == word


def zipped(data, *names, folder=False):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, data)
        if folder:
            archive.writestr("__MACOSX/x", b"")
    return made.getvalue()


PACKINGS = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    "zip": lambda data: zipped(data, "t.csv", folder=True),
}


@pytest.mark.parametrize("kind", PACKINGS)
def test_packed_texts(tmp_path, kind):
    path = tmp_path / f"t.csv.{kind}"
    packed = PACKINGS[kind](TABLE.encode())
    path.write_bytes(packed)
    assert rows_of(path)[:2] == (NAMES, BODY)
    for bad in (packed[: len(packed) // 2], b"", b"a,b\n1,2\n2,1\n", packed[:-3]):
        path.write_bytes(bad)
        with pytest.raises(InputError, match=r"not a complete \w+ file|is empty|cannot read"):
            rows_of(path)
    rng = np.random.default_rng(1)
    noise = csv_of([("a", "b"), *rng.integers(0, 9, (5000, 2)).astype(str).tolist()])
    path.write_bytes(PACKINGS[kind](noise.encode())[:-900])
    with pytest.raises(InputError, match="not a complete"):
        rows_of(path)
    path.write_bytes(PACKINGS[kind](b"a,b\n" + b"1,2\n" * 2**23))
    with pytest.raises(TooLargeError, match="unpacks to more than"):
        rows_of(path)


def test_zip_archives_that_are_not_one_table(tmp_path):
    path = tmp_path / "people.zip"
    path.write_bytes(zipped(TABLE, "a.csv", "b.csv"))
    with pytest.raises(InputError, match="holds 2 files: unpack it"):
        rows_of(path)
    data = bytearray(zipped(TABLE, "a.csv"))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1  # encrypted
    path.write_bytes(data)
    with pytest.raises(InputError, match="protected by a password"):
        rows_of(path)
    path.write_bytes(zipped(TABLE, "a.exe"))
    with pytest.raises(InputError, match="cannot tell what kind"):
        rows_of(path)
    path.write_bytes(zipped(TABLE.replace(",", "\t"), "a.tsv"))
    assert rows_of(path)[:2] == (NAMES, BODY)


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TABLE.encode()))))
    from narcissus.tables import sources

    sources._standard_input.cache_clear()
    assert decoded(read_table("-"))[0] == ("31", "f", "2.5")
    assert read_table("-").rows == 4  # again
    sources._standard_input.cache_clear()


PEOPLE = [f"{town},{age},{1000 + 7 * age},no" for town in ("Bern", "Chur") for age in range(20, 30)]
NAMED = "town,age,income,ill\n"
BESIDE = [
    NAMED + "\n".join(PEOPLE) + "\n\nMiller of Bern;34;5000;no\n",
    NAMED + "\n".join(PEOPLE) + "\n\n" + "".join(f"of Bern {n} {n + 70} no,,,\n" for n in range(3)),
    "Miller of Bern;34;5000;no\n\n" + NAMED + "\n".join(PEOPLE),
]


@pytest.mark.parametrize("text", BESIDE)
def test_lines_beside_a_table_that_look_like_its_rows_are_refused(text, tmp_path):
    """What is left out as a title or a note holds nobody."""
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(InputError, match="look like rows of people"):
        read_table(tmp_path / "people.csv")


def test_rows_that_begin_as_a_note_are_rows(tmp_path):
    """Each cell is as those above; a note below them has other cells, or fewer."""
    rows = "".join(f"Source: web,{town}\n" for town in PEOPLE)
    text = f"remark,{NAMED}{rows}Source: a census of 2019 and 2020\n"
    (tmp_path / "people.csv").write_text(text)
    found = read_table(tmp_path / "people.csv", drop=["remark", "ill"])
    assert found.rows == len(PEOPLE)
    assert found.remarks == ("Line 22 below the last row left out",)


BINS = {"age": Bins(width=5), "income": Bins(width=50)}


@pytest.mark.parametrize("word", ["Total", "Summe", "Insgesamt", "Total g\u00e9n\u00e9ral", "mean"])
@pytest.mark.parametrize("end", ["", "Source: us,,,\n"])
def test_a_row_of_totals_is_nobody(word, end, tmp_path):
    text = f"{NAMED}" + "\n".join(PEOPLE) + f"\n{word},490,23430,\n{end}"
    (tmp_path / "people.csv").write_text(text)
    found = read_table(tmp_path / "people.csv", bins=BINS, drop=["ill"])
    assert found.rows == len(PEOPLE)
    assert "Line 22 below the last row, of totals, left out" in found.remarks


@pytest.mark.parametrize("last", ["Total,25,1175,no", "Summe,,,yes", "Chur,,1140,", "Meaning,29,,"])
def test_a_person_of_a_town_of_any_name_is_no_total(last, tmp_path):
    (tmp_path / "people.csv").write_text(NAMED + "\n".join([*PEOPLE, last]) + "\n")
    assert (
        read_table(tmp_path / "people.csv", missing="category", bins=BINS, drop=["ill"]).rows
        == len(PEOPLE) + 1
    )


@pytest.mark.parametrize("titles", [1, 2, 5])
@pytest.mark.parametrize("blank", ["", ",,,\n"])
def test_titles_as_wide_as_the_table_are_left_out(titles, blank, tmp_path):
    text = "Health survey 2026,,,\n" * titles + blank + NAMED + "\n".join(PEOPLE) + "\n"
    (tmp_path / "people.csv").write_text(text)
    found = read_table(tmp_path / "people.csv", bins=BINS, drop=["ill"])
    assert found.names == ("town", "age", "income")
    assert found.rows == len(PEOPLE)
