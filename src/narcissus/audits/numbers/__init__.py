"""The numbers of a record in long form, and the few that its ``repr`` shows: a module for a kind.

Each module has ``rows(results)``, an iterator of dictionaries with the keys of `COLUMNS` and its
own, and ``headline(results)``, the numbers of the verdict as short texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from narcissus._pandas import pd
from narcissus.study.record import Record

COLUMNS = ("quantity", "name", "value", "low", "high", "confidence", "baseline", "grade")
"""The columns that every kind of study has."""

# kind -> module
KINDS: dict[str, str] = {
    kind: f"{__name__}.{kind.partition('-')[0]}"
    for kind in (
        *("channel", "classifier", "extraction", "game", "image-model", "language-model"),
        *("secrets", "synthetic", "table"),
    )
}


def frame_of(record: Record) -> pd.DataFrame:
    """Return numbers of a record in long form; its results as one row for a kind of your own."""
    if record.kind not in KINDS:
        results = record.to_dict()["results"]
        return pd.json_normalize(results if isinstance(results, list) else [results])
    rows: Callable[[Any], Iterable[Mapping[str, Any]]] = import_module(KINDS[record.kind]).rows
    found = [
        {**row, "grade": "not assessed"}
        # what a contradicted record says to be proved is not
        if record.contradictions and str(row["grade"]).startswith("proved")
        else row
        for row in rows(record.results)
    ]
    own = list(dict.fromkeys(key for row in found for key in row if key not in COLUMNS))
    texts = {"quantity", "name", "grade", *(k for row in found for k in row if _is_text(row[k]))}
    frame = pd.DataFrame(found, columns=[*COLUMNS, *own])
    return frame.astype({c: float for c in frame.columns if c not in texts})


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def headline(record: Record) -> str:
    """Return kind, status, grade and the headline numbers of a record, on one or two lines."""
    said = f"{record.kind}: {record.status}, {record.grade}"
    if record.kind not in KINDS:
        return said
    numbers: list[str] = import_module(KINDS[record.kind]).headline(record.results)
    return f"{said}; {', '.join(numbers)}" if numbers else said
