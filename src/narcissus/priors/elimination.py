"""Exact answers about many unknown columns from their factors, by variable elimination.

Eliminating a column leaves a table of its contribution given the columns that it was tied to. Read
backwards these tables are a *chain*: each column given columns that come before it. Summed out, the
chain is the joint distribution (`log_partition`, `marginals`, `sample`); maximised out, it has for
every beginning the probability of its best continuation (`most_likely`, and
`narcissus.priors.likeliest`).

Answers that depend on the known columns alone are by row of the factors: index them with
``factors.rows`` for one a person.

Source: Koller and Friedman 2009, Probabilistic Graphical Models, chapters 9, 10 and 13.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._arrays import first_largest
from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.priors.elimination_order import Step, elimination_order
from narcissus.priors.factors import Codes, Factors, Floats

_BLOCK = 8_000_000  # numbers that are held at once

How = Literal["sum", "max"]


@dataclass(frozen=True, eq=False)
class Chain:
    """The weights of some rows of factors as a product, each column given earlier ones.

    ``weight(x) = exp(total + sum of a table each at x)``. A table has shape (rows or 1, size of
    each given column ..., own size), one row where all rows have the same. Summed out: the
    logarithm of the column's probability given those before. Maximised out: by how much the
    logarithm of the best completion falls, at most 0.
    """

    # the columns in the order in which they are drawn, with those they depend on
    steps: tuple[Step, ...]
    tables: tuple[Floats, ...]  # one for each step
    total: Floats  # logarithm of the sum, or of the largest, of all weights; shape (rows,)

    def table(self, number: int, row: NDArray[np.integer]) -> Floats:
        """Return a step's table for each of some rows, shape (number of rows, ...)."""
        table = self.tables[number]
        return table[row if len(table) > 1 else np.zeros_like(row)]


def chains(factors: Factors, how: How, copies: int = 1) -> Iterator[tuple[slice, Chain]]:
    """Eliminate all columns, for as many rows at a time as fit into memory.

    The caller holds ``copies`` numbers for each number of a chain. Raises `TooLargeError` where too
    many columns are tied together (see `elimination_order`), `InputError` where every joint value
    of some row is impossible.
    """
    steps = elimination_order(factors.shape, factors.scopes)
    width = sum(step.cells(factors.shape) for step in steps)
    each = max(1, _BLOCK // max(1, width * copies))
    count = row_count(factors)
    for start in range(0, count, each):
        part = slice(start, min(start + each, count))
        # What all rows share, factors without a known column, is stored and computed once.
        tables = [t[:1] if t.strides[0] == 0 else t[part] for t in factors.tables]
        chain = _eliminate(factors.shape, factors.scopes, tables, steps, how)
        total = np.broadcast_to(chain.total, (part.stop - part.start,))
        if np.isneginf(total).any():
            row = start + int(np.argmax(np.isneginf(total)))
            who = int(np.argmax(factors.rows == row))
            raise InputError(
                f"the known columns of person {who} are impossible under this prior: "
                "smooth it, or leave the person out"
            )
        yield part, Chain(chain.steps, chain.tables, total)


def row_count(factors: Factors) -> int:
    if factors.tables:
        return len(factors.tables[0])
    return int(factors.rows.max(initial=-1)) + 1


def _eliminate(
    shape: Sequence[int],
    scopes: Sequence[tuple[int, ...]],
    tables: Sequence[Floats],
    steps: Sequence[Step],
    how: How,
) -> Chain:
    waiting: list[tuple[tuple[int, ...], Floats]] = list(zip(scopes, tables, strict=True))
    found: list[Floats] = []
    total = np.zeros(1)
    for step in steps:
        mine = [(scope, table) for scope, table in waiting if step.column in scope]
        waiting = [(scope, table) for scope, table in waiting if step.column not in scope]
        table = np.zeros((1, *(shape[c] for c in step.clique)))
        for scope, part in mine:
            table = table + spread(part, scope, step.clique)
        message = table.max(axis=-1) if how == "max" else _log_sum(table)
        # What cannot be before cannot be after; the difference of two infinities is none.
        table -= np.where(np.isneginf(message), 0.0, message)[..., None]
        found.append(table)
        if step.given:
            waiting.append((step.given, message))
        else:
            total = total + message
    return Chain(tuple(reversed(steps)), tuple(reversed(found)), total)


def spread(table: Floats, scope: Sequence[int], onto: Sequence[int]) -> Floats:
    """Lay a table (rows, size of each column of ``scope`` ...) along the axes of ``onto``.

    Axes that it lacks have size 1.
    """
    kept = [c for c in onto if c in scope]
    axes = [1 + list(scope).index(c) for c in kept]
    moved = table.transpose(0, *axes)
    sizes = dict(zip(kept, moved.shape[1:], strict=True))
    return moved.reshape(len(table), *(sizes.get(c, 1) for c in onto))


def _log_sum(table: Floats) -> Floats:
    top = table.max(axis=-1)
    shift = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(table - shift[..., None]).sum(axis=-1)) + shift


def log_partition(factors: Factors) -> Floats:
    """Compute the logarithm of the sum of all weights, shape (rows,); see `chains` for errors."""
    return np.concatenate([np.empty(0), *(chain.total for _, chain in chains(factors, "sum"))])


def log_probability(factors: Factors, values: ArrayLike) -> Floats:
    """Compute the logarithm of the probability of one joint value for each person, shape (n,).

    ``values`` are value numbers of the unknown columns, shape (n, columns).
    """
    split = check_values(factors, values)
    return factors.log_weights(split) - log_partition(factors)[factors.rows]


def marginals(factors: Factors) -> tuple[Floats, ...]:
    """Compute each column's exact distribution given the known ones, shapes (rows, size)."""
    count = row_count(factors)
    answer = tuple(np.empty((count, size)) for size in factors.shape)
    for part, chain in chains(factors, "sum", copies=3):
        joints: dict[int, tuple[tuple[int, ...], Floats]] = {}
        for step, table in zip(chain.steps, chain.tables, strict=True):
            joint = np.exp(table)
            if step.given:
                # The given columns stood together when the first of them left.
                drawn = list(joints)
                clique, above = joints[max(step.given, key=drawn.index)]
                others = tuple(1 + i for i, c in enumerate(clique) if c not in step.given)
                left = [c for c in clique if c in step.given]
                joint = joint * spread(above.sum(axis=others), left, step.given)[..., None]
            joints[step.column] = (step.clique, joint)
            own = joint.reshape(len(joint), -1, joint.shape[-1]).sum(axis=1)
            answer[step.column][part] = own / own.sum(axis=1, keepdims=True)
    return answer


def most_likely(factors: Factors) -> Codes:
    """Find the joint value of the largest probability, shape (rows, columns)."""
    answer = np.zeros((row_count(factors), len(factors.shape)), dtype=np.int32)
    for part, chain in chains(factors, "max"):
        row = np.arange(part.stop - part.start)
        for number, step in enumerate(chain.steps):
            given = tuple(answer[part, c] for c in step.given)
            own = row if len(chain.tables[number]) > 1 else np.zeros_like(row)
            answer[part, step.column] = first_largest(chain.tables[number][(own, *given)])
    return answer


def sample(factors: Factors, draws: int, *, rng: RandomSource = None) -> Codes:
    """Draw independent joint values of each person, shape (n, draws, columns)."""
    count = integer("draws", draws, low=0)
    uniform = generator(rng).random((factors.people, count, len(factors.shape)))
    answer = np.zeros(uniform.shape, dtype=np.int32)
    for part, chain in chains(factors, "sum", copies=3):
        people = np.flatnonzero((factors.rows >= part.start) & (factors.rows < part.stop))
        row = np.repeat(factors.rows[people] - part.start, count)
        drawn = np.zeros((row.size, len(factors.shape)), dtype=np.int32)
        chance = uniform[people].reshape(drawn.shape)
        for table, step in zip(chain.tables, chain.steps, strict=True):
            below = np.exp(table).cumsum(axis=-1)[..., :-1]
            each = max(1, _BLOCK // factors.shape[step.column])
            for start in range(0, row.size, each):
                some = slice(start, start + each)
                own = row[some] if len(table) > 1 else np.zeros_like(row[some])
                given = tuple(drawn[some, c] for c in step.given)
                passed = below[(own, *given)] <= chance[some, step.column, None]
                drawn[some, step.column] = passed.sum(axis=-1)
        answer[people] = drawn.reshape(answer[people].shape)
    return answer


def check_values(factors: Factors, values: ArrayLike) -> NDArray[np.intp]:
    """Check one joint value a person, and return them as an array of shape (n, columns)."""
    split = np.asarray(values)
    wanted = (factors.people, len(factors.shape))
    if split.shape != wanted or not np.issubdtype(split.dtype, np.integer):
        raise InputError(
            f"`values` must be whole numbers of shape {wanted}, one joint value a person, "
            f"got {split.dtype} of shape {split.shape}"
        )
    if ((split < 0) | (split >= np.array(factors.shape))).any():
        raise InputError(
            f"`values` must lie below the sizes of the unknown columns, {factors.shape}"
        )
    return split.astype(np.intp)
