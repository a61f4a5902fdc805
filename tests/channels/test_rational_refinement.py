"""Refinement in fractions: the witness is checked by multiplying it out."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels import rational_refinement
from narcissus.channels.rational_refinement import solution
from narcissus.errors import InputError
from narcissus.results import NotAssessed

A = [["0.8", "0.2"], ["0.2", "0.8"], ["0.5", "0.5"]]
B = [["0.7", "0.3"], ["0.4", "0.6"], ["0.45", "0.55"]]


def random_rows(rng, n, m):
    counts = rng.integers(0, 7, (n, m)) + np.eye(n, m, dtype=int)
    return [[F(int(v), int(row.sum())) for v in row] for row in counts]


def product(a, r):
    return [
        [sum(x * y for x, y in zip(row, c, strict=True)) for c in zip(*r, strict=True)] for row in a
    ]


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.parametrize("seed", range(6))
def test_a_post_processing_is_found_exactly(seed):
    rng = np.random.default_rng(seed)
    a, by = random_rows(rng, 5, 4), random_rows(rng, 4, 3)
    b = product(a, by)
    found = ch.refines_exactly(a, b)
    assert found.holds
    assert found.grade == "proved"
    assert product(a, found.by.rows) == b
    back = ch.refines_exactly(b, a)
    assert not back.holds
    first, second = (ch.rational_channel(c).g_vulnerability(back.gain) for c in (b, a))
    assert (first, second) == (back.first, back.second)
    assert second > first
    assert all(0 <= one <= 1 for row in back.gain for one in row)


@pytest.mark.states("Narcissus theory", "6.6")
def test_incomparable_ones_have_a_gain_each():
    for first, second in ((A, B), (B, A)):
        found = ch.refines_exactly(first, second)
        assert not found.holds
        assert found.second > found.first
        assert "exactly" in str(found)


def test_a_difference_below_all_tolerances_is_not_guessed():
    tiny = F(1, 10**14)
    a = [[F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]]
    b = [[F(1, 2) + tiny, F(1, 2) - tiny], [F(1, 4), F(3, 4)]]
    assert ch.refines(ch.channel(a), ch.channel(b)).holds  # within 1e-9
    found = ch.refines_exactly(a, b)
    assert isinstance(found, NotAssessed) or not found.holds  # b tells a little more


def test_what_is_too_large_is_not_assessed(monkeypatch):
    monkeypatch.setattr(rational_refinement, "MOST_WORK", 3)
    assert isinstance(ch.refines_exactly(A, A), NotAssessed)
    with pytest.raises(InputError, match="same secrets"):
        ch.refines_exactly(A, [["1"]])


def test_equations_are_solved_in_fractions():
    lines = [({0: F(1), 1: F(2)}, F(5)), ({0: F(3), 1: F(-1)}, F(1)), ({0: F(4), 1: F(1)}, F(6))]
    assert solution(lines, [0.0, 0.0]) == [1, 2]
    assert solution([*lines, ({1: F(1)}, F(3))], [0.0, 0.0]) is None
    assert solution([({0: F(1), 1: F(1)}, F(1))], [0.9, 0.25]) == [F(3, 4), F(1, 4)]  # 1 is free


def test_a_solution_below_zero_is_no_post_processing():
    a, b = [["1/2", "1/2"], ["1/4", "3/4"]], [["3/5", "2/5"], ["1/4", "3/4"]]
    given = ch.rational_channel(a), ch.rational_channel(b)
    assert rational_refinement._by_solving(*given, np.full((2, 2), 0.5)) is None
    assert not ch.refines_exactly(a, b).holds
    assert rational_refinement._by_solving(*given[::-1], np.full((2, 2), 0.5)).holds


def test_qif_agrees_in_fractions():
    qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")
    rng = np.random.default_rng(1)
    for _ in range(4):
        a, by = random_rows(rng, 3, 3), random_rows(rng, 3, 2)
        for first, second in ((a, product(a, by)), (product(a, by), a), (a, by)):
            theirs = qif.refinement.refined_by_witness(
                *(np.array(c, dtype=object) for c in (first, second))
            )
            assert ch.refines_exactly(first, second).holds == theirs[0]
