"""From trials to results: estimates with limits, bounds averaged over the people played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Attack, PriorGuess
from narcissus.evidence import bernstein_limits, clopper_pearson, mean_limits
from narcissus.guarantees import Guarantee
from narcissus.results import Estimate
from narcissus.study.table import proofs
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.settings import Setting

Trial = Mapping[str, NDArray[Any]]


def summarise(experiment: Experiment, number: int, trials: list[Trial]) -> dict[str, Any]:
    """Give the results of one setting, but for the verdict.

    Parameters
    ----------
    experiment
        What was played.
    number
        Which setting.
    trials
        All its trials, in order.
    """
    setting = experiment.settings[number]
    level = experiment.levels[0]
    attacks: dict[str, Any] = {}
    ceiling: dict[str, Any] | None = None
    for name, attack, count in experiment.attacks:
        summary = _attack(experiment, name, attack, trials[:count], level)
        if attack.informed:
            ceiling = summary
        else:
            attacks[name] = summary
    guess = _guess(experiment, trials, level)
    results: dict[str, Any] = {
        "epsilon": setting.epsilon,
        "label": setting.label,
        "delta": setting.delta,
        "mu": setting.mu,
        "noise": {"kind": setting.noise.kind, "scale": setting.noise.scale},
        "marginals": experiment.queries.tables,
        "cells": experiment.queries.cells,
        "people": experiment.targets,
        "trials": len(trials),
        "confidence": level,
        "guess": {"share": guess.value, "low": guess.low, "high": guess.high},
        "attacks": attacks,
        # The best is the one with most evidence, not the luckiest of few trials.
        "best": max(attacks, key=lambda a: attacks[a]["low_joint"]) if attacks else None,
        "bounds": _bounds(experiment, setting, trials),
        "groups": _groups(experiment, trials, level),
    }
    if ceiling is not None:
        results["ceiling"] = ceiling
    return results


def _guess(experiment: Experiment, trials: list[Trial], level: float) -> Estimate:
    """Limit the share that the best guess without the release gets right.

    Each person's chance is known exactly; people drawn from the prior are independent, also
    within a trial. Real rows of a trial are not: there a trial is one value.
    """
    sums = np.array([t["guess"] for t in trials])
    count = len(trials) * experiment.targets
    if experiment.real_rows or count < 2:
        shares = np.clip(sums[:, 0] / experiment.targets, 0, 1)
        return mean_limits(shares, confidence=level)
    total, squares = (float(x) for x in sums.sum(axis=0))
    return bernstein_limits(min(total, count), min(squares, total), count, confidence=level)


def _limited(values: list[float], level: float) -> dict[str, float | None]:
    found = mean_limits(np.clip(values, 0, 1), confidence=level)
    return {"share": found.value, "low": found.low, "high": found.high}


def _difference(shares: NDArray[np.float64], others: NDArray[np.float64], level: float) -> Estimate:
    """Limit the mean of ``shares - others``, which lies in [-1, 1], through the unit interval.

    Sums of probabilities may be past 1 by rounding; a whole audit must not be lost to that.
    """
    return mean_limits(np.clip((shares - others + 1) / 2, 0, 1), confidence=level)


def _attack(
    experiment: Experiment, name: str, attack: Attack, trials: list[Trial], level: float
) -> dict[str, Any]:
    """Summarise one attack at one setting."""
    n = experiment.targets
    hits = [int(t[f"{name}/hits"]) for t in trials]
    fresh = np.array([float(t[f"{name}/fresh"]) for t in trials])
    baseline = mean_limits(np.clip(fresh, 0, 1), confidence=level)
    gain = _difference(np.array(hits) / n, fresh, level)
    low, high = gain.low or 0.0, 1.0 if gain.high is None else gain.high
    # The verdict takes the best of several attacks: its lower limits hold for all at once.
    joint = 1 - (1 - level) / len(experiment.attacks)
    shares = np.array(hits) / n
    method = "betting"
    if f"{name}/expected" in trials[0]:
        shares = np.clip([float(t[f"{name}/expected"]) for t in trials], 0, 1)
        method = "betting, on the expected success under the exact posterior"
    limited = _limited(list(shares), level)
    if isinstance(attack, PriorGuess) and not experiment.real_rows:
        # Nothing ties the people of a trial together: every person is a trial.
        found = clopper_pearson(sum(hits), n * len(trials), confidence=level)
        limited = {"share": found.value, "low": found.low, "high": found.high}
        method = found.method
    joint_gain = _difference(shares, fresh, joint).low or 0.0
    room = max(1 - baseline.value, 1e-300)
    columns = np.array([t[f"{name}/columns"] for t in trials])
    columns_fresh = np.array([t[f"{name}/columns_fresh"] for t in trials]).mean(axis=0)
    names = [experiment.table.names[c] for c in experiment.queries.unknown]
    counted = sorted(Counter(hits).items())
    return {
        **limited,
        "low_joint": mean_limits(shares, confidence=joint).low,
        "baseline": baseline.value,
        "baseline_low": baseline.low,
        "baseline_high": baseline.high,
        "baseline_exact": True,
        "gain": 2 * gain.value - 1,
        "gain_low": 2 * low - 1,
        "gain_high": 2 * high - 1,
        "gain_low_joint": 2 * joint_gain - 1,
        # rounding may carry a full recovery past 1
        "advantage": float(np.clip((2 * gain.value - 1) / room, -1, 1)),
        "advantage_low": float(np.clip((2 * low - 1) / room, -1, 1)),
        "advantage_high": float(np.clip((2 * high - 1) / room, -1, 1)),
        "trials": len(trials),
        "method": method,
        "distribution": {"targets": [h for h, _ in counted], "trials": [c for _, c in counted]},
        "columns": {
            column: {**_limited(list(columns[:, c]), level), "baseline": float(columns_fresh[c])}
            for c, column in enumerate(names)
        },
        "title": attack.title,
        "uses": attack.uses,
    }


def _groups(experiment: Experiment, trials: list[Trial], level: float) -> list[dict[str, Any]]:
    """Summarise every attack for every group that somebody belonged to.

    The share of a group is the mean over trials of its members' share, trials without members
    left out; its limits hold for all groups of an attack at once, since the worst is picked.
    ``over_guess`` compares with the best guess without the release *on the same people*: a group
    that is chosen by its secrets would make any other comparison unfair.
    """
    people = np.array([t["groups"] for t in trials], dtype=float)
    found: list[dict[str, Any]] = []
    joint = 1 - (1 - level) / max(1, int(people.any(axis=0).sum()))
    for g, (by, label) in enumerate(experiment.groups.names):
        if not people[:, g].any():
            continue
        entry: dict[str, Any] = {
            "by": by,
            "group": label,
            "share_of_people": float(people[:, g].sum() / (len(trials) * experiment.targets)),
            "attacks": {},
        }
        guessed = np.array([float(t["group_guessed"][g]) for t in trials])
        some = people[:, g] > 0
        entry["guess"] = _limited(list(guessed[some] / people[some, g]), joint)
        for name, attack, count in experiment.attacks:
            among = people[:count, g]
            if not among.any():
                continue
            hits = np.array([float(t[f"{name}/group_hits"][g]) for t in trials[:count]])
            fresh = np.array([float(t[f"{name}/group_fresh"][g]) for t in trials[:count]])
            some = among > 0
            shares, fair = hits[some] / among[some], guessed[:count][some] / among[some]
            over = _difference(shares, fair, joint)
            summary = {
                **_limited(list(shares), joint),
                "over_guess": 2 * over.value - 1,
                "over_guess_low": 2 * (over.low or 0.0) - 1,
                "baseline": float((fresh[some] / among[some]).mean()),
                "people": int(among.sum()),
            }
            if attack.informed:
                entry["ceiling"] = summary
            else:
                entry["attacks"][name] = summary
        found.append(entry)
    return found


def _bounds(experiment: Experiment, setting: Setting, trials: list[Trial]) -> list[dict[str, Any]]:
    """List what is proved, averaged over the people played."""
    n = experiment.targets
    if setting.guarantee is None:
        nothing = {
            "theorem": "no theorem: exact counts guarantee nothing",
            "name": "trivial limit",
            "proved": True,
            "guarantee": "none",
            "assumptions": [],
        }
        return [
            {**nothing, "confidence": experiment.levels[0], "at_most": n, "of": n},
            {**nothing, "share_at_most": 1.0},
        ]
    common = {"proved": True, "assumptions": _assumptions(experiment, setting.guarantee)}
    exact = experiment.success.exact
    bounds: list[dict[str, Any]] = []
    for place, level in enumerate(experiment.levels):
        tails = np.mean([t[f"tails/{place}"] for t in trials], axis=0)
        bounds.append(
            {
                "theorem": "Narcissus theory 4.4"
                + (" (domination)" if exact else " (simpler bound)"),
                "name": "domination",
                **common,
                "guarantee": setting.guarantee.describe(),
                "confidence": level,
                "at_most": proofs.not_exceeded(tails, level),
                "of": n,
            }
        )
    theorem = "Narcissus theory 4.6 (one-target optimum" + (
        ")" if exact else ", from the best guess)"
    )
    bounds.append(
        {
            "theorem": theorem,
            "name": "mean share",
            **common,
            "guarantee": setting.guarantee.describe(),
            "share_at_most": float(np.mean([float(t["share"]) for t in trials])),
        }
    )
    if setting.single is not None:
        if setting.single != setting.guarantee:
            bounds.append(
                {
                    "theorem": theorem,
                    "name": "mean share from one (epsilon, delta)",
                    **common,
                    "for_comparison": True,
                    "guarantee": setting.single.describe(),
                    "share_at_most": float(np.mean([float(t["share_single"]) for t in trials])),
                }
            )
        bounds.append(_published(experiment, setting, trials, common))
    return bounds


def _published(
    experiment: Experiment, setting: Setting, trials: list[Trial], common: dict[str, Any]
) -> dict[str, Any]:
    """Give the published bound, for every attacker: nobody's attempt is likelier than the best.

    Followed by the attempts that one attack made it would be smaller for a bad attack, and no
    limit on the others. Under pure DP it holds given any release (Theorem 3.2), for each set of
    people by itself; otherwise averaged over releases with ``n delta`` added (Corollary 3.4).
    """
    tables = [t["published"] for t in trials]
    level = experiment.levels[0]
    pure = setting.single == setting.guarantee
    return {
        "theorem": "Swanberg et al. 2025, "
        + ("Theorem 3.2 (given the output)" if pure else "Corollary 3.4"),
        "name": "published",
        **common,
        "for_comparison": True,
        "guarantee": "" if setting.single is None else setting.single.describe(),
        "confidence": level,
        "at_most": max(proofs.not_exceeded(t, level) for t in tables)
        if pure
        else proofs.not_exceeded(np.mean(tables, axis=0), level),
        "of": experiment.targets,
    }


def _assumptions(experiment: Experiment, guarantee: Guarantee) -> list[str]:
    """Say what the bounds rest on."""
    people = (
        "for the sets of people played, whose known columns are fixed; secrets are independent "
        "given them"
    )
    rests = [
        f"the release is {guarantee.describe()}",
        people,
    ]
    if experiment.real_rows:
        rests.append("the fitted prior is right about these real people (an assumption)")
    return rests
