"""Simple priors: the rows of a table, independent columns, and one prior a person from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._number_table import read_number_table
from narcissus._random import RandomSource, generator
from narcissus._validation import distribution, integer, non_negative, probability
from narcissus.errors import InputError, TooLargeError
from narcissus.priors.base import (
    Codes,
    Floats,
    check_codes,
    check_columns,
    check_question,
    check_sizes,
    row_keys,
)
from narcissus.priors.factors import Factors
from narcissus.tables import Table

MOST_CELLS = 250_000_000
"""Most cells of distinct records of an empirical prior, each held in 12 bytes while it is made."""


@dataclass(frozen=True, eq=False)
class EmpiricalRows:
    """A distribution over given records, mixed with independent columns of the same marginals.

    A record is one of ``records`` with probability ``1 - smoothing``, and has every column drawn
    independently with probability ``smoothing``. Without smoothing, `conditional` refuses a known
    part that no record has; with smoothing, the unknown columns then follow their marginals.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]  # number of values of each column
    records: Codes  # distinct records, shape (m, d)
    weights: Floats  # their probabilities, shape (m,)
    smoothing: float = 0.0  # in [0, 1]

    def __post_init__(self) -> None:
        check_sizes(self.names, self.sizes)
        records = check_codes(self.records, self.sizes)
        weights = distribution("weights", self.weights)
        if len(records) != len(weights):
            raise InputError(
                f"`weights` must be one for each of {len(records)} records, got {len(weights)}"
            )
        probability("smoothing", self.smoothing)
        for name, value in (("records", records.copy()), ("weights", weights.copy())):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @cached_property
    def independent(self) -> IndependentColumns:
        marginals = [
            np.bincount(self.records[:, j], weights=self.weights, minlength=size)
            for j, size in enumerate(self.sizes)
        ]
        return IndependentColumns(self.names, tuple(m / m.sum() for m in marginals))

    def sample(self, n: int, *, rng: RandomSource = None) -> Codes:
        count = integer("n", n, low=0)
        random = generator(rng)
        levels = np.cumsum(self.weights)[:-1]
        codes = self.records[np.searchsorted(levels, random.random(count), side="right")]
        if self.smoothing > 0:
            mixed = random.random(count) < self.smoothing
            codes[mixed] = self.independent.sample(int(mixed.sum()), rng=random)
        return codes

    def conditional(self, codes: ArrayLike, unknown: Sequence[int]) -> Floats:
        rows, columns = check_question(codes, unknown, self.sizes)
        known = [j for j in range(len(self.sizes)) if j not in columns]
        values = int(np.prod([self.sizes[u] for u in columns]))
        # Number the known parts of records and rows together, then those that are asked for.
        keys = row_keys(np.concatenate([self.records, rows]), known, self.sizes)
        _, group = np.unique(keys, return_inverse=True)
        of_record, of_row = group[: len(self.records)], group[len(self.records) :]
        groups, place = np.unique(of_row, return_inverse=True)
        position = np.full(int(group.max()) + 1, -1, dtype=np.int64)
        position[groups] = np.arange(len(groups))
        target = position[of_record]
        hit = target >= 0
        secret = row_keys(self.records, columns, self.sizes)
        joint = np.bincount(
            target[hit] * values + secret[hit],
            weights=self.weights[hit],
            minlength=len(groups) * values,
        ).astype(np.float64)  # integers where no record is hit
        joint = joint.reshape(len(groups), values) * (1 - self.smoothing)
        if self.smoothing > 0:
            marginal = joint_of([self.independent.marginals[u] for u in columns])
            first = np.empty(len(groups), dtype=np.int64)
            first[place] = np.arange(len(rows))
            of_known = np.exp(self._log_known(rows[first], known))
            unseen = joint.sum(axis=1) == 0
            # Where only the mixture speaks, its weight cancels and must not underflow.
            joint += np.where(unseen, 1.0, self.smoothing * of_known)[:, np.newaxis] * marginal
        total = joint.sum(axis=1, keepdims=True)
        if (total == 0).any():
            row = int(np.argmax(total[place, 0] == 0))
            seen = {self.names[j]: int(rows[row, j]) for j in known}
            raise InputError(
                f"no record of the prior has the known part {seen} (codes), so the unknown "
                "columns are open: give the empirical prior some `smoothing`"
            )
        joint /= total
        return joint if np.array_equal(place, np.arange(len(rows))) else joint[place]

    def _log_known(self, codes: Codes, known: Sequence[int]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            parts = [np.log(self.independent.marginals[j])[codes[:, j]] for j in known]
        return np.sum(parts, axis=0) if parts else np.zeros(len(codes))

    def log_probability(self, codes: ArrayLike) -> Floats:
        checked = check_codes(codes, self.sizes)
        keys = row_keys(np.concatenate([self.records, checked]), range(len(self.sizes)), self.sizes)
        _, group = np.unique(keys, return_inverse=True)
        weights = np.bincount(
            group[: len(self.records)], weights=self.weights, minlength=int(group.max()) + 1
        )
        with np.errstate(divide="ignore"):
            seen = np.log((1 - self.smoothing) * weights[group[len(self.records) :]])
            if self.smoothing == 0:
                return seen
            apart = np.log(self.smoothing) + self.independent.log_probability(checked)
        return np.logaddexp(seen, apart)

    def describe(self) -> str:
        text = (
            f"Empirical rows: {len(self.records):,} distinct records of {len(self.sizes)} columns"
        )
        if self.smoothing == 0:
            return f"{text}, nothing else is possible"
        return (
            f"{text} with probability {1 - self.smoothing:g}, independent columns of the same "
            f"marginals with probability {self.smoothing:g}"
        )

    def __repr__(self) -> str:
        return f"EmpiricalRows({len(self.records):,} records, smoothing={self.smoothing:g})"


def fit_empirical(table: Table, *, smoothing: float = 0.01) -> EmpiricalRows:
    """Take the rows of a table as the prior.

    smoothing: share of independent columns in the mixture, in [0, 1]; at 0 only the table's rows
        are possible.
    Raises TooLargeError: too many distinct records.
    """
    share = probability("smoothing", smoothing)
    records, times = table.records, table.counts
    if times is None:
        keys = row_keys(records, range(table.columns), table.sizes)
        _, first, times = np.unique(keys, return_index=True, return_counts=True)
        records = records[first]
    if records.size > MOST_CELLS:
        raise TooLargeError(
            f"the empirical prior of {len(records):,} distinct records of {table.columns} columns "
            f"needs {12 * records.size / 1e9:.1f} GB, more than {12 * MOST_CELLS / 1e9:.0f} GB: "
            "take a Bayesian network, coarser bins or fewer columns"
        )
    return EmpiricalRows(
        table.names, table.sizes, records.astype(np.int32), times / table.rows, smoothing=share
    )


@dataclass(frozen=True, eq=False)
class IndependentColumns:
    """A distribution of records whose columns are independent."""

    names: tuple[str, ...]
    marginals: tuple[Floats, ...]  # for each column the probabilities of its values, summing to one

    def __post_init__(self) -> None:
        marginals = tuple(distribution("marginals", m).copy() for m in self.marginals)
        for marginal in marginals:
            marginal.setflags(write=False)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "marginals", marginals)
        check_sizes(self.names, self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(marginal) for marginal in self.marginals)

    def sample(self, n: int, *, rng: RandomSource = None) -> Codes:
        count = integer("n", n, low=0)
        random = generator(rng)
        codes = np.empty((count, len(self.sizes)), dtype=np.int32)
        for j, marginal in enumerate(self.marginals):
            levels = np.cumsum(marginal)[:-1]
            codes[:, j] = np.searchsorted(levels, random.random(count), side="right")
        return codes

    def conditional(self, codes: ArrayLike, unknown: Sequence[int]) -> Floats:
        checked, columns = check_question(codes, unknown, self.sizes)
        joint = joint_of([self.marginals[u] for u in columns])
        return np.tile(joint, (len(checked), 1))

    def factors(self, codes: ArrayLike, unknown: Sequence[int]) -> Factors:
        columns = check_columns(unknown, self.sizes)
        people = len(check_codes(codes, self.sizes, ignore=columns))
        with np.errstate(divide="ignore"):
            tables = tuple(np.log(self.marginals[u])[None] for u in columns)
        scopes = tuple((place,) for place in range(len(columns)))
        shape = tuple(self.sizes[u] for u in columns)
        return Factors(shape, scopes, tables, np.zeros(people, dtype=np.intp))

    def log_probability(self, codes: ArrayLike) -> Floats:
        checked = check_codes(codes, self.sizes)
        with np.errstate(divide="ignore"):
            parts = [np.log(m)[checked[:, j]] for j, m in enumerate(self.marginals)]
        return np.sum(parts, axis=0)

    def describe(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [
            f"Independent columns, {len(self.names)} of them; values, and the likeliest's share:"
        ]
        lines += [
            f"  {name:<{width}} {len(m):>6,}  {m.max():.3f}"
            for name, m in zip(self.names, self.marginals, strict=True)
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"IndependentColumns({len(self.names)} columns)"


def joint_of(marginals: Sequence[Floats]) -> Floats:
    """Compute the joint probabilities of independent columns in C order, shape (V,)."""
    return reduce(np.multiply.outer, marginals).ravel()


def fit_independent(table: Table, *, smoothing: float = 0.0) -> IndependentColumns:
    """Fit independent columns to a table.

    smoothing: pseudo-count added to every value of every column.
    """
    pseudo = non_negative("smoothing", smoothing)
    marginals: list[Floats] = []
    for j, size in enumerate(table.sizes):
        people = np.bincount(table.records[:, j], weights=table.counts, minlength=size)
        weights = people + pseudo
        marginals.append(weights / weights.sum())
    return IndependentColumns(table.names, tuple(marginals))


_ROUNDED = 1e-9  # how far a row's sum may be from 1


def read_priors(path: Path | str) -> NDArray[np.float64]:
    """Read one prior a person: a row a person, a column a value, shape (people, values).

    CSV, with or without names of the values in its first line, or JSON (a list of lists), by the
    suffix. Empty cells and short rows are values that a person cannot have; rows must sum to 1
    within 1e-9. The message of an `InputError` names the row, and the column where there is one.
    """
    table = read_number_table(Path(path))
    empty = np.flatnonzero(np.isnan(table.values).all(axis=1))
    if empty.size:
        raise InputError(f"{table.place(int(empty[0]))}, is empty; drop it")
    values = np.where(np.isnan(table.values), 0.0, table.values)
    wrong = np.argwhere(~((values >= 0) & (values <= 1)))
    if wrong.size:
        row, column = (int(i) for i in wrong[0])
        raise InputError(
            f"{table.place(row, column)}, must be a probability in [0, 1], "
            f"got {values[row, column]:g}; a row is one person's prior, a column a value: leave "
            "numbers of rows and other columns out"
        )
    sums = values.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > _ROUNDED)
    if off.size:
        row = int(off[0])
        remark = f" ({off.size:,} rows do not)" if off.size > 1 else ""
        raise InputError(
            f"{table.place(row)}, must sum to 1 within {_ROUNDED:g}, got {sums[row]:.12g}{remark}; "
            "write more digits, or divide each row by its sum if that is what you mean"
        )
    return values
