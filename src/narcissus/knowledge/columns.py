"""The attacker knows the other columns of everybody; or, besides, everybody else's secrets.

Where many columns are unknown, their joint values are never listed: what is known of them is a
product of factors, and secrets and guesses are value numbers of each column, shape (n, columns).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats, first_largest
from narcissus.errors import InputError
from narcissus.mechanisms.queries import Cells, Codes, TableQueries
from narcissus.priors import RecordPrior
from narcissus.priors.best_guess import BestGuess, at_least_right, best_guess, most_rounds
from narcissus.priors.elimination import log_probability, marginals, most_likely, sample
from narcissus.priors.factors import Factored, Factors
from narcissus.success.table import ENTRIES, CodesRight, ColumnsRight
from narcissus.worlds.base import Array, Draw, World

Joint = NDArray[np.int64]
Keys = NDArray[np.int64]

WIDEST = 2**62  # of a key that is still a whole number of 64 bits
BLOCK = 1 << 16  # people whose rows are compared at a time
MIX = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplying by it loses nothing


@dataclass(frozen=True, eq=False)
class Types:
    """Classes of people who are alike, so that one computation serves all of a type."""

    first: NDArray[np.intp]  # the first person of each type, shape (types,)
    of: NDArray[np.intp]  # the type of each person, shape (people,)
    people: NDArray[np.intp]  # number of people of each type, shape (types,)

    @classmethod
    def by(cls, keys: Keys) -> Types:
        """Return the types of people whose keys are equal, shape (people,)."""
        _, first, of, people = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(first, of, people)

    @classmethod
    def of_rows(cls, rows: NDArray[np.float64]) -> Types:
        """Return the types of people whose rows are equal, shape (people, columns)."""
        keys = np.empty(len(rows), dtype=np.uint64)
        for start in range(0, len(rows), BLOCK):
            block = slice(start, start + BLOCK)
            keys[block] = 0
            for column in np.ascontiguousarray(rows[block]).view(np.uint64).T:
                keys[block] = (keys[block] ^ column) * MIX
                keys[block] ^= keys[block] >> np.uint64(29)
        # equal rows have equal keys; of the others some might, and are split
        return cls.by(keys.view(np.int64)).split(rows)

    @property
    def number(self) -> int:
        return len(self.first)

    def split(self, rows: NDArray[np.floating]) -> Types:
        """Return finer types, by rows about people, such as a prior, shape (people, columns)."""
        people = len(self.of)
        differ = np.zeros(people, dtype=bool)
        for start in range(0, people, BLOCK):
            block = slice(start, start + BLOCK)
            differ[block] = (rows[block] != rows[self.first[self.of[block]]]).any(axis=1)
        odd = np.flatnonzero(differ)
        if not odd.size:
            return self
        # those unlike the first of their type are distinguished by the bytes of the row
        row_bytes = np.ascontiguousarray(rows[odd])
        row_bytes = row_bytes.view(
            np.dtype((np.void, row_bytes.dtype.itemsize * row_bytes.shape[1]))
        )[:, 0]
        keys = self.of.astype(np.int64)
        same_row = np.unique(row_bytes, return_inverse=True)[1]
        keys[odd] += self.number * (1 + same_row)
        return Types.by(keys)


def row_keys(codes: NDArray[np.integer], sizes: Sequence[int]) -> Keys:
    """Return numbers that are equal where rows are, from value numbers of columns of ``sizes``."""
    keys = np.zeros(len(codes), dtype=np.int64)
    range_ = 1
    for column, size in enumerate(sizes):
        if range_ * size > WIDEST:  # only the keys that occur count
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            range_ = len(codes)
        keys = keys * size + codes[:, column]
        range_ *= size
    return keys


@dataclass(frozen=True, eq=False)
class _Known:
    """The people of one release as the attacker knows them beforehand."""

    queries: TableQueries  # which tables are released
    codes: Codes  # value numbers of every column, shape (n, d); zeros in the unknown columns

    @property
    def people(self) -> int:
        """Number of people."""
        return self.codes.shape[0]

    @cached_property
    def bases(self) -> tuple[Cells, ...]:
        """First cell of each person in each table, one array (n, tables) for each pattern."""
        return self.queries.bases(self.codes)


@dataclass(frozen=True, eq=False)
class Targets(_Known):
    """The people of one release, and probabilities of the joint values of their unknown columns."""

    prior: Floats  # given the known columns, shape (n, values)
    success: ColumnsRight  # when a guess counts

    @cached_property
    def log_prior(self) -> Floats:
        """Logarithm of ``prior``; impossible values have minus infinity."""
        with np.errstate(divide="ignore"):
            return np.log(self.prior)

    @cached_property
    def types(self) -> Types:
        """Types of people equal in their known columns and in their prior."""
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
        """Types of people with the same prior, whatever is known of them."""
        return Types.of_rows(self.prior)

    def each(self, answer: Callable[[Floats], Floats]) -> Floats:
        """Compute something once for each different prior, shape (n, ...).

        ``answer`` maps priors, shape (m, values), row by row to shape (m, ...); it is called for
        some of them at a time.
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
        """Return what an attacker knows who is told the secrets of these people besides."""
        return Insider(self, self.secrets(people))

    @cached_property
    def shared(self) -> tuple[NDArray[np.int32], ...]:
        """Number of tables in which two people share the known part, (n, n) for each pattern."""
        return self.queries.shared(self.codes)


@dataclass(frozen=True, eq=False)
class Insider:
    """What an attacker knows about each person who is told the secrets of all the others.

    About person ``i`` only the entries of the others in ``secrets`` may be used.
    """

    targets: Targets  # the people as the game tells them
    secrets: Joint  # everybody's joint value of the unknown columns, shape (n,)


KnownT = TypeVar("KnownT", bound=_Known)
SuccessT = TypeVar("SuccessT")


@dataclass(frozen=True)
class _KnownColumns(ABC, Generic[KnownT, SuccessT]):
    """Everybody's columns except the unknown ones, and how likely the values of these are."""

    prior: RecordPrior  # of a record, from which people's chances are computed
    queries: TableQueries  # which tables will be released; they say which columns are unknown
    success: SuccessT  # when a guess counts

    def check(self, world: World) -> None:
        """Refuse a prior of other columns than those of the tables."""
        sizes = tuple(self.prior.sizes)
        if sizes != self.queries.sizes:
            raise InputError(
                f"the prior has columns of {sizes} values, the tables of {self.queries.sizes}"
            )

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> list[KnownT]:
        """Return the people of each trial as known beforehand; no attack can change them."""
        revealed: list[KnownT] = []
        for people in draw.data:
            known = people.copy()
            known[:, list(self.queries.unknown)] = 0
            revealed.append(self._targets(known))
            known.setflags(write=False)
        return revealed

    def fresh(
        self, world: World, draw: Draw, known: Sequence[KnownT], rng: np.random.Generator
    ) -> Array:
        """Draw the unknown columns anew, as likely as the prior says given the known ones.

        That is the world's own data set given what was told if the prior is right about the
        people; about real rows it is an assumption.
        """
        drawn: list[Codes] = []
        for targets in known:
            people = targets.codes.copy()
            people[:, list(self.queries.unknown)] = self._drawn(targets, rng)
            drawn.append(people)
        return np.stack(drawn)

    @abstractmethod
    def _targets(self, known: Codes) -> KnownT: ...

    @abstractmethod
    def _drawn(self, targets: KnownT, rng: np.random.Generator) -> NDArray[np.integer]:
        """Draw everybody's unknown columns, shape (n, columns)."""


@dataclass(frozen=True)
class OtherColumns(_KnownColumns[Targets, ColumnsRight]):
    """Everybody's columns but the unknown ones, and how likely the values of these are."""

    def _targets(self, known: Codes) -> Targets:
        beliefs = np.asarray(self.prior.conditional(known, self.queries.unknown), dtype=float)
        people, values = len(known), self.queries.values
        if beliefs.shape != (people, values):
            raise InputError(
                f"the prior's `conditional` must give shape ({people}, {values}), got "
                f"{beliefs.shape}"
            )
        sums = beliefs.sum(axis=1)
        if not (beliefs >= 0).all() or np.abs(sums - 1).max() > 1e-6:
            raise InputError(
                "the prior's `conditional` must give probabilities whose rows sum to 1, got sums "
                f"from {sums.min():.6g} to {sums.max():.6g}"
            )
        beliefs.setflags(write=False)
        return Targets(self.queries, known, beliefs, self.success)

    def _drawn(self, targets: Targets, rng: np.random.Generator) -> NDArray[np.integer]:
        values = self.queries.values
        chance, drawn = rng.random(targets.people), np.empty(targets.people, dtype=np.int64)
        step = max(1, ENTRIES // values)
        for start in range(0, targets.people, step):
            block = slice(start, start + step)
            edges = np.cumsum(targets.prior[block], axis=1)
            drawn[block] = (chance[block, None] * edges[:, -1:] >= edges).sum(axis=1)
        return self.queries.split(np.minimum(drawn, values - 1))


@dataclass(frozen=True)
class OtherSecrets:
    """Everybody else's secrets, besides what `OtherColumns` tells: the ceiling's knowledge."""

    def add(self, draw: Draw, known: Sequence[Targets]) -> list[Insider]:
        """Add the secrets to what is known in each trial."""
        return [targets.insider(people) for targets, people in zip(known, draw.data, strict=True)]


DRAWS = 1_000
"""Values drawn of each person's secret to choose a guess by, where none is known to be best."""

CANDIDATES = 64


@dataclass(frozen=True, eq=False)
class FactoredTargets(_Known):
    """The people of one release, and factors of the distribution of their unknown columns."""

    factors: Factors  # what is known of the unknown columns given the known ones
    success: CodesRight  # when a guess counts

    @cached_property
    def marginals(self) -> tuple[Floats, ...]:
        """The exact chances of each column's values, shapes (n, size)."""
        return tuple(m[self.factors.rows] for m in marginals(self.factors))

    @cached_property
    def best_guess(self) -> Codes:
        """The best guess found before any release, shape (n, columns).

        The best there is where all columns must be exactly right, and where each counts by itself;
        else see `best_limit`.
        """
        if self.success.columns.exact:
            return most_likely(self.factors)[self.factors.rows]
        if self.success.by_column:
            return self.success.modes(self.marginals)
        search, row = self._searched
        return search.guess[row]

    @property
    def best_limit(self) -> Floats:
        """Upper bound of the chance of any guess before any release, shape (n,).

        The chance of `best_guess` where it is known to be the best.
        """
        if self.success.columns.exact or self.success.by_column:
            return self.best_chance
        search, row = self._searched
        return np.where(search.is_best[row], self.best_chance, search.limit[row])

    @cached_property
    def _searched(self) -> tuple[BestGuess, NDArray[np.intp]]:
        """The best guess of people who differ, by branch and bound, and the index of each person's.

        It starts from the guess that counts most often among draws from the prior.
        """
        distinct, row = np.unique(self.factors.rows, return_inverse=True)
        different = self.factors.of_rows(distinct)
        draws = sample(different, DRAWS, rng=0)  # part of the method, not of the trial
        weights = np.ones(DRAWS)
        guesses = zip(
            draws, most_likely(different), self.success.modes(marginals(different)), strict=True
        )
        start = [
            self.success.least_risk(samples, weights, np.stack([peak, mode, *samples[:CANDIDATES]]))
            for samples, peak, mode in guesses
        ]
        covers, needed = self.success.covers(), self.success.needed
        rounds = most_rounds(different, covers)
        return best_guess(different, needed, covers, rounds, np.stack(start)), row

    @cached_property
    def best_chance(self) -> Floats:
        """The exact chance that `best_guess` counts, shape (n,)."""
        return self.chance(self.best_guess)

    def chance(self, guess: NDArray[np.integer]) -> Floats:
        """Return the exact chance, or mean worth, of one guess about each person, shape (n,)."""
        if self.success.by_column:
            return self.column_chances(guess).mean(axis=1)
        if self.success.columns.exact:
            return np.exp(log_probability(self.factors, guess))
        first, last = self.success.covered(guess)
        return at_least_right(self.factors, first, self.success.needed, last)

    def secrets(self, people: Codes) -> Codes:
        """Return everybody's unknown columns, shape (n, columns)."""
        return people[:, list(self.queries.unknown)]

    def secret_chance(self, secrets: NDArray[np.integer]) -> Floats:
        """Return how likely everybody's secret was beforehand, shape (n,)."""
        return np.exp(log_probability(self.factors, secrets))

    def insider(self, people: Codes) -> FactoredInsider:
        """Return what an attacker knows who is told the secrets of these people besides."""
        return FactoredInsider(self, self.secrets(people))

    def column_chances(self, guess: NDArray[np.integer]) -> Floats:
        """Return the exact chance that each column of a guess is right, shape (n, columns)."""
        people = np.arange(self.people)
        parts = [
            self.success.window_sums(m, c)[people, guess[:, c]]
            for c, m in enumerate(self.marginals)
        ]
        return np.stack(parts, axis=1).clip(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class FactoredInsider:
    """What an `Insider` knows, where secrets are given by column."""

    targets: FactoredTargets
    secrets: Codes  # everybody's unknown columns, shape (n, columns)


@dataclass(frozen=True)
class FactoredColumns(_KnownColumns[FactoredTargets, CodesRight]):
    """As `OtherColumns`, for any number of unknown columns and a prior given as factors."""

    def check(self, world: World) -> None:
        """Refuse a prior of other columns than those of the tables, or one without factors."""
        super().check(world)
        if not isinstance(self.prior, Factored):
            raise InputError(no_factors(self.prior, self.queries))

    def _targets(self, known: Codes) -> FactoredTargets:
        assert isinstance(self.prior, Factored)
        factors = self.prior.factors(known, self.queries.unknown)
        return FactoredTargets(self.queries, known, factors, self.success)

    def _drawn(self, targets: FactoredTargets, rng: np.random.Generator) -> NDArray[np.integer]:
        return sample(targets.factors, 1, rng=rng)[:, 0]


def no_factors(prior: RecordPrior, queries: TableQueries) -> str:
    """State that a prior can only list joint values, and how many there would be."""
    shape = queries.unknown_shape
    return (
        f"the {len(shape)} unknown columns have {queries.values:,} joint values "
        f"({' x '.join(map(str, shape))}), too many to be listed, and {type(prior).__name__} has "
        "no `factors` to avoid that: take the prior `bayesian-network` or "
        "`independent`, give an own prior that method (see docs/guides/tables/priors.md), or take "
        "fewer or coarser unknown columns"
    )
