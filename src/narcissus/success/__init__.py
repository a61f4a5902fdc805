"""Success: when an attempt counts."""

from narcissus.success.table import ColumnsRight, exact_match

__all__ = ["ColumnsRight", "exact_match"]
