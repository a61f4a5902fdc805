"""Evidence from runs: confidence limits, refutation, anytime-valid tests. The only statistics."""

from narcissus.evidence.intervals import bernstein_limits, clopper_pearson, mean_limits
from narcissus.evidence.sequential import Bets, anytime_limits

__all__ = ["Bets", "anytime_limits", "bernstein_limits", "clopper_pearson", "mean_limits"]
