"""A family of rates: its worst rate, and what is proved for those that nobody looked at."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from narcissus._outwards import upper
from narcissus.profiles import WrittenFamily, cover, why_not_covered, write_out
from narcissus.profiles.family import ROUNDING
from narcissus.study.game.family import RatesFamily
from narcissus.study.game.schema import GameStudy
from narcissus.study.kinds import RunOptions
from narcissus.study.results.game import CoverResult
from narcissus.study.work import agree
from narcissus.success.statements import Resilience

LEAST = 1e-6
"""Tolerance where the statement allows no delta, and a tenth of it would be 0."""

Covered = tuple[WrittenFamily, CoverResult | None, str]
"""The distributions written out, with the worst rate; what holds between them; why not more."""


def covered(
    study: GameStudy, written: WrittenFamily, statement: Any, options: RunOptions
) -> Covered:
    """Look between the rates of a family of them; other families are what is written out."""
    family = study.family
    if not isinstance(family, RatesFamily):
        return written, None, ""
    exact = next(iter(written.members.values()))
    if not isinstance(statement, Resilience):
        reason = "between them nothing is known of statements without the attacker's own baseline"
        return written, None, f'{reason}; [family] kind = "grid" states it for these only'
    if reason := why_not_covered(exact):
        reason = f"between them nothing is known, since {reason}"
        return written, None, f'{reason}; [family] kind = "grid" states it for these only'
    tolerance = family.tolerance or max(statement.delta / 10, LEAST)
    found = cover(
        exact,
        family.low,
        family.high,
        statement.epsilon,
        points=family.rates,
        tolerance=tolerance,
        budget=family.budget,
        agreed=partial(
            agree,
            work=f"at most {family.budget:,} intervals between rates",
            hours=options.hours,
            observer=options.observer,
            instead="take a smaller `family.budget`",
        ),
        observer=options.observer,
    )
    holds = found.at_most <= statement.delta + ROUNDING
    between = "" if holds else _short_of(found.at_most, statement.delta, complete=found.complete)
    result = CoverResult(
        low=found.low,
        high=found.high,
        epsilon=found.epsilon,
        rate=found.rate,
        least=found.least,
        at_most=found.at_most,
        limit=statement.delta,
        looked_at=found.looked_at,
        budget=family.budget,
        tolerance=tolerance,
        complete=found.complete,
        holds=holds,
        words=(
            f"at every rate from {found.low:g} to {found.high:g} a delta of "
            f"{upper(found.at_most, 3)} is enough, by {found.looked_at:,} intervals"
        ),
    )
    return _with_worst(written, found.rate, statement.epsilon), result, between


def _short_of(at_most: float, allowed: float, *, complete: bool) -> str:
    remedy = "take a smaller `family.tolerance`" if complete else "take a larger `family.budget`"
    return (
        f"between them a delta of {upper(at_most, 3)} is enough, more than the {allowed:g} that is "
        f"allowed; {remedy}"
    )


def _with_worst(written: WrittenFamily, rate: float, epsilon: float) -> WrittenFamily:
    """Write out the worst rate too, where it is worse than those that are."""
    first = next(iter(written.members.values()))
    game = replace(first.game, world=replace(first.game.world, rate=rate))
    worst = write_out(game, abstain=first.abstain)
    if worst.delta(epsilon) <= written.delta(epsilon):
        return written
    return WrittenFamily({**written.members, f"rate = {rate!r}": worst})
