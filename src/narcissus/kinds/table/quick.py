"""A rough first answer to a study of a table: the same question, asked with little work."""

from __future__ import annotations

from dataclasses import replace

from narcissus.kinds.table.schema import TableStudy, ThresholdSpec
from narcissus.results import NotAssessed

TRIALS = 20
SLOW = ("gibbs", "rap", "stack")
"""Attacks that are left out, by the name of their part."""


def quicker(study: TableStudy, threshold: ThresholdSpec | None) -> tuple[TableStudy, NotAssessed]:
    """Cut a study down to what takes seconds, and report what was cut.

    Its limits hold at their level, and are wider. Kept are fast attacks, or all where none is,
    `TRIALS` trials or fewer, and of a sweep the level that the threshold is about, else the first
    with a guarantee.
    """
    run, level = study.run, study.mechanism.level
    asked = run.trials if isinstance(run.trials, int) else None
    trials = min(TRIALS, asked or TRIALS)
    cut = [
        f"{trials} trials in place of {asked:,}" if (asked or 0) > trials else f"{trials} trials"
    ]
    mechanism = study.mechanism
    if level is not None and mechanism.swept and len(mechanism.levels) > 1:
        at = mechanism.levels[0] if threshold is None else threshold.at
        if at is not None:  # else every level must meet the threshold
            mechanism = replace(mechanism, options={**mechanism.options, level: [at]})
            cut.append(f"{level} {at:g} alone")
    slow = [
        name
        for name, part in study.attacks.items()
        if part.name in SLOW or part.options.get("method") == "gibbs"
    ]
    fast = {name: part for name, part in study.attacks.items() if name not in slow}
    if fast and slow:
        cut.append(f"without {', '.join(slow)}")
    kept = {
        name: replace(part, also={**part.also, "trials": None})
        for name, part in (fast or study.attacks).items()
    }
    return study.model_copy(
        update={
            "run": run.model_copy(update={"trials": trials, "precision": None}),
            "mechanism": mechanism,
            "attacks": kept,
        }
    ), NotAssessed(
        "the study as it is written",
        f"this is a quick look: {', '.join(cut)}. Its limits hold, and are wider",
        "run `narcissus audit` without `--quick`",
    )
