"""How groups of people fare at one setting, beside the best guess on the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence import difference_limits, each_confidence
from narcissus.study.results.table_attacks import GroupAttack, GroupByChance, GroupResult
from narcissus.study.table.attack_summary import as_mean
from narcissus.study.table.excess import family
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.group_limits import (
    GroupScores,
    enclosure_of_group,
    group_scores,
    guess_of_group,
)

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
    joint = each_confidence(experiment.confidence, family(experiment, experiment.groups.asked))
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)
    found: list[GroupResult] = []
    for g, (by, label) in enumerate(experiment.groups.names):
        if not people[:, g].any():
            continue
        around = enclosure_of_group(experiment, trials, g)
        attacks: dict[str, GroupAttack] = {}
        ceiling: GroupAttack | None = None
        for name, attack, count in experiment.attacks:
            own = group_scores(experiment, name, attack, trials[:count], g, around)
            if own is None:
                continue
            chance = (
                _by_chance(experiment, name, trials[:count], g, joint) if by_secret[g] else None
            )
            result = _of_group(own, joint, chance)
            if attack.informed:
                ceiling = result
            else:
                attacks[name] = result
        found.append(
            GroupResult(
                by=by,
                group=label,
                by_secret=bool(by_secret[g]),
                share_of_people=float(people[:, g].sum() / (len(trials) * experiment.targets)),
                guess=as_mean(guess_of_group(experiment, trials, g, around, joint)),
                attacks=attacks,
                ceiling=ceiling,
            )
        )
    return tuple(found)


def _of_group(own: GroupScores, joint: float, by_chance: GroupByChance | None) -> GroupAttack:
    """Summarise one attack on one group."""
    over = own.scores.above_guess(own.guess, joint)
    return GroupAttack.model_validate(
        {
            **dict(as_mean(own.scores.share(joint))),
            "over_guess": over.value,
            "over_guess_low": over.low,
            "baseline": float(own.scores.fresh.mean()),
            "people": own.people,
            "by_chance": by_chance,
        }
    )


def _by_chance(
    experiment: Experiment, name: str, trials: Sequence[Trial], g: int, joint: float
) -> GroupByChance | None:
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
    over = difference_limits(
        shares[:, 0], shares[:, 1], confidence=joint, people=experiment.targets
    )
    share = float(shares[:, 1].mean())
    return GroupByChance.model_validate({"share": share, "gain": over.value, "gain_low": over.low})
