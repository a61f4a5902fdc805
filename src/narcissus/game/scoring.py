"""Scores of the attempts of a block against the data, and the baseline against fresh data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.game.rules import Game
from narcissus.success.definitions import KeptSurprisal
from narcissus.success.relations.base import Attempts, HasBaseline, ManyTargets, Weighted, take
from narcissus.worlds.base import Batch, Draw, gather, is_derived, stacked

Hits = NDArray[np.bool_]
Scores = NDArray[np.bool_ | np.float64]
Floats = NDArray[np.float64]


def score(relation: Any, data: Batch, attempts: Attempts, rng: np.random.Generator) -> Scores:
    """Score attempts, shape (trials,), or (trials, targets) where there are many targets.

    For many targets a relation may return each attempt's worth, in [0, 1]. Raises `InputError`
    where the relation raised, or returned something else.
    """
    if attempts.made.all():
        return _held(relation, data, attempts.values, rng)
    rows = np.flatnonzero(attempts.made)
    if not rows.size:
        return np.zeros(len(attempts.made), dtype=bool)
    held = _held(relation, gather(data, rows), take(attempts.values, rows), rng)
    scores = np.zeros((len(attempts.made), *held.shape[1:]), dtype=held.dtype)
    scores[rows] = held
    return scores


def _held(relation: Any, data: Batch, values: Any, rng: np.random.Generator) -> Scores:
    many = isinstance(relation, ManyTargets)
    targets = np.shape(data)[1:2] if many else ()
    try:
        if isinstance(values, list) and isinstance(data, np.ndarray):
            values = stacked(values)
        held = np.asarray(relation.holds(data, values, rng))
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the relation {type(relation).__name__} cannot score an attempt: "
            f"{type(error).__name__}: {error}"
        ) from error
    in_part = many and held.dtype == np.float64 and bool(((held >= 0) & (held <= 1)).all())
    if not (held.dtype == np.bool_ or in_part) or held.shape != (len(values), *targets):
        raise InputError(
            f"the relation {type(relation).__name__} must give one true or false for each trial, "
            f"got {held.dtype} of shape {held.shape} for {len(values)} trials"
        )
    return held


def exact_baseline(game: Game, known: Batch, attempts: Attempts) -> Floats | None:
    """Compute the exact chance of each attempt against a fresh data set, where it has a formula."""
    relation = game.looser or game.relation
    values = attempts.values
    if isinstance(relation, ManyTargets):
        return relation.chance(known, values)
    if game.side is not None or not isinstance(relation, HasBaseline) or is_derived(game.world):
        return None
    if isinstance(values, list) and not (values and callable(values[0])):
        return None
    chance = relation.baseline(game.world, values)
    return None if chance is None else np.where(attempts.made, chance, 0.0)


def surprising(
    game: Game, relation: Any, kept: KeptSurprisal, draw: Draw, known: Batch, attempts: Attempts
) -> Hits:
    """Check where some recovered row is still surprising given ``K`` and the other rows.

    ``relation`` and ``kept`` are those for the data, or for fresh data.
    """
    result = np.zeros(draw.trials, dtype=bool)
    made = np.flatnonzero(attempts.made)
    if not made.size:
        return result
    values = np.asarray(take(attempts.values, made))
    match = relation.matches(gather(draw.data, made), values)
    for place in range(match.shape[1]):
        rows = made[match[:, place] & ~result[made]]
        if not rows.size:
            continue
        some, index = draw.take(rows), np.full(rows.size, place)
        told = game.side.surprisal(game.world, some, gather(known, rows), index)
        plain = game.world.surprisal(some, index)
        result[rows] = kept.enough(told, plain)
    return result


def weight(game: Game, attempts: Attempts) -> Floats:
    """Return the weight of each attempt as a predicate; NaN where it has none."""
    values = attempts.values
    found = values.weight(game.world) if isinstance(values, Weighted) else None
    return np.full(len(attempts.made), np.nan) if found is None else found
