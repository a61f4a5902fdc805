"""A relation of outputs is a relation of games."""

from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import Strings, Verbatim
from narcissus.extraction.relations.base import lines_of


def test_a_batch_is_scored_trial_by_trial():
    data = [DataSet(b"one"), DataSet(b"two"), DataSet(b"three")]
    held = Verbatim().holds(data, [b"one", b"one", b"three\n"], None)
    assert held.tolist() == [True, False, True]


def test_lines():
    assert lines_of(b"a\n\n b \n") == ["a", " b "]
    assert lines_of(b"\xff") == []
    assert Strings().program_sizes(DataSet(b"x")) == {}
