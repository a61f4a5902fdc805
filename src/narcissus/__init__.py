"""Narcissus: what an attacker can really reconstruct from a data release, and what none can.

Public names are loaded when they are first used, so that ``import narcissus`` and
``narcissus --help`` stay cheap. ``PUBLIC`` is the one list of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from narcissus.audit import Audit as Audit
    from narcissus.audit import Study as Study
    from narcissus.audit import load_audit as load_audit
    from narcissus.audit import load_study as load_study
    from narcissus.audit import run as run
    from narcissus.errors import NarcissusError as NarcissusError
    from narcissus.evidence import clopper_pearson as clopper_pearson
    from narcissus.evidence import mean_limits as mean_limits
    from narcissus.results import Bound as Bound
    from narcissus.results import Estimate as Estimate
    from narcissus.results import NotAssessed as NotAssessed

__version__ = "0.1.0"

PUBLIC = {
    "Audit": "narcissus.audit",
    "Study": "narcissus.audit",
    "load_audit": "narcissus.audit",
    "load_study": "narcissus.audit",
    "run": "narcissus.audit",
    "Bound": "narcissus.results",
    "Estimate": "narcissus.results",
    "NarcissusError": "narcissus.errors",
    "NotAssessed": "narcissus.results",
    "clopper_pearson": "narcissus.evidence",
    "mean_limits": "narcissus.evidence",
}
ROOMS = (
    "attacks",
    "bounds",
    "channels",
    "evidence",
    "extraction",
    "guarantees",
    "mechanisms",
    "priors",
    "report",
    "study",
    "success",
)


def __getattr__(name: str) -> Any:
    """Load a public name, or a room, on first use."""
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    if name in ROOMS:
        return import_module(f"narcissus.{name}")
    raise AttributeError(f"module 'narcissus' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names and the rooms."""
    return sorted([*PUBLIC, *ROOMS, "__version__"])
