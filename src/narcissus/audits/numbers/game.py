"""The numbers of a game.

``quantity`` is "success" (of an attack; or "any attacker", exactly, at its ``epsilon``), "gap"
(success less e^epsilon times the baseline), "delta" (the exact profile: the least delta at each
``epsilon``; ``high`` where it is lost to rounding), "bound" (what a lemma proves, by ``name``),
"isolated" (with predicates of at most ``weight``) or "memorized bits". Besides the columns of every
kind: ``epsilon``, ``weight``, ``trials``, where there are any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.report.format import percent
from narcissus.study.results.base import SampledNumber
from narcissus.study.results.game import ExactGame, GameResults

Row = dict[str, Any]


def rows(results: GameResults) -> Iterator[Row]:
    """Yield the attackers, then what is exact or proved."""
    for one in results.attackers:
        baseline = {"baseline": one.baseline.value}
        yield {"quantity": "success", "name": one.name, **sampled(one.success), **baseline}
        if one.gap is not None:
            at = {"epsilon": results.statement.epsilon}
            yield {"quantity": "gap", "name": one.name, **sampled(one.gap), **at}
    if results.exact is not None:
        yield from _exact(results.exact)
    for bound in results.proofs:
        said = {"value": bound.value, "grade": bound.grade}
        yield {"quantity": "bound", "name": bound.theorem, **said}
    for point in results.curve:
        said = {"value": point.success, "baseline": point.baseline, "weight": point.w}
        yield {"quantity": "isolated", "name": "attack", "grade": "sampled", **said}
    if results.memorized_bits is not None:
        said = {"value": results.memorized_bits, "grade": "proved"}
        yield {"quantity": "memorized bits", "name": "release", **said}


def _exact(exact: ExactGame) -> Iterator[Row]:
    """Yield the attacker with the largest gap, and the profile."""
    top, any_attacker = exact.best_attacker, {"name": "any attacker", "grade": exact.grade}
    said = {"value": top.success, "baseline": top.baseline, "epsilon": top.at_epsilon}
    yield {"quantity": "success", **any_attacker, **said}
    for epsilon, delta in zip(exact.epsilon, exact.delta, strict=True):
        said = {"value": delta, "high": delta or exact.rounding, "epsilon": epsilon}
        yield {"quantity": "delta", **any_attacker, **said}


def sampled(found: SampledNumber) -> Row:
    return found.model_dump(include={"value", "low", "high", "confidence", "trials", "grade"})


def headline(results: GameResults) -> list[str]:
    """Return the outcome, the best attack beside its baseline, and what is exact or proved."""
    said: list[str] = [results.outcome]
    best = results.decisive
    if best is not None:
        won, lost = percent(best.success.value), percent(best.baseline.value)
        said.append(f"{best.name} succeeds in {won}, against fresh data in {lost}")
    if results.exact is not None:
        said.append(results.exact.words)
    return [*said, *(f"{bound.quantity} {bound.at_most}" for bound in results.proofs[:1])]
