"""The prior that a proposed study names: the usual one, or the first that rows do not refute."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

from narcissus.errors import NarcissusError
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.propose import Proposal, draft
from narcissus.kinds.table.schema import TableStudy
from narcissus.kinds.table.tested import prior_test
from narcissus.observer import SILENT, Observer

REFUTED = "rows of the table refute the usual prior"


def with_tested_prior(proposal: Proposal, source: str, observer: Observer = SILENT) -> Proposal:
    """Return a proposal with a prior that rows of its table do not refute, where there is one.

    ``source`` is a path or the name of a packaged table. A table that was not looked at as a whole
    keeps the usual prior, and so does one that cannot be audited as it is.
    """
    if not proposal.sketch.is_whole:
        return proposal
    path = source if source.startswith("statsmodels:") else str(Path(source).resolve())
    try:
        study = TableStudy.model_validate(tomllib.loads(draft(proposal, path)))
        tested = prior_test(prepare(study, Path(), 1, observer), observer)
    except (NarcissusError, ValueError):  # a run says what is wrong
        return proposal
    if not tested.is_refuted:
        return proposal
    if tested.others and tested.others[-1].passes:
        other = tested.others[-1]
        caution = f"{REFUTED}; the study names another, which they do not: {other.options}"
        return replace(proposal, prior=other, cautions=(*proposal.cautions, caution))
    caution = (
        f"{REFUTED}, and {len(tested.others)} stronger ones: an audit will conclude nothing. Has a "
        "person several rows (`unit`)? Else take coarser bins or fewer columns"
    )
    return replace(proposal, cautions=(*proposal.cautions, caution))
