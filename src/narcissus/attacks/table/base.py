"""What an attacker of noisy marginals sees, and what an attack is.

To bring your own attack, write a class with `guess` and name it in the study as
``module:attribute``; everything that it may use is in the `View`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus.mechanisms.marginals import Codes, MarginalQueries
from narcissus.mechanisms.noise import Noise
from narcissus.success.table import ColumnsRight

Floats = NDArray[np.float64]
Joint = NDArray[np.int64]


@dataclass(frozen=True)
class Targets:
    """The people of one release, as the attacker knows them beforehand.

    Attributes
    ----------
    queries
        Which tables are released.
    codes
        Value numbers of every column, shape (n, d); zeros in the unknown columns.
    prior
        Probabilities of the joint values of the unknown columns given the known ones, shape
        (n, values).
    success
        When a guess counts.
    """

    queries: MarginalQueries
    codes: Codes
    prior: Floats
    success: ColumnsRight

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.codes.shape[0]

    @cached_property
    def log_prior(self) -> Floats:
        """Logarithm of ``prior``; impossible values have minus infinity."""
        with np.errstate(divide="ignore"):
            return np.log(self.prior)

    @cached_property
    def bases(self) -> tuple[NDArray[np.int64], ...]:
        """First cell of each person in each table, one array (n, tables) for each pattern."""
        return tuple(p.base(self.codes) for p in self.queries.patterns)

    @cached_property
    def agreements(self) -> NDArray[np.int64]:
        """On how many known columns each two people agree, shape (n, n)."""
        count = np.zeros((self.people, self.people), dtype=np.int64)
        for column in self.queries.known:
            values = self.codes[:, column]
            count += values[:, None] == values
        return count


@dataclass(frozen=True)
class View:
    """Everything an attack may use.

    Attributes
    ----------
    targets
        The people as known beforehand.
    noise
        The noise that the release was made with: the attacker knows the mechanism.
    release
        The released cells, shape (cells,), in counts.
    secrets
        Joint values of the unknown columns, shape (n,); only for an attack that declares
        ``informed`` (the ceiling), None for every other.
    """

    targets: Targets
    noise: Noise
    release: Floats
    secrets: Joint | None = None


class Attack(Protocol):
    """An attack on noisy marginals."""

    @property
    def title(self) -> str:
        """What the attack does, in one line."""
        ...

    @property
    def uses(self) -> str:
        """What it uses: 'prior', 'release', 'prior and release'."""
        ...

    @property
    def informed(self) -> bool:
        """Whether it must be told everybody else's secrets."""
        ...

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Guess every person's unknown columns, shape (n,), in ``[0, success.guesses)``.

        ``view.targets.success.decide`` turns beliefs into guesses, ``.guess_of`` joint values.
        """
        ...
