"""The numbers of evidence of extraction.

``quantity`` is "success" (of the program with the release, with each stand-in for it, and on shadow
data) or "program bytes" (of each program that prints an output that counts without the release,
and of the extraction program itself). Besides the columns of every kind: ``trials``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.report.format import percent
from narcissus.study.record import Record

Row = dict[str, Any]


def rows(record: Record) -> Iterator[Row]:
    """Yield how often the output counts, then the lengths of programs."""
    results: Row = record.to_dict()["results"]
    without = results["success_without_release"]["value"]
    found = {"with the release": results["success"], **results["stand_ins"]}
    found["on shadow data"] = results["success_on_shadow"]
    for name, value in found.items():
        if value is not None:
            kept = ("value", "low", "high", "confidence", "trials")
            row = {key: value[key] for key in kept} | {"grade": "sampled"}
            baseline = {"baseline": without} if value is results["success"] else {}
            yield {"quantity": "success", "name": name, **row, **baseline}
    for name, size in results["complexity"].items():
        yield {"quantity": "program bytes", "name": name, "value": size, "grade": "approximate"}
    size = results["program_bytes"]
    yield {"quantity": "program bytes", "name": "extraction program", "value": size,
           "grade": "proved"}  # fmt: skip


def headline(record: Record) -> list[str]:
    """Give the verdict, how often the program succeeds, and the quality."""
    results: Row = record.to_dict()["results"]
    without, success = results["success_without_release"]["value"], results["success"]["value"]
    return [
        str(results["verdict"]),
        f"succeeds in {percent(success)} with the release and {percent(without)} without",
        f"quality at most {results['quality']:.3g} (approximate)",
    ]
