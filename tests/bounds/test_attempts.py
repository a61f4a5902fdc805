"""Bounds that follow the attempts, against all outcomes one by one and the exact optimum."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from narcissus.bounds import (
    certify,
    exact_match_optimum,
    follow_attempts,
    given_output,
    leak_probability,
    leaked_bits,
    threat,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, PureDP

TRIPLED = math.log(3)


def tripled(p: Fraction) -> Fraction:
    """A chance whose odds are tripled."""
    return 3 * p / (1 + 2 * p)


def tail(chances: list[Fraction], v: int) -> Fraction:
    """The chance of at least ``v`` successes, outcome by outcome."""
    return sum(
        (
            math.prod(c if hit else 1 - c for c, hit in zip(chances, outcome, strict=True))
            for outcome in product((0, 1), repeat=len(chances))
            if sum(outcome) >= v
        ),
        start=Fraction(0),
    )


ATTEMPTS = [[Fraction(a, 12) for a in row] for row in ([1, 5, 3, 11], [2, 2, 6, 12], [1, 9, 3, 4])]
FLOATS = [[float(a) for a in row] for row in ATTEMPTS]


@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.2")
def test_given_the_release_every_outcome_counts():
    for row, floats in zip(ATTEMPTS, FLOATS, strict=True):
        for v in range(6):
            truth = float(tail([tripled(p) for p in row], v))
            found = given_output(floats, TRIPLED, v)
            assert found.value == pytest.approx(truth, rel=1e-12, abs=0)
    assert "at least 5 of 4 targets" in found.quantity
    assert found.id == "swanberg-3.2"
    assert any("independent" in said for said in found.assumptions)
    assert any("epsilon 1.09861" in said for said in found.assumptions)
    assert given_output(0.25, TRIPLED, 1).value == pytest.approx(0.5)


@pytest.mark.states("Narcissus theory", "4.1")
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("bits", [1, 2, 5, 8])
def test_bits_leak_as_from_so_many_values(epsilon, bits):
    """The best mechanism tells one of ``2^bits`` equally likely values with that probability."""
    values = np.full(2**bits, 2.0**-bits)
    chance = exact_match_optimum(values, epsilon)[0]
    assert leak_probability(epsilon, bits).value == pytest.approx(chance, rel=1e-12)
    assert leaked_bits(epsilon, 1 - chance).value == pytest.approx(bits, rel=1e-12)


@pytest.mark.states("Narcissus theory", "4.1")
@pytest.mark.parametrize("bits", [1e-9, 0.3, 52, 999, 1000, 1020, 1070])
def test_many_bits_and_few_keep_their_digits(bits):
    for epsilon in (0.0, 2.0, 700.0):
        with mpmath.workdps(400):
            grown = mpmath.exp(epsilon)
            truth = float(grown / (grown - 1 + mpmath.mpf(2) ** bits))
        found = leak_probability(epsilon, bits).value
        assert found == pytest.approx(truth, rel=1e-12, abs=1e-307)


def test_no_bits_leak_without_confidence_and_all_may_with_it():
    assert leaked_bits(1.0, 0.0).value == 0
    assert leak_probability(1.0, 0.0).value == 1
    assert leaked_bits(1e4, 0.5).value == pytest.approx(1e4 / math.log(2))
    for told in (leaked_bits(1.0, 0.95), leak_probability(1.0, 3.5)):
        assert told.id == "swanberg-3.2"
        assert any("uniform" in said for said in told.assumptions)
        assert any("epsilon 1 " in said for said in told.assumptions)
    assert "0.95" in leaked_bits(1.0, 0.95).quantity
    assert "3.5 bits" in told.quantity
    with pytest.raises(InputError, match="confidence"):
        leaked_bits(1.0, 1.0)


@pytest.mark.states("Narcissus theory", "4.4")
def test_following_the_attempts_holds_for_all_joint_attempts():
    rng = np.random.default_rng(8)
    gained = 0
    for _ in range(60):
        values = int(rng.integers(2, 4))
        prior = rng.dirichlet(np.full(values, rng.choice([0.5, 1.0, 20.0])))
        success = (rng.random((values, 3)) < 0.5).astype(float)
        epsilon = float(rng.choice([0.0, 0.1, 0.5, 1.0, 2.0, 4.0]) * rng.uniform(0.5, 1))
        delta = float(rng.choice([0.0, 0.001, 0.02, 0.2]) * rng.uniform(0.5, 1))
        guarantee = ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
        p = prior @ np.unique(success, axis=1)
        joint = np.array([(a, b) for a in p for b in p]).clip(0, 1)
        kappa = threat(values=prior, success=success).inseparable
        # What a guess has in common with another, it need not tell apart.
        for told in ({}, {"inseparable": kappa}):
            bound = follow_attempts(
                joint, epsilon, delta, 2, least=float(joint.min()), worst=True, **told
            )
            assert certify(bound, [prior] * 2, guarantee, 2, success).holds
        plain = follow_attempts(joint, epsilon, delta, 2, worst=True).value
        assert bound.value <= plain
        gained += bound.value < plain - 1e-6
    assert gained > 15


@pytest.mark.states("Narcissus theory", "4.4")
def test_the_tail_is_the_mean_over_the_runs_or_the_largest():
    tails = [tail([tripled(p) for p in row], 3) for row in ATTEMPTS]
    least, kappa, delta = Fraction(1, 12), Fraction(1, 4), Fraction(1, 100)
    extra = 4 * delta * (1 - kappa) / (1 + least * 2)
    told = {"least": float(least), "inseparable": 0.25}
    mean = follow_attempts(FLOATS, TRIPLED, 0.01, 3, **told)
    assert mean.value == pytest.approx(float(sum(tails) / 3 + extra), rel=1e-12)
    worst = follow_attempts(FLOATS, TRIPLED, 0.01, 3, worst=True, **told)
    assert worst.value == pytest.approx(float(max(tails) + extra), rel=1e-12)
    assert "no other attempts" in str(worst)
    assert "stand for all runs" in str(mean)
    assert "at least 3 of 4 targets" in mean.quantity
    assert "following the attempts" in mean.theorem
    # each target has its own
    each = follow_attempts(
        FLOATS, TRIPLED, 0.01, 3, least=[0.0, 1 / 12, 0.25, 1 / 3], inseparable=[1, 0.5, 0, 0]
    )
    extra = delta * sum((Fraction(1, 2) / (1 + Fraction(1, 6)), 1 / Fraction(3, 2), Fraction(3, 5)))
    assert each.value == pytest.approx(float(sum(tails) / 3 + extra), rel=1e-12)


def test_a_single_run_may_be_a_row_and_nothing_overflows():
    assert follow_attempts([0.5, 0.5], 0.0, 0.0, 2).value == pytest.approx(0.25)
    assert follow_attempts([0.5], 1e4, 0.5, 1).value == 1
    found = follow_attempts([0.0, 0.0], 1e4, 1e-3, 1).value
    assert found == pytest.approx(2e-3)
    assert follow_attempts([1.0, 1.0], 1e4, 1e-3, 3, least=1.0).value == 0


@pytest.mark.parametrize(
    ("runs", "told", "said"),
    [
        (np.full((2, 2, 2), 0.5), {}, "shape"),
        ([], {}, "shape"),
        ([[0.5, 0.5], [0.5, 0.2]], {"least": 0.3}, "least"),
        ([[0.5, 0.5], [0.5, 0.2]], {"least": [0.51, 0.0]}, "least"),
        ([0.5], {"inseparable": 1.5}, "inseparable"),
    ],
)
def test_runs_that_make_no_sense_are_refused(runs, told, said):
    with pytest.raises(InputError, match=said):
        follow_attempts(runs, 1.0, 0.0, 1, **told)
    follow_attempts([[0.5, 0.5], [0.5, 0.2]], 1.0, 0.0, 1, least=[0.5, 0.2])
