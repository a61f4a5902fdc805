"""Limits of what one attack scores at one setting: by one method wherever chances are known.

Where they are, every mean is limited between what no attack is beyond (`Enclosure`); else it is a
mean of values in [0, 1], or of differences of such.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import (
    Ceiling,
    MeanField,
    NearestRecord,
    PriorGuess,
    TableAttack,
)
from narcissus.evidence import (
    Envelope,
    advantage_limits,
    difference_limits,
    enclosed_limits,
    mean_limits,
    narrowest_limits,
)
from narcissus.evidence.population import OF_PEOPLE
from narcissus.results import Estimate
from narcissus.study.table.criteria import Criterion
from narcissus.study.table.enclosure import (
    FALL,
    GAINED,
    LEAST,
    LEFT,
    LIKELIEST,
    MOST,
    RISE,
    UNLIKELIEST,
    Enclosure,
)
from narcissus.study.table.experiment import Experiment

Trial = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]

Always = tuple[int, int, int | None]

OVER_PEOPLE = "empirical Bernstein over people"

DRAW_NOTHING = (MeanField, NearestRecord)
"""Attacks whose guesses follow from what they see."""

OF_BASELINE = 0.2
"""Share of the error of an advantage that is kept for its baseline."""


@dataclass(frozen=True)
class AttackScores:
    """What one attack scored.

    Attributes
    ----------
    shares
        In each trial, shape (trials,).
    fresh
        What the same attempts scored without the release: on fresh people, or on a decoy.
    people
        In each trial.
    around
        What no attack is beyond, of at least these trials; None where that is not known.
    guesses
        Among how many an attack chooses for each person.
    always
        For an attack of which it is known: the ends that its share, baseline and gain have on
        average, one by one; None is nothing at all. Nothing but people decides these.
    exact
        Whether nothing about the shares, and about the baseline, is random: the people are all
        that there are, and no chance is in what the attack sees and does.
    """

    shares: Floats
    fresh: Floats
    people: int
    around: Enclosure | None = None
    guesses: int = 0
    always: Always | None = None
    exact: tuple[bool, bool] = (False, False)

    def share(self, level: float) -> Estimate:
        """Limit the mean share."""
        if self.exact[0]:
            return counted(self.shares, level)
        if self.around is None:
            return mean_limits(self.shares, confidence=level, people=self.people)
        low, high = self.share_ends()
        if low is high:
            return self._at(low, self.shares, level)
        return self._between(self.shares, low, high, level)

    def share_ends(self) -> tuple[Envelope, Envelope]:
        """Give what the share is never below and never above; one thing if it is always that."""
        assert self.around is not None
        if self.always is not None:
            end = self.around.envelope(self.always[0])
            return end, end
        return self._worst(LEAST), self.around.envelope(MOST)

    def narrowest(self, value: float, level: float) -> tuple[float, float]:
        """Give the nearest limits that any valid method could set at a mean share.

        Of values that are between two ends: as far from them as values in [0, 1] are from these.
        """
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
        least, most = (float(end.cut(count).trials.mean()) for end in (low, high))
        least, most = min(least, value), max(most, value)
        width = most - least
        place = (value - least) / width if width else 0.0
        near = narrowest_limits(place, count, confidence=level)
        return least + width * near[0], least + width * near[1]

    def baseline(self, level: float) -> Estimate:
        """Limit the mean share without the release."""
        if self.exact[1]:
            return counted(self.fresh, level)
        if self.around is None:
            return mean_limits(self.fresh, confidence=level, people=self.people)
        if self.always is not None:
            return self._at(self.around.envelope(self.always[1]), self.fresh, level)
        best = self.around.envelope(LIKELIEST)
        return self._between(self.fresh, self._worst(UNLIKELIEST), best, level)

    def gain(self, level: float) -> Estimate:
        """Limit the mean of the one less the other."""
        if any(self.exact):
            return self._one_exact(0.0, level)
        if self.around is None:
            return difference_limits(self.shares, self.fresh, confidence=level, people=self.people)
        low, high = self.gain_ends()
        if low is high:
            return self._at(low, self.shares - self.fresh, level)
        return self._between(self.shares - self.fresh, low, high, level)

    def gain_ends(self) -> tuple[Envelope, Envelope]:
        """Give what the gain is never below and never above; one thing if it is always that."""
        assert self.around is not None
        if self.always is not None:
            end = self._gained()
            return end, end
        return self.around.envelope(FALL, sign=-1), self.around.envelope(RISE)

    def above_guess(self, guess: Floats, level: float) -> Estimate:
        """Limit the mean of the share less what the best guess without the release scores."""
        if self.exact[0]:
            return counted(self.shares - guess, level)
        if self.around is None:
            return difference_limits(self.shares, guess, confidence=level, people=self.people)
        ends = self._beyond(Criterion("advantage", 0.0))
        assert ends is not None
        if ends[0] is ends[1]:
            return self._at(ends[0], self.shares - guess, level)
        return self._between(self.shares - guess, *ends, level)

    def advantage(self, level: float) -> Estimate:
        """Limit the gain as a part of what the baseline leaves.

        Between envelopes the gain and the baseline are limited each by themselves: both have few
        trials to pay for, and the quotient's limits follow from theirs.
        """
        if self.around is None and not any(self.exact):
            return advantage_limits(self.shares, self.fresh, confidence=level, people=self.people)
        error = 1 - level
        gain = self.gain(1 - (1 - OF_BASELINE) * error)
        base = self.baseline(1 - OF_BASELINE * error)
        (low, high), (least, most) = _ends(gain), _ends(base)
        value = _part(gain.value, 1 - base.value)
        return replace(
            gain,
            value=value,
            low=min(value, _part(low, 1 - (least if low > 0 else most))),
            high=max(value, _part(high, 1 - (most if high > 0 else least))),
            confidence=level,
        )

    def excess(self, criterion: Criterion, guess: Floats, level: float) -> Estimate:
        """Limit what is above the share that is allowed.

        ``guess`` is what the best guess without the release scores in each trial.
        """
        values = self.shares - criterion.allowed(guess, self.fresh)
        if criterion.name == "gain" and any(self.exact):
            return self._one_exact(criterion.limit, level)
        if self.exact[0]:  # so is the guess
            return counted(values, level)
        ends = self._beyond(criterion)
        if ends is None:
            return within(values, criterion.ends, level, self.people)
        if ends[0] is ends[1]:
            return self._at(ends[0], values, level)
        return self._between(values, *ends, level)

    def _one_exact(self, allowed: float, level: float) -> Estimate:
        """Limit the gain, less what is allowed, where one side of the difference is a number."""
        share, fresh = self.share(level), self.baseline(level)
        (low, high), (least, most) = _ends(share), _ends(fresh)
        value = share.value - fresh.value - allowed
        return replace(share, value=value, low=low - most - allowed, high=high - least - allowed)

    def room(self, criterion: Criterion, excess: float) -> float:
        """Give how far the mean excess is from the end that a limit towards 0 must allow for."""
        ends = self._beyond(criterion)
        if ends is None:
            return criterion.ends[1] - criterion.ends[0]
        low, high = (float(end.cut(self.shares.size).trials.mean()) for end in ends)
        return max(excess - low if excess > 0 else high - excess, abs(excess))

    def _beyond(self, criterion: Criterion) -> tuple[Envelope, Envelope] | None:
        """Give what the excess is never below and never above."""
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
            worst = self._worst(LEAST, allowed=allowed)
            return worst, of(MOST, allowed=allowed)
        return of(LEAST, less=less, allowed=allowed), of(MOST, less=less, allowed=allowed)

    def _worst(self, end: int, allowed: float = 0.0) -> Envelope:
        """Give what is least: with several guesses that is hardly more than nothing."""
        assert self.around is not None
        if self.guesses == 2:
            return self.around.envelope(end, allowed=allowed)
        return Envelope(np.full_like(self.around.guesses, -allowed))

    def _gained(self, allowed: float = 0.0) -> Envelope:
        """Give what an attack gains that always is at one end, less what is allowed."""
        assert self.around is not None
        assert self.always is not None
        if self.always[2] is None:
            return Envelope(np.full_like(self.around.guesses, -allowed))
        return self.around.envelope(self.always[2], allowed=allowed)

    def _between(self, values: Floats, low: Envelope, high: Envelope, level: float) -> Estimate:
        count = values.size
        ends = low.cut(count), high.cut(count)
        return enclosed_limits(values, *ends, confidence=level, people=self.people)

    def _at(self, envelope: Envelope, values: Floats, level: float) -> Estimate:
        """Limit the mean of an envelope itself: nothing but people decides it."""
        error, mean = (1 - level) / 2, float(values.mean())
        if envelope.people is None:
            low = high = float(envelope.trials.mean())
        else:
            low, high = envelope.people.lower(error), envelope.people.upper(error)
        return Estimate(
            mean, min(mean, low), max(mean, high), level, values.size, method=OVER_PEOPLE
        )


def _part(gain: float, room: float) -> float:
    """Give a gain as a part of what was left, cut to [-1, 1]."""
    if room <= 0:
        return float(np.sign(gain))
    return float(np.clip(gain / room, -1, 1))


def expected_reach(
    scores: AttackScores, trials: int, level: float, *, of_gain: bool = False
) -> float:
    """Plan how far apart the limits of a share, or of a gain, will be, halved. Rough; no claim.

    Parameters
    ----------
    scores
        Of at least two trials.
    trials
        That are planned.
    level
        Of both limits together.
    of_gain
        Whether it is about the gain.
    """
    hurdle = math.log(2 / (1 - level))
    values = scores.shares - scores.fresh if of_gain else scores.shares
    if scores.around is None:
        slow = math.sqrt(2 * hurdle * float(values.var(ddof=1)) / trials)
        width = 2 if of_gain else 1
        # two gamblers, one wins
        return math.hypot(width * (hurdle + math.log(2)) / trials / 2, slow)
    found = 0.0
    for end in scores.gain_ends() if of_gain else scores.share_ends():
        if end.people is not None:
            rare = hurdle - (0.0 if scores.always else math.log(OF_PEOPLE))
            people = float(np.mean(end.people.counts)) * trials
            found += math.sqrt(2 * rare * end.people.variance / people) + rare / people
        if not scores.always:
            rest = np.abs(values - end.cut(values.size).trials)
            slow = math.sqrt(2 * hurdle * float(rest.var(ddof=1)) / trials)
            found += math.hypot(float(rest.mean()) * hurdle / trials, slow)
    return found / 2


def counted(values: Floats, level: float) -> Estimate:
    """Return what is the same in every trial, which has no limits but itself."""
    value = float(values[0])
    return Estimate(value, value, value, level, values.size, method="all people")


def exact_of(experiment: Experiment, number: int, attack: TableAttack) -> tuple[bool, bool]:
    """Tell whether no chance is in the shares of an attack, and in its baseline.

    Where the people are all that there are: a guess that ignores the release meets no chance, and
    one of ours that draws nothing meets none in a release that has none. Decoys are drawn.
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
    """Give what an attack scored, with the same attempts on fresh people, or on a decoy."""
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
    """Give the ends at which an attack of ours always is."""
    if isinstance(attack, Ceiling):
        return MOST, LEFT, GAINED
    return (LIKELIEST, LIKELIEST, None) if isinstance(attack, PriorGuess) else None


def has_decoy(experiment: Experiment, attack: TableAttack) -> bool:
    """Say whether an attack is compared with itself on a decoy, and not on fresh people."""
    return not experiment.prior_is_exact and not attack.informed


def within(values: Floats, ends: tuple[float, float], level: float, people: int) -> Estimate:
    """Limit the mean of values in an interval."""
    low, width = ends[0], ends[1] - ends[0]
    scaled = np.clip((values - low) / width, 0.0, 1.0)
    found = mean_limits(scaled, confidence=level, people=people)
    least, most = _ends(found)
    value = low + width * found.value
    return replace(found, value=value, low=low + width * least, high=low + width * most)


def _ends(found: Estimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high
