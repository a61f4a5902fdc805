"""Published theorems against their statements in many digits, and against linear programs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, stats

from narcissus.bounds import (
    THEOREMS,
    Question,
    certify,
    cherubin,
    exact_match_optimum,
    exact_optimum,
    f_dp_one_run_p_value,
    follow_attempts,
    given_output,
    humphries_advantage,
    leak_probability,
    leaked_bits,
    one_run_p_value,
    sampled_reconstruction,
    threat,
)
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    dp_sgd,
)

from .conftest import draw_guarantee, tail


def says(theorem, guarantee, at_least=None, **about) -> float:
    """What one theorem says about a threat."""
    return THEOREMS[theorem].bound(threat(**about), guarantee, at_least).value


def tails(r: int, p: float, e: float) -> list[Fraction]:
    """``Pr[Bin(r, beta) >= j]`` for ``j = 0 .. r + 1``, the odds of ``p`` times ``e^e``."""
    odds = Fraction(p) / (1 - Fraction(p)) * Fraction(math.exp(e))
    beta = odds / (1 + odds)
    mass = [math.comb(r, j) * beta**j * (1 - beta) ** (r - j) for j in range(r + 1)]
    return [sum(mass[j:], start=Fraction(0)) for j in range(r + 2)]


@pytest.mark.states("Cohen et al. 2025", "Theorem F.1")
@pytest.mark.parametrize("p", [0.0, 1e-200, 0.01, 0.5, 0.9, 1.0])
def test_formulas_for_one_target(p):
    with mp.workdps(50):
        one = mp.mpf(p)
        grown = one * mp.exp(mp.mpf(0.3))
        truths = [
            *(("stock", RenyiDP(a, g), (one * mp.exp(g)) ** ((mp.mpf(a) - 1) / a))
              for a in (1.5, 8.0) for g in (0.1, 2)),
            *((name, PureDP(0.3), grown) for name in ("balle", "cohen-f.1")),
            *((name, ApproximateDP(0.3, 0.02), grown + 0.02) for name in ("balle", "cohen-f.1")),
            ("chatzikokolakis-1", BayesSecurity(0.7), 1 - mp.mpf(0.7) * (1 - one)),
            ("hayes", GaussianDP(1.5), stats.norm.sf(stats.norm.isf(p) - 1.5) if p else 0.0),
        ]  # fmt: skip
    for name, guarantee, truth in truths:
        found = says(name, guarantee, prior=p)
        assert found == pytest.approx(float(min(1, max(truth, p))), rel=1e-10)


@pytest.mark.parametrize(("alpha", "gamma"), [(1.5, 0.1), (2.0, 0.5), (8.0, 2.0)])
def test_the_renyi_bound_is_where_the_divergence_is_used_up(alpha, gamma):
    for p in (1e-6, 0.1, 0.5, 0.9):
        found = says("renyi", RenyiDP(alpha, gamma), prior=p)
        with mp.workdps(40):
            q = mp.mpf(found)
            total = q**alpha * mp.mpf(p) ** (1 - alpha) + (1 - q) ** alpha * (1 - mp.mpf(p)) ** (
                1 - alpha
            )
            used = mp.log(total) / (alpha - 1)
        assert found > p
        assert float(used) == pytest.approx(gamma, rel=1e-9) if found < 1 - 1e-12 else used <= gamma
        assert found <= says("stock", RenyiDP(alpha, gamma), prior=p)


@pytest.mark.states("Yeom et al. 2018", "Theorem 1")
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.5, 0.01), (2.0, 0.2), (0.0, 0.3)])
def test_membership_is_limited_by_the_total_variation(epsilon, delta):
    guarantee = ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
    advantage = humphries_advantage(epsilon, delta)
    reached = exact_optimum([0.5, 0.5], guarantee).value
    assert advantage == pytest.approx(2 * reached - 1, abs=2e-6)
    coin = {"prior": 0.5, "inseparable": 0.5}
    assert says("humphries", guarantee, **coin) == pytest.approx(0.5 + advantage / 2, rel=1e-14)
    if not delta:
        yeom = min(1.0, 0.5 + math.expm1(epsilon) / 2)
        assert says("yeom", guarantee, prior=0.5) == pytest.approx(yeom, rel=1e-14)


def test_large_epsilons_overflow_nowhere():
    assert humphries_advantage(1e4, 0.5) == 1
    for name in ("balle", "cohen-f.1", "yeom"):
        assert says(name, PureDP(1e4), prior=0.5) == 1
    grown = math.exp(690.0 + math.log(1e-300))
    assert says("balle", PureDP(690.0), prior=1e-300) == pytest.approx(grown, rel=1e-12)
    assert says("stock", RenyiDP(2.0, 1e4), prior=0.5) == 1
    assert follow_attempts([0.5, 0.5], 0.0, 0.0, 2).value == pytest.approx(0.25)
    assert follow_attempts([0.5], 1e4, 0.5, 1).value == 1
    assert follow_attempts([0.0, 0.0], 1e4, 1e-3, 1).value == pytest.approx(2e-3)
    assert follow_attempts([1.0, 1.0], 1e4, 1e-3, 3, least=1.0).value == 0


@pytest.mark.parametrize(("n", "r", "p"), [(5, 5, 0.5), (8, 6, 0.2), (8, 8, 0.05)])
def test_tails_of_many(n, r, p):
    e, d = 0.4, 0.03
    pure, approximate = PureDP(e), ApproximateDP(e, d)
    exact = [float(chance) for chance in tails(r, p, e)]
    about = {"prior": p, "targets": n, "guesses": r}
    for v in range(1, r + 1):
        steep = max((exact[v - j] - exact[v]) / j for j in range(1, v + 1))
        for name, guarantee, truth in [
            ("swanberg-3.2", pure, exact[v]),
            ("swanberg-3.4", approximate, exact[v] + n * d),
            ("swanberg-3.5", approximate, exact[v] + steep * n * d),
        ]:
            found = says(name, guarantee, v, **about)
            assert found == pytest.approx(min(1, truth), rel=1e-12)
    once = says("distributional", approximate, 1, **about)
    assert once == pytest.approx(min(1, n * (p * math.exp(e) + d)), rel=1e-12)
    # no delta, no failures
    for name in ("swanberg-3.3", "swanberg-3.4", "swanberg-3.5"):
        assert says(name, ApproximateDP(e, 0.0), 2, **about) == pytest.approx(exact[2], rel=1e-12)


@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.3")
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.125, 0.2, 0.45])
@pytest.mark.parametrize(("n", "p", "e"), [(4, 0.5, 0.1), (8, 0.3, 0.5), (8, 0.05, 0.0)])
def test_theorem_3_3_is_the_worst_number_of_failures_of_that_mean(n, p, e, delta):
    exact = tails(n, p, e)
    for v in range(1, n + 1):
        reached = [exact[max(0, v - f)] for f in range(n + 1)]
        found = optimize.linprog(
            -np.array(reached),
            A_eq=np.array([np.ones(n + 1), np.arange(n + 1)]),
            b_eq=[1, n * delta],
        )
        assert says("swanberg-3.3", ApproximateDP(e, delta), v, prior=p, targets=n) == (
            pytest.approx(-found.fun, abs=1e-9)
        )


KINDS = {
    "pure": PureDP(0.5),
    "approximate": ApproximateDP(0.5, 0.01),
    "gaussian": GaussianDP(1.0),
    "renyi": RenyiDP(2.0, 0.5),
    "zcdp": ZeroConcentratedDP(0.1),
    "bayes": BayesSecurity(0.9),
    "curve": ProfileCurve((0.5, 1.0), (0.1, 0.01)),
}


COVERS = {  # the guarantees that each is stated for
    "renyi": {"renyi"},
    "stock": {"renyi"},
    "distributional": {"pure", "approximate"},
    "swanberg-3.2": {"pure"},
    "balle": {"pure", "approximate"},
    "cohen-f.1": {"pure", "approximate"},
    "swanberg-3.4": {"approximate"},
    "humphries": {"pure", "approximate"},
    "yeom": {"pure"},
    "hayes": set(KINDS),
    "chatzikokolakis-1": {"bayes"},
    "swanberg-3.3": {"approximate"},
    "swanberg-3.5": {"approximate"},
}


@pytest.mark.parametrize("name", COVERS)
def test_each_is_asked_about_what_it_is_stated_for(name):
    theorem = THEOREMS[name]

    def asked(danger, kind) -> bool:
        questions = (Question(danger, KINDS[kind], count) for count in (None, 1))
        return any(theorem.lacks(question) is None for question in questions)

    coin = threat(prior=0.5, targets=3, inseparable=0.5)
    assert {kind for kind in KINDS if asked(coin, kind)} == COVERS[name]
    # a fair coin only
    unfair = not asked(threat(prior=0.4, targets=3), min(COVERS[name], key=len))
    assert unfair is (name in ("humphries", "yeom"))


def test_counts_and_sizes_that_they_are_about():
    many = threat(prior=0.5, targets=20_000)
    for name in ("swanberg-3.3", "swanberg-3.5"):
        for count, answered in ((10_000, True), (10_001, False)):
            lack = THEOREMS[name].lacks(Question(many, KINDS["approximate"], count))
            assert (lack is None) is answered
    once = THEOREMS["distributional"]
    assert once.lacks(Question(many, PureDP(1.0), 1)) is None
    assert once.lacks(Question(many, PureDP(1.0), 2)) is not None
    # any two of four values at a guess are no fair bit
    halves = np.array([[i in pair for pair in combinations(range(4), 2)] for i in range(4)])
    wide = Question(threat(values=[0.25] * 4, success=halves), PureDP(1.0))
    assert wide.p == 0.5
    assert THEOREMS["humphries"].lacks(wide) is not None


TRIPLED = math.log(3)


def tripled(p: Fraction) -> Fraction:
    """A chance whose odds are tripled."""
    return 3 * p / (1 + 2 * p)


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
    values = np.full(2**bits, 2.0**-bits)
    chance = exact_match_optimum(values, epsilon)[0]
    assert leak_probability(epsilon, bits).value == pytest.approx(chance, rel=1e-12)
    assert leaked_bits(epsilon, 1 - chance).value == pytest.approx(bits, rel=1e-12)


@pytest.mark.states("Narcissus theory", "4.1")
@pytest.mark.parametrize("bits", [1e-9, 0.3, 52, 999, 1000, 1020, 1070])
def test_many_bits_and_few_keep_their_digits(bits):
    for epsilon in (0.0, 2.0, 700.0):
        with mp.workdps(400):
            grown = mp.exp(epsilon)
            truth = float(grown / (grown - 1 + mp.mpf(2) ** bits))
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
        guarantee = draw_guarantee(rng)
        epsilon, delta = guarantee.epsilon, getattr(guarantee, "delta", 0.0)
        p = prior @ np.unique(success, axis=1)
        joint = np.array([(a, b) for a in p for b in p]).clip(0, 1)
        kappa = threat(values=prior, success=success).inseparable
        # What a guess has in common with another, it need not tell apart.
        for told in ({}, {"inseparable": kappa}):
            least = float(joint.min())
            bound = follow_attempts(joint, epsilon, delta, 2, least=least, worst=True, **told)
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


@pytest.mark.states("Steinke, Nasr and Jagielski 2023", "Theorem 5.2")
@pytest.mark.states("Steinke et al. 2023", "Theorem 5.2")
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 2.0])
@pytest.mark.parametrize("delta", [0.0, 1e-4, 1e-2])
def test_the_p_value_takes_the_worst_of_all_ranges_below_the_count(epsilon, delta):
    for m, r in ((1, 1), (30, 30), (60, 50)):
        exact = tails(r, 0.5, epsilon)
        for v in range(1, r + 1, 1 + r // 20):
            worst = max((exact[v - i] - exact[v]) / i for i in range(1, v + 1))
            truth = float(min(1, exact[v] + 2 * m * Fraction(delta) * worst))
            found = one_run_p_value(m, r, v, epsilon, delta)
            assert found == pytest.approx(truth, rel=1e-11, abs=0)


@pytest.mark.parametrize("theorem", THEOREMS.values(), ids=THEOREMS)
def test_what_is_our_own_says_so(theorem):
    assert theorem.own is theorem.source.startswith("Narcissus theory")
    assert theorem.title or not theorem.own  # a section of ours holds several


def test_counts_of_an_audit_are_checked():
    assert one_run_p_value(10, 10, 0, 1.0, 0.1) == 1
    assert one_run_p_value(10, 10, 10, 1.0, 1.0) == 1
    assert f_dp_one_run_p_value(10, 10, 0, PureDP(1.0)) == 1
    assert one_run_p_value(10**10, 10, 10, 0.0) == pytest.approx(2**-10)
    for m, r, v, k, said in [
        (0, 0, 0, 2, "canaries"),
        (10**10 + 1, 1, 1, 2, "canaries"),
        (10, -1, 0, 2, "guesses"),
        (10, 11, 1, 2, "at most the 10 canaries"),
        (10, 5, 6, 2, "at most the 5 guesses"),
        (10, 5, -1, 2, "correct"),
        (10, 5, 5, 1, "values"),
    ]:
        with pytest.raises(InputError, match=said):
            f_dp_one_run_p_value(m, r, v, PureDP(1.0), k)
    with pytest.raises(InputError, match="at most the 5 guesses"):
        one_run_p_value(10, 5, 6, 1.0)
    with pytest.raises(InputError, match="replace-one"):
        f_dp_one_run_p_value(10, 5, 5, PureDP(1.0, adjacency="add-remove"))


def recursion(m: int, r: int, v: int, k: int, guarantee, level: float) -> bool:
    """Whether the guarantee is rejected at a level, as published: from ``v`` right guesses down."""
    right, wrong = level * v / m, level * (r - v) / m
    for i in range(v - 1, -1, -1):
        needed = max(wrong, (k - 1) * float(1 - guarantee.power(1 - min(1.0, right))))
        right, wrong = min(1.0, right + i / (r - i) * (needed - wrong)), needed
    return right + wrong > r / m


@pytest.mark.parametrize("guarantee", [PureDP(0.5), GaussianDP(1.0), ApproximateDP(0.5, 0.01)])
@pytest.mark.parametrize(("m", "r", "v", "k"), [(1, 1, 1, 2), (20, 12, 10, 2), (9, 9, 7, 4)])
def test_the_f_dp_p_value_is_the_largest_level_that_is_not_rejected(guarantee, m, r, v, k):
    found = f_dp_one_run_p_value(m, r, v, guarantee, k)
    assert recursion(m, r, v, k, guarantee, found * (1 + 1e-9))
    assert not recursion(m, r, v, k, guarantee, found * (1 - 1e-4))


def test_the_f_dp_p_value_at_its_ends():
    for mu in (0.2, 1.0, 3.0):
        power = stats.norm.cdf(mu / 2)
        assert f_dp_one_run_p_value(1, 1, 1, GaussianDP(mu)) == pytest.approx(power, rel=2e-4)
    assert f_dp_one_run_p_value(10, 10, 1, GaussianDP(3.0)) == 1
    # fifty fair bits under no information: 2^-50; a thousand: below what the levels reach
    assert f_dp_one_run_p_value(50, 50, 50, PureDP(0.0)) == pytest.approx(2.0**-50, rel=1e-3)
    assert f_dp_one_run_p_value(1200, 1200, 1200, PureDP(0.0)) == pytest.approx(1e-300)


def test_what_each_is_called_and_asked():
    coins, even = threat(prior=0.5, targets=4), threat(values=[0.5, 0.5], targets=2)
    one_run, recursion = THEOREMS["one-run"], THEOREMS["f-dp-one-run"]
    for guarantee in (PureDP(1.0), ApproximateDP(1.0, 0.1)):
        assert one_run.lacks(Question(coins, guarantee, 2)) is None
        assert one_run.valid(Question(coins, guarantee, 2)) is isinstance(guarantee, PureDP)
        assert recursion.lacks(Question(even, guarantee, 2)) is None
    for danger, guarantee in ((coins, GaussianDP(1.0)), (threat(prior=0.4), PureDP(1.0))):
        assert one_run.lacks(Question(danger, guarantee, 1)) is not None
    for danger, guarantee in [
        (threat(values=[0.6, 0.4], targets=2), GaussianDP(1.0)),
        (threat(prior=0.5, targets=2), GaussianDP(1.0)),
        (threat(values=[1 / 3] * 3, within=1, targets=2), GaussianDP(1.0)),
        (even, ProfileCurve((0.5, 1.0), (0.1, 0.01))),
    ]:
        assert recursion.lacks(Question(danger, guarantee, 2)) is not None
    said = one_run.bound(threat(prior=0.5, targets=9, guesses=6), ApproximateDP(0.5, 1e-3), 5)
    assert said.value == one_run_p_value(9, 6, 5, 0.5, 1e-3)
    asked = recursion.bound(threat(values=[0.25] * 4, targets=9, guesses=6), GaussianDP(0.5), 5)
    assert asked.value == f_dp_one_run_p_value(9, 6, 5, GaussianDP(0.5), 4)
    for count, answered in ((500, True), (501, False)):
        many = Question(threat(values=[0.5] * 2, targets=900), GaussianDP(1.0), count)
        assert (recursion.lacks(many) is None) is answered


@pytest.mark.states("Narcissus theory", "4.7")
def test_cherubin_is_not_a_bound():
    claimed = cherubin(0.5, 0.002, 10_000)
    assert claimed.value == pytest.approx(0.311, abs=6e-4)
    assert not claimed.valid
    exact = float(dp_sgd(0.5, 0.002, 10_000, interval=1e-3).profile(0.0))
    assert exact == pytest.approx(0.598, abs=6e-4)


@pytest.mark.parametrize(("noise", "steps"), [(0.5, 1), (3.0, 1), (20.0, 50)])
def test_without_sampling_it_is_exact(noise, steps):
    exact = GaussianDP(2 * math.sqrt(steps) / noise).profile(0.0)
    assert cherubin(noise, 1.0, steps).value == pytest.approx(float(exact), rel=1e-12)
    # and it takes a step at some rate for that much less of a step
    assert cherubin(noise, 0.25, 16 * steps).value == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.states("Narcissus theory", "4.7")
def test_reconstruction_by_sampling_estimates_the_exact_success():
    draws, p, sigma = 200_000, 0.1, 1.0
    found = sampled_reconstruction(sigma, 1.0, 1, p, samples=draws, rng=11)
    assert not found.valid
    exact = stats.norm.cdf(stats.norm.ppf(p) + 1 / sigma)
    # Its variance is that of max(ratio - t, 0), at most var(ratio) = exp(1/sigma^2) - 1.
    # 4.9 deviations: false-alarm rate 1e-6.
    assert abs(found.value - exact) <= 4.9 * math.sqrt((math.e - 1) / draws)
    # Never sampled: nothing is learnt.
    never = sampled_reconstruction(sigma, 0.0, 3, p, samples=1000, rng=11)
    assert never.value == pytest.approx(p, abs=1e-12)
    # It lies on both sides of the truth, so that it is no bound.
    few = [sampled_reconstruction(sigma, 1.0, 1, p, samples=300, rng=s).value for s in range(20)]
    assert min(few) < exact < max(few)


@pytest.mark.parametrize(("rate", "steps"), [(0.3, 1), (1.0, 5)])
def test_reconstruction_estimates_the_best_test_of_that_size(rate, steps):
    p, sigma, draws = 0.2, 1.5, 200_000
    far = math.sqrt(steps) / sigma
    where = stats.norm.isf(p)
    exact = (1 - rate) * p + rate * stats.norm.sf(where - far)
    found = sampled_reconstruction(sigma, rate, steps, p, samples=draws, rng=3).value
    # 4.9 deviations of a mean of terms whose variance is at most exp(far^2) - 1
    assert abs(found - exact) <= 4.9 * math.sqrt(math.expm1(far**2) / draws)


@pytest.mark.parametrize("wrong", [{"noise": 0.0}, {"rate": 1.5}, {"steps": 0}, {"prior": -0.1}])
def test_what_makes_no_sense_is_refused(wrong):
    (name,) = wrong
    told = {"noise": 1.0, "rate": 0.1, "steps": 1, "prior": 0.5, **wrong}
    with pytest.raises(InputError, match=name):
        sampled_reconstruction(**told, samples=1)
    if told.pop("prior") == 0.5:
        with pytest.raises(InputError, match=name):
            cherubin(**told)
    with pytest.raises(InputError, match="samples"):
        sampled_reconstruction(1.0, 0.1, 1, 0.5, samples=0)
    # a part of a sample counts as a whole one, and all is found where all is guessed
    assert sampled_reconstruction(1.0, 0.0, 1, 0.11, samples=10, rng=1).value == 0.2
    assert sampled_reconstruction(1.0, 0.0, 1, 1.0, samples=10, rng=1).value == 1
    assert sampled_reconstruction(0.01, 1.0, 1, 0.5, samples=100, rng=1).value <= 1
