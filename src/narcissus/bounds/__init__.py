"""What no attacker can exceed, given a guarantee and a prior; one theorem family a file."""

from narcissus.bounds.domination import domination, exact_match_optimum
from narcissus.bounds.one_target import optimum
from narcissus.bounds.poisson_binomial import PoissonBinomial

__all__ = ["PoissonBinomial", "domination", "exact_match_optimum", "optimum"]
