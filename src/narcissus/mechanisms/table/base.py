"""What a mechanism of a table study offers: a plan, made ready for the columns of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from narcissus.guarantees import Guarantee
from narcissus.mechanisms.noise import Noise
from narcissus.mechanisms.queries import TableQueries
from narcissus.mechanisms.table.columns import Columns

DEFAULT_DELTA = 1e-5
HIGHEST_EPSILON = 1e9


class Prepared(Protocol):
    """A mechanism that knows the columns of its table: everything that a game asks of it."""

    @property
    def queries(self) -> TableQueries:
        """The tables that it releases, or that its rows are counted into."""
        ...

    @property
    def releases(self) -> type:
        """What it releases: `Counts`, `ProtectedCounts`, `Microdata`, or `object`."""
        ...

    @property
    def guarantee(self) -> Guarantee | None:
        """What it guarantees when one person's record is replaced; None for nothing."""
        ...

    @property
    def assumes(self) -> tuple[str, ...]:
        """What must hold for the guarantee to do so: what a user declared, and nobody checked."""
        ...

    @property
    def must_vary(self) -> bool:
        """Whether two equal releases of the same people show a fixed seed of a user's generator."""
        ...

    @property
    def noise(self) -> Noise | None:
        """The independent noise on every cell; None where there are no such cells."""
        ...

    @property
    def cellwise(self) -> bool:
        """Whether each cell depends on its own count alone, by a known density or rule.

        Then what an attacker knows who is told everybody else's secrets can be computed: the
        ceiling, and the exact chance of every guess.
        """
        ...

    def release(self, data: NDArray[np.integer], rng: np.random.Generator) -> list[Any]:
        """Release each data set; ``data`` are value numbers, shape (trials, n, d)."""
        ...


class TableMechanism(ABC):
    """What is planned to be released of a table: a `[mechanism]` of a table study."""

    @property
    @abstractmethod
    def label(self) -> str:
        """A name for tables and figures, such as 'ε = 1' or 'base 5'."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is released, in words that a title can begin with: 'Rounded 3-way tables'."""

    @property
    def strength(self) -> float | None:
        """Grows with protection, to order the levels of a sweep; None where nothing is known."""
        return None

    @abstractmethod
    def prepare(self, columns: Columns) -> Prepared:
        """Return the mechanism for a table of these columns.

        Raises
        ------
        InputError
            It cannot release anything of such a table.
        """

    def point(self, guarantee: Guarantee) -> tuple[float | None, float]:
        """Get one point (epsilon, delta) of the guarantee, to compare; None where it has none."""
        return epsilon_at(guarantee, DEFAULT_DELTA), DEFAULT_DELTA


def epsilon_at(guarantee: Guarantee, delta: float) -> float | None:
    """Return the epsilon at which the profile reaches ``delta``; None where it never does."""
    if not 0 < delta < float(guarantee.profile(0.0)):
        return None
    high = 1.0
    while float(guarantee.profile(high)) > delta:
        high *= 2
        if high > HIGHEST_EPSILON:  # as of (epsilon, delta) with a larger delta
            return None
    return float(optimize.brentq(lambda e: float(guarantee.profile(e)) - delta, 0.0, high))
