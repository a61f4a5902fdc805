"""Mechanisms that release something computed from a table of people."""

from narcissus.mechanisms.table.base import Prepared, TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.planned import Marginals, PlannedCounts
from narcissus.mechanisms.table.random_rounding import RandomRounding
from narcissus.mechanisms.table.releases import CellRule, Microdata, ProtectedCounts
from narcissus.mechanisms.table.rounding import Rounding
from narcissus.mechanisms.table.suppression import Suppression
from narcissus.mechanisms.table.swapping import Swapping
from narcissus.mechanisms.table.tables import Tables

__all__ = [
    "CellRule",
    "Columns",
    "Marginals",
    "Microdata",
    "PlannedCounts",
    "Prepared",
    "ProtectedCounts",
    "RandomRounding",
    "Rounding",
    "Suppression",
    "Swapping",
    "TableMechanism",
    "Tables",
]
