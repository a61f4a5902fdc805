"""The folder that was opened: what is in it, its reports too, and nothing outside."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path, PurePath
from textwrap import shorten
from typing import Any, cast
from unicodedata import normalize

from narcissus._files import LARGEST, read_bytes, write_atomically
from narcissus._folders import opened_folder
from narcissus._toml import read_toml
from narcissus._visible import visible
from narcissus.errors import InputError, NarcissusError, TooLargeError
from narcissus.report.about import shown
from narcissus.report.envelope import flat
from narcissus.report.first_screen import first_screen
from narcissus.report.format import STATUS
from narcissus.study.reading import read_record
from narcissus.study.record import Record

KINDS = ("table", "synthetic", "membership")  # of study, that the page knows
LARGEST_STUDY = 2**18  # bytes of a study file that the page reads and writes
UPLOADS = "uploads"
MOST_LISTED = 500
_TABLES = (
    *(".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.xz", ".csv.zip", ".parquet", ".arrow"),
    *(".feather", ".dta", ".sav", ".sas7bdat", ".xlsx", ".jsonl", ".txt"),
)
ARRAYS = (".npz", ".npy", ".safetensors")  # files of scores, beside tables
_NO_PATHS = {"unknown", "known", "columns", "drop", "title", "reason", "origin"}
LONGEST_NAME = 255
"""Bytes of a name in a folder, on the file systems in use."""
_OUTSIDE = "`{}` is outside of the folder that was opened: move it there, or open the folder above"


def _leads_inside(root: Path, written: str) -> bool:
    """Return whether a text, read as a path, stays in a folder, links included.

    A part of a name that no file system takes opens no file, so it is left out; what leads up is
    counted whatever the rest is.
    """
    parts = [part for part in PurePath(written).parts if len(os.fsencode(part)) <= LONGEST_NAME]
    try:
        return root.joinpath(*parts).resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a loop of links, a path that is too long as a whole
        return False


def _require_short(name: str) -> None:
    """Refuse a name of a file that no file system takes."""
    if len(name.encode(errors="replace")) > LONGEST_NAME:
        raise InputError(f"`{name[:40]}...` is longer than the name of a file may be")


def _require_harmless(name: str) -> None:
    """Refuse a name of a file to be written that leads elsewhere, hides, or shows as another."""
    fault = ""
    if held := [mark for mark in "/\\:" if mark in name]:
        fault = f"holds {held[0]}"
    elif visible(name) != name:
        fault = "holds characters that nobody sees"
    elif name.startswith("."):
        fault = "begins with a point: such files are hidden"
    if fault:
        raise InputError(f"the name `{visible(name[:80])}` {fault}: rename the file")
    _require_short(name)


def is_readable(path: PurePath) -> bool:
    """Return whether a name from the disk is UTF-8: a page can neither show nor link another."""
    try:
        path.name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Folder:
    """A folder, and the names in it that the page may read and write."""

    root: Path  # resolved

    def inside(self, name: str) -> Path:
        """Return the path of a name; InputError where it, or what it links to, lies outside."""
        try:
            path = (self.root / name).resolve()
        except (OSError, ValueError, RuntimeError) as error:  # a NUL, a loop of links
            raise InputError(f"`{name[:80]}` is no name of a file") from error
        if not path.is_relative_to(self.root):
            raise InputError(_OUTSIDE.format(name))
        return path

    def study(self, name: str) -> Path:
        """Return the study file of a name; InputError where there is none."""
        path = self.root / f"{name}.toml"
        if not name or "/" in name or "\0" in name or name.startswith("."):
            raise InputError("this is no name of a study")
        _require_short(path.name)
        if not path.is_file() or path.is_symlink():
            raise InputError(f"there is no study file {path.name} in this folder")
        return path

    def read(self, name: str) -> str:
        try:
            text = read_bytes(self.study(name), largest=LARGEST_STUDY).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{name}.toml is no UTF-8 text: {error}") from error
        return text.replace("\r\n", "\n")

    def write(self, name: str, text: str, *, new: bool = False) -> None:
        """Write a study file; what it names must lie in the folder."""
        self.require_inside(parsed(text, f"{name}.toml"))
        path = self.root / f"{name}.toml" if new else self.study(name)
        write_atomically(path, text, private=True)

    def new_name(self, wanted: str) -> str:
        """Return the name of a study that is not there yet."""
        stem = (
            re.sub(r"[^\w-]+", "-", normalize("NFC", wanted).partition(".")[0]).strip("-_")
            or "study"
        )
        names = (stem, *(f"{stem}-{n}" for n in range(2, 1000)))
        return next(n for n in names if not os.path.lexists(self.root / f"{n}.toml"))

    def require_inside(self, value: Any) -> None:
        """Refuse a study in which any text but a name of a column or a remark leads outside."""
        if isinstance(value, Mapping):
            for key, part in cast("Mapping[str, Any]", value).items():
                if key not in _NO_PATHS:
                    self.require_inside(part)
        elif isinstance(value, list):
            for part in cast("list[Any]", value):
                self.require_inside(part)
        elif isinstance(value, str) and value and "\0" not in value:
            for written in {value, value.replace("\\", "/")}:
                if not _leads_inside(self.root, written):
                    raise InputError(_OUTSIDE.format(value[:80]))

    def tables(self) -> list[str]:
        """List the files of data in the folder and one folder deeper, with `/` between."""
        names: list[str] = []
        for path in (*sorted(self.root.iterdir()), *sorted(self.root.glob("*/*"))):
            name = path.relative_to(self.root).as_posix()
            is_data = name.lower().endswith(_TABLES + ARRAYS) and not name.startswith("results/")
            is_data = is_data and "/." not in f"/{name}" and not path.parent.is_symlink()
            is_data = is_data and is_readable(path) and is_readable(path.parent)
            with suppress(OSError, RuntimeError):
                if is_data and path.is_file() and path.resolve().is_relative_to(self.root):
                    names.append(name)
        return names[:MOST_LISTED]

    def unreadable(self) -> list[str]:
        """List what is in the folder under a name that is no UTF-8, and so is not shown."""
        return [visible(path.name) for path in sorted(self.root.iterdir()) if not is_readable(path)]

    def studies(self) -> list[tuple[str, str]]:
        """List the studies that the page can open: name and title."""
        listing: list[tuple[str, str]] = []
        for path in sorted(filter(is_readable, self.root.glob("*.toml")))[:MOST_LISTED]:
            with suppress(InputError):
                data = parsed(self.read(path.stem), path.name)
                if data.get("kind", "table") in KINDS and isinstance(data.get("data"), dict):
                    listing.append((path.stem, str(data.get("title", ""))))
        return listing

    async def take(self, name: str, pieces: AsyncIterator[bytes], *, most: int = LARGEST) -> str:
        """Write an upload piece by piece, for this user alone; return its name in the folder."""
        name = normalize("NFC", name)
        _require_harmless(name)
        if not name.lower().endswith(_TABLES + ARRAYS):
            raise InputError(
                f"`{name[:80]}` is no name of a table: it must end in .csv, .tsv, .parquet, .xlsx, "
                ".dta, .sav, .npz or another form that is read"
            )
        partial, size = f".{os.urandom(8).hex()}.partial", 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        opened = opened_folder(self.root / UPLOADS, below=self.root, make=True, mode=0o700)
        try:
            with opened as place, ExitStack() as stack:
                place.close_to_others()
                new = place.open(partial, flags, 0o600)
                stack.callback(place.remove, partial)
                with os.fdopen(new, "wb") as file:
                    async for piece in pieces:
                        size += len(piece)
                        if size > most:
                            raise TooLargeError(f"{name} is larger than {most:,} bytes")
                        file.write(piece)
                place.link(partial, name)
        except NotADirectoryError as error:
            raise InputError(f"{UPLOADS} in this folder is no folder") from error
        except FileExistsError as error:
            raise InputError(
                f"{UPLOADS}/{name} is there already: choose it in the list, or rename yours"
            ) from error
        return f"{UPLOADS}/{name}"


def parsed(text: str, name: str) -> dict[str, Any]:
    """Parse the text of a study file; InputError with line and column."""
    if len(text.encode(errors="replace")) > LARGEST_STUDY:
        raise TooLargeError(f"{name} has more than {LARGEST_STUDY:,} bytes")
    try:
        return read_toml(text)
    except ValueError as error:
        raise InputError(f"{name} is not valid TOML: {error}") from error


MOST_CHANGES = 12
MOST_REPORTS = 200
LARGEST_RECORD = 2**22
"""Bytes of a record that the page reads (4 MiB): whoever sent the folder may have written it."""
_SOURCES = ("path", "table", "real", "scores")


@dataclass(frozen=True)
class Report:
    """One report in the results folder."""

    place: str  # its folder, below the one of all results
    when: str
    sign: str
    words: str
    headline: list[str]
    record: Record | None  # without rows and result; None for one that cannot be read
    changed: tuple[str, ...] = ()  # since the one before it


@lru_cache(maxsize=MOST_REPORTS)
def _read(path: Path, changed: float, root: Path) -> Report:
    place, when = path.parent.relative_to(root).as_posix(), ""
    with suppress(ValueError, OverflowError, OSError):  # a time before or after all calendars
        when = datetime.datetime.fromtimestamp(changed).strftime("%Y-%m-%d %H:%M")
    try:
        record = read_record(path, largest=LARGEST_RECORD)
        layout, case = shown(record)
        first = first_screen(record, case, layout.glance(case))
        headline = [first.answer, *(text for text, _ in first.sentences[:2])]
    except Exception as error:  # whatever somebody else wrote there: the page goes on
        why = str(error) if isinstance(error, NarcissusError) else "it cannot be drawn"
        return Report(place, when, "?", "not readable", [why], None)
    sign, words = STATUS.get(record.status, ("?", record.status))
    summary = record.model_copy(update={"result": None})
    return Report(place, when, sign, words, headline, summary)


def reports(results: Path, study: str, source: Any) -> list[Report]:
    """Return the reports of a study and of others about the same table, the latest first."""
    dated_reports: list[tuple[float, Report]] = []
    for path in [*results.glob("*/record.json"), *results.glob("*/*/record.json")][:MOST_REPORTS]:
        with suppress(OSError):
            if not all(map(is_readable, path.parents)):
                continue
            if not path.resolve().is_relative_to(results.parent):  # the folder that was opened
                continue
            at = path.stat()
            report = _read(path, at.st_mtime, results)
            data = {} if report.record is None else report.record.study
            if report.place.split("/")[0] == study or (data and source_of(data) == source):
                dated_reports.append((at.st_mtime, report))
    ordered = [
        report for _, report in sorted(dated_reports, key=lambda pair: pair[0], reverse=True)
    ]
    return [
        replace(report, changed=tuple(_changes(before.record.study, report.record.study)))
        if before and before.record and report.record
        else report
        for report, before in zip_longest(ordered, ordered[1:])
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
        was, now = (shorten(settings.get(key, "nothing"), 80) for settings in (before, after))
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
