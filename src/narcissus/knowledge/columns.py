"""The attacker knows the other columns of everybody; or, besides, everybody else's secrets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus.errors import InputError
from narcissus.knowledge.types import Types, row_keys
from narcissus.mechanisms.queries import Cells, Codes, TableQueries
from narcissus.priors import RecordPrior
from narcissus.success.table import ColumnsRight
from narcissus.worlds.base import Array, Draw, World

Floats = NDArray[np.float64]
Joint = NDArray[np.int64]

ENTRIES = 1 << 21  # of beliefs that are worked on at a time: 16 MB


@dataclass(frozen=True, eq=False)
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

    queries: TableQueries
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
    def types(self) -> Types:
        """Which people are alike: equal in their known columns and in their prior."""
        known = self.queries.known
        keys = row_keys(self.codes[:, list(known)], [self.queries.sizes[c] for c in known])
        return Types.by(keys).split(self.prior)

    @cached_property
    def marginals(self) -> tuple[Floats, ...]:
        """The chances of each unknown column's values, shapes (n, size)."""
        shape = self.queries.unknown_shape
        table, axes = self.prior.reshape(self.people, *shape), range(1, len(shape) + 1)
        return tuple(table.sum(axis=tuple(a for a in axes if a != c)) for c in axes)

    @cached_property
    def chances(self) -> Floats:
        """Chance of each guess about each person before any release, shape (n, guesses)."""
        return self.prior if self.success.exact else self.each(self.success.chances)

    @cached_property
    def alike(self) -> Types:
        """Which people have the same prior, whatever is known of them."""
        return Types.of_rows(self.prior)

    def each(self, answer: Callable[[Floats], Floats]) -> Floats:
        """Answer each different prior once, and give everybody theirs, shape (n, ...).

        Parameters
        ----------
        answer
            From priors, shape (m, values), to something about each, shape (m, ...), that depends
            on nobody else; it is asked for some of them at a time.
        """
        rows = self.prior[self.alike.first]
        step = max(1, ENTRIES // rows.shape[1])
        parts = [answer(rows[start : start + step]) for start in range(0, len(rows), step)]
        return np.concatenate(parts)[self.alike.of]

    @cached_property
    def best_guess(self) -> Joint:
        """The guess about each person that is likeliest to count before any release, (n,)."""
        return first_largest(self.chances)

    @property
    def best_chance(self) -> Floats:
        """The chance that `best_guess` counts, shape (n,)."""
        return self.chances[np.arange(self.people), self.best_guess]

    def column_chances(self, guess: Joint) -> Floats:
        """Return the chance that each column of a guess is right, shape (n, columns)."""
        return self.success.column_chances(self.prior, guess)

    def secrets(self, people: Codes) -> Joint:
        """Return everybody's joint value of the unknown columns, shape (n,)."""
        return self.queries.joint(people)

    def secret_chance(self, secrets: NDArray[np.integer]) -> Floats:
        """Return how likely everybody's secret was beforehand, shape (n,)."""
        return self.prior[np.arange(self.people), secrets]

    def insider(self, people: Codes) -> Insider:
        """Return what somebody knows who is told the secrets of these people besides."""
        return Insider(self, self.secrets(people))

    @cached_property
    def bases(self) -> tuple[Cells, ...]:
        """First cell of each person in each table, one array (n, tables) for each pattern."""
        return self.queries.bases(self.codes)

    @cached_property
    def shared(self) -> tuple[NDArray[np.int32], ...]:
        """In how many tables two people share the known part, (n, n) for each pattern."""
        return self.queries.shared(self.codes)


@dataclass(frozen=True, eq=False)
class Insider:
    """What an attacker knows about each person who is told the secrets of all the others."""

    targets: Targets  # The people as the game tells them
    # Everybody's joint value of the unknown columns, shape (n,); about person ``i`` only the
    # entries of the others may be used
    secrets: Joint


@dataclass(frozen=True)
class OtherColumns:
    """Everybody's columns but the unknown ones, and how likely the values of these are.

    Parameters
    ----------
    prior
        The distribution of a record, from which people's chances are computed.
    queries
        Which tables will be released; they say which columns are unknown.
    success
        When a guess counts.
    """

    prior: RecordPrior
    queries: TableQueries
    success: ColumnsRight

    def check(self, world: World) -> None:
        """Refuse a prior of other columns than those of the tables."""
        require_same_columns(self.prior, self.queries)

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> list[Targets]:
        """Return the people of each trial as known beforehand; no attack can change them.

        Raises
        ------
        InputError
            The prior of a user gives something else than probabilities.
        """
        return [self._targets(people) for people in draw.data]

    def fresh(
        self, world: World, draw: Draw, known: Sequence[Targets], rng: np.random.Generator
    ) -> Array:
        """Draw the unknown columns anew, as likely as the prior says given the known ones.

        That is the world's own data set given what was told if the prior is right about the
        people; about real rows it is an assumption.
        """
        return np.stack([self._again(targets, rng) for targets in known])

    def _targets(self, people: Codes) -> Targets:
        known = people.copy()
        known[:, list(self.queries.unknown)] = 0
        beliefs = np.asarray(self.prior.conditional(known, self.queries.unknown), dtype=float)
        _check_beliefs(beliefs, len(people), self.queries.values)
        known.setflags(write=False)
        beliefs.setflags(write=False)
        return Targets(self.queries, known, beliefs, self.success)

    def _again(self, targets: Targets, rng: np.random.Generator) -> Codes:
        values = self.queries.values
        chance, drawn = rng.random(targets.people), np.empty(targets.people, dtype=np.int64)
        step = max(1, ENTRIES // values)
        for start in range(0, targets.people, step):
            block = slice(start, start + step)
            edges = np.cumsum(targets.prior[block], axis=1)
            drawn[block] = (chance[block, None] * edges[:, -1:] >= edges).sum(axis=1)
        people = targets.codes.copy()
        drawn = np.minimum(drawn, values - 1)
        people[:, list(self.queries.unknown)] = self.queries.split(drawn)
        return people


@dataclass(frozen=True)
class OtherSecrets:
    """Everybody else's secrets, besides what `OtherColumns` tells: the ceiling's knowledge."""

    def add(self, draw: Draw, known: Sequence[Targets]) -> list[Insider]:
        """Add the secrets to what is known in each trial."""
        pairs = zip(known, draw.data, strict=True)
        return [targets.insider(people) for targets, people in pairs]


def require_same_columns(prior: RecordPrior, queries: TableQueries) -> None:
    if tuple(prior.sizes) != queries.sizes:
        raise InputError(
            f"the prior has columns of {tuple(prior.sizes)} values, the tables of {queries.sizes}"
        )


def _check_beliefs(beliefs: Floats, people: int, values: int) -> None:
    """Refuse conditional probabilities of a user's prior that are none."""
    if beliefs.shape != (people, values):
        raise InputError(
            f"the prior's `conditional` must give shape ({people}, {values}), got {beliefs.shape}"
        )
    sums = beliefs.sum(axis=1)
    if not (beliefs >= 0).all() or np.abs(sums - 1).max() > 1e-6:
        raise InputError(
            "the prior's `conditional` must give probabilities whose rows sum to 1, got sums "
            f"from {sums.min():.6g} to {sums.max():.6g}"
        )
