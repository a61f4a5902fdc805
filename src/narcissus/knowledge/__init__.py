"""Side information: what the attacker is told besides the release."""

from narcissus.knowledge.base import (
    Candidates,
    Hidden,
    Hiding,
    Knowledge,
    KnownRows,
    Listed,
    OwnSideInformation,
    Rates,
    refine,
)
from narcissus.knowledge.columns import FactoredColumns, FactoredTargets, OtherColumns, OtherSecrets

__all__ = [
    "Candidates",
    "FactoredColumns",
    "FactoredTargets",
    "Hidden",
    "Hiding",
    "Knowledge",
    "KnownRows",
    "Listed",
    "OtherColumns",
    "OtherSecrets",
    "OwnSideInformation",
    "Rates",
    "refine",
]

Told = OwnSideInformation  # its name before 0.1
