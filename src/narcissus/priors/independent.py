"""Independent columns as a record prior: an attacker who knows only each column by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from narcissus._random import RandomSource, generator
from narcissus._validation import distribution, integer, non_negative
from narcissus.priors.base import (
    Codes,
    Floats,
    check_codes,
    check_columns,
    check_question,
    check_sizes,
)
from narcissus.priors.factors import Factors
from narcissus.tables import Table


@dataclass(frozen=True, eq=False)
class IndependentColumns:
    """A distribution of records whose columns are independent.

    Raises
    ------
    InputError
        Names and marginals do not match, or a marginal is not a distribution.
    """

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

    Parameters
    ----------
    table
        The people.
    smoothing
        Pseudo-count added to every value, at least 0.
    """
    pseudo = non_negative("smoothing", smoothing)
    marginals: list[Floats] = []
    for j, size in enumerate(table.sizes):
        people = np.bincount(table.records[:, j], weights=table.counts, minlength=size)
        weights = people + pseudo
        marginals.append(weights / weights.sum())
    return IndependentColumns(table.names, tuple(marginals))
