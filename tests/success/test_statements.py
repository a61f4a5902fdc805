"""Statements: their inequalities by hand, and what evidence refutes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus.success import (
    FixedBaseline,
    NotMemorizing,
    Resilience,
    SinglingOut,
    Threshold,
)
from narcissus.success.statements import Evidence, Scores, largest_refuted


def scores(success, baseline, fresh=1, weight=None):
    s = np.asarray(success, dtype=bool)
    w = np.full(len(s), np.nan) if weight is None else np.asarray(weight, dtype=float)
    return Scores(s, np.asarray(baseline, dtype=float), fresh, w)


@pytest.mark.states("Cohen et al. 2024", "Definition 1.4", "Definition 1.5")
@pytest.mark.states("Kaplan et al. 2025", "Definition 1.2")
def test_statements_by_hand():
    s = scores([1, 1, 0, 0], [0.5, 0.0, 1.0, 0.0])
    assert Resilience(math.log(2), 0.25).tests(s)[0].values == pytest.approx(
        [-0.25, 0.75, -2.25, -0.25]
    )
    assert FixedBaseline(0.0, 0.1, 0.2).tests(s)[0].values == pytest.approx([0.7, 0.7, -0.3, -0.3])
    exact = scores([1, 1, 0, 0], [0.5, 0.0, 1.0, 0.0], fresh=0)
    assert Threshold(0.25, 0.1).tests(exact)[0].values == pytest.approx([-0.25, 0.75, -0.25, -0.25])
    weighed = scores([1, 1, 0], [0, 0, 0], weight=[1e-3, 0.5, 1e-9])
    tests = SinglingOut(10, 0.1, points=1).tests(weighed)
    base = 10 * 0.1 * 0.9**9
    assert tests[0].values == pytest.approx([1 - base, -base, -base])
    pair = NotMemorizing(3, 4, 0.1).tests(s)
    assert pair[0].values == pytest.approx([0.25, 0.25, -0.75, -0.75])
    assert pair[1].values == pytest.approx([-0.4, 0.1, -0.9, 0.1])
    for test in [*tests, *pair, *Resilience(1.0, 0.3).tests(s)]:
        assert (test.values >= test.lowest - 1e-12).all()


def test_threshold_counts_a_sampled_baseline_only_if_it_is_surely_small():
    few = scores([1] * 3, [0.0] * 3, fresh=20)
    assert (Threshold(0.1, 0.1).tests(few)[0].values < 0).all()  # 0 of 20 is not surely below 10%
    many = scores([1] * 3, [0.0] * 3, fresh=200)
    assert (Threshold(0.1, 0.1).tests(many)[0].values > 0.8).all()


def test_singling_out_baseline_is_the_best_weight():
    statement = SinglingOut(20, 1.0)
    grid = np.linspace(0, 1, 20_001)
    chance = 20 * grid * (1 - grid) ** 19
    for w in (1e-4, 0.01, 0.05, 0.2, 1.0):
        assert statement.baseline(w) == pytest.approx(chance[grid <= w + 1e-12].max(), rel=1e-3)


@pytest.mark.states("Kaplan et al. 2025", "Definition 1.2")
def test_memorizing_needs_both_rates():
    many, strangers = [True] * 400, [0.0] * 400
    both = Evidence(NotMemorizing(3, 4, 0.1)).update(scores(many, strangers))[-1]
    one = Evidence(NotMemorizing(3, 4, 0.1)).update(scores(many, [0.5] * 400))[-1]
    assert both > 3
    assert one < 0


def test_largest_refuted_grows_with_evidence_and_rounds_up_baselines():
    hurdle = math.log(20)
    few = largest_refuted([scores([1] * 50, [0] * 50)], 0.0, hurdle)
    many = largest_refuted([scores([1] * 5000, [0] * 5000)], 0.0, hurdle)
    assert 0 < few < many < math.log(5000)
    assert largest_refuted([scores([0] * 50, [0] * 50)], 0.0, hurdle) is None
    rng = np.random.default_rng(1)
    fine = rng.random(9000) * 0.1
    packed = largest_refuted([scores([1] * 9000, fine, fresh=0)], 0.0, hurdle)
    coarse = largest_refuted([scores([1] * 9000, np.full(9000, fine.mean()))], 0.0, hurdle)
    assert packed == pytest.approx(coarse, abs=0.1)
