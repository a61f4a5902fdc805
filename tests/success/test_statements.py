"""Statements by hand and by enumeration: their tests, weights, evidence, and what they refuse."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, play
from narcissus.attacks import ParityGuess, ParityMembership, ReleasedRow, TryInputs
from narcissus.errors import InputError
from narcissus.evidence import Bets
from narcissus.evidence.betting import log_mean
from narcissus.kinds.game.numbers import exactly
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import Constant, ExactAverage, Identity, Parity, Sha256
from narcissus.profiles import write_out_family
from narcissus.study.registry import STATEMENT, loaded
from narcissus.success import (
    BayesianSafety,
    Claim,
    EncryptionSecurity,
    FixedBaseline,
    KeptSurprisal,
    MembershipResilience,
    NarcissusResilience,
    NarcissusSinglingOut,
    NotMemorizing,
    OneWayness,
    PairResilience,
    Resilience,
    SafetyGivenKnowledge,
    SinglingOut,
    SurprisalResilience,
    Threshold,
    TwoCriteriaSafety,
)
from narcissus.success.relations import (
    FirstBit,
    Isolates,
    Member,
    Pinned,
    Prefix,
    SameImage,
)
from narcissus.success.statements import (
    Evidence,
    Scores,
    _pack,
    achievable,
    largest_refuted,
    prepared,
)
from narcissus.worlds import Bits, MonaLisa, Neighbours, Pairs, Records, Tardos, Uniform
from narcissus.worlds.base import Law


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


def test_what_a_surprising_row_keeps_is_said():
    assert "that keeps" not in SurprisalResilience(0, 0, share=0.5).words()
    assert "that keeps 3 bits" in SurprisalResilience(0, 0, share=0.5, bits=3.0).words()


def test_singling_out_is_about_rows_of_one_distribution():
    SinglingOut.require(SimpleNamespace(world=Bits(5)))
    unlike = Bits(5, rate=(0.1, 0.2, 0.3, 0.4, 0.5))
    with pytest.raises(InputError, match="are not alike"):
        SinglingOut.require(SimpleNamespace(world=unlike))


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


GAME = Game(Bits(3), Identity(), Prefix())


@pytest.mark.parametrize(
    ("statement", "needs"),
    [
        (PairResilience, "a world of pairs"),
        (TwoCriteriaSafety, r"\[looser\]"),
        (SafetyGivenKnowledge, r"\[side-information\]"),
    ],
)
def test_a_game_that_it_does_not_speak_of_is_refused(statement, needs):
    with pytest.raises(InputError, match=needs):
        statement.require(GAME)


def test_a_game_that_it_speaks_of_is_not():
    BayesianSafety.require(GAME)
    TwoCriteriaSafety.require(replace(GAME, looser=Prefix()))
    SafetyGivenKnowledge.require(replace(GAME, side=KnownRows(1)))
    PairResilience.require(Game(Neighbours(3), Identity(), Prefix()))


def test_two_of_them_have_a_relation_for_fresh_data():
    named = {name for name, target in STATEMENT.items() if loaded(target).two_relations}
    assert named == {"two-criteria", "surprisal"}


def test_all_are_the_same_inequality():
    scores = Scores(np.array([True, False]), np.array([0.5, 0.25]), 0, np.full(2, np.nan))
    resilient = [loaded(t) for t in STATEMENT.values() if issubclass(loaded(t), Resilience)]
    assert len(resilient) == 10
    for statement in resilient:
        more = {"share": 0.5} if statement is SurprisalResilience else {}
        (test,) = statement(np.log(2.0), 0.125, **more).tests(scores)
        np.testing.assert_allclose(test.values, [1 - 1 - 0.125, -0.5 - 0.125])


COINS = Sha256(64)
PLAYED = [
    (NarcissusResilience, Game(Uniform(1, 1), Identity(), Member()), ReleasedRow(), 1, 1 / 2),
    (MembershipResilience, Game(Uniform(1, 2), Parity(), Member()), ParityGuess(), 1 / 2, 1 / 4),
    (NarcissusSinglingOut, Game(Uniform(1, 2), Parity(), Isolates()), ParityMembership(), 1, 1 / 2),
    (OneWayness, Game(Bits(1), COINS, SameImage(COINS)), TryInputs(40), 1, 1 / 2),
    (EncryptionSecurity, Game(Pairs([[[0], [1]]]), Identity(), FirstBit()), ReleasedRow(), 1, 0),
]


@pytest.mark.parametrize(("statement", "game", "attack", "success", "baseline"), PLAYED)
def test_games_of_one_or_two_bits_violate_what_is_below_the_gap(
    statement, game, attack, success, baseline
):
    """Each definition in a game of its own, whose success and baseline are counted by hand.

    Of a pair the fresh data set is the other one, so that its first bit is never right there.
    """
    gap = success - baseline
    below, above = gap - 0.1, min(1.0, gap + 0.1)
    less, more = (play(game, attack, statement(0.0, d), trials=4000, rng=5) for d in (below, above))
    assert (less.outcome, more.outcome) == ("violates", "no violation found")
    whole = more.attackers[0]
    assert whole.success.low <= success <= whole.success.high
    assert whole.baseline.low <= baseline <= whole.baseline.high


def test_the_share_of_surprisal_is_one():
    with pytest.raises(InputError, match="`share`"):
        SurprisalResilience(1.0, 0.1, share=2)


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.4", "Remark 4.5")
def test_a_share_and_bits_are_both_asked_for():
    told, plain = np.array([1.0, 5.0, 9.0, 9.0]), np.array([2.0, 20.0, 10.0, 30.0])
    assert KeptSurprisal(0.5).enough(told, plain).tolist() == [True, False, True, False]
    assert KeptSurprisal(0.5, bits=3).enough(told, plain).tolist() == [False, False, True, False]
    assert KeptSurprisal(0.0, bits=5).enough(told, plain).tolist() == [False, True, True, True]


def test_of_fresh_data_something_is_asked_only_where_it_is_said():
    assert KeptSurprisal(0.5).of_fresh is None
    assert KeptSurprisal(0.5, 7, 0.2).of_fresh == KeptSurprisal(0.2)
    assert KeptSurprisal.of(0.5) == KeptSurprisal(0.5)
    assert KeptSurprisal.of(KeptSurprisal(0.1, 2)) == KeptSurprisal(0.1, 2)


@pytest.mark.parametrize(
    ("asked", "match"), [((1.5,), "`share`"), ((0.5, -1), "`bits`"), ((0.5, 0, 2), "`fresh_share`")]
)
def test_what_cannot_be_asked(asked, match):
    with pytest.raises(InputError, match=match):
        KeptSurprisal(*asked)


QUARTERS = Records(3, [0.25] * 4)


def least(world, mechanism, **options):
    game = Game(world, mechanism, Isolates())
    statement = SinglingOut(world.n, **{"w_max": 1.0, **options})
    exact = exactly(write_out_family(game), statement, [0.0])
    return exact.least


def test_three_records_of_four_values_with_their_average():
    """Weights are quarters, and 1/3 is none: .75 less .421875, not less the continuous .444444."""
    prepared = SinglingOut(3, 1.0).prepare(Game(QUARTERS, ExactAverage(), Isolates()))
    assert prepared.baseline(1.0) == pytest.approx(0.421875, abs=1e-15)
    assert SinglingOut(3, 1.0).baseline(1.0) == pytest.approx(4 / 9)
    assert least(QUARTERS, ExactAverage()) == pytest.approx(0.328125, abs=1e-15)


def test_nothing_released_helps_nobody_at_any_weight():
    for w_max in (0.1, 0.25, 0.3, 1.0):
        assert least(QUARTERS, Constant(), w_max=w_max) == 0


def test_the_best_weight_is_sought_among_those_that_there_are():
    game = Game(Records(4, [0.55, 0.45]), Constant(), Isolates())
    statement = SinglingOut(4, 1.0).prepare(game)
    chance = {w: 4 * w * (1 - w) ** 3 for w in (0.45, 0.55)}
    assert statement.baseline(0.44) == 0
    assert statement.baseline(0.5) == pytest.approx(chance[0.45])
    assert statement.baseline(np.array([0.55, 1.0])) == pytest.approx([chance[0.45]] * 2)
    assert statement.weights == pytest.approx([0.0, 0.45, 0.55, 1.0])
    assert SinglingOut(1, 1.0).prepare(Game(Bits(1), Constant(), Isolates())).baseline(1.0) == 1


@pytest.mark.parametrize("chances", [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [1 / 3] * 3])
def test_achievable_weights_are_the_sums_of_all_subsets(chances):
    sums = [
        sum(part) for k in range(len(chances) + 1) for part in itertools.combinations(chances, k)
    ]
    found = achievable(Law(np.arange(len(chances)), np.array(chances)))
    assert found is not None
    assert len(found) == len({round(s, 9) for s in sums})
    for one in sums:
        assert np.abs(found - one).min() < 1e-12


def test_many_equal_values_are_counted_not_listed_one_by_one():
    found = achievable(Uniform(2, 10).law)
    assert found == pytest.approx(np.arange(1025) / 1024)
    mona = achievable(MonaLisa(2, 6, 0.5).law)
    assert mona is not None
    assert len(mona) == 2 * 64
    assert achievable(None) is None
    uneven = np.random.default_rng(1).dirichlet(np.ones(30))
    assert achievable(Law(np.arange(30), uneven)) is None


def test_laws_are_those_of_records_that_are_alike():
    assert Bits(3, [0.1, 0.2, 0.3]).law is None
    assert Records(2, [[0.5, 0.5], [0.1, 0.9]]).law is None
    assert Uniform(2, 20).law is None
    assert not hasattr(Tardos(4, 2, 2), "law")
    for world in (Bits(3, 0.2), Records(2, [0.5, 0.3, 0.2]), Uniform(2, 3, 2), MonaLisa(2, 3, 0.2)):
        law = world.law
        assert law is not None
        assert law.chances.sum() == pytest.approx(1)
        rows = world.draw(20_000, np.random.default_rng(1)).data[:, 0].reshape(20_000, -1)
        values = law.values.reshape(len(law.values), -1)
        shares = [(rows == value).all(axis=1).mean() for value in values]
        assert shares == pytest.approx(law.chances, abs=5 * 0.5 / np.sqrt(20_000))


def prepared_for(world, **options):
    statement = SinglingOut(world.n, **{"w_max": 1.0, **options})
    return statement.prepare(Game(world, Constant(), Isolates()))


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("delta", [0.0, 0.25])
def test_there_is_a_test_for_each_weight_of_what_isolates_so_lightly(epsilon, delta):
    """Four values alike: weights are quarters, and a predicate of the weight itself is light."""
    statement = prepared_for(QUARTERS, w_max=0.5, epsilon=epsilon, delta=delta)
    assert statement.weights.tolist() == [0, 0.25, 0.5]
    weight = np.array([0.0, 0.25, 0.25, 0.5, 0.5 * (1 + 1e-13), 0.75, np.nan])
    success = np.array([1, 1, 0, 1, 1, 1, 1], dtype=bool)
    scores = Scores(success, np.zeros(7), 0, weight)
    for test, w, light in zip(
        statement.tests(scores),
        (0, 0.25, 0.5),
        ([1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 0, 0]),
        strict=True,
    ):
        best = max(3 * v * (1 - v) ** 2 for v in (0, 0.25, 0.5) if v <= w)
        limit = np.exp(epsilon) * best + delta
        assert test.values == pytest.approx(np.array(light) - limit)


def test_weights_are_those_that_there_are_or_a_logarithmic_grid():
    many = prepared_for(Uniform(2, 10), w_max=0.5, points=20)
    assert len(many.weights) == 20
    assert (many.weights[0], many.weights[-1]) == (pytest.approx(0.5e-9), 0.5)
    steps = np.diff(np.log(many.weights))
    assert steps == pytest.approx(np.full(19, steps[0]))
    assert prepared_for(Uniform(2, 10), w_max=0.5, points=1).weights.tolist() == [0.5]
    enough = prepared_for(QUARTERS, w_max=0.75, points=4)
    assert enough.weights.tolist() == [0, 0.25, 0.5, 0.75]
    assert len(prepared_for(QUARTERS, w_max=0.75, points=3).weights) == 3
    assert SinglingOut(3, 0.4, points=1).weights.tolist() == [0.4]
    # .1 + .2 is above .3 by rounding, and light all the same
    tenths = prepared_for(Records(2, [0.1, 0.2, 0.7]), w_max=0.3)
    assert tenths.weights == pytest.approx([0, 0.1, 0.2, 0.3])
    assert tenths.baseline(0.3) == pytest.approx(2 * 0.3 * 0.7)


def test_weights_are_one_where_they_differ_by_rounding_relatively():
    """A weight of 1e-14 is not 0, though their difference is less than a rounded sum's."""
    found = achievable(Law(np.arange(2), np.array([1e-14, 1 - 1e-14])))
    assert found == pytest.approx([0, 1e-14, 1], abs=1e-20)
    sums = achievable(Law(np.arange(3), np.array([0.1, 0.2, 0.7])))
    assert sums == pytest.approx([0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1])
    assert sums.max() <= 1
    counts = np.array([2, 13, 19, 16, 10, 15])  # over 75, their rounded sum is above 1
    assert achievable(Law(np.arange(6), counts / 75)).max() == 1
    never = achievable(Law(np.arange(3), np.array([0.5, 0.5, 0.0])))
    assert never.tolist() == [0, 0.5, 1]


def test_twenty_different_chances_are_summed_and_more_are_not():
    chances = np.random.default_rng(1).dirichlet(np.ones(21))
    twenty = np.append(chances[:19], chances[19:].sum())
    found = achievable(Law(np.arange(20), twenty))
    assert found is not None
    assert len(found) > 2**19
    assert achievable(Law(np.arange(21), chances)) is None


def test_without_a_law_every_weight_is_possible():
    statement = SinglingOut(4, 1.0)
    for w in (0.0, 0.1, 0.25):
        assert statement.baseline(w) == pytest.approx(4 * w * (1 - w) ** 3)
    for w in (0.3, 1.0):
        assert statement.baseline(w) == pytest.approx(0.75**3)
    assert SinglingOut(1, 1.0).baseline(np.array([0.2, 1.0])).tolist() == [0.2, 1.0]
    one = prepared_for(Records(1, [0.25] * 4))
    assert one.baseline(np.array([0.3, 1.0])).tolist() == [0.25, 1.0]
    # two rows cannot both be isolated by a predicate that always holds
    assert prepared_for(Records(2, [1.0])).baseline(1.0) == 0


def test_statements_that_were_prepared_can_be_compared():
    assert prepared_for(QUARTERS) == prepared_for(QUARTERS)
    assert prepared_for(QUARTERS) != prepared_for(QUARTERS, delta=0.1)
