"""A counted table stands for the rows that it counts."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import Bins, CountedTable, Table, read_table
from narcissus.tables import counted as module
from narcissus.tables.counted import Distinct, Packing, tallied, tallied_columns
from narcissus.tables.read import read_as_it_stands
from narcissus.tables.text import text_parts

LABELS = (("a", "b"), ("1", "2", "4"))
RECORDS = np.array([[0, 0], [0, 2], [1, 1]])
COUNTS = np.array([3, 1, 2])


def counted(**changes):
    parts = {"records": RECORDS, "counts": COUNTS, "notes": {"x": "read so"}} | changes
    return CountedTable(("x", "y"), LABELS, (False, True), **parts)


def test_rows_and_columns():
    table = counted()
    assert isinstance(table, Table)
    assert (table.rows, table.columns, table.sizes) == (6, 2, (2, 3))
    assert table.records.dtype == np.uint8
    np.testing.assert_array_equal(table.records, RECORDS)
    np.testing.assert_array_equal(table.counts, COUNTS)
    assert table.codes.dtype == np.int32
    np.testing.assert_array_equal(table.codes, np.repeat(RECORDS, COUNTS, axis=0))
    assert table.values[1].tolist() == [1, 2, 4]
    for array in (table.records, table.counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert repr(table) == "CountedTable(6 rows, 3 distinct records, 2 columns: x, y)"
    again = pickle.loads(pickle.dumps(table))
    assert again.digest == table.digest


def test_a_plain_table_has_a_record_for_each_row():
    table = Table(("x", "y"), LABELS, (False, True), RECORDS)
    assert table.counts is None
    assert table.records is table.codes


def test_selected_columns_have_their_own_distinct_records():
    part = counted().select(["x"])
    assert part.records.tolist() == [[0], [1]]
    assert part.counts.tolist() == [4, 2]
    assert (part.names, part.notes) == (("x",), {"x": "read so"})
    turned = counted().select(["y", "x"])
    assert turned.records.tolist() == [[0, 0], [1, 1], [2, 0]]
    assert turned.values[0].tolist() == [1, 2, 4]
    with pytest.raises(InputError, match="at least one column"):
        counted().select([])


def test_too_many_rows_are_not_written_out():
    table = counted(counts=np.array([10**8, 1, 1]))
    assert table.rows == 10**8 + 2
    counted(counts=np.array([10**6, 1, 1])).codes
    table = counted(counts=np.array([125_000_000, 1, 1]))
    with pytest.raises(TooLargeError, match=r"125,000,002 rows of 2 columns are 1\.0 GB"):
        table.codes


def test_the_digest_changes_with_every_part():
    more = [
        counted(),
        counted(records=RECORDS[:, ::-1] % 2),
        counted(counts=COUNTS + 1),
        CountedTable(("x", "z"), LABELS, (False, True), RECORDS, COUNTS),
        CountedTable(("x", "y"), (("a", "c"), LABELS[1]), (False, True), RECORDS, COUNTS),
        Table(("x", "y"), LABELS, (False, True), RECORDS),
    ]
    assert len({table.digest for table in more}) == len(more)
    assert counted(notes={}).digest == counted().digest


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"counts": np.array([3, 1])}, "`counts` must be a whole number above 0 for each of 3"),
        ({"counts": np.array([3, 0, 1])}, "above 0"),
        ({"counts": COUNTS * 1.0}, "whole number"),
        ({"records": RECORDS + 1}, r"the records of column `x` must be in 0\.\.1, got 1 to 2"),
        ({"records": RECORDS * 1.0}, "`records` must be integers"),
        ({"values": (None, None)}, "`values` must hold"),
    ],
)
def test_parts_that_do_not_fit_together(changes, says):
    with pytest.raises(InputError, match=says):
        counted(**changes)


@contextmanager
def small_parts():
    """Read a few rows at a time, so that small tables have many parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("narcissus.tables.text._CHUNK", 7)
        patch.setattr("narcissus.tables.text._TAIL", 1)
        patch.setattr("narcissus.tables.text._BLOCK", 16)
        patch.setattr("narcissus.tables.parts._CHUNK", 7)
        patch.setattr("narcissus.tables.counted._WAITING", 5)
        yield


def both(source, **how):
    """Read a table both ways; give what comes out: the parts of a table, or the refusal."""
    found = []
    for above in (2_000_000, 0):
        try:
            with small_parts():
                table = read_table(source, count_above=above, **how)
        except InputError as error:
            found.append((type(error), str(error)))
            continue
        assert isinstance(table, CountedTable) == (above == 0)
        codes = table.codes[np.lexsort(table.codes.T[::-1])]
        values = [None if v is None else v.tolist() for v in table.values]
        found.append(
            (table.names, table.labels, table.ordered, codes.tolist(), values, table.notes)
        )
    return found


CELLS = st.sampled_from(
    ["1", "2", "1.0", "01", " 3", "4.5", "-2", "1e1", "0.1", "a", "b ", "", "NA", "x", "inf"]
)


BINS = st.sampled_from([
    None, Bins(width=2), Bins(width=0.1), Bins(edges=[0, 2, 4]), Bins(quantiles=3), Bins(above=2)
])  # fmt: skip


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=30),
    numbers=st.booleans(),
    missing=st.sampled_from(["refuse", "drop", "category"]),
    bins=BINS,
    most=st.sampled_from([2, 4, 200]),
)
def test_a_text_file_read_both_ways(tmp_path_factory, rows, numbers, missing, bins, most):
    if numbers:  # so that not every column has a word in it
        rows = [(a if a not in "ab xinf" else "7", b, c) for a, b, c in rows]
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text("n,m,t\n" + "\n".join(map(",".join, rows)) + "\n")
    how = {} if bins is None else {"bins": {"n": bins}}
    whole, parts = both(path, missing=missing, max_values=most, **how)
    assert whole == parts


def kinds(rng, n):
    """Columns of every kind, some with gaps."""
    gaps = rng.random(n) < 0.1
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 4, n), "D")
    return pd.DataFrame({
        "whole": rng.integers(0, 5, n),
        "small": rng.integers(0, 5, n).astype("int8"),
        "gapped": np.where(gaps, np.nan, rng.integers(0, 4, n)),
        "fraction": np.round(rng.random(n), 1) * rng.choice([-1, 1], n),
        "truth": rng.random(n) < 0.5,
        "text": rng.choice(["a", "b", "NA", " c"], n),
        "category": pd.Categorical(rng.choice(["u", "v", "w"], n)),
        "holes": np.where(gaps, None, rng.choice(["p", "q"], n)),
        "day": days,
        "money": [Decimal(int(i)) / 2 for i in rng.integers(0, 3, n)],
    })  # fmt: skip


@pytest.mark.parametrize("missing", ["refuse", "drop", "category"])
@pytest.mark.parametrize("group", [3, 1000])
def test_parquet_and_frames_of_every_kind(tmp_path, missing, group):
    frame = kinds(np.random.default_rng(5), 97)
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, row_group_size=group)
    bins = {"whole": Bins(quantiles=3), "fraction": Bins(width=0.25)}
    for source in (path, frame):
        whole, parts = both(source, missing=missing, bins=bins)
        assert whole == parts
        assert (len(whole) == 2) == (missing == "refuse")
        chosen = {"columns": ["day", "small", "text"], "drop": ["text"]}
        whole, parts = both(source, missing=missing, **chosen)
        assert whole == parts
        assert whole[0] == ("day", "small")


def test_columns_are_refused_alike(tmp_path, write):
    frame = pd.DataFrame({"a": [1, 2], "": [3, 4]})
    frame.to_parquet(tmp_path / "t.parquet")
    for source, how in [
        (frame, {}),
        (tmp_path / "t.parquet", {}),
        (write("a,a\n1,2\n", "1.csv"), {}),
        (write("a,b\n", "2.csv"), {}),
        (write("a,b\n1,2\n2,1\n", "3.csv"), {"bins": {"c": Bins(width=1)}}),
        (write("a,b\n1,2\n2,1\n", "4.csv"), {"bins": {"b": Bins(width=1)}, "drop": ["b"]}),
        (write("a,b\n,2\n2,\n", "5.csv"), {"missing": "drop"}),
        (write("a,b\n1,2\n2\n", "6.csv"), {}),
        (pd.DataFrame({"a": []}), {}),
        (pd.DataFrame({"a": [[1], [2]]}), {}),
    ]:
        whole, parts = both(source, **how)
        assert whole == parts
        assert len(whole) == 2


def test_a_table_that_cannot_be_held_is_counted(write, tmp_path, monkeypatch):
    path = write("a,b\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(60)))
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "t.parquet")
    assert type(read_table(path)) is Table
    for limit, value in (("MOST_CELLS", 100), ("_is_small", lambda path: False)):
        with monkeypatch.context() as patch:
            patch.setattr(f"narcissus.tables.parts.{limit}", value)
            assert isinstance(read_table(path), CountedTable)
            if limit == "MOST_CELLS":
                assert isinstance(read_table(frame), CountedTable)
            assert isinstance(read_table(tmp_path / "t.parquet"), CountedTable)


class Told:
    def __init__(self):
        self.said = []

    def start(self, what, total, done=0):
        self.said.append([what, total, 0])

    def advance(self, steps=1):
        self.said[-1][2] += steps

    def finish(self):
        assert self.said[-1][1] == self.said[-1][2]

    def note(self, message):
        self.said.append(message)


def test_the_rows_are_told(write, tmp_path):
    path = write("a,b\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(60)))
    pd.read_csv(path).to_parquet(tmp_path / "t.parquet")
    for name, said in (("people.csv", 3), ("t.parquet", 3)):
        told = Told()
        with small_parts():
            read_table(tmp_path / name, count_above=0, observer=told)
        assert len(told.said) == said
        assert told.said[-1].endswith("60 rows, 6 distinct records")
        what, total, done = told.said[-2]
        assert what.endswith(f"{name}, records")
        assert total == done == 60


@pytest.mark.parametrize("after", ["a,b\n1,2\n3,1\n", "a,b\n1,2\n2,1\n2,1\n"])
def test_a_file_that_changes_between_the_two_readings(monkeypatch, write, after):
    monkeypatch.setattr("narcissus.tables.parts.KEPT", 0)  # else it is parsed once
    path = write("a,b\n1,2\n2,1\n")
    seen = []

    def changing(*args, **options):
        if seen:
            path.write_text(after)
        seen.append(1)
        return text_parts(*args, **options)

    monkeypatch.setattr("narcissus.tables.parts.text_parts", changing)
    with pytest.raises(InputError, match="was changed while it was read"):
        read_table(path, count_above=0)


def test_too_many_different_values_are_refused_while_they_are_read(write, monkeypatch):
    path = write("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(60)))
    monkeypatch.setattr("narcissus.tables.tally.MOST_VALUES", 20)
    said = r"`a` has 2\d different values .* first 2\d rows"
    with small_parts(), pytest.raises(TooLargeError, match=said):
        read_table(path, count_above=0, bins={"a": Bins(width=10)})


def test_too_many_distinct_records_name_number_and_size(write, monkeypatch):
    path = write("a,b\n" + "".join(f"{i % 10},{i % 7}\n" for i in range(80)))
    monkeypatch.setattr("narcissus.tables.counted.MOST_BYTES", 1500)
    said = r"distinct records of 2 columns; .*coarser bins"
    with small_parts(), pytest.raises(TooLargeError, match=said):
        read_table(path, count_above=0)


SIZES = [
    (2, 3, 4),  # far from a word
    (2**32, 2**32),  # exactly a word
    (2**32, 2**32 + 1),  # a little more
    (200,) * 16,  # three words
    (1, 7, 1),
    (70_000, 3),
]


def records(sizes, n, rng):
    """Some that repeat, with the smallest and the largest codes."""
    few = [rng.integers(0, size, 6) for size in sizes]
    for column, size in zip(few, sizes, strict=True):
        column[0], column[1] = 0, size - 1
    return np.column_stack([column[rng.integers(0, 6, n)] for column in few])


@pytest.mark.parametrize("sizes", SIZES)
def test_keys_go_back_to_their_records_and_keep_their_order(sizes):
    codes = records(sizes, 300, np.random.default_rng(1))
    packed = Packing(sizes)
    keys = packed.pack(list(codes.T))
    np.testing.assert_array_equal(packed.unpack(keys), codes)
    assert packed.unpack(keys).dtype == np.min_scalar_type(max(sizes) - 1)
    by_key = np.lexsort(keys.T[::-1])
    by_record = np.lexsort(codes.T[::-1])
    np.testing.assert_array_equal(codes[by_key], codes[by_record])


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("waiting", [0, 40, 10**6])
def test_distinct_records_are_counted_as_numpy_counts_them(sizes, waiting, monkeypatch):
    monkeypatch.setattr(module, "_WAITING", waiting)
    rng = np.random.default_rng(2)
    codes = records(sizes, 500, rng)
    distinct = Distinct(sizes, 500)
    for part in np.split(codes, [0, 13, 14, 300]):
        distinct.add(list(part.T))
    expected, times = np.unique(codes, axis=0, return_counts=True)
    found, counts = distinct.records()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counts, times)
    assert distinct.rows == 500
    keep = [2, 0] if len(sizes) > 2 else [1]
    few, sums = tallied_columns([found[:, j] for j in keep], [sizes[j] for j in keep], counts)
    expected, times = np.unique(codes[:, keep], axis=0, return_counts=True)
    np.testing.assert_array_equal(few, expected)
    np.testing.assert_array_equal(sums, times)


def test_counts_beyond_a_word_of_32_bits():
    keys = np.zeros((3, 1), dtype=np.uint64)
    found, counts = tallied(keys, np.array([2**40, 2**40, 1]))
    assert found.tolist() == [[0]]
    assert counts.tolist() == [2**41 + 1]


@pytest.mark.parametrize(("words", "sizes"), [(1, (1000, 2)), (2, (2**63, 2**30))])
def test_more_distinct_records_than_fit_are_refused_as_soon_as_they_are_met(
    words, sizes, monkeypatch
):
    monkeypatch.setattr(module, "_WAITING", 10)
    monkeypatch.setattr(module, "MOST_BYTES", 60 * (24 * words + 40))
    distinct = Distinct(sizes, 700)
    assert distinct.most == 50
    for start in range(0, 40, 20):
        distinct.add([np.arange(start, start + 20), np.zeros(20, int)])
    distinct.add([np.arange(40), np.zeros(40, int)])  # nobody new
    said = r"100 of 700 rows have 60 distinct records of 2 columns; at most 50 .*, in .* GiB"
    with pytest.raises(TooLargeError, match=said):
        distinct.add([np.arange(40, 60), np.zeros(20, int)])


@pytest.mark.parametrize("missing", ["category", "drop"])
def test_some_rows_are_kept_as_they_stand_in_the_file(tmp_path, monkeypatch, missing):
    """Beside the same table held whole, whose rows are all known."""
    monkeypatch.setattr(module, "EXAMINED", 40)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 5, 300), "b": rng.integers(0, 3, 300)})
    frame["note"] = [f"n{k}" for k in range(300)]
    frame.loc[::7, "b"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    how = {"drop": ["note"], "missing": missing}
    whole = read_table(tmp_path / "t.csv", **how)
    table = read_table(tmp_path / "t.csv", **how, count_above=10)
    assert table.counts is not None
    assert len(table.places) == 40
    np.testing.assert_array_equal(table.examined, whole.codes[table.places])
    np.testing.assert_array_equal(table.first_rows(30), whole.codes[:30])
    np.testing.assert_array_equal(table.select(["b"]).examined, table.examined[:, 1:])
    again = read_table(tmp_path / "t.csv", **how, count_above=10)
    np.testing.assert_array_equal(again.places, table.places)
    [all_notes] = read_as_it_stands(tmp_path / "t.csv", ["note"], **how)
    [some] = read_as_it_stands(tmp_path / "t.csv", ["note"], places=table.places, **how)
    values = [all_notes.distinct[code] for code in all_notes.codes[table.places]]
    assert [some.distinct[code] for code in some.codes] == values


def test_rows_of_counts_alone_are_not_known():
    table = counted()
    assert (table.places, table.examined, table.first_rows(2)) == (None, None, None)
