"""What a record's status must agree with in its own results, whatever its digest says."""

from __future__ import annotations

from typing import Any

from narcissus.study.record import Record


def disagreement(record: Record) -> str:
    """Say where a record's status, verdict and results do not agree; '' where they do.

    The rules are those that hold whatever a kind of study weighs: a threshold that is met or
    exceeded is so by some setting of the results, a proof is named in a game's outcome, and what
    contradicts itself is not met.
    """
    status, results = record.status, record.results
    # what an attack on a table was seen to do needs nothing that a contradiction can refute
    seen = record.kind == "table" and status == "exceeded"
    if record.contradictions and status != "contradicted" and not seen:
        return f"the status is {status!r}, and statements of the record contradict each other"
    if status == "contradicted" and not record.contradictions:
        return "the status is 'contradicted', and no contradiction is named"
    if not record.verdict.strip():
        return "there is no verdict"
    if record.kind == "table":
        return _table(record, results if isinstance(results, list) else [results])
    if record.kind == "game" and isinstance(results, dict):
        return _game(status, results)
    return ""


def _table(record: Record, settings: list[dict[str, Any]]) -> str:
    found = {setting["status"] for setting in settings}
    if record.status in {"met", "exceeded"} and record.status not in found:
        return f"the status is {record.status!r}, and that of the results {_listed(found)}"
    if record.status == "no threshold" and found & {"met", "exceeded"}:
        return f"the status is 'no threshold', and that of the results {_listed(found)}"
    if len(settings) == 1:
        own = settings[0]
        if own["status"] != record.status and record.status != "contradicted":
            return f"the status is {record.status!r}, and that of the results {own['status']!r}"
        if own["verdict"] not in record.verdict:
            return "the verdict is another one than that of the results"
    return ""


def _game(status: str, results: dict[str, Any]) -> str:
    outcome = results["outcome"]
    expected = {
        "resilient, proved": {"met"},
        "violates, proved": {"exceeded"},
        "violates": {"exceeded"},
        "no violation found": {"inconclusive", "too few trials"},
        "not assessed": {"not assessed"},
    }.get(outcome)
    if expected is not None and status not in expected | {"contradicted"}:
        return f"the status is {status!r}, and the outcome {outcome!r}"
    return ""


def _listed(found: set[str]) -> str:
    return " and ".join(repr(status) for status in sorted(found))
