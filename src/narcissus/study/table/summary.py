"""From trials to results: shares with limits, bounds for the people played and for all people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import TableAttack
from narcissus.evidence import (
    advantage_limits,
    difference_limits,
    each_confidence,
    mean_limits,
    median_limits,
    narrowest_limits,
    studentised_limits,
)
from narcissus.study.table import proofs
from narcissus.study.table.excess import family
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.population import mean_of_people, tail_of_population
from narcissus.study.table.settings import Setting

# A slope that is fitted to few trials takes more luck out than there is: with 3, 5 and 10 trials
# approximate limits at 95% missed in 21 to 27, 13 and 7 to 9 of 100 repeats.
ENOUGH_FOR_LUCK = 20

Trial = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]

SURE = 0.99
"""Least level at which a prior is said to be refuted by what guesses score."""


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
    bounds = _bounds(experiment, setting, number, trials)
    luck = _luck(experiment, trials)
    attacks: dict[str, Any] = {}
    ceiling: dict[str, Any] | None = None
    for name, attack, count in experiment.attacks:
        summary = _attack(experiment, name, attack, trials[:count], luck[:count])
        if experiment.prior_is_exact:
            _respect(summary, bounds, _proved_of(experiment, trials[:count]))
        if attack.informed:
            ceiling = summary
        else:
            attacks[name] = summary
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
        "confidence": experiment.confidence,
        "prior_is_exact": experiment.prior_is_exact,
        "guess": _guess(experiment, trials),
        "attacks": attacks,
        # The best is the one with most evidence, not the luckiest of few trials.
        "best": max(attacks, key=lambda a: (attacks[a]["low_joint"], attacks[a]["share"]))
        if attacks
        else None,
        "bounds": bounds,
        "groups": _groups(experiment, trials),
    }
    if ceiling is not None:
        results["ceiling"] = ceiling
    return results


def _luck(experiment: Experiment, trials: list[Trial]) -> Floats:
    """Give what chance added to what is recovered in each trial, as far as it is known.

    The release moves the chance of the guess that ignores it, but not on average; whoever guesses
    from the release has much of the same luck. How much is fitted to the attacker who sees most.
    One amount is taken from all of them, so that none is moved above another.
    """
    none = np.zeros(len(trials))
    if not experiment.prior_is_exact:
        return none
    surprises = np.array([float(t["control"]) for t in trials])
    informed = [name for name, attack, _ in experiment.attacks if attack.informed]
    full = [name for name, _, count in experiment.attacks if count == len(trials)]
    names = informed or full
    spread = surprises - surprises.mean()
    if len(trials) < ENOUGH_FOR_LUCK or not names or not spread.any():
        return none
    shares = np.array([float(t[f"{names[0]}/share"]) for t in trials])
    slope = float(spread @ shares) / float(spread @ spread)
    return slope * surprises


def _guess(experiment: Experiment, trials: list[Trial]) -> dict[str, Any]:
    """Limit the share that the best guess without the release gets right.

    Each person's chance is known exactly from the prior. Where the prior may be wrong about the
    people, what the guess really got right of them stands beside it.
    """
    sums = np.array([t["guess"] for t in trials])
    level = experiment.confidence
    chance = mean_of_people(experiment, sums[:, 0], sums[:, 1], confidence=level)
    if experiment.prior_is_exact:
        return {"share": chance.value, "low": chance.low, "high": chance.high}
    real = np.array([float(t["guessed"]) for t in trials])
    said = np.clip(sums[:, 0] / experiment.targets, 0, 1)
    return {**_limited(experiment, real, level), "by_the_prior": _test(experiment, real, said)}


def _limited(experiment: Experiment, values: Floats, level: float) -> dict[str, float | None]:
    found = mean_limits(np.clip(values, 0, 1), confidence=level, people=experiment.targets)
    return {"share": found.value, "low": found.low, "high": found.high}


def _test(experiment: Experiment, real: Floats, said: Floats) -> dict[str, float | None]:
    """Hold what guesses without the release really score against what the prior says of them.

    Every attack that is played, and the guess, tests the prior: the limits hold for all at once,
    and at no less than 99%, since a right prior that is called refuted is a headline.
    """
    sure = max(experiment.confidence, SURE)
    level = each_confidence(sure, family(experiment) + 1)
    off = difference_limits(real, said, confidence=level, people=experiment.targets)
    return {
        "by_the_prior": float(said.mean()),
        "confidence": level,
        "off": off.value,
        "off_low": off.low,
        "off_high": off.high,
    }


def _attack(
    experiment: Experiment, name: str, attack: TableAttack, trials: list[Trial], luck: Floats
) -> dict[str, Any]:
    """Summarise one attack at one setting."""
    level, n = experiment.confidence, experiment.targets
    joint = each_confidence(level, family(experiment))
    shares = np.clip([float(t[f"{name}/share"]) for t in trials], 0, 1)
    summary: dict[str, Any] = {
        **_limited(experiment, shares, level),
        "low_joint": mean_limits(shares, confidence=joint, people=n).low,
        **_roughly(experiment, shares, luck),
        **_against_itself(experiment, name, attack, shares, trials),
    }
    hits = [int(t[f"{name}/hits"]) for t in trials]
    counted = sorted(Counter(hits).items())
    median = median_limits([h / n for h in hits], confidence=level)
    columns = np.array([t[f"{name}/columns"] for t in trials])
    columns_fresh = np.array([t[f"{name}/columns_fresh"] for t in trials]).mean(axis=0)
    names = [experiment.table.names[c] for c in experiment.queries.unknown]
    scored = (
        "the expected success given the release and all other secrets"
        if experiment.prior_is_exact
        else "hits"
    )
    return {
        **summary,
        "median": {"share": median.value, "low": median.low, "high": median.high},
        "trials": len(trials),
        "method": f"betting, on {scored}",
        "distribution": {"targets": [h for h, _ in counted], "trials": [c for _, c in counted]},
        "columns": {
            column: {
                **_limited(experiment, columns[:, c], level),
                "baseline": float(columns_fresh[c]),
            }
            for c, column in enumerate(names)
        },
        "title": attack.title,
        "uses": attack.uses,
    }


def _roughly(experiment: Experiment, shares: Floats, luck: Floats) -> dict[str, Any]:
    """Give the estimate with less luck in it, approximate limits, and the nearest valid ones."""
    level = experiment.confidence
    left = shares - luck
    value = float(np.clip(left.mean(), 0, 1))
    rough: dict[str, Any] | None = None
    if left.size > 1:
        found = studentised_limits(left, confidence=level)
        rough = {
            "low": max(0.0, found.low),
            "high": min(1.0, found.high),
            "method": found.method,
        }
    low, high = narrowest_limits(value, left.size, confidence=level)
    return {"share": value, "approximate": rough, "narrowest": {"low": low, "high": high}}


def _against_itself(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    shares: Floats,
    trials: list[Trial],
) -> dict[str, Any]:
    """Compare an attack with itself: the same attempts on fresh people, or a decoy release."""
    level, n = experiment.confidence, experiment.targets
    joint = each_confidence(level, family(experiment))
    fresh = np.clip([float(t[f"{name}/fresh"]) for t in trials], 0, 1)
    found: dict[str, Any] = {}
    if not experiment.prior_is_exact and not attack.informed:
        decoys = np.array([t[f"{name}/decoy"] for t in trials])
        fresh = np.clip(decoys[:, 0], 0, 1)
        said = np.clip(decoys[:, 1], 0, 1)
        found["decoy"] = {
            **_limited(experiment, fresh, level),
            **_test(experiment, fresh, said),
        }
    baseline = _limited(experiment, fresh, level)
    gain = difference_limits(shares, fresh, confidence=level, people=n)
    advantage = advantage_limits(shares, fresh, confidence=level, people=n)
    return {
        **found,
        "baseline": baseline["share"],
        "baseline_low": baseline["low"],
        "baseline_high": baseline["high"],
        "baseline_exact": "decoy" not in found,
        "gain": gain.value,
        "gain_low": gain.low,
        "gain_high": gain.high,
        "gain_low_joint": difference_limits(shares, fresh, confidence=joint, people=n).low,
        "advantage": advantage.value,
        "advantage_low": advantage.low,
        "advantage_high": advantage.high,
    }


def _proved_of(experiment: Experiment, trials: list[Trial]) -> float:
    """Give what is proved of the mean share of the people whom one attack met."""
    shares = [float(t["bound"][0]) / experiment.targets for t in trials if "bound" in t]
    return float(np.mean(shares)) if shares else 1.0


def _respect(summary: dict[str, Any], bounds: list[dict[str, Any]], proved: float) -> None:
    """Keep sampled numbers where a theorem says that they are.

    The people are the same, so an estimate above what is proved about them is luck, and the part
    of its limits above that is empty. A limit that is wholly above is left: a contradiction.
    """
    above = min((b["share_of_population"] for b in bounds if "share_of_population" in b), default=1)
    summary["share"] = min(summary["share"], proved)
    rough = summary["approximate"]
    if rough is not None:
        rough["high"] = max(summary["share"], min(rough["high"], above))
        rough["low"] = min(rough["low"], summary["share"])
    for key in ("high", "low", "low_joint"):
        if summary["low_joint"] <= above:
            summary[key] = min(summary[key], above)
    summary["low"] = min(summary["low"], summary["share"])
    summary["high"] = max(summary["high"], summary["share"])
    # what is shown as gained is what is shown as recovered less what is shown as its baseline
    gain = summary["share"] - summary["baseline"]
    left = 1 - summary["baseline"]
    for key, value in (("gain", gain), ("advantage", gain / left if left > 0 else 0.0)):
        summary[key] = max(-1.0, value)
        summary[f"{key}_low"] = min(summary[f"{key}_low"], summary[key])
        summary[f"{key}_high"] = max(summary[f"{key}_high"], summary[key])
    summary["gain_low_joint"] = min(summary["gain_low_joint"], gain)


def _groups(experiment: Experiment, trials: list[Trial]) -> list[dict[str, Any]]:
    """Summarise every attack for every group that somebody belonged to.

    The share of a group is the mean over trials of its members' share, trials without members
    left out. The worst is chosen over groups, attacks and settings, so the limits hold for all of
    these at once. ``over_guess`` compares with the best guess without the release *on the same
    people*: a group that is chosen by its secrets would make any other comparison unfair.
    """
    people = np.array([t["groups"] for t in trials], dtype=float)
    found: list[dict[str, Any]] = []
    joint = each_confidence(experiment.confidence, family(experiment, len(experiment.groups.names)))
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)
    for g, (by, label) in enumerate(experiment.groups.names):
        if not people[:, g].any():
            continue
        entry: dict[str, Any] = {
            "by": by,
            "group": label,
            "by_secret": bool(by_secret[g]),
            "share_of_people": float(people[:, g].sum() / (len(trials) * experiment.targets)),
            "attacks": {},
        }
        guessed = np.array([float(t["group_guess"][g]) for t in trials])
        some = people[:, g] > 0
        entry["guess"] = _of_members(guessed[some] / people[some, g], joint)
        for name, attack, count in experiment.attacks:
            among = people[:count, g]
            if not among.any():
                continue
            score = np.array([float(t[f"{name}/group_share"][g]) for t in trials[:count]])
            fresh = np.array([float(t[f"{name}/group_fresh"][g]) for t in trials[:count]])
            some = among > 0
            shares = np.clip(score[some] / among[some], 0, 1)
            fair = np.clip(guessed[:count][some] / among[some], 0, 1)
            over = difference_limits(shares, fair, confidence=joint)
            summary = {
                **_of_members(shares, joint),
                "over_guess": over.value,
                "over_guess_low": over.low,
                "baseline": float((fresh[some] / among[some]).mean()),
                "people": int(among.sum()),
            }
            if attack.informed:
                entry["ceiling"] = summary
            else:
                entry["attacks"][name] = summary
        found.append(entry)
    return found


def _of_members(values: Floats, level: float) -> dict[str, float | None]:
    found = mean_limits(np.clip(values, 0, 1), confidence=level)
    return {"share": found.value, "low": found.low, "high": found.high}


def _bounds(
    experiment: Experiment, setting: Setting, number: int, trials: list[Trial]
) -> list[dict[str, Any]]:
    """List what is proved: for the people played, and limited for all people like them."""
    n = experiment.targets
    if setting.guarantee is None:
        nothing = {
            "theorem": "no theorem: exact counts guarantee nothing",
            "name": "trivial limit",
            "proved": True,
            "guarantee": "none",
            "assumptions": [],
            "takes_as_given": [],
        }
        return [
            {**nothing, "confidence": experiment.levels[0], "at_most": n, "of": n},
            {**nothing, "share_at_most": 1.0},
        ]
    common = {
        "proved": True,
        "assumptions": [
            f"the release is {setting.guarantee.describe()}",
            "the secrets of the people are independent given their known columns",
        ],
        "takes_as_given": list(experiment.takes_as_given),
    }
    strongest = {**common, "guarantee": setting.guarantee.describe()}
    bounds: list[dict[str, Any]] = []
    for place, level in enumerate(experiment.levels):
        tails = np.mean([t[f"tails/{place}"] for t in trials], axis=0)
        whole = tail_of_population(experiment, number, trials, place)
        bounds.append(
            {
                "theorem": proofs.tail_theorem(experiment.success, n).statement,
                "name": "domination",
                **strongest,
                "confidence": level,
                "at_most": proofs.not_exceeded(tails, level),
                "of": n,
                "at_most_of_population": proofs.not_exceeded(whole, level),
            }
        )
    sums = np.array([t["bound"] for t in trials])
    whole = mean_of_people(experiment, sums[:, 0], sums[:, 1], confidence=experiment.confidence)
    theorem = proofs.share_theorem(experiment.success, n, setting.guarantee).statement
    bounds.append(
        {
            "theorem": theorem,
            "name": "mean share",
            **strongest,
            "share_at_most": float(sums[:, 0].sum() / (n * len(trials))),
            "share_of_population": whole.high,
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
        bounds += _published(experiment, setting, trials, common)
    return bounds


def _published(
    experiment: Experiment, setting: Setting, trials: list[Trial], common: dict[str, Any]
) -> list[dict[str, Any]]:
    """Give the published bound, for every attacker: nobody's attempt is likelier than the best.

    Followed by the attempts that one attack made it would be smaller for a bad attack, and no
    limit on the others. Under pure DP it holds given any release (Theorem 3.2), for each set of
    people by itself; otherwise averaged over releases with ``n delta`` added (Corollary 3.4).
    """
    assert setting.single is not None
    tables = [t["published"] for t in trials]
    pure = setting.single == setting.guarantee
    return [
        {
            "theorem": proofs.published_theorem(setting.single).statement,
            "name": "published",
            **common,
            "for_comparison": True,
            "guarantee": setting.single.describe(),
            "confidence": level,
            "at_most": max(proofs.not_exceeded(t, level) for t in tables)
            if pure
            else proofs.not_exceeded(np.mean(tables, axis=0), level),
            "of": experiment.targets,
        }
        for level in experiment.levels
    ]
