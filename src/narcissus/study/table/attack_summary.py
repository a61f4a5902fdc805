"""What one attack recovered at one setting: shares with limits, beside its own baseline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import TableAttack
from narcissus.attacks.table.base import MayFallBelow
from narcissus.evidence import (
    PeopleSums,
    difference_limits,
    each_confidence,
    mean_limits,
    median_limits,
    studentised_limits,
)
from narcissus.results import Estimate
from narcissus.study.results.table import ShareBound, TableBound
from narcissus.study.results.table_attacks import (
    AttackResult,
    BelowGuess,
    ColumnResult,
    DecoyResult,
    HitCounts,
    LimitedMean,
    MedianShare,
    PriorTest,
    SearchResult,
)
from narcissus.study.table.criteria import Criterion
from narcissus.study.table.enclosure import Enclosure
from narcissus.study.table.excess import apart, family
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.limits import AttackScores, counted, has_decoy, scores_of

Trial = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]

SURE = 0.99
"""Least level at which a prior is said to be refuted by what guesses score."""


def limited(values: Floats, level: float, *, people: int) -> LimitedMean:
    """Limit a mean share from its values in the trials, each the mean over so many people."""
    return as_mean(mean_limits(np.clip(values, 0, 1), confidence=level, people=people))


def as_mean(found: Estimate) -> LimitedMean:
    """Give a limited mean as a result holds it."""
    return LimitedMean.model_validate({"share": found.value, "low": found.low, "high": found.high})


def prior_test(
    experiment: Experiment,
    real: Floats,
    said: Floats,
    people: PeopleSums | None = None,
    *,
    sums: Floats | None = None,
) -> PriorTest:
    """Hold what guesses without the release really score against what the prior says of them.

    Every attack that is played, and the guess, tests the prior: the limits hold for all at once,
    and at no less than 99%, since a right prior that is called refuted is a headline.

    Parameters
    ----------
    experiment
        What was played.
    real, said
        What was scored, and what should have been, in each trial, shape (trials,).
    people
        Of the one less the other, where nobody's depends on others; None: trials count.
    sums
        Of the chances by the prior and of their squares, where what is scored is a count of all
        people: how far it may be off is then a matter of their secrets alone (Bernstein 1924).
    """
    sure = max(experiment.confidence, 1 - (1 - SURE) * experiment.spent)
    level = each_confidence(sure, family(experiment) + 1)
    chance_off = None
    if sums is not None:
        off, hurdle = counted(real - said, level), math.log(2 / (1 - level))
        spread = max(0.0, float(sums[0] - sums[1]))
        reach = hurdle / 3 + math.sqrt(hurdle**2 / 9 + 2 * hurdle * spread)
        chance_off = reach / experiment.targets
    else:
        off = difference_limits(real, said, confidence=level, people=experiment.targets)
    if people is not None and not experiment.everybody:
        low, high = people.lower((1 - level) / 2), people.upper((1 - level) / 2)
        off = replace(off, low=min(off.value, low), high=max(off.value, high))
    return PriorTest.model_validate(
        {
            "by_the_prior": float(said.mean()),
            "confidence": level,
            "off": off.value,
            "off_low": off.low,
            "off_high": off.high,
            "chance_off": chance_off,
        }
    )


def attack_result(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    trials: Sequence[Trial],
    *,
    luck: Floats,
    bounds: Sequence[TableBound],
    around: Enclosure | None = None,
    number: int = 0,
) -> AttackResult:
    """Summarise one attack at one setting.

    Parameters
    ----------
    experiment
        What was played.
    name, attack
        The attack.
    trials
        Its trials, in order.
    luck
        What chance added in each, shape (trials,).
    bounds
        What is proved at this setting.
    around
        What no attack is beyond, where it is known.
    number
        Which setting.
    """
    level, n = experiment.confidence, experiment.targets
    joint = each_confidence(level, family(experiment))
    scores = scores_of(experiment, name, attack, trials, around, number)
    share = scores.share(level)
    hits = [float(t[f"{name}/hits"]) for t in trials]
    median = median_limits([h / n for h in hits], confidence=level)
    scored = "shares of right columns" if experiment.success.by_column else "hits"
    if experiment.knows_chances:
        scored = "the expected success given the release and all other secrets"
    found: dict[str, Any] = {
        "low": share.low,
        "high": share.high,
        "low_joint": scores.share(joint).low,
        **_roughly(scores, luck, level),
        **_against_itself(scores, level, joint),
        "gain_low_apart": None,
        "decoy": _decoy(experiment, name, attack, trials, scores),
        "median": MedianShare(share=median.value, low=median.low, high=median.high),
        "trials": len(trials),
        "method": f"{share.method}, on {scored}",
        "distribution": None if experiment.success.by_column else _distribution(hits),
        "columns": _columns(experiment, name, trials),
        "baseline_exact": not has_decoy(experiment, attack),
        "title": attack.title,
        "is_estimated": attack.informed and experiment.estimates_ceiling,
        "search": _search(name, trials),
        "uses": attack.uses,
    }
    if found["gain_low_joint"] <= 0 < found["gain"]:
        nothing = Criterion("gain", 0.0)
        found["gain_low_apart"] = apart(experiment, scores, nothing, trials, joint)
    if experiment.prior_is_exact:
        _respect(found, bounds, _proved_of(experiment, trials))
    if len(found["columns"]) == 1:  # the one column's share is that of the whole
        [(column, own)] = found["columns"].items()
        whole = {key: found[key] for key in ("share", "low", "high")}
        found["columns"] = {column: own.model_copy(update=whole)}
    found["below"] = _below(experiment, attack, trials, found["share"])
    return AttackResult.model_validate(found)


def _distribution(hits: Sequence[float]) -> HitCounts:
    counted = sorted(Counter(map(int, hits)).items())
    return HitCounts(targets=tuple(h for h, _ in counted), trials=tuple(c for _, c in counted))


def _columns(experiment: Experiment, name: str, trials: Sequence[Trial]) -> dict[str, ColumnResult]:
    """Limit the share of each unknown column."""
    values = np.clip([t[f"{name}/columns"] for t in trials], 0, 1)
    fresh = np.array([t[f"{name}/columns_fresh"] for t in trials])
    found: dict[str, ColumnResult] = {}
    for c, column in enumerate(experiment.queries.unknown):
        around, guesses = Enclosure.of_column(trials, c), experiment.success.guess_shape[c]
        own = AttackScores(values[:, c], fresh[:, c], experiment.targets, around, guesses)
        limits = own.share(experiment.confidence)
        found[experiment.table.names[column]] = ColumnResult(
            **dict(as_mean(limits)), baseline=float(fresh[:, c].mean())
        )
    return found


def _search(name: str, trials: Sequence[Trial]) -> SearchResult | None:
    """Say how often a search for values that agree with exact counts stuck, and at what."""
    left = np.array([float(t[f"{name}/residual"]) for t in trials if f"{name}/residual" in t])
    if not left.size:
        return None
    stuck = left > 0
    residual = float(left[stuck].mean()) if stuck.any() else 0.0
    return SearchResult(stuck=int(stuck.sum()), residual=residual)


def _below(
    experiment: Experiment, attack: TableAttack, trials: Sequence[Trial], share: float
) -> BelowGuess | None:
    """Say how an attack recovers less than the best guess, where it does and says how it can."""
    if experiment.prior_is_exact:
        guesses = [float(t["guess"][0]) / experiment.targets for t in trials]
    else:
        guesses = [float(t["guessed"]) for t in trials]
    guess = min(1.0, float(np.mean(guesses)))
    if share >= guess or not isinstance(attack, MayFallBelow):
        return None
    return BelowGuess(guess=guess, why=attack.why_below(len(experiment.queries.unknown)))


def _roughly(scores: AttackScores, luck: Floats, level: float) -> dict[str, Any]:
    """Give the estimate with less luck in it, approximate limits, and the nearest valid ones."""
    left = scores.shares - luck
    value = float(np.clip(left.mean(), 0, 1))
    rough: dict[str, Any] | None = None
    if left.size > 1:
        found = studentised_limits(left, confidence=level)
        rough = {
            "low": max(0.0, found.low),
            "high": min(1.0, found.high),
            "method": found.method,
        }
    low, high = scores.narrowest(value, level)
    return {"share": value, "approximate": rough, "narrowest": {"low": low, "high": high}}


def _decoy(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    trials: Sequence[Trial],
    scores: AttackScores,
) -> DecoyResult | None:
    if not has_decoy(experiment, attack):
        return None
    fresh, said = np.clip([t[f"{name}/decoy"] for t in trials], 0, 1).T
    sums = trials[0]["guess"] if scores.exact[1] else None
    return DecoyResult(
        **dict(as_mean(scores.baseline(experiment.confidence))),
        **dict(prior_test(experiment, fresh, said, sums=sums)),
    )


def _against_itself(scores: AttackScores, level: float, joint: float) -> dict[str, Any]:
    """Compare an attack with itself."""
    baseline, gain, advantage = scores.baseline(level), scores.gain(level), scores.advantage(level)
    return {
        "baseline": baseline.value,
        "baseline_low": baseline.low,
        "baseline_high": baseline.high,
        "gain": gain.value,
        "gain_low": gain.low,
        "gain_high": gain.high,
        "gain_low_joint": scores.gain(joint).low,
        "advantage": advantage.value,
        "advantage_low": advantage.low,
        "advantage_high": advantage.high,
    }


def _proved_of(experiment: Experiment, trials: Sequence[Trial]) -> float:
    """Give what is proved of the mean share of the people whom one attack met."""
    shares = [float(t["bound"][0]) / experiment.targets for t in trials if "bound" in t]
    return float(np.mean(shares)) if shares else 1.0


def _respect(summary: dict[str, Any], bounds: Sequence[TableBound], proved: float) -> None:
    """Keep sampled numbers where a theorem says that they are.

    The people are the same, so an estimate above what is proved about them is luck, and so is a
    lower limit above what is proved of all people like them. It may not be luck where the theorem
    leans on somebody's word for the release, which attacks may refute, and is none where even the
    limit that holds for all attacks is above, a contradiction: nothing is cut there. Upper limits
    never are. What is proved of people who were not played is itself a limit that sampling may
    miss, and an interval that ends at the nearer of two limits misses where either does.
    """
    shares = [b for b in bounds if isinstance(b, ShareBound)]
    limits = [b.share_of_population for b in shares if b.share_of_population is not None]
    above = min(limits, default=1.0)
    if summary["low_joint"] > above or any(b.takes_as_given for b in shares):
        above = proved = 1.0
    summary["share"] = min(summary["share"], proved)
    rough = summary["approximate"]
    if rough is not None:
        rough["high"] = max(summary["share"], rough["high"])
        rough["low"] = min(rough["low"], summary["share"])
    summary["low"] = min(summary["low"], above, summary["share"])
    summary["high"] = max(summary["high"], summary["share"])
    # what is shown as gained is what is shown as recovered less what is shown as its baseline
    gain = summary["share"] - summary["baseline"]
    left = 1 - summary["baseline"]
    for key, value in (("gain", gain), ("advantage", gain / left if left > 0 else 0.0)):
        summary[key] = max(-1.0, value)
        summary[f"{key}_low"] = min(summary[f"{key}_low"], summary[key])
        summary[f"{key}_high"] = max(summary[f"{key}_high"], summary[key])
    summary["gain_low_joint"] = min(summary["gain_low_joint"], gain)
