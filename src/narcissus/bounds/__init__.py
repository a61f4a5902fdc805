"""Upper bounds on any attacker's success under a guarantee and a prior; one file per theorem
family.
"""

from narcissus.bounds.at_most import (
    ThreatToPeople,
    at_most,
    reached,
    reached_number,
    reached_number_of_threat,
    reached_of_threat,
    reached_tails,
)
from narcissus.bounds.binomial import PoissonBinomial
from narcissus.bounds.calibration import (
    ByValue,
    Limit,
    advantage_by_value,
    beta_star_of_rates,
    epsilon_by_value,
    largest_epsilon,
    largest_mu,
    precision,
    smallest_noise,
    typical_priors,
)
from narcissus.bounds.comparison import Comparison, compare
from narcissus.bounds.domination import domination, exact_match_optimum
from narcissus.bounds.exact import Certificate, certify, exact_optimum
from narcissus.bounds.interpolation import (
    coin_spent,
    coin_tails,
    interpolation,
    interpolation_tails,
    split_chances,
)
from narcissus.bounds.listed import (
    Listing,
    OptimumByListing,
    listed_optimum,
    optimum_by_listing,
    ranked_optimum,
    ranked_tails,
)
from narcissus.bounds.one_target import column_shares, optimum, optimum_program
from narcissus.bounds.published import (
    cherubin,
    f_dp_one_run_p_value,
    follow_attempts,
    given_output,
    humphries_advantage,
    leak_probability,
    leaked_bits,
    one_run_p_value,
    sampled_reconstruction,
)
from narcissus.bounds.swap import swap_program, swap_tail
from narcissus.bounds.theorem import Needs, Question, Theorem, posterior
from narcissus.bounds.theorems import THEOREMS, advantage, best, bounds_on, each_success
from narcissus.bounds.threat import (
    ListedPriors,
    Nearby,
    RankedPrior,
    Threat,
    threat,
    threat_of_columns,
    threat_of_likeliest,
    threat_of_ranked,
)
from narcissus.guarantees.risk import true_positive_rate

__all__ = [
    "THEOREMS",
    "ByValue",
    "Certificate",
    "Comparison",
    "Limit",
    "ListedPriors",
    "Listing",
    "Nearby",
    "Needs",
    "OptimumByListing",
    "PoissonBinomial",
    "Question",
    "RankedPrior",
    "Theorem",
    "Threat",
    "ThreatToPeople",
    "advantage",
    "advantage_by_value",
    "at_most",
    "best",
    "beta_star_of_rates",
    "bounds_on",
    "certify",
    "cherubin",
    "coin_spent",
    "coin_tails",
    "column_shares",
    "compare",
    "domination",
    "each_success",
    "epsilon_by_value",
    "exact_match_optimum",
    "exact_optimum",
    "f_dp_one_run_p_value",
    "follow_attempts",
    "given_output",
    "humphries_advantage",
    "interpolation",
    "interpolation_tails",
    "largest_epsilon",
    "largest_mu",
    "leak_probability",
    "leaked_bits",
    "listed_optimum",
    "one_run_p_value",
    "optimum",
    "optimum_by_listing",
    "optimum_program",
    "posterior",
    "precision",
    "ranked_optimum",
    "ranked_tails",
    "reached",
    "reached_number",
    "reached_number_of_threat",
    "reached_of_threat",
    "reached_tails",
    "sampled_reconstruction",
    "smallest_noise",
    "split_chances",
    "swap_program",
    "swap_tail",
    "threat",
    "threat_of_columns",
    "threat_of_likeliest",
    "threat_of_ranked",
    "true_positive_rate",
    "typical_priors",
]
