"""The numbers of a record in long form, and the few that its ``repr`` shows.

The rows of a record are the rows of its frame, with one column for each key of ``at``. Kinds that
have no rows yet have a module in `narcissus.audits.numbers` with ``rows(results)``, an iterator of
dictionaries with the keys of `COLUMNS` and its own, and ``headline(results)``, short texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from narcissus._pandas import pd
from narcissus.report.about import shown
from narcissus.rows import StudyRow
from narcissus.study.record import Record

COLUMNS = ("quantity", "name", "value", "low", "high", "confidence", "baseline", "grade")
"""The columns that every kind of study has."""

# kind -> module
KINDS: dict[str, str] = {}


def frame_of(record: Record) -> pd.DataFrame:
    """Return numbers of a record in long form; its results as one row for a kind of your own."""
    layout = shown(record)
    if layout is None and record.kind not in KINDS:
        results = record.to_dict()["results"]
        return pd.json_normalize(results if isinstance(results, list) else [results])
    rows: Iterable[Mapping[str, Any]]
    if layout is not None:
        said, case = layout
        rows = [
            _flat(row, more)
            for row in record.rows
            if row.of and (more := said.in_frame(row, case)) is not None
        ]
    else:
        rows = import_module(KINDS[record.kind]).rows(record.results)
    found = [
        {**row, "grade": "not assessed"}
        # what a contradicted record says to be proved is not
        if record.contradictions and str(row["grade"]).startswith("proved")
        else row
        for row in rows
    ]
    first = () if layout is None else layout[0].columns
    own = list(dict.fromkeys([*first, *(k for row in found for k in row if k not in COLUMNS)]))
    texts = {"quantity", "name", "grade", *(k for row in found for k in row if _is_text(row[k]))}
    frame = pd.DataFrame(found, columns=[*COLUMNS, *own])
    return frame.astype({c: float for c in frame.columns if c not in texts})


def _flat(row: StudyRow, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a record as one of its frame."""
    found = row.quantity
    own = {"quantity": row.of, "name": row.name, "baseline": row.baseline, "grade": found.grade}
    numbers = {"value": found.value, "low": found.low, "high": found.high}
    trials = {} if found.trials is None else {"trials": found.trials}
    return {**own, **numbers, "confidence": found.confidence, **row.at, **more, **trials}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def headline(record: Record) -> str:
    """Return kind, status, grade and the headline numbers of a record, on one or two lines."""
    said = f"{record.kind}: {record.status}, {record.grade}"
    if (layout := shown(record)) is not None:
        return f"{said}; {', '.join(layout[0].headline(layout[1]))}"
    if record.kind not in KINDS:
        return said
    numbers: list[str] = import_module(KINDS[record.kind]).headline(record.results)
    return f"{said}; {', '.join(numbers)}" if numbers else said
