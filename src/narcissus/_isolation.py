"""Isolation from the current folder: no modules, settings or library caches from it.

numba takes its settings, its folder for compiled code among them (pickles), from
``.numba_config.yaml`` in the current folder, and matplotlib from ``matplotlibrc``. Neither can be
switched off. Both look while they are imported, so they are imported from another folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

FROM_ELSEWHERE = ("numba", "matplotlib")


class _FromElsewhere(MetaPathFinder):
    """A finder that has the packages found by others executed in the root folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in FROM_ELSEWHERE:
            return None
        for finder in [f for f in sys.meta_path if f is not self]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                loader: Any = spec.loader
                loader.exec_module = _elsewhere(loader.exec_module)
                return spec
        return None


def isolate() -> None:
    """Exclude the current folder from imports and library settings, for this whole process.

    Call it first, and only in processes of our own: it changes how modules are found.
    """
    with suppress(OSError):  # a folder that is gone
        here, ours = os.getcwd(), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        sys.path[:] = [p for p in sys.path if p not in {"", "."} and (p != here or p == ours)]
    import_from_elsewhere()


def import_from_elsewhere() -> None:
    """Exclude the current folder from library settings; a worker has its parent's path."""
    if not any(isinstance(finder, _FromElsewhere) for finder in sys.meta_path):
        sys.meta_path.insert(0, _FromElsewhere())


def _elsewhere(execute: Any) -> Any:
    def wrapped(module: ModuleType) -> None:
        with _away():
            execute(module)
        if (config := sys.modules.get("numba.core.config")) is not None:
            # It is read again whenever something is compiled.
            config._config_fname = os.devnull  # pyright: ignore[reportAttributeAccessIssue]

    return wrapped


@contextmanager
def _away() -> Generator[None]:
    back: int | str
    back = os.open(".", getattr(os, "O_PATH", os.O_RDONLY)) if os.name == "posix" else os.getcwd()
    try:
        os.chdir(os.path.abspath(os.sep))
        try:
            yield
        finally:
            os.chdir(back)
    finally:
        if isinstance(back, int):
            os.close(back)
