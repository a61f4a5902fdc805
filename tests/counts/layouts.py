"""Published tables in random layouts, and what follows from them by an integer program.

The program knows the whole structure: which labels are totals and groups, and what each percentage
is of. It solves for all data sets at once, independently of the package.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, inf

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

WORDS = [
    "Ambo",
    "Berol",
    "Calen",
    "Dorit",
    "Eskan",
    "Ferro",
    "Galun",
    "Hirta",
    "Istrel",
    "Jonda",
    "Kelso",
    "Lumen",
    "Morva",
    "Nauro",
    "Ostra",
    "Pelin",
    "Quora",
    "Rhenu",
    "Solva",
    "Turin",
    "Ulmer",
    "Vesta",
    "Walda",
    "Xanti",
    "Yvora",
    "Zemla",
]
TOTALS = ("Total", "*", "Insgesamt", "All")
NOTES = ("see page 3", "new method", "survey", "")
LARGEST = 10**6


@dataclass
class DrawnDimension:
    """Labels of a dimension: finest ones, the group of each, and the word for all."""

    name: str
    leaves: list[str]
    total: str
    groups: dict[str, list[str]] = field(default_factory=dict)
    shows_total: bool = True

    def labels(self) -> list[str]:
        return [*self.leaves, *self.groups, *([self.total] if self.shows_total else [])]

    def holds(self, label: str) -> list[str]:
        if label == self.total:
            return self.leaves
        return self.groups.get(label, [label])


@dataclass
class DrawnRow:
    """A row: its labels, the people behind it, and what is printed of them."""

    labels: dict[str, str]
    count: int
    hidden: bool
    percent: Fraction | None = None


@dataclass
class DrawnTable:
    """A published table with its truth."""

    dimensions: list[DrawnDimension]
    rows: list[DrawnRow]
    text: str
    places: int
    whole: str  # the dimension that percentages are within the margin of; empty: there are none
    truths: dict[str, str]  # of a column or a label: the option that declares it


def _members(
    layout_dimensions: list[DrawnDimension], labels: dict[str, str]
) -> set[tuple[str, ...]]:
    return set(
        product(*(dimension.holds(labels[dimension.name]) for dimension in layout_dimensions))
    )


def draw_dimension(
    name: str, words: list[str], rng: random.Random, *, ordinary: bool
) -> DrawnDimension:
    size = rng.randint(3, 6)
    leaves = [words.pop() for _ in range(size)]
    total = rng.choice(TOTALS) if ordinary or rng.random() < 0.3 else words.pop()
    groups: dict[str, list[str]] = {}
    if size >= 4 and rng.random() < (0.15 if ordinary else 0.35):
        cut = rng.randint(2, size - 2)
        groups = {words.pop(): leaves[:cut], words.pop(): leaves[cut:]}
    shows_total = ordinary or rng.random() < 0.75
    return DrawnDimension(name, leaves, total, groups, shows_total)


def draw_layout(seed: int, *, ordinary: bool = False, hidden: float = 0.25) -> DrawnTable:
    """Draw a table: counts, hidden cells, columns of all kinds, in random order."""
    rng = random.Random(seed)
    words = list(WORDS)
    rng.shuffle(words)
    many = rng.choice([1, 2])
    dimensions = [draw_dimension(name, words, rng, ordinary=ordinary) for name in "uv"[:many]]
    scale = rng.choice([9, 40, 300])
    people = {
        place: rng.randint(0, scale)
        for place in product(*(dimension.leaves for dimension in dimensions))
    }
    rows: list[DrawnRow] = []
    for labels in product(*(dimension.labels() for dimension in dimensions)):
        named = dict(zip((dimension.name for dimension in dimensions), labels, strict=True))
        count = sum(people[place] for place in _members(dimensions, named))
        is_inner = all(
            label in dimension.leaves for dimension, label in zip(dimensions, labels, strict=True)
        )
        chance = hidden if is_inner or not ordinary else 0.1 * hidden
        rows.append(DrawnRow(named, count, rng.random() < chance))
    whole, places = "", rng.choice([0, 1, 2])
    if rng.random() < (0.1 if ordinary else 0.35):
        whole = rng.choice(dimensions).name
        for row in rows:
            margin = {**row.labels, whole: next(o for o in dimensions if o.name == whole).total}
            size = sum(people[place] for place in _members(dimensions, margin))
            if size and not (ordinary and row.hidden):
                shown = Fraction(100 * row.count, size) * 10**places
                row.percent = Fraction((2 * shown + 1) // 2, 10**places)
    truths = {
        label: "part"
        for dimension in dimensions
        for label in (*dimension.leaves, *dimension.groups)
    }
    truths |= {dimension.total: "total" for dimension in dimensions}
    text = _written(dimensions, rows, whole, places, rng, truths, ordinary=ordinary)
    return DrawnTable(dimensions, rows, text, places, whole, truths)


def _written(
    dimensions: list[DrawnDimension],
    rows: list[DrawnRow],
    whole: str,
    places: int,
    rng: random.Random,
    truths: dict[str, str],
    *,
    ordinary: bool,
) -> str:
    columns: dict[str, list[str]] = {
        dimension.name: [row.labels[dimension.name] for row in rows] for dimension in dimensions
    }
    columns["count"] = [_number(row, rng) for row in rows]
    if whole:
        name = rng.choice(["percent", "share of all", "Anteil"])
        columns[name] = [
            "" if row.percent is None else f"{float(row.percent):.{places}f}" for row in rows
        ]
        truths[name] = "percent"
    if rng.random() < 0.3:
        labels = dimensions[0].labels()
        codes = {label: f"{100 + k}" for k, label in enumerate(labels)}
        columns[f"{dimensions[0].name}_code"] = [codes[row.labels["u"]] for row in rows]
        truths[f"{dimensions[0].name}_code"] = "irrelevant"
    if rng.random() < 0.2:
        columns["flag"] = [rng.choice(["", "", "p", "r"]) for _ in rows]
        truths["flag"] = "irrelevant"
    if rng.random() < (0.2 if ordinary else 0.3):
        columns["remarks"] = [rng.choice(NOTES) for _ in rows]
        truths["remarks"] = "irrelevant"
    if not ordinary and rng.random() < 0.2:
        columns["households"] = [str(row.count // 2 + rng.randint(0, 3)) for row in rows]
        truths["households"] = "irrelevant"
    names = list(columns)
    order = list(range(len(rows)))
    if not ordinary:
        rng.shuffle(names)
        rng.shuffle(order)
    mark = rng.choice([";", "\t"])
    lines = [names, *([columns[name][at] for name in names] for at in order)]
    return "\n".join(mark.join(line) for line in lines) + "\n"


SPOILED = ("block", "header", "number", "measure")
"""Ways in which a publication tells more than the rows that are read."""


def spoil(layout: DrawnTable, way: str) -> list[str]:
    """Return the texts of files that tell true counts beside the rows, or numbers of no people."""
    first, *others = layout.dimensions
    lines = layout.text.splitlines()
    mark = next(mark for mark in ";\t" if mark in lines[0])
    wholes = {one.name: one.total for one in others}
    true = {
        row.labels[first.name]: row.count
        for row in layout.rows
        if all(row.labels[name] == total for name, total in wholes.items())
    }
    leaves = {leaf: true[leaf] for leaf in first.leaves}
    if way == "block":
        rows = [mark.join((leaf, str(count))) for leaf, count in leaves.items()]
        return ["\n".join([*lines, "", mark.join((first.name, "count")), *rows]) + "\n"]
    if way == "header":
        rows = [f"{leaf};{count}" for leaf, count in leaves.items()]
        return [layout.text, "\n".join([f"{first.name} of residence;count", *rows]) + "\n"]
    header = lines[0].split(mark)
    at = header.index(first.name)
    if way == "number":
        leaf = first.leaves[0]
        cells = [line.split(mark) for line in lines]
        for row in cells:
            row[at] = f"{leaf} ({true[leaf]})" if row[at] == leaf else row[at]
        return ["\n".join(map(mark.join, cells)) + "\n"]
    values = {first.name: "Percent of all", "count": "50", **wholes}
    return ["\n".join([*lines, mark.join(values.get(name, "") for name in header)]) + "\n"]


def _number(row: DrawnRow, rng: random.Random) -> str:
    if row.hidden:
        return rng.choice(["x", "c", "[c]"])
    return rng.choice([f"{row.count}", f"{row.count:,}", f"{row.count:,}".replace(",", " ")])


def narrowest(layout: DrawnTable) -> float:
    """Return the least width of a hidden cell's limits over all data sets; infinite: none."""
    places = list(product(*(dimension.leaves for dimension in layout.dimensions)))
    at = {place: k for k, place in enumerate(places)}

    def summed(labels: dict[str, str]) -> np.ndarray:
        vector = np.zeros(len(places))
        vector[[at[place] for place in _members(layout.dimensions, labels)]] = 1
        return vector

    matrix: list[np.ndarray] = []
    low: list[float] = []
    high: list[float] = []
    for row in layout.rows:
        vector = summed(row.labels)
        if not row.hidden:
            matrix.append(vector)
            low.append(row.count)
            high.append(row.count)
        if row.percent is not None:
            margin = next(
                dimension for dimension in layout.dimensions if dimension.name == layout.whole
            )
            size = summed({**row.labels, layout.whole: margin.total})
            unit = 10**layout.places
            # 200 unit count - (2 percent unit -+ 1) size, in whole numbers
            twice = int(2 * row.percent * unit)
            matrix += [
                200 * unit * vector - (twice - 1) * size,
                200 * unit * vector - (twice + 1) * size,
            ]
            low += [0, -inf]
            high += [inf, 0]
    width = inf
    for row in layout.rows:
        if row.hidden:
            vector = summed(row.labels)
            ends = [_best(sign * vector, matrix, low, high) for sign in (1, -1)]
            width = min(width, -ends[1] - ends[0])
    return width


def _best(cost: np.ndarray, matrix: list[np.ndarray], low: list[float], high: list[float]) -> float:
    if not matrix:
        return -inf if cost.min() < 0 else 0.0
    solved = milp(
        cost,
        constraints=LinearConstraint(np.array(matrix), np.array(low), np.array(high)),
        bounds=Bounds(0, LARGEST),
        integrality=np.ones(len(cost), np.int64),
        options={"mip_rel_gap": 0},
    )
    assert solved.x is not None, solved.message
    value = float(round(solved.fun))
    return -inf if value <= -LARGEST + 1 else float(ceil(value))
