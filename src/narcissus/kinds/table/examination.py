"""Examine a proposed study as its audit will: the prior, columns left out, exact values, order.

A prior that rows of the table refute is replaced by the first that they do not. What an audit would
leave open is a caution of the proposal, with the declaration that decides it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from narcissus._toml import read_toml
from narcissus.errors import NarcissusError
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.propose import SEVERAL_ROWS, Proposal, draft
from narcissus.kinds.table.schema import TableStudy
from narcissus.kinds.table.tested import PriorTest, tested_at
from narcissus.observer import SILENT, Observer

MOST_CELLS = 50_000_000
"""Cells of a table above which it is not examined while a study is proposed."""
REFUTED = "rows of the table refute the usual prior"
NOT_EXAMINED = (
    "the rows were not examined: {}. The audit examines the prior, columns left out, exact values "
    "of columns in bins, and the order of the rows"
)


def examine_proposal(proposal: Proposal, source: str, observer: Observer = SILENT) -> Proposal:
    """Return a proposal with a prior that rows of its table do not refute, where there is one.

    Its cautions name what an audit would leave open, or why the rows were not examined. ``source``
    is a path or the name of a packaged table.
    """
    sketch = proposal.sketch
    if not sketch.is_whole:
        return _with_cautions(proposal, NOT_EXAMINED.format("the table has more than were read"))
    if sketch.rows * len(sketch.columns) > MOST_CELLS:
        return _with_cautions(proposal, NOT_EXAMINED.format("the table has too many cells"))
    path = source if source.startswith("statsmodels:") else str(Path(source).resolve())
    try:
        study = TableStudy.model_validate(read_toml(draft(proposal, path)))
        tested = tested_at(study, Path(), prepare(study, Path(), 1, observer), observer)
    except (NarcissusError, ValueError) as error:  # a run says what is wrong, and where
        return _with_cautions(proposal, NOT_EXAMINED.format(str(error).rstrip(".")))
    if tested.is_refuted and tested.others and tested.others[-1].passes:
        proposal = replace(proposal, prior=tested.others[-1])
    # what the audit waits for is said once
    subjects = {gap.subject for gap in tested.unaccounted}
    left = [
        caution
        for caution in proposal.cautions
        if not (
            caution.startswith(SEVERAL_ROWS)
            and any(
                f"`{name}`" in caution and f"the rows of each `{name}`" in subjects
                for name in proposal.drop
            )
        )
    ]
    return _with_cautions(replace(proposal, cautions=tuple(left)), *_found(tested))


def _with_cautions(proposal: Proposal, *cautions: str) -> Proposal:
    return replace(proposal, cautions=(*proposal.cautions, *cautions))


def _found(tested: PriorTest) -> Iterator[str]:
    """Yield what an audit of the proposal would refute or leave open, and what mends it."""
    if tested.is_refuted:
        if tested.others and tested.others[-1].passes:
            options = tested.others[-1].options
            yield f"{REFUTED}; the study names another, which they do not: {options}"
        else:
            yield (
                f"{REFUTED}, and {len(tested.others)} stronger ones: an audit will conclude "
                "nothing. Has a person several rows (`unit`)? Else take coarser bins or fewer "
                "columns"
            )
    for gap in tested.unaccounted:
        yield (
            f"{gap.subject} {'are' if gap.is_plural else 'is'} open, and an audit will not say "
            "*met*. "
            f"{gap.reason} To decide, write {gap.declaration}"
        )
