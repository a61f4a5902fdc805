"""A rough first answer to a study of a table: the same question, asked with little work."""

from __future__ import annotations

from dataclasses import replace

from narcissus.kinds.table.schema import TableStudy, ThresholdSpec
from narcissus.results import NotAssessed

TRIALS = 20
SLOW = ("rap", "stack")
"""Attacks that are left out, by the name of their part; so is what samples by Gibbs."""


def quicker(study: TableStudy, threshold: ThresholdSpec | None) -> tuple[TableStudy, NotAssessed]:
    """Cut a study down to what takes seconds, and report what was cut.

    Its limits hold at their level, and are wider. Kept are fast attacks, or all where none is,
    `TRIALS` trials or fewer, and of a sweep the level that the threshold is about, else the first
    with a guarantee.
    """
    run, mechanism, level = study.run, study.mechanism, study.mechanism.level
    trials = min(TRIALS, run.most or TRIALS)
    cut = [f"{trials} trials"]
    at = mechanism.levels[0] if threshold is None else threshold.at
    if level is not None and len(mechanism.levels) > 1 and at is not None:  # else all must meet it
        mechanism = replace(mechanism, options={**mechanism.options, level: [at]})
        cut.append(f"{level} {at:g} alone")
    slow = [n for n, p in study.attacks.items() if "gibbs" in (p.name, p.options.get("method"))]
    slow += [n for n, p in study.attacks.items() if p.name in SLOW]
    fast = {name: part for name, part in study.attacks.items() if name not in slow}
    if fast and slow:
        cut.append(f"without {', '.join(slow)}")
    kept = {
        n: replace(p, also={**p.also, "trials": None}) for n, p in (fast or study.attacks).items()
    }
    run = run.model_copy(update={"trials": trials, "precision": None})
    changed = {"run": run, "mechanism": mechanism, "attacks": kept}
    return study.model_copy(update=changed), NotAssessed(
        "the study as it is written",
        f"this is a quick look: {', '.join(cut)}. Its limits hold, and are wider",
        "run `narcissus audit` without `--quick`",
    )
