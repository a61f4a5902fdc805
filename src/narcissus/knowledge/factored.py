"""The same attacker where many columns are unknown: what is known of them is a product of factors.

The joint values of the unknown columns are never listed. Secrets and guesses are value numbers of
each column, shape (n, columns).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.knowledge.columns import require_same_columns
from narcissus.mechanisms.queries import Cells, Codes, TableQueries
from narcissus.priors.base import RecordPrior
from narcissus.priors.best_guess import BestGuess, at_least_right, best_guess, most_rounds
from narcissus.priors.elimination import log_probability, marginals, most_likely, sample
from narcissus.priors.factors import Factored, Factors
from narcissus.success.codes import CodesRight
from narcissus.worlds.base import Array, Draw, World

Floats = NDArray[np.float64]

DRAWS = 1_000
"""Values drawn of each person's secret to choose a guess by, where none is known to be best."""

CANDIDATES = 64


@dataclass(frozen=True, eq=False)
class FactoredTargets:
    """The people of one release, as the attacker knows them beforehand.

    Attributes
    ----------
    queries
        Which tables are released.
    codes
        Value numbers of every column, shape (n, d); zeros in the unknown columns.
    factors
        What is known of the unknown columns given the known ones.
    success
        When a guess counts.
    """

    queries: TableQueries
    codes: Codes
    factors: Factors
    success: CodesRight

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.codes.shape[0]

    @cached_property
    def bases(self) -> tuple[Cells, ...]:
        """First cell of each person in each table, one array (n, tables) for each pattern."""
        return self.queries.bases(self.codes)

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
        found, row = self._searched
        return found.guess[row]

    @property
    def best_limit(self) -> Floats:
        """What the chance of no guess about a person exceeds before any release, shape (n,).

        That of `best_guess` where it is known to be the best.
        """
        if self.success.columns.exact or self.success.by_column:
            return self.best_chance
        found, row = self._searched
        return np.where(found.is_best[row], self.best_chance, found.limit[row])

    @cached_property
    def _searched(self) -> tuple[BestGuess, NDArray[np.intp]]:
        """The best guess of people who differ, by branch and bound, and which is each person's.

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
            self.success.least_risk(own, weights, np.stack([one, mode, *own[:CANDIDATES]]))
            for own, one, mode in guesses
        ]
        covers, needed = self.success.covers(), self.success.needed
        rounds = most_rounds(different, covers)
        return best_guess(different, needed, covers, rounds, np.stack(start)), row

    @cached_property
    def best_chance(self) -> Floats:
        """The exact chance that `best_guess` counts, shape (n,)."""
        return self.chance(self.best_guess)

    def chance(self, guess: NDArray[np.integer]) -> Floats:
        """Return the exact chance that one guess about each person counts, shape (n,).

        Of a criterion that counts in part, what the guess is worth on average.
        """
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
        """Return what somebody knows who is told the secrets of these people besides."""
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
    """What an attacker knows about each person who is told the secrets of all the others."""

    targets: FactoredTargets  # The people as the game tells them
    # Everybody's unknown columns, shape (n, columns); about person ``i`` only the entries of
    # the others may be used
    secrets: Codes


@dataclass(frozen=True)
class FactoredColumns:
    """Everybody's columns but the unknown ones, and how likely the values of these are.

    As `narcissus.knowledge.OtherColumns`, for any number of unknown columns.

    Parameters
    ----------
    prior
        The distribution of a record, which can be given as factors.
    queries
        Which tables will be released; they say which columns are unknown.
    success
        When a guess counts.
    """

    prior: RecordPrior
    queries: TableQueries
    success: CodesRight

    def check(self, world: World) -> None:
        """Refuse a prior of other columns than those of the tables, or one without factors."""
        require_same_columns(self.prior, self.queries)
        if not isinstance(self.prior, Factored):
            raise InputError(no_factors(self.prior, self.queries))

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> list[FactoredTargets]:
        """Return the people of each trial as known beforehand; no attack can change them."""
        return [self._targets(people) for people in draw.data]

    def fresh(
        self, world: World, draw: Draw, known: Sequence[FactoredTargets], rng: np.random.Generator
    ) -> Array:
        """Draw the unknown columns anew, as likely as the prior says given the known ones."""
        return np.stack([self._again(targets, rng) for targets in known])

    def _targets(self, people: Codes) -> FactoredTargets:
        assert isinstance(self.prior, Factored)
        known = people.copy()
        known[:, list(self.queries.unknown)] = 0
        known.setflags(write=False)
        factors = self.prior.factors(known, self.queries.unknown)
        return FactoredTargets(self.queries, known, factors, self.success)

    def _again(self, targets: FactoredTargets, rng: np.random.Generator) -> Codes:
        people = targets.codes.copy()
        people[:, list(self.queries.unknown)] = sample(targets.factors, 1, rng=rng)[:, 0]
        return people


def no_factors(prior: RecordPrior, queries: TableQueries) -> str:
    """State that a prior can only list joint values, and how many there would be."""
    shape = queries.unknown_shape
    return (
        f"the {len(shape)} unknown columns have {queries.values:,} joint values "
        f"({' x '.join(map(str, shape))}), too many to be listed, and {type(prior).__name__} has "
        "no `factors`, by which they need not be: take the prior `bayesian-network` or "
        "`independent`, give an own prior that method (see docs/tables-and-priors.md), or take "
        "fewer or coarser unknown columns"
    )
