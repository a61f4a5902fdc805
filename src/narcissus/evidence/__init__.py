"""Evidence from runs: confidence limits, refutation, anytime-valid tests. The only statistics."""

from narcissus.evidence.estimated_prior import estimated_tail, upper_priors
from narcissus.evidence.intervals import bernstein_limits, clopper_pearson, mean_limits
from narcissus.evidence.refutation import Method, Refutation, refute
from narcissus.evidence.scores import refute_scores
from narcissus.evidence.sequential import Bets, anytime_limits

__all__ = [
    "Bets",
    "Method",
    "Refutation",
    "anytime_limits",
    "bernstein_limits",
    "clopper_pearson",
    "estimated_tail",
    "mean_limits",
    "refute",
    "refute_scores",
    "upper_priors",
]
