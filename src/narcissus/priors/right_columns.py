"""The exact law of the number of right columns of a guess, without listing joint values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from narcissus._validation import integer
from narcissus.priors.elimination import Chain, chains, check_values, spread
from narcissus.priors.factors import Factors, Floats


def right_columns(factors: Factors, guesses: ArrayLike, last: ArrayLike | None = None) -> Floats:
    """Compute the law of the number of right columns of each person's guess, (n, columns + 1).

    ``guesses`` are value numbers of the unknown columns, shape (n, columns). Where a guess covers
    several values, it is the first and ``last`` the last of them in each column; any of these is
    right.

    Notes
    -----
    The columns are eliminated with the count as one more axis of every table. All terms are
    positive, so that small chances are as accurate as large ones.
    """
    split = check_values(factors, guesses)
    ends = split if last is None else check_values(factors, last)
    columns = len(factors.shape)
    answer = np.zeros((factors.people, columns + 1))
    # People with the same known columns and the same guess have the same law.
    keys = np.column_stack([factors.rows, split, ends])
    different, back = np.unique(keys, axis=0, return_inverse=True)
    laws = np.zeros((len(different), columns + 1))
    for part, chain in chains(factors, "sum", copies=2):
        mine = np.flatnonzero((different[:, 0] >= part.start) & (different[:, 0] < part.stop))
        cells = max(step.cells(factors.shape) for step in chain.steps) if chain.steps else 1
        each = max(1, 8_000_000 // (cells * (columns + 1)))
        for start in range(0, mine.size, each):
            some = mine[start : start + each]
            row, covered = different[some, 0] - part.start, different[some, 1:]
            laws[some] = _law(chain, row, covered[:, :columns], covered[:, columns:])
    answer[:] = laws[np.ravel(back)]
    return answer


def at_least_right(
    factors: Factors, guesses: ArrayLike, at_least: int, last: ArrayLike | None = None
) -> Floats:
    """Compute the chance of at least ``at_least`` right columns of each guess, shape (n,).

    See `right_columns`.
    """
    least = integer("at_least", at_least, low=0, high=len(factors.shape))
    return np.minimum(right_columns(factors, guesses, last)[:, least:].sum(axis=1), 1.0)


def _law(chain: Chain, rows: np.ndarray, guesses: np.ndarray, last: np.ndarray) -> Floats:
    # Messages by the columns that they depend on; the number of right columns is their last axis.
    waiting: list[tuple[tuple[int, ...], Floats]] = []
    for number in reversed(range(len(chain.steps))):
        step = chain.steps[number]
        law = np.exp(chain.table(number, rows))[..., None]
        for given, message in [w for w in waiting if step.column in w[0]]:
            law = sum_law(law, widen(message, given, step.clique))
        waiting = [w for w in waiting if step.column not in w[0]]
        size = law.shape[-2]
        every, low, high = np.arange(size), guesses[:, step.column], last[:, step.column]
        hit = ((every >= low[:, None]) & (every <= high[:, None])).astype(np.float64)
        hit = hit.reshape(len(rows), *(1,) * len(step.given), size, 1)
        right, wrong = (law * hit).sum(axis=-2), (law * (1.0 - hit)).sum(axis=-2)
        message = np.zeros((*right.shape[:-1], right.shape[-1] + 1))
        message[..., :-1] = wrong
        message[..., 1:] += right
        waiting.append((step.given, message))
    total = np.ones((len(rows), 1))
    for _, message in waiting:
        total = sum_law(total, message)
    return total


def widen(message: Floats, given: tuple[int, ...], onto: tuple[int, ...]) -> Floats:
    """Lay a message along the axes of more columns; the counts stay last."""
    return spread(message, (*given, -1), (*onto, -1))


def sum_law(a: Floats, b: Floats) -> Floats:
    """Compute the law of the sum of two independent counts, along the last axes."""
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    answer = np.zeros((*shape, a.shape[-1] + b.shape[-1] - 1))
    for k in range(b.shape[-1]):
        answer[..., k : k + a.shape[-1]] += a * b[..., k, None]
    return answer
