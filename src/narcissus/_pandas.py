"""Pandas, loaded at its first use: most worker processes and commands need none of it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import pandas as pd
else:

    class _Pandas:
        """Has the names of pandas."""

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("pandas"), name)

    pd = _Pandas()

__all__ = ["is_frame", "pd"]


def is_frame(value: object) -> TypeGuard[pd.DataFrame]:
    """Say whether it is a data frame: there is none before pandas is loaded."""
    return "pandas" in sys.modules and isinstance(value, pd.DataFrame)
