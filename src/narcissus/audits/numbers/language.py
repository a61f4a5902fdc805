"""The numbers of a study of a language model.

``quantity`` is "recovered" (share of documents trained on; ``baseline`` is that of fresh ones),
"fresh", "reference" (the same attack on a model trained without them), "gain", "above a fresh one"
(by a score), "told" (at ``rate`` false alarms), "canaries named" (``baseline`` is exact) or, of a
program, what a study of extraction has. Besides the columns of every kind: ``copies`` (0 is all),
``rate``, ``trials``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.audits.numbers import extraction
from narcissus.report.format import percent
from narcissus.study.results.base import SampledShare
from narcissus.study.results.image import ImageGroup
from narcissus.study.results.language import DocumentGroup, LanguageResults
from narcissus.study.results.recovered import copies_text

Row = dict[str, Any]


def rows(results: LanguageResults) -> Iterator[Row]:
    """Yield the attacks, the scores, the canaries, the program."""
    for attack in results.attacks:
        for group in attack.groups:
            for row in beside_fresh(group, "recovered", reference=group.reference):
                yield {**row, "name": attack.name, **of_copies(group)}
    for one in results.membership:
        yield {"quantity": "above a fresh one", "name": one.score, **one.above.as_row()}
        for rate in one.rates:
            said = {"value": rate.told, "baseline": rate.rate, "rate": rate.rate}
            grade = "not assessed" if rate.told is None else "sampled"
            yield {"quantity": "told", "name": one.score, **said, "grade": grade}
    for group in results.canaries:
        said = {"value": group.named / group.canaries, "baseline": group.guess}
        at = {"copies": group.copies, "trials": group.canaries, "grade": "proved"}
        yield {"quantity": "canaries named", "name": "likelihood", **said, **at}
    if results.program is not None:
        yield from extraction.rows(results.program)


def of_copies(group: DocumentGroup | ImageGroup) -> Row:
    """Name a group by its number of copies; one of several numbers also in words."""
    more = group.and_copies
    return {"copies": group.copies, **({"group": copies_text(group.copies, more)} if more else {})}


def beside_fresh(
    group: DocumentGroup | ImageGroup, counted: str, **others: SampledShare | None
) -> Iterator[Row]:
    """Yield what was counted, and what of fresh ones and by other models was sampled."""
    baseline = {} if group.fresh is None else {"baseline": group.fresh.value}
    yield {"quantity": counted, "value": group.share, **baseline, "grade": "proved"}
    for name, one in {"fresh": group.fresh, **others}.items():
        if one is not None:
            yield {"quantity": name, **one.as_row()}
    if (gain := group.gain) is not None:
        values = {"value": gain.value, "low": gain.low, "high": gain.high}
        yield {"quantity": "gain", **values, "grade": gain.grade}


def headline(results: LanguageResults) -> list[str]:
    """Return the best attack, its baseline, and the best score."""
    best = results.best
    said = [f"{best.name} recovers {percent(best.whole.share)} of documents"]
    if best.whole.fresh is not None:
        said.append(f"{percent(best.whole.fresh.value)} of fresh ones")
    if results.membership:
        top = max(results.membership, key=lambda one: one.above.value)
        said.append(f"{top.score} tells them {percent(top.above.value)} of the time")
    if results.program is not None:
        said += extraction.headline(results.program)[:1]
    return said
