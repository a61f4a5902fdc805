"""The numbers of a game: what is exact, what is proved, and how light predicates isolate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from narcissus.game import Attacked
from narcissus.kinds.game.result import (
    GAP,
    BestFixedGuess,
    ExactAnswer,
    GameBound,
    GapAtEpsilon,
    IsolationPoint,
    Limits,
    grade_of,
)
from narcissus.kinds.game.schema import Assume
from narcissus.profiles import Cover, WrittenFamily, WrittenOut
from narcissus.profiles.nearby import NearPriors
from narcissus.results import Bound
from narcissus.rows import Quantity, StudyCriterion
from narcissus.success.statements import (
    SAME,
    FixedBaseline,
    NotMemorizing,
    Resilience,
    SinglingOut,
    Statement,
    Threshold,
    prepared,
)


def proved(
    value: float,
    assumptions: Sequence[str],
    *,
    id: str = "",
    low: float | None = None,
    high: float | None = None,
) -> Quantity:
    return Quantity(
        value=value,
        low=low,
        high=high,
        grade=grade_of(assumptions),
        id=id,
        takes_as_given=tuple(assumptions),
    )


def bound_of(bound: Bound, limits: Limits) -> GameBound:
    """Return what a theorem says of every attacker."""
    limit = proved(bound.value, bound.assumptions, id=bound.id)
    return GameBound(theorem=bound.theorem, what=bound.quantity, limits=limits, limit=limit)


def bound_of_class(value: float, assume: Assume, *, own: bool) -> GameBound:
    """Return the limit for a class of attackers, no limit for others.

    own: Whether the user's world, or side information, draws the fresh data sets.
    """
    contrast = "a release from an ideal one" if assume.ideal else "two data sets' releases apart"
    uses = f"each of {assume.uses:,} independent uses" if assume.uses > 1 else "a use"
    who = quoted(assume.against)
    premise = (
        f"{who} tell {contrast} with an advantage of at most {assume.advantage:g}, for "
        f"{uses} of {assume.of}"
    )
    others = ", makes the other uses" if assume.uses > 1 else ""
    composed = (
        f"the same limits the advantage of a program that runs one of {who}{others} and checks the "
        "attempt against a data set"
    )
    draws = "the user's part draws fresh data sets as the data are drawn, given what is told"
    return GameBound(
        theorem=f"Narcissus theory 2.4, for {who}",
        what=f"delta at every epsilon, for {who}",
        limits="delta",
        against=assume.against,
        limit=proved(value, [premise, composed, *[draws] * own], id="hybrid"),
    )


def quoted(words: str) -> str:
    """Return the user's words in quotation marks: nothing here checks them."""
    return f"“{words}”"


def fixed_guess(assumed: float | None, computed: float | None) -> BestFixedGuess | None:
    """Return the chance of the best fixed guess; None where nothing is known of it.

    assumed: What the statement says it is.
    computed: What it is in the world, where that counts for a class of attackers.
    """
    if assumed is not None:
        words = (
            f"the best fixed guess succeeds with chance at most {assumed:g}, as [statement] says"
        )
        return BestFixedGuess(chance=proved(assumed, [words]))
    return None if computed is None else BestFixedGuess(chance=proved(computed, ()))


def criterion_of(statement: Statement) -> StudyCriterion:
    """Return what is asked of every attacker: a gap, or success by another measure."""
    of = GAP if isinstance(statement, Resilience) else "success"
    limit = None if isinstance(statement, NotMemorizing) else limit_of(statement)
    return StudyCriterion(of=of, at_most=limit)


def has_epsilon(
    statement: Statement,
) -> TypeGuard[Resilience | FixedBaseline | SinglingOut]:
    return isinstance(statement, Resilience | FixedBaseline | SinglingOut)


def limit_of(statement: Statement) -> float:
    """Return what a statement allows of what is needed."""
    return statement.epsilon if isinstance(statement, Threshold) else statement.delta


def exactly(
    family: WrittenFamily,
    statement: Statement,
    epsilons: Sequence[float],
    cover: Cover | NearPriors | None = None,
    between: str = "",
) -> ExactAnswer | None:
    """Evaluate a statement exactly; None if it has no exact form in this game.

    cover: what is known between the members of a family of rates, or of near priors.
    between: why nothing is; empty where there is nothing between.
    """
    points: list[float] = sorted(set(epsilons))
    at = points[0]
    if has_epsilon(statement):
        at = float(statement.epsilon)
        points = sorted({*points, at})
    # One pass through the guesses for all: where the baseline counts for nothing, too.
    worst = {extreme.best.epsilon: extreme for extreme in family.worst([*points, -math.inf])}
    if isinstance(statement, Resilience):
        name = f"least delta at epsilon {statement.epsilon:g}"
        answer = worst[at].member, worst[at].best.delta, name, None
    else:
        answer = _other(family, statement)
    if answer is None:
        return None
    member, minimum, name, fixed = answer
    enough = max(cover.at_most, minimum) if cover is not None else None if between else minimum
    is_family = len(family.members) > 1
    success, baseline = worst[at].best.rates
    return ExactAnswer(
        needed=proved(minimum, family.assumptions, low=minimum, high=enough),
        name=name,
        member=member if is_family else "",
        epsilon=at,
        success=success,
        baseline=baseline,
        gap_member=worst[at].member if is_family else "",
        largest=worst[-math.inf].best.rates[0],
        fixed=fixed,
        **family.sizes(),
        members=len(family.members),
        profile=tuple(
            GapAtEpsilon(epsilon=float(point), delta=worst[point].best.delta) for point in points
        ),
    )


# the worst member, what is needed, what that is, the best fixed guess
_Answer = tuple[str, float, str, float | None]


def _other(family: WrittenFamily, statement: Statement) -> _Answer | None:
    """Evaluate a statement other than resilience for each member; None if one has no answer."""
    every: list[_Answer] = []
    for name, exact in family.members.items():
        answer = _least(exact, prepared(statement, exact.game))
        if answer is None:
            return None
        every.append((name, *answer))
    return max(every, key=lambda candidate: candidate[1] - limit_of(statement))


def _least(exact: WrittenOut, statement: Statement) -> tuple[float, str, float | None] | None:
    if isinstance(statement, Threshold) and not exact.additive:
        return exact.beyond(statement.tau), f"least epsilon for tau {statement.tau:g}", None
    name = f"least delta at epsilon {statement.epsilon:g}"
    if isinstance(statement, FixedBaseline) and not exact.additive:
        minimum, fixed = exact.robust(statement.epsilon)
        return minimum, name, fixed
    if isinstance(statement, SinglingOut) and hasattr(exact.guesses, "weight"):
        minimum = _singled_out(exact, statement)
        return None if minimum is None else (minimum, name, None)
    return None


def _singled_out(exact: WrittenOut, statement: SinglingOut) -> float | None:
    """Return the least delta over all weights: both sides change only at weights of predicates."""
    weights = exact.guesses.weight(exact.game.world)
    if weights is None or statement.possible is None:
        return None
    every = replace(statement, points=len(statement.possible))
    factor = math.exp(statement.epsilon)
    gains = [exact.light(weights, float(w)) - factor * every.baseline(w) for w in every.weights]
    return max(0.0, float(np.max(gains)))


def curve_of(statement: Statement, attackers: Sequence[Attacked]) -> tuple[IsolationPoint, ...]:
    """Return, for each weight, how often predicates that light isolate, and the best baseline."""
    if not isinstance(statement, SinglingOut):
        return ()
    points: list[IsolationPoint] = []
    for w in statement.weights[statement.weights > 0]:  # nothing of weight 0 isolates
        light = w * (1 + SAME)  # what has no weight, NaN, is not light
        shares = [
            float((attacker.scores.success & (attacker.scores.weight <= light)).mean())
            for attacker in attackers
        ]
        baseline = float(statement.baseline(float(w)))
        points.append(IsolationPoint(weight=float(w), success=max(shares), baseline=baseline))
    return tuple(points)
