"""Evidence from runs: confidence limits, refutation, anytime-valid tests. The only statistics."""

from narcissus.evidence.intervals import clopper_pearson, mean_limits

__all__ = ["clopper_pearson", "mean_limits"]
