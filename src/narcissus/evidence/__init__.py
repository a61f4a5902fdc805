"""Statistics of runs: confidence limits, refutation, anytime-valid tests."""

from narcissus.evidence.advantage import advantage_limits
from narcissus.evidence.approximate import studentised_limits
from narcissus.evidence.differences import difference_limits
from narcissus.evidence.enclosed import Envelope, PeopleSums, enclosed_limits
from narcissus.evidence.estimated_prior import estimated_tail, upper_priors
from narcissus.evidence.families import each_confidence, first_in_sequence
from narcissus.evidence.intervals import clopper_pearson
from narcissus.evidence.mean import mean_limits
from narcissus.evidence.order import median_limits
from narcissus.evidence.planning import narrowest_limits, trials_for
from narcissus.evidence.population import population_mean_upper, population_tail
from narcissus.evidence.randomness import RandomnessTests, randomness_tests
from narcissus.evidence.refutation import Method, Refutation, refute
from narcissus.evidence.roc import RocBand, roc_band
from narcissus.evidence.scores import refute_scores
from narcissus.evidence.sequential import Bets, anytime_limits
from narcissus.evidence.unequal import refute_guesses, refute_priors
from narcissus.evidence.unequal_scores import refute_prior_scores

__all__ = [
    "Bets",
    "Envelope",
    "Method",
    "PeopleSums",
    "RandomnessTests",
    "Refutation",
    "RocBand",
    "advantage_limits",
    "anytime_limits",
    "clopper_pearson",
    "difference_limits",
    "each_confidence",
    "enclosed_limits",
    "estimated_tail",
    "first_in_sequence",
    "mean_limits",
    "median_limits",
    "narrowest_limits",
    "population_mean_upper",
    "population_tail",
    "randomness_tests",
    "refute",
    "refute_guesses",
    "refute_prior_scores",
    "refute_priors",
    "refute_scores",
    "roc_band",
    "studentised_limits",
    "trials_for",
    "upper_priors",
]
