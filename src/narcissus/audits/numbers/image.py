"""The numbers of a study of a model of images in long form; see `narcissus.audits.numbers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.audits.numbers.language import beside_fresh, of_copies
from narcissus.report.format import percent
from narcissus.study.results.image import ImageResults

Row = dict[str, Any]


def rows(results: ImageResults) -> Iterator[Row]:
    """Yield the groups: what was reproduced, and what of images never seen."""
    for group in results.groups:
        for row in beside_fresh(group, "reproduced", shadows=group.shadows):
            yield {"name": "attempts", **of_copies(group), **row}


def headline(results: ImageResults) -> list[str]:
    """Return the share reproduced, and the baseline."""
    whole = results.whole
    said = [f"the model gives back {percent(whole.share)} of outliers"]
    if whole.fresh is not None:
        said.append(f"{percent(whole.fresh.value)} of fresh ones")
    return said
