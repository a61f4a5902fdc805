"""Evidence of a leak that may be looked at after every sample.

Each sample's secret is bet on, by beliefs that earlier samples taught; the odds are the prior's. If
nothing leaks the capital stays one on average, so that it ever reaches x with chance at most 1/x.

Source: Ville 1939; Narcissus theory 6.16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._outwards import upper
from narcissus.channels.estimators import portfolio
from narcissus.channels.paid_ahead import LogScore, paid_ahead
from narcissus.channels.prior_draws import Draws, with_prior
from narcissus.channels.samples import samples
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer
from narcissus.results import Grade, Result

FIRST = 32
GROWTH = 1.25
"""Blocks end at samples that do not depend on how many there will be."""


@dataclass(frozen=True)
class LeakageEvidence(Result):
    """How much betting on secrets has won.

    Attributes
    ----------
    log_capital
        Natural log of the largest capital so far, at least 0.
    samples
        How many.
    """

    log_capital: float
    samples: int

    @property
    def grade(self) -> Grade:
        """Always 'sampled'."""
        return "sampled"

    @property
    def p_value(self) -> float:
        """A p-value of "nothing leaks" that holds whenever one stops."""
        return math.exp(-min(self.log_capital, 700.0))

    def __str__(self) -> str:
        said = (
            "the outputs depend on the secret"
            if self.p_value <= 0.05
            else "no dependence was found, which is no evidence that there is none"
        )
        return (
            f"SAMPLED: no leakage: p = {upper(self.p_value, 4)} ({self.samples} samples, by "
            f"betting; holds whenever one stops)\n  {said}"
        )


def evidence_of_leakage(
    secrets: Any,
    outputs: Any,
    prior: Any,
    *,
    estimators: Any = None,
    observer: Observer = SILENT,
) -> LeakageEvidence:
    """Bet on each sample's secret, in the order in which samples came.

    Parameters
    ----------
    secrets, outputs, estimators, observer
        As in `narcissus.channels.estimate`.
    prior
        Probability of each secret by name, or in the order of the sorted secrets: that from which
        they were drawn, each by itself.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> secret = rng.integers(2, size=300)
    >>> evidence_of_leakage(secret, secret ^ (rng.random(300) < 0.3), [0.5, 0.5]).p_value < 0.001
    True
    """
    # Also those that never came: to leave them out would be to know it beforehand.
    data, weights = with_prior(samples(secrets, outputs, fewest=1), prior)
    if not (weights[data.secret] > 0).all():
        raise InputError("`prior` must be above 0 for every secret that has samples")
    ends = [0, 0, FIRST]
    while ends[-1] < data.size:
        ends.append(math.ceil(ends[-1] * GROWTH))
    ends = [min(end, data.size) for end in ends]
    draws = Draws(np.arange(0), data.secret, np.arange(data.size))
    tried = portfolio(estimators, data)
    paid = paid_ahead(
        data,
        tried,
        draws,
        [LogScore(np.maximum(weights, 1e-300), np.zeros(len(weights), dtype=bool))],
        weights,
        observer,
        ends,
    )[0]
    return LeakageEvidence(max(0.0, float(np.cumsum(paid.values).max())), data.size)
