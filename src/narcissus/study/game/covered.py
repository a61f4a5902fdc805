"""A family of rates: its worst rate, and what is proved for those that nobody looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from narcissus._outwards import upper
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.game.executor import Executor, Serial, soon
from narcissus.observer import SILENT, Observer
from narcissus.profiles import (
    Cover,
    Smallest,
    WrittenFamily,
    WrittenOut,
    cover,
    why_not_covered,
    write_out,
)
from narcissus.profiles.write_out import ROUNDING
from narcissus.study.game.family import RatesFamily
from narcissus.study.game.schema import GameStudy
from narcissus.study.game.vary import varied
from narcissus.study.kinds import RunOptions
from narcissus.study.results.game import CoverResult
from narcissus.study.work import agree
from narcissus.success.statements import Resilience

LEAST = 1e-6
"""Tolerance where the statement allows no delta, and a tenth of it would be 0."""

Covered = tuple[WrittenFamily, CoverResult | None, str]
"""The distributions written out, with the worst rate; what holds between them; why not more."""


def between_rates(
    family: RatesFamily,
    exact: WrittenOut,
    epsilon: float,
    delta: float,
    *,
    hours: float | None = None,
    observer: Observer = SILENT,
) -> Cover:
    """Find the worst rate of a family, and what is enough for every one.

    Parameters
    ----------
    family
        The section of the study.
    exact
        The game at any of its rates, written out.
    epsilon, delta
        Of the statement; the tolerance is a tenth of delta where the family has none.
    hours, observer
        The longest time that was agreed to, and who hears of the work.

    Raises
    ------
    InputError
        The world does not say how its chances depend on the rate.
    LongWorkError
        It takes longer than was agreed to.
    """
    return cover(
        exact,
        family.low,
        family.high,
        epsilon,
        points=family.rates,
        tolerance=family.tolerance or max(delta / 10, LEAST),
        budget=family.budget,
        agreed=partial(
            agree,
            work=f"at most {family.budget:,} intervals between rates",
            hours=hours,
            observer=observer,
            instead="take a smaller `family.budget`",
        ),
        observer=observer,
    )


def smallest_for_every_rate(
    study: GameStudy,
    folder: Path,
    parameter: str,
    values: Sequence[float],
    *,
    epsilon: float,
    delta: float,
    limit: int,
    observer: Observer = SILENT,
    executor: Executor | None = None,
) -> Smallest:
    """Find the first value of a parameter that is enough for every rate of a study's family.

    Parameters
    ----------
    study
        A study with a family of rates.
    folder
        Where it lies.
    parameter, values
        What is varied, as for `varied`, and the values to try, in order.
    epsilon, delta
        Target.
    limit
        Largest number of (data set, release) pairs of a game.
    observer
        Hears of values that were looked at.
    executor
        Who looks at values, where that takes long; None is this process.

    Raises
    ------
    InputError
        Nothing is known between the rates, or the parameter does not take a value.
    """
    family = study.family
    assert isinstance(family, RatesFamily)
    games: list[Game] = []
    refused: InputError | None = None
    for value in values:
        try:
            games.append(next(iter(varied(study, folder, parameter, value).members().values())))
        except InputError as error:  # it matters only if none before that value is enough
            refused = error
            break
    judge = _WorstRate(games, family, epsilon, delta, limit, study.exact.abstain)
    last, tried, undecided, assumed = math.inf, 0, 0, dict[str, None]()
    keys = [str(place) for place in range(len(games))]
    observer.start("values", len(games))
    with closing(soon(executor or Serial(), judge, keys, observer)) as looking:
        for value, found in zip(values, looking, strict=False):
            tried += 1
            observer.advance()
            assumed |= dict.fromkeys(found.assumptions)
            if found.at_most <= delta:
                observer.finish()
                return Smallest(value, found.at_most, tried, tuple(assumed), undecided)
            last = found.least
            undecided += found.least <= delta
    observer.finish()
    if refused is not None:
        raise refused
    return Smallest(None, last, tried, tuple(assumed), undecided)


@dataclass(frozen=True)
class _WorstRate:
    """Looks for the worst rate of the game of a value, given by its place."""

    games: Sequence[Game]
    family: RatesFamily
    epsilon: float
    delta: float
    limit: int
    abstain: bool

    def __call__(self, key: str) -> Cover:
        exact = write_out(self.games[int(key)], limit=self.limit, abstain=self.abstain)
        return cover(
            exact, self.family.low, self.family.high, self.epsilon,
            points=self.family.rates, tolerance=0.0, budget=self.family.budget, target=self.delta,
        )  # fmt: skip


def covered(
    study: GameStudy, written: WrittenFamily, statement: Any, options: RunOptions
) -> Covered:
    """Look between the rates of a family of them; other families are what is written out."""
    family = study.family
    if not isinstance(family, RatesFamily):
        return written, None, ""
    exact = next(iter(written.members.values()))
    reason = (
        why_not_covered(exact)
        if isinstance(statement, Resilience)
        else "the statement is not about the attacker's own baseline"
    )
    if reason:
        grid = '[family] kind = "grid" states it for listed rates only'
        return written, None, f"between them nothing is known, since {reason}; {grid}"
    found = between_rates(
        family,
        exact,
        statement.epsilon,
        statement.delta,
        hours=options.hours,
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
        tolerance=found.tolerance,
        complete=found.complete,
        holds=holds,
        words=str(found),
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
