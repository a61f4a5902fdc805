"""Odds of success, which a guarantee multiplies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import probabilities

FloatArray = NDArray[np.float64]


def log_odds(prior: ArrayLike) -> FloatArray:
    """Return ``log(prior / (1 - prior))``, infinite at 0 and 1."""
    return special.logit(probabilities("prior", prior))


def posterior(prior: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Return ``expit(logit(prior) + epsilon)``: success odds times ``exp(epsilon)``.

    Shapes broadcast; accurate for priors of 1e-300 and epsilons of 1e4.

    Source: Swanberg et al. 2025, Theorem 3.2.
    """
    return special.expit(log_odds(prior) + np.asarray(epsilon, dtype=np.float64))
