"""Narcissus: what an attacker can really reconstruct from a data release, and what none can.

Public names are loaded when they are first used, so that ``import narcissus`` and
``narcissus --help`` stay cheap. ``PUBLIC`` is the one list of them.
"""

# Python has loaded this module when it runs ``python -m narcissus``; any other could still be one
# of the same name in the current directory, which only `__main__` takes off the path.
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from narcissus.audit import Audit as Audit
    from narcissus.audit import Study as Study
    from narcissus.audit import load_audit as load_audit
    from narcissus.audit import load_study as load_study
    from narcissus.audit import run as run
    from narcissus.bounds import PoissonBinomial as PoissonBinomial
    from narcissus.bounds import certify as certify
    from narcissus.bounds import compare as compare
    from narcissus.bounds import threat as threat
    from narcissus.channels import Channel as Channel
    from narcissus.channels import beta_star as beta_star
    from narcissus.channels import channel as channel
    from narcissus.errors import NarcissusError as NarcissusError
    from narcissus.evidence import clopper_pearson as clopper_pearson
    from narcissus.evidence import mean_limits as mean_limits
    from narcissus.evidence import refute as refute
    from narcissus.extraction import assess_extraction as assess_extraction
    from narcissus.extraction import eidetic_counts as eidetic_counts
    from narcissus.game import Game as Game
    from narcissus.game import play as play
    from narcissus.guarantees import ApproximateDP as ApproximateDP
    from narcissus.guarantees import GaussianDP as GaussianDP
    from narcissus.guarantees import PureDP as PureDP
    from narcissus.priors import fit_bayesian_network as fit_bayesian_network
    from narcissus.profiles import memorized_information as memorized_information
    from narcissus.profiles import profile as profile
    from narcissus.profiles import sampled_profile as sampled_profile
    from narcissus.profiles import smallest as smallest
    from narcissus.results import Bound as Bound
    from narcissus.results import Estimate as Estimate
    from narcissus.results import NotAssessed as NotAssessed
    from narcissus.tables import Bins as Bins
    from narcissus.tables import Table as Table
    from narcissus.tables import read_table as read_table

__version__ = "0.1.0"

PUBLIC = {
    "Audit": "narcissus.audit",
    "Study": "narcissus.audit",
    "load_audit": "narcissus.audit",
    "load_study": "narcissus.audit",
    "run": "narcissus.audit",
    "ApproximateDP": "narcissus.guarantees",
    "Bins": "narcissus.tables",
    "Bound": "narcissus.results",
    "Channel": "narcissus.channels",
    "Estimate": "narcissus.results",
    "Game": "narcissus.game",
    "GaussianDP": "narcissus.guarantees",
    "NarcissusError": "narcissus.errors",
    "NotAssessed": "narcissus.results",
    "PoissonBinomial": "narcissus.bounds",
    "PureDP": "narcissus.guarantees",
    "Table": "narcissus.tables",
    "beta_star": "narcissus.channels",
    "certify": "narcissus.bounds",
    "channel": "narcissus.channels",
    "assess_extraction": "narcissus.extraction",
    "clopper_pearson": "narcissus.evidence",
    "eidetic_counts": "narcissus.extraction",
    "compare": "narcissus.bounds",
    "fit_bayesian_network": "narcissus.priors",
    "mean_limits": "narcissus.evidence",
    "read_table": "narcissus.tables",
    "memorized_information": "narcissus.profiles",
    "play": "narcissus.game",
    "profile": "narcissus.profiles",
    "refute": "narcissus.evidence",
    "sampled_profile": "narcissus.profiles",
    "smallest": "narcissus.profiles",
    "threat": "narcissus.bounds",
}
ROOMS = (
    "attacks",
    "bounds",
    "channels",
    "evidence",
    "extraction",
    "game",
    "guarantees",
    "knowledge",
    "mechanisms",
    "priors",
    "profiles",
    "report",
    "study",
    "success",
    "tables",
    "worlds",
)


def __getattr__(name: str) -> "Any":
    """Load a public name, or a room, on first use."""
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    if name in ROOMS:
        return import_module(f"narcissus.{name}")
    raise AttributeError(f"module 'narcissus' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names and the rooms."""
    return sorted([*PUBLIC, *ROOMS, "__version__"])
