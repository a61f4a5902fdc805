"""The numbers of a study of a model of images in long form; see `narcissus.audits.numbers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.audits.numbers.game import sampled
from narcissus.report.format import percent
from narcissus.study.results.image import ImageGroup, ImageResults

Row = dict[str, Any]


def rows(results: ImageResults) -> Iterator[Row]:
    """Yield the groups: what was reproduced, and what of images never seen."""
    for group in results.groups:
        for row in _group(group):
            yield {"name": "attempts", "copies": group.copies, **row}


def _group(group: ImageGroup) -> Iterator[Row]:
    baseline = {} if group.fresh is None else {"baseline": group.fresh.value}
    yield {"quantity": "reproduced", "value": group.share, **baseline, "grade": "proved"}
    if group.fresh is not None:
        yield {"quantity": "fresh", **sampled(group.fresh)}
    if group.shadows is not None:
        yield {"quantity": "shadows", **sampled(group.shadows)}
    if (gain := group.gain) is not None:
        values = {"value": gain.value, "low": gain.low, "high": gain.high}
        yield {"quantity": "gain", **values, "grade": gain.grade}


def headline(results: ImageResults) -> list[str]:
    """Give the share reproduced, and the baseline."""
    whole = results.whole
    said = [f"the model gives back {percent(whole.share)} of outliers"]
    if whole.fresh is not None:
        said.append(f"{percent(whole.fresh.value)} of fresh ones")
    return said
