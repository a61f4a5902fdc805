"""Table 1 of 001: marks come from asking the theorems."""

from __future__ import annotations

import pytest

from narcissus.bounds.theorems import THEOREMS
from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg.table_1 import MARKS, PROBES, ROWS, Probe, covers


@pytest.mark.states("Swanberg et al. 2025", "Table 1")
def test_marks_are_those_that_the_text_speaks_of():
    made = ITEMS["001/table-1"].make(Given())
    head, *rows = made.table
    assert head[1:] == MARKS
    marks = {row[0]: dict(zip(MARKS, row[1:], strict=True)) for row in rows}
    assert set(marks["Ours"].values()) == {"yes"}
    for row in ("Balle et al. [6]", "Stock et al. [59]", "Hayes et al. [31]"):
        assert marks[row]["non-uniform"] == marks[row]["complex"] == marks[row]["single"] == "yes"
        assert marks[row]["multiple"] == ""
    for row in ("Steinke et al. [58]", "Mahloujifar et al. [43]"):
        assert marks[row]["uniform"] == marks[row]["MI"] == marks[row]["multiple"] == "yes"
        assert marks[row]["non-uniform"] == marks[row]["complex"] == ""
    assert marks["Steinke et al. [58]"]["AI"] == ""
    assert marks["Cherubin et al. [12]"]["complex"] == ""
    assert covers("Ours", "non-uniform", "multiple", "complex")
    assert not covers("Mahloujifar et al. [43]", "multiple", "complex")
    assert [one.what[:12] for one in made.held if not one.holds] == ["only [6, 31,"]
    assert "Cummings" in made.because


def test_rows_are_theorems_of_the_package():
    assert {name for ids in ROWS.values() for name in ids} <= set(THEOREMS)
    assert len(PROBES) == 2 * (2 + 4 + 4)


def test_a_probe_is_answered_only_by_a_limit_that_holds():
    near = Probe("non-uniform", "AI", "single", "complex")
    assert near.answered_by(["balle"])
    assert not near.answered_by(["chatzikokolakis-1"])  # it answers, and does not hold here
    assert not Probe("uniform", "AI", "multiple", "simple").answered_by(["balle"])
