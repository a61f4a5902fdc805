"""The record is the same, digit for digit, however the files are written.

For each reader and each respelling: of the published file alone, and of all files alike.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from narcissus import read_table
from narcissus.audits import audit, audit_synthetic
from narcissus.errors import InputError
from narcissus.kinds.synthetic.copies import WRITTEN
from narcissus.tables import Bins

ROWS = 60


def people(seed):
    """Draw people as files would have them: each cell a text."""
    rng = np.random.default_rng(seed)
    age = rng.integers(7, 40, ROWS)
    frame = pd.DataFrame(
        {
            "age": age.astype(str),
            "decile": np.where(age < 15, "N", (1 + rng.integers(0, 10, ROWS)).astype(str)),
            "income": (rng.integers(0, 9, ROWS) * 750.5).astype(str),
            "insured": rng.choice(["True", "False"], ROWS),
            "seen": [f"2020-{m:02}-{d:02}" for m, d in rng.integers([1, 11], [4, 16], (ROWS, 2))],
            "town": rng.choice(["Rome", "Ulm", "New York"], ROWS),
        }
    )
    frame["income"] = frame["income"].str.replace(r"\.0$", "", regex=True)
    return frame


REAL, CONTROL, OTHER = people(1), people(2), people(3)
PUBLISHED = pd.concat([OTHER, REAL.iloc[::3]], ignore_index=True)
NUMBERS = ["age", "decile", "income"]


def each(columns, change):
    """Respell the numbers of some columns, or all cells of others."""

    def respelt(frame):
        return frame.assign(**{c: frame[c].map(change) for c in columns})

    return respelt


def numbers(change):
    return each(NUMBERS, lambda v: v if v == "N" else change(v))


RESPELLINGS = {
    "trailing .0": numbers(lambda v: v if "." in v else f"{v}.0"),
    "trailing zeros": numbers(lambda v: f"{float(v):.3f}"),
    "leading zeros": numbers(lambda v: v.zfill(8)),
    "one leading zero": numbers(lambda v: f"0{v}" if len(v) == 1 else v),
    "signs": numbers(lambda v: f"+{v}"),
    "exponents": numbers(lambda v: f"{float(v):e}"),
    "blanks": each(REAL.columns, lambda v: f"  {v}\u00a0"),
    "thousands": numbers(lambda v: f"{float(v):,.1f}"),
    "decimal commas": numbers(lambda v: f"{float(v):.1f}".replace(".", ",")),
    "continental": numbers(lambda v: f"{float(v):,.1f}".translate(str.maketrans(",.", ".,"))),
    "gaps": numbers(lambda v: f"{float(v):,.1f}".replace(",", "\u202f")),
    "TRUE": each(["insured"], str.upper),
    "true": each(["insured"], str.lower),
    "d.m.Y": each(["seen"], lambda v: f"{int(v[8:])}.{int(v[5:7])}.{v[:4]}"),
    "d/m/Y": each(["seen"], lambda v: f"{v[8:]}/{v[5:7]}/{v[:4]}"),
    "m/d/Y": each(["seen"], lambda v: f"{int(v[5:7])}/{int(v[8:])}/{v[:4]}"),
    "Y/m/d": each(["seen"], lambda v: v.replace("-", "/")),
    "midnight": each(["seen"], lambda v: f"{v}T00:00:00"),
    "columns": lambda frame: frame[frame.columns[::-1]],
    "rows": lambda frame: frame.sample(frac=1, random_state=5),
}


def table_of(path, frame, **options):
    frame.to_csv(path, index=False, **options)
    return path


def with_bom(path, frame):
    path.write_bytes(b"\xef\xbb\xbf" + frame.to_csv(index=False).encode())
    return path


def packed(path, frame):
    path = path.with_suffix(".csv.gz")
    path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    return path


def parquet(path, frame):
    pytest.importorskip("pyarrow")
    path = path.with_suffix(".parquet")
    frame.to_parquet(path)
    return path


def typed(_, frame):
    """Give the frame that pandas reads, with numbers where all are, and times."""
    plain = {c: pd.to_numeric(frame[c]) for c in ("age", "income")}
    seen = pd.to_datetime(frame["seen"])
    coded = frame["decile"].map(lambda v: v if v == "N" else float(v)).astype(object)
    return frame.assign(**plain, decile=coded, insured=frame["insured"] == "True", seen=seen)


READERS = {
    "csv": table_of,
    "quoted": lambda path, frame: table_of(path, frame, quoting=1),
    "semicolons": lambda path, frame: table_of(path, frame, sep=";"),
    "tsv": lambda path, frame: table_of(path.with_suffix(".tsv"), frame, sep="\t"),
    "windows": lambda path, frame: table_of(path, frame, lineterminator="\r\n"),
    "bom": with_bom,
    "packed": packed,
    "index": lambda path, frame: (frame.to_csv(path), path)[1],
    "frame": lambda path, frame: frame,
    "frame with an index": lambda path, frame: frame.set_axis(range(9, 9 + len(frame))),
    "float32": lambda path, frame: typed(path, frame).astype({"income": np.float32}),
    "typed": typed,
    "parquet": parquet,
    "read again": lambda path, frame: pd.read_csv((frame.to_csv(path), path)[1]),
}


def audited(real, published, control):
    record = audit_synthetic(
        real, published, control=control, unknown=["decile"], groups=["insured"], rng=1
    ).record
    return found_in(record)


def found_in(record):
    made = record.to_dict()
    rows = [row.model_dump(mode="json") for row in record.rows]
    result = dict(made["result"])  # a data frame may be written with more than its cells
    result["not_sought"] = [gap for gap in result.get("not_sought", []) if gap != WRITTEN]
    return {"rows": rows, "criteria": made["criteria"], "result": result}


@pytest.fixture(scope="module")
def plainly():
    return audited(REAL, PUBLISHED, CONTROL)


@pytest.mark.parametrize("name", RESPELLINGS)
@pytest.mark.one_in(5)
def test_a_published_file_respelt_gives_the_same_record(plainly, name):
    assert audited(REAL, RESPELLINGS[name](PUBLISHED), CONTROL) == plainly


@pytest.mark.parametrize("name", RESPELLINGS)
@pytest.mark.one_in(5)
def test_all_files_respelt_give_the_same_record(plainly, name):
    change = RESPELLINGS[name]
    assert audited(change(REAL), change(PUBLISHED), change(CONTROL)) == plainly
    assert audited(change(REAL), PUBLISHED, change(CONTROL)) == plainly
    assert audited(change(REAL), PUBLISHED, CONTROL) == plainly
    assert audited(REAL, PUBLISHED, change(CONTROL)) == plainly


def shuffled(frame, rng):
    """Put rows and columns in another order."""
    return frame.iloc[rng.permutation(len(frame)), rng.permutation(frame.shape[1])]


def drawn(seed):
    """Draw three files of few values: equal rows, gaps, codes, common values that tie."""
    rng = np.random.default_rng(seed)
    names = ["b", "a", "11", "é", "2", "A"]
    for _ in range(3):
        frame = pd.DataFrame(rng.integers(0, 4, (50, 6)), columns=names)
        frame["11"] = rng.integers(0, 300, 50)
        frame["2"] = [[0, 1, 2, "X", "N"][code] for code in rng.integers(0, 5, 50)]
        frame["b"] = frame["b"].map(["no", "N", "yes", None].__getitem__)
        yield pd.concat([frame, frame.iloc[:9]], ignore_index=True)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", ["drop", "category"])
def test_the_whole_record_is_the_same_in_any_order_of_rows_and_columns(seed, missing):
    real, published, control = drawn(seed)

    def whole(*files):
        return audit_synthetic(
            *files[:2],
            control=files[2],
            unknown=["é", "b"],
            groups=["A"],
            bins={"11": {"quantiles": 3}, "a": {"common": 2}} if seed % 2 else None,
            missing=missing,
            people=40 if seed > 1 else None,
            rng=seed,
        ).record.to_dict()

    plain = whole(real, published, control)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        assert whole(*(shuffled(frame, rng) for frame in (real, published, control))) == plain


@pytest.mark.parametrize("name", READERS)
@pytest.mark.one_in(4)
def test_every_reader_gives_the_same_record(plainly, name, tmp_path):
    read = READERS[name]
    files = {"real": REAL, "published": PUBLISHED, "control": CONTROL}
    made = {file: read(tmp_path / f"{file}.csv", frame) for file, frame in files.items()}
    assert audited(*made.values()) == plainly
    assert audited(REAL, made["published"], CONTROL) == plainly


@pytest.mark.parametrize("name", [n for n in RESPELLINGS if n not in ("columns", "rows")])
def test_a_table_respelt_is_the_same_table(name, tmp_path):
    plain, other = read_table(REAL), read_table(RESPELLINGS[name](REAL))
    assert other.digest == plain.digest
    assert other.ordered == plain.ordered
    assert [None if v is None else v.tolist() for v in other.values] == [
        None if v is None else v.tolist() for v in plain.values
    ]
    for reader, read in READERS.items():
        if not {"float32", "typed", "read again"} & {reader}:
            again = read_table(read(tmp_path / "again.csv", RESPELLINGS[name](REAL)))
            assert again.digest == plain.digest, reader
    counted = read_table(RESPELLINGS[name](REAL), count_above=1)
    assert counted.labels == plain.labels


def test_the_order_of_the_rows_of_a_counted_table_does_not_matter():
    one, other = (read_table(f, count_above=1) for f in (REAL, RESPELLINGS["rows"](REAL)))
    assert one.digest == other.digest


@pytest.mark.parametrize("mechanism", ["bootstrap", "marginals"])
@pytest.mark.parametrize("people", ["prior", "rows"])
@pytest.mark.one_in(4)
def test_the_order_of_the_rows_of_a_table_does_not_matter(people, mechanism):
    noise = {"k": 2, "epsilon": 1.0} if mechanism == "marginals" else {}
    frame = pd.concat([REAL, OTHER, REAL.iloc[::2]], ignore_index=True).drop(columns="seen")

    def played(frame, **counted):
        record = audit(
            read_table(frame, bins={"age": Bins(width=10), "income": Bins(above=1000)}, **counted),
            unknown=["decile"],
            mechanism={"name": mechanism, **noise},
            people=people,
            targets=40,
            trials=2,
            workers=1,
            rng=1,
        ).record
        assert any(row.of == "held-out guess" for row in record.rows)
        return record.criteria, record.result

    plain = played(frame)
    assert played(frame.sample(frac=1, random_state=5)) == plain
    assert played(frame[::-1], count_above=1) == plain


def test_rows_in_order_are_those_of_the_table_sorted():
    table = read_table(REAL.iloc[[*range(ROWS), 3, 3]])
    assert table.in_order.tolist() == sorted(table.codes.tolist()) != table.codes.tolist()


def play(release):
    """Audit a release of rows that was made of the people."""
    found = audit(
        REAL.drop(columns="seen"),
        unknown=["decile"],
        mechanism={"name": "bootstrap"},
        release=str(release),
        people="all",
        attacks=["nearest", "posterior"],
        bins={"age": {"width": 10}, "income": {"quantiles": 3}, "town": {"common": 2}},
        trials=2,
        workers=1,
        rng=1,
    )
    return found.record.result.own_release.model_dump(exclude={"path", "digest"})


MADE = REAL.iloc[np.arange(ROWS) % 45].drop(columns="seen")


@pytest.fixture(scope="module")
def as_made(tmp_path_factory):
    return play(table_of(tmp_path_factory.mktemp("made") / "made.csv", MADE))


@pytest.mark.parametrize("name", RESPELLINGS)
def test_a_release_respelt_is_the_same_release(as_made, name, tmp_path):
    respelt = RESPELLINGS[name](MADE.assign(seen="2020-01-11"))
    assert play(table_of(tmp_path / "made.csv", respelt.drop(columns="seen"))) == as_made


def test_values_that_hardly_overlap_stop_and_the_option_goes_on():
    cased = PUBLISHED.assign(town=PUBLISHED["town"].str.upper())
    assert audited(REAL, cased, CONTROL) == audited(REAL, PUBLISHED, CONTROL)
    codes = {"Rome": "T-01", "Ulm": "T-02", "New York": "T-03"}
    strange = PUBLISHED.assign(town=PUBLISHED["town"].map(codes))
    with pytest.raises(InputError, match=r"'Rome'.* in the real file, .*'T-01'.* in the synthetic"):
        audited(REAL, strange, CONTROL)
    found = audit_synthetic(
        REAL, strange, control=CONTROL, unknown=["decile"], read_as={"town": "text"}, rng=1
    )
    assert found.status in ("not shown", "exceeded")


@pytest.mark.parametrize("extra", ["target", "Unnamed: 0", ""])
def test_a_column_that_one_file_has_can_be_dropped(plainly, extra, tmp_path):
    published = PUBLISHED.copy()
    published.insert(0, extra, range(len(published)))
    path = table_of(tmp_path / "published.csv", published)
    found = audit_synthetic(
        REAL,
        Path(path),
        control=CONTROL,
        unknown=["decile"],
        groups=["insured"],
        drop=["target"] if extra == "target" else None,
        rng=1,
    )
    assert found_in(found.record) == plainly
