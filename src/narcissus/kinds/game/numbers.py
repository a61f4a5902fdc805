"""The rows of a game: what is exact, what is proved, and what was played."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from narcissus.game import Attacked
from narcissus.kinds.game.judgement import (
    EVERYBODY,
    GAP,
    grade_of,
)
from narcissus.kinds.game.schema import Assume
from narcissus.profiles import Cover, WrittenFamily, WrittenOut
from narcissus.profiles.nearby import NearPriors
from narcissus.profiles.write_out import ROUNDING
from narcissus.results import Bound, Grade
from narcissus.rows import Quantity, Role, StudyCriterion, StudyRow
from narcissus.success.statements import (
    SAME,
    FixedBaseline,
    NotMemorizing,
    Resilience,
    SinglingOut,
    Threshold,
    prepared,
)

Facts = Mapping[str, float | str | None]


def fact(
    role: Role,
    of: str,
    name: str,
    quantity: Quantity,
    *,
    baseline: float | None = None,
    at: Facts | None = None,
    facts: Facts | None = None,
) -> StudyRow:
    """Return a row; what is None of its place and its facts is left out."""
    place, known = [
        {k: v for k, v in (mapping or {}).items() if v is not None} for mapping in (at, facts)
    ]
    return StudyRow(
        role=role, of=of, name=name, quantity=quantity, baseline=baseline, at=place, facts=known
    )


Limits = Literal["success", "delta"]
"""Which of the two numbers of a game a theorem bounds."""


def proof_row(bound: Bound, limits: Limits) -> StudyRow:
    return proved(
        bound.theorem, bound.value, bound.assumptions, bound.id, what=bound.quantity, limits=limits
    )


def of_class(value: float, assume: Assume, *, own: bool) -> StudyRow:
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
    subject = f"delta at every epsilon, for {who}"
    how: dict[str, str] = {"what": subject, "limits": "delta", "against": assume.against}
    draws = "the user's part draws fresh data sets as the data are drawn, given what is told"
    premises = [premise, composed, draws] if own else [premise, composed]
    return proved(f"Narcissus theory 2.4, for {who}", value, premises, "hybrid", **how)


def quoted(words: str) -> str:
    """Return the user's words in quotation marks: nothing here checks them."""
    return f"“{words}”"


def proved(
    theorem: str, value: float, given: Sequence[str], id: str, **facts: float | str | None
) -> StudyRow:
    quantity = Quantity(value=value, grade=grade_of(given), id=id, takes_as_given=tuple(given))
    return fact("bound", "bound", theorem, quantity, facts=facts)


def attacked(
    name: str,
    success: Quantity,
    fresh: Quantity,
    gap: Quantity | None,
    epsilon: float | None,
    **facts: int | None,
) -> Iterator[StudyRow]:
    """Yield an attacker's success, that of the same attempts against fresh data, its gap."""
    yield fact("attack", "success", name, success, baseline=fresh.value, facts=facts)
    yield fact("fresh", "", name, fresh)
    if gap is not None:
        yield fact("measure", GAP, name, gap, at={"epsilon": epsilon})


def written(
    needed: tuple[str, float, float | None],
    rates: tuple[float, float],
    at: float,
    profile: Mapping[float, float],
    grade: Grade,
    given: Sequence[str],
    rounding: float | None,
    *,
    facts: Facts,
    top: Facts,
) -> Iterator[StudyRow]:
    """Yield the attacker with the largest gap, what is needed and what is enough, the profile."""
    name, minimum, enough = needed
    success = Quantity(value=rates[0], grade=grade)
    yield fact(
        "measure", "success", EVERYBODY, success, baseline=rates[1], at={"epsilon": at}, facts=top
    )
    quantity = Quantity(
        value=minimum, low=minimum, high=enough, grade=grade, takes_as_given=tuple(given)
    )
    yield fact("measure", "", name, quantity, facts={**facts, "rounding": rounding})
    for epsilon, delta in profile.items():
        high = (delta or rounding) if enough == minimum else None  # others may need more
        quantity = Quantity(value=delta, high=high, grade=grade)
        yield fact("measure", "delta", EVERYBODY, quantity, at={"epsilon": epsilon})


def others(
    best: float | None,
    refuted: float | None,
    confidence: float,
    curve: Sequence[tuple[float, float, float]],
    bits: float | None,
    fixed: float | None = None,
) -> Iterator[StudyRow]:
    """Yield what the statement itself assumes, what was refuted, the curve, what is memorized.

    fixed: The chance of the best fixed guess, where it is computed and counts for a class.
    """
    if best is not None:
        words = f"the best fixed guess succeeds with chance at most {best:g}, as [statement] says"
        quantity = Quantity(value=best, grade="proved if", takes_as_given=(words,))
        yield fact("guess", "", "[statement]", quantity)
    elif fixed is not None:
        yield fact("guess", "", "[world]", Quantity(value=fixed, grade="proved"))
    if refuted is not None:
        quantity = Quantity(value=refuted, low=refuted, grade="sampled", confidence=confidence)
        yield fact("refuted", "", "epsilon", quantity)
    for weight, success, baseline in curve:
        quantity, at = Quantity(value=success, grade="sampled"), {"weight": weight}
        yield fact("measure", "isolated", "attack", quantity, baseline=baseline, at=at)
    if bits is not None:
        yield fact("measure", "memorized bits", "release", Quantity(value=bits, grade="proved"))


def criterion_of(statement: Any) -> StudyCriterion:
    """Return what is asked of every attacker: a gap, or success by another measure."""
    of = GAP if isinstance(statement, Resilience) else "success"
    limit = None if isinstance(statement, NotMemorizing) else limit_of(statement)
    return StudyCriterion(of=of, at_most=limit)


def has_epsilon(statement: Any) -> bool:
    return isinstance(statement, Resilience | FixedBaseline | SinglingOut)


def limit_of(statement: Any) -> float:
    """Return what a statement allows of what is needed."""
    return statement.epsilon if isinstance(statement, Threshold) else statement.delta


def exactly(
    family: WrittenFamily,
    statement: Any,
    epsilons: Sequence[float],
    cover: Cover | NearPriors | None = None,
    between: str = "",
) -> list[StudyRow]:
    """Evaluate a statement exactly; nothing if it has no exact form in this game.

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
        return []
    member, minimum, name, fixed = answer
    several, premises = len(family.members) > 1, family.assumptions
    enough = max(cover.at_most, minimum) if cover is not None else None if between else minimum
    return [
        *written(
            (name, minimum, enough),
            worst[at].best.rates,
            at,
            {float(point): worst[point].best.delta for point in points},
            grade_of(premises),
            premises,
            ROUNDING,
            facts={"member": member if several else None, "fixed": fixed},
            top={
                "largest": worst[-math.inf].best.rates[0],
                **family.sizes(),
                "members": len(family.members),
                "member": worst[at].member if several else None,
            },
        )
    ]


# the worst member, what is needed, what that is, the best fixed guess
_Found = tuple[str, float, str, float | None]


def _other(family: WrittenFamily, statement: Any) -> _Found | None:
    """Evaluate a statement other than resilience for each member; None if one has no answer."""
    every: list[_Found] = []
    for name, exact in family.members.items():
        answer = _least(exact, prepared(statement, exact.game))
        if answer is None:
            return None
        every.append((name, *answer))
    return max(every, key=lambda candidate: candidate[1] - limit_of(statement))


def _least(exact: WrittenOut, statement: Any) -> tuple[float, str, float | None] | None:
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


def curve_of(statement: Any, attackers: Sequence[Attacked]) -> list[tuple[float, float, float]]:
    """Return, for each weight, how often predicates that light isolate, and the best baseline."""
    if not isinstance(statement, SinglingOut):
        return []
    points: list[tuple[float, float, float]] = []
    for w in statement.weights[statement.weights > 0]:  # nothing of weight 0 isolates
        light = w * (1 + SAME)  # what has no weight, NaN, is not light
        shares = [
            float((attacker.scores.success & (attacker.scores.weight <= light)).mean())
            for attacker in attackers
        ]
        points.append((float(w), max(shares), float(statement.baseline(float(w)))))
    return points
