"""Imports of packages that are extras, with an error that names the extra."""

from __future__ import annotations

import importlib
from types import ModuleType

from narcissus.errors import MissingExtraError


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, or say which extra brings it.

    Parameters
    ----------
    module
        Dotted name of the module to import.
    extra
        The extra of this package that installs it.
    purpose
        What it is needed for, as the subject of a sentence: ``"Reading Parquet"``.

    Raises
    ------
    MissingExtraError
        The module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs the package `{module.partition('.')[0]}`: "
            f"install it with `pip install 'narcissus[{extra}]'`"
        ) from error
