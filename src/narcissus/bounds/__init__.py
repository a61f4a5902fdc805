"""What no attacker can exceed, given a guarantee and a prior; one theorem family a file."""

from narcissus.bounds.attempts import (
    follow_attempts,
    given_output,
    leak_probability,
    leaked_bits,
)
from narcissus.bounds.best import (
    Threat,
    advantage,
    at_most,
    best,
    success_bounds,
    tail_bounds,
    threat,
)
from narcissus.bounds.calibration import (
    ByValue,
    Limit,
    advantage_by_value,
    epsilon_by_value,
    largest_epsilon,
    largest_mu,
    smallest_noise,
    typical_priors,
)
from narcissus.bounds.comparison import Comparison, compare
from narcissus.bounds.domination import domination, exact_match_optimum
from narcissus.bounds.exact import Certificate, certify, exact_optimum
from narcissus.bounds.one_run import f_dp_one_run_p_value, one_run_p_value
from narcissus.bounds.one_target import optimum
from narcissus.bounds.one_target_program import optimum_program
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.bounds.published import (
    cherubin,
    corollary_3_4,
    humphries_advantage,
    many_target_bounds,
    one_target_bounds,
    sampled_reconstruction,
)
from narcissus.bounds.swap import posterior, swap_bound, swap_program, swap_tail

__all__ = [
    "ByValue",
    "Certificate",
    "Comparison",
    "Limit",
    "PoissonBinomial",
    "Threat",
    "advantage",
    "advantage_by_value",
    "at_most",
    "best",
    "certify",
    "cherubin",
    "compare",
    "corollary_3_4",
    "domination",
    "epsilon_by_value",
    "exact_match_optimum",
    "exact_optimum",
    "f_dp_one_run_p_value",
    "follow_attempts",
    "given_output",
    "humphries_advantage",
    "largest_epsilon",
    "largest_mu",
    "leak_probability",
    "leaked_bits",
    "many_target_bounds",
    "one_run_p_value",
    "one_target_bounds",
    "optimum",
    "optimum_program",
    "posterior",
    "sampled_reconstruction",
    "smallest_noise",
    "success_bounds",
    "swap_bound",
    "swap_program",
    "swap_tail",
    "tail_bounds",
    "threat",
    "typical_priors",
]
