"""Reports that lie in the folder: of one table, the latest first, each with what changed."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from textwrap import shorten
from typing import Any

from narcissus.errors import InputError, NarcissusError
from narcissus.report.about import shown
from narcissus.report.envelope import flat
from narcissus.report.first_screen import first_screen
from narcissus.report.format import STATUS
from narcissus.study.reading import read_record
from narcissus.study.record import Record

MOST_CHANGES = 12
MOST_REPORTS = 200
_SOURCES = ("path", "table", "real", "scores")


@dataclass(frozen=True)
class Report:
    """One report in the results folder."""

    place: str  # its folder, below the one of all results
    when: str
    sign: str
    words: str
    headline: list[str]
    record: Record
    changed: tuple[str, ...] = ()  # since the one before it


@lru_cache(maxsize=MOST_REPORTS)
def _read(path: Path, _changed: int, root: Path) -> Report | None:
    try:
        record = read_record(path)
        layout, case = shown(record)
        first = first_screen(record, layout.glance(case))
        headline = [first.answer, *(text for text, _ in first.sentences[:2])]
    except NarcissusError:
        return None
    sign, words = STATUS.get(record.status, ("?", record.status))
    when = datetime.datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%d %H:%M")
    place = path.parent.relative_to(root).as_posix()
    return Report(place, when, sign, words, headline, record)


def reports(results: Path, study: str, source: Any) -> list[Report]:
    """Return the reports of a study and of others about the same table, the latest first."""
    found: list[tuple[float, Report]] = []
    for path in [*results.glob("*/record.json"), *results.glob("*/*/record.json")][:MOST_REPORTS]:
        with suppress(OSError):
            if not path.resolve().is_relative_to(results.parent):  # the folder that was opened
                continue
            at = path.stat()
            one = _read(path, at.st_mtime_ns, results)
            if one is not None and (
                one.place.split("/")[0] == study or source_of(one.record.study) == source
            ):
                found.append((at.st_mtime, one))
    ordered = [one for _, one in sorted(found, key=lambda pair: pair[0], reverse=True)]
    return [
        replace(one, changed=tuple(_changes(before.record.study, one.record.study)))
        if before
        else one
        for one, before in zip_longest(ordered, ordered[1:])
    ]


def source_of(study: Mapping[str, Any]) -> Any:
    """Return the table, or the scores, that a study is about."""
    data = study.get("data")
    return (
        next((data[k] for k in _SOURCES if data.get(k)), None) if isinstance(data, dict) else None
    )


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = dict(flat(old)), dict(flat(new))
    changed = [k for k in {**before, **after} if before.get(k) != after.get(k)]
    for key in changed[:MOST_CHANGES]:
        was, now = (shorten(one.get(key, "nothing"), 80) for one in (before, after))
        yield f"{key}: {was} → {now}"
    if len(changed) > MOST_CHANGES:
        yield f"and {len(changed) - MOST_CHANGES} more settings"


def file_of(results: Path, place: str, name: str) -> Path:
    """Return the path of a report or a record; InputError where there is none in the results."""
    parts = place.split("/")
    if len(parts) > 2 or not all(part and not part.startswith(".") for part in parts):
        raise InputError("this is no report of this folder")
    with suppress(OSError, ValueError, RuntimeError):
        path = (results / place / name).resolve()
        if path.is_file() and path.is_relative_to(results.parent):
            return path
    raise InputError("there is no such report in this folder")
