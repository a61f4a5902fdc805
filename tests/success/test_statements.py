"""Statements: their inequalities by hand, and what evidence refutes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from narcissus import Game
from narcissus.errors import InputError
from narcissus.evidence import Bets
from narcissus.evidence.betting import log_mean
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import Identity
from narcissus.success import (
    Claim,
    FixedBaseline,
    NotMemorizing,
    Resilience,
    SinglingOut,
    SurprisalResilience,
    Threshold,
)
from narcissus.success.relations import Isolates, Pinned, Prefix
from narcissus.success.statements import Evidence, Scores, _pack, largest_refuted, prepared
from narcissus.worlds import Bits, Records


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


def every_statement():
    for epsilon, delta in ((0.0, 0.0), (0.7, 0.2)):
        yield Resilience(epsilon, delta)
        yield from (FixedBaseline(epsilon, delta, best) for best in (None, 0.0, 0.3))
        yield SinglingOut(5, 0.5, epsilon, delta)
        yield replace(SinglingOut(3, 0.5, epsilon, delta), possible=np.array([0, 0.25, 0.5, 1]))
    yield from (Threshold(epsilon, 0.2) for epsilon in (0.0, 0.3))
    yield NotMemorizing(3, 4, 0.1)


@pytest.mark.parametrize("statement", list(every_statement()), ids=repr)
@pytest.mark.parametrize("fresh", [0, 50])
def test_the_least_value_of_a_test_is_below_zero_and_no_lower_than_it_need_be(statement, fresh):
    """Bets take it for the most that they can lose; at 0 there would be nothing to bet on."""
    s = scores([1, 1, 0, 0], [1.0, 0.0, 1.0, 0.0], fresh, weight=[0.25, 0.0, 0.5, np.nan])
    tests = statement.tests(s)
    for test in tests:
        assert test.lowest < 0
        assert test.values.min() >= test.lowest
        assert test.values.min() <= max(test.lowest, -1e-9) + 1e-9
    assert len(statement.tests(scores([0], [0.5], fresh))) == len(tests)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Resilience(-0.1),
        lambda: Resilience(100.5),
        lambda: Resilience(0, 1.1),
        lambda: Resilience(0, -0.1),
        lambda: FixedBaseline(-0.1),
        lambda: FixedBaseline(101.0),
        lambda: FixedBaseline(0, 2),
        lambda: FixedBaseline(0, -1),
        lambda: FixedBaseline(0, 0, 1.5),
        lambda: FixedBaseline(0, 0, -0.5),
        lambda: Threshold(1.5, 0),
        lambda: Threshold(-0.5, 0),
        lambda: Threshold(0, 1.5),
        lambda: Threshold(0, -0.5),
        lambda: NotMemorizing(0, 4, 0.1),
        lambda: NotMemorizing(5, 4, 0.1),
        lambda: NotMemorizing(1, 0, 0.1),
        lambda: NotMemorizing(1, 4, 0.0),
        lambda: NotMemorizing(1, 4, 1.0),
        lambda: SinglingOut(0, 0.5),
        lambda: SinglingOut(3, 0.0),
        lambda: SinglingOut(3, 1.1),
        lambda: SinglingOut(3, 0.5, -1),
        lambda: SinglingOut(3, 0.5, 101),
        lambda: SinglingOut(3, 0.5, 0, -0.1),
        lambda: SinglingOut(3, 0.5, 0, 1.1),
        lambda: SinglingOut(3, 0.5, points=0),
        lambda: SinglingOut(3, 0.5, points=1001),
        lambda: SurprisalResilience(0, 0, share=1.1),
        lambda: SurprisalResilience(0, 0, share=-0.1),
        lambda: SurprisalResilience(0, 2.0, share=0.5),
    ],
)
def test_what_a_statement_cannot_say_is_refused(make):
    with pytest.raises(InputError, match="must be"):
        make()


def test_the_ends_of_what_a_statement_can_say_are_taken():
    for made in (
        Resilience(100.0, 1.0), Resilience(0, 0), FixedBaseline(100, 1, 1), FixedBaseline(0, 0, 0),
        Threshold(1, 1), Threshold(0, 0), NotMemorizing(4, 4, 0.5), NotMemorizing(1, 1, 0.5),
        SinglingOut(1, 1.0, 100, 1, 1000), SinglingOut(1, 1e-9, points=1),
        SurprisalResilience(0, 0, share=1), SurprisalResilience(0, 0, share=0),
    ):  # fmt: skip
        assert made.words()


def test_threshold_takes_a_sampled_baseline_for_small_by_an_exact_test():
    """At 0.1%: so few of the fresh data sets would hold by chance if the baseline were tau."""
    for fresh, tau in ((40, 0.2), (200, 0.1), (7, 0.9), (7, 0.99), (7, 1.0)):
        hits = np.arange(fresh + 1)
        s = scores([1] * (fresh + 1), hits / fresh, fresh)
        [test] = Threshold(0.3, tau).tests(s)
        small = stats.binom.cdf(hits, fresh, tau) <= 1e-3 if tau < 1 else np.ones(fresh + 1, bool)
        assert test.values == pytest.approx(np.where(small, 1.0, 0.0) - 0.3 - 1e-3)
        failed = scores([0] * (fresh + 1), hits / fresh, fresh)
        assert Threshold(0.3, tau).tests(failed)[0].values == pytest.approx(-0.3 - 1e-3)
    exact = Threshold(0.3, 0.2).tests(scores([1, 1, 0], [0.2, 0.21, 0.1], fresh=0))[0]
    assert exact.values == pytest.approx([0.7, -0.3, -0.3])


def test_the_best_fixed_guess_is_that_of_the_world_unless_it_is_given_or_told():
    coins = Game(Bits(3, [0.2, 0.9, 0.5]), Identity(), Pinned(2))
    assert FixedBaseline().prepare(coins).best == pytest.approx(0.8 * 0.9)
    assert FixedBaseline(best=0.5).prepare(coins).best == 0.5
    told = Game(Bits(3), Identity(), Pinned(2), side=KnownRows(1))
    assert FixedBaseline().prepare(told).best is None
    no_formula = Game(Bits(3), Identity(), Prefix())
    assert FixedBaseline().prepare(no_formula).best is None
    s = scores([1, 0], [0, 0])
    assert FixedBaseline(0.0, 0.25).tests(s)[0].values == pytest.approx([-0.25, -1.25])


def test_a_statement_is_prepared_where_it_can_be():
    game = Game(Records(2, [0.5, 0.5]), Identity(), Isolates())
    statement = Resilience()
    assert prepared(statement, game) is statement
    assert prepared(SinglingOut(2, 1.0), game).possible.tolist() == [0.0, 0.5, 1.0]


def test_evidence_bets_on_all_claims_and_goes_on_where_it_was():
    """One of several claims: the mean capital. Both needed: the smaller. In two parts as in one."""
    rng = np.random.default_rng(1)
    s = rng.random(60) < 0.8
    weights = rng.choice([0.01, 0.3], 60)
    both = {
        SinglingOut(10, 0.4, points=3): log_mean,
        NotMemorizing(3, 4, 0.4): lambda paths: paths.min(axis=0),
    }
    for statement, joined in both.items():
        tests = statement.tests(scores(s, s / 9, weight=weights))
        paths = np.stack([Bets(test.lowest).update(test.values) for test in tests])
        whole = Evidence(statement).update(scores(s, s / 9, weight=weights))
        assert whole == pytest.approx(joined(paths))
        parts = Evidence(statement)
        found = [
            parts.update(scores(s[a:b], s[a:b] / 9, weight=weights[a:b]))
            for a, b in ((0, 25), (25, 60))
        ]
        assert np.concatenate(found) == pytest.approx(whole)


def test_the_largest_refuted_epsilon_is_the_last_of_the_grid_that_falls():
    """Each by its own bet; at the hurdle itself a claim falls. Attackers bet together."""
    rng = np.random.default_rng(3)
    first = scores(rng.random(300) < 0.9, rng.choice([0.0, 0.5], 300))
    other = scores(rng.random(300) < 0.5, rng.choice([0.0, 0.5], 300))

    def capital(epsilon, every, delta):
        logs = []
        for one in every:
            values = one.success - math.exp(epsilon) * one.baseline - delta
            seen, counts = np.unique(values, return_counts=True)
            logs.append(Bets(-(math.exp(epsilon) + delta)).add_counts(seen, counts))
        return float(log_mean(np.array(logs)[:, None])[0])

    for every in ([first], [first, other]):
        for delta in (0.0, 0.1):
            hurdle = math.log(20)
            falls = [capital(0.05 * k, every, delta) >= hurdle for k in range(60)]
            last = 0.05 * (falls.index(False) - 1)
            assert largest_refuted(every, delta, hurdle, step=0.05) == pytest.approx(last)
            touched = capital(0.3, every, delta)
            at_it = largest_refuted(every, delta, touched - 1e-9, step=0.05)
            assert at_it == pytest.approx(0.3)
            assert largest_refuted(every, delta, touched + 1e-9, step=0.05) == pytest.approx(0.25)


def test_many_different_baselines_are_rounded_up_by_half_a_percent_at_most():
    rng = np.random.default_rng(1)
    fine = np.concatenate([[0.0, 0.0, 1.0, 1e-200], rng.random(5000)])
    success, baseline, counts = _pack(scores(rng.random(5004) < 0.5, fine, fresh=0))
    assert counts.sum() == 5004
    assert counts[baseline == 0].sum() == 2
    assert len(baseline) < 4096
    rounded = np.sort(np.repeat(baseline, counts))
    exact = np.sort(fine)
    assert (rounded >= exact * (1 - 1e-12)).all()
    assert (rounded <= exact * math.exp(0.0051)).all()
    assert rounded.max() == pytest.approx(1)
    few = scores([1, 1, 0, 1], [0.3, 0.3, 0.3, 0.1], fresh=0)
    success, baseline, counts = _pack(few)
    assert list(zip(success, baseline, counts, strict=True)) == [
        (0, 0.3, 1), (1, 0.1, 1), (1, 0.3, 2)
    ]  # fmt: skip


def test_a_statement_has_as_many_tests_in_every_batch():
    class Fickle(Resilience):
        def tests(self, scores):
            return super().tests(scores) * (2 if len(scores.success) > 1 else 1)

    evidence = Evidence(Fickle())
    evidence.update(scores([1, 1], [0, 0]))
    with pytest.raises(ValueError, match="shorter"):
        evidence.update(scores([1], [0]))


def test_a_fixed_baseline_says_its_number_where_it_has_one():
    assert "0.25 (best fixed guess)" in FixedBaseline(0.0, 0.1, 0.25).words()
    assert "x best fixed guess" in FixedBaseline(0.0, 0.1).words()
    assert (FixedBaseline().epsilon, FixedBaseline().delta, FixedBaseline().best) == (0, 0, None)


def test_a_data_set_has_a_row():
    with pytest.raises(InputError, match="`n` must be at least 1"):
        NotMemorizing(1, 0, 0.1)


def test_a_statement_takes_one_relation_and_any_game_unless_it_says_otherwise():
    class Bare(Claim):
        definition = "Example 2026, Definition 1"

    assert not Bare.two_relations
    assert Bare.require(Game(Bits(3), Identity(), Prefix())) is None
    assert Resilience.require is not SinglingOut.require
