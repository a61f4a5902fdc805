"""Imports of optional packages, with an error that says how to install them."""

from __future__ import annotations

import errno
import importlib
import re
from importlib import metadata
from types import ModuleType

from narcissus.errors import MissingExtraError

_SHORT = ("failed to map segment", "cannot allocate memory", "can't start new thread")
"""What the loader and Python say where a process may not have more memory."""


def is_short_of_memory(error: BaseException) -> bool:
    """Tell whether an error, or one behind it, says that memory ran out.

    >>> is_short_of_memory(ImportError("x.so: failed to map segment from shared object"))
    True
    >>> is_short_of_memory(ImportError("No module named 'pyarrow'"))
    False
    """
    behind: BaseException | None = error
    seen: set[int] = set()
    while behind is not None and id(behind) not in seen:
        seen.add(id(behind))
        is_of_system = isinstance(behind, OSError) and behind.errno == errno.ENOMEM
        is_of_loader = isinstance(behind, ImportError | OSError | RuntimeError)
        if isinstance(behind, MemoryError) or is_of_system:
            return True
        if is_of_loader and any(words in str(behind).lower() for words in _SHORT):
            return True
        behind = behind.__cause__ or behind.__context__
    return False


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, or raise MissingExtraError with what the ``extra`` consists of.

    ``purpose`` is the subject of its sentence: ``"Reading Parquet"``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if is_short_of_memory(error):
            raise MemoryError(f"{module} does not fit into memory") from error
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
