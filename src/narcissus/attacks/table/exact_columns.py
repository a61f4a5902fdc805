"""Exact counts of many unknown columns: one column after the other, by integer programming.

Of a column whose tables hold besides known columns only, exact counts are linear equations in
zero-one unknowns: who has which value. Once solved, the column is as good as known, and more tables
become linear. The column that its equations leave least open is taken next. A column that is left
open is settled by the prior, which may turn out wrong later: then no values of the next column
agree with all counts, and the fewest are violated. Then each column is solved again, given all
others, as long as that helps; what is left over is where the search is stuck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from narcissus._arrays import first_largest
from narcissus.attacks.table.places import ColumnSteps

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]

NODES = 50
"""Nodes of each integer program: a count, not seconds, so that all machines agree."""

ROUNDS = 6
"""Times that all columns are solved again, each given all others, where counts are not met."""

DEAR = 200_000
"""People times tables times values above which a search that is stuck is not tried again."""

OFF = 1e3
"""Price of one count that is not met, against logarithms of the prior."""


@dataclass(frozen=True)
class _Equations:
    """Zero-one equations of one column: a row for each person, then one for each cell."""

    matrix: sparse.csr_array
    """Shape (rows, people times values)."""
    right: Floats

    def settled(self) -> tuple[Mask, Mask]:
        """Return what may still be one and what must be; rows that cannot be met say nothing."""
        down = sparse.csr_array(self.matrix.T)
        allowed = np.ones(self.matrix.shape[1], dtype=bool)
        must = np.zeros_like(allowed)
        while True:
            most, least = self.matrix @ allowed.astype(float), self.matrix @ must.astype(float)
            possible = (most > self.right - 0.5) & (least < self.right + 0.5)
            full = possible & (most < self.right + 0.5) & (self.right > 0.5)
            spent = possible & (least > self.right - 0.5)
            new = must | (allowed & (down @ full.astype(float) > 0))
            left = allowed & ~((down @ spent.astype(float) > 0) & ~new)
            if (new == must).all() and (left == allowed).all():
                return allowed, must
            allowed, must = left, new & left


def reconstruct(steps: ColumnSteps, weights: Sequence[Floats]) -> tuple[Codes, float]:
    """Find values of all unknown columns that agree with exact counts, as far as they are found.

    steps: where people fall, and the counts.
    weights: for each column how much each value is liked, shape (n, size): the logarithm of its
        chance, say. They settle what the counts leave open.
    Returns tuple: values, shape (n, columns), and the residual: by how many people the counts of
        all cells are off, together; 0 where the values agree with every count.
    """
    n, columns = len(steps.bases), len(weights)
    values = np.zeros((n, columns), dtype=np.int32)
    holds = np.zeros((columns, steps.bases.shape[1]), dtype=bool)
    for c, held in enumerate(steps.tables):
        holds[c, held] = True
    waiting = list(range(columns))
    while waiting:
        best: tuple[int, int, _Equations, Mask, Mask] | None = None
        for c in waiting:
            others = np.any(holds[[w for w in waiting if w != c]], axis=0, keepdims=True)[0]
            equations = _equations(steps, values, c, others)
            allowed, must = equations.settled()
            left = int((allowed & ~must).sum())
            if best is None or left < best[0]:
                best = (left, c, equations, allowed, must)
        assert best is not None
        _, c, equations, allowed, must = best
        chosen = _solved(equations, allowed, must, weights[c])
        values[:, c] = chosen.reshape(weights[c].shape).argmax(axis=1)
        waiting.remove(c)
    return _mended(steps, values, weights)


def _mended(steps: ColumnSteps, values: Codes, weights: Sequence[Floats]) -> tuple[Codes, float]:
    """Solve each column again given all others, as long as that brings the counts nearer."""
    nothing = np.zeros(steps.bases.shape[1], dtype=bool)
    best = _residual(steps, values)
    for _ in range(ROUNDS):
        before = best
        for c, own in enumerate(weights):
            if best == 0:
                return values, best
            other = values.copy()
            chosen = _nearest(_equations(steps, values, c, nothing), own)
            other[:, c] = chosen.reshape(own.shape).argmax(axis=1)
            left = _residual(steps, other)
            if left <= best:  # moves along what is equally far lead out of some dead ends
                values, best = other, left
        if best == before:
            break
    return values, best


def _residual(steps: ColumnSteps, values: Codes) -> float:
    """Return by how many people the counts of all cells are off, together."""
    fallen = np.concatenate([steps.cells(i, own) for i, own in enumerate(values)])
    counts = np.bincount(fallen, minlength=steps.released.size)
    return float(np.abs(np.rint(steps.released) - counts).sum())


def witnesses(
    steps: ColumnSteps, marginals: Sequence[Floats], known: NDArray[np.integer], count: int
) -> tuple[list[Codes], float]:
    """Return what exact counts say of everybody, as values that agree with them.

    People who are alike in all known columns can change places without changing a count: given
    any values that agree, each of them has each of theirs with the same chance.

    steps: where people fall, and the counts.
    marginals: for each column the prior chances of its values, shape (n, size).
    known: the known columns, shape (n, known columns).
    count: how many solutions; all but the first for weights that are perturbed.
    Returns tuple: for each person the values of all who are alike in the solutions, shape (values,
        columns); and their residual, the least that was found: others are left out.
    """
    rng = np.random.default_rng(0)  # perturbations are part of the method, not of the trial
    logs = [np.log(np.maximum(m, 1e-12)) for m in marginals]
    found = [reconstruct(steps, logs)]
    again = found[0][1] == 0 or steps.bases.size * sum(m.shape[1] for m in marginals) < DEAR
    for _ in range(count - 1 if again else 0):
        found.append(reconstruct(steps, [w + rng.gumbel(size=w.shape) for w in logs]))
    least = min(residual for _, residual in found)
    kept = [values for values, residual in found if residual == least]
    _, kind = np.unique(known, axis=0, return_inverse=True)
    alike = [np.flatnonzero(np.ravel(kind) == one) for one in np.ravel(kind)]
    return [np.concatenate([values[who] for values in kept]) for who in alike], least


def _equations(steps: ColumnSteps, values: Codes, c: int, open_: Mask) -> _Equations:
    """Write down what the tables say of a column that hold no other column still to be solved."""
    n, step = len(values), steps.steps[c]
    size = len(step)
    ready = ~open_[steps.tables[c]]
    held = steps.tables[c][ready]
    without = values.copy()
    without[:, c] = 0
    bare = np.array([steps.cells(i, without[i])[held] for i in range(n)])
    cells = bare[:, None, :] + step[:, ready]  # people, values, tables
    distinct, row = np.unique(cells, return_inverse=True)
    variable = np.repeat(np.arange(n * size), held.size)
    rows = np.concatenate([np.repeat(np.arange(n), size), n + row.ravel()])
    matrix = sparse.csr_array(
        (np.ones(rows.size), (rows, np.concatenate([np.arange(n * size), variable]))),
        shape=(n + distinct.size, n * size),
    )
    right = np.concatenate([np.ones(n), np.rint(steps.released[distinct])])
    return _Equations(matrix, right)


def _solved(equations: _Equations, allowed: Mask, must: Mask, weights: Floats) -> Mask:
    """Return zeros and ones that meet all equations and are likely, or miss the fewest counts."""
    open_ = np.flatnonzero(allowed & ~must)
    if not open_.size and (equations.matrix @ must.astype(float) == equations.right).all():
        return must
    if not open_.size:
        return _nearest(equations, weights)
    left = equations.right - equations.matrix @ must.astype(float)
    part = sparse.csr_array(equations.matrix[:, open_])
    touched = np.flatnonzero(np.diff(part.indptr))
    gain = weights.ravel()[open_]
    one = LinearConstraint(part[touched], left[touched], left[touched])
    answer = _program(-gain, np.ones(open_.size, dtype=np.int64), 1.0, one)
    if answer is None:
        return _nearest(equations, weights)
    chosen = must.copy()
    chosen[open_] = answer > 0.5
    return chosen


def _nearest(equations: _Equations, weights: Floats) -> Mask:
    """Return everybody one value so that few counts are off."""
    rows, width = equations.matrix.shape
    people = len(weights)
    cells = rows - people
    over = sparse.vstack([sparse.csr_array((people, cells)), sparse.eye_array(cells)])
    matrix = sparse.hstack([equations.matrix, over, -over])
    price = np.concatenate([-weights.ravel(), np.full(2 * cells, OFF)])
    whole = (np.arange(width + 2 * cells) < width).astype(np.int64)
    upper = np.concatenate([np.ones(width), np.full(2 * cells, np.inf)])
    met = LinearConstraint(matrix, equations.right, equations.right)
    answer = _program(price, whole, upper, met)
    found = weights.ravel() if answer is None else answer[:width]
    best = np.zeros(weights.shape, dtype=bool)
    best[np.arange(people), first_largest(found.reshape(weights.shape))] = True
    return best.ravel()


def _program(
    price: Floats, whole: NDArray[np.int64], upper: Floats | float, met: LinearConstraint
) -> Floats | None:
    """Solve an integer program within its limit of nodes; None where nothing was found."""
    answer = milp(
        price,
        integrality=whole,
        bounds=Bounds(0, upper),
        constraints=met,
        options={"node_limit": NODES},
    )
    return answer.x
