"""Closed forms for the Bayesian settings, valid at every size, without a list of data sets.

Source: Kaplan et al. 2025.
"""

from narcissus.profiles.closed_forms.average import average_bits, noise_error
from narcissus.profiles.closed_forms.candidates import bayes_success, candidates_success
from narcissus.profiles.closed_forms.exact_average import exact_average_delta
from narcissus.profiles.closed_forms.hidden_nature import SmallSuperset, SmallTardos, small_delta
from narcissus.profiles.closed_forms.lukewarm import least_surprisal, log2_few_lukewarm
from narcissus.profiles.closed_forms.near import dimensions, limit_given_rows
from narcissus.profiles.closed_forms.parities import ParityRelease
from narcissus.profiles.closed_forms.surprisal import log2_delta
from narcissus.profiles.closed_forms.two_criteria import looser_gamma, two_criteria_limit

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
