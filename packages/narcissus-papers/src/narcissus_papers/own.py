"""Figures 4 to 7 of Swanberg et al. 2025, and 7 of Chatzikokolakis et al. 2023, on any table.

The attacks, bounds and prior are the papers'; only the table and what is asked of it are not.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from narcissus.tables import Table
from narcissus_papers.base import Given, Item, Needed, Reproduced
from narcissus_papers.chatzikokolakis import experiments as census
from narcissus_papers.swanberg import tables

FIGURES = ("001/4", "001/5", "001/6", "001/7", "002/7")
EPSILONS: Mapping[str, Sequence[float]] = {
    "001/4": (tables.EPSILON,),
    "001/5": tables.EPSILONS,
    "001/6": (tables.EPSILON_6,),
    "001/7": (tables.EPSILON_7,),
    "002/7": census.EPSILONS_7,
}
MOST_VALUES = 100_000
"""Kinds of records that randomized response is played on, at most."""
MOST_PIECES = 2_000


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked of a table; an empty option is the paper's.

    InputError: an option is out of its range.
    """

    unknown: tuple[str, ...] = ()  # columns to reconstruct; for paper 002 those that are released
    k: int = tables.COLUMNS_IN_A_TABLE  # columns of each released table of counts
    epsilons: tuple[float, ...] = ()  # privacy levels; infinite: without noise
    levels: tuple[float, ...] = tables.LEVELS  # confidence of the bounds on the count
    distances: tuple[float, ...] = ()  # figure 7 of 001, in units of the column's values
    people: int = tables.PEOPLE  # in a release
    releases: int = tables.TRIALS  # of each point

    def __post_init__(self) -> None:
        for epsilon in self.epsilons:
            positive("epsilons", epsilon, allow_infinite=True)
        for level in self.levels:
            fraction("levels", level)
        for distance in self.distances:
            non_negative("distances", distance)
        for name, low in (("k", 1), ("people", 1), ("releases", 2)):
            integer(name, getattr(self, name), low=low)


@dataclass(frozen=True)
class Drawn:
    """One panel: its axis, and the name of the piece behind each point."""

    title: str
    x: str
    at: tuple[float, ...]
    pieces: tuple[str, ...]
    names: tuple[str, ...] = ()
    joined: bool = True


def own_item(
    paper: str | None,
    figure: str,
    source: tables.Source,
    asked: Asked,
    folder: Path,
    *,
    hours: float | None = None,
    observer: Observer = SILENT,
) -> Item:
    """Return a figure of a table of one's own, with its time as measured on a small part.

    paper, figure: one of `FIGURES`.
    source: how the table, a file in ``folder``, is read.
    hours, observer: as in `narcissus_papers.reproduce`.
    InputError: the figure is about no table, or the table does not have what is asked of it.
    LongWorkError: a small part has not ended after a minute, and nobody agreed to that.
    """
    name = f"{paper}/{figure}"
    if name not in FIGURES:
        raise InputError(
            f"figure {figure} of {paper} is about no table; a table of your own goes with figures "
            "4 to 7 of 001 and figure 7 of 002"
        )
    idle = ("k", "levels", "people") if name == "002/7" else ()
    for option in (*idle, *(() if name == "001/7" else ("distances",))):
        if getattr(asked, option) != getattr(Asked(), option):
            raise InputError(f"`{option}` changes nothing in figure {figure} of {paper}")
    given = Given(data=folder)
    table = source.read(given)
    for column in asked.unknown:
        if column not in table.names:
            hint = did_you_mean(column, table.names)
            raise InputError(f"`unknown`: {source.title} has no column {column!r}{hint}")
    if name == "002/7":
        make, pieces = _census(source, table, asked)
    else:
        drawn, how = _layout(figure, source, table, asked, given)
        pieces = {key: partial(tables.attacked, source=source, **one) for key, one in how.items()}
        make = partial(_make, drawn=drawn, releases=asked.releases)
    if len(pieces) > MOST_PIECES:
        raise InputError(
            f"{len(pieces):,} points are more than {MOST_PIECES:,}: ask for fewer columns, "
            "epsilons or distances"
        )
    middle = sorted(pieces)[len(pieces) // 2] if name == "002/7" else list(pieces)[len(pieces) // 2]
    seconds = timed(
        partial(_seconds, pieces[middle], given, asked.releases),
        f"a part of figure {figure}",
        hours=hours,
        observer=observer,
    )
    words = re.sub(r"[^\w.-]+", "-", source.needed.name)[:100]
    title = f"Figure {figure} of {source.title}"
    total = len(pieces) * (seconds or 0.0)
    needs = (source.needed,)
    return Item(str(paper), "figure", f"{figure} of {words}", title, total, make, pieces, needs)


def own_source(path: Path, **how: Any) -> tables.Source:
    """Return a file as the source of a table; ``how`` is read as `tables.Source` does."""
    return tables.Source(path.name, Needed(path.name, "", "your own file"), **how)


def _seconds(piece: partial[Any], given: Given, releases: int) -> float:
    """Measure a piece: all of it where it takes no releases, else by two short ones."""
    if "trials" not in piece.keywords:
        start = time.perf_counter()
        piece(given)
        return time.perf_counter() - start
    took: list[float] = []
    for trials in (1, 1, 2):  # the first reads the table
        start = time.perf_counter()
        piece(given, trials=trials)
        took.append(time.perf_counter() - start)
    return took[1] + (releases - 1) * max(0.0, took[2] - took[1])


def _layout(
    figure: str, source: tables.Source, table: Table, asked: Asked, given: Given
) -> tuple[tuple[Drawn, ...], dict[str, dict[str, Any]]]:
    """Return the panels of a figure of 001, and the arguments of each piece by its name."""
    columns = asked.unknown
    if figure == "4":
        columns = columns or table.names
    elif figure == "6":
        columns = columns or tuple(source.in_order(given))
    if not columns:
        why = "draws a panel for each unknown column" if figure != "6" else "keeps 3 columns known"
        raise InputError(f"figure {figure} {why}: name some of {', '.join(table.names)} as unknown")
    if len(table.names) < 2 or (figure == "6" and len(columns) >= len(table.names)):
        raise InputError(f"one column of {source.title} must be known: {len(columns)} are unknown")
    if asked.k > len(table.names):
        raise InputError(f"`k` must be at most the {len(table.names)} columns, got {asked.k}")
    epsilons = asked.epsilons or EPSILONS[f"001/{figure}"]
    same = {"people": asked.people, "k": asked.k, "levels": asked.levels, "trials": asked.releases}
    how: dict[str, dict[str, Any]] = {}

    def piece(unknown: Sequence[str], epsilon: float, within: float = 0.0) -> str:
        places = "-".join(str(table.names.index(one)) for one in unknown[-1:])
        key = f"{len(unknown)} {places} {epsilon:g} {within:g}"
        how[key] = {"unknown": tuple(unknown), "epsilon": epsilon, "within": within, **same}
        return key

    drawn: list[Drawn] = []
    by_column = [(one, e) for one in columns for e in epsilons]
    if figure == "5":
        at, names = tuple(map(float, range(len(epsilons)))), tuple(f"{e:g}" for e in epsilons)
        for one in columns:
            drawn.append(Drawn(one, "epsilon", at, tuple(piece([one], e) for e in epsilons), names))
    elif figure == "7":
        for one, e in by_column:
            distances = asked.distances or _distances(table, one)
            keys = tuple(piece([one], e, within) for within in distances)
            drawn.append(Drawn(f"{one}, epsilon {e:g}", "distance allowed", distances, keys))
    else:
        counts = tuple(range(1, len(columns) + 1))
        for e in epsilons:
            title = f"{source.title}, epsilon {e:g}"
            if figure == "4":
                keys = tuple(piece([one], e) for one in columns)
                at = tuple(float(c - 1) for c in counts)
                drawn.append(Drawn(title, "unknown column", at, keys, columns, joined=False))
            else:
                keys = tuple(piece(columns[:count], e) for count in counts)
                drawn.append(Drawn(title, "unknown columns", counts, keys))
    return tuple(drawn), how


def _distances(table: Table, name: str) -> tuple[float, ...]:
    """Return eight distances from 0, the smallest gap between two values apart."""
    values = table.values[table.names.index(name)]
    if values is None or len(values) < 2:
        raise InputError(f"`unknown`: the values of {name} have no distances: choose numbers")
    gap = float(np.diff(np.sort(values)).min())
    return tuple(gap * steps for steps in range(min(8, len(values))))


def _make(given: Given, *, drawn: tuple[Drawn, ...], releases: int) -> Reproduced:
    found = given.answers
    y = "of 100 people reconstructed"
    panels = tuple(
        Panel(
            one.title,
            one.x,
            y,
            tables.lines(one.at, [found[key] for key in one.pieces], joined=one.joined),
            names=one.names,
        )
        for one in drawn
    )
    low = [key for key, one in found.items() if one["posterior"]["high"] < one["guess"]["low"]]
    held = (
        tables.kept_below(found),
        tables.claim(
            "the posterior is nowhere shown to be below the prior", not low, f"at {', '.join(low)}"
        ),
    )
    notes = ("The table is the user's, so no number in print belongs to it.", tables.BOUNDS)
    notes += (f"Means of {releases} releases; people are drawn from the network of the table.",)
    return Reproduced(panels, held=held, notes=notes)


def _census(source: tables.Source, table: Table, asked: Asked) -> tuple[Any, dict[str, Any]]:
    """Return figure 7 of 002 and its pieces."""
    columns = asked.unknown or table.names
    values = math.prod(table.sizes[table.names.index(one)] for one in columns)
    if not 2 <= values <= MOST_VALUES:
        raise InputError(
            f"the columns {', '.join(columns)} have {values:,} kinds of records, and randomized "
            f"response is played on 2 to {MOST_VALUES:,}: choose others with `unknown`"
        )
    epsilons = asked.epsilons or EPSILONS["002/7"]
    for epsilon in epsilons:
        between("epsilons", epsilon, 1e-3, 100)
    how = {"source": source, "columns": columns, "values": values, "repeats": asked.releases}
    pieces = {f"epsilon {e:g}": partial(_released, epsilon=e, **how) for e in epsilons}
    return partial(_make_census, epsilons=epsilons, values=values, title=source.title), pieces


def _released(
    given: Given,
    *,
    source: tables.Source,
    columns: tuple[str, ...],
    values: int,
    epsilon: float,
    repeats: int,
) -> dict[str, Any]:
    table = source.read(given)
    places = [table.names.index(one) for one in columns]
    sizes = tuple(table.sizes[place] for place in places)
    kinds = np.ravel_multi_index(tuple(table.records[:, places].T), sizes)
    held = np.bincount(kinds, weights=table.counts, minlength=values).astype(np.int64)
    return census.released(RandomizedResponse(epsilon, values), held, repeats)


def _make_census(given: Given, *, epsilons: Sequence[float], values: int, title: str) -> Reproduced:
    found = [given.answers[f"epsilon {e:g}"] for e in epsilons]
    exact = [ch.KaryRandomizedResponse(values, e).beta_star for e in epsilons]
    sampled = [one["estimate"] for one in found]
    lines = [
        *(
            Line(f"utility, {words}", epsilons, [float(np.mean(one[key])) for one in found])
            for key, words in census.READINGS.items()
        ),
        Line(f"beta*, {values:,} values", epsilons, exact, "dashed"),
        Line("beta* estimated from samples", epsilons, sampled, "points"),
    ]
    inside = all(one["low"] <= b <= one["high"] for one, b in zip(found, exact, strict=True))
    sure = f"limits of beta* from samples (each of confidence {census.CONFIDENCE:g})"
    held = (tables.claim(f"{sure} hold the exact value", inside, "chance, or a mistake"),)
    notes = ("The table is the user's, so no number in print belongs to it.",)
    return Reproduced((Panel(title, "epsilon", "share", lines),), held=held, notes=notes)
