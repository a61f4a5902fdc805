"""Refinement: the post-processing, or a gain that separates; reference values."""

from __future__ import annotations

import json
from fractions import Fraction
from fractions import Fraction as F

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels import refinement as rational_refinement
from narcissus.channels.refinement import solution
from narcissus.errors import NarcissusError, TooLargeError
from narcissus.results import NotAssessed

from .conftest import refused

A = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]
B = [[0.7, 0.3], [0.4, 0.6], [0.45, 0.55]]


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.parametrize(("first", "second", "gap"), [(A, B, 0.2), (B, A, 0.6545454545)])
def test_two_that_cannot_be_compared(first, second, gap):
    found = ch.refines(first, second)
    assert not found.holds
    assert found.gap == pytest.approx(gap, abs=1e-9)
    told = [ch.g_vulnerability(c, found.gain) for c in (first, second)]
    assert told == [found.first, found.second]
    # the shifted and halved gain tells the gap, over two and the three secrets
    assert told[1] - told[0] >= gap / 6 - 1e-9
    assert found.grade == "proved"


@pytest.mark.parametrize("seed", range(5))
def test_post_processing_is_found(seed):
    rng = np.random.default_rng(seed)
    first, by = rng.dirichlet(np.ones(4), 5), rng.dirichlet(np.ones(3), 4)
    found = ch.refines(first, first @ by)
    assert found.holds
    assert np.abs(first @ found.by.dense - first @ by).sum() <= 1e-9
    assert found.grade == "approximate"
    assert not ch.refines(first @ by, first).holds


@pytest.mark.parametrize("off", [1e-5, 1e-7, 1e-8])
def test_what_is_nearly_post_processed_is_told_from_what_is(off):
    """Each answer has the witness that it says: 1e-9 in sum, or a gain that separates."""
    rng, separated = np.random.default_rng(11), 0
    for _ in range(25):
        first, by = rng.dirichlet(np.ones(5), 6), rng.dirichlet(np.ones(3), 5)
        second = first @ by
        second[0] += off * np.array([-1.0, 1.0, 0.0])
        found = ch.refines(first, second)
        if found.holds:
            assert np.abs(first @ found.by.dense - second).sum() <= 1e-9
        else:
            assert ch.g_vulnerability(second, found.gain) > ch.g_vulnerability(first, found.gain)
            separated += 1
    assert separated >= 20


def test_what_cannot_be_compared_is_refused():
    refused("same secrets", ch.refines, A, [[1.0], [1.0]])
    with pytest.raises(TooLargeError, match="variables"):
        ch.refines(np.full((2, 1000), 1e-3), np.full((2, 1000), 1e-3))


def test_qif_decides_the_same(qif):
    rng = np.random.default_rng(2)
    for _ in range(6):
        first, by = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), 3)
        other = rng.dirichlet(np.ones(3), 4)
        for a, b in ((first, first @ by), (first @ by, first), (first, other)):
            assert ch.refines(a, b).holds == qif.refinement.refined_by_witness(a, b)[0]


def test_it_is_told_as_plain_values():
    told = ch.refines(A, B).to_dict()
    assert (told["holds"], told["by"], told["grade"]) == (False, None, "proved")
    assert np.array(told["gain"]).shape[1] == 3
    assert ch.refines(A, A).to_dict()["by"] is not None


def test_what_no_witness_decides_is_no_verdict(monkeypatch):
    monkeypatch.setattr("narcissus.channels.refinement.g_vulnerability", lambda *_: 0.5)
    with pytest.raises(NarcissusError, match="not decided: the nearest post-processing is off by"):
        ch.refines(np.eye(2)[[0, 0]], np.eye(2))


EXACT_A = [["0.8", "0.2"], ["0.2", "0.8"], ["0.5", "0.5"]]
EXACT_B = [["0.7", "0.3"], ["0.4", "0.6"], ["0.45", "0.55"]]


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
    for first, second in ((EXACT_A, EXACT_B), (EXACT_B, EXACT_A)):
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
    assert isinstance(ch.refines_exactly(EXACT_A, EXACT_A), NotAssessed)
    refused("same secrets", ch.refines_exactly, EXACT_A, [["1"]])


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


def test_qif_agrees_in_fractions(qif):
    rng = np.random.default_rng(1)
    for _ in range(4):
        a, by = random_rows(rng, 3, 3), random_rows(rng, 3, 2)
        for first, second in ((a, product(a, by)), (product(a, by), a), (a, by)):
            theirs = qif.refinement.refined_by_witness(
                *(np.array(c, dtype=object) for c in (first, second))
            )
            assert ch.refines_exactly(first, second).holds == theirs[0]


LESS = [["0.5", "0.5"], ["0.5", "0.5"], ["0.5", "0.5"]]


def floats(rows):
    return [[float(one) for one in row] for row in rows]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "relation", "says"),
    [
        (EXACT_A, LESS, "first", "a tells more than b"),
        (LESS, EXACT_A, "second", "b tells more than a"),
        (EXACT_A, [row[::-1] for row in EXACT_A], "equivalent", "tell the same"),
        (EXACT_A, EXACT_B, "incomparable", "cannot be compared"),
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
    found = ch.compare_channels(EXACT_A, EXACT_A, exact=True)
    assert (found.relation, found.grade) == ("not assessed", "not assessed")
    assert "not decided" in str(found)
    assert json.dumps(found.to_dict())


def test_partitions():
    a = ch.of_program(lambda x: x // 2, range(8))  # pairs
    b = ch.of_program(lambda x: (x + 1) // 2 if x < 4 else 9, range(8))
    both = ch.greatest_below(a, b)
    # 0 1 | 2 3 | 4..7 by way of 1-2: 0..3 are one; 4..7 are one
    assert both.shape[1] == 2
    assert both.dense[:, 0].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    either = ch.least_above(a, b)
    assert either.shape[1] == 6  # 0 | 1 | 2 | 3 | 4 5 | 6 7
    for one in (a, b):
        assert ch.refines(one, both).holds
        assert ch.refines(either, one).holds


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.one_in(2)
def test_two_secrets_have_both_bounds(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 2)
    a, b = (rng.dirichlet(np.full(m, 0.6), 2) for m in sizes)
    a = np.column_stack([a * 0.8, [[0.2], [0]], [[0], [0.2]]]) if seed % 2 else a
    low, high = ch.greatest_below(a, b), ch.least_above(a, b)
    for one in (a, b):
        assert ch.refines(one, low).holds
        assert ch.refines(high, one).holds
    below = above = 0
    for _ in range(12):
        other = a @ rng.dirichlet(np.full(2, 0.5), a.shape[1])
        if ch.refines(b, other).holds:
            below += 1
            assert ch.refines(low, other).holds
        more = rng.dirichlet(np.full(4, 0.1), 2)
        if ch.refines(more, a).holds and ch.refines(more, b).holds:
            above += 1
            assert ch.refines(more, high).holds
    assert below + above > 2


@pytest.mark.states("Narcissus theory", "6.6")
def test_two_secrets_by_hand():
    a, b = [[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]
    # the curves cross at (9/14, 5/14); the hull of all corners is that of (.5, .1) and (.9, .5)
    assert ch.greatest_below(a, b).dense == pytest.approx(np.array([[9, 5], [5, 9]]) / 14)
    assert ch.least_above(a, b).dense == pytest.approx(np.array([[0.5, 0.4, 0.1], [0.1, 0.4, 0.5]]))
    sure, nothing = np.eye(2), [[1.0], [1.0]]
    assert ch.beta_star(ch.least_above(sure, a)).value == 0
    assert ch.beta_star(ch.greatest_below(nothing, a)).value == 1


def test_comparable_ones_are_their_own_bounds():
    rng = np.random.default_rng(3)
    a = rng.dirichlet(np.ones(4), 3)
    b = a @ rng.dirichlet(np.ones(3), 4)
    for pair in ((a, b), (b, a)):
        assert np.array_equal(ch.greatest_below(*pair).dense, b)
        assert np.array_equal(ch.least_above(*pair).dense, a)


@pytest.mark.parametrize("bound", [ch.greatest_below, ch.least_above])
def test_others_need_have_none(bound):
    refused("may lack a greatest lower", bound, A, B)
    refused("same secrets", bound, A, [[1.0], [1.0]])
