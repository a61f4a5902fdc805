"""Refutation from scores: every number of guesses, ties, useless and one-sided scores, coins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.bounds import domination, exact_optimum, interpolation
from narcissus.errors import InputError
from narcissus.evidence import (
    refute,
    refute_prior_scores,
    refute_priors,
    refute_ranked,
    refute_runs,
    refute_scores,
)
from narcissus.evidence.refutation import closed_p_value
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP, as_approximate

FALSE_ALARM = 1e-6
LEVEL = 0.05


def at_most(misses: int, trials: int, level: float) -> bool:
    """One-sided: refuse only what happens with probability 1e-6 if the level holds."""
    return misses <= stats.binom.isf(FALSE_ALARM, trials, level)


def coins(rng: np.random.Generator, m: int) -> np.ndarray:
    return rng.integers(0, 2, m).astype(bool)


def refutes(counts: tuple[int, int, int], epsilon: float) -> bool:
    return closed_p_value(*counts, epsilon, 0.0) <= LEVEL


USELESS = {
    "equal": lambda rng, m: np.ones(m),
    "two values": lambda rng, m: rng.integers(0, 2, m).astype(float),
    "useless": lambda rng, m: rng.normal(size=m),
    "infinite": lambda rng, m: np.where(rng.random(m) < 0.2, -np.inf, rng.normal(size=m)),
    "clusters": lambda rng, m: np.repeat(rng.normal(size=m // 8 + 1), 8)[:m],
    "heavy tail": lambda rng, m: rng.standard_cauchy(m),
}


@pytest.mark.coverage_claim
@pytest.mark.repeats(24, 1500)
@pytest.mark.parametrize("kind", USELESS)
def test_useless_files_refute_at_most_at_the_level(kind, repeats):
    """Sizes from 6 on, sorted by membership or not, with delta or not. Alarm rate 1e-6."""
    rng, refuted = np.random.default_rng(41), np.zeros(2)
    for trial in range(repeats):
        m = int(rng.integers(6, 250))
        members = coins(rng, m)
        score = USELESS[kind](rng, m)
        if trial % 2 and kind != "clusters":  # sorted, a cluster would be one coin
            members = np.sort(members)
        delta = float(rng.choice([0.0, 1e-6, 0.01]))
        found = refute_scores(score, members, delta=delta, coins=True)
        refuted += found.epsilon > 0, found.mu > 0
    assert all(at_most(int(misses), repeats, LEVEL) for misses in refuted)


@pytest.mark.coverage_claim
@pytest.mark.repeats(50, 1500)
@pytest.mark.parametrize("leak", [0.0, 0.02])
def test_what_holds_is_refuted_at_most_at_the_level(leak, repeats):
    """Randomised response at epsilon 1; with chance delta all is told at once. Alarm rate 1e-6."""
    rng, misses = np.random.default_rng(23), 0
    for _ in range(repeats):
        m = int(rng.choice([6, 20, 60]))
        inside = coins(rng, m)
        kept = (rng.random(m) < 1 / (1 + np.exp(-1.0))) | (rng.random() < leak)
        score = np.where(kept, inside, ~inside) + rng.uniform(0, 0.4, m)
        misses += refute_scores(score, inside, delta=leak, coins=True).epsilon > 1.0
    assert at_most(misses, repeats, LEVEL)


@pytest.mark.coverage_claim
@pytest.mark.repeats(30, 1000)
def test_a_gaussian_keeps_its_mu_at_the_level(repeats):
    rng, misses = np.random.default_rng(29), 0
    for _ in range(repeats):
        inside = coins(rng, 100)
        score = rng.normal(size=100) + 1.0 * inside
        misses += refute_scores(score, inside, coins=True).mu > 1.0
    assert at_most(misses, repeats, LEVEL)


@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_order_of_the_file_changes_nothing(digits):
    rng = np.random.default_rng(2)
    inside = coins(rng, 301)
    score = np.round(rng.normal(size=301) + inside, digits)
    found = refute_scores(score, inside, delta=1e-5)
    for turn in (rng.permutation(301), np.argsort(inside), np.argsort(~inside)):
        assert refute_scores(score[turn], inside[turn], delta=1e-5) == found


def test_two_values_tell_what_counts_tell():
    rng = np.random.default_rng(3)
    inside = coins(rng, 501)
    told = np.where(rng.random(501) < 0.9, inside, ~inside)
    found = refute_scores(told + 0.0, inside)
    assert (found.guesses, found.correct) == (501, int((told == inside).sum()))
    assert found.epsilon > 0.85 * refute(501, 501, found.correct).epsilon


@pytest.mark.parametrize("side", [1, -1])
def test_scores_that_tell_on_one_side_only_are_used_on_that_side(side):
    """Of the highest fifth nearly all are in, of the others as many as not, or turned round."""
    rng = np.random.default_rng(4)
    inside = coins(rng, 2000)
    told = inside & (rng.random(2000) < 0.3)
    score = np.where(told, 5.0, 0.0) + rng.normal(size=2000) * 0.5
    found = refute_scores(side * score, inside if side == 1 else ~inside, delta=1e-5)
    assert found.epsilon > 3


def test_inverted_scores_refute_nothing():
    rng = np.random.default_rng(5)
    inside = coins(rng, 999)
    found = refute_scores(-rng.normal(size=999) - 2 * inside, inside, delta=1e-5)
    assert (found.epsilon, found.mu, found.p_value) == (0, 0, 1)


def test_p_value_and_epsilon_agree():
    rng = np.random.default_rng(6)
    inside = coins(rng, 3001)
    score = rng.normal(size=3001) + inside
    for delta in (0.0, 1e-5, 1e-4):  # the last pays for delta by the block
        found = refute_scores(score, inside, delta=delta)
        assert found.guesses_chosen == "every"
        again = [refute_scores(score, inside, delta=delta, claimed=found.epsilon + shift).p_value
                 for shift in (-1.0, -0.1, 0.0, 0.01, 0.2)]  # fmt: skip
        assert max(again[:3]) <= LEVEL < again[3]
        assert again[3] <= again[4]


@pytest.mark.repeats(3, 12)
@pytest.mark.parametrize(
    ("m", "mu", "delta", "least"),
    [(1000, 1, 1e-5, 1.2), (1000, 2, 1e-5, 2.9), (1000, 4, 1e-5, 5.0), (10_000, 2, 1e-6, 4.1)],
)
def test_it_refutes_what_it_should(m, mu, delta, least, repeats):
    found = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        inside = coins(rng, m)
        score = rng.normal(size=m) + mu * inside
        found.append(refute_scores(score, inside, delta=delta, coins=True))
    assert np.mean([one.epsilon for one in found]) > least
    if m == 1000:
        assert np.mean([one.mu for one in found]) > {1: 0.45, 2: 1.05, 4: 1.66}[mu]


def test_more_canaries_do_not_weaken_the_answer():
    # N(0, 1) against N(1, 1): the truth at delta 1e-5 is 4.38; published tools fall from 1.13 to
    # 0.049 as m goes from 10^4 to 10^6.
    truth = as_approximate(GaussianDP(1.0), delta=1e-5).epsilon
    assert truth == pytest.approx(4.38, abs=5e-3)
    rng = np.random.default_rng(2)
    found = []
    for m in (10**3, 10**4, 10**5, 10**6):
        member = rng.integers(0, 2, m)
        found.append(refute_scores(rng.normal(size=m) + member, member, delta=1e-5, coins=True))
    epsilons = [f.epsilon for f in found]
    assert epsilons[0] > 1.3
    assert epsilons == sorted(epsilons)
    assert 3.2 < epsilons[-1] < truth
    assert [f.mu for f in found] == sorted(f.mu for f in found)
    assert found[-1].mu < 1


def test_a_number_of_guesses_is_a_count():
    rng = np.random.default_rng(7)
    inside = coins(rng, 801)
    score = rng.normal(size=801) + 2 * inside
    found = refute_scores(score, inside, guesses=100, delta=1e-5)
    high, low = np.argsort(-score)[:50], np.argsort(score)[:50]
    right = int(inside[high].sum() + (~inside[low]).sum())
    counted = refute(801, 100, right, delta=1e-5)
    assert (found.canaries, found.guesses, found.correct) == (801, 100, right)
    assert (found.epsilon, found.mu, found.methods) == (
        counted.epsilon, counted.mu, counted.methods
    )  # fmt: skip
    assert found.guesses_chosen == "before"
    with pytest.raises(InputError, match="guesses"):
        refute_scores(score, inside, guesses=802)


@pytest.mark.parametrize("values", [2, 10])
def test_guesses_of_values_are_ordered_by_how_sure_they_are(values):
    rng = np.random.default_rng(8)
    sure = rng.random(1500)
    right = rng.random(1500) < 1 / values + (1 - 1 / values) * sure**2
    found = refute_ranked(sure, right, values=values, delta=1e-6)
    assert found.values == values
    assert found.guesses < 1500
    assert (
        found.epsilon > refute_ranked(sure, right, values=values, delta=1e-6, guesses=1500).epsilon
    )
    assert found.epsilon > refute_ranked(np.ones(1500), right, values=values, delta=1e-6).epsilon
    useless = refute_ranked(sure, rng.random(1500) < 1 / values, values=values)
    assert useless.epsilon < 0.3
    with pytest.raises(InputError, match="`right` must hold only 0 and 1"):
        refute_ranked(sure, right + 1)


def paired_file(rng, pairs: int, epsilon: float):
    """One of each pair is in; the score says which by randomised response with that epsilon."""
    first = coins(rng, pairs)
    told = np.where(rng.random(pairs) < 1 / (1 + np.exp(-epsilon)), first, ~first)
    members = np.column_stack([first, ~first]).ravel()
    score = np.column_stack([told, ~told]).ravel() + 0.0
    return score, members, np.repeat(np.arange(pairs), 2)


@pytest.mark.coverage_claim
def test_records_of_pairs_are_no_canaries_of_their_own():
    # Why pairs are asked for: each right guess counts twice. Alarm rate 1e-6.
    rng = np.random.default_rng(61)
    told = rng.binomial(200, 1 / (1 + np.exp(-1.0)), 1500)
    assert at_most(sum(refutes((200, 200, int(v)), 1.0) for v in told), 1500, LEVEL)
    assert not at_most(sum(refutes((400, 400, 2 * int(v)), 1.0) for v in told), 1500, LEVEL)


@pytest.mark.parametrize("order", ["as drawn", "member first", "sorted by membership"])
def test_pairs_are_canaries_with_two_values(order):
    rng = np.random.default_rng(53)
    score, members, labels = paired_file(rng, 600, 2.0)
    turn = {
        "as drawn": np.arange(1200),
        "member first": np.argsort(2 * labels - members, kind="stable"),
        "sorted by membership": np.argsort(~members, kind="stable"),
    }[order]
    found = refute_scores(score[turn], members[turn], pairs=labels[turn])
    told = int((score[::2] == members[::2]).sum())
    assert (found.canaries, found.guesses, found.correct) == (600, 600, told)
    assert 1.5 < found.epsilon < 2
    assert found.secret == "value"
    assert "each pair" in found.assumptions[0]
    assert refute_scores(score, members, pairs=[f"p{i}" for i in labels]).epsilon == found.epsilon
    assert refute_scores(np.ones(1200), members, pairs=labels).epsilon == 0
    with pytest.raises(InputError, match="give `pairs`"):
        refute_scores(score, members)


@pytest.mark.parametrize("split", [(100, 900), (0, 100), (2, 28)])
def test_coins_that_cannot_be_fair_are_refused(split):
    # Two-sided, at 1e-6: 28 of 30 have 0.9e-6, 30 of 33 have 1.4e-6.
    with pytest.raises(InputError, match=f"{split[1]} of {sum(split)} are in"):
        refute_scores(np.arange(float(sum(split))), np.repeat([0, 1], split))
    assert refute_scores(np.arange(33.0), np.repeat([0, 1], [3, 30])).canaries == 33
    # what fair coins give is not: five deviations would be refused, four are not
    assert refute_scores(np.zeros(10_000), np.repeat([0, 1], [4800, 5200])).epsilon < 0.2


def test_exactly_half_is_refused_unless_coins_are_declared():
    members = np.random.default_rng(8).permutation(np.repeat([0, 1], 100))
    with pytest.raises(InputError, match="exactly half are in, 100 of 200"):
        refute_scores(np.zeros(200), members)
    said = refute_scores(np.zeros(200), members, coins=True).assumptions
    assert any("exactly half" in one for one in said)
    members[0] = 1 - members[0]
    said = refute_scores(np.zeros(200), members).assumptions
    assert not any("exactly half" in one for one in said)


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (([1, 2], [0, 1]), "scores"),
        (([1.0] * 9, [0, 1, 2] * 3), "members"),
        (([[1.0] * 9] * 2, [[0, 1, 1] * 3] * 2), "scores"),
        (([float("nan")] * 9, [0, 1, 1] * 3), "scores"),
        (([1.0] * 9, [0, 1]), "scores"),
        ((["a"] * 9, [0] * 9), "scores"),
    ],
)
def test_bad_scores_are_refused(columns, name):
    for setting in ({"delta": 1.0}, {"delta": -0.1}, {"confidence": 1.0}, {"confidence": 0.0}):
        with pytest.raises(InputError, match=next(iter(setting))):
            refute_scores([1.0] * 9, [0, 1, 1] * 3, **setting)
    with pytest.raises(InputError, match=name):
        refute_scores(*columns)


@pytest.mark.parametrize(
    ("members", "pairs", "score", "name"),
    [
        ([0, 1] * 6, [0, 0] * 6, 1.0, "pairs"),
        ([0, 1] * 6, range(12), 1.0, "pairs"),
        ([0, 1] * 6, [1, 1], 1.0, "pairs"),
        ([0, 1] * 6, [0] * 4 + [1, 1, 2, 2, 3, 3, 4, 4], 1.0, "pairs"),
        ([0, 1] * 5 + [1, 1], np.repeat(range(6), 2), 1.0, "members"),
        ([0, 0, 1, 1] * 3, np.repeat(range(6), 2), 1.0, "members"),
        ([0, 1] * 6, np.repeat(range(6), 2), np.inf, "scores"),
        ([0, 1] * 2, np.repeat(range(2), 2), 1.0, "scores"),
    ],
)
def test_bad_pairs_are_refused(members, pairs, score, name):
    with pytest.raises(InputError, match=name):
        refute_scores([score] * len(members), members, pairs=list(pairs))


@pytest.mark.states("Narcissus theory", "4.10")
def test_a_count_refutes_what_the_theorem_says():
    priors = [[0.7, 0.3]] * 10 + [[0.5, 0.3, 0.2]] * 0 + [[0.5, 0.5]] * 10
    found = refute_priors(priors, 18, delta=1e-3)
    own = found.methods[0]
    assert own.id == "interpolation"
    assert interpolation(priors, ApproximateDP(own.epsilon, 1e-3), 18).value <= 0.05
    assert interpolation(priors, ApproximateDP(own.epsilon * 1.01, 1e-3), 18).value > 0.05
    pure = refute_priors(priors, 18)
    assert pure.methods[0].id == "domination"
    assert domination(priors, PureDP(pure.methods[0].epsilon * 1.01), 18).value > 0.05
    assert pure.epsilon >= found.epsilon


@pytest.mark.states("Narcissus theory", "4.10")
def test_no_guarantee_that_some_mechanism_has_is_refuted_more_often_than_the_level_says():
    rng = np.random.default_rng(1)
    for _ in range(6):
        priors = rng.dirichlet(np.ones(2), 2)
        for delta in (0.0, 0.02):
            found = refute_priors(priors, 2, delta=delta, confidence=0.5)
            if found.epsilon > 0:
                guarantee = ApproximateDP(found.epsilon, delta) if delta else PureDP(found.epsilon)
                assert exact_optimum(priors, guarantee, 2).value <= 0.5 + 1e-6


def test_equal_priors_refute_as_much_as_the_exact_optimum_for_them():
    ours, known = refute_priors([[0.5, 0.5]] * 40, 33, delta=1e-5), refute(40, 40, 33, delta=1e-5)
    assert ours.epsilon == pytest.approx(known.epsilon, abs=1e-5)
    assert ours.mu == pytest.approx(known.mu, rel=0.03)
    assert refute_priors([[0.5, 0.5]] * 100, 50).epsilon == 0


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="at most the 2 canaries"):
        refute_priors([[0.5, 0.5]] * 2, 3)
    with pytest.raises(InputError, match="delta"):
        refute_priors([[0.5, 0.5]], 1, delta=1.0)


def drawn(rng, m: int, epsilon: float):
    """Canaries in by unequal coins, and what randomised response says of each."""
    coins = rng.choice([0.05, 0.3, 0.6], m)
    inside = (rng.random(m) < coins).astype(int)
    kept = rng.random(m) < 1 / (1 + np.exp(-epsilon))
    said = np.where(kept, inside, 1 - inside)
    # sorted as an attacker would: by how likely it is then that the canary was in
    odds = np.log(coins / (1 - coins)) + epsilon * (2 * said - 1)
    return odds, inside, coins


@pytest.mark.parametrize(
    ("runs", "most"), [(20, 6), pytest.param(600, 85, marks=pytest.mark.nightly)]
)
def test_what_holds_is_refuted_no_more_often_than_the_level_says(runs, most):
    rng = np.random.default_rng(0)
    found = [
        refute_prior_scores(*drawn(rng, 240, 1.0), confidence=0.9).epsilon for _ in range(runs)
    ]
    assert sum(epsilon > 1.0 for epsilon in found) <= most
    assert max(found) > 0.3


@pytest.mark.parametrize("guesses", [1, 60, 239, 240])
def test_guesses_fixed_before_by_unequal_coins_count_alone(guesses):
    """What comes after them changes nothing: the p-value is the tail of their own chances."""
    rng = np.random.default_rng(1)
    score, inside, coins = drawn(rng, 240, 1.0)
    score = score + 1e-6 * rng.normal(size=240)
    refutation = refute_prior_scores(score, inside, coins, guesses=guesses, claimed=1.0)
    falling = np.argsort(-score)
    order = np.stack([falling[:120], falling[::-1][:120]], axis=1).ravel()[:guesses]
    guess = np.tile([1, 0], 120)[:guesses]
    right = int((inside[order] == guess).sum())
    assert (refutation.guesses, refutation.correct) == (guesses, right)
    chances = np.where(guess == 1, coins[order], 1 - coins[order])
    law = np.ones(1)
    for chance in chances * np.e / (1 - chances + chances * np.e):
        law = np.convolve(law, [1 - chance, chance])
    assert refutation.p_value == pytest.approx(law[right:].sum(), rel=1e-6, abs=1e-10)


def test_coins_that_cannot_have_fallen_so_are_refused():
    score = np.arange(100.0)
    with pytest.raises(InputError, match="100 are in where 10 are expected"):
        refute_prior_scores(score, np.ones(100), np.full(100, 0.1))
    with pytest.raises(InputError, match="above 0 of canaries that are in"):
        refute_prior_scores(score, np.ones(100), np.append(np.full(99, 0.9), 0.0))
    with pytest.raises(InputError, match="must be of 100 canaries"):
        refute_prior_scores(score, np.ones(100), [0.5])
    with pytest.raises(InputError, match="at least 6"):
        refute_prior_scores([1.0, 2.0], [0, 1], [0.5, 0.5])


def test_unequal_coins_weigh_each_guess():
    data = drawn(np.random.default_rng(1), 900, 3.0)
    found = refute_prior_scores(*data)
    assert (found.canaries, found.guesses_chosen) == (900, "every")
    assert 1.5 < found.epsilon < 3.0
    some = refute_prior_scores(*data, delta=1e-6)
    assert 1.5 < some.epsilon <= found.epsilon
    assert 0 < some.mu == found.mu
    fixed = refute_prior_scores(*data, guesses=300)
    assert (fixed.guesses, fixed.guesses_chosen) == (300, "before")
    assert 1.0 < fixed.epsilon < 3.0
    p_values = [refute_prior_scores(*data, delta=1e-6, claimed=some.epsilon + e).p_value
                for e in (-0.5, 0.0, 0.01)]  # fmt: skip
    assert p_values[0] <= p_values[1] <= LEVEL < p_values[2]


def test_half_coins_as_priors_refute_about_what_fair_coins_do():
    rng = np.random.default_rng(9)
    inside = coins(rng, 501)
    score = rng.normal(size=501) + 2 * inside
    fair = refute_scores(score, inside)
    assert refute_prior_scores(score, inside, np.full(501, 0.5)).epsilon == pytest.approx(
        fair.epsilon, abs=0.3
    )


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_many_runs_refute_a_mu(threshold):
    rng = np.random.default_rng(10)
    inside = rng.integers(0, 2, 10_000)
    found = refute_runs(rng.normal(size=10_000) + inside, inside, threshold=threshold, delta=1e-5)
    assert (0.85 if threshold else 0.9) < found.mu < 1
    assert 3.6 < found.gaussian_epsilon < 4.38
    assert found.true_positives.low < stats.norm.sf(found.threshold - 1)
    assert found.false_positives.high > stats.norm.sf(found.threshold)
    useless = refute_runs(rng.normal(size=10_000), inside, threshold=threshold)
    assert (useless.epsilon, useless.mu) == (0, 0)
    assert "NOTHING REFUTED" in str(useless)
    with pytest.raises(InputError, match="runs without it"):
        refute_runs(np.arange(9.0), np.ones(9))


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 4), st.integers(1, 8))
def test_no_scores_of_a_gaussian_mechanism_pair_better_than_its_area(seed, mu, cells):
    """Whatever a release of mu-Gaussian DP is made into, and whatever scores it then has."""
    rng = np.random.default_rng(seed)
    edges = np.r_[-np.inf, np.sort(rng.normal(mu / 2, 1 + mu, cells)), np.inf]
    without, inside = (np.diff(stats.norm.cdf(edges, at)) for at in (0, mu))
    score = rng.integers(0, cells + 1, cells + 1)  # some are equal, most out of order
    if rng.random() < 0.5:
        score = np.arange(cells + 1)  # the best order
    larger = inside @ (score[:, None] > score) @ without
    equal = inside @ (score[:, None] == score) @ without
    assert larger + equal / 2 <= stats.norm.cdf(mu / np.sqrt(2)) + 1e-12


def test_pairs_of_runs_need_no_threshold_and_no_order_of_the_file():
    rng = np.random.default_rng(3)
    inside = np.arange(3_000) < 2_000
    score = rng.normal(size=3_000) + inside
    found = refute_runs(score, inside)
    assert (found.pairs.trials, found.pairs.high) == (1_000, None)
    assert found.mu == pytest.approx(np.sqrt(2) * stats.norm.ppf(found.pairs.low))
    right = round(found.pairs.value * 1_000)
    assert found.pairs.low == pytest.approx(stats.beta.ppf(0.025, right, 1_001 - right))
    assert f"without a threshold: {found.pairs}" in str(found)
    assert refute_runs(score, inside, threshold=0.5).pairs is None
    # sorted scores of useless runs: paired by place they would all agree
    useless = [np.sort(rng.normal(size=200)) for _ in range(400)]
    sides = np.tile([False, True], 100)
    assert sum(refute_runs(one, sides).mu > 0 for one in useless) <= 25  # of 400 at .025: 1e-4
    assert refute_runs(np.zeros(400), np.tile([False, True], 200)).pairs.value == 0  # ties lose


@pytest.mark.coverage_claim
@pytest.mark.repeats(300, 4000)
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_many_runs_keep_the_level(threshold, repeats):
    """A Gaussian of mu 1, and randomised response at epsilon 1. Alarm rate 1e-6."""
    rng, misses = np.random.default_rng(31), np.zeros(2)
    for _ in range(repeats):
        n = int(rng.choice([20, 200]))
        inside = np.arange(n) < n // 2
        told = np.where(rng.random(n) < 1 / (1 + np.exp(-1.0)), inside, ~inside)
        misses += (
            refute_runs(rng.normal(size=n) + inside, inside, threshold=threshold).mu > 1,
            refute_runs(told + 0.0, inside, threshold=threshold).epsilon > 1,
        )
    assert all(at_most(int(one), repeats, LEVEL) for one in misses)
