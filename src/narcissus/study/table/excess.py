"""How far what was found is above or below what a threshold allows, each with its grade.

A threshold on a mean share or on an advantage becomes, trial by trial, a share that it allows; the
excess is what was recovered, or is proved, minus that. Paired by trial, the chance in who was
drawn cancels. A threshold on a count becomes the chance of releases beyond it minus the chance
that is accepted. The status follows from the excesses alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence import (
    clopper_pearson,
    each_confidence,
    mean_limits,
    population_mean_upper,
    trials_for,
)
from narcissus.results import Estimate
from narcissus.study.results.table import Excess
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.population import other_tails, tail_of_population
from narcissus.study.table.schema import ThresholdSpec

Floats = NDArray[np.float64]
Trials = Sequence[Mapping[str, NDArray[Any]]]


def family(experiment: Experiment, groups: int = 1) -> int:
    """Give how many lower limits are chosen from: attacks, settings, and groups if any."""
    attacks = sum(not attack.informed for _, attack, _ in experiment.attacks)
    return max(1, attacks) * len(experiment.settings) * max(1, groups)


def excesses(
    experiment: Experiment, number: int, trials: Trials, threshold: ThresholdSpec
) -> list[Excess]:
    """Hold everything that was found at one setting against the threshold."""
    if threshold.targets is not None:
        return list(_of_counts(experiment, number, trials, threshold.targets))
    found = list(_of_means(experiment, number, trials, threshold))
    if threshold.worst_group is not None:
        found += _of_groups(experiment, number, trials, threshold)
    return found


def _excess(
    role: Literal["attack", "ceiling", "bound"],
    name: str,
    group: str,
    limits: tuple[float, float | None, float | None],
    trials: int | None,
) -> Excess:
    """Make an excess from its value and its limits."""
    value, low, high = limits
    return Excess(
        role=role,
        name=name,
        group=group,
        value=value,
        low=low,
        high=high,
        kind="sampled",
        trials=trials,
    )


def _limits(
    values: Floats, low: float, high: float, *, confidence: float, people: int
) -> tuple[Estimate, int | None]:
    """Limit the mean of values in [low, high]; say how many trials would tell its sign."""
    width = high - low
    scaled = np.clip((values - low) / width, 0.0, 1.0)
    found = mean_limits(scaled, confidence=confidence, people=people)
    assert found.low is not None
    assert found.high is not None
    limits = Estimate(
        low + width * found.value,
        low + width * found.low,
        low + width * found.high,
        confidence,
        values.size,
    )
    value = float(values.mean())
    assert limits.low is not None
    assert limits.high is not None
    if value == 0 or limits.low > 0 or limits.high <= 0:
        return limits, None
    variance = float(scaled.var(ddof=1)) if values.size > 1 else 0.25 / people
    needed = trials_for(abs(value) / width, variance=variance, confidence=confidence)
    return limits, _more(needed, values.size)


def _more(needed: int, played: int) -> int:
    """Plan for twice the trials at least: those that were played did not tell."""
    return max(needed, 2 * played)


def _allowed(threshold: float, of_advantage: bool, guess: Floats) -> Floats:
    """Give the share that is allowed in each trial."""
    return guess + threshold * (1 - guess) if of_advantage else np.full_like(guess, threshold)


def _guesses(experiment: Experiment, trials: Trials) -> tuple[Floats, Floats]:
    """Give each trial's best guess without the release: its chance by the prior, and really."""
    chance = np.array([t["guess"][0] for t in trials]) / experiment.targets
    if experiment.prior_is_exact:
        return chance, chance
    return chance, np.array([float(t["guessed"]) for t in trials])


def _of_means(
    experiment: Experiment, number: int, trials: Trials, threshold: ThresholdSpec
) -> Iterator[Excess]:
    n, level = experiment.targets, experiment.confidence
    of_advantage = threshold.advantage is not None
    limit = float(threshold.advantage if of_advantage else threshold.share)  # type: ignore[arg-type]
    # an advantage is relative to the guess: share - (1 - a) guess - a lies in [-1, 1 - a]
    ends = (-1.0, 1.0 - limit) if of_advantage else (-limit, 1.0 - limit)
    chance, real = _guesses(experiment, trials)
    joint = each_confidence(level, family(experiment))
    for name, attack, count in experiment.attacks:
        some = trials[:count]
        shares = np.array([float(t[f"{name}/share"]) for t in some])
        guess = chance if attack.informed else real
        values = shares - _allowed(limit, of_advantage, guess[:count])
        confidence = level if attack.informed else joint
        found, needed = _limits(values, *ends, confidence=confidence, people=n)
        role = "ceiling" if attack.informed else "attack"
        yield _excess(role, name, "", (found.value, found.low, found.high), needed)
    if experiment.settings[number].guarantee is not None:
        sums = np.array([t["bound"] for t in trials])
        counts = np.full(len(trials), float(n))
        yield _of_bound(experiment, sums, counts, limit, of_advantage=of_advantage, group="")


def _of_bound(
    experiment: Experiment,
    sums: Floats,
    counts: Floats,
    limit: float,
    *,
    of_advantage: bool,
    group: str,
) -> Excess:
    """Hold the mean of what is proved of each person against the threshold.

    Every person has ``x = share - c guess - a`` of their own (``c`` is 1 - a for an advantage a,
    else 0), and its mean over the population is limited from the sums of the people played.

    Parameters
    ----------
    experiment
        What was played.
    sums
        Sums over the people of each trial of share, share squared, guess, guess squared, and
        share times guess, shape (trials, 5).
    counts
        How many people these are, shape (trials,).
    limit
        The threshold.
    of_advantage
        Whether it is one on the advantage.
    group
        Whom it is about.
    """
    c = 1 - limit if of_advantage else 0.0
    low = -1.0 if of_advantage else -limit
    width = 1 - limit - low
    people = int(counts.sum())
    value = float((sums[:, 0] - c * sums[:, 2]).sum() / people - limit)
    offset = limit + low  # x - low = share - c guess - offset lies in [0, width]
    bare = sums[:, 0] - c * sums[:, 2]
    total = np.clip((bare - counts * offset) / width, 0, counts)
    square = sums[:, 1] + c * c * sums[:, 3] - 2 * c * sums[:, 4]
    square = (square - 2 * offset * bare + counts * offset**2) / width**2
    square = np.clip(square, 0, total)
    error = (1 - experiment.confidence) / 2
    upper = population_mean_upper(total, square, counts, confidence=1 - error).high
    assert upper is not None
    high = low + width * upper
    needed = None
    if value < 0 < high:
        variance = max(0.0, square.sum() / people - (total.sum() / people) ** 2)
        more = trials_for(-value / width, variance, confidence=experiment.confidence)
        needed = _more(math.ceil(more / people * len(counts)), len(counts))
    return _excess("bound", "mean share", group, (value, None, high), needed)


def _of_groups(
    experiment: Experiment, number: int, trials: Trials, threshold: ThresholdSpec
) -> Iterator[Excess]:
    """Hold each group whose members an attacker can tell against the limit of the worst group."""
    level = experiment.confidence
    of_advantage = threshold.advantage is not None
    limit = float(threshold.worst_group or 0.0)
    ends = (-1.0, 1.0 - limit) if of_advantage else (-limit, 1.0 - limit)
    people = np.array([t["groups"] for t in trials])
    told = experiment.groups.by_secret(experiment.queries.unknown)
    groups = [g for g in range(people.shape[1]) if people[:, g].any() and not told[g]]
    joint = each_confidence(level, family(experiment, len(told)))
    for g in groups:
        group = ": ".join(experiment.groups.names[g])
        for name, attack, count in experiment.attacks:
            some = people[:count, g] > 0
            if not some.any():
                continue
            among = people[:count, g][some]
            shares = _of_group(trials[:count], f"{name}/group_share", g)[some] / among
            guess = _of_group(trials[:count], "group_guess", g)[some] / among
            confidence = level if attack.informed else joint
            values = shares - _allowed(limit, of_advantage, guess)
            found, needed = _limits(values, *ends, confidence=confidence, people=1)
            needed = _with_members(needed, some)
            role = "ceiling" if attack.informed else "attack"
            yield _excess(role, name, group, (found.value, found.low, found.high), needed)
        if experiment.settings[number].guarantee is not None:
            sums = np.array([t["group_bound"][g] for t in trials])
            some = people[:, g] > 0
            if not experiment.groups.by_others[g]:
                yield _of_bound(
                    experiment, sums, people[:, g], limit, of_advantage=of_advantage, group=group
                )
                continue
            # Only trials are independent here: the mean over a trial's members is one value.
            among = people[some, g]
            values = sums[some, 0] / among
            values = values - _allowed(limit, of_advantage, sums[some, 2] / among)
            found, more = _limits(values, *ends, confidence=level, people=1)
            needed = _with_members(more, some)
            yield _excess("bound", "mean share", group, (found.value, None, found.high), needed)


def _with_members(needed: int | None, some: NDArray[np.bool_]) -> int | None:
    """Plan for trials of which only a part has members of the group."""
    return None if needed is None else math.ceil(needed * some.size / some.sum())


def _of_group(trials: Trials, key: str, group: int) -> Floats:
    return np.array([float(t[key][group]) for t in trials])


def _of_counts(experiment: Experiment, number: int, trials: Trials, limit: int) -> Iterator[Excess]:
    """Hold 'more than so many fall in more than a part alpha of releases' against the counts.

    The ceiling has the largest mean, not the largest count: it says nothing here.
    """
    alpha = 1 - experiment.levels[0]
    joint = each_confidence(experiment.confidence, family(experiment))
    for name, attack, count in experiment.attacks:
        if attack.informed:
            continue
        hits = np.array([int(t[f"{name}/hits"]) for t in trials[:count]])
        over = int((hits > limit).sum())
        found = clopper_pearson(over, count, confidence=joint)
        value = found.value - alpha
        needed = None
        if value > 0 >= (found.low or 0.0) - alpha:
            variance = found.value * (1 - found.value)
            needed = _more(trials_for(value, variance=variance, confidence=joint), count)
        low = (found.low or 0.0) - alpha
        high = (1.0 if found.high is None else found.high) - alpha
        yield _excess("attack", name, "", (value, low, high), needed)
    if experiment.settings[number].guarantee is None:
        return
    tails = np.mean([t["tails/0"] for t in trials], axis=0)
    value = float(tails[min(limit + 1, experiment.targets + 1)]) - alpha
    place = min(limit + 1, experiment.targets + 1)
    high = float(tail_of_population(experiment, number, trials, 0)[place]) - alpha
    needed = None
    if value <= 0 < high:
        for times in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
            if tail_of_population(experiment, number, trials, 0, times=times)[place] <= alpha:
                needed = times * len(trials)
                break
    yield _excess("bound", "domination", "", (value, None, high), needed)
    for theorem, played, whole in other_tails(experiment, number, trials):
        limits = (float(played[place]) - alpha, None, float(whole[place]) - alpha)
        yield _excess("bound", theorem.id, "", limits, None)
