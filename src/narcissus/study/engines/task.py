"""The part of a job that runs in a cluster worker: load once, compare versions, play keys.

The workers of a cluster were started by others, with their own installation of Narcissus: a version
that differs could compute other numbers, so it plays nothing.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._threads import one_thread
from narcissus._version import __version__
from narcissus.errors import NarcissusError
from narcissus.study.engines._worker import answer

PACKAGES = ("numpy", "scipy", "pandas", "numba", "scikit-learn")
"""Other packages of which numbers depend; the last two may be missing, here and there alike."""

_one_at_a_time = threading.Lock()  # a limit of threads is the process's, not a thread's


def installed() -> dict[str, str]:
    """Return the versions on which numbers depend."""
    versions = {"python": ".".join(map(str, sys.version_info[:3])), "narcissus": __version__}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


@cache
def versions() -> dict[str, str]:
    """Return the versions on which numbers depend, and a digest of our source."""
    installation = installed()
    root = Path(__file__).resolve().parents[2]
    source = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        source.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    installation["narcissus"] += f" (source {source.hexdigest()[:8]})"
    return installation


@cache
def processor() -> str:
    """Return the features of the processor on which the last digits of a number may depend."""
    configuration: Any = np.show_config(mode="dicts")
    features = configuration.get("SIMD Extensions", {}).get("found", [])
    return f"{platform.machine()} {' '.join(features)}"


class Carried:
    """A job in transit to the workers, with the versions of its sender.

    It travels as bytes, also from worker to worker, and is unpacked once in each.
    """

    def __init__(self, packed: bytes, made_by: Mapping[str, str]) -> None:
        self.packed, self.made_by = packed, dict(made_by)
        self._job: Callable[[str], Any] | None = None

    def __reduce__(self) -> tuple[type[Carried], tuple[bytes, Mapping[str, str]]]:
        return Carried, (self.packed, self.made_by)

    def play(self, key: str) -> Any:
        """Play a key; raise NarcissusError if the versions here differ from the sender's."""
        if self._job is None:
            self._require_same()
            self._job = pickle.loads(self.packed)
        assert self._job is not None
        return self._job(key)

    def _require_same(self) -> None:
        here = versions()
        other = [
            f"{name} {here.get(name, 'not installed')} instead of {version}"
            for name, version in self.made_by.items()
            if here.get(name) != version
        ]
        if other:
            raise NarcissusError(
                f"a worker on {platform.node()} has {', '.join(other)}: numbers could differ. "
                "Install the same versions there (requirements/run.lock pins them), and start "
                "the workers anew"
            )


def play_key(carried: Carried, key: str) -> tuple[bytes, str]:
    """Play a key in a worker; return its packed answer and the processor."""
    with _one_at_a_time, one_thread():
        return answer(lambda: carried.play(key)), processor()
