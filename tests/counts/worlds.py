"""Small worlds of published tables, and all data sets that agree with them, one by one."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from narcissus.counts import Cell
from narcissus.counts.marks import Meaning

LABELS = {"a": "pqr", "b": "uvw", "c": "xy"}


@dataclass
class World:
    dimensions: dict[str, str]
    finest: list[dict[str, str]]
    people: list[int]
    cells: list[Cell]


def told(count: int, how: int, rng: np.random.Generator) -> Meaning:
    """What a publisher tells of a count: itself, fewer than three, nothing, rounded."""
    if how == 0 and count < 4:
        return Meaning(0, 3, "suppressed")
    if how == 1 and rng.random() < 0.6:
        return Meaning(0, None, "suppressed")
    if how == 2:
        near = 3 * round(count / 3)
        return Meaning(max(0, near - 1), near + 1, "rounded")
    if how == 3:
        shift = int(rng.integers(-2, 3))
        return Meaning(max(0, count + shift - 2), max(0, count + shift + 2), "perturbed")
    return Meaning(count, count, "exact")


def world(seed: int) -> World:
    """Draw a world of some six people, two or three tables of it, and how these are told."""
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(list(LABELS)))[: int(rng.integers(2, 4))]
    dimensions = {name: LABELS[name][: int(rng.integers(2, 4))] for name in sorted(names)}
    finest = [dict(zip(dimensions, labels, strict=True))
              for labels in itertools.product(*dimensions.values())]  # fmt: skip
    size = int(rng.integers(2, 10 - len(finest) // 3))
    people = rng.multinomial(size, rng.dirichlet(np.full(len(finest), 0.5)))
    cells = []
    for table in range(int(rng.integers(1, 4))):
        about = [name for name in dimensions if rng.random() < 0.7] or [next(iter(dimensions))]
        how = int(rng.integers(0, 4))
        for labels in itertools.product(*(["*", *dimensions[name]] for name in about)):
            own = {k: v for k, v in zip(about, labels, strict=True) if v != "*"}
            count = sum(n for one, n in zip(finest, people, strict=True) if own.items() <=
                        one.items())  # fmt: skip
            meaning = told(int(count), how, rng) if own else Meaning(count, count, "exact")
            cells.append(Cell(f"t{table}", len(cells) + 2, "count", "", own, meaning))
    return World(dimensions, finest, [int(n) for n in people], cells)


def shown(found: World) -> bool:
    """Whether tables show every label, so that no data set has people elsewhere."""
    labels = {k: {c.labels[k] for c in found.cells if k in c.labels} for k in found.dimensions}
    return all(labels[k] == set(v) for k, v in found.dimensions.items())


def all_data_sets(found: World) -> np.ndarray:
    """Every vector of people in finest cells that agrees with all published cells."""
    inside = np.array([
        [cell.labels.items() <= one.items() for one in found.finest] for cell in found.cells
    ])  # fmt: skip
    low = np.array([cell.count.low for cell in found.cells])
    high = np.array([10**6 if c.count.high is None else c.count.high for c in found.cells])
    total, size = sum(found.people), len(found.finest)
    bars = np.array(list(itertools.combinations(range(total + size - 1), size - 1)), dtype=int)
    bars = bars.reshape(-1, size - 1)
    ends = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), total + size - 1)])
    vectors = np.diff(ends, axis=1) - 1
    sums = vectors @ inside.T
    return vectors[((sums >= low) & (sums <= high)).all(axis=1)]
