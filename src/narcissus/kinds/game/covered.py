"""Members of a family: the worst rate between those computed, varied games, members as files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from pydantic import ValidationError

from narcissus._outwards import upper
from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.game.executor import Executor, Serial, soon
from narcissus.kinds.game.schema import GIVEN, NEAR, GameStudy, NearFamily, RatesFamily
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
from narcissus.profiles.nearby import NearPriors, why_not_near
from narcissus.profiles.write_out import ROUNDING
from narcissus.study.kinds import RunOptions
from narcissus.study.part_section import checked
from narcissus.study.parts import Part
from narcissus.study.registry import WORLD, loaded
from narcissus.study.work import agree
from narcissus.success.statements import FixedBaseline, Resilience, Statement

SECTIONS = ("mechanism", "world", "success", "looser")


def varied(study: GameStudy, folder: Path, parameter: str, value: float) -> Game:
    """Return the game of a study with another value of ``parameter``: a key, or SECTION.KEY."""
    before, dot, key = parameter.rpartition(".")
    section = before if dot else "mechanism"
    part: Part | None = getattr(study, section, None) if section in SECTIONS else None
    if part is None:
        raise InputError(
            f"`--smallest {parameter}`: the study has no section [{section}] of "
            f"{', '.join(SECTIONS)}"
        )
    if key not in part.options:
        raise InputError(
            f"`--smallest {parameter}`: the {section} {part.name} has no parameter {key!r}; it has "
            f"{', '.join(part.options) or 'none'}{did_you_mean(key, part.options)}"
        )
    try:
        made = checked(part.room, {**part.to_dict(), key: value}, folder)
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"]
        raise InputError(f"`--smallest {parameter}`: {value:g} is refused: {message}") from error
    return study.model_copy(update={section: made}).build().game


LEAST = 1e-6  # tolerance where the statement allows no delta, and a tenth of it would be 0

# The distributions written out, with the worst rate; what holds between them; why not more.
Covered = tuple[WrittenFamily, Cover | NearPriors | None, str]


def between_rates(
    family: RatesFamily,
    exact: WrittenOut,
    epsilon: float,
    delta: float,
    *,
    hours: float | None = None,
    observer: Observer = SILENT,
) -> Cover:
    """Find the worst rate of a family, and a delta sufficient for every rate.

    The tolerance is a tenth of delta if the family has none. ``exact`` is the game at any of its
    rates. A world that does not define how its chances depend on the rate raises InputError.
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
    """Find the first parameter value that suffices for every rate of a study's family.

    ``values`` of ``parameter``, as for `varied`, are tried in order; ``limit`` is the largest
    number of (data set, release) pairs of a game. If nothing is known between the rates, or the
    parameter does not take a value, this raises InputError.
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
        for value, cover in zip(values, looking, strict=False):
            tried += 1
            observer.advance()
            assumed |= dict.fromkeys(cover.assumptions)
            if cover.at_most <= delta:
                observer.finish()
                return Smallest(value, cover.at_most, tried, tuple(assumed), undecided)
            last = cover.least
            undecided += cover.least <= delta
    observer.finish()
    if refused is not None:
        raise refused
    return Smallest(None, last, tried, tuple(assumed), undecided)


@dataclass(frozen=True)
class _WorstRate:
    """Search for the worst rate of the game of a value, given by its place."""

    games: Sequence[Game]
    family: RatesFamily
    epsilon: float
    delta: float
    limit: int
    abstain: bool

    def __call__(self, key: str) -> Cover:
        exact = write_out(self.games[int(key)], limit=self.limit, abstain=self.abstain)
        return cover(
            exact,
            self.family.low,
            self.family.high,
            self.epsilon,
            points=self.family.rates,
            tolerance=0.0,
            budget=self.family.budget,
            target=self.delta,
        )


def covered(
    study: GameStudy, written: WrittenFamily, statement: Statement, options: RunOptions
) -> Covered:
    """Search between the rates of a family, or priors near one; others are what is written out."""
    family = study.family
    if isinstance(family, NearFamily):
        return _near(family, written.members[GIVEN], statement)
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
    cover = between_rates(
        family,
        exact,
        statement.epsilon,
        statement.delta,
        hours=options.hours,
        observer=options.observer,
    )
    holds = cover.at_most <= statement.delta + ROUNDING
    between = "" if holds else _short_of(cover.at_most, statement.delta, complete=cover.complete)
    return _with_worst(written, cover.rate, statement.epsilon), cover, between


def _near(family: NearFamily, given: WrittenOut, statement: Statement) -> Covered:
    """Look at the priors near that of a game; InputError: nothing is known of them."""
    reason, fixed = why_not_near(given), isinstance(statement, FixedBaseline)
    if not isinstance(statement, Resilience | FixedBaseline):
        reason = "its statement has neither the attacker's own baseline nor the best fixed guess"
    elif isinstance(statement, FixedBaseline) and statement.best is not None:
        reason = "`statement.best` is about one prior (leave it out: it is computed for each)"
    if reason:
        raise InputError(f'[family] kind = "near" is not for this game, since {reason}')
    if family.prior_factor == 1 or family.prior_distance == 0:
        return WrittenFamily({GIVEN: given}), None, ""  # the plain study, to the last digit
    priors = NearPriors(given, family.nearby, statement.epsilon, fixed)
    between = ""
    if priors.at_most > statement.delta + ROUNDING:
        between = (
            f"a delta of {upper(priors.at_most, 3)} is enough for each of them, more than the "
            f"{statement.delta:g} that is allowed; take a smaller [family]"
        )
    is_worse = priors.worst[1] is not priors.prior
    return (
        WrittenFamily({GIVEN: given} | ({NEAR: priors.member} if is_worse else {})),
        priors,
        between,
    )


def _short_of(at_most: float, allowed: float, *, complete: bool) -> str:
    remedy = "take a smaller `family.tolerance`" if complete else "take a larger `family.budget`"
    return (
        f"between them a delta of {upper(at_most, 3)} is enough, more than the {allowed:g} that is "
        f"allowed; {remedy}"
    )


def _with_worst(written: WrittenFamily, rate: float, epsilon: float) -> WrittenFamily:
    first = next(iter(written.members.values()))
    game = replace(first.game, world=replace(first.game.world, rate=rate))
    worst = write_out(game, abstain=first.abstain)
    if worst.delta(epsilon) <= written.delta(epsilon):
        return written
    return WrittenFamily({**written.members, f"rate = {rate!r}": worst})


def text_of(study: GameStudy, world: Any, member: str) -> str:
    """Return the text of a study file with one world, called ``member``, and without its family."""
    document = study.model_dump(mode="json", by_alias=True, exclude_unset=True)
    left = {k: v for k, v in document.items() if k not in ("family", "world", "expected", "title")}
    title = f"{study.title}: {member}"
    return to_toml({"kind": "game", "title": title, **left, "world": section_of(world, member)})


def section_of(world: Any, member: str) -> dict[str, Any]:
    """Return the section [world] of an object of this package; a user's own raises InputError."""
    for name, target in WORLD.items():
        if loaded(target) is type(world):
            options = {field.name: _plain(getattr(world, field.name)) for field in fields(world)}
            return {"name": name, **{k: v for k, v in options.items() if v is not None}}
    raise InputError(
        f"{member} is a custom {type(world).__name__}, which a study file cannot hold; name "
        "your own world in [world], with the parameters of this one"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(member) for member in cast("list[Any]", value)]
    return value


def to_toml(document: Mapping[str, Any]) -> str:
    """Write a document as TOML: keys, then tables and lists of tables, leaving out None."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    contents = {key: value for key, value in document.items() if value is not None}
    tables = {k: v for k, v in contents.items() if isinstance(v, Mapping) or _tables(v)}
    yield from (f"{k} = {_value(v)}" for k, v in contents.items() if k not in tables)
    for key, value in tables.items():
        several = not isinstance(value, Mapping)
        for table in cast("list[Any]", value if several else [value]):
            yield ""
            yield f"[[{key}]]" if several else f"[{key}]"
            yield from (f"{k} = {_value(v)}" for k, v in table.items() if v is not None)


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float):
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if key.replace("-", "_").isidentifier() else json.dumps(key)
