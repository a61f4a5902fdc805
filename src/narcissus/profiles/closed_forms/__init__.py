"""Closed forms for the Bayesian settings, valid at every size, without a list of data sets.

Source: Kaplan et al. 2025.
"""

from narcissus.profiles.closed_forms.average import (
    average_bits,
    dimensions,
    least_surprisal,
    limit_given_rows,
    log2_delta,
    log2_few_lukewarm,
    looser_gamma,
    noise_error,
    two_criteria_limit,
)
from narcissus.profiles.closed_forms.candidates import bayes_success, candidates_success
from narcissus.profiles.closed_forms.hidden_nature import (
    SmallSuperset,
    SmallTardos,
    exact_average_delta,
    small_delta,
)
from narcissus.profiles.closed_forms.parities import ParityRelease

__all__ = [
    "ParityRelease",
    "SmallSuperset",
    "SmallTardos",
    "average_bits",
    "bayes_success",
    "candidates_success",
    "dimensions",
    "exact_average_delta",
    "least_surprisal",
    "limit_given_rows",
    "log2_delta",
    "log2_few_lukewarm",
    "looser_gamma",
    "noise_error",
    "small_delta",
    "two_criteria_limit",
]
