"""Imports of optional packages, with an error that says how to install them."""

from __future__ import annotations

import importlib
import re
from importlib import metadata
from types import ModuleType

from narcissus.errors import MissingExtraError


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, or raise MissingExtraError with what the ``extra`` consists of.

    ``purpose`` is the subject of its sentence: ``"Reading Parquet"``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{purpose} needs the package `{package}`: "
            f"install it with `pip install {' '.join(requirements(extra) or [package])}`"
        ) from error


def requirements(extra: str) -> list[str]:
    """Return the packages of an extra, quoted for a shell.

    They are named themselves, never as an extra of `narcissus`: on a package index that name
    belongs to nobody yet, and whoever takes it would be installed.
    """
    try:
        lines = metadata.requires("narcissus") or []
    except metadata.PackageNotFoundError:  # run from a folder of sources
        return []
    marker = re.compile(rf"extra == ['\"]{re.escape(extra)}['\"]")
    return [f"'{line.partition(';')[0].strip()}'" for line in lines if marker.search(line)]
