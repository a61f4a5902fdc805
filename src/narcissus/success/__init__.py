"""Success: when an attempt counts, and the statements that are made about it."""

from narcissus.success.singling_out import SinglingOut
from narcissus.success.statements import (
    FixedBaseline,
    NotMemorizing,
    Resilience,
    Statement,
    SurprisalResilience,
    Threshold,
)
from narcissus.success.table import ColumnsRight, exact_match

__all__ = [
    "ColumnsRight",
    "FixedBaseline",
    "NotMemorizing",
    "Resilience",
    "SinglingOut",
    "Statement",
    "SurprisalResilience",
    "Threshold",
    "exact_match",
]
