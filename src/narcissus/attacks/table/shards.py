"""Sums over the cells that each person could fall into and over people in each cell, in shards.

All that a posterior needs of noisy tables are two linear maps: from a number in every cell to the
sum over a person's cells, for each value that the person may have (*gather*), and from beliefs to
the expected count of every cell (*scatter*). Three things make them fast:

* people who are alike are one weighted type (`narcissus.knowledge.columns`);
* known columns are merged into groups, so that the tables of one set of groups become one larger
  table: 105 tables of two known columns and the unknown one become 15 to 21, whose cells are sums
  of cells of the 105. How large a group may be is chosen by what the sums will cost;
* both maps are products with sparse matrices of zeros and ones, over all values at the same time.

The types of a large release are split into shards. Each stays with somebody, who may be a worker on
another machine. A question goes to all of them, with numbers of the cells; the answers, numbers of
the cells as well, are added in the order of the shards. How people are split depends on their
number alone, so that no digit depends on who holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._arrays import Floats
from narcissus.errors import NarcissusError
from narcissus.knowledge.columns import Targets, Types, row_keys
from narcissus.mechanisms import TableQueries
from narcissus.mechanisms.queries import Cells, Pattern
from narcissus.success import ColumnsRight

LIMITS = (1, 10, 20, 40, 80, 160, 320)
"""Most joint values of a group of columns, of which the cheapest is taken."""

BLOCK = 1 << 19
"""Beliefs that are worked on at a time: 4 MB."""

NARROW = 400
"""Values of all patterns up to which sums over joint values are products with a full matrix."""

RANGE = 1 << 22
"""Keys up to which those that occur are found by a list of all."""

TYPES = 1 << 16
"""Most types of a shard."""

BELIEFS = 1 << 21
"""Most types times values of a shard: 16 MB of beliefs."""

Groups = list[tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class _Merged:
    """The tables of a pattern, looked up in fewer and larger ones."""

    rows: NDArray[np.int32]  # The row of each type in them, shape (types, larger tables)
    sums: sparse.csr_array  # Which known parts of the released tables each of these rows adds up
    parts: Cells  # The first cell of each known part, shape (known parts,)


class CellIncidence:
    """The two maps between cells and types of people.

    Numbers of cells are a vector over the cells within somebody's reach (`cells`); those of types
    come in `blocks`.
    """

    def __init__(self, targets: Targets, types: Types | None = None) -> None:
        self.queries = targets.queries
        self.types = targets.types if types is None else types
        self.patterns = self.queries.patterns
        codes = targets.codes[self.types.first]
        about = 1 << (self.types.number - 1).bit_length()  # so that trials share a plan
        plan = _plan(self.queries, about, LIMITS)
        merged = [_merge(self.queries, pattern, codes, plan) for pattern in self.patterns]
        pairs = list(zip(merged, self.patterns, strict=True))
        self._sums = [layout.sums for layout in merged]
        self._shapes = [(len(layout.parts), pattern.size) for layout, pattern in pairs]
        self.cells = np.concatenate(
            [(layout.parts[:, None] + np.arange(pattern.size)).ravel() for layout, pattern in pairs]
        )
        every = self.queries.split(np.arange(self.queries.values))
        self._selectors: list[Floats] | None = None
        if sum(pattern.size for pattern in self.patterns) <= NARROW:
            self._selectors = [
                (p.values(every)[:, None] == np.arange(p.size)).astype(np.float64)
                for p in self.patterns
            ]
        step = max(1, BLOCK // self.queries.values)
        number = self.types.number
        self.blocks = [slice(a, min(a + step, number)) for a in range(0, number, step)]
        self._rows = [
            [_zero_one(layout.rows[block], layout.sums.shape[0]) for layout in merged]
            for block in self.blocks
        ]

    @property
    def reads(self) -> int:
        """How many values one gather reads, which is what a pass costs."""
        return sum(
            rows.nnz * pattern.size
            for block in self._rows
            for rows, pattern in zip(block, self.patterns, strict=True)
        )

    def raised(self, vector: Floats) -> list[Floats]:
        """Return a vector over cells as the larger tables that `gathered` looks it up in."""
        return [s @ part for s, part in zip(self._sums, self.parts(vector), strict=True)]

    def gathered(self, block: int, raised: list[Floats]) -> list[Floats]:
        """Sum over the cells of a block's types: for each pattern, shape (types, size)."""
        return [rows @ table for rows, table in zip(self._rows[block], raised, strict=True)]

    def summed(self, joint: Floats) -> list[Floats]:
        """Sum over joint values to those of each pattern: (types, values) -> (types, size)."""
        if self._selectors is None:
            return [pattern.sum_to(joint) for pattern in self.patterns]
        return [
            joint if pattern.whole else joint @ selector
            for pattern, selector in zip(self.patterns, self._selectors, strict=True)
        ]

    def nothing(self) -> list[Floats]:
        """Return larger tables of zeros, which `scatter` adds to."""
        pairs = zip(self._sums, self._shapes, strict=True)
        return [np.zeros((sums.shape[0], size)) for sums, (_, size) in pairs]

    def scatter(self, block: int, tables: list[Floats], parts: Iterable[Floats]) -> None:
        """Add what a block's types put into their cells: for each pattern, shape (types, size)."""
        for index, (rows, part) in enumerate(zip(self._rows[block], parts, strict=True)):
            tables[index] += rows.T @ part

    def lowered(self, tables: list[Floats]) -> Floats:
        """Return the sums in larger tables as a vector over cells."""
        pairs = zip(self._sums, tables, strict=True)
        return np.concatenate([(sums.T @ table).ravel() for sums, table in pairs])

    def incidence(self) -> list[sparse.csr_array]:
        """Return for each pattern which known parts each type has: (types, known parts)."""
        return [
            sparse.csr_array(sparse.vstack([rows[index] for rows in self._rows]) @ sums)
            for index, sums in enumerate(self._sums)
        ]

    def parts(self, vector: Floats) -> list[Floats]:
        """Return a vector over cells pattern by pattern, shape (known parts, size)."""
        edges = np.cumsum([a * b for a, b in self._shapes])[:-1]
        pairs = zip(np.split(vector, edges), self._shapes, strict=True)
        return [part.reshape(shape) for part, shape in pairs]


def _zero_one(columns: NDArray[np.int32], width: int) -> sparse.csr_array:
    """Return the matrix with a one in each of the columns that a row names."""
    rows, each = columns.shape
    starts = np.arange(0, rows * each + 1, each, dtype=np.int32)
    ones = np.ones(rows * each)
    return sparse.csr_array((ones, columns.ravel(), starts), shape=(rows, width))


def _groups(queries: TableQueries, limit: int) -> Groups:
    """Put the known columns into groups of at most ``limit`` joint values, the largest first."""
    groups: list[list[int]] = []
    sizes = queries.sizes
    for column in sorted(queries.known, key=lambda c: -sizes[c]):
        for group in groups:
            if sizes[column] * prod(sizes[c] for c in group) <= limit:
                group.append(column)
                break
        else:
            groups.append([column])
    return [tuple(group) for group in groups]


@lru_cache(maxsize=32)
def _plan(queries: TableQueries, types: int, limits: tuple[int, ...]) -> Groups:
    """Choose the groups with which the two maps cost least, in values that are read."""
    plans = [_groups(queries, limit) for limit in limits]
    costs: list[int] = []
    for groups in plans:
        cost = 0
        for pattern in queries.patterns:
            larger, home = _larger(queries, pattern, groups)
            counts = np.bincount(home, minlength=len(larger))
            sizes = [
                prod(queries.sizes[c] for g in group_set for c in groups[g]) for group_set in larger
            ]
            rows = sum(min(types, a) * int(b) for a, b in zip(sizes, counts, strict=True))
            cost += pattern.size * (types * len(larger) + rows)
        costs.append(cost)
    return plans[int(np.argmin(costs))]


def _larger(
    queries: TableQueries, pattern: Pattern, groups: Groups
) -> tuple[list[frozenset[int]], list[int]]:
    """Return the larger tables of a pattern as sets of groups, and that of each of its tables."""
    d = len(queries.sizes)
    group_of = {column: index for index, group in enumerate(groups) for column in group}
    sets = [
        frozenset(group_of[c if c < d else queries.coarse[c - d].of] for c in table)
        for table in pattern.knowns.tolist()
    ]
    numbers: dict[frozenset[int], int] = {}
    home: dict[frozenset[int], int] = {}
    for group_set in sorted(set(sets), key=lambda s: (-len(s), sorted(s))):
        within = (
            n for other, n in numbers.items() if len(other) > len(group_set) and group_set <= other
        )
        home[group_set] = next(within, len(numbers))
        if home[group_set] == len(numbers):
            numbers[group_set] = len(numbers)
    return list(numbers), [home[group_set] for group_set in sets]


def _merge(
    queries: TableQueries, pattern: Pattern, codes: NDArray[np.int32], groups: Groups
) -> _Merged:
    """Lay out the larger tables of a pattern, of the rows that somebody is in."""
    larger, home = _larger(queries, pattern, groups)
    coarse = [grouping.numbers[codes[:, grouping.of]] for grouping in queries.coarse]
    codes = np.column_stack([codes, *coarse]) if coarse else codes
    rows = np.empty((len(codes), len(larger)), dtype=np.int32)
    cells: list[NDArray[np.int64]] = []
    start = 0
    starts: list[int] = [0]
    for index, group_set in enumerate(larger):
        columns = [c for group in sorted(group_set) for c in groups[group]]
        sizes = [queries.sizes[c] for c in columns]
        number, someone = _numbered(row_keys(codes[:, columns], sizes), prod(sizes))
        rows[:, index] = start + number
        start += len(someone)
        tables = np.flatnonzero(np.array(home) == index)
        offsets = codes[someone][:, pattern.knowns[tables]] * pattern.strides[tables]
        cells.append((pattern.offsets[tables] + offsets.sum(axis=2)).ravel())
        starts.extend(starts[-1] + len(tables) * np.arange(1, len(someone) + 1))
    parts, column = np.unique(np.concatenate(cells), return_inverse=True)
    sums = sparse.csr_array(
        (np.ones(len(column)), column.astype(np.int32), np.array(starts, dtype=np.int32)),
        shape=(start, len(parts)),
    )
    return _Merged(rows, sums, parts)


def _numbered(keys: NDArray[np.int64], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the number of each person among the keys that occur, and somebody of each number."""
    if most > RANGE:
        _, someone, number = np.unique(keys, return_index=True, return_inverse=True)
        return number, someone
    someone = np.full(most, -1, dtype=np.intp)
    someone[keys] = np.arange(len(keys))
    occurring = np.flatnonzero(someone >= 0)
    number = np.empty(most, dtype=np.intp)
    number[occurring] = np.arange(len(occurring))
    return number[keys], someone[occurring]


def by_the_whole(incidence: CellIncidence, q: Floats, variance: Floats) -> Floats:
    """Return own terms ``E`` by inverting ``H`` over types and values (Woodbury's identity)."""
    types, values = q.shape
    every = incidence.queries.split(np.arange(values))
    coupling = np.zeros((types, values, types, values))
    precisions = incidence.parts(1 / variance)
    each = zip(incidence.patterns, incidence.incidence(), precisions, strict=True)
    for pattern, cells, precision in each:
        value_of = pattern.values(every)
        for value in range(pattern.size):
            has = (value_of == value).astype(np.float64)
            shared = ((cells * precision[:, value]) @ cells.T).toarray()
            coupling += shared[:, None, :, None] * np.multiply.outer(has, has)[:, None]
    flat = coupling.reshape(types * values, -1)
    spread = np.zeros((types, values, types, values))
    diagonal = np.arange(types)
    covariances = q[:, :, None] * np.eye(values) - q[:, :, None] * q[:, None, :]
    spread[diagonal, :, diagonal] = incidence.types.people[:, None, None] * covariances
    response = np.linalg.solve(
        (np.eye(types * values) + spread.reshape(flat.shape) @ flat).T, flat
    ).reshape(coupling.shape)
    inner = response[diagonal, :, diagonal]
    centred = np.eye(values) - q[:, None, :]
    inner = centred @ inner @ centred.swapaxes(1, 2)
    # Take the person out of H: what is left is larger.
    without = np.linalg.solve(np.eye(values) - inner * q[:, None, :], inner)
    return np.einsum("tvv->tv", without)


def by_the_diagonal(incidence: CellIncidence, beliefs: Floats, diagonal: Floats) -> Floats:
    """Return ``E`` by the diagonal of ``H``, which leaves out that tables repeat each other."""
    raised = incidence.raised(1 / diagonal)
    terms = np.empty_like(beliefs)
    for block, where in enumerate(incidence.blocks):
        q = beliefs[where]
        parts = incidence.gathered(block, raised)
        sums = [pattern.sum_to(q) for pattern in incidence.patterns]
        pulled = incidence.queries.spread([a * b for a, b in zip(parts, sums, strict=True)])
        whole = incidence.queries.spread(parts)
        terms[where] = whole - 2 * pulled + (q * pulled).sum(axis=1, keepdims=True)
    return terms


class Shard:
    """Some types of people: what is believed of them, and what they add to the cells.

    Its probes are drawn by its ``number``; ``log_prior`` has shape (types, values).
    """

    def __init__(self, incidence: CellIncidence, log_prior: Floats, number: int = 0) -> None:
        self.incidence = incidence
        self.log_prior = log_prior
        self.terms: Floats | None = None
        self.types = np.zeros((0, 0))
        """What is believed of each type, shape (types, values), since `believe`."""
        self._now = log_prior  # with own terms
        self._raw = self.types  # own terms, not scaled yet
        self._people = incidence.types.people.astype(np.float64)
        self._where: NDArray[np.intp] | slice = slice(None)
        self._rng = np.random.default_rng(number)  # part of the method, not of the trial

    def cells(self) -> NDArray[np.int64]:
        """Return the numbers of the cells that somebody of the shard may be in, ascending."""
        return self.incidence.cells

    def set_index(self, cells: NDArray[np.int64]) -> None:
        """Set the cells of all vectors that come; those that go back are of the shard's own."""
        self._where = np.searchsorted(cells, self.incidence.cells)

    def evaluate(self, theta: Floats) -> tuple[float, Floats]:
        """Return the sum over people of ``log Z``, and the expected counts of the cells."""
        incidence = self.incidence
        raised, sums = incidence.raised(theta[self._where]), incidence.nothing()
        total = 0.0
        for block in range(len(incidence.blocks)):
            belief, log_sum = self._block(block, raised)
            people = self._people[incidence.blocks[block]]
            total += float(people @ log_sum)
            belief *= people[:, None]
            incidence.scatter(block, sums, incidence.summed(belief))
        return total, incidence.lowered(sums)

    def believe(self, theta: Floats) -> tuple[Floats, Floats]:
        """Update the beliefs; return the cells' counts and their variance."""
        incidence = self.incidence
        raised = incidence.raised(theta[self._where])
        sums, squares = incidence.nothing(), incidence.nothing()
        types = np.empty_like(self.log_prior)
        for block, where in enumerate(incidence.blocks):
            types[where], _ = self._block(block, raised)
            people = self._people[where, None]
            parts = incidence.summed(types[where])
            incidence.scatter(block, sums, (people * part for part in parts))
            incidence.scatter(block, squares, (people * part * (1 - part) for part in parts))
        self.types = types
        return incidence.lowered(sums), np.maximum(incidence.lowered(squares), 0.0)

    def curve(self, vector: Floats) -> Floats:
        """Multiply a vector by the covariance of the cells' counts, people being independent."""
        incidence = self.incidence
        raised, sums = incidence.raised(vector[self._where]), incidence.nothing()
        for block, where in enumerate(incidence.blocks):
            belief = self.types[where]
            field = incidence.queries.spread(incidence.gathered(block, raised))
            field = field - np.einsum("tv,tv->t", field, belief)[:, None]
            field *= belief * self._people[where, None]
            incidence.scatter(block, sums, incidence.summed(field))
        return incidence.lowered(sums)

    def probe(self) -> Floats:
        """Draw normal errors of the cells' counts with the covariance that beliefs give them."""
        incidence = self.incidence
        sums = incidence.nothing()
        for block, where in enumerate(incidence.blocks):
            belief = self.types[where]
            root = np.sqrt(belief)
            draw = root * self._rng.standard_normal(belief.shape)
            draw -= belief * draw.sum(axis=1, keepdims=True)
            draw *= np.sqrt(self._people[where, None])
            incidence.scatter(block, sums, incidence.summed(draw))
        return incidence.lowered(sums)

    def respond(self, curvature: Floats, whole: bool) -> None:
        """Compute the own terms, which `correct` adds, by the whole matrix or by its diagonal.

        The curvature, shape (cells,), is the variance of the noise; for the diagonal that of the
        counts besides. By the whole matrix all types must be of this shard.
        """
        response = by_the_whole if whole else by_the_diagonal
        self._raw = response(self.incidence, self.types, curvature[self._where])

    def correct(self, factor: float) -> float:
        """Add the own terms so many times; return how far that moves people, in nats in all."""
        terms = -0.5 * (self._raw * factor)
        change = terms if self.terms is None else terms - self.terms
        self.terms, self._now = terms, self.log_prior + terms
        mean = np.einsum("tv,tv->t", self.types, change)
        moved = np.einsum("tv,tv->t", self.types, np.abs(change - mean[:, None]))
        return float((moved * self._people).sum())

    def result(self) -> Floats:
        """Return what is believed of each type, shape (types, values)."""
        return self.types

    def _block(self, block: int, raised: list[Floats]) -> tuple[Floats, Floats]:
        """Return the beliefs of a block's types, and the logarithms of their sums."""
        incidence = self.incidence
        logits = incidence.queries.spread(incidence.gathered(block, raised))
        logits += self._now[incidence.blocks[block]]
        top = _largest(logits)
        logits -= top[:, None]
        np.exp(logits, out=logits)
        total = logits @ np.ones(logits.shape[1])
        logits *= (1 / total)[:, None]
        return logits, np.log(total) + top


def _largest(logits: Floats) -> Floats:
    """Return the largest of each row; of few columns faster than NumPy's own."""
    if logits.shape[1] > 32:
        return logits.max(axis=1)
    top = logits[:, 0].copy()
    for column in logits.T[1:]:
        np.maximum(top, column, out=top)
    return top


@dataclass(frozen=True, eq=False)
class ShardMaker:
    """Makes a shard, wherever that is: what is known of its types, in the order of them."""

    queries: TableQueries
    success: ColumnsRight
    codes: NDArray[np.int32]
    prior: Floats
    people: NDArray[np.intp]
    number: int

    def __call__(self) -> Shard:
        every = np.arange(len(self.people))
        incidence = CellIncidence(
            Targets(self.queries, self.codes, self.prior, self.success),
            Types(every, every, self.people),
        )
        with np.errstate(divide="ignore"):
            return Shard(incidence, np.log(self.prior), self.number)


class HeldShards(Protocol):
    """State that is held somewhere and answers questions, each by a separate method."""

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method that changes nothing; return the answers in order."""
        ...

    def tell(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method that changes what is held; return the answers in order."""
        ...

    def close(self) -> None: ...


class Holder(Protocol):
    """Holds state that it is told how to make."""

    def hold(self, makers: Sequence[Callable[[], Any]]) -> HeldShards: ...


class HeldHere:
    """State held in this process."""

    def __init__(self, makers: Sequence[Callable[[], Any]]) -> None:
        self.things = [make() for make in makers]

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method; return the answers in order."""
        return [getattr(thing, name)(*arguments) for thing in self.things]

    tell = ask

    def close(self) -> None:
        self.things.clear()


_holder: ContextVar[Holder | None] = ContextVar("holder", default=None)


@contextmanager
def holding(holder: Holder) -> Generator[None]:
    """Hold the shards of large releases by somebody else within the block."""
    before = _holder.set(holder)
    try:
        yield
    finally:
        _holder.reset(before)


class ShardedPosterior:
    """All types of people, shard by shard."""

    def __init__(self, held: HeldShards, people: int, size: int) -> None:
        self.people = people
        self.size = size  # types times values
        self.ask, self.tell = held.ask, held.tell
        shard_cells = self.ask("cells")
        # numbers of the cells within somebody's reach, in the order of all vectors over cells
        self.cells: NDArray[np.int64] = (
            shard_cells[0] if len(shard_cells) == 1 else np.unique(np.concatenate(shard_cells))
        )
        self._places = [np.searchsorted(self.cells, cells) for cells in shard_cells]
        if len(shard_cells) > 1:
            self.tell("set_index", self.cells)

    def added(self, answers: Sequence[Floats]) -> Floats:
        """Add numbers of the shards' own cells, in the order of the shards: shape (cells,)."""
        total = np.zeros(len(self.cells))
        for place, answer in zip(self._places, answers, strict=True):
            total[place] += answer
        return total


def shares_of(types: int, values: int) -> int:
    """Return into how many shards so many types are split."""
    return -(-types // max(1, min(TYPES, BELIEFS // values)))


@contextmanager
def split(targets: Targets) -> Generator[ShardedPosterior]:
    """Hold everybody in shards: here if they are few, else with whoever holds them now."""
    types, (people, values) = targets.types, targets.prior.shape
    number = shares_of(types.number, values)
    edges = [types.number * place // number for place in range(number + 1)]
    holder = _holder.get() if number > 1 else None
    makers: list[ShardMaker] = []
    for n, (begin, end) in enumerate(pairwise(edges)):
        first = types.first[begin:end]
        codes, prior, alike = targets.codes[first], targets.prior[first], types.people[begin:end]
        makers.append(ShardMaker(targets.queries, targets.success, codes, prior, alike, n))
    shards = HeldHere(makers) if holder is None else holder.hold(makers)
    try:
        yield ShardedPosterior(shards, people, types.number * values)
    except NarcissusError:  # nobody may be left to let go
        raise
    except Exception:
        shards.close()
        raise
    shards.close()
