"""A good structure for many columns, by hill climbing that walks on past local optima."""

from __future__ import annotations

import math
from collections.abc import Sequence

from narcissus.priors._search_exact import TIE, Parents, Score


def climb_structure(d: int, max_parents: int, score: Score) -> Parents:
    """Take the best addition, removal or reversal of an edge, again and again.

    The walk starts without edges and never comes back to a graph it has seen; where no step
    raises the score it takes the one that loses least, until ``d`` steps in a row have brought
    nothing new. It is deterministic.

    Parameters
    ----------
    d
        Number of columns.
    max_parents
        Most parents of a column.
    score
        Score of a column given its parents (rising positions); higher is better.
    """
    current: Parents = tuple(() for _ in range(d))
    level = best_level = 0.0  # scores are counted from the graph without edges
    best = current
    seen: set[Parents] = {current}
    idle = 0
    while idle <= d:
        for step in _moves(current, max_parents, score):
            following = _moved(current, *step[1:])
            if following not in seen and _acyclic(following):
                break
        else:
            break
        current, level = following, level + step[0]
        seen.add(current)
        idle += 1
        if level > best_level + TIE:
            best, best_level, idle = current, level, 0
    return best


def _moves(parents: Parents, max_parents: int, score: Score) -> list[tuple[float, int, int, str]]:
    """List all steps from a graph, best first, whether or not they keep it acyclic."""
    moves: list[tuple[float, int, int, str]] = []
    d = len(parents)
    for child in range(d):
        own = parents[child]
        level = score(child, own)
        for p in range(d):
            if p in own:
                removal = score(child, _without(own, p)) - level
                moves.append((removal, child, p, "remove"))
                if len(parents[p]) < max_parents and child not in parents[p]:
                    turned = score(p, _with(parents[p], child)) - score(p, parents[p])
                    moves.append((removal + turned, child, p, "reverse"))
            elif p != child and len(own) < max_parents:
                moves.append((score(child, _with(own, p)) - level, child, p, "add"))
    possible = (move for move in moves if math.isfinite(move[0]))
    # Rounded, so that ties, which equivalent graphs make often, break the same way everywhere.
    return sorted(possible, key=lambda move: (-round(move[0], 6), *move[1:]))


def _moved(parents: Parents, child: int, p: int, kind: str) -> Parents:
    """Give the graph after a step."""
    graph = list(parents)
    graph[child] = _with(graph[child], p) if kind == "add" else _without(graph[child], p)
    if kind == "reverse":
        graph[p] = _with(graph[p], child)
    return tuple(graph)


def _with(parents: tuple[int, ...], new: int) -> tuple[int, ...]:
    return tuple(sorted((*parents, new)))


def _without(parents: tuple[int, ...], old: int) -> tuple[int, ...]:
    return tuple(p for p in parents if p != old)


def _acyclic(parents: Sequence[tuple[int, ...]]) -> bool:
    """Say whether the columns can be put in an order with every parent before its children."""
    placed: set[int] = set()
    waiting = set(range(len(parents)))
    while ready := {j for j in waiting if placed.issuperset(parents[j])}:
        placed |= ready
        waiting -= ready
    return not waiting
