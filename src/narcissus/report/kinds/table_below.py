"""Attacks that recover less than is guessed without the release: that they do, and why."""

from __future__ import annotations

from collections.abc import Sequence

from narcissus.report.format import percent
from narcissus.report.kinds.table_names import attack_name, label_of
from narcissus.report.page import Items
from narcissus.study.results.table import SettingResult


def below_the_guess(settings: Sequence[SettingResult]) -> Items:
    """Say of each such attack where it is below, by how much in its own trials, and how it can."""
    found: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        for name, attack in setting.attacks.items():
            if attack.below is not None:
                shares = f"{percent(attack.share)} for {percent(attack.below.guess)}"
                where = f"{shares} at {label_of(setting)}"
                found.setdefault((name, attack.below.why), []).append(where)
    return Items(
        "Below the best guess without the release in these trials, and why",
        [f"{attack_name(name)} ({', '.join(at)}): {why}." for (name, why), at in found.items()],
    )
