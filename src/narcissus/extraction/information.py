"""Information of one string about another: conditional complexity, and the difference it makes.

A program that prints ``x`` given ``y`` bounds ``K(x | y)`` from above, which running it proves. The
mutual information ``K(x) - K(x | y)`` is the difference of two numbers with only upper bounds, so
its estimate is neither an upper nor a lower bound. It is proved to lie between 0 and the bound on
``K(x)``.

Source: Cohen et al. 2024, Definitions D.1, D.2 and D.7; Narcissus theory 7.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from narcissus.errors import NarcissusError
from narcissus.extraction.complexity import complexity, self_extracting
from narcissus.observer import SILENT, Observer
from narcissus.results import Bound, Grade, Result

LANGUAGE = "the language is Python with the packages installed here"
SECONDS = 600


@dataclass(frozen=True)
class MutualInformation(Result):
    """Information of a string about another: ``KI(x; y) = K(x) - K(x | y)``, in bits."""

    alone: Bound  # proved bound on the complexity of ``x``, in bits
    given: Bound  # proved bound on its complexity given ``y``, in bits; never above ``alone``
    estimate: float  # their difference: approximate, neither an upper nor a lower bound
    # Proved: at most ``alone``, since a complexity is not negative. Also proved: at least 0,
    # since a program need not read its input.
    at_most: float

    @property
    def grade(self) -> Grade:
        """Always 'approximate'."""
        return "approximate"

    @property
    def value(self) -> float:
        """The same as ``estimate``."""
        return self.estimate

    def __str__(self) -> str:
        return (
            f"{self.alone}\n{self.given}\n"
            f"APPROXIMATE: mutual information about {self.estimate:,.0f} bits, the difference of "
            f"two upper bounds (proved: 0 to {self.at_most:,.0f})"
        )


def conditional_complexity(
    data: bytes, given: bytes | None = None, *, observer: Observer = SILENT
) -> Bound:
    """Bound the complexity ``K(x | y)``, in bits: the shortest program found that prints ``x``.

    Parameters
    ----------
    data
        The string ``x``, at most 64 MiB.
    given
        The string ``y``, in the programs' file ``reference``; None or empty for ``K(x)``.
    observer
        Receives progress.

    Returns
    -------
    Bound
        Eight times the bytes of the program, which is run once to check that it prints ``data``.

    Examples
    --------
    >>> letter = bytes(range(256)) * 4
    >>> conditional_complexity(letter[7:], letter).value < 8 * 256
    True
    """
    found = complexity(data, reference=given, observer=observer)
    return _shortest(data, given, found.estimates)


def _shortest(data: bytes, given: bytes | None, estimates: Mapping[str, int]) -> Bound:
    """Run programs, the shortest first, until one prints the data."""
    for name in sorted(estimates, key=lambda name: estimates[name]):
        method, _, with_reference = name.partition("+")
        program = self_extracting(data, method, reference=given if with_reference else None)
        if program is not None and _prints(program, data, given):
            condition = " given the other" if given else ""
            return Bound(
                8.0 * len(program),
                f"complexity in bits of {len(data):,} bytes{condition}",
                f"a program of {len(program):,} bytes ({name}) that was run (Cohen et al. 2024, "
                "Definition D.2)",
                (LANGUAGE,),
            )
    raise NarcissusError(
        "no program that prints the data could be run: is this Python able to start another?"
    )


def _prints(program: bytes, data: bytes, given: bytes | None) -> bool:
    with TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_bytes(program)
        (Path(folder) / "reference").write_bytes(given or b"")
        try:
            done = subprocess.run([sys.executable, "-I", "program.py"], cwd=folder, check=False,
                                  capture_output=True, timeout=SECONDS)  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and done.stdout == data


def mutual_information(
    data: bytes, given: bytes, *, observer: Observer = SILENT
) -> MutualInformation:
    """Estimate the information of one string about another, such as a release about its data.

    Parameters
    ----------
    data
        The string ``x``, at most 64 MiB.
    given
        The string ``y``, at most 64 MiB.
    observer
        Receives progress.

    Examples
    --------
    >>> found = mutual_information(b"the key is 7719 2250 4431 8160", b"")
    >>> found.estimate, found.grade
    (0.0, 'approximate')
    """
    estimates = complexity(data, reference=given, observer=observer).estimates
    alone = _shortest(data, None, {k: v for k, v in estimates.items() if "+" not in k})
    less = _shortest(data, given, estimates)
    return MutualInformation(alone, less, alone.value - less.value, alone.value)
