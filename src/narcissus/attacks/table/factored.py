"""Attacks on tables with many unknown columns, whose joint values are never listed.

**Chains**: Gibbs sampling column by column. A person is taken out of the counts; each of the
unknown columns is drawn in turn given the present values of the person's others, from the prior's
factors that hold it and the residuals of the cells into which each of its values would lead; then
the person is put back. Several chains run side by side and share the arithmetic. Exact for Gaussian
and for Laplace noise: what is approximate is that chains are finite. Guesses are decided by the
criterion: the likeliest of the values that chains visited where all columns must be right, the
guess that counts for most draws where some must, the likeliest value of each column where each
counts by itself.

**Exact counts**: one column after the other, by integer programming. Of a column whose tables hold
besides known columns only, exact counts are linear equations in zero-one unknowns: who has which
value. Once solved, the column is as good as known, and more tables become linear. The column that
its equations leave least open is taken next. A column that is left open is settled by the prior,
which may turn out wrong later: then no values of the next column agree with all counts, and the
fewest are violated. Then each column is solved again, given all others, as long as that helps; what
is left over is where the search is stuck.

**A user's own attack** guesses column by column. The view is as ever, but its targets are
`FactoredTargets`: they have no list ``prior``, but each column's exact chances (``marginals``), the
prior as ``factors``, and the exact chance of a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from narcissus._arrays import Floats, first_largest
from narcissus._validation import between, integer
from narcissus.attacks.base import Answers
from narcissus.attacks.table.base import (
    OneByOne,
    OwnLearner,
    OwnTableAttack,
    PriorGuess,
    Simulated,
    TableAttack,
    are_below,
    softmax,
    within_reach,
)
from narcissus.attacks.table.ceiling import LEAST_LOG, Ceiling
from narcissus.attacks.table.posterior import GibbsSampling, Mask, MeanField
from narcissus.attacks.table.rap import FactoredProjection, RelaxedProjection
from narcissus.errors import InputError
from narcissus.knowledge.columns import CANDIDATES, FactoredInsider, FactoredTargets, OtherSecrets
from narcissus.mechanisms.noise import Counts, GaussianNoise, Noise
from narcissus.mechanisms.queries import TableQueries
from narcissus.priors.elimination import sample
from narcissus.priors.factors import Factors
from narcissus.success.table import Codes

Places = NDArray[np.intp]
Fields = Callable[[int, NDArray[np.integer]], Floats]
Tally = Sequence[Floats]
"""Sums of the chances that columns were drawn from: for each column, shape (n, size)."""

NODES = 50
"""Nodes of each integer program: a count, not seconds, so that all machines agree."""

ROUNDS = 6
"""Times that all columns are solved again, each given all others, where counts are not met."""

DEAR = 200_000
"""People times tables times values above which a search that is stuck is not tried again."""

OFF = 1e3
"""Price of one count that is not met, against logarithms of the prior."""

WITNESSES = 4
"""Solutions of exact counts that a guess is taken from."""

SHARP = GaussianNoise(0.3)
"""Stands for no noise, where all secrets but one are known: a count is right or off by one."""


class ColumnSteps:
    """The cells within people's reach, close together, and the steps between them.

    A person's cell in a table is a base, given by the known columns, plus a step for the value of
    each unknown column. No joint value is numbered.
    """

    def __init__(
        self, queries: TableQueries, bases: tuple[NDArray[np.int64], ...], release: Floats
    ) -> None:
        sizes = queries.unknown_shape
        places: list[Places] = []
        values: list[Floats] = []
        table_numbers: list[list[Places]] = [[] for _ in queries.unknown]
        steps: list[list[Places]] = [[] for _ in queries.unknown]
        start = first = 0
        for pattern, base in zip(queries.patterns, bases, strict=True):
            group, cells = within_reach(base, pattern.size)
            places.append(start + group * pattern.size)
            values.append(release[cells].ravel())
            start += cells.size
            numbers = np.arange(first, first + pattern.tables)
            first += pattern.tables
            pairs = zip(pattern.columns, pattern.groupings, strict=True)
            for axis, (c, grouping) in enumerate(pairs):
                every = np.arange(sizes[c]) if grouping is None else grouping.numbers
                step = every.astype(np.intp) * prod(pattern.shape[axis + 1 :])
                table_numbers[c].append(numbers)
                steps[c].append(np.repeat(step[:, None], pattern.tables, axis=1))
        # each person's cell in each table, were all its unknown columns at value 0: (n, tables)
        self.bases = np.concatenate(places, axis=1)
        self.released = np.concatenate(values)
        # for each unknown column the tables that hold it, and what each of its values adds there
        self.tables = [
            np.concatenate([*t, np.empty(0, np.intp)]).astype(np.intp) for t in table_numbers
        ]
        self.steps = [
            np.concatenate([*s, np.empty((sizes[c], 0), np.intp)], axis=1)
            for c, s in enumerate(steps)
        ]

    def cells(self, person: int, values: NDArray[np.integer]) -> Places:
        """Return a person's cells with some values of all columns: (..., columns -> tables)."""
        places = np.empty((*values.shape[:-1], self.bases.shape[1]), dtype=np.intp)
        places[...] = self.bases[person]
        for c, (tables, step) in enumerate(zip(self.tables, self.steps, strict=True)):
            places[..., tables] += step[values[..., c]]
        return places


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
    """The logarithm of the prior of one column given all others of the same person."""

    def __init__(self, factors: Factors) -> None:
        self._parts: list[list[_Part]] = [[] for _ in factors.shape]
        for scope, table in zip(factors.scopes, factors.tables, strict=True):
            shared = table.strides[0] == 0  # the same for everybody: one row is enough
            log_table = np.maximum(table[:1] if shared else table, LEAST_LOG)
            rows = np.zeros_like(factors.rows) if shared else factors.rows
            for axis, column in enumerate(scope):
                others = [c for c in scope if c != column]
                sizes = [factors.shape[c] for c in others]
                strides = np.cumprod([1, *sizes[::-1]])[::-1]
                moved = np.moveaxis(log_table, 1 + axis, -1).reshape(-1, factors.shape[column])
                part = _Part(np.ascontiguousarray(moved), rows * strides[0], others, strides[1:])
                self._parts[column].append(part)

    def logits(self, person: int, column: int, values: NDArray[np.integer]) -> Floats:
        """Return it for every value of the column, shape (chains, size) or broadcast to it."""
        total: Floats | None = None
        for part in self._parts[column]:
            index = part.rows[person] + values[:, part.others] @ part.strides
            part_logits = part.table[index]
            total = part_logits if total is None else total + part_logits
        assert total is not None  # a column of a distribution stands in some factor
        return total


class ColumnDraws:
    """One person's columns drawn in turn, given the residuals without that person."""

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
        tally: Tally | None = None,
    ) -> None:
        """Draw every column of person ``i`` once in each chain, in any order.

        values: present values, shape (chains, columns); replaced.
        cells: into which the person falls with these, shape (chains, tables); replaced.
        residual: what is released less what is counted without the person, by cell number.
        weight: of the release against the prior: less than 1 while chains find their places.
        tally: to which the chances are added from which columns are drawn.
        """
        uniform = rng.random((len(self._shape), len(values), 1))
        for c in rng.permutation(len(self._shape)):
            tables, steps = self._steps.tables[c], self._steps.steps[c]
            bare = cells.take(tables, axis=1) - steps[values[:, c]]  # as if the value were 0
            fields = self._gain(residual.take(bare[:, None, :] + steps))
            chances = softmax(self._blankets.logits(i, c, values) + weight * fields)
            values[:, c] = (chances.cumsum(axis=1)[:, :-1] <= uniform[c]).sum(axis=1)
            cells[:, tables] = bare + steps[values[:, c]]
            if tally is not None:
                tally[c][i] += chances.sum(axis=0)

    def _gain(self, residual: Floats) -> Floats:
        """Sum over tables by how much one more person in these cells raises the log density."""
        if isinstance(self._noise, GaussianNoise):
            return (residual.sum(axis=-1) - residual.shape[-1] / 2) / self._noise.scale**2
        return self._noise.gain(residual).sum(axis=-1)


class ColumnChains(ColumnDraws):
    """Chains over everybody's unknown columns, started at values (n, chains, columns)."""

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
        self, rng: np.random.Generator, weight: float = 1.0, tally: Tally | None = None
    ) -> None:
        """Draw every column of everybody once; see `ColumnDraws.draw`."""
        for i in range(len(self.values)):
            cells = self._cells[i].astype(np.intp)
            self._residual[cells] += 1
            self.draw(i, self.values[i], cells, self._residual, rng, weight, tally)
            self._residual[cells] -= 1
            self._cells[i] = cells

    def fields(self, i: int, guesses: NDArray[np.integer]) -> Floats:
        """Return the log likelihood of values (guesses, columns) of one person, (chains, guesses).

        Up to a constant in each chain, the others having the values that they have in it.
        """
        cells = self._cells[i]
        self._residual[cells] += 1
        places = self._steps.cells(i, guesses)
        likelihoods = self._gain(self._residual.take(self._first[:, :, None] + places))
        self._residual[cells] -= 1
        return likelihoods


class LonelyChains(ColumnDraws):
    """Chains over one person's unknown columns at a time, all ``secrets`` (n, columns) known."""

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
        tally: Tally,
    ) -> Codes:
        """Draw one person's columns again and again, the others left as they are: (draws, columns).

        start: first values, shape (chains, columns).
        weights: of the release in each pass; those below 1 are thrown away.
        """
        values = start.astype(np.intp)
        cells = self._steps.cells(i, values)
        residual = self._residual
        residual[self._own[i]] += 1
        draws: list[Codes] = []
        for weight in weights:
            kept_now = weight >= 1
            self.draw(i, values, cells, residual, rng, weight, tally if kept_now else None)
            if kept_now:
                draws.append(values.astype(np.int32))
        residual[self._own[i]] -= 1
        return np.concatenate(draws)

    def fields(self, i: int, guesses: NDArray[np.integer]) -> Floats:
        """Return the log likelihood of some values of one person, shape (1, guesses)."""
        self._residual[self._own[i]] += 1
        likelihoods = self._gain(self._residual.take(self._steps.cells(i, guesses)))
        self._residual[self._own[i]] -= 1
        return likelihoods[None]


def schedule(sweeps: int, burn: float) -> list[float]:
    """Return the weight of the release in each pass: first from .01 to 1, then 1."""
    first = int(burn * sweeps)
    rising = np.geomspace(0.01, 1, first + 1)[:-1] if first else np.empty(0)
    return [*rising.tolist(), *[1.0] * (sweeps - first)]


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
            upper_sums, lower_sums = (
                self.matrix @ allowed.astype(float),
                self.matrix @ must.astype(float),
            )
            possible = (upper_sums > self.right - 0.5) & (lower_sums < self.right + 0.5)
            full = possible & (upper_sums < self.right + 0.5) & (self.right > 0.5)
            spent = possible & (lower_sums > self.right - 0.5)
            new = must | (allowed & (down @ full.astype(float) > 0))
            left = allowed & ~((down @ spent.astype(float) > 0) & ~new)
            if (new == must).all() and (left == allowed).all():
                return allowed, must
            allowed, must = left, new & left


def reconstruct(steps: ColumnSteps, weights: Sequence[Floats]) -> tuple[Codes, float]:
    """Find values of all unknown columns that agree with exact counts, as far as they are found.

    The ``weights`` of each column's values, shape (n, size), such as logarithms of chances, settle
    what the counts leave open. Returns values, shape (n, columns), and the residual: by how many
    people the counts of all cells are off, together; 0 where the values agree with every count.
    """
    n, columns = len(steps.bases), len(weights)
    values = np.zeros((n, columns), dtype=np.int32)
    holds = np.zeros((columns, steps.bases.shape[1]), dtype=bool)
    for c, tables in enumerate(steps.tables):
        holds[c, tables] = True
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
        for c, column_weights in enumerate(weights):
            if best == 0:
                return values, best
            other = values.copy()
            chosen = _nearest(_equations(steps, values, c, nothing), column_weights)
            other[:, c] = chosen.reshape(column_weights.shape).argmax(axis=1)
            left = _residual(steps, other)
            if left <= best:  # moves along what is equally far lead out of some dead ends
                values, best = other, left
        if best == before:
            break
    return values, best


def _residual(steps: ColumnSteps, values: Codes) -> float:
    """Return by how many people the counts of all cells are off, together."""
    fallen = np.concatenate([steps.cells(i, row) for i, row in enumerate(values)])
    counts = np.bincount(fallen, minlength=steps.released.size)
    return float(np.abs(np.rint(steps.released) - counts).sum())


def witnesses(
    steps: ColumnSteps, marginals: Sequence[Floats], known: NDArray[np.integer], count: int
) -> tuple[list[Codes], float]:
    """Return what exact counts say of everybody, as values that agree with them.

    People who are alike in all known columns can change places without changing a count: given
    any values that agree, each of them has each of theirs with the same chance.

    Of ``count`` solutions all but the first are for perturbed weights. Returns for each person the
    values of all who are alike in the solutions, shape (values, columns); and their residual, the
    least that was found: others are left out.
    """
    rng = np.random.default_rng(0)  # perturbations are part of the method, not of the trial
    logs = [np.log(np.maximum(m, 1e-12)) for m in marginals]
    solutions = [reconstruct(steps, logs)]
    again = solutions[0][1] == 0 or steps.bases.size * sum(m.shape[1] for m in marginals) < DEAR
    for _ in range(count - 1 if again else 0):
        solutions.append(reconstruct(steps, [w + rng.gumbel(size=w.shape) for w in logs]))
    smallest_residual = min(residual for _, residual in solutions)
    best_solutions = [values for values, residual in solutions if residual == smallest_residual]
    _, kind = np.unique(known, axis=0, return_inverse=True)
    alike = [np.flatnonzero(np.ravel(kind) == label) for label in np.ravel(kind)]
    return [
        np.concatenate([values[who] for values in best_solutions]) for who in alike
    ], smallest_residual


def _equations(steps: ColumnSteps, values: Codes, c: int, open_: Mask) -> _Equations:
    """Write down what the tables say of a column that hold no other column still to be solved."""
    n, step = len(values), steps.steps[c]
    size = len(step)
    ready = ~open_[steps.tables[c]]
    tables = steps.tables[c][ready]
    without = values.copy()
    without[:, c] = 0
    bare = np.array([steps.cells(i, without[i])[tables] for i in range(n)])
    cells = bare[:, None, :] + step[:, ready]  # people, values, tables
    distinct, row = np.unique(cells, return_inverse=True)
    variable = np.repeat(np.arange(n * size), tables.size)
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
    constraint = LinearConstraint(part[touched], left[touched], left[touched])
    answer = _program(-gain, np.ones(open_.size, dtype=np.int64), 1.0, constraint)
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
    solution = weights.ravel() if answer is None else answer[:width]
    best = np.zeros(weights.shape, dtype=bool)
    best[np.arange(people), first_largest(solution.reshape(weights.shape))] = True
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


@dataclass(frozen=True)
class FactoredView:
    """Everything an attack may use where many columns are unknown; as `View`."""

    targets: FactoredTargets
    noise: Noise | None
    release: Any


@dataclass(frozen=True)
class FactoredOwn(OneByOne):
    """A user's class, whose errors name it and whose guesses of columns are checked."""

    attack: OwnTableAttack
    reads = (object,)

    @property
    def title(self) -> str:
        return self.attack.title

    @property
    def uses(self) -> str:
        return self.attack.uses

    def about(self, release: Any, told: FactoredTargets, rng: np.random.Generator) -> Codes:
        seen = FactoredView(told, None, release)
        if isinstance(release, Counts):
            seen = FactoredView(told, release.noise, release.cells)
        shape = told.queries.unknown_shape
        try:
            attempt = self.attack.asked(seen, rng)
        except InputError as error:
            if not isinstance(error.__cause__, AttributeError):
                raise
            raise InputError(
                f"{error} (the {len(shape)} unknown columns have too many joint values for a "
                "list: `view.targets` is a `FactoredTargets`, see docs/develop/extending.md)"
            ) from error
        below = np.array(told.success.guess_shape)
        if attempt.shape != (told.people, len(shape)) or not are_below(attempt, below):
            limits = " x ".join(map(str, told.success.guess_shape))
            raise InputError(
                f"attack `{self.attack.name}` must give a guess of each of the {len(shape)} "
                f"unknown columns of {told.people} people, integers from 0 to below {limits}; got "
                f"shape {attempt.shape}, type {attempt.dtype} (their joint values are too many "
                "for a list, see docs/develop/extending.md)"
            )
        return attempt.astype(np.int32)


@dataclass(frozen=True)
class FactoredOwnLearner(FactoredOwn):
    """A user's class that learns first, from releases with everybody's columns."""

    attack: OwnLearner
    learns_from = (object,)

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> FactoredOwn:
        """Let the class learn; its guesses are checked as before."""
        return FactoredOwn(self.attack.train(simulated, rng))


@dataclass(frozen=True)
class FactoredGuess(OneByOne):
    """The best guess found from the prior alone, of any number of unknown columns."""

    title, uses, reads = PriorGuess.title, PriorGuess.uses, PriorGuess.reads

    def about(self, release: Any, told: FactoredTargets, rng: np.random.Generator) -> Codes:
        return told.best_guess


@dataclass(frozen=True)
class Searched(Answers):
    """Guesses from exact counts, and how far the values that were found agree with them."""

    residual: Floats
    """By how many people all counts together are off, shape (trials,); 0 where they agree."""


@dataclass(frozen=True)
class ChainBeliefs:
    """What chains say of everybody's unknown columns."""

    # Averages of the chances that they were drawn from, not of the draws (Rao-Blackwell)
    marginals: tuple[Floats, ...]
    draws: Codes  # What was drawn, shape (n, draws, columns)


@dataclass(frozen=True)
class FactoredGibbs(OneByOne):
    """Gibbs sampling column by column, of any number of unknown columns.

    Exact counts have no density: there values that agree with all of them are searched
    (`narcissus.attacks.table.factored`).
    """

    sweeps: int = 40  # Passes of each chain over all people and columns
    chains: int = 16  # Chains side by side
    # Share of the passes in which the release gains its weight, from .01 to 1, and which are
    # thrown away; in [0, 1)
    burn: float = 0.4
    title = "the posterior by Gibbs sampling, column by column"
    uses = "prior and release"

    def __post_init__(self) -> None:
        integer("sweeps", self.sweeps, low=1)
        integer("chains", self.chains, low=1)
        between("burn", self.burn, 0, 1, open_high=True)

    def attempt(
        self, release: Sequence[Counts], known: Sequence[FactoredTargets], rng: np.random.Generator
    ) -> NDArray[Any] | Answers:
        """Decide by the posterior, shape (trials, n, columns); of exact counts `Searched`."""
        if not release or release[0].noise.scale > 0:
            return super().attempt(release, known, rng)
        guesses = [
            searched(counts, targets) for counts, targets in zip(release, known, strict=True)
        ]
        values = np.stack([guess for guess, _ in guesses])
        residual = np.array([left for _, left in guesses])
        return Searched(values, np.ones(len(guesses), dtype=bool), [], residual)

    def about(self, release: Counts, told: FactoredTargets, rng: np.random.Generator) -> Codes:
        chains, beliefs = self.run(release, told, rng)
        return _decided(told, chains, beliefs.marginals, beliefs.draws)

    def run(
        self, release: Counts, targets: FactoredTargets, rng: np.random.Generator
    ) -> tuple[ColumnChains, ChainBeliefs]:
        """Run the chains; give them as they end, and what they said on the way."""
        factors = targets.factors
        steps = ColumnSteps(targets.queries, targets.bases, release.cells)
        start = sample(factors, self.chains, rng=rng)
        chains = ColumnChains(factors, steps, release.noise, start)
        tally = tuple(np.zeros((targets.people, size)) for size in factors.shape)
        draws: list[Codes] = []
        for weight in schedule(self.sweeps, self.burn):
            is_sampled = weight >= 1
            chains.sweep(rng, weight, tally if is_sampled else None)
            if is_sampled:
                draws.append(chains.values.astype(np.int32))
        marginals = tuple(t / t.sum(axis=1, keepdims=True) for t in tally)
        return chains, ChainBeliefs(marginals, np.concatenate(draws, axis=1))


@dataclass(frozen=True)
class FactoredCeiling(OneByOne):
    """Each person's posterior, given the release and all the others' secrets, by sampling.

    No exact posterior over so many joint values is at hand: a better decision from the same
    knowledge may exist, so this is an estimate of the ceiling, and no limit.
    """

    sweeps: int = 60  # These as in `FactoredGibbs`
    chains: int = 16
    burn: float = 0.4
    title = "told everybody else's secrets: what nobody should exceed, by sampling"
    uses = "prior, release and all other secrets"
    informed = True
    knows = OtherSecrets()

    def about(self, release: Counts, told: FactoredInsider, rng: np.random.Generator) -> Codes:
        targets = told.targets
        factors, n = targets.factors, targets.people
        steps = ColumnSteps(targets.queries, targets.bases, release.cells)
        noise = release.noise if release.noise.scale > 0 else SHARP
        chains = LonelyChains(factors, steps, noise, told.secrets)
        tally = tuple(np.zeros((n, size)) for size in factors.shape)
        start = sample(factors, self.chains, rng=rng)
        weights = schedule(self.sweeps, self.burn)
        draws = [chains.run(i, start[i], weights, rng, tally) for i in range(n)]
        return _decided(targets, chains, [t / t.sum(axis=1, keepdims=True) for t in tally], draws)


def _decided(
    targets: FactoredTargets,
    chains: ColumnChains | LonelyChains,
    marginals: Sequence[Floats],
    draws: Sequence[Codes] | Codes,
) -> Codes:
    """Return everybody's guess, from the chances and the draws of chains as they end."""
    modes = targets.success.modes(marginals)
    fields = chains.fields if targets.success.all else None
    people = range(targets.people)
    return np.stack([decide(targets, i, modes[i], draws[i], fields) for i in people])


def searched(release: Counts, targets: FactoredTargets) -> tuple[Codes, float]:
    """Guess from values that agree with exact counts, or nearly; give the residual next to it."""
    steps = ColumnSteps(targets.queries, targets.bases, release.cells)
    known = targets.codes[:, list(targets.queries.known)]
    draws, residual = witnesses(steps, targets.marginals, known, WITNESSES)
    guesses: list[Codes] = []
    for i, samples in enumerate(draws):
        shares = [
            np.bincount(samples[:, c], minlength=size)[None] / len(samples)
            for c, size in enumerate(targets.factors.shape)
        ]
        guesses.append(decide(targets, i, targets.success.modes(shares)[0], samples, None))
    return np.stack(guesses), residual


def decide(
    targets: FactoredTargets, i: int, mode: Codes, draws: Codes, fields: Fields | None
) -> Codes:
    """Return the guess about one person that is likeliest to count, as far as draws tell.

    It is one of every column's likeliest guess (``mode``), the prior's best, and draws from the
    posterior (draws, columns). Where all columns must be right the values drawn are hardly ever
    drawn twice: they are weighed by the posterior among them, averaged over states of the others in
    which ``fields`` are their log likelihoods. None: draws are counted.
    """
    success = targets.success
    if success.by_column:
        return mode
    others = np.stack([targets.best_guess[i], mode])
    if fields is None:
        some = draws[:: max(1, len(draws) // CANDIDATES)]
        return success.least_risk(draws, np.ones(len(draws)), np.concatenate([others, some]))
    if success.columns.exact:  # these guesses name values
        draws = np.concatenate([draws, others])
    values, times = np.unique(draws, axis=0, return_counts=True)
    order = np.argsort(-times, kind="stable")[:CANDIDATES]
    values = values[order]
    if success.columns.exact:
        values = np.unique(np.concatenate([values, others]), axis=0)
    alone = replace(targets.factors, rows=np.full(len(values), targets.factors.rows[i]))
    logits = alone.log_weights(values) + fields(i, values)
    weights = softmax(logits).mean(axis=0)
    return success.least_risk(values, weights, np.concatenate([values, others]))


def factored_attack(attack: TableAttack) -> TableAttack | None:
    """Return the attack of the same name that lists no joint value; None where there is none."""
    if isinstance(attack, PriorGuess):
        return FactoredGuess()
    if isinstance(attack, RelaxedProjection):
        return FactoredProjection(attack)
    if isinstance(attack, OwnTableAttack):
        return FactoredOwnLearner(attack) if isinstance(attack, OwnLearner) else FactoredOwn(attack)
    if isinstance(attack, MeanField):
        return FactoredGibbs()
    if isinstance(attack, GibbsSampling):
        passes = -(-attack.sweeps // attack.chains)
        return FactoredGibbs(passes, attack.chains, attack.burn)
    return FactoredCeiling() if isinstance(attack, Ceiling) else None
