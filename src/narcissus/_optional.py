"""Imports of optional packages, with an error that names the extra."""

from __future__ import annotations

import importlib
from types import ModuleType

from narcissus.errors import MissingExtraError


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, or raise MissingExtraError with the ``extra`` that installs it.

    ``purpose`` is the subject of its sentence: ``"Reading Parquet"``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs the package `{module.partition('.')[0]}`: "
            f"install it with `pip install 'narcissus[{extra}]'`"
        ) from error
