"""All published tables as one system of sums over the finest cells that they tell apart.

The unknowns are the numbers of people in cells of dimensions crossed with each other, whole and not
negative; each published cell limits a sum of them. Crossing all dimensions is exact. Where that is
too large, the dimensions that a table joins are completed to a chordal graph, and its cliques are
crossed: cliques that agree where they meet extend to all dimensions, in whole numbers too, since
such a graph has a junction tree (Lauritzen 1996). Where that is
too large as well, each table is crossed by itself, and tables agree where they meet: every limit
still holds, but may be wider than necessary (`System.exact` is false).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import reduce
from itertools import combinations, pairwise
from math import ceil, floor, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from narcissus._validation import did_you_mean
from narcissus._visible import quoted, visible
from narcissus.counts.keys import differing
from narcissus.counts.order import Place, place_of
from narcissus.counts.ranges import CodedRange, cut_ranges
from narcissus.counts.reading import Cell, Variable
from narcissus.errors import InputError, TooLargeError

Ints = NDArray[np.int64]
BIG = 1 << 40
"""Stands for no limit; every count that is read is far below it."""
CROSSED = 5_000
"""Most finest cells of all dimensions crossed."""
IN_CLIQUES = 60_000
"""Most cells of all cliques together; of tables by themselves, `MOST`."""
MOST = 2_000_000
LARGEST_SUM = 1 << 38
"""Most that a row of a share may sum to, so that it stays below what stands for no limit."""
OTHER = "(other)"
EVERYBODY = "\0all"
"""Begins what stands for the labels of a dimension of which it is open what holds what."""


@dataclass(frozen=True)
class Within:
    """A part of all people that a table is about: some labels of a dimension, or all but these."""

    dimension: str
    labels: tuple[str, ...]
    is_but: bool = False


@dataclass(frozen=True, kw_only=True)
class Structure:
    """What is declared of dimensions.

    Options
    -------
    parents: of a dimension, the group that each label is a part of (a hierarchy).
    others: dimensions with people in none of the labels that are shown.
    within: of a file, the part of all people that it is about.
    variable: a dimension of this name has ranges of the variable as labels.
    ranges: of a dimension, labels that are ranges of whole numbers and overlap.
    ordered: pairs of cells, by file, line and column, of which the first has as many people as the
        second, or more.
    """

    parents: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    others: tuple[str, ...] = ()
    within: Mapping[str, Sequence[Within]] = field(default_factory=dict[str, Sequence[Within]])
    variable: Variable | None = None
    ranges: Mapping[str, Mapping[str, CodedRange]] = field(
        default_factory=dict[str, Mapping[str, CodedRange]]
    )
    ordered: tuple[tuple[Place, Place], ...] = ()


@dataclass(frozen=True)
class Dimension:
    """A dimension: its finest labels, and which of them each label holds."""

    name: str
    leaves: tuple[str, ...]
    holds: Mapping[str, Ints]


def dimensions_of(cells: Sequence[Cell], given: Structure) -> dict[str, Dimension]:
    """Collect the dimensions of all tables, sorted by name.

    Raises `InputError` for what is declared of unknown labels or dimensions, a hierarchy in a
    circle, and tables that share a dimension and none of its labels.
    """
    shown: dict[str, dict[str, set[str]]] = {}
    variable = given.variable
    for cell in cells:
        for name, label in cell.labels.items():
            shown.setdefault(name, {}).setdefault(cell.file, set()).add(label)
            if variable is not None and variable.is_named(name) and variable.span(label) is None:
                raise InputError(
                    f"{cell.place}: {quoted(label)} is no range of `{name}` from {variable.low} "
                    f"to {variable.high}: write 18, 0-17, <5 or 64+"
                )
    _require_known({cell.file for cell in cells}, shown, given)
    hidden = {p.dimension for parts in given.within.values() for p in parts} - set(shown)
    dimensions = {name: _dimension(name, by_file, given) for name, by_file in shown.items()}
    for name in hidden:
        parts = [p for each in given.within.values() for p in each if p.dimension == name]
        labels = sorted({label for part in parts for label in part.labels})
        places = {label: np.array([at]) for at, label in enumerate(labels)}
        dimensions[name] = Dimension(name, (*labels, OTHER), places)
    return dict(sorted(dimensions.items()))


def _require_known(
    files: set[str], shown: Mapping[str, Mapping[str, set[str]]], given: Structure
) -> None:
    """Refuse what is declared of a table, a dimension or a label that is not there."""
    for file, parts in given.within.items():
        if file not in files:
            raise InputError(f"no table is named {file}{did_you_mean(file, files)}")
        for part in parts:
            if known := shown.get(part.dimension):
                labels = set[str]().union(*known.values()) | set(
                    given.parents.get(part.dimension, {}).values()
                )
                for label in part.labels:
                    near = get_close_matches(label.casefold(), map(str.casefold, labels), 1, 0.8)
                    is_own = file in known and not part.is_but  # which would show it
                    if label not in labels and (near or is_own):
                        sign = "!=" if part.is_but else "="
                        raise InputError(
                            f"{file} is declared to be about {visible(part.dimension)} {sign} "
                            f"{visible(label)}, which no table shows{did_you_mean(label, labels)}"
                        )
    for name in [*given.parents, *given.others]:
        if name not in shown:
            raise InputError(f"no table has the dimension `{name}`{did_you_mean(name, shown)}")


def _members(name: str, leaves: Sequence[str], parents: Mapping[str, str]) -> dict[str, list[int]]:
    """Return the places of the leaves that each label of a hierarchy holds."""
    members: dict[str, list[int]] = {}
    for at, leaf in enumerate(leaves):
        label, seen = leaf, set[str]()
        while label is not None:
            if label in seen:
                raise InputError(f"the hierarchy of `{name}` runs in a circle at {label}")
            seen.add(label)
            members.setdefault(label, []).append(at)
            label = parents.get(label)
    return members


def _named_labels(name: str, given: Structure) -> set[str]:
    """Return labels of a dimension that a declared part of the people has."""
    parts = [part for each in given.within.values() for part in each if part.dimension == name]
    return {label for part in parts for label in part.labels}


def _is_everybody(
    name: str,
    members: Mapping[str, Sequence[int]],
    by_file: Mapping[str, Set[str]],
    given: Structure,
) -> bool:
    """Return whether a declared part of the people, or what it leaves out, has all leaves.

    Then there are people with none of the labels, or the declaration says nothing. Raises
    `InputError` where a table about everybody shows the dimension, so that there are none.
    """
    whole = {at for places in members.values() for at in places}
    for file, parts in given.within.items():
        for part in parts:
            some = {at for label in part.labels for at in members.get(label, ())}
            if part.dimension != name or some < whole:
                continue
            everybody = next((other for other in by_file if not given.within.get(other)), None)
            if everybody is not None:
                declared = f"{file}:{name}{'!=' if part.is_but else '='}{','.join(part.labels)}"
                raise InputError(
                    f"`--within {visible(declared)}`: these are all labels of `{visible(name)}`, "
                    f"and all people of {visible(everybody)} have one of them. Declare `--others "
                    f"{visible(name)}` if there are people with none, or leave `--within` out"
                )
            return True
    return False


def _dimension(name: str, by_file: Mapping[str, set[str]], given: Structure) -> Dimension:
    labels = sorted(set[str]().union(*by_file.values(), _named_labels(name, given)))
    variable = given.variable
    if variable is not None and variable.is_named(name):
        return _ranges(name, by_file, variable, is_open=name in given.others)
    parents = given.parents.get(name, {})
    groups = set(parents.values())
    pieces = cut_ranges(given.ranges.get(name, {}))
    spans = {label for holders in pieces.values() for label in holders}
    leaves = sorted((set(labels) | set(parents) | set(pieces)) - groups - (spans - set(pieces)))
    if name in given.others or _is_everybody(name, _members(name, leaves, parents), by_file, given):
        leaves.append(OTHER)
    members = _members(name, leaves, parents)
    place = {leaf: at for at, leaf in enumerate(leaves)}
    for piece, holders in pieces.items():
        for label in holders:
            if label != piece:
                members.setdefault(label, []).append(place[piece])
    if lost := next((label for label in groups if label not in members), None):
        raise InputError(f"the hierarchy of `{name}` runs in a circle at {lost}")
    holds = {label: np.array(sorted(elements)) for label, elements in members.items()}
    each = [
        (file, set().union(*(holds[element].tolist() for element in elements)), elements)
        for file, elements in by_file.items()
    ]
    for (file, leaf_places, some), (other, theirs, other_set) in combinations(each, 2):
        if not leaf_places & theirs and not any(
            label.startswith(EVERYBODY) for label in (*some, *other_set)
        ):
            raise InputError(
                f"{file} and {other} share no label of `{visible(name)}`: "
                f"{', '.join(sorted(some)[:3])} and {', '.join(sorted(other_set)[:3])}; name them "
                f"alike, or declare which are parts of which: --hierarchy {name}=FILE"
            )
    return Dimension(name, tuple(leaves), holds)


def _ranges(
    name: str, by_file: Mapping[str, set[str]], variable: Variable, *, is_open: bool
) -> Dimension:
    """Make leaves of ranges: the parts that the ends of all tables cut the variable into.

    Raises `InputError` for two ranges of one table that overlap, of which none holds the other.
    """
    spans: dict[str, tuple[int, int]] = {}
    for file, labels in by_file.items():
        file_spans = {label: span for label in sorted(labels) if (span := variable.span(label))}
        spans |= file_spans
        for (key, (a, b)), (other, (c, d)) in combinations(file_spans.items(), 2):
            if a < c <= b < d or c < a <= d < b:
                raise InputError(
                    f"{file}: the ranges {key} and {other} of `{name}` overlap, and none holds the "
                    "other; mend one, or put them into separate tables"
                )
    cuts = sorted(
        {variable.low, *(a for a, _ in spans.values()), *(b + 1 for _, b in spans.values())}
        - {variable.high + 1}
    )
    ends = [cut - 1 for cut in cuts[1:]] + [variable.high]
    leaves = [f"{a}-{b}" if a < b else f"{a}" for a, b in zip(cuts, ends, strict=True)]
    holds = {
        label: np.array([at for at, cut in enumerate(cuts) if a <= cut <= b])
        for label, (a, b) in spans.items()
    }
    return Dimension(name, (*leaves, *([OTHER] if is_open else [])), holds)


def selection(cell: Cell, dimensions: Mapping[str, Dimension], given: Structure) -> dict[str, Ints]:
    """Return which leaves of which dimensions a cell is about; a dimension left out: of all."""
    leaves: dict[str, Ints] = {
        name: dimensions[name].holds[label] for name, label in cell.labels.items()
    }
    for part in given.within.get(cell.file, ()):
        dimension = dimensions[part.dimension]
        part_leaves = reduce(np.union1d, (dimension.holds[label] for label in part.labels))
        everything = leaves.get(part.dimension, np.arange(len(dimension.leaves)))
        keep = np.setdiff1d if part.is_but else np.intersect1d
        leaves[part.dimension] = keep(everything, part_leaves)
    return leaves


def places_of(
    column: Any, dimension: Dimension, *, named: bool = False, variable: Variable | None = None
) -> Ints:
    """Return the leaf of each person; -1: no table shows it, or ``named``, by its name.

    A whole number of the ``variable`` is in the leaf whose range holds it.
    """
    known = {leaf: at for at, leaf in enumerate(dimension.leaves)}
    others = -1 if named else known.get(OTHER, -1)
    if variable is not None and variable.is_named(dimension.name):
        spans = [(at, *(variable.span(leaf) or (1, 0))) for leaf, at in known.items()]
        values = {label: variable.value(label) for label in set(column) - set(known)}
        known |= {
            label: at
            for label, value in values.items()
            for at, low, high in spans
            if value is not None and low <= value <= high
        }
    return column.map(known).fillna(others).to_numpy(np.int64)


@dataclass(frozen=True, eq=False)
class System:
    """Limits of sums: row i is about published cell i, rows beyond these link blocks."""

    matrix: Any  # csr_array of whole factors, shape (rows, unknowns)
    low: Ints
    high: Ints  # BIG: no limit
    sizes: Ints  # of unknowns: how many finest cells are one, since no table tells them apart
    names: list[
        dict[str, str | int]
    ]  # of unknowns: labels of all dimensions, of the first such cell
    exact: bool  # whether limits of this system are those of all dimensions crossed
    is_whole: bool  # whether all dimensions are crossed
    finest: Ints | None  # with an axis for each dimension: unknowns; -1: settled by a published 0
    blocks: tuple[tuple[tuple[str, ...], Ints], ...] = ()
    """Dimensions that are crossed with each other, and their unknowns, as of `finest`."""


def build(
    cells: Sequence[Cell],
    dimensions: Mapping[str, Dimension],
    given: Structure,
    *,
    keep_zeros: bool = False,
    crossed_at_most: int = CROSSED,
    with_keys: bool = False,
) -> System:
    """Build the system of all cells; ``keep_zeros`` keeps unknowns that a published 0 settles.

    ``with_keys``: cells that a key printed differently are not of the same people.
    """
    chosen = [selection(cell, dimensions, given) for cell in cells]
    low = np.array([cell.count.low for cell in cells], dtype=np.int64)
    high = np.array(
        [BIG if cell.count.high is None else cell.count.high for cell in cells], dtype=np.int64
    )
    zeros = np.zeros(len(cells), bool) if keep_zeros else high == 0
    used = [frozenset(region) for region in chosen]
    blocks, exact = _blocks(used, chosen, zeros, dimensions, crossed_at_most)
    crossed = [_Crossed(block, dimensions, used, chosen, zeros) for block in blocks]
    rows: list[Ints] = []
    wholes: list[Ints] = []
    begin = np.cumsum([0, *(region.count for region in crossed)])
    for cell, about, region in zip(cells, used, chosen, strict=True):
        at = next(i for i, block in enumerate(blocks) if about <= set(block))
        rows.append(begin[at] + crossed[at].select(region))
        share, whole = cell.share, rows[-1]
        if share is not None and share.number is None:
            about_whole = selection(replace(cell, labels=share.whole), dimensions, given)
            whole = begin[at] + crossed[at].select(about_whole)
        wholes.append(whole)
    largest = max([1, *high[high < BIG].tolist()])
    known = {
        frozenset((name, int(leaves[0])) for name, leaves in region.items()): int(low[at])
        for at, region in enumerate(chosen)
        if low[at] == high[at] and all(len(leaves) == 1 for leaves in region.values())
    }
    signs = [np.ones(len(row), np.int64) for row in rows]
    values, above = list[int](), list[tuple[int, int]]()
    for plus, minus, value in _links(blocks, crossed, begin, dimensions, known):
        rows.append(np.concatenate([plus, minus]))
        signs.append(np.repeat([1, -1], [len(plus), len(minus)]))
        values.append(value)
    for row, sign in _of_keys(cells, rows, begin) if with_keys else ():
        rows.append(row)
        signs.append(sign)
        above.append((1, BIG))
    for row, sign in _of_order(cells, rows, given):
        rows.append(row)
        signs.append(sign)
        above.append((0, BIG))
    for row, sign, low_end, high_end in _of_shares(cells, list(rows[: len(cells)]), wholes):
        if np.abs(sign).max(initial=0) * largest * len(row) > LARGEST_SUM:
            exact = False  # without the row, limits hold
            continue
        rows.append(row)
        signs.append(sign)
        above.append((low_end, high_end))
    matrix = csr_array(
        (np.concatenate(signs), np.concatenate(rows), np.cumsum([0, *map(len, rows)])),
        shape=(len(rows), int(begin[-1])),
        dtype=np.int64,
    )
    linked = np.array([*((n, n) for n in values), *above], np.int64).reshape(-1, 2)
    matrix, sizes, columns, places = _merged(matrix)
    each = tuple(
        (tuple(block), region.finest(places[a:b]))
        for block, region, (a, b) in zip(blocks, crossed, pairwise(begin), strict=True)
    )
    finest = each[0][1] if len(blocks) == 1 else None
    block = (np.searchsorted(begin, columns, "right") - 1).tolist()
    return System(
        matrix,
        np.concatenate([low, linked[:, 0]]),
        np.concatenate([high, linked[:, 1]]),
        sizes,
        [crossed[at].labels(k - begin[at]) for at, k in zip(block, columns.tolist(), strict=True)],
        exact,
        len(blocks) == 1,
        finest,
        each,
    )


def _of_shares(
    cells: Sequence[Cell], rows: Sequence[Ints], wholes: Sequence[Ints]
) -> Iterator[tuple[Ints, Ints, int, int]]:
    """Yield unknowns, factors and limits of rows that hold printed shares to their wholes.

    A share above 0 is that of a person or more.
    """
    for cell, row, whole in zip(cells, rows, wholes, strict=True):
        share, ones = cell.share, np.ones(len(row), np.int64)
        if share is None:
            continue
        low, high = share.ends
        if share.number is not None:
            yield row, ones, ceil(low * share.number), floor(high * share.number)
            continue
        if low > 0:
            yield row, ones, 1, BIG
        is_in = np.isin(whole, row)
        for end, sign in ((low, 1), (high, -1)):
            factors = is_in * end.denominator - np.full(len(whole), end.numerator)
            some = factors != 0
            yield whole[some], sign * factors[some], 0, BIG


def _of_order(
    cells: Sequence[Cell], rows: Sequence[Ints], given: Structure
) -> list[tuple[Ints, Ints]]:
    """Return unknowns and signs of rows by which a cell has as many people as another, or more."""
    places = {place_of(cell): row for cell, row in zip(cells, rows, strict=False)}
    made: list[tuple[Ints, Ints]] = []
    for larger, smaller in given.ordered:
        if larger in places and smaller in places:
            more, less = places[larger], places[smaller]
            each = np.concatenate([np.setdiff1d(more, less), np.setdiff1d(less, more)])
            made.append((each, np.where(np.isin(each, more), 1, -1)))
    return made


def _of_keys(
    cells: Sequence[Cell], rows: Sequence[Ints], begin: Ints
) -> Iterator[tuple[Ints, Ints]]:
    """Yield unknowns of which one holds somebody, since two cells have another key."""
    block = [int(np.searchsorted(begin, row[0], "right")) if len(row) else 0 for row in rows]
    for chosen in set(block[: len(cells)]):
        mine = [at for at in range(len(cells)) if block[at] == chosen]
        for row in differing([cells[at] for at in mine], [rows[at] for at in mine]):
            yield row, np.ones(len(row), np.int64)


class _Crossed:
    """Some dimensions crossed, without the cells that a published 0 settles."""

    def __init__(
        self,
        block: Sequence[str],
        dimensions: Mapping[str, Dimension],
        used: Sequence[frozenset[str]],
        chosen: Sequence[Mapping[str, Ints]],
        zeros: Any,
    ) -> None:
        self._each = [dimensions[name] for name in block]
        self._whole = {dimension.name: np.arange(len(dimension.leaves)) for dimension in self._each}
        shape = tuple(len(dimension.leaves) for dimension in self._each)
        alive = np.ones(shape, bool)
        for at in np.flatnonzero(zeros).tolist():
            if used[at] <= set(block):
                alive[self._mesh(chosen[at])] = False
        self.count = int(alive.sum())
        self._ids = np.where(alive, np.cumsum(alive).reshape(shape) - 1, -1)
        self._places = np.argwhere(alive)

    def _mesh(self, chosen: Mapping[str, Ints]) -> Any:
        return np.ix_(*(chosen.get(name, whole) for name, whole in self._whole.items()))

    def select(self, chosen: Mapping[str, Ints]) -> Ints:
        """Return the numbers of the cells in some leaves."""
        numbers = self._ids[self._mesh(chosen)].ravel()
        return numbers[numbers >= 0]

    def finest(self, places: Ints) -> Ints:
        """Return the unknown of each cell, where those of the block are at these places."""
        return np.where(self._ids < 0, -1, np.append(places, -1)[self._ids])

    def labels(self, at: int) -> dict[str, str | int]:
        return {d.name: d.leaves[k] for d, k in zip(self._each, self._places[at], strict=True)}


def _blocks(
    used: Sequence[frozenset[str]],
    chosen: Sequence[Mapping[str, Ints]],
    zeros: Any,
    dimensions: Mapping[str, Dimension],
    crossed_at_most: int,
) -> tuple[list[list[str]], bool]:
    """Choose which dimensions are crossed with which, and whether that is exact."""
    joined = {frozenset(names) for names in used}
    # what is part of a larger one is in it
    joined = {names for names in joined if not any(names < other for other in joined)}
    cliques = _cliques(set(dimensions), joined)
    ways = [
        ([sorted(dimensions)], True, crossed_at_most),
        (cliques, True, IN_CLIQUES),
        (sorted(map(sorted, joined)), False, MOST),
    ]
    for blocks, exact, limit in ways:
        is_small = (
            sum(prod(len(dimensions[n].leaves) for n in block) for block in blocks) <= 8 * limit
        )
        if is_small and max(map(len, blocks), default=0) <= 32:  # more axes no array has
            counts = [_Crossed(block, dimensions, used, chosen, zeros).count for block in blocks]
            if sum(counts) <= limit:
                return blocks, exact or len(blocks) == 1
    raise TooLargeError(f"the tables cross more than {MOST:,} cells: take fewer of them together")


def _cliques(names: set[str], joined: set[frozenset[str]]) -> list[list[str]]:
    """Return the cliques of the dimensions' graph, completed by eliminating least fill first."""
    near = {
        name: set[str]().union(*(node for node in joined if name in node)) - {name}
        for name in names
    }
    cliques: list[set[str]] = []

    def fill(name: str) -> tuple[int, str]:
        missing = sum(b not in near[a] for a, b in combinations(sorted(near[name]), 2))
        return missing, name

    while near:
        name = min(near, key=fill)
        around = near.pop(name)
        for node in around:
            near[node] = (near[node] | around) - {node, name}
        if not any({name, *around} <= other for other in cliques):
            cliques.append({name, *around})
    return sorted(map(sorted, cliques))


def _links(
    blocks: Sequence[Sequence[str]],
    crossed: Sequence[_Crossed],
    begin: Ints,
    dimensions: Mapping[str, Dimension],
    known: Mapping[frozenset[tuple[str, int]], int],
) -> Iterable[tuple[Ints, Ints, int]]:
    """Yield two sets of unknowns whose sums differ by a number: blocks agree where they meet.

    Where the sum is published, every block has it, and the second set is empty.
    """
    none = np.array([], np.int64)
    shared = {frozenset(a) & frozenset(b) for a, b in combinations(blocks, 2)}
    for common in sorted(shared, key=sorted):
        have = [at for at, block in enumerate(blocks) if common <= set(block)]
        names = sorted(common)
        for place in np.ndindex(*(len(dimensions[name].leaves) for name in names)):
            chosen = {name: np.array([k]) for name, k in zip(names, place, strict=True)}
            sums = [begin[at] + crossed[at].select(chosen) for at in have]
            value = known.get(frozenset(zip(names, place, strict=True)))
            for unknowns in sums[1:]:
                yield (sums[0], unknowns, 0) if value is None else (unknowns, none, value)


def _merged(matrix: Any) -> tuple[Any, Ints, Ints, Ints]:
    """Make one unknown of those in the same rows with the same signs; return where each went."""
    columns = matrix.tocsc()
    columns.sort_indices()
    first: dict[bytes, int] = {}
    first_columns: list[int] = []
    sizes: list[int] = []
    places = np.zeros(matrix.shape[1], np.int64)
    for at in range(matrix.shape[1]):
        part = slice(columns.indptr[at], columns.indptr[at + 1])
        key = columns.indices[part].tobytes() + columns.data[part].tobytes()
        if (place := first.setdefault(key, len(first_columns))) == len(first_columns):
            first_columns.append(at)
            sizes.append(0)
        sizes[place] += 1
        places[at] = place
    chosen = np.array(first_columns, dtype=np.int64)
    return columns[:, chosen].tocsr(), np.array(sizes, dtype=np.int64), chosen, places
