"""What a threshold allows, less what was recovered and what is proved: the excesses of a setting.

A threshold on a mean share or on an advantage becomes, trial by trial, a share that it allows; the
excess is what was recovered, or is proved, minus that. Paired by trial, the chance in who was
drawn cancels. A threshold on a count becomes the chance of releases beyond it minus the chance
that is accepted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.attacks.table import TableAttack
from narcissus.evidence import (
    Envelope,
    PeopleSums,
    clopper_pearson,
    each_confidence,
    enclosed_limits,
    trials_for,
)
from narcissus.kinds.table.bound_summary import other_tails, tail_of_population, theorems_of
from narcissus.kinds.table.envelope import Enclosure
from narcissus.kinds.table.estimates import (
    AttackScores,
    Criterion,
    Mean,
    criteria,
    enclosure_of_group,
    group_scores,
    scores_of,
    within,
)
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import Excess, ExcessRole
from narcissus.kinds.table.proofs import mean_tails
from narcissus.kinds.table.schema import ThresholdSpec
from narcissus.results import Estimate, Grade
from narcissus.rows import Quantity

Trials = Sequence[Mapping[str, NDArray[Any]]]


def family(experiment: Experiment, groups: int = 1, limits: int = 1) -> int:
    """Count the lower limits chosen from: attacks, settings, groups and limits if any."""
    attacks = sum(not attack.informed for _, attack, _ in experiment.attacks)
    return max(1, attacks) * len(experiment.settings) * max(1, groups) * limits


def excesses(
    experiment: Experiment, number: int, trials: Trials, threshold: ThresholdSpec
) -> list[Excess]:
    comparisons: list[Excess] = []
    means = criteria(threshold)
    limits = len(means) + (threshold.targets is not None)
    joint = each_confidence(experiment.confidence, family(experiment, limits=limits))
    if threshold.targets is not None:
        comparisons += _of_counts(experiment, number, trials, threshold.targets, joint)
    for criterion in means:
        comparisons += _of_means(experiment, number, trials, criterion, joint)
    for criterion in criteria(threshold, of_group=True):
        comparisons += _of_groups(experiment, number, trials, criterion)
    return comparisons


Limits = tuple[float, float | None, float | None]


def _excess(
    role: ExcessRole,
    name: str,
    of: Mean | Literal["targets"],
    group: str,
    limits: Limits,
    trials: int | None,
    kind: Grade = "sampled",
) -> Excess:
    value, low, high = limits
    quantity = Quantity(value=value, low=low, high=high, grade=kind)
    return Excess(role=role, name=name, of=of, group=group, quantity=quantity, trials=trials)


def _of_scores(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    criterion: Criterion,
    scores: AttackScores,
    guess: Floats,
    confidence: float,
    *,
    group: str = "",
    some: NDArray[np.bool_] | None = None,
) -> Excess:
    estimate = scores.excess(criterion, guess, confidence)
    values = scores.shares - criterion.allowed(guess, scores.fresh)
    room = scores.room(criterion, estimate.value)
    people = experiment.targets if some is None else 1
    needed = trials_to_tell(estimate, values, room, confidence=confidence, people=people)
    needed = needed if some is None else _with_members(needed, some)
    limits: Limits = (estimate.value, estimate.low, estimate.high)
    if not attack.informed:
        return _excess("attack", name, criterion.name, group, limits, needed)
    if not experiment.estimates_ceiling and experiment.nearby is None:  # else it limits nobody
        return _excess("ceiling", name, criterion.name, group, limits, needed)
    limits = (estimate.value, estimate.low, None)
    return _excess("ceiling", name, criterion.name, group, limits, None, "approximate")


def trials_to_tell(
    found: Estimate, values: Floats, room: float, *, confidence: float, people: int
) -> int | None:
    """Plan the trials that decide the sign of a mean; None if it is decided, or none would."""
    value, (low, high) = found.value, found.ends
    if value == 0 or low > 0 or high <= 0:
        return None
    variance = float(values.var(ddof=1)) if values.size > 1 else 0.25 / people
    needed = trials_for(abs(value), variance=variance, room=room, confidence=confidence)
    return _more(needed, values.size)


def _more(needed: int, played: int) -> int:
    """Plan for at least twice the trials: those played did not decide."""
    return max(needed, 2 * played)


def _guesses(experiment: Experiment, trials: Trials) -> tuple[Floats, Floats]:
    chance = np.array([t["guess"][0] for t in trials]) / experiment.targets
    if experiment.prior_is_exact:
        return chance, chance
    return chance, np.array([float(t["guessed"]) for t in trials])


def _of_means(
    experiment: Experiment, number: int, trials: Trials, criterion: Criterion, joint: float
) -> Iterator[Excess]:
    n, level = experiment.targets, experiment.confidence
    chance, real = _guesses(experiment, trials)
    around = Enclosure.of(trials, n)
    for name, attack, count in experiment.attacks:
        if attack.informed and criterion.name == "gain":
            continue  # it has the largest share, not the largest gain: it says nothing here
        scores = scores_of(experiment, name, attack, trials[:count], around, number)
        guess = (chance if attack.informed else real)[:count]
        confidence = level if attack.informed else joint
        excess = _of_scores(experiment, name, attack, criterion, scores, guess, confidence)
        if excess.role == "attack" and excess.trials is not None and excess.value > 0:
            low_apart = apart(experiment, scores, criterion, trials[:count], confidence)
            excess = excess.model_copy(update={"low_apart": low_apart})
        yield excess
    if experiment.settings[number].guarantee is not None:
        sums = np.array([t[criterion.moments] for t in trials])
        counts = np.full(len(trials), float(n))
        yield _of_bound(experiment, sums, counts, criterion, group="")


def apart(
    experiment: Experiment,
    scores: AttackScores,
    criterion: Criterion,
    trials: Trials,
    confidence: float,
) -> float | None:
    """Bound an excess from below by what is recovered alone, and by what is guessed alone.

    A difference may lie anywhere in [-1, 1], which costs few trials dearly. What is recovered is
    never below 0, and what is guessed depends on people, who are many (`enclosed_limits`). None if
    neither is known: for a share, and for a gain over a decoy.
    """
    exact, n = experiment.prior_is_exact, experiment.targets
    # no attempts score more on fresh people than the best guess does; a search may miss that one
    is_bounded = criterion.name == "advantage" or (
        criterion.name == "gain" and exact and not experiment.factored
    )
    if scores.around is not None or not is_bounded:
        return None
    less, allowed = (1 - criterion.limit if criterion.name == "advantage" else 1), criterion.limit
    _, guess = _guesses(experiment, trials)
    # parts of people, whose squares are not kept, have smaller ones than hits
    squares = np.array([t["guess"][1] for t in trials]) if exact else n * guess
    trial = -less * guess - allowed
    people = None
    if not experiment.everybody:
        square = less**2 * squares + 2 * less * allowed * n * guess + n * allowed**2
        people = PeopleSums(n * trial, square, n, -less - allowed, -allowed)
    values = scores.shares - criterion.allowed(guess, scores.fresh)
    if (values < trial - 1e-9).any():  # more on fresh people than the best guess: not of ours
        return None
    high = Envelope(np.full(len(trials), 1.0 - allowed))
    low = Envelope(trial, people)
    estimate = enclosed_limits(values, low, high, confidence=confidence, people=n)
    return max(-1.0, estimate.ends[0])


def _of_bound(
    experiment: Experiment, sums: Floats, counts: Floats, criterion: Criterion, *, group: str
) -> Excess:
    """Compare the mean of each person's bound ``x = share - c guess - a`` with the threshold.

    ``c`` is 1 - a for an advantage a, else 0. ``sums`` are those over the people of each trial of
    share, share squared, guess, guess squared, and share times guess, shape (trials, 5).
    """
    limit = criterion.limit
    less = 1 - limit if criterion.name == "advantage" else 0.0
    people = PeopleSums.of_moments(sums, counts, less=less, allowed=limit)
    value = people.mean
    high = value if experiment.everybody else people.upper((1 - experiment.confidence) / 2)
    needed = None
    if value < 0 < high:
        width = people.high - people.low
        people_needed = trials_for(
            -value / width, people.variance / width**2, confidence=experiment.confidence
        )
        needed = _more(math.ceil(people_needed / float(counts.sum()) * len(counts)), len(counts))
    return _excess("bound", "mean share", criterion.name, group, (value, None, high), needed)


def _of_groups(
    experiment: Experiment, number: int, trials: Trials, criterion: Criterion
) -> Iterator[Excess]:
    level, ends = experiment.confidence, criterion.ends
    people = np.array([t["groups"] for t in trials])
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)
    groups = [g for g in range(people.shape[1]) if people[:, g].any() and not by_secret[g]]
    joint = each_confidence(level, family(experiment, experiment.groups.asked))
    for g in groups:
        group = ": ".join(experiment.groups.names[g])
        around = enclosure_of_group(experiment, trials, g)
        for name, attack, count in experiment.attacks:
            member_scores = group_scores(experiment, name, attack, trials[:count], g, around)
            if member_scores is None or (attack.informed and criterion.name == "gain"):
                continue
            confidence = level if attack.informed else joint
            named = (name, attack, criterion, member_scores.scores, member_scores.guess, confidence)
            yield _of_scores(experiment, *named, group=group, some=member_scores.some)
        if experiment.settings[number].guarantee is not None:
            sums = np.array([t[f"group_{criterion.moments}"][g] for t in trials])
            some = people[:, g] > 0
            if not experiment.groups.by_others[g]:
                yield _of_bound(experiment, sums, people[:, g], criterion, group=group)
                continue
            # Only trials are independent here: the mean over a trial's members is one value.
            among = people[some, g]
            values = sums[some, 0] / among
            values = values - criterion.allowed(sums[some, 2] / among, np.zeros(some.sum()))
            estimate = within(values, ends, level, experiment.targets)
            width = ends[1] - ends[0]
            needed = trials_to_tell(estimate, values, width, confidence=level, people=1)
            needed = _with_members(needed, some)
            limits: Limits = (estimate.value, None, estimate.high)
            yield _excess("bound", "mean share", criterion.name, group, limits, needed)


def _with_members(needed: int | None, some: NDArray[np.bool_]) -> int | None:
    """Plan for trials of which only a part has members of the group."""
    return None if needed is None else math.ceil(needed * some.size / some.sum())


def _of_counts(
    experiment: Experiment, number: int, trials: Trials, limit: int, joint: float
) -> Iterator[Excess]:
    """Compare counts with the limit; a ceiling has the largest mean, not the largest count."""
    alpha = 1 - experiment.levels[0]
    for name, attack, count in experiment.attacks:
        if attack.informed:
            continue
        hits = np.array([int(t[f"{name}/hits"]) for t in trials[:count]])
        over = int((hits > limit).sum())
        estimate = clopper_pearson(over, count, confidence=joint)
        value = estimate.value - alpha
        needed = None
        if value > 0 >= (estimate.low or 0.0) - alpha:
            variance = estimate.value * (1 - estimate.value)
            needed = _more(trials_for(value, variance=variance, confidence=joint), count)
        low = (estimate.low or 0.0) - alpha
        high = (1.0 if estimate.high is None else estimate.high) - alpha
        yield _excess("attack", name, "targets", "", (value, low, high), needed)
    guarantee = experiment.settings[number].guarantee
    if guarantee is None:
        return
    place = min(limit + 1, experiment.targets + 1)
    value = float(mean_tails(trials, "tails/0", experiment.targets)[place]) - alpha
    high = float(tail_of_population(experiment, number, trials, 0)[place]) - alpha
    needed = None
    if value <= 0 < high:
        for times in (2**k for k in range(1, 11)):
            if tail_of_population(experiment, number, trials, 0, times=times)[place] <= alpha:
                needed = times * len(trials)
                break
    name = theorems_of(experiment, guarantee)[1].id
    yield _excess("bound", name, "targets", "", (value, None, high), needed)
    for theorem, played, whole in other_tails(experiment, number, trials):
        limits: Limits = (float(played[place]) - alpha, None, float(whole[place]) - alpha)
        yield _excess("bound", theorem.id, "targets", "", limits, None)
