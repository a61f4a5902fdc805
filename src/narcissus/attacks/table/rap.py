"""RAP, the published attack: fit relaxed rows to the released marginals by gradient descent.

Dick et al. 2023 and Aydore et al. 2021, adapted to known columns as in Swanberg et al. 2025,
section 6.1: one-hot rows relaxed to softmax probabilities per unknown column, the known columns
frozen; each step draws queries with probability proportional to their absolute error and takes
an Adam step on the L2 norm of the drawn errors over their number; rounded at the end.

A relaxed person has probabilities instead of a value in each unknown column; their part in a cell
is the product of those of the cell's values. Every query has an answer, but only those drawn have
a slope: of tables of several unknown columns, which have far more cells than are drawn, slopes
are taken cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._arrays import Floats
from narcissus._validation import integer, positive
from narcissus.attacks.table.base import (
    Joint,
    OneByOne,
    ReleaseByRelease,
    View,
    group_members,
    softmax,
    within_reach,
)
from narcissus.knowledge.columns import FactoredTargets, Targets
from narcissus.mechanisms.noise import Counts
from narcissus.mechanisms.queries import Grouping, Pattern
from narcissus.success.table import Codes

Places = NDArray[np.int64]

ENTRIES = 1 << 21  # of people by drawn cells that are worked on at a time: 16 MB


@dataclass(frozen=True, eq=False)
class _Tables:
    """The tables of one pattern."""

    pattern: Pattern  # Their unknown columns
    factors: tuple[int, ...]  # Which factors they multiply, in the order of the columns
    people: Any  # Who can fall into each of the first cells that occur, shape (first cells, n)
    # Whether there is one table, of unknown columns alone: everybody can fall into each cell
    is_of_all: bool
    answers: Floats  # What is released of them, divided by the people, shape (first cells, size)

    @cached_property
    def cells(self) -> Any:
        """Into which of the first cells each can fall, shape (n, first cells)."""
        return self.people.T.tocsr()

    def joint(self, factors: list[Floats]) -> Floats:
        """Multiply factors: (n, size of the pattern)."""
        joint = factors[0]
        for factor in factors[1:]:
            joint = (joint[:, :, None] * factor[:, None, :]).reshape(len(joint), -1)
        return joint

    def counts(self, factors: list[Floats]) -> Floats:
        """Count relaxed people in every cell, shape (first cells, size)."""
        column_factors = [factors[f] for f in self.factors]
        if self.is_of_all and len(column_factors) > 1:
            return (self.joint(column_factors[:-1]).T @ column_factors[-1]).reshape(1, -1)
        return self.people @ self.joint(column_factors)


class RelaxedTables:
    """Answers of relaxed people to the released queries, and the slope of the loss."""

    def __init__(self, targets: Targets | FactoredTargets, release: Floats) -> None:
        queries = targets.queries
        self._n = n = targets.people
        names = {
            (c, id(g)): (c, g)
            for pattern in queries.patterns
            for c, g in zip(pattern.columns, pattern.groupings, strict=True)
        }
        self._factors: list[tuple[int, Grouping | None]] = list(names.values())
        place = {name: number for number, name in enumerate(names)}
        self._tables: list[_Tables] = []
        reached = np.zeros(queries.cells, dtype=bool)
        for pattern, base in zip(queries.patterns, targets.bases, strict=True):
            group, cells = within_reach(base, pattern.size)
            reached[cells] = True
            columns = zip(pattern.columns, pattern.groupings, strict=True)
            factors = tuple(place[c, id(g)] for c, g in columns)
            is_of_all = len(cells) == pattern.tables == 1
            members = group_members(group, len(cells))
            self._tables.append(_Tables(pattern, factors, members, is_of_all, release[cells] / n))
        # Queries that no row can ever answer keep their error: they are drawn, as published,
        # and count in the norm, but pull at nothing. Their draws need no work a step.
        lost = np.abs(release[~reached]) / n
        self._lost = np.cumsum(lost)
        self._lost_squares = lost**2
        self._starts = np.cumsum([0, *(tables.answers.size for tables in self._tables)])
        self._drawn = _DrawnCells(self._tables, self._starts, len(names))

    def slopes(
        self, blocks: list[Floats], drawn: int, rng: np.random.Generator
    ) -> list[Floats] | None:
        """Return the slope of the loss in each column's probabilities; None if it is zero.

        Queries are ``drawn`` with probability proportional to their absolute error.
        """
        factors = [blocks[c] if g is None else blocks[c] @ g.members for c, g in self._factors]
        errors = [tables.counts(factors) / self._n - tables.answers for tables in self._tables]
        flat = np.concatenate([e.ravel() for e in errors])
        pull = self._pull(flat, drawn, rng)
        if pull is None:
            return None
        factor_slopes = [np.zeros_like(factor) for factor in factors]
        for tables, start, error in zip(self._tables, self._starts, errors, strict=False):
            if len(tables.factors) == 1:
                part = pull[start : start + error.size].reshape(error.shape)
                factor_slopes[tables.factors[0]] += tables.cells @ part
        self._drawn.add(factor_slopes, factors, pull)
        slopes = [np.zeros_like(block) for block in blocks]
        for (c, grouping), slope in zip(self._factors, factor_slopes, strict=True):
            slopes[c] += slope if grouping is None else slope @ grouping.members.T
        return slopes

    def _pull(self, errors: Floats, drawn: int, rng: np.random.Generator) -> Floats | None:
        """Draw queries; give the slope of the loss in each answer, None where it is zero."""
        weights = np.cumsum(np.abs(errors))
        lost_weight = float(self._lost[-1]) if self._lost.size else 0.0
        total = float(weights[-1]) + lost_weight
        if not total > 0:
            return None
        away = int(rng.binomial(drawn, lost_weight / total)) if lost_weight else 0
        # in order, which is found three times as fast: only how often each is drawn counts
        drawn_at = np.sort(rng.random(drawn - away) * weights[-1])
        hits = np.searchsorted(weights, drawn_at, side="right")
        times = np.bincount(np.minimum(hits, errors.size - 1), minlength=errors.size)
        square = float((times * errors**2).sum())
        if away:
            lost = np.searchsorted(self._lost, rng.random(away) * lost_weight, side="right")
            square += float(self._lost_squares[np.minimum(lost, self._lost.size - 1)].sum())
        if square == 0:
            return None
        return times * errors / (np.sqrt(square) * drawn * self._n)


class _DrawnCells:
    """The slopes of tables of several unknown columns, at the cells that were drawn.

    Of a cell, the slope in one of its values' probabilities is the product of the others, of the
    people who can fall into it.
    """

    def __init__(self, tables: list[_Tables], starts: Places, factors: int) -> None:
        self._starts = starts
        self._columns = np.array([len(table.factors) for table in tables])
        self._size = np.array([table.pattern.size for table in tables])
        sizes = np.zeros(factors, dtype=np.int64)
        for table in tables:
            sizes[list(table.factors)] = table.pattern.shape
        offsets = np.cumsum([0, *sizes.tolist()])
        self._offsets, self._values = offsets[:-1], int(offsets[-1])
        self._people = sparse.csr_array(sparse.vstack([table.people for table in tables]))
        self._rows = np.cumsum([0, *(table.people.shape[0] for table in tables)])[:-1]
        width = int(self._columns.max())
        self._first = np.zeros((len(tables), width), dtype=np.int64)
        self._shape = np.ones((len(tables), width), dtype=np.int64)
        for number, table in enumerate(tables):
            count = len(table.factors)
            self._first[number, :count] = self._offsets[list(table.factors)]
            self._shape[number, :count] = table.pattern.shape
        # of the values that come after each column's
        self._stride = np.cumprod(self._shape[:, ::-1], axis=1)[:, ::-1] // self._shape

    def add(self, slopes: list[Floats], factors: list[Floats], pull: Floats) -> None:
        if self._columns.max() < 2:
            return
        cells = np.flatnonzero(pull)
        tables = np.searchsorted(self._starts, cells, side="right") - 1
        probabilities = np.ascontiguousarray(np.concatenate(factors, axis=1).T)
        total = np.zeros_like(probabilities)
        step = max(1, ENTRIES // probabilities.shape[1])
        for columns in range(2, int(self._columns.max()) + 1):
            mask = self._columns[tables] == columns
            where, which = cells[mask], tables[mask]
            for start in range(0, where.size, step):
                block = slice(start, start + step)
                self._one(total, probabilities, where[block], which[block], columns, pull)
        for number, first in enumerate(self._offsets):
            slopes[number] += total[first : first + slopes[number].shape[1]].T

    def _one(
        self,
        total: Floats,
        probabilities: Floats,
        cells: Places,
        tables: Places,
        columns: int,
        pull: Floats,
    ) -> None:
        """Add what cells of tables of so many columns say, shapes (values, n)."""
        row, value = np.divmod(cells - self._starts[tables], self._size[tables])
        values = value[:, None] // self._stride[tables] % self._shape[tables]
        places = (self._first[tables] + values)[:, :columns]
        weight = self._people[self._rows[tables] + row].toarray() * pull[cells, None]
        parts = [probabilities[places[:, c]] for c in range(columns)]
        for c in range(columns):
            slope = weight
            for o in range(columns):
                slope = slope if o == c else slope * parts[o]
            index = (np.ones(cells.size), (places[:, c], np.arange(cells.size)))
            total += sparse.csr_array(index, shape=(self._values, cells.size)) @ slope


@dataclass(frozen=True)
class RelaxedProjection(ReleaseByRelease):
    """The published attack RAP: fit relaxed rows to the released tables by gradient descent.

    start: 'random' (as published for reconstruction) or 'prior' (as published for known priors).
    steps: Gradient steps, at least 1.
    queries: Queries drawn in each step, at least 1.
    rate: Adam's step size, above 0.
    starts: Random starts; with several, each person's most frequent value wins, which ranks guesses
        by confidence as in the published attack.
    rounding: 'largest' entry of each block, or 'sample' from it.
    """

    start: Literal["random", "prior"] = "random"
    steps: int = 1000
    queries: int = 1024
    rate: float = 0.1
    starts: int = 1
    rounding: Literal["largest", "sample"] = "largest"

    def __post_init__(self) -> None:
        for name in ("steps", "queries", "starts"):
            integer(name, getattr(self, name), low=1)
        positive("rate", self.rate)

    @property
    def title(self) -> str:
        start = "from the prior" if self.start == "prior" else "at random"
        return f"RAP as published, started {start}"

    @property
    def uses(self) -> str:
        return "prior and release" if self.start == "prior" else "release"

    def why_below(self, columns: int) -> str:
        start = (
            "it starts from the prior and leaves it: its steps do not grow smaller with the errors"
            if self.start == "prior"
            else "it starts at random and never looks at the prior"
        )
        why = (
            f"{start}, and what it descends is the distance from the released counts alone, which "
            "no prior holds back: where noise or other people weigh more in a count than the one "
            "who is asked about, the fit follows those"
        )
        if columns == 1:
            return why
        return (
            f"{why}; and each unknown column is rounded by itself, so that what ties their values "
            "together is lost"
        )

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Fit, round, and take the most frequent value over the starts."""
        return view.targets.success.join_guess(self.codes(view.targets, view.release, rng))

    def codes(
        self, targets: Targets | FactoredTargets, release: Floats, rng: np.random.Generator
    ) -> Codes:
        """Return the values that are guessed, column by column, shape (n, columns).

        Of several starts each person's most frequent values, of equals the first in order.
        """
        model = RelaxedTables(targets, release)
        solutions: list[Codes] = []
        for _ in range(self.starts):
            blocks = self._fit(model, self._first(targets, rng), rng)
            picked = [self._round(block, rng) for block in blocks]
            solutions.append(np.stack(picked, axis=-1).astype(np.int32))
        if self.starts == 1:
            return solutions[0]
        return np.stack([_most_frequent(choices) for choices in np.stack(solutions, axis=1)])

    def _first(self, targets: Targets | FactoredTargets, rng: np.random.Generator) -> list[Floats]:
        """Return the first logits of each unknown column."""
        if self.start == "random":
            shape = targets.queries.unknown_shape
            return [rng.normal(size=(targets.people, size)) for size in shape]
        return [np.log(np.maximum(m, 1e-12)) for m in targets.marginals]

    def _fit(
        self, model: RelaxedTables, logits: list[Floats], rng: np.random.Generator
    ) -> list[Floats]:
        """Take the gradient steps; give the probabilities of each column."""
        # All columns in one array, so that Adam is three operations a step.
        edges = np.cumsum([0, *(block.shape[1] for block in logits)])
        flat = np.concatenate(logits, axis=1)
        first, second = np.zeros_like(flat), np.zeros_like(flat)
        spans = [slice(a, b) for a, b in pairwise(edges.tolist())]
        for step in range(1, self.steps + 1):
            blocks = [softmax(flat[:, span]) for span in spans]
            slopes = model.slopes(blocks, self.queries, rng)
            if slopes is None:  # every answer is met
                break
            gradient = np.concatenate(
                [
                    p * (g - (p * g).sum(axis=1, keepdims=True))
                    for p, g in zip(blocks, slopes, strict=True)
                ],
                axis=1,
            )
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            flat -= self.rate / (1 - 0.9**step) * first / scale
        return [softmax(flat[:, span]) for span in spans]

    def _round(self, block: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
        if self.rounding == "largest":
            return block.argmax(axis=1)
        drawn = (block.cumsum(axis=1) < rng.random((block.shape[0], 1))).sum(axis=1)
        return np.minimum(drawn, block.shape[1] - 1)


@dataclass(frozen=True)
class FactoredProjection(OneByOne):
    """RAP of any number of unknown columns: one softmax block for each, as ever, and no joint."""

    attack: RelaxedProjection  # How it descends

    @property
    def title(self) -> str:
        return self.attack.title

    @property
    def uses(self) -> str:
        return self.attack.uses

    def why_below(self, columns: int) -> str:
        return self.attack.why_below(columns)

    def about(self, release: Counts, told: FactoredTargets, rng: np.random.Generator) -> Codes:
        return self.attack.codes(told, release.cells, rng)


def _most_frequent(rows: Codes) -> Codes:
    """Return the row that is there most often, of equals the first in order."""
    different, times = np.unique(rows, axis=0, return_counts=True)
    return different[int(times.argmax())]
