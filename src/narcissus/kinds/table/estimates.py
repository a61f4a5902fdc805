"""Limits of one attack's score at one setting, on everybody or a group, and what thresholds allow.

Where chances are known, every mean is limited between the envelopes of all attacks (`Enclosure`).
Else it is a mean of values in [0, 1], or of differences of such.

The same holds for a group: where nobody else decides who is a member, members are independent, and
estimate the envelopes of the group. In a group defined by the secrets any attack could get nobody
or all: always naming a rare value gets everyone who has it. In one defined by who else is drawn,
only trials are independent. The method that limits a group is fixed by what is known before the
first trial.

Each limit of a threshold on a mean becomes a share allowed in each trial, given the best guess
without the release and the score of the same attempts on fresh people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.attacks.table import Ceiling, MeanField, NearestRecord, PriorGuess, TableAttack
from narcissus.evidence import (
    Envelope,
    PeopleSums,
    advantage_limits,
    clopper_pearson,
    difference_limits,
    enclosed_limits,
    mean_limits,
    narrowest_limits,
)
from narcissus.evidence.population import OF_PEOPLE
from narcissus.kinds.table.envelope import (
    FALL,
    GAINED,
    LEAST,
    LEFT,
    LIKELIEST,
    MOST,
    RISE,
    UNLIKELIEST,
    Enclosure,
    Trial,
    people_alone,
)
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import Accepted
from narcissus.kinds.table.schema import ThresholdSpec
from narcissus.results import Estimate

Mean = Literal["share", "advantage", "gain"]
Always = tuple[int, int, int | None]


@dataclass(frozen=True)
class Criterion:
    """One limit of a mean, in [0, 1]."""

    # 'share' is what is recovered; 'advantage' the part recovered of what could not be
    # guessed; 'gain' the excess over the score of the same attempts on fresh people
    name: Mean
    limit: float

    @property
    def ends(self) -> tuple[float, float]:
        """Range of an excess over the allowed share."""
        lowest = {"share": -self.limit, "advantage": -1.0, "gain": -1.0 - self.limit}
        return lowest[self.name], 1.0 - self.limit

    def allowed(self, guess: Floats, fresh: Floats) -> Floats:
        """Return the share allowed in each trial, by the guess and the score on fresh people."""
        if self.name == "advantage":
            return guess + self.limit * (1 - guess)
        return fresh + self.limit if self.name == "gain" else np.full_like(guess, self.limit)

    @property
    def moments(self) -> str:
        """Key under which a trial keeps the sums of what is proved of each person."""
        return "gain_bound" if self.name == "gain" else "bound"


def criteria(threshold: ThresholdSpec | Accepted, *, of_group: bool = False) -> list[Criterion]:
    """Return the limits of means in a threshold; for a group, the one asked of it."""
    means: tuple[Mean, ...] = ("share", "advantage", "gain")
    mean_criteria = [
        Criterion(name, limit) for name in means if (limit := getattr(threshold, name)) is not None
    ]
    if not of_group:
        return mean_criteria
    group = threshold.worst_group
    return (
        []
        if group is None
        else [Criterion(criterion.name, group) for criterion in mean_criteria[:1]]
    )


OVER_PEOPLE = "empirical Bernstein over people"

DRAW_NOTHING = (MeanField, NearestRecord)  # attacks whose guesses follow from what they see

OF_BASELINE = 0.2  # share of the error of an advantage that is kept for its baseline

# Members expected in releases of their own in a trial, below which trials tell more of a mean.
# Likewise of an attack of which only the ends are known, which have a part of the error: of two
# guesses, and of more, where hardly more than nothing is known of the lower end.
FEW, SOME, MORE = 2, 10, 30


@dataclass(frozen=True)
class AttackScores:
    """One attack's scores."""

    shares: Floats  # in each trial, shape (trials,)
    fresh: Floats  # scores of the same attempts without the release: on fresh people, or on a decoy
    people: int  # in each trial
    around: Enclosure | None = None  # envelopes of at least these trials; None if unknown
    guesses: int = 0  # number of options of an attack for each person
    # for an attack of which they are known, the ends that its share, baseline and gain have
    # on average, one by one; None is zero. They depend on people alone
    always: Always | None = None
    # whether the shares, and the baseline, are not random: the people are the whole
    # population, and no chance is in what the attack sees and does
    exact: tuple[bool, bool] = (False, False)

    def share(self, level: float) -> Estimate:
        if self.exact[0]:
            return counted(self.shares, level)
        if self.around is None:
            return mean_limits(self.shares, confidence=level, people=self.people)
        return self._between(self.shares, self.share_ends(), level)

    def share_ends(self) -> tuple[Envelope, Envelope]:
        """Lower and upper envelope of the share; equal if they are known to coincide."""
        assert self.around is not None
        if self.always is not None:
            end = self.around.envelope(self.always[0])
            return end, end
        return self._worst(LEAST), self.around.envelope(MOST)

    def narrowest(self, value: float, level: float) -> tuple[float, float]:
        """Return the tightest limits that any valid method could set at a mean share."""
        count = self.shares.size
        if self.exact[0]:
            return value, value
        if self.around is None:
            return narrowest_limits(value, count, confidence=level)
        low, high = self.share_ends()
        if low is high:
            people = round(float(self.around.counts.sum()))
            mean = value if low.people is None else float(np.clip(low.people.mean, 0, 1))
            return narrowest_limits(mean, people, confidence=level)
        lower_mean, upper_mean = (float(end.cut(count).trials.mean()) for end in (low, high))
        lower_mean, upper_mean = min(lower_mean, value), max(upper_mean, value)
        width = upper_mean - lower_mean
        place = (value - lower_mean) / width if width else 0.0
        near = narrowest_limits(place, count, confidence=level)
        return lower_mean + width * near[0], lower_mean + width * near[1]

    def baseline(self, level: float) -> Estimate:
        if self.exact[1]:
            return counted(self.fresh, level)
        if self.around is None:
            return mean_limits(self.fresh, confidence=level, people=self.people)
        if self.always is not None:
            return self._at(self.around.envelope(self.always[1]), self.fresh, level)
        ends = self._worst(UNLIKELIEST), self.around.envelope(LIKELIEST)
        return self._between(self.fresh, ends, level)

    def gain(self, level: float) -> Estimate:
        if any(self.exact):
            return self._one_exact(0.0, level)
        if self.around is None:
            return difference_limits(self.shares, self.fresh, confidence=level, people=self.people)
        return self._between(self.shares - self.fresh, self.gain_ends(), level)

    def gain_ends(self) -> tuple[Envelope, Envelope]:
        """Lower and upper envelope of the gain; equal if they are known to coincide."""
        assert self.around is not None
        if self.always is not None:
            end = self._gained()
            return end, end
        return self.around.envelope(FALL, sign=-1), self.around.envelope(RISE)

    def above_guess(self, guess: Floats, level: float) -> Estimate:
        """Limit the mean of the share minus the score of the best guess without the release."""
        if self.exact[0]:
            return counted(self.shares - guess, level)
        if self.around is None:
            return difference_limits(self.shares, guess, confidence=level, people=self.people)
        ends = self._beyond(Criterion("advantage", 0.0))
        assert ends is not None
        return self._between(self.shares - guess, ends, level)

    def advantage(self, level: float) -> Estimate:
        """Limit the gain as a part of what the baseline leaves.

        Between envelopes the gain and the baseline are limited separately: both have few trials to
        spend, and the quotient's limits follow from theirs.
        """
        if self.around is None and not any(self.exact):
            return advantage_limits(self.shares, self.fresh, confidence=level, people=self.people)
        error = 1 - level
        gain = self.gain(1 - (1 - OF_BASELINE) * error)
        base = self.baseline(1 - OF_BASELINE * error)
        (low, high), (base_low, base_high) = gain.ends, base.ends
        value = _part(gain.value, 1 - base.value)
        return replace(
            gain,
            value=value,
            low=min(value, _part(low, 1 - (base_low if low > 0 else base_high))),
            high=max(value, _part(high, 1 - (base_high if high > 0 else base_low))),
            confidence=level,
        )

    def excess(self, criterion: Criterion, guess: Floats, level: float) -> Estimate:
        """Limit the excess over the share allowed by the best guess without the release."""
        values = self.shares - criterion.allowed(guess, self.fresh)
        if criterion.name == "gain" and any(self.exact):
            return self._one_exact(criterion.limit, level)
        if self.exact[0]:  # so is the guess
            return counted(values, level)
        ends = self._beyond(criterion)
        if ends is None:
            return within(values, criterion.ends, level, self.people)
        return self._between(values, ends, level)

    def _one_exact(self, allowed: float, level: float) -> Estimate:
        """Limit the gain minus what is allowed, where one side of the difference is a number."""
        share, fresh = self.share(level), self.baseline(level)
        (low, high), (fresh_low, fresh_high) = share.ends, fresh.ends
        value = share.value - fresh.value - allowed
        return replace(
            share, value=value, low=low - fresh_high - allowed, high=high - fresh_low - allowed
        )

    def room(self, criterion: Criterion, excess: float) -> float:
        """Return the distance of the mean excess from the end towards which a limit makes room."""
        ends = self._beyond(criterion)
        if ends is None:
            return criterion.ends[1] - criterion.ends[0]
        low, high = (float(end.cut(self.shares.size).trials.mean()) for end in ends)
        return max(excess - low if excess > 0 else high - excess, abs(excess))

    def _beyond(self, criterion: Criterion) -> tuple[Envelope, Envelope] | None:
        """Return the lower and upper envelope of the excess."""
        if self.around is None:
            return None
        allowed, of = criterion.limit, self.around.envelope
        less = 1 - allowed if criterion.name == "advantage" else 0.0
        if self.always is not None:
            if criterion.name == "gain" or (less == 1 and self.always[2] is None):
                end = self._gained(allowed)
            else:
                end = of(self.always[0], less=less, allowed=allowed)
            return end, end
        if criterion.name == "gain":
            return of(FALL, sign=-1, allowed=allowed), of(RISE, allowed=allowed)
        if criterion.name == "share":
            return self._worst(LEAST, allowed=allowed), of(MOST, allowed=allowed)
        return of(LEAST, less=less, allowed=allowed), of(MOST, less=less, allowed=allowed)

    def _worst(self, end: int, allowed: float = 0.0) -> Envelope:
        """Return the lower end: with several guesses that is hardly more than nothing."""
        assert self.around is not None
        if self.guesses == 2:
            return self.around.envelope(end, allowed=allowed)
        return Envelope(np.full_like(self.around.guesses, -allowed))

    def _gained(self, allowed: float = 0.0) -> Envelope:
        assert self.around is not None
        assert self.always is not None
        if self.always[2] is None:
            return Envelope(np.full_like(self.around.guesses, -allowed))
        return self.around.envelope(self.always[2], allowed=allowed)

    def _between(self, values: Floats, ends: tuple[Envelope, Envelope], level: float) -> Estimate:
        if ends[0] is ends[1]:
            return self._at(ends[0], values, level)
        low, high = (end.cut(values.size) for end in ends)
        return enclosed_limits(values, low, high, confidence=level, people=self.people)

    def _at(self, envelope: Envelope, values: Floats, level: float) -> Estimate:
        """Limit the mean of an envelope itself, which depends on people alone."""
        error, mean = (1 - level) / 2, float(values.mean())
        if envelope.people is None:
            low = high = float(envelope.trials.mean())
        else:
            low, high = envelope.people.lower(error), envelope.people.upper(error)
        return Estimate(
            mean, min(mean, low), max(mean, high), level, values.size, method=OVER_PEOPLE
        )


def _part(gain: float, room: float) -> float:
    if room <= 0:
        return float(np.sign(gain))
    return float(np.clip(gain / room, -1, 1))


def expected_reach(
    scores: AttackScores, trials: int, level: float, *, of_gain: bool = False
) -> float:
    """Plan half the distance between the limits of a share, or of a gain; rough, no claim."""
    hurdle = math.log(2 / (1 - level))
    values = scores.shares - scores.fresh if of_gain else scores.shares
    if scores.around is None:
        slow = math.sqrt(2 * hurdle * float(values.var(ddof=1)) / trials)
        width = 2 if of_gain else 1
        # two gamblers, one wins
        return math.hypot(width * (hurdle + math.log(2)) / trials / 2, slow)
    distance = 0.0
    for end in scores.gain_ends() if of_gain else scores.share_ends():
        if end.people is not None:
            rare = hurdle - (0.0 if scores.always else math.log(OF_PEOPLE))
            people = float(np.mean(end.people.counts)) * trials
            distance += math.sqrt(2 * rare * end.people.variance / people) + rare / people
        if not scores.always:
            rest = np.abs(values - end.cut(values.size).trials)
            slow = math.sqrt(2 * hurdle * float(rest.var(ddof=1)) / trials)
            distance += math.hypot(float(rest.mean()) * hurdle / trials, slow)
    return distance / 2


def exactly(value: float, level: float, trials: int) -> Estimate:
    """Return the limits of a number of all people, in which sampling has no part."""
    return Estimate(value, value, value, level, trials, method="all people")


def counted(values: Floats, level: float) -> Estimate:
    """Return the limits of a constant over trials: the value itself."""
    return exactly(float(values[0]), level, values.size)


def exact_of(experiment: Experiment, number: int, attack: TableAttack) -> tuple[bool, bool]:
    """Return whether an attack's shares, and its baseline, involve no chance.

    Where the people are the whole population, a guess that ignores the release meets no chance, and
    neither does one of ours that draws nothing in a release without any. Decoys are drawn.
    """
    if not experiment.everybody:
        return False, False
    if isinstance(attack, PriorGuess):
        return True, True
    mechanism: Any = experiment.settings[number].mechanism
    exact_counts = mechanism.noise is not None and mechanism.noise.scale == 0
    fixed = exact_counts or getattr(mechanism, "fixed", False)
    return fixed and type(attack) in DRAW_NOTHING, False


def scores_of(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    trials: Sequence[Trial],
    around: Enclosure | None,
    number: int = 0,
) -> AttackScores:
    fresh = np.array([float(t[f"{name}/fresh"]) for t in trials])
    if has_decoy(experiment, attack):
        fresh = np.array([float(t[f"{name}/decoy"][0]) for t in trials])
    shares = np.array([float(t[f"{name}/share"]) for t in trials])
    first, second = exact_of(experiment, number, attack)
    return AttackScores(
        np.clip(shares, 0, 1),
        np.clip(fresh, 0, 1),
        experiment.targets,
        around,
        experiment.success.guesses,
        always_of(attack),
        (first and not np.ptp(shares), second and not np.ptp(fresh)),
    )


def always_of(attack: TableAttack) -> Always | None:
    if isinstance(attack, Ceiling):
        return MOST, LEFT, GAINED
    return (LIKELIEST, LIKELIEST, None) if isinstance(attack, PriorGuess) else None


def has_decoy(experiment: Experiment, attack: TableAttack) -> bool:
    return not experiment.prior_is_exact and not attack.informed


def within(values: Floats, ends: tuple[float, float], level: float, people: int) -> Estimate:
    low, width = ends[0], ends[1] - ends[0]
    scaled = np.clip((values - low) / width, 0.0, 1.0)
    estimate = mean_limits(scaled, confidence=level, people=people)
    scaled_low, scaled_high = estimate.ends
    value = low + width * estimate.value
    return replace(
        estimate, value=value, low=low + width * scaled_low, high=low + width * scaled_high
    )


@dataclass(frozen=True)
class GroupScores:
    """One attack's scores on a group, in the trials that had members."""

    scores: AttackScores  # mean shares of its members, and of the same attempts on fresh people
    guess: Floats  # score of the best guess without the release, shape (trials with members,)
    some: NDArray[np.bool_]  # which of the attack's trials these are, shape (trials,)
    people: int  # number of members in all trials


def enclosure_of_group(
    experiment: Experiment, trials: Sequence[Trial], group: int
) -> Enclosure | None:
    """Return the envelopes of a group; None if they are not known, or no help."""
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)
    if by_secret[group] or expected_members(experiment, group) < FEW:
        return None
    return Enclosure.of_group(trials, group)


def expected_members(experiment: Experiment, group: int) -> float:
    """Return the expected members of a trial in separate releases, by the table; 0 if unknown."""
    people = people_alone(experiment.targets, experiment.queries.values)
    return people * float(experiment.groups.parts(experiment.table)[group])


def group_scores(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    trials: Sequence[Trial],
    group: int,
    around: Enclosure | None,
) -> GroupScores | None:
    """Return an attack's scores on a group in its own trials; None if it met no member."""
    members = _sums(trials, "groups", group)
    some = members > 0
    if not some.any():
        return None
    among = members[some]
    shares = np.clip(_sums(trials, f"{name}/group_share", group)[some] / among, 0, 1)
    fresh = np.clip(_sums(trials, f"{name}/group_fresh", group)[some] / among, 0, 1)
    guess = np.clip(_sums(trials, "group_guess", group)[some] / among, 0, 1)
    always = always_of(attack)
    enough = SOME if experiment.success.guesses == 2 else MORE
    if always is None and expected_members(experiment, group) < enough:
        around = None
    scores = AttackScores(
        shares,
        fresh,
        experiment.targets,  # at most; gamblers bet well on a mean over fewer people too
        around,
        experiment.success.guesses,
        None if around is None else always,
    )
    return GroupScores(scores, guess, some, int(members.sum()))


def guess_of_group(
    experiment: Experiment,
    trials: Sequence[Trial],
    group: int,
    around: Enclosure | None,
    level: float,
) -> Estimate:
    """Bound the score of the best guess without the release on a group that had members.

    It does not depend on others, so members count one by one, if nobody else decides who they are.
    They do so too where rows are drawn without replacement: hits are then a sum of independent
    ones, and less spread than of as many that are alike (Hoeffding 1956, Theorem 4).
    """
    members = _sums(trials, "groups", group)
    some = members > 0
    guessed = _sums(trials, "group_guess", group)
    shares = np.clip(guessed[some] / members[some], 0, 1)
    value = float(shares.mean())
    if experiment.everybody:  # the people played are the population
        return exactly(value, level, shares.size)
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)[group]
    counted = by_secret or not experiment.knows_guess
    if experiment.groups.by_others[group] or (counted and experiment.success.by_column):
        return mean_limits(shares, confidence=level, people=experiment.targets)
    if counted:
        estimate = clopper_pearson(round(guessed.sum()), int(members.sum()), confidence=level)
        low, high = estimate.ends
        return replace(estimate, value=value, low=min(value, low), high=max(value, high))
    people = PeopleSums(guessed, _sums(trials, "group_guess_squares", group), members)
    if around is not None:
        people = around.envelope(LIKELIEST).people or people
    elif experiment.knows_chances:  # few members
        return mean_limits(shares, confidence=level, people=experiment.targets)
    error = (1 - level) / 2
    low, high = min(value, people.lower(error)), max(value, people.upper(error))
    return Estimate(value, low, high, level, shares.size, method=OVER_PEOPLE)


def _sums(trials: Sequence[Trial], key: str, group: int) -> Floats:
    return np.array([float(t[key][group]) for t in trials])
