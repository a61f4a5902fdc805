"""Mechanisms that release something computed from a table of people."""

from narcissus.mechanisms.table.base import (
    CellRule,
    Columns,
    Microdata,
    Prepared,
    ProtectedCounts,
    TableMechanism,
)
from narcissus.mechanisms.table.command import Command, OwnSynthesizer
from narcissus.mechanisms.table.kept import KeptReleases, ReleaseCache, require_varied
from narcissus.mechanisms.table.noisy import Marginals, PlannedCounts, Tables
from narcissus.mechanisms.table.opendp import OpenDPMeasurement, OpenDPSynthesizer
from narcissus.mechanisms.table.protected import RandomRounding, Rounding, Suppression
from narcissus.mechanisms.table.rows import (
    Bootstrap,
    GaussianCopula,
    PublishedRows,
    Swapping,
    TreeSynthesizer,
)

__all__ = [
    "Bootstrap",
    "CellRule",
    "Columns",
    "Command",
    "GaussianCopula",
    "KeptReleases",
    "Marginals",
    "Microdata",
    "OpenDPMeasurement",
    "OpenDPSynthesizer",
    "OwnSynthesizer",
    "PlannedCounts",
    "Prepared",
    "ProtectedCounts",
    "PublishedRows",
    "RandomRounding",
    "ReleaseCache",
    "Rounding",
    "Suppression",
    "Swapping",
    "TableMechanism",
    "Tables",
    "TreeSynthesizer",
    "require_varied",
]
