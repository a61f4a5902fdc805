"""The order in which columns are summed out of a product of factors, chosen for small tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from narcissus.errors import TooLargeError

MAX_CLIQUE = 20_000_000
"""Most joint values of the columns that one step of an elimination looks at together."""

_Graph = dict[int, set[int]]
_Score = Callable[[_Graph, int, Sequence[int]], tuple[float, ...]]


@dataclass(frozen=True)
class Step:
    """One column that is summed out, and the columns it depends on at that point."""

    column: int
    given: tuple[int, ...]  # the columns still there that share a factor with it, ascending

    @property
    def clique(self) -> tuple[int, ...]:
        """All columns of the step, the one that leaves last."""
        return (*self.given, self.column)

    def cells(self, shape: Sequence[int]) -> int:
        """Count the joint values of the step."""
        return prod(shape[c] for c in self.clique)


def elimination_order(shape: Sequence[int], scopes: Iterable[Sequence[int]]) -> tuple[Step, ...]:
    """Choose an order of all columns: the cheapest of three greedy ones.

    They take next the column that adds the fewest links between its neighbours (min-fill), those
    links weighted by the sizes of what they join, or the column whose step is smallest. The best
    order of all is hard to find (NP-hard). ``scopes`` are the columns of each factor. Raises
    `TooLargeError` if a step of the best order found has more than `MAX_CLIQUE` joint values.

    Notes
    -----
    Source: Koller and Friedman 2009, Probabilistic Graphical Models, section 9.4.3.
    """
    graph: _Graph = {c: set() for c in range(len(shape))}
    for scope in scopes:
        for c in scope:
            graph[c].update(set(scope) - {c})
    orders = [_greedy(graph, shape, score) for score in (_fill, _weighted_fill, _size)]
    steps = min(orders, key=lambda order: sum(step.cells(shape) for step in order))
    widest = max(steps, key=lambda step: step.cells(shape), default=None)
    if widest is not None and widest.cells(shape) > MAX_CLIQUE:
        raise TooLargeError(
            f"the prior ties {len(widest.clique)} unknown columns together with "
            f"{widest.cells(shape):,} joint values, at most {MAX_CLIQUE:,} are taken at once; fit "
            "a network with fewer parents, or take fewer or coarser unknown columns"
        )
    return steps


def _greedy(graph: _Graph, shape: Sequence[int], score: _Score) -> tuple[Step, ...]:
    left = {c: set(near) for c, near in graph.items()}
    steps: list[Step] = []
    while left:
        column = min(left, key=lambda c: (*score(left, c, shape), c))
        near = left.pop(column)
        for c in near:
            left[c] |= near - {c}
            left[c].discard(column)
        steps.append(Step(column, tuple(sorted(near))))
    return tuple(steps)


def _missing(graph: _Graph, column: int) -> list[tuple[int, int]]:
    near = sorted(graph[column])
    return [(a, b) for i, a in enumerate(near) for b in near[i + 1 :] if b not in graph[a]]


def _size(graph: _Graph, column: int, shape: Sequence[int]) -> tuple[float, ...]:
    return (prod(shape[c] for c in graph[column]) * shape[column],)


def _fill(graph: _Graph, column: int, shape: Sequence[int]) -> tuple[float, ...]:
    return (len(_missing(graph, column)), *_size(graph, column, shape))


def _weighted_fill(graph: _Graph, column: int, shape: Sequence[int]) -> tuple[float, ...]:
    links = sum(shape[a] * shape[b] for a, b in _missing(graph, column))
    return (links, *_size(graph, column, shape))
