"""A statement about a game, judged exactly: the game is written out, so all attackers are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from narcissus.profiles import WrittenFamily, WrittenOut
from narcissus.profiles.family import ROUNDING, Worst, number
from narcissus.study.results.game import BestAttacker, CoverResult, ExactGame
from narcissus.success.singling_out import SinglingOut
from narcissus.success.statements import (
    FixedBaseline,
    Resilience,
    Threshold,
    prepared,
)


def has_epsilon(statement: Any) -> bool:
    """Say whether the epsilon of a statement is a factor on a baseline."""
    return isinstance(statement, Resilience | FixedBaseline | SinglingOut)


def exactly(
    written: WrittenFamily,
    statement: Any,
    epsilons: Sequence[float],
    cover: CoverResult | None = None,
) -> ExactGame | None:
    """Judge a statement; None where it has no exact form in this game.

    ``cover`` is what is known between the members of a family of rates.
    """
    points: list[float] = sorted(set(epsilons))
    at = points[0]
    if has_epsilon(statement):
        at = float(statement.epsilon)
        points = sorted({*points, at})
    # One pass through the guesses for all: where the baseline counts for nothing, too.
    worst = {one.best.epsilon: one for one in written.worst([*points, -math.inf])}
    found = _resilient(statement, worst[at]) or _other(written, statement)
    if found is None:
        return None
    member, least, limit, what, fixed = found
    success, baseline = worst[at].best.rates
    several = len(written.members) > 1
    given = written.assumptions
    words = f"{what}: {number(least)}, allowed {limit:g}"
    among = "" if cover is None else ", of the rates looked at"
    return ExactGame(
        grade="proved if" if given else "proved",
        epsilon=tuple(points),
        delta=tuple(worst[point].best.delta for point in points),
        best_attacker=BestAttacker(
            at_epsilon=at,
            success=success,
            baseline=baseline,
            member=worst[at].member if several else None,
        ),
        best_success=worst[-math.inf].best.rates[0],
        **written.sizes(),
        members=len(written.members),
        member=member if several else None,
        rounding=ROUNDING,
        least=least if math.isfinite(least) else None,
        limit=limit,
        best_fixed_guess=fixed,
        holds=least <= limit + ROUNDING,
        words=f"{words}; the most needed at {member}{among}" if several else words,
        assumptions=given,
        cover=cover,
    )


_Found = tuple[str, float, float, str, float | None]
"""The worst member, what is needed, what is allowed, what both are, the best fixed guess."""


def _resilient(statement: Any, worst: Worst) -> _Found | None:
    if not isinstance(statement, Resilience):
        return None
    what = f"least delta at epsilon {statement.epsilon:g}"
    return worst.member, worst.best.delta, statement.delta, what, None


def _other(written: WrittenFamily, statement: Any) -> _Found | None:
    """Judge a statement that is not resilience, for each member; None if one has no answer."""
    every: list[_Found] = []
    for name, exact in written.members.items():
        found = _least(exact, prepared(statement, exact.game))
        if found is None:
            return None
        every.append((name, *found))
    return max(every, key=lambda one: one[1] - one[2])


def _least(exact: WrittenOut, statement: Any) -> tuple[float, float, str, float | None] | None:
    if isinstance(statement, Threshold) and not exact.additive:
        what = f"least epsilon for tau {statement.tau:g}"
        return exact.beyond(statement.tau), statement.epsilon, what, None
    if isinstance(statement, FixedBaseline) and not exact.additive:
        least, fixed = exact.robust(statement.epsilon)
        return least, statement.delta, f"least delta at epsilon {statement.epsilon:g}", fixed
    if isinstance(statement, SinglingOut) and hasattr(exact.guesses, "weight"):
        least = _singled_out(exact, statement)
        what = f"least delta at epsilon {statement.epsilon:g}"
        return None if least is None else (least, statement.delta, what, None)
    return None


def _singled_out(exact: WrittenOut, statement: SinglingOut) -> float | None:
    """Give the least delta over all weights: both sides change only where a predicate has one."""
    weights = exact.guesses.weight(exact.game.world)
    if weights is None or statement.possible is None:
        return None
    every = replace(statement, points=len(statement.possible))
    factor = math.exp(statement.epsilon)
    gains = [exact.light(weights, float(w)) - factor * every.baseline(w) for w in every.weights]
    return max(0.0, float(np.max(gains)))
