"""How many people each finest cell is expected to hold, given the published tables and a prior.

Two priors are named. ``uniform``: each data set is as likely as any other. ``people``: each person
is in any finest cell, independently, with equal chances, so a data set is as likely as the people
who make it can be arranged. Parts of the tables that share no unknown are independent under both.

A part is **exact** where all its data sets are enumerated. Else it is **sampled**: Markov chains
walk along a lattice basis of what keeps every equal row, from starts that are far apart, until
chains cut into halves agree (Gelman and Rubin 1992). Where they never do, the part is **fitted**:
proportions are scaled to the rows in turn (Deming and Stephan 1940).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.special import gammaln

from narcissus.counts.data_sets import Steps, points
from narcissus.counts.intervals import InfeasibleError, Polytope, distinct, parts_of, restricted
from narcissus.counts.marks import Meaning
from narcissus.counts.people import FoundPeople
from narcissus.counts.reading import Cell
from narcissus.counts.system import BIG, Dimension, Ints, Structure, System, selection

Floats = NDArray[np.float64]
Prior = Literal["uniform", "people"]
How = Literal["exact", "sampled", "fitted", "counts alone"]
HOW: tuple[How, ...] = ("exact", "sampled", "fitted", "counts alone")
"""How a number was made, the best first; the last is without statistics that are published."""
PRIORS: tuple[Prior, ...] = ("uniform", "people")
STEPS = 1_000  # of the search for all data sets, together
LARGEST_SAMPLED = 300  # unknowns of a part that is sampled
_STARTS, _COPIES = 8, 4  # of chains
_MOVES = 20_000  # of all chains, at most; the first third is thrown away
_WINDOW = 32  # points of a step
_MIXED = 1.05  # largest ratio of Gelman and Rubin
_SECONDS = 2.0  # for a start
_LOGS = 4_000_000  # weights that are kept in a table
IMPOSSIBLE = -1e6
"""Stands for the logarithm of no chance: chains that begin without one find their way."""


@dataclass(frozen=True, eq=False)
class ExpectedPeople:
    """What is expected of unknowns under each prior, and how that was made."""

    means: Mapping[Prior, Floats]
    how: Mapping[Prior, How]
    most: Ints  # people that an unknown can hold: the tightest limit that was met on the way


def expected(
    system: System, priors: tuple[Prior, ...] = PRIORS, *, steps: int = STEPS,
    rng: np.random.Generator, told: Sequence[Meaning] = (),
) -> ExpectedPeople:  # fmt: skip
    """Compute the expected number of people of each unknown, given that every row holds.

    ``told``: what the first rows mean, where printed numbers have chances. Raises
    `narcissus.counts.intervals.InfeasibleError` where rows contradict each other.
    """
    unknowns = len(system.sizes)
    start = np.zeros(unknowns, np.int64)
    whole = Polytope(system.matrix, system.low, system.high, start, start + BIG).tightened()
    means: dict[Prior, Floats] = {prior: whole.least.astype(float) for prior in priors}
    how: dict[Prior, How] = dict.fromkeys(priors, "exact")
    most, left = whole.most.copy(), Steps(steps)
    has_chance = np.zeros(len(system.low), bool)
    has_chance[: len(told)] = [one.chance is not None for one in told]
    for rows, own in sorted(parts_of(whole, has_chance), key=lambda one: len(one[1])):
        local, sizes = restricted(whole, rows, own), system.sizes[own]
        part, some = distinct(local), np.flatnonzero(has_chance[rows])
        weighed = Weighed(local, some, [told[at] for at in rows[some]]) if len(some) else None
        is_limited = left.left > 0 and (part.most < BIG // 2).all()
        found = np.array(list(points(part, left))) if is_limited else np.zeros((0, len(own)))
        is_whole = len(found) > 0 and left.left >= 0
        if is_whole and weighed is not None:
            found = found[weighed.logs_of(found @ weighed.matrix.T) > IMPOSSIBLE / 2]
        if is_whole and not len(found):
            raise InfeasibleError
        if is_whole:
            most[own] = found.max(axis=0)
        for prior in priors:
            made: How = "exact"
            if is_whole:
                logs = log_weights(found, sizes, prior)
                if weighed is not None:
                    logs += weighed.logs_of(found @ weighed.matrix.T)
                chances = np.exp(logs - logs.max())
                values: Floats | None = chances @ found / chances.sum()
            else:
                values, made = sampled(part, sizes, prior, rng, weighed), "sampled"
            if values is None:
                values, made = fitted(part, sizes), "fitted"
            means[prior][own] = values
            how[prior] = HOW[max(HOW.index(how[prior]), HOW.index(made))]
    return ExpectedPeople(means, how, most)


class Weighed:
    """Rows of printed numbers that other true counts may be printed as, with their chances.

    matrix: Shape (rows, unknowns), of a part without what is known of it.
    low, high: What each row can sum to.
    """

    def __init__(self, part: Polytope, rows: Ints, told: Sequence[Meaning]) -> None:
        self.matrix: Ints = part.matrix[rows].toarray()
        self.low, self.high = part.low[rows], part.high[rows]
        self._logs = np.full((len(rows), int((self.high - self.low).max()) + 1), IMPOSSIBLE)
        for at, one in enumerate(told):
            self._logs[at, : self.high[at] - self.low[at] + 1] = chance_logs(one)

    def logs_of(self, sums: Any, rows: Any = slice(None)) -> Floats:
        """Return the logarithm of the chance of what is printed, the last axis (rows) summed."""
        at = np.arange(len(self.low))[rows]
        return self._logs[at, sums - self.low[rows]].sum(axis=-1)


def chance_logs(one: Meaning) -> Floats:
    """Return logarithms of the chances of a printed number, for each true count it may stand for.

    Shape (high - low + 1,); `IMPOSSIBLE` stands for no chance.
    """
    chance: Any = one.chance
    chances = [chance(true) for true in range(one.low, (one.high or 0) + 1)]
    return np.array([np.log(p) if p > 0 else IMPOSSIBLE for p in chances])


def weighed_once(
    cells: Sequence[Cell], dimensions: Mapping[str, Dimension], given: Structure
) -> list[Cell]:
    """Take the chance from cells that others print, too: a key perturbs the same people once."""
    seen: set[Any] = set()
    found: list[Cell] = []
    for cell in cells:
        if cell.count.kind == "perturbed" and cell.count.chance is not None:
            chosen = selection(cell, dimensions, given).items()
            about = {(name, *leaves.tolist()) for name, leaves in chosen
                     if len(leaves) < len(dimensions[name].leaves)}  # fmt: skip
            key = (frozenset(about), cell.count.low, cell.count.high)
            is_again = key in seen
            seen.add(key)
            found.append(
                replace(cell, count=replace(cell.count, chance=None)) if is_again else cell
            )
        else:
            found.append(cell)
    return found


def expected_values(found: FoundPeople) -> tuple[list[int], dict[Prior, Floats], Ints]:
    """Compute the expected number of people by group and value, and the most of any data set.

    Returns the values that occur, and arrays of shape (groups, values) by prior. Raises
    `narcissus.counts.intervals.InfeasibleError` where no data set can be printed so.
    """
    people = np.array([(at, *one) for at, data in enumerate(found.data_sets) for one in data])
    people = people.reshape(-1, 3)
    values = np.unique(people[:, 2])
    pairs, inverse = np.unique(people[:, 1:], axis=0, return_inverse=True)
    (sets, pair), many = np.unique(
        np.stack([people[:, 0], inverse.ravel()]), axis=1, return_counts=True
    )  # fmt: skip
    size = len(found.data_sets)
    logs = {"uniform": np.zeros(size)}
    logs["people"] = -np.bincount(sets, gammaln(many + 1), minlength=size)
    for row in found.rows:
        if row.cell.count.chance is not None:
            inside = np.array([row.holds(*one) for one in pairs.tolist()], bool)
            sums = np.bincount(sets, many * inside[pair], minlength=size).astype(np.int64)
            more = chance_logs(row.cell.count)[sums - row.cell.count.low]
            logs = {prior: one + more for prior, one in logs.items()}
    means: dict[Prior, Floats] = {}
    flat = pairs[:, 0] * len(values) + np.searchsorted(values, pairs[:, 1])
    cells, most = len(found.groups) * len(values), np.zeros(len(found.groups) * len(values), int)
    for prior in PRIORS:
        if logs[prior].max() < IMPOSSIBLE / 2:
            raise InfeasibleError
        chances = np.exp(logs[prior] - logs[prior].max())
        weights = many * chances[sets] / chances.sum()
        means[prior] = np.bincount(flat[pair], weights, minlength=cells)
    np.maximum.at(most, flat[pair], many * (chances[sets] > 0))
    return values.tolist(), means, most


def log_weights(found: Any, sizes: Ints, prior: Prior) -> Floats:
    """Return the logarithm of each data set's chance, but for a constant; the last axis is summed.

    An unknown of n people stands for as many data sets as n can be put into its m finest cells.
    """
    many, cells = np.asarray(found, float), sizes.astype(float)
    if prior == "people":
        return (many * np.log(cells) - gammaln(many + 1)).sum(axis=-1)
    return (gammaln(many + cells) - gammaln(many + 1) - gammaln(cells)).sum(axis=-1)


def lattice(matrix: Any) -> Ints:
    """Return a basis of all whole numbers that the rows send to zero, a vector a line.

    The rows are brought to echelon form by steps that have a whole inverse, so nothing is missed;
    vectors are then shortened by each other. Raises `OverflowError` for entries of more than 2^31.
    """
    rows, unknowns = matrix.shape
    work = np.concatenate([matrix.T, np.eye(unknowns, dtype=np.int64)], axis=1)
    for column in range(rows):
        while len(at := np.flatnonzero(work[:, column])) > 1:
            size = np.abs(work[at, column]) * 4 * work.shape[1] + np.count_nonzero(work[at], axis=1)
            pivot = at[size.argmin()]
            others = at[at != pivot]
            times = work[others, column] // work[pivot, column]
            work[others] -= times[:, None] * work[pivot]
            if np.abs(work).max() > 2**31:
                raise OverflowError
        work = np.delete(work, at, axis=0)
    basis = work[:, rows:]
    for _ in range(10):
        before = basis.copy()
        for at, one in enumerate(basis):
            times = np.rint(basis @ one / (one @ one)).astype(np.int64)
            times[at] = 0
            basis -= times[:, None] * one
        if (before == basis).all():
            break
    return basis


def sampled(
    part: Polytope, sizes: Ints, prior: Prior, rng: np.random.Generator,
    weighed: Weighed | None = None,
) -> Floats | None:  # fmt: skip
    """Return the means of unknowns over Markov chains; None where these are not shown to mix."""
    if len(sizes) > LARGEST_SAMPLED or len(sizes) * int(part.most.max()) > _LOGS:
        return None
    dense, above = part.matrix.toarray(), len(part.low)
    if weighed is not None:
        dense = np.concatenate([dense, weighed.matrix])
        low, high = (np.concatenate([getattr(part, end), getattr(weighed, end)])
                     for end in ("low", "high"))  # fmt: skip
        part = replace(part, matrix=csr_array(dense), low=low, high=high)
    try:
        basis = lattice(dense[part.low == part.high])
    except OverflowError:
        return None
    begin = _starts(part, rng)
    if begin is None or not len(basis):
        return None
    chains = _Chains(np.repeat(begin, _COPIES, axis=0), part, sizes, prior, weighed)
    moves = [_Move(way, part, dense, above) for way in _short(basis)]
    seen: list[Ints] = []
    sweeps, until = max(50, _MOVES // len(moves)), 50
    while len(seen) < sweeps:
        for move in moves:
            chains.step(move, rng)
        seen.append(chains.at.copy())
        if len(seen) in (until, sweeps):
            until *= 2
            kept = np.array(seen[len(seen) // 3 :])
            if mixing(kept).max() <= _MIXED:
                is_possible = weighed is None or weighed.logs_of(kept @ weighed.matrix.T).min() > (
                    IMPOSSIBLE / 2
                )
                return kept.mean(axis=(0, 1)) if is_possible else None
    return None


def _short(basis: Ints) -> list[Ints]:
    """Return a basis, and sums and differences of two of it that are not longer than the longer."""
    found = {tuple(one): one for one in basis}
    size = np.abs(basis).sum(axis=1)
    for at, one in enumerate(basis):
        for sign in (1, -1):
            both = one + sign * basis[at + 1 :]
            fit = np.abs(both).sum(axis=1) <= np.maximum(size[at], size[at + 1 :])
            found |= {tuple(way): way for way in both[fit]}
    return list(found.values())


def _starts(part: Polytope, rng: np.random.Generator) -> Ints | None:
    """Return points of whole numbers far apart, shape (starts, unknowns); None: none was found."""
    holds = LinearConstraint(
        part.matrix.astype(float), np.where(part.low <= -BIG // 2, -np.inf, part.low),
        np.where(part.high >= BIG // 2, np.inf, part.high),
    )  # fmt: skip
    found: list[Ints] = []
    solve: Any = milp
    for _ in range(_STARTS):
        made = solve(
            rng.standard_normal(len(part.least)), integrality=1, constraints=holds,
            bounds=Bounds(part.least, part.most), options={"time_limit": _SECONDS},
        )  # fmt: skip
        point = None if made.x is None else np.rint(made.x).astype(np.int64)
        if point is None or not part.holds(point):
            return None
        found.append(point)
    return np.array(found)


class _Move:
    """A way to go, and the unknowns and rows that it changes."""

    def __init__(self, way: Ints, part: Polytope, dense: Ints, above: int) -> None:
        moved = dense @ way
        self.on, rows = np.flatnonzero(way), np.flatnonzero(moved)
        self.way = way[self.on]
        # places of rows with chances, which stand below all others, and their numbers
        self.weighed = len(self.on) + np.flatnonzero(rows >= above)
        self.rows = rows[rows >= above] - above
        self.all = np.concatenate([self.on, len(way) + rows])
        self.changes = np.concatenate([self.way, moved[rows]])
        self.low = np.concatenate([part.least[self.on], part.low[rows]])
        self.high = np.concatenate([part.most[self.on], part.high[rows]])
        room = (part.most[self.on] - part.least[self.on]) // np.abs(self.way)
        self.strides = max(1, int(room.min()) // _WINDOW).bit_length()


class _Chains:
    """Chains side by side, each at a point that keeps every row."""

    def __init__(
        self, at: Ints, part: Polytope, sizes: Ints, prior: Prior, weighed: Weighed | None
    ) -> None:
        self._weighed = weighed
        self._all = np.concatenate([at, at @ part.matrix.toarray().T], axis=1)
        self.at = self._all[:, : at.shape[1]]
        each = np.arange(int(part.most.max()) + 1, dtype=float)[:, None, None]
        self._logs = log_weights(each, sizes[:, None], prior)

    def step(self, move: _Move, rng: np.random.Generator) -> None:
        """Go along a way to one of the points of a window around, by their weights (Gibbs).

        A window is as likely from each of its points, and so is the stride between them.
        """
        here, stride = self._all[:, move.all], 1 << int(rng.integers(move.strides))
        up, size = move.changes > 0, np.abs(move.changes)
        above, below = (move.high - here) // size, (here - move.low) // size
        most = np.where(up, above, below).min(axis=1)
        least = -np.where(up, below, above).min(axis=1)
        if move.strides > 1 or (most - least).max() >= _WINDOW:
            begin = -stride * rng.integers(_WINDOW, size=len(here))
            times = begin[:, None] + stride * np.arange(_WINDOW)
        else:
            times = least[:, None] + np.arange(int((most - least).max()) + 1)
        is_inside = (times >= least[:, None]) & (times <= most[:, None])
        times = np.where(is_inside, times, 0)
        points = here[:, None, : len(move.on)] + times[:, :, None] * move.way
        chances = self._logs[points, move.on].sum(axis=2)
        if self._weighed is not None and len(move.rows):
            changes = times[:, :, None] * move.changes[move.weighed]
            sums = here[:, None, move.weighed] + changes
            chances += self._weighed.logs_of(sums, move.rows)
        chances = np.where(is_inside, chances, -np.inf) + rng.gumbel(size=chances.shape)
        taken = times[np.arange(len(here)), chances.argmax(axis=1)]
        self._all[:, move.all] = here + taken[:, None] * move.changes


def mixing(kept: Any) -> Floats:
    """Return the ratio of Gelman and Rubin for each unknown, of chains cut into halves; 1: mixed.

    kept: Shape (draws, chains, unknowns).
    """
    half = len(kept) // 2
    parts = np.concatenate([kept[:half], kept[half : 2 * half]], axis=1)
    within = parts.var(axis=0, ddof=1).mean(axis=0)
    between = parts.mean(axis=0).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((half - 1) / half + between / within)
    return np.where(between == 0, 1.0, ratio)


def fitted(part: Polytope, sizes: Ints, sweeps: int = 200) -> Floats:
    """Return proportions scaled to each row in turn, between the limits of unknowns.

    From proportions that are even over finest cells: near the mean under the prior ``people``, and
    no mean of any prior where rows limit from one side only.
    """
    values = np.clip(sizes.astype(float), part.least, part.most)
    matrix = part.matrix.astype(float)
    for _ in range(sweeps):
        before = values.copy()
        for row in range(matrix.shape[0]):
            some = slice(matrix.indptr[row], matrix.indptr[row + 1])
            on, signs = matrix.indices[some], matrix.data[some]
            total = float(signs @ values[on])
            aim = min(max(total, float(part.low[row])), float(part.high[row]))
            if aim != total and total > 0:
                values[on] = np.clip(values[on] * aim / total, part.least[on], part.most[on])
        if np.abs(values - before).max() < 1e-9:
            break
    return values
