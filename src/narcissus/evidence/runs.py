"""Refutation by many runs, each of one canary that was in or out.

Two error rates at a threshold; and, for mu, how often a run with the canary has the larger score of
two. That chance is at most the area under the curve of the error rates, which lies below the
Gaussian one at every point: at most ``Phi(mu / sqrt(2))``, whatever the scores. It needs no
threshold, and pairs of different runs are independent trials.

Source: Clopper and Pearson 1934; Dong, Roth and Su 2022 for the trade-off of a Gaussian; Bamber
1975 for the area.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from narcissus._arrays import Floats
from narcissus._outwards import lower
from narcissus._validation import real
from narcissus.errors import InputError
from narcissus.evidence.refutation import ABOUT_CHOICE, Claimed
from narcissus.evidence.scores import checked_scores
from narcissus.guarantees import GaussianDP
from narcissus.results import Estimate, Grade, Result

_RANKS = (0.003, 0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.8)
_OF_PAIRS = 0.5  # part of the error that the pairs have, where no threshold is given
_SEED = 20_261_127  # pairs runs whose order in the file may tell their scores
_RUNS = (
    "runs are independent of each other, trained and scored alike; whether the canary is in was \
fixed or drawn before"
)


@dataclass(frozen=True)
class RefutationByRuns(Result):
    """The guarantees refuted by many runs, each of one canary that was in or out."""

    epsilon: float  # every (epsilon', delta)-DP with a smaller epsilon' is refuted; 0 if none is
    mu: float  # every mu'-Gaussian DP with ``mu' < mu`` is refuted
    gaussian_epsilon: float  # the epsilon of that mu at delta; 0 where delta is 0
    threshold: float  # of the scores, where most is refuted of mu: larger ones are called in
    false_positives: Estimate  # share of the runs without the canary that are called in
    true_positives: Estimate  # share of the runs with it
    # share of the pairs, a run with the canary and one without, where the first scores more; None
    # at a given threshold
    pairs: Estimate | None
    confidence: float
    delta: float
    assumptions: tuple[str, ...]

    @property
    def grade(self) -> Grade:
        return "sampled"

    def __str__(self) -> str:
        runs = self.true_positives.trials + self.false_positives.trials
        shown = f"mu is not below {lower(self.mu)}" if self.mu > 0 else "no mu is refuted"
        more = f"; epsilon is not below {lower(self.gaussian_epsilon)}" if self.delta > 0 else ""
        return "\n".join([
            f"{'REFUTED' if self.mu > 0 else 'NOTHING REFUTED'} (sampled): {runs:,} runs with one "
            f"canary each; {100 * self.confidence:g}% confidence",
            f"  every (epsilon, {self.delta:g})-DP is refuted below epsilon {lower(self.epsilon)}",
            f"  if it is Gaussian DP: {shown}{more}",
            f"  at the threshold {self.threshold:g}: {self.true_positives}",
            f"  {self.false_positives}",
            *([f"  without a threshold: {self.pairs}"] if self.pairs else []),
            *(f"  assuming {said}" for said in self.assumptions),
        ])  # fmt: skip


def refute_runs(
    scores: ArrayLike,
    members: ArrayLike,
    *,
    threshold: float | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> RefutationByRuns:
    """Find the largest epsilon, and mu, refuted by independent runs with one canary each.

    scores: One score per run, larger means more likely in, shape (runs,).
    members: Whether the canary was in, 0 or 1, shape (runs,).
    threshold: A threshold fixed before the scores are seen; default: eight ranks among the runs
        without the canary, which share half of the error, and pairs of runs, which have the rest.

    Clopper-Pearson limits on both error rates, each at half of its error. A rank among independent
    runs is exceeded with a chance that has a beta distribution (`narcissus.evidence.roc_band`), and
    given such thresholds the runs with the canary are independent of them. Runs are paired by a
    seed of our own, so that their order in the file says nothing.
    """
    asked = Claimed.of(delta, confidence, 0.0)
    score, inside = checked_scores(scores, members)
    others, own = np.sort(score[~inside])[::-1], score[inside]
    if own.size == 0 or others.size == 0:
        raise InputError("`members` must hold runs with the canary and runs without it")
    n, alpha, pairs = others.size, asked.alpha, None
    if threshold is None:
        alpha *= 1 - _OF_PAIRS
        pairs = _paired(own, others, asked.alpha - alpha, asked.level)
    ranks = np.unique(np.maximum(1, np.rint(n * np.array(_RANKS)).astype(np.int64)))
    cuts = others[ranks - 1] if threshold is None else np.array([real("threshold", threshold)])
    share, called = alpha / (2 * cuts.size), (own[:, None] > cuts).sum(axis=0)
    # Above the k-th largest of n lies at most a beta(k, n - k + 1), with ties too.
    above = ranks - 1 if threshold is None else (others[:, None] > cuts).sum(axis=0)
    most = np.where(above < n, special.betainccinv(above + 1, np.maximum(n - above, 1), share), 1.0)
    least = np.where(
        called > 0, special.betaincinv(np.maximum(called, 1), own.size - called + 1, share), 0.0
    )
    mus = special.ndtri(least) - special.ndtri(most)
    at = int(np.argmax(np.where(np.isnan(mus), -math.inf, mus)))
    ratios = [(least - asked.delta, most), (1.0 - most - asked.delta, 1.0 - least)]
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilons = [np.log(np.maximum(a, 0.0) / b) for a, b in ratios]
    mu = max(0.0, float(mus[at])) if math.isfinite(mus[at]) else 0.0
    if pairs is not None and pairs.low:
        mu = max(mu, math.sqrt(2.0) * float(special.ndtri(pairs.low)))
    rates = [
        Estimate(
            k / trials, low, high, asked.level, trials, f"{name}-positive rate", "Clopper-Pearson"
        )
        for k, trials, low, high, name in (
            (int((others > cuts[at]).sum()), n, None, float(most[at]), "false"),
            (int(called[at]), own.size, float(least[at]), None, "true"),
        )
    ]
    return RefutationByRuns(
        epsilon=max(0.0, *(float(np.nanmax(one)) for one in epsilons)),
        mu=mu,
        gaussian_epsilon=GaussianDP(mu).epsilon_beyond(asked.delta)
        if mu > 0 and asked.delta > 0
        else 0.0,
        threshold=float(cuts[at]),
        false_positives=rates[0],
        true_positives=rates[1],
        pairs=pairs,
        confidence=asked.level,
        delta=asked.delta,
        assumptions=(_RUNS, ABOUT_CHOICE),
    )


def _paired(own: Floats, others: Floats, alpha: float, level: float) -> Estimate:
    """Limit the chance that a run with the canary has the larger score of two, from below."""
    random, n = np.random.default_rng(_SEED), min(own.size, others.size)
    right = int((random.permutation(own)[:n] > random.permutation(others)[:n]).sum())
    low = float(special.betaincinv(right, n - right + 1, alpha)) if right else 0.0
    what = "share of pairs of runs whose member scores more"
    return Estimate(right / n, low, None, level, n, what, "Clopper-Pearson")
