"""Appendix A of the later version, Cohen et al. 2025: resilient, and not private."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from narcissus.game import Game
from narcissus.mechanisms import CountingQuery, published_cut
from narcissus.profiles import Cover, cover, worst_event, write_out
from narcissus.success.relations import Pinned
from narcissus.worlds import Bits, Records
from narcissus_papers.base import Given, Held, Reproduced, Statements, claims
from narcissus_papers.cohen.cases import checked, profile_of, proved

EPSILON, DELTA, RECORDS = 1.0, 0.01, 2100

SETTINGS = [(e, d) for e in (0.5, 1.0, 2.0) for d in (0.1, 0.01)]
"""Pairs of epsilon and delta; ``n`` is the least that the claim allows."""


def uncut(n: int, rate: float, epsilon: float) -> float:
    """Compute the exact least delta of the count without a cut, for one rate.

    Given ``k`` ones of ``n``, every record is 1 with chance ``k / n``: the gain is the mean of
    ``max(0, k/n - e^eps p, 1 - k/n - e^eps (1 - p))``.
    """
    share, factor = np.arange(n + 1) / n, math.exp(epsilon)
    gains = np.maximum.reduce(
        [np.zeros(n + 1), share - factor * rate, 1 - share - factor * (1 - rate)]
    )
    return float(stats.binom.pmf(np.arange(n + 1), n, rate) @ gains)


def at_most(n: int, epsilon: float, steps: int) -> float:
    """Bound the least delta without a cut for all rates together.

    By the largest value on a grid of ``steps`` steps and ``(1 + e^eps) / (2 steps)``: the gain of
    a count moves by at most ``1 / n`` if the count moves by one, and by at most ``e^eps`` times
    what the rate moves, so its mean has a slope of at most ``1 + e^eps``. Rates ``p`` and ``1 - p``
    are alike.
    """
    grid = np.arange(steps // 2 + 1) / steps
    return max(uncut(n, p, epsilon) for p in grid) + (1 + math.exp(epsilon)) / (2 * steps)


def exact(n: int, rate: float, tau: float) -> float:
    """Compute the exact least delta at epsilon 1 from the game itself."""
    game = Game(Bits(n, rate), CountingQuery(tau), Pinned(1))
    return write_out(game).delta(EPSILON)


def every_rate(tau: float, *, tolerance: float, target: float | None = None) -> Cover:
    """Compute the delta of the count of a hundred records for every rate, by the general limits.

    Rates ``p`` and ``1 - p`` are alike.
    """
    exact = write_out(Game(Bits(100), CountingQuery(tau), Pinned(1)))
    return cover(exact, 0.0, 0.5, EPSILON, tolerance=tolerance, budget=4000, target=target)


class _QueryCount:
    """A count of records of three values, the query holding for two of them."""

    exchangeable = False

    def channel(self, data: Any) -> Any:
        return CountingQuery().channel((data > 0).astype(np.uint8))


class _QueryNamed:
    """The attempt names a record and the value of the query on it."""

    def holds(self, data: Any, attempt: Any, rng: np.random.Generator) -> Any:
        return Pinned(1).holds((data > 0).astype(np.uint8), attempt, rng)

    def guesses(self, data: Any) -> Any:
        return Pinned(1).guesses((data > 0).astype(np.uint8))


def beyond_two_values(cases: int) -> float:
    """Compute the largest difference between records of three values and the bits of the query."""
    apart: list[float] = []
    for chances in np.random.default_rng(1).dirichlet(np.ones(3), cases):
        three = Game(Records(4, chances.tolist()), _QueryCount(), _QueryNamed())
        two = Game(Bits(4, float(chances[1:].sum())), CountingQuery(), Pinned(1))
        apart += [abs(write_out(three).delta(e) - write_out(two).delta(e)) for e in (0.0, 0.5, 1.0)]
    return max(apart)


def for_every_rate() -> list[Held]:
    """Judge a hundred records at every rate, with and without a cut, and of three values."""
    free = every_rate(0.0, tolerance=1e-4)
    short, enough = (every_rate(tau, tolerance=0.0, target=1e-6) for tau in (0.17, 0.18))
    return [
        proved(
            f"of 100 records without a cut no rate from 0 to 1 needs more than {free.at_most:.5f} "
            f"at epsilon 1; the worst one found, {free.rate:.5f}, needs {free.least:.6f}",
            free.complete,
            section="2.2",
        ),
        proved(
            "the smallest cut, in hundredths, with which every rate has delta(1) at most 1e-6 is "
            f".18: with .17 rate {short.rate:.4f} needs {short.least:.2e}, and a smaller cut tells "
            "more",
            short.least > 1e-6 >= enough.at_most,
            section="2.2",
        ),
        checked(
            "records of more than two values are bits with the rate of the query: three values, "
            "8 distributions, three epsilons",
            beyond_two_values(8) <= 1e-12,
        ),
    ]


COUNTING = Statements("003", 0.5)


@COUNTING(
    "Appendix A",
    "A count with a cut is resilient and not private.",
    profile_of("counting-query"),
    paper="000",
    seconds=4.0,
)
def appendix_a(_given: Given) -> Reproduced:
    gamma, tau = published_cut(EPSILON, DELTA, RECORDS)
    rates = [1e-4, 0.15, 0.23, 0.247389, 0.27, 0.5]
    with_cut = [exact(RECORDS, p, tau) for p in rates]
    limit = at_most(RECORDS, EPSILON, 500)
    rare = np.geomspace(1e-6, 1e-2, 121)
    worst = max((uncut(RECORDS, p, EPSILON), p) for p in rare)
    hundred = max((uncut(100, p, EPSILON), p) for p in np.geomspace(1e-4, 1e-1, 121))
    apart = [abs(uncut(100, p, 1.0) - exact(100, p, 0.0)) for p in (0.002, 0.05, 0.4)]
    least = {s: math.ceil(4 * _room(*s) * math.log(4 / s[1])) for s in SETTINGS}
    limits = {s: at_most(n, s[0], math.ceil(2 * (1 + math.exp(s[0])) / s[1]))
              for s, n in least.items()}  # fmt: skip
    few = 4 * _room(EPSILON, DELTA) * math.log(1 / DELTA)
    neighbours = (np.arange(RECORDS) < np.array([[600], [601]])).astype(np.uint8)
    known = worst_event(CountingQuery(tau).channel(neighbours).matrix, 5.0)
    once = 1 / RECORDS**2
    gained = uncut(RECORDS, once, EPSILON)
    return claims(
        *for_every_rate(),
        proved(
            f"at eps 1, delta .01, n = {RECORDS} it is resilient for every rate: even without the "
            f"cut no rate needs more than {limit:.5f}, and cutting tells less (gamma "
            f"{gamma:.5f}, tau {tau:.6f})",
            limit <= DELTA and max(apart) <= 1e-9,
        ),
        proved(
            "it is not private: neighbours with 600 and 601 ones are told apart for certain, so "
            f"delta is {known.delta:g} for every epsilon",
            known.delta == 1.0,
        ),
        checked(
            f"with the cut, the exact delta is below 1e-90 at rates {', '.join(map(str, rates))}",
            max(with_cut) < 1e-90,
        ),
        checked(
            "the claim holds at the least n for which it speaks, for all rates, without a cut: "
            + ", ".join(f"eps {e:g} delta {d:g} n {least[e, d]}" for e, d in limits),
            all(limit <= d for (_, d), limit in limits.items()),
        ),
        checked(
            "cutting the edges is necessary (no numbers in print): at eps 1, delta .01, n = 2,100",
            limit > DELTA,
            f"without a cut the worst rate, {worst[1]:.3g}, needs delta {worst[0]:.3g}; for a "
            "delta below that a cut is needed, as its footnote shows for one of about 1/n^2",
            words="We remark that cutting the edges is necessary",
            place="Appendix A",
        ),
        checked(
            f"at rate 1/n^2 (its footnote) an attacker gains about 1/n^2: {gained:.2e} at n = "
            f"{RECORDS}",
            0.9 * once <= gained <= once,
        ),
        checked(
            f"n >= 4 (gamma^2 + 2 gamma) ln(1/delta) is tau <= 1/4, as printed: {few:.0f} and "
            f"{least[EPSILON, DELTA]} records",
            math.ceil(few) == least[EPSILON, DELTA],
            "tau has ln(4/delta), so the condition needs it as well",
            words=r"n\geq 4(\gamma^{2}+2\gamma)\ln(1/\delta)",
            place="Appendix A, its claim",
        ),
        checked(
            f"without a cut and n = 100 the worst rate is {hundred[1]:.4g}, with delta "
            f"{hundred[0]:.4g}",
            abs(hundred[0] - 1.01828e-3) < 2e-6 and abs(hundred[1] - 0.00215) < 1e-4,
        ),
    )


def _room(epsilon: float, delta: float) -> float:
    factor = (1 - delta) * math.exp(epsilon)
    gamma = (6 * factor - 2) / (factor - 1)
    return gamma**2 + 2 * gamma
