"""Mechanisms that release something computed from a table of people."""

from narcissus.mechanisms.table.base import Prepared, TableMechanism
from narcissus.mechanisms.table.bootstrap import Bootstrap
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.command import Command
from narcissus.mechanisms.table.copula import GaussianCopula
from narcissus.mechanisms.table.kept import KeptReleases, require_varied
from narcissus.mechanisms.table.microdata import PublishedRows
from narcissus.mechanisms.table.opendp import OpenDPMeasurement
from narcissus.mechanisms.table.opendp_synthesizer import OpenDPSynthesizer
from narcissus.mechanisms.table.own import OwnSynthesizer
from narcissus.mechanisms.table.planned import Marginals, PlannedCounts
from narcissus.mechanisms.table.random_rounding import RandomRounding
from narcissus.mechanisms.table.releases import CellRule, Microdata, ProtectedCounts
from narcissus.mechanisms.table.rounding import Rounding
from narcissus.mechanisms.table.shelf import Shelf
from narcissus.mechanisms.table.suppression import Suppression
from narcissus.mechanisms.table.swapping import Swapping
from narcissus.mechanisms.table.tables import Tables
from narcissus.mechanisms.table.tree_mst import TreeSynthesizer

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
    "Rounding",
    "Shelf",
    "Suppression",
    "Swapping",
    "TableMechanism",
    "Tables",
    "TreeSynthesizer",
    "require_varied",
]
