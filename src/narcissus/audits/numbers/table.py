"""The numbers of a table audit.

``quantity`` is "guess" (the best guess without the release), "attack", "ceiling", "bound" (what no
attacker exceeds on average, a share) or "bound on targets" (in one release, a number of them, with
its ``confidence``). Besides the columns of every kind: ``setting`` with ``epsilon``, ``mu`` and
``scale`` of its noise (infinite levels and scale 0 where there is none), ``by`` and ``group``
("everyone"; "column" and an unknown column; what a group is by, and the group), ``trials``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from narcissus.report.format import percent
from narcissus.study.results.table import SettingResult, ShareBound, TableResults
from narcissus.study.results.table_attacks import LimitedMean

Row = dict[str, Any]


def rows(results: TableResults) -> Iterator[Row]:
    """Yield a row for each number of each setting."""
    for setting in results.settings:
        exact = setting.noiseless
        noise = {
            "setting": setting.label,
            "epsilon": math.inf if exact else setting.epsilon,
            "mu": math.inf if exact else setting.mu,
            "scale": None if setting.noise is None else setting.noise.scale,
        }
        for row in (*_measured(setting), *_proved(setting)):
            yield noise | row


def _measured(setting: SettingResult) -> Iterator[Row]:
    """Yield what is guessed and recovered of everyone, of each column, of each group."""
    played = {**setting.attacks, "ceiling": setting.ceiling}
    groups: list[tuple[str, str, Mapping[str, LimitedMean | None]]] = [
        ("everyone", "everyone", {"guess": setting.guess, **played})
    ]
    for column in setting.best_attack.columns if setting.best_attack else ():
        found = {name: attack and attack.columns.get(column) for name, attack in played.items()}
        groups.append(("column", column, found))
    for group in setting.groups:
        of_group = {"guess": group.guess, **group.attacks, "ceiling": group.ceiling}
        groups.append((group.by, group.group, of_group))
    for by, group, found in groups:
        for name, answer in found.items():
            if answer is not None:
                yield {
                    "quantity": name if name in ("guess", "ceiling") else "attack",
                    "name": "best guess without the release" if name == "guess" else name,
                    "value": answer.share,
                    "low": answer.low,
                    "high": answer.high,
                    "confidence": setting.confidence,
                    "baseline": getattr(answer, "baseline", None),
                    "grade": "sampled",
                    "by": by,
                    "group": group,
                    "trials": getattr(answer, "trials", None),
                }


def _proved(setting: SettingResult) -> Iterator[Row]:
    """Yield what no attacker exceeds."""
    for bound in setting.bounds:
        if bound.counts:
            share = isinstance(bound, ShareBound)
            yield {
                "quantity": "bound" if share else "bound on targets",
                "name": bound.theorem,
                "value": bound.share_at_most if share else bound.at_most,
                "confidence": None if share else bound.confidence,
                "grade": setting.grade_of(bound),
                "by": "everyone",
                "group": "everyone",
            }


def headline(results: TableResults) -> list[str]:
    """Return what is guessed, recovered, the ceiling and what is proved, where the verdict is."""
    setting = results.decisive
    best, bound = setting.best_attack, setting.share_bound
    where = f"at {setting.label} " if len(results.settings) > 1 else ""
    said = [f"{where}guessed {percent(setting.guess.share)}"]
    if best is not None:
        said.append(f"recovered {percent(best.share)} by {setting.best}")
    if setting.ceiling is not None:
        said.append(f"ceiling {percent(setting.ceiling.share)}")
    if bound is None:
        return [*said, "nothing proved on average"]
    return [*said, f"{setting.grade_of(bound)} at most {percent(bound.share_at_most, 'up')}"]
