"""How groups of people fare at one setting, beside the best guess on the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence import difference_limits, each_confidence
from narcissus.study.results.table_attacks import GroupAttack, GroupByChance, GroupResult
from narcissus.study.table.attack_summary import limited
from narcissus.study.table.excess import family
from narcissus.study.table.experiment import Experiment

Trial = Mapping[str, NDArray[Any]]


def group_results(experiment: Experiment, trials: Sequence[Trial]) -> tuple[GroupResult, ...]:
    """Summarise every attack for every group that somebody belonged to.

    The share of a group is the mean over trials of its members' share, trials without members
    left out. The worst is chosen over groups, attacks and settings, so the limits hold for all of
    these at once. ``over_guess`` compares with the best guess without the release *on the same
    people*. Of a group that is chosen by its secrets that guess may get nobody, where it never
    names a rare value; ``by_chance`` is what the same attack gets without this release: on fresh
    people who belong to the group, or shown a release of other secrets.
    """
    people = np.array([t["groups"] for t in trials], dtype=float)
    joint = each_confidence(experiment.confidence, family(experiment, len(experiment.groups.names)))
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)
    found: list[GroupResult] = []
    for g, (by, label) in enumerate(experiment.groups.names):
        if not people[:, g].any():
            continue
        attacks = {
            name: _of_group(name, trials[:count], g, joint, by_secret=bool(by_secret[g]))
            for name, _, count in experiment.attacks
            if people[:count, g].any()
        }
        informed = [name for name, attack, _ in experiment.attacks if attack.informed]
        ceilings = [attacks.pop(name) for name in informed if name in attacks]
        some = people[:, g] > 0
        guessed = np.array([float(t["group_guess"][g]) for t in trials])
        found.append(
            GroupResult(
                by=by,
                group=label,
                by_secret=bool(by_secret[g]),
                share_of_people=float(people[:, g].sum() / (len(trials) * experiment.targets)),
                guess=limited(guessed[some] / people[some, g], joint, people=1),
                attacks=attacks,
                ceiling=ceilings[-1] if ceilings else None,
            )
        )
    return tuple(found)


def _of_group(
    name: str, trials: Sequence[Trial], g: int, joint: float, *, by_secret: bool
) -> GroupAttack:
    """Summarise one attack on one group; ``trials`` are its own."""
    among = np.array([t["groups"][g] for t in trials], dtype=float)
    score = np.array([float(t[f"{name}/group_share"][g]) for t in trials])
    fresh = np.array([float(t[f"{name}/group_fresh"][g]) for t in trials])
    guessed = np.array([float(t["group_guess"][g]) for t in trials])
    some = among > 0
    shares = np.clip(score[some] / among[some], 0, 1)
    fair = np.clip(guessed[some] / among[some], 0, 1)
    over = difference_limits(shares, fair, confidence=joint)
    return GroupAttack.model_validate(
        {
            **dict(limited(shares, joint, people=1)),
            "over_guess": over.value,
            "over_guess_low": over.low,
            "baseline": float((fresh[some] / among[some]).mean()),
            "people": int(among.sum()),
            "by_chance": _by_chance(name, trials, g, joint) if by_secret else None,
        }
    )


def _by_chance(name: str, trials: Sequence[Trial], g: int, joint: float) -> GroupByChance | None:
    """Compare one attack on one group with itself; None where it never played without."""
    if f"{name}/group_decoy" not in trials[0]:
        return None
    members = np.array([[t["groups"][g], t["strangers"][g]] for t in trials], dtype=float)
    hits = [[t[f"{name}/{key}"][g] for key in ("group_share", "group_decoy")] for t in trials]
    # Both or neither: who is true and who is fresh must not decide whether a trial counts.
    some = (members > 0).all(axis=1)
    if not some.any():
        return None
    shares = np.clip(np.array(hits)[some] / members[some], 0, 1)
    over = difference_limits(shares[:, 0], shares[:, 1], confidence=joint)
    share = float(shares[:, 1].mean())
    return GroupByChance.model_validate({"share": share, "gain": over.value, "gain_low": over.low})
