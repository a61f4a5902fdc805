"""Bayes security and quantitative information flow of explicit channels and of samples."""

from narcissus.channels.bayes_security import (
    QuickBounds,
    WorstPair,
    beta_star,
    l2_bounds,
    pairwise,
    plot_pairwise,
    quick_bounds,
    tied_pairs,
)
from narcissus.channels.channel import Channel, channel, prior_for
from narcissus.channels.closed_forms import (
    ClosedForm,
    Exponential,
    Gaussian,
    Geometric,
    KaryRandomizedResponse,
    Laplace,
    PlanarGeometric,
    PlanarLaplace,
    Subset,
    UnaryEncoding,
)
from narcissus.channels.comparison import ChannelComparison, OneWay, compare_channels
from narcissus.channels.compose import (
    ComposedSecurity,
    cascade,
    cascade_security,
    mixed_security,
    parallel,
    parallel_security,
    repeat,
    repeated_security,
)
from narcissus.channels.deterministic import of_program
from narcissus.channels.estimate import convergence, estimate
from narcissus.channels.estimators import Classifier, Estimator, Frequentist, Nearest, forest
from narcissus.channels.evidence_ahead import LeakageEvidence, evidence_of_leakage
from narcissus.channels.exact_summary import ExactSummary, exact_summary
from narcissus.channels.files import (
    read_channel,
    read_prior,
    read_rational,
    read_rational_prior,
    read_samples,
)
from narcissus.channels.from_guarantees import (
    SecurityBound,
    database_capacity,
    from_database_dp,
    from_guarantee,
    from_local_dp,
    humphries_bound,
    naive_database_bound,
    to_approximate_dp,
    yeom_bound,
)
from narcissus.channels.gain import (
    additive_g_leakage,
    g_leakage,
    g_vulnerability,
    l_beta,
    l_risk,
    miracle_bound,
    prior_g_vulnerability,
    prior_l_risk,
)
from narcissus.channels.groups import (
    GroupDifference,
    GroupLeakage,
    analyse_groups,
    estimate_groups,
    read_groups,
)
from narcissus.channels.hyper import Hyper, hyper, reduced
from narcissus.channels.kept_runs import KeptRuns
from narcissus.channels.lattice import greatest_below, least_above
from narcissus.channels.leakage import LeakageEstimate, Look
from narcissus.channels.local_dp import (
    LocalProfile,
    local_dp_delta,
    local_dp_epsilon,
    local_dp_profile,
)
from narcissus.channels.loss_families import LossFamily, l_beta_bound, least_l_beta, loss_family
from narcissus.channels.losses import read_losses, write_channel, write_gain
from narcissus.channels.measures import (
    ImpliedRisk,
    additive_capacity,
    additive_capacity_for,
    additive_leakage,
    advantage,
    bayes_risk,
    bayes_vulnerability,
    beta,
    capacity,
    guessing_entropy,
    guessing_error,
    implied_bayes_risk,
    min_entropy_leakage,
    multiplicative_leakage,
    prior_guessing_entropy,
    shannon_leakage,
)
from narcissus.channels.metric import kantorovich, metric_epsilon
from narcissus.channels.no_leakage import NoLeakageTest, no_leakage_test
from narcissus.channels.over_uses import AfterOutputs, security_over_uses
from narcissus.channels.prior_update import ExplainedPrior, explain
from narcissus.channels.program_leakage import ProgramLeakage, StopWhen, program_leakage
from narcissus.channels.programs import Program
from narcissus.channels.rational import RationalChannel, rational_channel
from narcissus.channels.rational_refinement import RationalRefinement, refines_exactly
from narcissus.channels.refinement import Refinement, refines
from narcissus.channels.remapping import Remapped, remap
from narcissus.channels.sampled_gaussian import dp_sgd_reached, sampled_gaussian_overlap
from narcissus.channels.sampled_leakage import SampledLeakage, sampled_leakage
from narcissus.channels.sampled_measures import MEASURES
from narcissus.channels.samples import Samples, samples
from narcissus.channels.shannon_capacity import ShannonCapacity, shannon_capacity
from narcissus.channels.shuffled import shuffled_security
from narcissus.channels.summary import ChannelSummary, analyse, prior_of
from narcissus.channels.synthesis import (
    Design,
    least_loss,
    loss_of_nothing,
    most_secure,
    trade_off,
)
from narcissus.channels.templates import Templates

__all__ = [
    "MEASURES",
    "AfterOutputs",
    "Channel",
    "ChannelComparison",
    "ChannelSummary",
    "Classifier",
    "ClosedForm",
    "ComposedSecurity",
    "Design",
    "Estimator",
    "ExactSummary",
    "ExplainedPrior",
    "Exponential",
    "Frequentist",
    "Gaussian",
    "Geometric",
    "GroupDifference",
    "GroupLeakage",
    "Hyper",
    "ImpliedRisk",
    "KaryRandomizedResponse",
    "KeptRuns",
    "Laplace",
    "LeakageEstimate",
    "LeakageEvidence",
    "LocalProfile",
    "Look",
    "LossFamily",
    "Nearest",
    "NoLeakageTest",
    "OneWay",
    "PlanarGeometric",
    "PlanarLaplace",
    "Program",
    "ProgramLeakage",
    "QuickBounds",
    "RationalChannel",
    "RationalRefinement",
    "Refinement",
    "Remapped",
    "SampledLeakage",
    "Samples",
    "SecurityBound",
    "ShannonCapacity",
    "StopWhen",
    "Subset",
    "Templates",
    "UnaryEncoding",
    "WorstPair",
    "additive_capacity",
    "additive_capacity_for",
    "additive_g_leakage",
    "additive_leakage",
    "advantage",
    "analyse",
    "analyse_groups",
    "bayes_risk",
    "bayes_vulnerability",
    "beta",
    "beta_star",
    "capacity",
    "cascade",
    "cascade_security",
    "channel",
    "compare_channels",
    "convergence",
    "database_capacity",
    "dp_sgd_reached",
    "estimate",
    "estimate_groups",
    "evidence_of_leakage",
    "exact_summary",
    "explain",
    "forest",
    "from_database_dp",
    "from_guarantee",
    "from_local_dp",
    "g_leakage",
    "g_vulnerability",
    "greatest_below",
    "guessing_entropy",
    "guessing_error",
    "humphries_bound",
    "hyper",
    "implied_bayes_risk",
    "kantorovich",
    "l2_bounds",
    "l_beta",
    "l_beta_bound",
    "l_risk",
    "least_above",
    "least_l_beta",
    "least_loss",
    "local_dp_delta",
    "local_dp_epsilon",
    "local_dp_profile",
    "loss_family",
    "loss_of_nothing",
    "metric_epsilon",
    "min_entropy_leakage",
    "miracle_bound",
    "mixed_security",
    "most_secure",
    "multiplicative_leakage",
    "naive_database_bound",
    "no_leakage_test",
    "of_program",
    "pairwise",
    "parallel",
    "parallel_security",
    "plot_pairwise",
    "prior_for",
    "prior_g_vulnerability",
    "prior_guessing_entropy",
    "prior_l_risk",
    "prior_of",
    "program_leakage",
    "quick_bounds",
    "rational_channel",
    "read_channel",
    "read_groups",
    "read_losses",
    "read_prior",
    "read_rational",
    "read_rational_prior",
    "read_samples",
    "reduced",
    "refines",
    "refines_exactly",
    "remap",
    "repeat",
    "repeated_security",
    "sampled_gaussian_overlap",
    "sampled_leakage",
    "samples",
    "security_over_uses",
    "shannon_capacity",
    "shannon_leakage",
    "shuffled_security",
    "tied_pairs",
    "to_approximate_dp",
    "trade_off",
    "write_channel",
    "write_gain",
    "yeom_bound",
]
