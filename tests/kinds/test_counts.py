"""What was counted has a grade of its own, in rows as on pages: grades never look alike."""

from pathlib import Path

import pytest

from narcissus.report.reach import counted_in
from narcissus.results import CERTAIN
from narcissus.rows import Quantity, StudyRow
from narcissus.study.kinds import KINDS
from narcissus.study.reading import read_record
from narcissus.study.registry import loaded

STUDIES = Path(__file__).parents[1] / "study"
KEPT = sorted([*STUDIES.glob("kept/*.json"), *STUDIES.glob("records/last/*.json")])
WHOLE = {"named", "canaries", "program bytes", "recovered", "reproduced"}
"""Measures that are counts without how many of how many."""


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_rows_of_counts_are_counted(path):
    """The page said *counted*, and the same row of the record *proved*."""
    record = read_record(path)
    rows = loaded(KINDS[record.kind]).judged(record).findings.rows
    for row in rows:
        grade = row.quantity.grade
        if counted_in(row) is not None or (row.of in WHOLE and grade != "approximate"):
            assert grade == "counted", row


def test_a_count_is_its_own_limit_and_is_never_called_a_theorem():
    counted = StudyRow(role="attack", of="x", quantity=Quantity(value=0.4, grade="counted"))
    assert counted.is_exact
    assert CERTAIN == ("proved", "proved if", "counted")
