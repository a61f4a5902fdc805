"""A table by hand, its parts and its digest."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import Table, read_table
from narcissus.tables import tally as module
from narcissus.tables.tally import RawColumn, ValueTally

from .conftest import GOOD, decoded


def test_digest_changes_with_every_part(write):
    table = read_table(write(GOOD))
    seen = {table.digest}
    for content in (GOOD.replace("age", "Age"), GOOD.replace("Ulm", "Koln"), GOOD + "9,f,Ulm\n"):
        seen.add(read_table(write(content)).digest)
    assert len(seen) == 4
    assert table.select(table.names).digest == table.digest
    assert len(table.digest) == 64


def test_select_and_index(write):
    table = read_table(write(GOOD))
    part = table.select(["town", "age"])
    assert part.names == ("town", "age")
    assert part.values[1].tolist() == [9, 31, 42]
    assert decoded(part)[0] == ("Ulm", "31")
    assert table.index("sex") == 1
    with pytest.raises(InputError, match=r"no column `twon`; did you mean `town`\?"):
        table.index("twon")


def test_a_table_by_hand_is_checked():
    labels, codes = (("a", "b"), ("1", "2")), np.array([[0, 1], [1, 0]])
    assert Table(("x", "y"), labels, (False, True), codes).values[1].tolist() == [1, 2]
    for arguments, message in [
        ((("x", "x"), labels, (False, True), codes), "must differ"),
        ((("x",), labels, (False, True), codes), "one entry for each of 2 columns"),
        ((("x", "y"), (("a", "a"), ("1", "2")), (False, True), codes), "labels of column `x`"),
        ((("x", "y"), labels, (False, True), codes + 1), r"`x` must be in 0\.\.1, got 1 to 2"),
        ((("x", "y"), labels, (False, True), codes * 0.5), "must be integers"),
        ((("x", "y"), labels, (False, True), codes[:0]), "none empty"),
        ((("x", "y"), labels, (False, True), codes, (None, None)), "`values` must hold"),
    ]:
        with pytest.raises(InputError, match=message):
            Table(*arguments)


def part(cells, distinct=None):
    """Number some cells, by the order of ``distinct`` where it is given."""
    distinct = list(dict.fromkeys(cells)) if distinct is None else distinct
    return RawColumn("x", distinct, np.array([distinct.index(c) for c in cells], dtype=np.int64))


def test_parts_are_tallied_as_the_whole():
    cells = ["b", None, "a", "b", "c", None, "a", "a", None, "d", None]
    parts, whole = ValueTally("x"), ValueTally("x")
    for cut in (cells[:1], cells[1:5], cells[5:]):
        parts.add(part(cut, ["c", "b", None, "a", "d"]))
    whole.add(part(cells))
    for one in (parts, whole):
        found = dict(zip(one.values, zip(one.counts, one.first, strict=True), strict=True))
        assert found == {"b": (2, 0), "a": (3, 2), "c": (1, 4), "d": (1, 9)}
        assert (one.missing, one.gaps, one.rows) == (4, [1, 5, 8], 11)


def test_a_value_that_nobody_has_any_more_is_none():
    tally = ValueTally("x")
    tally.add(part(["a", "a"], ["z", "a", None]))
    assert (tally.values, tally.missing) == (["a"], 0)
    assert tally.places(part(["a"], [None, "z", "a"])).tolist()[2] == 0
    with pytest.raises(KeyError):
        tally.places(part(["z"]))


def test_values_that_are_equal_are_one():
    tally = ValueTally("x")
    tally.add(part([1, 2]))
    tally.add(part([1.0, 3.5]))
    assert tally.values == [1, 2, 3.5]
    assert tally.places(part([2.0, 3.5, 1])).tolist() == [1, 2, 0]


def test_gaps_of_a_part():
    assert part(["a", None, "a"]).gaps.tolist() == [False, True, False]
    assert part(["a", "b"], ["a", "b", None]).gaps.tolist() == [False, False]
    assert part(["a", "b"]).gaps.tolist() == [False, False]


def test_room_for_values_and_for_their_letters(monkeypatch):
    tally = ValueTally("x")
    tally.add(part(["a" * 50, "b" * 51]))
    monkeypatch.setattr(module, "MOST_TEXT", 101)
    tally.require_room()
    monkeypatch.setattr(module, "MOST_TEXT", 100)
    said = (
        r"column `x` has 2 different values of 101 letters in the first 2 rows; .*drop = \[\"x\"\]"
    )
    with pytest.raises(TooLargeError, match=said):
        tally.require_room()
    monkeypatch.setattr(module, "MOST_TEXT", 101)
    monkeypatch.setattr(module, "MOST_VALUES", 1)
    with pytest.raises(TooLargeError, match="at most 1 of"):
        tally.require_room()
