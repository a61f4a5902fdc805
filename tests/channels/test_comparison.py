"""Which of two channels tells more: each relation, both witnesses, and what is not decided."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels import rational_refinement

A = [["0.8", "0.2"], ["0.2", "0.8"], ["0.5", "0.5"]]
B = [["0.7", "0.3"], ["0.4", "0.6"], ["0.45", "0.55"]]
LESS = [["0.5", "0.5"], ["0.5", "0.5"], ["0.5", "0.5"]]


def floats(rows):
    return [[float(one) for one in row] for row in rows]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "relation", "says"),
    [
        (A, LESS, "first", "a tells more than b"),
        (LESS, A, "second", "b tells more than a"),
        (A, [row[::-1] for row in A], "equivalent", "tell the same"),
        (A, B, "incomparable", "cannot be compared"),
    ],
)
def test_relations(first, second, relation, says, exact):
    given = (first, second) if exact else (floats(first), floats(second))
    found = ch.compare_channels(*given, names=("a", "b"), exact=exact)
    assert found.relation == relation
    assert says in str(found)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["relation"] == relation
    for way, (one, two) in (("forwards", given), ("backwards", given[::-1])):
        by, gain = told[way]["by"], told[way]["gain"]
        assert (by is None) != (gain is None)
        if by is not None:
            by = np.array([[float(Fraction(x)) for x in row] for row in by])
            made = np.array(floats(one)) @ by
            assert made == pytest.approx(np.array(floats(two)), abs=1e-12)
    any_holds = relation != "incomparable"
    assert found.grade == ("approximate" if any_holds and not exact else "proved")


def test_what_is_not_decided_is_said(monkeypatch):
    monkeypatch.setattr(rational_refinement, "MOST_WORK", 3)
    found = ch.compare_channels(A, A, exact=True)
    assert (found.relation, found.grade) == ("not assessed", "not assessed")
    assert "not decided" in str(found)
    assert json.dumps(found.to_dict())
