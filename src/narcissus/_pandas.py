"""Pandas, loaded on first use: most worker processes and commands do without it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard


class Lazy:
    """Stand-in for a module that is imported when a name of it is used."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Lazy("pandas")

__all__ = ["Lazy", "exactly", "is_frame", "pd"]


def exactly() -> dict[str, Any]:
    """Options of `read_csv` that parse numbers as Python does, in every version."""
    new = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)  # others are not allowed there
    return {} if new else {"float_precision": "round_trip"}


def is_frame(value: object) -> TypeGuard[pd.DataFrame]:
    """Whether it is a data frame: there is none before pandas is loaded."""
    return "pandas" in sys.modules and isinstance(value, pd.DataFrame)
