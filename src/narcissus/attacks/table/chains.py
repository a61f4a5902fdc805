"""Gibbs sampling column by column: the joint values of the unknown columns are never listed.

A person is taken out of the counts; each of the unknown columns is drawn in turn given the present
values of the person's others, from the prior's factors that hold it and the residuals of the cells
into which each of its values would lead; then the person is put back. Several chains run side by
side and share the arithmetic. Exact for Gaussian and for Laplace noise: what is approximate is that
chains are finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table.base import softmax
from narcissus.attacks.table.places import ColumnSteps
from narcissus.mechanisms.noise import GaussianNoise, Noise
from narcissus.priors.factors import Factors

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

LEAST_LOG = -1e3
"""What stands for the logarithm of 0: a prior that rules out what the release says gives way."""


@dataclass(frozen=True)
class _Part:
    """A factor as a column sees it: a row of logarithms for each value of the other columns."""

    table: Floats
    """Shape (rows times other values, size of the column)."""
    rows: NDArray[np.intp]
    """The first row of each person, shape (n,)."""
    others: list[int]
    strides: NDArray[np.intp]


class Blankets:
    """The logarithm of the prior of one column given all others of the same person.

    Parameters
    ----------
    factors
        The prior.
    """

    def __init__(self, factors: Factors) -> None:
        self._parts: list[list[_Part]] = [[] for _ in factors.shape]
        for scope, table in zip(factors.scopes, factors.tables, strict=True):
            shared = table.strides[0] == 0  # the same for everybody: one row is enough
            own = np.maximum(table[:1] if shared else table, LEAST_LOG)
            rows = np.zeros_like(factors.rows) if shared else factors.rows
            for axis, column in enumerate(scope):
                others = [c for c in scope if c != column]
                sizes = [factors.shape[c] for c in others]
                strides = np.cumprod([1, *sizes[::-1]])[::-1]
                moved = np.moveaxis(own, 1 + axis, -1).reshape(-1, factors.shape[column])
                part = _Part(np.ascontiguousarray(moved), rows * strides[0], others, strides[1:])
                self._parts[column].append(part)

    def logits(self, person: int, column: int, values: NDArray[np.integer]) -> Floats:
        """Return it for every value of the column, shape (chains, size) or broadcast to it.

        values: the person's present values, shape (chains, columns).
        """
        total: Floats | None = None
        for part in self._parts[column]:
            index = part.rows[person] + values[:, part.others] @ part.strides
            found = part.table[index]
            total = found if total is None else total + found
        assert total is not None  # a column of a distribution stands in some factor
        return total


class ColumnDraws:
    """One person's columns drawn in turn, given the residuals without that person.

    Parameters
    ----------
    factors
        The prior.
    steps
        Where people fall.
    noise
        On every cell.
    """

    def __init__(self, factors: Factors, steps: ColumnSteps, noise: Noise) -> None:
        self._shape = factors.shape
        self._steps = steps
        self._noise = noise
        self._blankets = Blankets(factors)

    def draw(
        self,
        i: int,
        values: NDArray[np.intp],
        cells: NDArray[np.intp],
        residual: Floats,
        rng: np.random.Generator,
        weight: float = 1.0,
        tally: Sequence[Floats] | None = None,
    ) -> None:
        """Draw every column of person ``i`` once in each chain, in any order.

        values: present values, shape (chains, columns); replaced.
        cells: into which the person falls with these, shape (chains, tables); replaced.
        residual: what is released less what is counted without the person, by cell number.
        rng: source of the draws.
        weight: of the release against the prior: less than 1 while chains find their places.
        tally: to which the chances are added from which columns are drawn: for each column, shape
            (n, size).
        """
        uniform = rng.random((len(self._shape), len(values), 1))
        for c in rng.permutation(len(self._shape)):
            held, steps = self._steps.tables[c], self._steps.steps[c]
            bare = cells.take(held, axis=1) - steps[values[:, c]]  # as if the value were 0
            fields = self._gain(residual.take(bare[:, None, :] + steps))
            chances = softmax(self._blankets.logits(i, c, values) + weight * fields)
            values[:, c] = (chances.cumsum(axis=1)[:, :-1] <= uniform[c]).sum(axis=1)
            cells[:, held] = bare + steps[values[:, c]]
            if tally is not None:
                tally[c][i] += chances.sum(axis=0)

    def _gain(self, residual: Floats) -> Floats:
        """Sum over tables by how much one more person in these cells raises the log density."""
        if isinstance(self._noise, GaussianNoise):
            return (residual.sum(axis=-1) - residual.shape[-1] / 2) / self._noise.scale**2
        return self._noise.gain(residual).sum(axis=-1)


class ColumnChains(ColumnDraws):
    """Chains over everybody's unknown columns, all with the same release.

    Parameters
    ----------
    factors, steps, noise
        As in `ColumnDraws`.
    start
        Everybody's values in each chain, shape (n, chains, columns).
    """

    def __init__(
        self, factors: Factors, steps: ColumnSteps, noise: Noise, start: NDArray[np.integer]
    ) -> None:
        super().__init__(factors, steps, noise)
        n, chains, _ = start.shape
        self.values = start.astype(np.intp)
        width = steps.released.size
        self._first = (np.arange(chains) * width)[:, None]
        self._residual = np.tile(steps.released, chains)
        small = chains * width < np.iinfo(np.int32).max
        self._cells = np.empty((n, chains, steps.bases.shape[1]), np.int32 if small else np.intp)
        for i in range(n):
            cells = steps.cells(i, self.values[i]) + self._first
            self._cells[i] = cells
            self._residual[cells] -= 1

    def sweep(
        self,
        rng: np.random.Generator,
        weight: float = 1.0,
        tally: Sequence[Floats] | None = None,
    ) -> None:
        """Draw every column of everybody once; see `ColumnDraws.draw`."""
        for i in range(len(self.values)):
            cells = self._cells[i].astype(np.intp)
            self._residual[cells] += 1
            self.draw(i, self.values[i], cells, self._residual, rng, weight, tally)
            self._residual[cells] -= 1
            self._cells[i] = cells

    def fields(self, i: int, guesses: NDArray[np.integer]) -> Floats:
        """Return the log likelihood of some values of one person, up to a constant in each chain.

        i: the person.
        guesses: shape (guesses, columns).
        Returns Shape (chains, guesses): the others have the values that they have in that chain.
        """
        cells = self._cells[i]
        self._residual[cells] += 1
        places = self._steps.cells(i, guesses)
        found = self._gain(self._residual.take(self._first[:, :, None] + places))
        self._residual[cells] -= 1
        return found


class LonelyChains(ColumnDraws):
    """Chains over one person's unknown columns at a time: those of all others are known.

    Parameters
    ----------
    factors, steps, noise
        As in `ColumnDraws`.
    secrets
        Everybody's unknown columns, shape (n, columns).
    """

    def __init__(
        self, factors: Factors, steps: ColumnSteps, noise: Noise, secrets: NDArray[np.integer]
    ) -> None:
        super().__init__(factors, steps, noise)
        self._own = [steps.cells(i, secrets[i]) for i in range(len(secrets))]
        counts = np.bincount(np.concatenate(self._own), minlength=steps.released.size)
        self._residual = steps.released - counts

    def run(
        self,
        i: int,
        start: NDArray[np.integer],
        weights: Sequence[float],
        rng: np.random.Generator,
        tally: Sequence[Floats],
    ) -> Codes:
        """Draw one person's columns again and again, the others left as they are.

        i: the person.
        start: first values, shape (chains, columns).
        weights: of the release in each pass; those below 1 are thrown away.
        rng: source of the draws.
        tally: as in `ColumnDraws.draw`.
        Returns Shape (draws, columns).
        """
        values = start.astype(np.intp)
        cells = self._steps.cells(i, values)
        residual = self._residual
        residual[self._own[i]] += 1
        kept: list[Codes] = []
        for weight in weights:
            kept_now = weight >= 1
            self.draw(i, values, cells, residual, rng, weight, tally if kept_now else None)
            if kept_now:
                kept.append(values.astype(np.int32))
        residual[self._own[i]] -= 1
        return np.concatenate(kept)

    def fields(self, i: int, guesses: NDArray[np.integer]) -> Floats:
        """Return the log likelihood of some values of one person, shape (1, guesses)."""
        self._residual[self._own[i]] += 1
        found = self._gain(self._residual.take(self._steps.cells(i, guesses)))
        self._residual[self._own[i]] -= 1
        return found[None]


def schedule(sweeps: int, burn: float) -> list[float]:
    """Return the weight of the release in each pass: first from .01 to 1, then 1."""
    first = int(burn * sweeps)
    rising = np.geomspace(0.01, 1, first + 1)[:-1] if first else np.empty(0)
    return [*rising.tolist(), *[1.0] * (sweeps - first)]
