"""Published theorems against their statements in many digits, and against linear programs."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import combinations

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, stats

from narcissus.bounds import THEOREMS, Question, exact_optimum, humphries_advantage, threat
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)

PUBLISHED = [
    *("renyi", "stock", "distributional", "swanberg-3.2", "balle", "cohen-f.1", "swanberg-3.4"),
    *("humphries", "yeom", "hayes", "chatzikokolakis-1", "swanberg-3.3", "swanberg-3.5"),
]


def says(theorem, guarantee, at_least=None, **about) -> float:
    """What one theorem says about a threat."""
    return THEOREMS[theorem].bound(threat(**about), guarantee, at_least).value


def tails(r: int, p: float, e: float) -> list[float]:
    """``Pr[Bin(r, beta) >= j]`` for ``j = 0 .. r + 1``, the odds of ``p`` times ``e^e``."""
    odds = Fraction(p) / (1 - Fraction(p)) * Fraction(math.exp(e))
    beta = odds / (1 + odds)
    mass = [math.comb(r, j) * beta**j * (1 - beta) ** (r - j) for j in range(r + 1)]
    return [float(sum(mass[j:], start=Fraction(0))) for j in range(r + 2)]


@pytest.mark.states("Cohen et al. 2025", "Theorem F.1")
@pytest.mark.parametrize("p", [0.0, 1e-200, 0.01, 0.5, 0.9, 1.0])
def test_formulas_for_one_target(p):
    with mp.workdps(50):
        one, e, d = mp.mpf(p), mp.mpf(0.3), mp.mpf(0.02)
        grown = min(one, 1) * mp.exp(e)
        stock = {
            (a, g): (one * mp.exp(g)) ** ((mp.mpf(a) - 1) / a) for a in (1.5, 8.0) for g in (0.1, 2)
        }
        risk = 1 - mp.mpf(0.7) * (1 - one)
    approximate = ApproximateDP(0.3, 0.02)
    for name in ("balle", "cohen-f.1"):
        assert says(name, approximate, prior=p) == pytest.approx(
            float(min(1, grown + d)), rel=1e-13
        )
        assert says(name, PureDP(0.3), prior=p) == pytest.approx(float(min(1, grown)), rel=1e-13)
    for (alpha, gamma), value in stock.items():
        found = says("stock", RenyiDP(alpha, gamma), prior=p)
        assert found == pytest.approx(float(min(1, max(value, p))), rel=1e-12)
    assert says("chatzikokolakis-1", BayesSecurity(0.7), prior=p) == pytest.approx(float(risk))
    hayes = stats.norm.sf(stats.norm.isf(p) - 1.5) if p else 0.0
    assert says("hayes", GaussianDP(1.5), prior=p) == pytest.approx(hayes, rel=1e-10)


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
    """The best mechanism for a fair coin: what the program finds, and the formula gives."""
    guarantee = ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
    reached = exact_optimum([0.5, 0.5], guarantee).value
    advantage = humphries_advantage(epsilon, delta)
    assert advantage == pytest.approx(2 * reached - 1, abs=2e-6)
    coin = {"prior": 0.5, "inseparable": 0.5}
    assert says("humphries", guarantee, **coin) == pytest.approx(0.5 + advantage / 2, rel=1e-14)
    if not delta:
        assert says("yeom", guarantee, prior=0.5) == pytest.approx(
            min(1.0, 0.5 + math.expm1(epsilon) / 2), rel=1e-14
        )


def test_large_epsilons_overflow_nowhere():
    assert humphries_advantage(1e4, 0.5) == 1
    for name in ("balle", "cohen-f.1", "yeom"):
        assert says(name, PureDP(1e4), prior=0.5) == 1
    assert says("balle", PureDP(690.0), prior=1e-300) == pytest.approx(
        math.exp(690.0 + math.log(1e-300)), rel=1e-12
    )
    assert says("stock", RenyiDP(2.0, 1e4), prior=0.5) == 1


@pytest.mark.parametrize(("n", "r", "p"), [(5, 5, 0.5), (8, 6, 0.2), (8, 8, 0.05)])
def test_tails_of_many(n, r, p):
    e, d = 0.4, 0.03
    exact = tails(r, p, e)
    about = {"prior": p, "targets": n, "guesses": r}
    for v in range(1, r + 1):
        assert says("swanberg-3.2", PureDP(e), v, **about) == pytest.approx(exact[v], rel=1e-12)
        corollary = says("swanberg-3.4", ApproximateDP(e, d), v, **about)
        assert corollary == pytest.approx(min(1, exact[v] + n * d), rel=1e-12)
        drops = [(exact[v - j] - exact[v]) / j for j in range(1, v + 1)]
        steep = says("swanberg-3.5", ApproximateDP(e, d), v, **about)
        assert steep == pytest.approx(min(1, exact[v] + max(drops) * n * d), rel=1e-12)
    once = says("distributional", ApproximateDP(e, d), 1, **about)
    assert once == pytest.approx(min(1, n * (p * math.exp(e) + d)), rel=1e-12)
    # no delta, no failures
    for name in ("swanberg-3.3", "swanberg-3.4", "swanberg-3.5"):
        assert says(name, ApproximateDP(e, 0.0), 2, **about) == pytest.approx(exact[2], rel=1e-12)


@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.3")
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.125, 0.2, 0.45])
@pytest.mark.parametrize(("n", "p", "e"), [(4, 0.5, 0.1), (8, 0.3, 0.5), (8, 0.05, 0.0)])
def test_theorem_3_3_is_the_worst_number_of_failures_of_that_mean(n, p, e, delta):
    """A program over the distributions of the failures, up to the number of targets."""
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


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_is_asked_about_what_it_is_stated_for(name):
    theorem = THEOREMS[name]
    coin = threat(prior=0.5, targets=3, inseparable=0.5)
    for kind, guarantee in KINDS.items():
        asked = [theorem.lacks(Question(coin, guarantee, count)) for count in (None, 1)]
        assert any(lack is None for lack in asked) is (kind in COVERS[name])
    # a fair coin only
    other = Question(threat(prior=0.4, targets=3), KINDS[min(COVERS[name], key=len)])
    unfair = all(theorem.lacks(Question(other.threat, other.guarantee, c)) for c in (None, 1))
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


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_says_where_it_stands_and_whether_it_holds(name):
    theorem = THEOREMS[name]
    # its place in the paper, or what it is called
    assert theorem.title or re.search(r"(Theorem|Corollary) \S+$", theorem.source)
    assert theorem.own is theorem.source.startswith("Narcissus")
    assert theorem.dear is False
    assert theorem.audits is False
    assert bool(theorem.why) is (name in ("chatzikokolakis-1", "swanberg-3.3", "swanberg-3.5"))
    assert bool(theorem.also) is (name in ("humphries", "yeom", "chatzikokolakis-1"))
    danger = threat(prior=0.5, targets=3, inseparable=0.5)
    for kind in COVERS[name]:
        for count in (None, 1):
            said = theorem.bound(danger, KINDS[kind], count)
            if count is not None and theorem.lacks(Question(danger, KINDS[kind], count)) is None:
                told = any("independent given" in rests for rests in said.assumptions)
                assert told is (name != "distributional")
