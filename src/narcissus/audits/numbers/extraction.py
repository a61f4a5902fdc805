"""The numbers of evidence of extraction.

``quantity`` is "success" (of the program with the release, with each stand-in for it, and on shadow
data) or "program bytes" (of each program that prints an output that counts without the release,
and of the extraction program itself). Besides the columns of every kind: ``trials``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus._outwards import upper
from narcissus.report.format import percent
from narcissus.study.results.extraction import ExtractionResults

Row = dict[str, Any]


def rows(results: ExtractionResults) -> Iterator[Row]:
    """Yield how often the output counts, then the lengths of programs."""
    without = {"baseline": results.success_without_release.value}
    with_it = {"name": "with the release", **results.success.as_row(), **without}
    yield {"quantity": "success", **with_it}
    for name, value in results.stand_ins.items():
        yield {"quantity": "success", "name": name, **value.as_row()}
    if (shadow := results.success_on_shadow) is not None:
        yield {"quantity": "success", "name": "on shadow data", **shadow.as_row()}
    for name, size in results.complexity.items():
        yield {"quantity": "program bytes", "name": name, "value": size, "grade": "approximate"}
    own = {"name": "extraction program", "value": results.program_bytes, "grade": "proved"}
    yield {"quantity": "program bytes", **own}


def headline(results: ExtractionResults) -> list[str]:
    """Return the verdict, how often the program succeeds, and the quality."""
    without, success = results.success_without_release.value, results.success.value
    return [
        results.verdict,
        f"succeeds in {percent(success)} with the release and {percent(without)} without",
        f"quality at most {upper(results.quality, 3)} (approximate)",
    ]
