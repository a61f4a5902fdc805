"""The numbers of a table audit.

``quantity`` is "guess" (the best guess without the release), "attack", "ceiling", "bound" (what no
attacker exceeds on average, a share) or "bound on targets" (in one release, a number of them, with
its ``confidence``). Besides the columns of every kind: ``setting`` with ``epsilon``, ``mu`` and
``scale`` of its noise (infinite levels and scale 0 where there is none), ``by`` and ``group``
("everyone"; "column" and an unknown column; what a group is by, and the group), ``trials``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from narcissus.report.format import NO_BREAK, percent
from narcissus.report.kinds.table_results import (
    best_of,
    grade_of,
    is_noiseless,
    label_of,
    most_relevant,
    proved_bounds,
    settings_of,
    share_proved,
    threshold_of,
    without_release,
)
from narcissus.study.record import Record

Row = dict[str, Any]


def rows(record: Record) -> Iterator[Row]:
    """Yield a row for each number of each setting."""
    for result in settings_of(record):
        exact = is_noiseless(result)
        setting = {
            "setting": _label(result),
            "epsilon": math.inf if exact else result.get("epsilon"),
            "mu": math.inf if exact else result.get("mu"),
            "scale": 0.0 if exact else result["noise"]["scale"],
        }
        for row in _of_setting(result):
            yield setting | row


def _of_setting(result: Row) -> Iterator[Row]:
    level = {"confidence": result.get("confidence")}
    best = best_of(result) or {}
    whole = {**result, "by": "everyone", "group": "everyone"}
    columns = [
        {
            "by": "column",
            "group": column,
            "attacks": {n: a["columns"][column] for n, a in result["attacks"].items()},
            "ceiling": ((result.get("ceiling") or {}).get("columns") or {}).get(column),
        }
        for column in best.get("columns") or {}
    ]
    for group in [whole, *columns, *result["groups"]]:
        for row in _of_group(group):
            yield level | row
    for bound in proved_bounds(result):
        share = bound.get("share_at_most")
        yield {
            "quantity": "bound on targets" if share is None else "bound",
            "name": bound["theorem"],
            "value": bound.get("at_most") if share is None else share,
            "confidence": bound.get("confidence"),
            "grade": grade_of(bound, result),
            "by": "everyone",
            "group": "everyone",
        }


def _of_group(group: Row) -> Iterator[Row]:
    """Yield what is guessed and recovered of a group of people, or in a column."""
    found = [("guess", "best guess without the release", group.get("guess"))]
    found += [("attack", name, attack) for name, attack in group["attacks"].items()]
    found += [("ceiling", "ceiling", group.get("ceiling"))]
    for quantity, name, answer in found:
        if answer is not None:
            yield {
                "quantity": quantity,
                "name": name,
                "value": answer["share"],
                "low": answer.get("low"),
                "high": answer.get("high"),
                "baseline": answer.get("baseline"),
                "grade": "sampled",
                "by": group["by"],
                "group": group["group"],
                "trials": answer.get("trials"),
            }


def _label(result: Row) -> str:
    return label_of(result).replace(NO_BREAK, " ")


def headline(record: Record) -> list[str]:
    """Give what is guessed, recovered, the ceiling and what is proved, where the verdict is."""
    results = settings_of(record)
    result = most_relevant(results, threshold=threshold_of(record) is not None)
    best, bound = best_of(result), share_proved(result)
    where = f"at {_label(result)} " if len(results) > 1 else ""
    said: list[str] = []
    if (guess := without_release(result)) is not None:
        said.append(f"guessed {percent(guess['share'])}")
    if best is not None:
        said.append(f"recovered {percent(best['share'])} by {result['best']}")
    if (ceiling := result.get("ceiling")) is not None:
        said.append(f"ceiling {percent(ceiling['share'])}")
    if bound is not None:
        said.append(f"{grade_of(bound, result)} at most {percent(bound['share_at_most'], 'up')}")
    else:
        said.append("nothing proved on average")
    return [where + said[0], *said[1:]]
