"""Figures 4 to 7 of Swanberg et al. 2025, and 7 of Chatzikokolakis et al. 2023, on any table.

The attacks, bounds and prior are the papers'; only the table and what is asked of it are not.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from narcissus import channels as ch
from narcissus._validation import between, did_you_mean, fraction, integer, non_negative, positive
from narcissus.errors import InputError
from narcissus.mechanisms import RandomizedResponse
from narcissus.observer import SILENT, Observer
from narcissus.report.panels import Line, Panel
from narcissus.study.work import timed
from narcissus.tables import Bins, Table
from narcissus_papers.base import Given, Item, Needed, OwnTable, Reproduced, played
from narcissus_papers.chatzikokolakis import experiments as census
from narcissus_papers.swanberg import tables

EPSILONS = {
    "001/4": (tables.EPSILON,),
    "001/5": tables.EPSILONS,
    "001/6": (tables.EPSILON_6,),
    "001/7": (tables.EPSILON,),
    "002/7": census.EPSILONS_7,
}
MOST_VALUES = 100_000  # kinds of records that randomized response is played on
MOST_POINTS = 2_000
_NOTE = "The table is the user's, so no number in print belongs to it."

Point = tuple[tuple[str, ...], float, float | None]
"""Unknown columns, epsilon, the distance that is allowed."""


def own_item(
    name: str,
    path: Path,
    asked: OwnTable,
    *,
    hours: float | None = None,
    observer: Observer = SILENT,
) -> Item:
    """Return a figure of a table of one's own, with its time as measured on a small part.

    name: a paper and the number of its figure, 001/4 to 001/7 or 002/7.
    path: a file, as `narcissus.tables.read_table` reads it; its folder is the item's data folder.
    hours, observer: as in `narcissus_papers.reproduce`.
    InputError: the figure is about no table, or the table does not have what is asked of it.
    LongWorkError: the small part does not end, and nobody agreed to that.
    """
    paper, figure = name.split("/", 1)
    _require_fitting(name, path, asked)
    read: Any = asked.read
    bins = tuple((column, Bins(**way)) for column, way in dict(read.bins).items())
    more = (read.missing or "category", tuple(dict(read.read_as).items()))
    needed = Needed(path.name, "", "your own file")
    source = tables.Source(path.name, needed, tuple(read.drop or ()), bins, *more)
    given = Given(data=path.resolve().parent)
    table = source.read(given)
    for column in asked.read.unknown or ():
        if column not in table.names:
            hint = did_you_mean(column, table.names)
            raise InputError(f"`unknown`: {source.title} has no column {column!r}{hint}")
    asked = replace(asked, epsilons=asked.epsilons or EPSILONS[name])
    make, pieces = (_census if name == "002/7" else _tables)(figure, source, table, asked, given)
    if (count := len(pieces)) > MOST_POINTS:
        raise InputError(f"{count:,} points are above {MOST_POINTS:,}: name columns with `unknown`")
    middle = partial(_seconds, list(pieces.values())[len(pieces) // 2], given, asked.releases)
    seconds = timed(middle, f"a part of figure {figure}", hours=hours, observer=observer) or 0.0
    number = f"{figure} of " + re.sub(r"[^\w.-]+", "-", path.name)[:100]
    title = f"Figure {figure} of {path.name}"
    return Item(paper, "figure", number, title, count * seconds, make, pieces, (needed,))


def _require_fitting(name: str, path: Path, asked: OwnTable) -> None:
    if name not in EPSILONS:
        raise InputError(
            f"figure {name} is about no table; your own table goes with figures 4 to 7 of "
            "001 and figure 7 of 002"
        )
    if not path.is_file():
        raise InputError(f"`table` next to a figure must be a file, and there is no file {path}")
    idle = ("k", "levels", "people") if name == "002/7" else ()
    for option in (*idle, *(() if name == "001/7" else ("distances",))):
        if getattr(asked, option) != getattr(OwnTable(), option):
            raise InputError(f"`{option}` changes nothing in figure {name}")
    for epsilon in asked.epsilons:
        if name == "002/7":
            between("epsilons", epsilon, 1e-3, 100)
        positive("epsilons", epsilon, allow_infinite=True)
    for level in asked.levels:
        fraction("levels", level)
    for distance in asked.distances:
        non_negative("distances", distance)
    for count, low in (("k", 1), ("people", 1), ("releases", 2)):
        integer(count, getattr(asked, count), low=low)


def _seconds(piece: partial[Any], given: Given, releases: int) -> float:
    """Measure a piece: from a few of its releases, after one that reads the table."""
    took: list[float] = []
    for trials in (1, 1, 2):
        start = time.perf_counter()
        piece(given, trials=trials)
        took.append(time.perf_counter() - start)
    return took[1] + (releases - 1) * max(0.0, took[2] - took[1])


def _tables(
    figure: str, source: tables.Source, table: Table, asked: OwnTable, given: Given
) -> tuple[Any, dict[str, Any]]:
    columns = tuple(asked.read.unknown or ())
    if not columns and figure == "4":
        columns = table.names
    elif not columns and figure == "6":
        columns = tuple(source.in_order(given))
    if not columns:
        raise InputError(f"name columns of figure {figure} with `unknown`: {list(table.names)}")
    if len(table.names) < 2 or (figure == "6" and len(columns) == len(table.names)):
        raise InputError(f"at least one column of {source.title} must be known")
    if asked.k > len(table.names):
        raise InputError(f"`k` must be at most the {len(table.names)} columns, got {asked.k}")
    how = {
        "people": asked.people,
        "k": asked.k,
        "levels": asked.levels or tables.LEVELS,
        "trials": asked.releases,
    }
    drawn: list[tuple[Panel, Sequence[float], list[str]]] = []
    pieces: dict[str, Any] = {}
    for panel, at, points in _points(figure, table, asked, columns):
        keys = [f"{len(c)} {table.names.index(c[-1])} {e:g} {d or 0:g}" for c, e, d in points]
        drawn.append((panel, at, keys))
        for key, (unknown, epsilon, within) in zip(keys, points, strict=True):
            one = {"unknown": unknown, "epsilon": epsilon, "within": within}
            pieces[key] = partial(tables.attacked, source=source, **one, **how)
    return partial(_make, drawn=drawn, joined=figure != "4"), pieces


def _points(
    figure: str, table: Table, asked: OwnTable, columns: tuple[str, ...]
) -> Iterator[tuple[Panel, Sequence[float], list[Point]]]:
    """Yield each panel, where its points are, and what is attacked at each."""
    blank, epsilons = partial(Panel, y="of 100 people reconstructed", lines=()), asked.epsilons
    if figure == "5":
        names = tuple(f"{e:g}" for e in epsilons)
        for one in columns:
            points: list[Point] = [((one,), e, None) for e in epsilons]
            yield blank(one, "epsilon", names=names), range(len(names)), points
        return
    for e in epsilons:
        title = f"epsilon {e:g}"
        if figure == "4":
            points = [((one,), e, None) for one in columns]
            yield blank(title, "unknown column", names=columns), range(len(columns)), points
        elif figure == "6":
            counts = range(1, len(columns) + 1)
            points = [(columns[:count], e, None) for count in counts]
            yield blank(title, "unknown columns, all of them right"), counts, points
        else:
            for one in columns:
                far = asked.distances or _distances(table, one)
                points = [((one,), e, d) for d in far]
                yield blank(f"{one}, {title}", "distance allowed"), far, points


def _distances(table: Table, name: str) -> tuple[float, ...]:
    """Return up to eight distances from 0, each larger by the smallest gap of two values."""
    values = table.values[table.names.index(name)]
    if values is None or len(values) < 2:
        raise InputError(f"`unknown`: the values of {name} have no distances: choose numbers")
    gap = float(np.diff(np.sort(values)).min())
    return tuple(gap * steps for steps in range(min(8, len(values))))


def _make(given: Given, *, drawn: Any, joined: bool) -> Reproduced:
    found = given.answers
    panels = tuple(
        replace(panel, lines=tables.lines(at, [found[key] for key in keys], joined=joined))
        for panel, at, keys in drawn
    )
    low = [key for key, one in found.items() if one["posterior"]["high"] < one["guess"]["low"]]
    words = "the posterior is nowhere shown to be below the prior"
    held = (tables.kept_below(found), played(words, not low, f"it is at {', '.join(low)}"))
    return Reproduced(panels, held=held, notes=(_NOTE, tables.BOUNDS))


def _census(
    _figure: str, source: tables.Source, table: Table, asked: OwnTable, _given: Given
) -> tuple[Any, dict[str, Any]]:
    columns, epsilons = tuple(asked.read.unknown or ()) or table.names, asked.epsilons
    values = math.prod(table.sizes[table.names.index(one)] for one in columns)
    if not 2 <= values <= MOST_VALUES:
        raise InputError(
            f"{', '.join(columns)} have {values:,} kinds of records, and randomized response is "
            f"played on 2 to {MOST_VALUES:,}: choose others with `unknown`"
        )
    how = {"source": source, "columns": columns, "values": values, "trials": asked.releases}
    pieces = {f"epsilon {e:g}": partial(_released, epsilon=e, **how) for e in epsilons}
    return partial(_make_census, epsilons=epsilons, values=values, title=source.title), pieces


def _released(
    given: Given, *, source: Any, columns: Any, values: int, epsilon: float, trials: int
) -> dict[str, Any]:
    table = source.read(given)
    places = [table.names.index(one) for one in columns]
    sizes = tuple(table.sizes[place] for place in places)
    kinds = np.ravel_multi_index(tuple(table.records[:, places].T), sizes)
    held = np.bincount(kinds, weights=table.counts, minlength=values).astype(np.int64)
    return census.released(RandomizedResponse(epsilon, values), held, trials)


def _make_census(given: Given, *, epsilons: Any, values: int, title: str) -> Reproduced:
    found = [given.answers[f"epsilon {e:g}"] for e in epsilons]
    exact = [ch.KaryRandomizedResponse(values, e).beta_star for e in epsilons]
    lines = [
        Line(f"utility, {words}", epsilons, [float(np.mean(one[key])) for one in found])
        for key, words in census.READINGS.items()
    ]
    lines.append(Line(f"beta*, {values:,} values", epsilons, exact, "dashed"))
    sampled = [one["estimate"] for one in found]
    lines.append(Line("beta* estimated from samples", epsilons, sampled, "points"))
    inside = all(one["low"] <= b <= one["high"] for one, b in zip(found, exact, strict=True))
    sure = f"limits of beta* from samples (each of confidence {census.CONFIDENCE:g})"
    held = (played(f"{sure} hold the exact value", inside, "chance, or a mistake"),)
    panel = Panel(title, "epsilon", "share", lines)
    return Reproduced((panel,), held=held, notes=(_NOTE,))
