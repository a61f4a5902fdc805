"""What those who decide ask of a record: what was released, who is hurt most, limits.

A kind whose records are rows answers itself; one that is not here says no more than its page does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from narcissus.report.about import Subject, shown
from narcissus.study.record import Record


def subject_of(record: Record) -> Subject | None:
    """Return what a record is about; None for a kind that says nothing of it."""
    describe = _KINDS.get(type(record.results))
    if (layout := shown(record)) is not None:
        found = layout[0].subject(record, layout[1])
    elif describe is not None:
        found = describe(record.results, record)
    else:
        return None
    if record.contradictions:  # what rests on something that is refuted limits nobody
        limits = tuple(replace(one, grade="not assessed") for one in found.limits)
        return replace(found, limits=limits)
    return found


_KINDS: dict[type, Callable[..., Subject]] = {}
