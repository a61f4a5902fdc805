"""Rules by which an office publishes tables: suppress, round, perturb by a key, add noise.

Each is called with a frame of people and a random generator, and returns the published cells. What
a cell tells is what the printed number tells whoever knows the rule, and nothing of how the rule
was carried out. Zeros are printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from narcissus._validation import one_of
from narcissus._visible import visible
from narcissus.counts.audit import protected
from narcissus.counts.marks import CellKey, Meaning, Rules, cell_key
from narcissus.counts.reading import RESERVED, Cell
from narcissus.counts.system import Ints
from narcissus.errors import InputError, TooLargeError

if TYPE_CHECKING:
    import pandas as pd

MOST_CELLS = 20_000
FINEST = 50_000  # as many as the game keeps track of
Told = tuple[list[str], list[Meaning]]
"""What is printed of each cell, and what it means."""
PLUS_MINUS_ONE = cell_key(
    {
        0: {0: 1.0},
        1: {0: 0.25, 1: 0.5, 2: 0.25},
        2: {1: 0.25, 2: 0.5, 3: 0.25},
    }
)
"""A table of the cell-key method: one more or one less by a chance of a quarter each."""


@dataclass(frozen=True, eq=False)
class CrossedTables:
    """Tables of a frame of people: the dimensions of each crossed, with all margins.

    Options
    -------
    labels: of each dimension, those that are published, whoever is in the data.
    tables: the dimensions of each; a cell of several tables is published once.
    """

    labels: Mapping[str, tuple[str, ...]]
    tables: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, people: pd.DataFrame, tables: Sequence[Sequence[str]]) -> CrossedTables:
        """Lay out tables of the labels that people have; raises `InputError`."""
        for name in (name for table in tables for name in table):
            one_of("a column", name, list(people.columns))
            if name in RESERVED:
                raise InputError(f"rename the column `{visible(name)}`: the name is ours")
        names = dict.fromkeys(name for table in tables for name in table)
        labels = {name: tuple(sorted(set(people[name]))) for name in names}
        if np.prod([len(categories) for categories in labels.values()], dtype=float) > FINEST:
            raise TooLargeError(f"the columns cross more than {FINEST:,} cells: take fewer")
        layout = cls(labels, tuple(tuple(dict.fromkeys(table)) for table in tables))
        cells = sum(np.prod([len(labels[n]) + 1 for n in table], dtype=float) for table in tables)
        if cells > MOST_CELLS:
            raise TooLargeError(f"the tables have more than {MOST_CELLS:,} cells: take fewer")
        return layout

    @cached_property
    def margins(self) -> tuple[tuple[str, ...], ...]:
        """Sets of dimensions that are crossed and published, the largest first."""
        crossings = {
            tuple(name for name in self.labels if name in some)
            for table in self.tables
            for size in range(len(table) + 1)
            for some in combinations(table, size)
        }
        return tuple(sorted(crossings, key=lambda crossing: (-len(crossing), crossing)))

    @cached_property
    def cells(self) -> tuple[dict[str, str], ...]:
        """The labels of every cell; `count` has the same order."""
        return tuple(
            {name: self.labels[name][k] for name, k in zip(margin, place, strict=True)}
            for margin in self.margins
            for place in np.ndindex(*(len(self.labels[name]) for name in margin))
        )

    @cached_property
    def sums(self) -> list[Ints]:
        """Cells of which the first is the sum of the others."""
        place = {frozenset(group.items()): at for at, group in enumerate(self.cells)}
        wholes = [(set(group), set(whole)) for group in self.margins for whole in self.margins]
        relations: list[Ints] = []
        for small, large in wholes:
            if not (small < large and len(large) == len(small) + 1):
                continue
            (name,) = large - small
            for at, group in enumerate(self.cells):
                if set(group) == small:
                    parts = [
                        place[frozenset({**group, name: label}.items())]
                        for label in self.labels[name]
                    ]
                    relations.append(np.array([at, *parts]))
        return relations

    def places(self, people: pd.DataFrame) -> list[Ints]:
        """Return the number of each person's label in each dimension."""
        label_numbers: list[Any] = [
            people[name].map({label: at for at, label in enumerate(labels)}).to_numpy(np.int64)
            for name, labels in self.labels.items()
        ]
        return label_numbers

    def sum_by(self, places: Sequence[Ints], weights: Any = None) -> Any:
        """Sum whole weights of people (None: count them) in every cell, shape (cells,)."""
        finest = np.zeros(tuple(map(len, self.labels.values())), np.int64)
        np.add.at(finest, tuple(places), 1 if weights is None else weights)
        names = list(self.labels)
        return np.concatenate(
            [
                finest.sum(axis=tuple(names.index(n) for n in names if n not in margin)).ravel()
                for margin in self.margins
            ]
        )

    def count(self, people: pd.DataFrame) -> Ints:
        """Count the people of every cell, shape (cells,)."""
        return self.sum_by(self.places(people))

    def published(self, told: Told) -> list[Cell]:
        """Return cells with what is told of them."""
        return [
            Cell("published", 0, "count", text, labels, meaning)
            for labels, text, meaning in zip(self.cells, *told, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class PublishingRule:
    """A rule, which makes published cells of people.

    Options
    -------
    name: what it is called.
    layout: of the tables.
    tell: prints counts of people, given their places, with what is random from the generator.
    hides: whether it suppresses cells; else it changes them.
    is_noise: whether no number is certain to be near; the game's attack reads the finest numbers
        as they are.
    """

    name: str
    layout: CrossedTables
    tell: Callable[[Ints, Sequence[Ints], np.random.Generator], Told]
    hides: bool = False
    is_noise: bool = False

    def __call__(self, people: pd.DataFrame, rng: np.random.Generator) -> list[Cell]:
        """Publish tables of people."""
        places = self.layout.places(people)
        counts = self.layout.sum_by(places)
        return self.layout.published(self.tell(counts, places, rng))

    def to_read(self, people: pd.DataFrame, rng: np.random.Generator) -> list[Cell]:
        """Publish tables, and return what an attack may take them for.

        Of noise these are the numbers of the finest table, those below 0 as 0, and their sum.
        """
        cells = self(people, rng)
        if not self.is_noise:
            return cells
        widest = self.layout.margins[0]
        finest = [cell for cell in cells if tuple(cell.labels) == widest]
        numbers = [max(0, int(cell.printed)) for cell in finest]
        taken = [*zip([cell.labels for cell in finest], numbers, strict=True), ({}, sum(numbers))]
        return [
            Cell("read", 0, "count", str(number), labels, Meaning(number, number, "exact"))
            for labels, number in taken
        ]


def as_they_are(layout: CrossedTables) -> PublishingRule:
    """Publish every count."""

    def tell(counts: Ints, places: Sequence[Ints], rng: np.random.Generator) -> Told:
        return _told(counts, {})

    return PublishingRule("as they are", layout, tell)


def suppress(
    layout: CrossedTables,
    below: int,
    *,
    secondary: bool = False,
    width: int | None = None,
    until: Callable[[], float] = lambda: np.inf,
) -> PublishingRule:
    """Suppress counts from 1 to ``below`` - 1; and others, until these are protected.

    Further cells are suppressed until data sets are found that agree with the tables, and differ in
    each small count by ``width`` or more (None: ``below`` - 2, as much as the mark
    of small cells alone leaves open, 1 or more). All have the same mark, which then tells that the
    cell is not empty, and nothing else. It raises `TooLargeError` after the time ``until``.
    """
    wanted = max(1, below - 2) if width is None else width

    def tell(counts: Ints, places: Sequence[Ints], rng: np.random.Generator) -> Told:
        small = np.flatnonzero((counts > 0) & (counts < below))
        if not secondary:
            return _told(counts, dict.fromkeys(small.tolist(), Meaning(1, below - 1, "suppressed")))
        hidden, _ = protect(layout, counts, small, wanted, until())
        return _told(counts, dict.fromkeys(hidden, _HIDDEN))

    name = f"suppress below {below}" + (", and others" if secondary else "")
    return PublishingRule(name, layout, tell, hides=True)


_HIDDEN = Meaning(1, None, "suppressed")


def _told(counts: Ints, hidden: Mapping[int, Meaning]) -> Told:
    numbers = list(enumerate(counts.tolist()))
    printed = ["x" if at in hidden else str(n) for at, n in numbers]
    return printed, [hidden.get(at) or Meaning(n, n, "exact") for at, n in numbers]


def protect(
    layout: CrossedTables, counts: Ints, small: Ints, width: int, deadline: float = np.inf
) -> tuple[set[int], list[int]]:
    """Choose cells to suppress so that the small ones are protected; audited after each choice.

    Returns all that are suppressed, and the small cells for which no two data sets were found that
    differ by ``width``, which is none unless no cells are left. Of a sum, the cell is chosen that
    leaves the fewest sums with one suppressed cell, and among these the smallest; the
    number of all people is the last. A simple method: others suppress less. Raises `TooLargeError`
    at the deadline.
    """
    hidden, sums = set(small.tolist()), [part.tolist() for part in layout.sums]
    of_cell: dict[int, list[list[int]]] = {}
    for part in sums:
        for at in part:
            of_cell.setdefault(at, []).append(part)

    def cheapest(some: Iterable[int]) -> int | None:
        def price(at: int) -> tuple[bool, int, int, int]:
            many = [sum(part in hidden for part in each) for each in of_cell.get(at, [])]
            return not layout.cells[at], many.count(0) - many.count(1), int(counts[at]), at

        return min((at for at in some if at not in hidden and counts[at]), key=price, default=None)

    while hidden:
        _close(sums, hidden, cheapest)
        meanings = _told(counts, dict.fromkeys(hidden, _HIDDEN))
        safe_cells = protected(layout.published(meanings), small.tolist(), width, deadline)
        if monotonic() > deadline:
            raise TooLargeError("time ran out while cells were chosen: take fewer columns")
        open_ = [at for at in small.tolist() if at not in safe_cells]
        near = [{other for part in of_cell.get(at, []) for other in part} for at in open_]
        choices = {cheapest(some) for some in near} - {None}
        choices |= {cheapest(range(len(counts)))} - {None} if open_ and not choices else set()
        if not choices:
            return hidden, open_
        hidden |= {at for at in choices if at is not None}
    return hidden, []


def _close(
    sums: Sequence[list[int]], hidden: set[int], cheapest: Callable[[Iterable[int]], int | None]
) -> None:
    """Suppress a second cell of each sum with one, while there is such a sum."""
    while True:
        before = len(hidden)
        for relation in sums:
            if (
                sum(at in hidden for at in relation) == 1
                and (choice := cheapest(relation)) is not None
            ):
                hidden.add(choice)
        if len(hidden) == before:
            return


def round_to(layout: CrossedTables, base: int, *, by_chance: bool = False) -> PublishingRule:
    """Round every count to the nearest multiple, or to one of the two around, without bias."""
    rules = Rules(base=base, random=by_chance)
    meanings: dict[int, Meaning] = {}

    def tell(counts: Ints, places: Sequence[Ints], rng: np.random.Generator) -> Told:
        rest = counts % base
        up = rng.random(len(counts)) * base < rest if by_chance else 2 * rest >= base
        return _read(counts - rest + base * up, rules, meanings)

    how = "by chance" if by_chance else "to the nearest"
    return PublishingRule(f"round to {base}, {how}", layout, tell)


def _read(printed: Ints, rules: Rules, meanings: dict[int, Meaning]) -> Told:
    for number in set(printed.tolist()) - set(meanings):
        meanings[number] = rules.count(str(number), "a published cell")
    numbers = printed.tolist()
    return [str(n) for n in numbers], [meanings[n] for n in numbers]


def perturb(layout: CrossedTables, key: CellKey, name: str = "cell key, ±1") -> PublishingRule:
    """Perturb counts by the cell-key method: the same people in a cell, the same number.

    Each person has a random number, and their sum, from 0 to 2^32 and around, chooses the printed
    number by the chances of the table. Source: Enderle and Giessing 2018.
    """
    rules, meanings = Rules(key=key), dict[int, Meaning]()

    def tell(counts: Ints, places: Sequence[Ints], rng: np.random.Generator) -> Told:
        keys = layout.sum_by(places, rng.integers(2**32, size=len(places[0]))) % 2**32 / 2**32
        return _read(key.perturbed(counts, keys), rules, meanings)

    return PublishingRule(name, layout, tell)


def add_noise(layout: CrossedTables, epsilon: float) -> PublishingRule:
    """Add noise of the two-sided geometric distribution to every count.

    The publication as a whole is `epsilon`-differentially private where a person more or less is
    the difference: a person is in one cell of each crossing of dimensions, so each count has noise
    of scale (number of crossings) / epsilon. Numbers below 0 are printed as 0. Nothing is told with
    certainty. Source: Ghosh, Roughgarden and Sundararajan 2012.
    """
    if not 0 < epsilon < np.inf:
        raise InputError(f"`epsilon` must be above 0, got {epsilon:g}")
    chance = -np.expm1(-epsilon / len(layout.margins))

    def tell(counts: Ints, places: Sequence[Ints], rng: np.random.Generator) -> Told:
        noise = rng.geometric(chance, len(counts)) - rng.geometric(chance, len(counts))
        printed = np.maximum(0, counts + noise).tolist()
        return [str(n) for n in printed], [Meaning(0, None, "perturbed")] * len(printed)

    return PublishingRule(f"noise, epsilon {epsilon:g}", layout, tell, is_noise=True)
