"""The numbers of a record in long form, and the few that its ``repr`` shows.

The rows of a record are the rows of its frame, with one column for each key of ``at``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narcissus._pandas import pd
from narcissus.report.about import shown
from narcissus.rows import StudyRow
from narcissus.study.record import Record

COLUMNS = ("quantity", "name", "value", "low", "high", "confidence", "baseline", "grade")
"""The columns that every kind of study has."""


def frame_of(record: Record) -> pd.DataFrame:
    """Return numbers of a record in long form."""
    said, case = shown(record)
    rows = [
        _flat(row, more)
        for row in record.rows
        if row.of and (more := said.in_frame(row, case)) is not None
    ]
    found = [
        {**row, "grade": "not assessed"}
        # what a contradicted record says to be proved is not
        if record.contradictions and str(row["grade"]).startswith("proved")
        else row
        for row in rows
    ]
    own = list(
        dict.fromkeys([*said.columns, *(k for row in found for k in row if k not in COLUMNS)])
    )
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
    layout, case = shown(record)
    said = f"{record.kind}: {record.status}, {record.grade}"
    return f"{said}; {', '.join(layout.headline(case))}"
