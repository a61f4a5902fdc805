"""Curves are the numbers of the records, with limits that hold at once."""

import math

import numpy as np
import pytest
from scipy import stats

from narcissus.scale import Parameter, Sweep, scale
from narcissus.scale.fit import EVERYBODY, curves_of


def curve(scaled, whose, quantity):
    return next(c for c in scaled.curves if (c.whose, c.quantity) == (whose, quantity))


def test_exact_values_are_those_of_every_attacker(drawn):
    right = 1 / (1 + math.exp(-0.5))
    for quantity, formula in (
        ("success", lambda k: right**k),
        ("baseline", lambda k: 2.0**-k),
        ("gain", lambda k: right**k - 2.0**-k),
    ):
        found = curve(drawn, EVERYBODY, quantity)
        assert [p.size for p in found.points] == [1, 2, 3]
        for point in found.points:
            assert point.exact
            assert point.value == pytest.approx(formula(point.size), abs=1e-12)
            assert point.low <= formula(point.size) <= point.high
        assert found.grade == "proved"


def test_sampled_values_are_those_of_the_records_with_the_narrower_limits(drawn):
    found = curve(drawn, "released-places", "gain")
    assert found.grade == "sampled"
    for point, one in zip(found.points, drawn.each, strict=True):
        of = next(a for a in one.results.attackers if a.name == "released-places")
        assert point.value == of.success.value - of.baseline.value
        assert point.low == max(of.gap.low, of.success.low - of.baseline.high)
        assert point.high == min(of.gap.high, of.success.high - of.baseline.low)
        assert of.success.confidence >= 1 - 0.05 / 6


def test_the_factor_on_the_baseline_is_that_of_the_statement(drawn):
    results = drawn.each[0].results
    statement = results.statement.model_copy(update={"epsilon": 1.0})
    one = results.attackers[0]
    changed = results.model_copy(
        update={
            "statement": statement,
            "exact": None,
            "attackers": (one.model_copy(update={"gap": None}),),
        }
    )
    gain = next(c for c in curves_of([(1.0, changed)]) if c.quantity == "gain").points[0]
    assert gain.value == one.success.value - math.e * one.baseline.value
    assert gain.low == one.success.low - math.e * one.baseline.high
    assert gain.high == one.success.high - math.e * one.baseline.low


def test_the_epsilon_of_a_threshold_is_no_factor(drawn):
    results = drawn.each[0].results
    said = results.statement.model_copy(update={"name": "threshold", "epsilon": 0.5})
    changed = results.model_copy(update={"statement": said})
    gains = [c.points for c in curves_of([(1.0, changed)]) if c.quantity == "gain"]
    assert gains == [c.points for c in curves_of([(1.0, results)]) if c.quantity == "gain"]


@pytest.mark.parametrize("kept", [True, False])
def test_of_every_rate_only_limits_are_known(rows, kept):
    """The worst of all rates of a count of n bits at epsilon 1 is found by looking at 20,000."""
    study = {
        **rows,
        "attack": [],
        "run": {},
        "mechanism": {"name": "counting-query"},
        "family": {"kind": "rates", "from": 0.0, "to": 1.0, "points": 3, "tolerance": 1e-3},
        "statement": {"name": "narcissus", "epsilon": 1.0, "delta": 0.01},
    }
    if not kept:  # what one is told depends on the rate, so nothing is known between the rates
        study |= {"side-information": {"name": "rows", "rows": 1}}
    scaled = scale(study, Sweep(Parameter("world.n", (4, 8))), rng=1)
    (found,) = (c for c in scaled.curves if c.whose == EVERYBODY)
    assert (found.quantity, found.grade) == ("gain", "proved")
    p = np.linspace(0, 1, 20_001)
    for point in found.points:
        n = int(point.size)
        ones = np.arange(n + 1)
        gains = np.maximum.reduce([
            np.zeros((n + 1, p.size)),
            ones[:, None] / n - math.e * p,
            1 - ones[:, None] / n - math.e * (1 - p),
        ])  # fmt: skip
        worst = (stats.binom.pmf(ones[:, None], n, p) * gains).sum(axis=0).max()
        assert not point.exact
        if kept:
            assert point.low <= worst <= point.high <= point.value + 1e-3 + 1e-9
        else:
            assert point.high >= 1


def test_who_makes_no_attempt_has_no_success(drawn):
    results = drawn.each[0].results
    best = results.exact.best_attacker.model_copy(update={"success": 0.0, "baseline": 0.0})
    none = results.exact.model_copy(
        update={"best_attacker": best, "delta": (0.0,) * len(results.exact.delta)}
    )
    changed = results.model_copy(update={"exact": none, "attackers": ()})
    assert [(c.quantity, c.direction) for c in curves_of([(1.0, changed), (2.0, changed)])] == [
        ("gain", "is zero")
    ]


def test_an_attacker_that_always_failed_says_nothing(drawn):
    results = drawn.each[0].results
    one = results.attackers[0]
    broken = one.model_copy(update={"failed": one.success.trials})
    changed = results.model_copy(update={"exact": None, "attackers": (broken,)})
    assert curves_of([(1.0, changed)]) == []


def test_bounds_are_named_by_their_theorem_and_graded_by_the_weakest(drawn):
    from narcissus.study.results.game import ProofResult

    def with_bound(value, given):
        proof = ProofResult(
            id="x", theorem="Theorem 1 (the mechanism is (1, 0)-private)", limits="delta",
            quantity="delta", value=value, at_most="", assumptions=given,
            grade="proved if" if given else "proved", sufficient=False,
        )  # fmt: skip
        return drawn.each[0].results.model_copy(
            update={"proofs": (proof,), "exact": None, "attackers": ()}
        )

    (found,) = curves_of([(1.0, with_bound(0.5, ())), (2.0, with_bound(0.2, ("it is so",)))])
    assert (found.whose, found.quantity, found.limits) == ("Theorem 1", "bound", "gain")
    assert found.grade == "proved if"
    assert [p.value for p in found.points] == [0.5, 0.2]
