"""Evidence from runs: confidence limits, refutation, anytime-valid tests. The only statistics."""

from narcissus.evidence.intervals import bernstein_limits, clopper_pearson, mean_limits

__all__ = ["bernstein_limits", "clopper_pearson", "mean_limits"]
