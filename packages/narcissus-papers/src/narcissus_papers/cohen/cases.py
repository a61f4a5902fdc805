"""Small worlds, mechanisms, relations and attackers on which the statements are computed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.mechanisms.base import ReleaseChannel, deterministic
from narcissus_papers.base import Held, Quote

Matrix = NDArray[np.float64]

ROOM = 1e-12
"""How far rounding may take two numbers apart that are equal."""

EPSILONS = (0.0, 0.3, 1.0, 2.0)

EXTRACT = "narcissus extract examples/extraction/copy.toml"
WRITE = "python examples/statements/write.py"
"""What a user runs on a program that is said to extract."""


def profile_of(study: str) -> str:
    return f"narcissus init --example {study} && narcissus profile {study}.toml"


def audit_of(study: str) -> str:
    return f"narcissus init --example {study} && narcissus audit {study}.toml"


def proved(what: str, holds: bool, because: str = "", *, section: str = "2.1") -> Held:
    return Held(f"{what} (proof: Narcissus theory {section})", bool(holds), "proved", because)


def checked(
    what: str, holds: bool, because: str = "", *, words: str = "", place: str = "", number: str = ""
) -> Held:
    """Mark a claim as computed exactly in the named cases, next to the paper's words."""
    quote = Quote(number, words, place) if words else None
    return Held(what, bool(holds), "checked", because, quote)


def channels(number: int, secrets: int = 2, outputs: int = 4) -> list[Matrix]:
    """Draw random channels, every second one with zeros and ties."""
    rng = np.random.default_rng(2024)
    made: list[Matrix] = []
    for which in range(number):
        shape = (secrets, outputs)
        weights = rng.random(shape) if which % 2 else rng.integers(0, 4, shape).astype(np.float64)
        weights[weights.sum(axis=1) == 0, 0] = 1.0
        made.append(weights / weights.sum(axis=1, keepdims=True))
    return made


def partitions(things: int) -> Iterator[tuple[int, ...]]:
    """Yield all partitions of things, as a label of each: all functions up to renaming."""

    def further(labels: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(labels) == things:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from further((*labels, label))

    yield from further(())


@dataclass(frozen=True)
class Labelled:
    """A function of the data set, given by its value for each.

    Parameters
    ----------
    labels
        The release of each data set, in the order of all tuples of ``values`` values.
    values
        A record is one of ``0 .. values - 1``.
    """

    labels: tuple[int, ...]
    values: int = 2

    def release(self, data: Any, rng: np.random.Generator) -> Any:
        places = self.values ** np.arange(data.shape[1])[::-1]
        return np.asarray(self.labels)[data.astype(np.int64) @ places]

    def channel(self, data: Any) -> ReleaseChannel:
        return deterministic(self.release(data, np.random.default_rng(0)))


@dataclass(frozen=True)
class AttemptTypes:
    """A relation on data sets 0 and 1: attempt ``t`` holds for ``S_b`` if bit ``b`` of it is 1.

    All that a relation can be on two data sets is which of these four attempts there are.
    """

    types: tuple[int, ...]

    def holds(self, data: Any, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        return ((np.asarray(attempt) >> data[:, 0]) & 1).astype(bool)

    def guesses(self, data: Any) -> NDArray[np.int64]:
        """Return the attempts."""
        return np.array(self.types)


RELATIONS = [
    AttemptTypes(types)
    for size in range(1, 5)
    for types in itertools.combinations(range(4), size)
    if types != (0,)
]
"""All relations on two data sets, but the one that never holds."""


def attackers(releases: int, attempts: int) -> Iterator[tuple[int, ...]]:
    yield from itertools.product(range(-1, attempts), repeat=releases)


def rates_of(
    attacker: tuple[int, ...], joint: Matrix, holds: Matrix, chance: Matrix
) -> tuple[float, float]:
    """Compute an attacker's success and own baseline from their definitions.

    ``attacker`` is an attempt for each release, -1 for none; ``joint`` the probability of data set
    and release, shape (D, Y); ``holds`` whether each attempt holds for each data set, shape (Z, D);
    ``chance`` the probability of each fresh data set, shape (D,).
    """
    success = baseline = 0.0
    for y, z in enumerate(attacker):
        if z >= 0:
            success += float(holds[z] @ joint[:, y])
            baseline += float(joint[:, y].sum()) * float(holds[z] @ chance)
    return success, baseline
