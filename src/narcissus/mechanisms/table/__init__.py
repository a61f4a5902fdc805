"""Mechanisms that release something computed from a table of people."""

from narcissus.mechanisms.table.base import Prepared, TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.planned import Marginals, PlannedCounts
from narcissus.mechanisms.table.releases import CellRule, Microdata, ProtectedCounts

__all__ = [
    "CellRule",
    "Columns",
    "Marginals",
    "Microdata",
    "PlannedCounts",
    "Prepared",
    "ProtectedCounts",
    "TableMechanism",
]
