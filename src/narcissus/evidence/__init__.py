"""Statistics of runs: confidence limits, refutation, anytime-valid tests."""

from narcissus.evidence.betting import (
    Bets,
    advantage_limits,
    anytime_limits,
    difference_limits,
    mean_limits,
)
from narcissus.evidence.intervals import (
    clopper_pearson,
    each_confidence,
    first_in_sequence,
    median_limits,
    narrowest_limits,
    next_limit,
    studentised_limits,
    trials_for,
)
from narcissus.evidence.looks import refute_as_they_come
from narcissus.evidence.population import (
    Envelope,
    PeopleSums,
    enclosed_limits,
    estimated_tail,
    population_mean_upper,
    population_tail,
    upper_priors,
)
from narcissus.evidence.randomness import RandomnessTests, randomness_tests
from narcissus.evidence.refutation import Method, Refutation, refute
from narcissus.evidence.roc import RocBand, roc_band
from narcissus.evidence.scores import (
    RefutationByRuns,
    refute_prior_scores,
    refute_priors,
    refute_ranked,
    refute_runs,
    refute_scores,
)

__all__ = [
    "Bets",
    "Envelope",
    "Method",
    "PeopleSums",
    "RandomnessTests",
    "Refutation",
    "RefutationByRuns",
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
    "next_limit",
    "population_mean_upper",
    "population_tail",
    "randomness_tests",
    "refute",
    "refute_as_they_come",
    "refute_prior_scores",
    "refute_priors",
    "refute_ranked",
    "refute_runs",
    "refute_scores",
    "roc_band",
    "studentised_limits",
    "trials_for",
    "upper_priors",
]
