"""Refutation with a prior per canary: secrets that are not uniform, unequal coins.

Source: Narcissus theory 4.1, 4.4, 4.10 (the bounds) and 5 (refutation); Swanberg et al. 2025,
Theorem 3.2, for priors that differ from guess to guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import between, integer, non_negative, probabilities
from narcissus.bounds import domination, follow_attempts, interpolation, swap_tail, threat
from narcissus.bounds.domination import DOMINATION
from narcissus.bounds.interpolation import INTERPOLATION
from narcissus.bounds.published import THEOREM_3_2
from narcissus.bounds.rows import prior_rows
from narcissus.bounds.swap import SWAP
from narcissus.bounds.theorem import Theorem
from narcissus.errors import InputError
from narcissus.evidence.refutation import (
    ABOUT_CHOICE,
    LARGEST_MU,
    Chosen,
    Method,
    Refutation,
    largest_refuted,
    refuted_mu,
)
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP

FloatArray = NDArray[np.float64]

OWN_PRIORS = (
    "every canary's value was drawn from its own prior, as given, independently of the others and "
    "of all else"
)
_ALL = "all canaries were guessed, whatever the release said"
_ANY = "nothing about which canaries were guessed, nor when their number was chosen"
_DEAR = 1e-3  # relative tolerance where each p-value is a search
_CHEAP = 1e-6
_FAIR = 0.03  # beyond it the best guess is too far above the least equal draws for the swap bound

PValue = Callable[[float], float]
"""From an epsilon (with the delta of the claim) to a p-value that rises with it."""


@dataclass(frozen=True)
class _Claimed:
    """The claim, checked."""

    delta: float
    level: float
    claimed: float

    @classmethod
    def of(cls, delta: float, confidence: float, claimed: float) -> _Claimed:
        return cls(
            between("delta", delta, 0, 1, open_high=True),
            between("confidence", confidence, 0, 1, open_low=True, open_high=True),
            non_negative("claimed", claimed),
        )

    @property
    def alpha(self) -> float:
        return 1.0 - self.level

    def at(self, epsilon: float) -> Guarantee:
        return ApproximateDP(epsilon, self.delta) if self.delta > 0 else PureDP(epsilon)

    def method(self, theorem: Theorem, p_value: PValue, tolerance: float, factor: int) -> Method:
        """Find the epsilon refuted by one test, its p-values multiplied by ``factor``."""
        return Method(
            theorem.id,
            theorem.statement,
            largest_refuted(p_value, self.alpha / factor, tolerance),
            min(1.0, factor * p_value(self.claimed)),
        )


def refute_priors(
    priors: ArrayLike,
    correct: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
) -> Refutation:
    """Find the largest epsilon refuted by a count of canaries that were all guessed.

    Source: Narcissus theory 4.10, under pure DP 4.4: there the exact optimum, so nothing from this
    count alone refutes more. Also the swap bound of 4.3 with all canaries as the one guessed best:
    sharper if all are near uniform. Both bound the same chance, and share the level.

    Parameters
    ----------
    priors
        The distribution of each canary's value, shape (m, V); zeros pad. A guess must name it.
    correct
        Number of right guesses.
    delta, confidence, claimed
        As in `narcissus.evidence.refute`.

    Examples
    --------
    >>> found = refute_priors([[0.7, 0.3]] * 60 + [[0.5, 0.5]] * 60, 105, delta=1e-5)
    >>> round(found.epsilon, 2)
    1.48
    """
    asked = _Claimed.of(delta, confidence, claimed)
    rows, many = np.unique(prior_rows("priors", priors), axis=0, return_counts=True)
    m, v = int(many.sum()), integer("correct", correct, low=0)
    if v > m:
        raise InputError(f"`correct` must be at most the {m} canaries, got {v}")
    theorem = INTERPOLATION if asked.delta > 0 else DOMINATION
    tail = interpolation if asked.delta > 0 else domination

    def own(epsilon: float) -> float:
        return tail(rows, asked.at(epsilon), v, repeats=many).value

    best, same = min(1.0, float(rows.max())), min(1.0, float((rows**2).sum(axis=1).min()))

    def swap(epsilon: float) -> float:
        return float(swap_tail(m, best, epsilon, asked.delta, v, inseparable=same))

    methods = (asked.method(theorem, own, _DEAR, 1), asked.method(SWAP, swap, _CHEAP, 1))

    def mu_p_value(mu: float) -> float:
        return interpolation(rows, GaussianDP(mu), v, repeats=many).value

    mu = largest_refuted(mu_p_value, asked.alpha, _DEAR, start=1e-6, largest=LARGEST_MU)
    if best - same <= _FAIR:
        danger = threat(prior=best, targets=m, inseparable=same)
        mu = max(mu, refuted_mu(danger, v, asked.alpha))
    return _found(
        asked,
        methods,
        mu if mu > 1e-6 else 0.0,
        counts=(m, m, v, rows.shape[1]),
        assumptions=(OWN_PRIORS, ABOUT_CHOICE, _ALL),
    )


def refute_guesses(
    chances: ArrayLike,
    correct: int,
    differ: ArrayLike,
    *,
    values: int = 2,
    best: float | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
) -> Refutation:
    """Find the largest epsilon refuted by guesses, each weighted by its prior chance.

    A right guess of an unlikely value is stronger evidence than one of a likely value.

    Parameters
    ----------
    chances
        The prior chance of each guess made, shape (r,). Which canaries are guessed, and their
        guessed values, may be chosen after the release was seen.
    correct
        Number of right guesses.
    differ
        For all canaries, guessed or not, the chance that two independent draws of the value differ,
        ``1 - sum_x D(x)^2``, shape (m,); used if ``delta`` is above 0.
    values
        Number of values of a canary.
    best
        Upper bound on the prior chance of every possible guess; default 1.
    delta, confidence, claimed
        As in `narcissus.evidence.refute`.

    Notes
    -----
    Source: Swanberg et al. 2025, Theorem 3.2: given the release, right guesses are at most a sum of
    Bernoulli(beta(chance)), whatever was guessed. With a delta: the bound that follows the attempts
    (Narcissus theory 4.4), which adds ``delta sum differ``; its proof has one count in question for
    each release, so the p-value may follow them. The swap bound for all canaries as the best is
    another test: both are then at half the level, the second at half of that for guesses whose
    number was chosen late.
    """
    asked = _Claimed.of(delta, confidence, claimed)
    made, apart = probabilities("chances", chances), probabilities("differ", differ)
    m, r, v = apart.size, made.size, integer("correct", correct, low=0)
    if made.ndim != 1 or apart.ndim != 1 or not v <= r <= m:
        raise InputError(
            "`chances` must be a vector of guesses, at most as many as canaries in `differ`, and "
            f"`correct` at most as many; got {r} guesses, {m} canaries, {v} right"
        )
    spent = float(apart.sum())

    def own(epsilon: float, lost: float = asked.delta) -> float:
        tail = follow_attempts(made, epsilon, 0.0, v).value if r else 1.0
        return min(1.0, tail + lost * spent)

    def swap(epsilon: float) -> float:
        p, same = 1.0 if best is None else best, float(1.0 - apart.max())
        return float(swap_tail(m, p, epsilon, asked.delta, v, guesses=r, inseparable=same))

    theorem = DOMINATION.by("following the attempts") if asked.delta > 0 else THEOREM_3_2
    shared = 2 if asked.delta > 0 else 1
    methods = (asked.method(theorem, own, _CHEAP, shared),)
    if asked.delta > 0:
        methods = (*methods, asked.method(SWAP, swap, _CHEAP, 2 * shared))
    point = asked.delta or asked.alpha / (2 * max(1.0, spent))

    def mu_p_value(mu: float) -> float:
        return own(GaussianDP(mu).epsilon_beyond(point), point)

    mu = largest_refuted(mu_p_value, asked.alpha, _CHEAP, start=1e-9, largest=LARGEST_MU)
    return _found(
        asked,
        methods,
        mu if mu > 1e-9 else 0.0,
        counts=(m, r, v, values),
        assumptions=(OWN_PRIORS, ABOUT_CHOICE, _ANY),
        chosen="after",
    )


def _found(
    asked: _Claimed,
    methods: tuple[Method, ...],
    mu: float,
    *,
    counts: tuple[int, int, int, int],
    assumptions: tuple[str, ...],
    chosen: Chosen = "before",
) -> Refutation:
    m, r, v, values = counts
    return Refutation(
        epsilon=max(method.epsilon for method in methods),
        mu=mu,
        noise=2.0 / mu if mu > 0 else math.inf,
        p_value=min(method.p_value for method in methods),
        confidence=asked.level,
        delta=asked.delta,
        claimed=asked.claimed,
        canaries=m,
        guesses=r,
        correct=v,
        values=values,
        methods=methods,
        guesses_chosen=chosen,
        assumptions=assumptions,
    )
