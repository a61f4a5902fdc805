"""Privacy guarantees of a mechanism, each as a privacy profile and as a trade-off function."""

from narcissus.guarantees.base import (
    Adjacency,
    Guarantee,
    ProfileGuarantee,
    Secret,
    require_replace_one,
)
from narcissus.guarantees.curves import (
    ProfileCurve,
    from_event,
    from_losses,
    from_losses_of_orders,
    from_orders,
    from_privacy_loss,
    optimal_composition,
    read_losses,
    read_profile,
)
from narcissus.guarantees.parametric import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    as_approximate,
    as_asked,
    as_gaussian,
    as_renyi,
    as_replace_one,
    as_zero_concentrated,
)
from narcissus.guarantees.risk import PersonalRisk, risk_of
from narcissus.guarantees.training import Divisor, Sampling, dp_sgd

__all__ = [
    "Adjacency", "ApproximateDP", "BayesSecurity", "Divisor", "GaussianDP", "Guarantee",
    "PersonalRisk", "ProfileCurve", "ProfileGuarantee", "PureDP", "RenyiDP", "Sampling", "Secret",
    "ZeroConcentratedDP", "as_approximate", "as_asked", "as_gaussian", "as_renyi",
    "as_replace_one", "as_zero_concentrated", "dp_sgd", "from_event", "from_losses",
    "from_losses_of_orders", "from_orders", "from_privacy_loss", "optimal_composition",
    "read_losses", "read_profile", "require_replace_one", "risk_of",
]  # fmt: skip
