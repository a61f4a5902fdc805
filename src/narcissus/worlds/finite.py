"""Worlds given by a list of data sets, or of distributions over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import distribution
from narcissus.errors import InputError
from narcissus.worlds.base import Array, Draw, Enumeration


def data_sets(name: str, data: Sequence[Any]) -> Array:
    """Return data sets of one shape as an array; a data set of one number has one record."""
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise InputError(f"`{name}` must be data sets of one shape, got {data!r}") from error
    if array.ndim < 1 or len(array) == 0 or array.dtype == object:
        raise InputError(f"`{name}` must be a list of data sets of one shape, got {data!r}")
    return array if array.ndim > 1 else array[:, None]


@dataclass(frozen=True)
class Finite:
    """A list of data sets with their probabilities, or a meta-prior over such lists.

    Parameters
    ----------
    data
        The data sets, each a list of records (all of one shape).
    probabilities
        Probability of each data set; or, for a meta-prior, one such list for each ``Nature``.
        Empty: all alike.
    natures
        Probability of each ``Nature``; empty: all alike.
    """

    data: Sequence[Any]
    probabilities: Sequence[float] | Sequence[Sequence[float]] = ()
    natures: Sequence[float] = ()

    def __post_init__(self) -> None:
        sets = data_sets("data", self.data)
        given = np.asarray(self.probabilities, dtype=np.float64)
        if given.size and given.shape[-1] != len(sets):
            raise InputError(
                f"`probabilities` must have one number for each of {len(sets)} data sets, "
                f"got {given.shape[-1]}"
            )
        for row in np.atleast_2d(given) if given.size else ():
            distribution("probabilities", row)
        if len(self.natures):
            distribution("natures", self.natures)
            if len(self.natures) != len(self.table):
                raise InputError(
                    f"`natures` must have one number for each of {len(self.table)} lists of "
                    f"`probabilities`, got {len(self.natures)}"
                )

    @cached_property
    def sets(self) -> Array:
        """The data sets, leading axis D."""
        return data_sets("data", self.data)

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """Probability of each data set given ``Nature``, shape (V, D)."""
        given = np.asarray(self.probabilities, dtype=np.float64)
        return (
            np.atleast_2d(given) if given.size else np.full((1, len(self.sets)), 1 / len(self.sets))
        )

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Probability of each ``Nature``, shape (V,)."""
        count = len(self.table)
        return np.asarray(self.natures) if len(self.natures) else np.full(count, 1 / count)

    @property
    def scope(self) -> str:
        """What a statement about this world speaks of."""
        if len(self.weight) == 1:
            return "this one distribution"
        return f"this prior, on average over the {len(self.weight)} natures"

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, and the index of their ``Nature``."""
        nature = rng.choice(len(self.weight), size=trials, p=self.weight)
        return Draw(self.sets[self._pick(nature, rng)], nature)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw a data set from the same ``Nature``."""
        return self.sets[self._pick(draw.nature, rng)]

    def _pick(self, nature: Array, rng: np.random.Generator) -> Array:
        steps = np.cumsum(self.table, axis=1)[:, :-1]
        return (rng.random(len(nature))[:, None] >= steps[nature]).sum(axis=1)

    def count(self) -> int:
        """Return the number of data sets."""
        return len(self.sets)

    def enumerate(self) -> Enumeration:
        """Write the world out."""
        none = np.zeros(len(self.weight), dtype=np.int64)
        return Enumeration(self.sets, self.weight, self.table, self.table, none)
