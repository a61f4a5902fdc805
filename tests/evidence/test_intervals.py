"""Confidence limits: against independent formulas, and by seeded coverage."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence import (
    clopper_pearson,
    each_confidence,
    first_in_sequence,
    mean_limits,
    median_limits,
    narrowest_limits,
    next_limit,
    studentised_limits,
    trials_for,
)
from narcissus.evidence.intervals import (
    NUISANCE,
    TwoSamples,
    auc,
    confidence_of_each,
    half_of,
    p_value_of_half,
    refused_by_half,
    standard_score,
)
from narcissus.results import Approximate


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_clopper_pearson_against_scipy(counts):
    successes, trials = counts
    ours = clopper_pearson(successes, trials, confidence=0.9)
    theirs = stats.binomtest(successes, trials).proportion_ci(0.9, method="exact")
    assert ours.low == pytest.approx(theirs.low, abs=1e-9)
    assert ours.high == pytest.approx(theirs.high, abs=1e-9)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("chances", [(0.5, 0.0, 0.5), (0.3, 0.3, 0.4), (0.1, 0.45, 0.45)])
def test_every_median_is_covered_exactly(chances, confidence):
    cumulative = np.cumsum(chances)
    medians = [m for m in (0, 0.5, 1, 1.5, 2) if _is_median(m, cumulative)]
    low, high = dict.fromkeys(medians, 0.0), dict.fromkeys(medians, 0.0)
    for counts in itertools.product(range(8), repeat=3):
        if sum(counts) != 7:
            continue
        ways = math.factorial(7) / math.prod(map(math.factorial, counts))
        chance = ways * math.prod(c**k for c, k in zip(chances, counts, strict=True))
        found = median_limits(np.repeat([0, 1, 2], counts), confidence=confidence)
        for m in medians:
            low[m] += chance * (found.low is not None and found.low > m)
            high[m] += chance * (found.high is not None and found.high < m)
    for missed in (*low.values(), *high.values()):
        assert missed <= (1 - confidence) / 2 + 1e-12


def _is_median(m, cumulative):
    at_most = cumulative[math.floor(m)]
    below = 0.0 if m == 0 else cumulative[math.ceil(m) - 1]
    return at_most >= 0.5 - 1e-12 and 1 - below >= 0.5 - 1e-12


def test_the_ranks_are_the_tabulated_ones():
    assert (median_limits([1, 2], confidence=0.5).low) == 1  # a miss of exactly half the error
    for n, low, high in ((6, 1, 6), (8, 1, 8), (9, 2, 8), (10, 2, 9), (20, 6, 15), (100, 40, 61)):
        found = median_limits(np.random.default_rng(n).permutation(n) + 1)
        assert (found.low, found.high) == (low, high)


@given(st.integers(1, 500), st.sampled_from([0.5, 0.9, 0.99]))
def test_the_floor_is_met_by_the_exact_limits_of_a_sure_success(n, confidence):
    low, high = narrowest_limits(1.0, n, confidence=confidence)
    assert low == pytest.approx(clopper_pearson(n, n, confidence=confidence).low, rel=1e-9)
    assert high == 1
    low, high = narrowest_limits(0.0, n, confidence=confidence)
    assert low == 0
    assert high == pytest.approx(clopper_pearson(0, n, confidence=confidence).high, rel=1e-9)


@given(st.floats(0.01, 1), st.floats(0.001, 0.999), st.sampled_from([0.8, 0.95]))
def test_the_floor_and_its_inverse(mean, part, confidence):
    distance = part * mean
    n = trials_for(distance, 0.0, room=mean, confidence=confidence)
    low, _ = narrowest_limits(mean, n, confidence=confidence)
    assert mean - low <= distance * (1 + 1e-9)
    if n > 1:
        before, _ = narrowest_limits(mean, n - 1, confidence=confidence)
        assert mean - before > distance * (1 - 1e-9)


@pytest.mark.parametrize(
    ("people", "chance", "distance"),
    [(1, 0.5, 0.05), (1, 0.9, 0.05), (100, 0.87, 0.03), (100, 0.3, 0.02), (10, 0.6, 0.02)],
)
@pytest.mark.parametrize("upper", [True, False])
def test_the_plan_is_near_what_it_takes(people, chance, distance, upper):
    variance, room = chance * (1 - chance) / people, 1 - chance if upper else chance
    n = trials_for(distance, variance, room=room)
    reach = []
    for seed in range(12):
        values = np.random.default_rng(seed).binomial(people, chance, n) / people
        found = mean_limits(values, people=people)
        reach.append(found.high - found.value if upper else found.value - found.low)
    assert 0.7 * distance < np.mean(reach) < 1.05 * distance


@pytest.mark.parametrize(
    ("passed", "kept"), [([], 0), ([True], 1), ([False, True], 0), ([True, True, False, True], 2)]
)
def test_a_sequence_stops_at_the_first_failure(passed, kept):
    assert first_in_sequence(passed) == kept


@pytest.mark.coverage_claim
def test_a_sequence_has_the_level_of_one_test():
    rng = np.random.default_rng(8)
    runs = 4000
    passed = rng.random((runs, 8)) < np.r_[np.full(3, 0.95), np.full(5, 0.1)]
    false = sum(first_in_sequence(row) > 3 for row in passed)
    assert false <= stats.binom.isf(1e-6, runs, 0.1)
    assert passed[:, 3:].any(axis=1).sum() > stats.binom.isf(1e-6, runs, 0.1)


def test_by_hand():
    assert [half_of(n) for n in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]
    assert confidence_of_each(0.9, 2) == pytest.approx(0.95)
    assert confidence_of_each(0.9, 3) == pytest.approx(1 - 0.2 / 3)
    assert refused_by_half([1, 2, 3]) == 2
    assert refused_by_half([1, 2]) == 2
    assert p_value_of_half([0.3]) == 0.3
    assert p_value_of_half([0.2, 0.9]) == 0.4
    assert p_value_of_half([0.9, 0.8, 1.0]) == 1


@pytest.mark.parametrize("tests", [1, 2, 3, 4, 7, 8])
def test_the_worst_dependence_reaches_the_error_and_no_more(tests):
    rng, runs, alpha = np.random.default_rng(1), 20_000, 0.2
    need = half_of(tests)
    c = alpha * need / tests
    hit = rng.random((runs, 1)) < alpha
    chosen = rng.permuted(np.arange(tests) < need + np.zeros((runs, 1)), axis=1)
    below, above = rng.random((runs, tests)) * c, c + (1 - c) * rng.random((runs, tests))
    p_values = np.where(hit & chosen, below, above)
    # each is uniform: P(p <= c) = alpha need / tests = c
    assert np.mean(p_values <= c) == pytest.approx(c, abs=0.02)
    refused = np.mean([p_value_of_half(list(row)) <= alpha for row in p_values])
    assert refused == pytest.approx(alpha, abs=0.015)
    assert confidence_of_each(1 - alpha, tests) == pytest.approx(1 - c)


def test_without_a_control_it_is_students_t():
    values = np.random.default_rng(1).random(9)
    found = studentised_limits(values, confidence=0.9)
    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert isinstance(found, Approximate)
    assert found.grade == "approximate"
    assert (found.low, found.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_with_a_control_it_is_the_intercept_of_the_regression():
    rng = np.random.default_rng(2)
    luck = rng.normal(0.1, 0.3, 12)
    values = 0.4 + 0.7 * luck + rng.normal(0, 0.05, 12)
    found = studentised_limits(values, luck)
    theirs = stats.linregress(luck, values)
    reach = stats.t.isf(0.025, 10) * theirs.intercept_stderr
    assert found.value == pytest.approx(theirs.intercept)
    assert found.high - found.value == pytest.approx(reach)
    assert found.value - found.low == pytest.approx(reach)
    plain = studentised_limits(values)
    assert found.high - found.low < 0.5 * (plain.high - plain.low)


@pytest.mark.parametrize("alike", [0.0, 0.1, 1 / 3])
def test_a_control_that_does_not_vary_changes_nothing(alike):
    values = [0.1, 0.4, 0.2, 0.6]
    assert studentised_limits(values, np.full(4, alike)) == studentised_limits(values)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: clopper_pearson(3, 2), "successes"),
        (lambda: clopper_pearson(-1, 2), "successes"),
        (lambda: clopper_pearson(0, 0), "trials"),
        (lambda: median_limits([]), "values"),
        (lambda: median_limits([[1.0]]), "values"),
        (lambda: median_limits([1.0, math.nan]), "values"),
        (lambda: trials_for(0.0, 0.1), "distance"),
        (lambda: trials_for(0.1, -1.0), "variance"),
        (lambda: trials_for(0.1, 0.1, room=0.0), "room"),
        (lambda: each_confidence(0.95, 0), "family"),
        (lambda: refused_by_half([]), "at least one"),
        (lambda: p_value_of_half([]), "at least one"),
        (lambda: studentised_limits([0.5]), "at least 2"),
        (lambda: studentised_limits([0.5, 0.6], [0.1, 0.2]), "at least 3"),
        (lambda: studentised_limits([0.5, 0.6, 0.7], [0.1, 0.2, 0.3, 0.4]), "same trials"),
        (lambda: studentised_limits([0.5, np.nan]), "values"),
        (lambda: TwoSamples(6, 5, 0, 5), "successes"),
        (lambda: TwoSamples(1, 5, 0, 0), "other_trials"),
    ],
)
def test_bad_input_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call()


def test_ends_of_the_range():
    assert clopper_pearson(2, 2).high == 1
    assert clopper_pearson(0, 1).low == 0
    found = median_limits([3.0, 1.0, 2.0, 5.0, 4.0])
    assert (found.value, found.low, found.high) == (3.0, None, None)
    assert "too few" in found.why
    assert trials_for(0.5, 0.1, room=0.4) == 1
    assert each_confidence(0.95, 1) == pytest.approx(0.95)
    assert 1 - each_confidence(0.9, 8) == pytest.approx(0.0125)


CASES = [(9, 12, 3, 10), (0, 5, 0, 9), (5, 5, 0, 9), (40, 60, 30, 70), (1, 30, 2, 20)]


@pytest.mark.parametrize("case", CASES)
def test_fisher_is_scipys(case):
    a, n, b, m = case
    expected = stats.fisher_exact([[a, n - a], [b, m - b]], alternative="greater").pvalue
    assert TwoSamples(*case).fisher == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("excess", [-0.3, 0.0, 0.2])
@pytest.mark.parametrize("case", CASES)
def test_the_p_value_is_a_sum_over_all_outcomes(case, excess):
    a, n, b, m = case
    error = 0.1
    limits = clopper_pearson(b, m, confidence=1 - NUISANCE * error)
    worst = 0.0
    for q in np.linspace(limits.low, limits.high, 201):
        p = min(1.0, q + excess)
        if p < 0:
            continue
        ours, theirs = stats.binom.pmf(range(n + 1), n, p), stats.binom.pmf(range(m + 1), m, q)
        far = np.arange(n + 1)[:, None] * m - np.arange(m + 1) * n >= a * m - b * n
        worst = max(worst, (np.outer(ours, theirs) * far).sum())
    expected = min(1.0, worst + NUISANCE * error)
    found = TwoSamples(*case).p_value(excess, error=error)
    if excess >= 0:
        expected = max(expected, TwoSamples(*case).fisher)
    assert expected - 1e-9 <= found <= 1.02 * expected + 1e-3


@pytest.mark.parametrize("excess", [-0.05, 0.0, 0.02, 0.1, 0.9])
@pytest.mark.parametrize(
    "case",
    # a large sample beside a small one: the chance has teeth between any 33 points
    [(18751, 19059, 0, 2), (5549, 5623, 0, 2), (65002, 69686, 0, 3), (3118, 3180, 4, 7),
     (2, 4, 30, 500), (0, 3, 1, 200), (33, 40, 4, 10), (1, 1, 0, 1), (5, 5, 0, 200)],
)  # fmt: skip
def test_the_largest_chance_is_not_missed_between_points(case, excess):
    """A grid of 4,002 points finds nothing above the bound, and hardly less than it."""
    found, limits = TwoSamples(*case), clopper_pearson(case[2], case[3], confidence=0.999)
    first, last = max(limits.low, -excess), min(limits.high, max(1 - excess, limits.low))
    if first > last:
        assert found._tail(excess, limits.ends) == 0
        return
    odds = np.sin(np.linspace(*np.arcsin(np.sqrt([first, last])), 2001)) ** 2
    points = np.clip(np.r_[odds, np.linspace(first, last, 2001)], first, last)
    a, n, b, m = case
    others = np.arange(m + 1)
    needed = np.ceil(a + (others - b) * n / m - 1e-9)
    largest = 0.0
    for q in np.array_split(points, 40):
        tails = stats.binom.sf(needed - 1, n, np.clip(q + excess, 0, 1)[:, None])
        mass = stats.binom.pmf(others, m, q[:, None])
        largest = max(largest, (mass * tails).sum(axis=1).max())
    assert largest * (1 - 1e-9) <= found._tail(excess, limits.ends) <= 1.021 * largest + 1e-11


@pytest.mark.parametrize(("n", "m"), [(12, 9), pytest.param(7, 15, marks=pytest.mark.nightly)])
def test_limits_cover_at_every_pair_of_chances(n, m):
    found = [
        [TwoSamples(a, n, b, m).excess(confidence=0.9) for b in range(m + 1)] for a in range(n + 1)
    ]
    low, high = (np.array([[getattr(e, side) for e in row] for row in found])
                 for side in ("low", "high"))  # fmt: skip
    worst = np.zeros(2)
    for p, q in itertools.product(np.linspace(0, 1, 26), repeat=2):
        mass = np.outer(stats.binom.pmf(range(n + 1), n, p), stats.binom.pmf(range(m + 1), m, q))
        missed = (mass * (low > p - q + 1e-9)).sum(), (mass * (high < p - q - 1e-9)).sum()
        worst = np.maximum(worst, missed)
    assert (worst <= 0.05 + 1e-9).all()
    assert (worst > 0.02).all()  # and not because they say nothing


@pytest.mark.parametrize("case", [(40, 60, 30, 70), (9, 12, 3, 10), (2, 30, 1, 40)])
def test_a_limit_is_where_the_test_begins_to_accept(case):
    found = TwoSamples(*case)
    low = found.excess(confidence=0.9).low
    assert found.p_value(low - 1e-3, error=0.05) < 0.05
    assert found.p_value(low + 1e-3, error=0.05) > 0.05
    # not only near: the part of the error that is kept counts on both sides
    assert found.p_value(low, error=0.05) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("case", [(4, 6, 0, 5), (5, 6, 2, 9), (4, 6, 2, 14)])
def test_a_lower_limit_is_zero_where_fishers_test_accepts_and_the_other_does_not(case):
    found = TwoSamples(*case)
    assert found.fisher > 0.025
    assert found.excess(confidence=0.95).low == 0
    assert not found.refuses(0.0, error=0.025)


def test_a_lower_limit_above_zero_is_refused_by_fishers_test_as_well():
    for a in range(0, 41, 4):
        for b in range(0, 31, 3):
            found = TwoSamples(a, 40, b, 30)
            if found.excess(confidence=0.95).low > 0:
                assert found.fisher <= 0.025


def test_limits_mirror_when_the_samples_change_places():
    found, back = TwoSamples(20, 50, 5, 40).excess(), TwoSamples(5, 40, 20, 50).excess()
    assert (found.low, found.high) == pytest.approx((-back.high, -back.low))
    assert found.low <= found.value <= found.high


def test_what_is_detectable_is_the_least_that_is_refused():
    found = TwoSamples(12, 100, 8, 90)
    least = found.detectable(0.05, error=0.025)
    at = round((least + 8 / 90) * 100)
    assert TwoSamples(at, 100, 8, 90).refuses(0.05, error=0.025)
    assert not TwoSamples(at - 1, 100, 8, 90).refuses(0.05, error=0.025)
    assert TwoSamples(at, 100, 8, 90).excess(confidence=0.95).low > 0.05
    assert TwoSamples(1, 2, 1, 2).detectable(0.5, error=0.025) is None


def test_standard_scores_have_the_sign_of_the_difference():
    assert standard_score(TwoSamples(5, 5, 5, 5)) == 0
    assert standard_score(TwoSamples(30, 50, 20, 50)) == pytest.approx(2.0)
    assert standard_score(TwoSamples(20, 50, 30, 50)) < 0


def test_the_area_is_the_share_of_pairs():
    trained, fresh = np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 5.0, 2.5])
    pairs = [(a > b) + (a == b) / 2 for a in trained for b in fresh]
    assert auc(trained, fresh).value == pytest.approx(np.mean(pairs))
    for empty in ([], np.zeros(0)):
        with pytest.raises(InputError, match="at least 1"):
            auc(trained, empty)
    assert auc([1.0], [1.0]).ends == pytest.approx((0.0125, 0.9875))
    assert auc([1.0] * 9, [0.0] * 9).high == 1
    assert auc([0.0] * 9, [1.0] * 9).low == 0


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_limits_of_the_area_cover_where_pairs_vary_most(share):
    """One side is 0 or 2 and the other 1: wins are binomial; nothing is approximate."""
    n, error = 40, 0.05
    lows = [auc(np.repeat([2.0, 0.0], [k, n - k]), np.ones(60)).low for k in range(n + 1)]
    chance = stats.binom.pmf(np.arange(n + 1), n, share)
    missed = (chance * (np.array(lows) > share)).sum()
    assert missed <= error / 2
    assert missed > error / 20
    exact = [clopper_pearson(k, n).low for k in range(n + 1)]
    assert (np.array(lows) <= np.array(exact) + 1e-9).all()


@pytest.mark.coverage_claim
@pytest.mark.parametrize(("n", "m"), [(30, 3000), (100, 300), (300, 100)])
@pytest.mark.parametrize("decimals", [0, 9])
@pytest.mark.repeats(40, 2000, "runs")
def test_scores_of_no_memory_are_seldom_above_fresh_ones(n, m, decimals, runs):
    """At .025; false alarm rate of this test 1e-6. Limits over fresh ones alone: .41, .12, .02."""
    rng = np.random.default_rng([n, decimals])
    low = [auc(*(rng.normal(size=k).round(decimals) for k in (n, m))).low for _ in range(runs)]
    assert (np.array(low) > 0.5).sum() <= stats.binom.isf(1e-6, runs, 0.025)
    assert auc(rng.normal(size=n) + 1.5, rng.normal(size=m)).low > 0.5


def test_the_limit_of_the_next_value_at_a_level_near_zero_is_one_of_those_seen():
    assert next_limit([0.1] * 19 + [0.3], confidence=1e-12).high == pytest.approx(0.11)
