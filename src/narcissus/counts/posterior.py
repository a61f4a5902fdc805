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
from time import monotonic
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
from narcissus.errors import TooLargeError

Floats = NDArray[np.float64]
Prior = Literal["uniform", "people"]
How = Literal["exact", "sampled", "fitted", "counts alone"]
HOW: tuple[How, ...] = ("exact", "sampled", "fitted", "counts alone")
"""How a number was made, the best first; the last is without statistics that are published."""
PRIORS: tuple[Prior, ...] = ("uniform", "people")
STEPS = 1_000  # of the search for all data sets, together
LARGEST_SAMPLED = 300  # unknowns of a part that is sampled
_STARTS, _COPIES = 8, 4  # of chains
MOVES = 20_000  # of all chains, at most; the first third is thrown away
_SWEEPS = 400  # a walk has so many times fewer sweeps than moves, or more
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
    values: Sequence[int] = ()  # of a variable, the last axis where data sets have one


def expected(
    system: System,
    priors: tuple[Prior, ...] = PRIORS,
    *,
    steps: int = STEPS,
    moves: int = MOVES,
    deadline: float = np.inf,
    rng: np.random.Generator,
    told: Sequence[Meaning] = (),
) -> ExpectedPeople:
    """Compute the expected number of people of each unknown, given that every row holds.

    ``told``: what the first rows mean, where printed numbers have chances. Raises
    `narcissus.counts.intervals.InfeasibleError` where rows contradict each other, and
    `TooLargeError` at the deadline.
    """
    _in_time(deadline)
    unknowns = len(system.sizes)
    start = np.zeros(unknowns, np.int64)
    whole = Polytope(system.matrix, system.low, system.high, start, start + BIG).tightened()
    means: dict[Prior, Floats] = {prior: whole.least.astype(float) for prior in priors}
    how: dict[Prior, How] = dict.fromkeys(priors, "exact")
    upper_limits, left = whole.most.copy(), Steps(steps, deadline)
    has_chance = np.zeros(len(system.low), bool)
    has_chance[: len(told)] = [piece.chance is not None for piece in told]
    for rows, columns in sorted(parts_of(whole, has_chance), key=lambda piece: len(piece[1])):
        local, sizes = restricted(whole, rows, columns), system.sizes[columns]
        part, some = distinct(local), np.flatnonzero(has_chance[rows])
        weighed = Weighed(
            local.matrix[some].toarray(), local.low[some], [told[at] for at in rows[some]]
        )
        is_limited = left.left > 0 and (part.most < BIG // 2).all()
        data_sets: Any = (
            np.array(list(points(part, left))) if is_limited else np.zeros((0, len(columns)))
        )
        is_whole = len(data_sets) > 0 and left.left >= 0
        exact: Mapping[Prior, Floats] = {}
        if is_whole:
            exact, upper_limits[columns] = averaged(data_sets, sizes, weighed)
        for prior in priors:
            _in_time(deadline)
            made: How = "exact"
            values = exact.get(prior)
            if values is None:
                values = sampled(part, sizes, prior, rng, weighed, moves, deadline)
                made = "sampled"
            if values is None:
                values, made = fitted(part, sizes), "fitted"
            means[prior][columns] = values
            how[prior] = HOW[max(HOW.index(how[prior]), HOW.index(made))]
    return ExpectedPeople(means, how, upper_limits)


class Weighed:
    """Rows of printed numbers that other true counts may be printed as, with their chances.

    matrix: Shape (rows, unknowns).
    low, high: What each row can sum to.
    """

    def __init__(self, matrix: Any, low: Ints, told: Sequence[Meaning]) -> None:
        """Make a table of logarithms of chances: a row each, from its lowest sum on."""
        self.matrix, self.low = matrix, low
        counts = [range(count.low, (count.high or 0) + 1) for count in told]
        self.high = low + [len(count) - 1 for count in counts] if told else low
        widest = max(map(len, counts), default=0)
        if widest * len(told) > _LOGS:
            raise TooLargeError("the cell-key table moves counts too far for so many cells")
        chances = np.zeros((len(told), widest))
        for at, (count, some) in enumerate(zip(told, counts, strict=True)):
            chance: Any = count.chance
            chances[at, : len(some)] = [chance(true) for true in some]
        self._logs = np.log(chances, out=np.full(chances.shape, IMPOSSIBLE), where=chances > 0)

    def logs_of(self, sums: Any, rows: Any = slice(None)) -> Floats:
        """Return the logarithm of the chance of what is printed, the last axis (rows) summed."""
        at = np.arange(len(self.low))[rows]
        return self._logs[at, sums - self.low[rows]].sum(axis=-1)


def averaged(found: Ints, sizes: Ints, weighed: Weighed) -> tuple[dict[Prior, Floats], Ints]:
    """Average all data sets, shape (data sets, unknowns); return the most of any as well.

    Raises `narcissus.counts.intervals.InfeasibleError` where none can be printed so.
    """
    log_chances = weighed.logs_of(found @ weighed.matrix.T)
    is_possible = log_chances > IMPOSSIBLE / 2
    if not is_possible.any():
        raise InfeasibleError
    found, log_chances = found[is_possible], log_chances[is_possible]
    means: dict[Prior, Floats] = {}
    for prior in PRIORS:
        logs = log_weights(found, sizes, prior) + log_chances
        chances = np.exp(logs - logs.max())
        means[prior] = chances @ found / chances.sum()
    return means, found.max(axis=0)


def weighed_once(
    cells: Sequence[Cell], dimensions: Mapping[str, Dimension], given: Structure
) -> list[Cell]:
    """Take the chance from cells that others print, too: a key perturbs the same people once."""
    seen: set[Any] = set()
    weighed_cells: list[Cell] = []
    for cell in cells:
        leaves = selection(cell, dimensions, given).items()
        about = (
            cell.count,
            frozenset(
                (name, *some.tolist())
                for name, some in leaves
                if len(some) < len(dimensions[name].leaves)
            ),
        )
        is_again = cell.count.kind == "perturbed" and about in seen
        weighed_cells.append(
            replace(cell, count=replace(cell.count, chance=None)) if is_again else cell
        )
        seen.add(about)
    return weighed_cells


def expected_values(found: FoundPeople) -> ExpectedPeople | None:
    """Average all data sets with values: people by group and value; None where these are too many.

    Raises `narcissus.counts.intervals.InfeasibleError` where none can be printed so.
    """
    people = np.array([(at, *case) for at, data in enumerate(found.data_sets) for case in data])
    sets, groups, values = people.reshape(-1, 3).T
    shown, value = np.unique(values, return_inverse=True)
    pairs, place = np.unique(groups * len(shown) + value, return_inverse=True)
    if len(found.data_sets) * len(pairs) > _LOGS:
        return None
    many = np.zeros((len(found.data_sets), len(pairs)), np.int64)
    np.add.at(many, (sets, place), 1)
    rows = [row for row in found.rows if row.cell.count.chance is not None]
    each = zip((pairs // len(shown)).tolist(), shown[pairs % len(shown)].tolist(), strict=True)
    inside = [[row.holds(*case) for row in rows] for case in each]
    counts = [row.cell.count for row in rows]
    matrix = np.array(inside, np.int64).reshape(len(pairs), len(rows)).T
    weighed = Weighed(matrix, np.array([case.low for case in counts], np.int64), counts)
    means, maxima = averaged(many, np.ones(len(pairs), np.int64), weighed)

    def spread(some: Any) -> Any:
        return np.bincount(pairs, some, minlength=len(found.groups) * len(shown))

    return ExpectedPeople(
        {prior: spread(case) for prior, case in means.items()},
        dict.fromkeys(means, "exact"),
        spread(maxima).astype(np.int64),
        shown.tolist(),
    )


def _in_time(deadline: float) -> None:
    if monotonic() > deadline:
        raise TooLargeError("time ran out while tables were read: allow more, or take fewer")


def log_weights(found: Any, sizes: Ints, prior: Prior) -> Floats:
    """Return the logarithm of each data set's chance, but for a constant; the last axis is summed.

    An unknown of n people stands for as many data sets as n can be put into its m finest cells.
    """
    many, cells = np.asarray(found, float), sizes.astype(float)
    if prior == "people":
        each = many * np.log(cells) - gammaln(many + 1)
    else:
        each = gammaln(many + cells) - gammaln(many + 1) - gammaln(cells)
    return np.asarray(each, dtype=np.float64).sum(axis=-1)


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
        for at, vector in enumerate(basis):
            times = np.rint(basis @ vector / (vector @ vector)).astype(np.int64)
            times[at] = 0
            basis -= times[:, None] * vector
        if (before == basis).all():
            break
    return basis


def sampled(
    part: Polytope,
    sizes: Ints,
    prior: Prior,
    rng: np.random.Generator,
    weighed: Weighed,
    most: int = MOVES,
    deadline: float = np.inf,
) -> Floats | None:
    """Return the means of unknowns over Markov chains; None where these are not shown to mix."""
    if len(sizes) > LARGEST_SAMPLED or len(sizes) * int(part.most.max()) > _LOGS:
        return None
    above, dense = len(part.low), np.concatenate([part.matrix.toarray(), weighed.matrix])
    part = replace(
        part,
        matrix=csr_array(dense),
        low=np.concatenate([part.low, weighed.low]),
        high=np.concatenate([part.high, weighed.high]),
    )
    try:
        basis = lattice(dense[part.low == part.high])
        # printed numbers that may stand for others: also by what keeps all of them
        kernel = lattice(dense) if len(weighed.low) else basis[:0]
    except OverflowError:
        return None
    begin = _starts(part, rng, deadline)
    if begin is None or not len(basis):
        return None
    chains = _Chains(np.repeat(begin, _COPIES, axis=0), part, sizes, prior, weighed)
    ways = [*(_short(kernel) if len(kernel) else []), *_short(basis)]
    moves = [_Move(way, part, dense, above) for way in ways]
    seen: list[Ints] = []
    minimum = most // _SWEEPS
    sweeps, until = max(minimum, most // len(moves)), minimum
    while len(seen) < sweeps:
        for move in moves:
            _in_time(deadline)
            chains.step(move, rng)
        seen.append(chains.at.copy())
        if len(seen) in (until, sweeps):
            until *= 2
            draws = np.array(seen[len(seen) // 3 :])
            if mixing(draws).max() <= _MIXED:
                log_chances = weighed.logs_of(draws @ weighed.matrix.T)
                return draws.mean(axis=(0, 1)) if log_chances.min() > IMPOSSIBLE / 2 else None
    return None


def _short(basis: Ints) -> list[Ints]:
    """Return a basis, and sums and differences of two of it that are not longer than the longer."""
    vectors = {tuple(vector): vector for vector in basis}
    size = np.abs(basis).sum(axis=1)
    for at, vector in enumerate(basis):
        for sign in (1, -1):
            both = vector + sign * basis[at + 1 :]
            fit = np.abs(both).sum(axis=1) <= np.maximum(size[at], size[at + 1 :])
            vectors |= {tuple(way): way for way in both[fit]}
    return list(vectors.values())


def _starts(part: Polytope, rng: np.random.Generator, deadline: float) -> Ints | None:
    """Return points of whole numbers far apart, shape (starts, unknowns); None: none was found."""
    holds = LinearConstraint(
        part.matrix.astype(float),
        np.where(part.low <= -BIG // 2, -np.inf, part.low),
        np.where(part.high >= BIG // 2, np.inf, part.high),
    )
    starts: list[Ints] = []
    solve: Any = milp
    for _ in range(_STARTS):
        _in_time(deadline)
        made = solve(
            rng.standard_normal(len(part.least)),
            integrality=1,
            constraints=holds,
            bounds=Bounds(part.least, part.most),
            options={"time_limit": min(_SECONDS, max(0.01, deadline - monotonic()))},
        )
        point = None if made.x is None else np.rint(made.x).astype(np.int64)
        if point is None or not part.holds(point):
            return None
        starts.append(point)
    return np.array(starts)


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
        changes = np.concatenate([self.way, moved[rows]])
        low = np.concatenate([part.least[self.on], part.low[rows]])
        high = np.concatenate([part.most[self.on], part.high[rows]])
        self.changes, self.size = changes, np.abs(changes)
        self.is_long = bool((self.size > 1).any())
        # a point may go so far up, or down, that what changes is still within these ends
        self.up = np.where(changes > 0, high, -low)
        self.down = np.where(changes > 0, -low, high)
        self.sign = np.sign(changes)
        room = (part.most[self.on] - part.least[self.on]) // np.abs(self.way)
        self.strides = max(1, int(room.min()) // _WINDOW).bit_length()


class _Chains:
    """Chains side by side, each at a point that keeps every row."""

    def __init__(
        self, at: Ints, part: Polytope, sizes: Ints, prior: Prior, weighed: Weighed
    ) -> None:
        self._weighed = weighed
        self._all = np.concatenate([at, at @ part.matrix.toarray().T], axis=1)
        self.at = self._all[:, : at.shape[1]]
        each = np.arange(int(part.most.max()) + 1, dtype=float)[:, None, None]
        self._logs = np.ascontiguousarray(log_weights(each, sizes[:, None], prior).T).ravel()
        self._most = len(each)
        self._rows, self._window = np.arange(len(at)), np.arange(max(_WINDOW, len(each)))

    def step(self, move: _Move, rng: np.random.Generator) -> None:
        """Go along a way to one of the points of a window around, by their weights (Gibbs).

        A window is as likely from each of its points, and so is the stride between them.
        """
        here = self._all[:, move.all]
        stride = 1 << int(rng.integers(move.strides)) if move.strides > 1 else 1
        along = here * move.sign
        above, below = move.up - along, move.down + along
        if move.is_long:
            above, below = above // move.size, below // move.size
        upper_limits, lower_limits = above.min(axis=1)[:, None], -below.min(axis=1)[:, None]
        if move.strides > 1 or (upper_limits - lower_limits).max() >= _WINDOW:
            begin = -stride * rng.integers(_WINDOW, size=len(here))
            times = begin[:, None] + stride * self._window[:_WINDOW]
        else:
            times = lower_limits + self._window[: int((upper_limits - lower_limits).max()) + 1]
        is_inside = (times >= lower_limits) & (times <= upper_limits)
        times *= is_inside
        first = here[:, None, : len(move.on)] + move.on * self._most
        points = first + times[:, :, None] * move.way
        chances = self._logs.take(points).sum(axis=2)
        if len(move.rows):
            changes = times[:, :, None] * move.changes[move.weighed]
            chances += self._weighed.logs_of(here[:, None, move.weighed] + changes, move.rows)
        chances[~is_inside] = -np.inf
        chances += rng.gumbel(size=chances.shape)
        taken = times[self._rows, chances.argmax(axis=1)]
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
