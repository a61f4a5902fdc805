"""Limits of a mean of values that in each trial lie between others, whose means people tell.

What an attack recovers in a trial can be nearly anything: no valid limits of a mean over 100 trials
are nearer than 3.6% of the range in which a trial could have been (`narrowest_limits`). But it is
never below the worst guesses, nor above the best, release by release; and what those are worth on
average is a matter of single people, of whom there are many in a trial. So the mean is the lower
envelope's, limited with people as units, plus that of what lies above it, which is never negative:
only that part pays for few trials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import fraction, integer, same_trials
from narcissus.errors import InputError
from narcissus.evidence.betting import Temper, plug_in
from narcissus.evidence.population import population_mean_upper
from narcissus.results import Estimate

FloatArray = NDArray[np.float64]

OF_PEOPLE = 0.1
"""Share of the error of a side that is kept for the envelope's mean: with people as units, a
smaller error costs least there."""

_HAIR = 1e-9  # of rounding, by which a value may be beyond its envelope


@dataclass(frozen=True)
class PeopleSums:
    """Sums over people of a number that each of them has, trial by trial.

    Attributes
    ----------
    totals, squares
        Of the numbers and of their squares, over the people of each trial, shape (trials,).
    counts
        How many people these are, one number or one a trial; see `population_mean_upper`.
    low, high
        Between which each number lies.
    """

    totals: FloatArray
    squares: FloatArray
    counts: FloatArray | int
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of_moments(
        cls, moments: FloatArray, counts: FloatArray | int, *, less: float, allowed: float
    ) -> PeopleSums:
        """Give those of ``x - less g - allowed`` from the sums of x, x^2, g, g^2, x g.

        Both numbers of a person lie in [0, 1]; ``moments`` has the shape (trials, 5).
        """
        x, xx, g, gg, xg = moments.T
        bare = x - less * g
        squares = xx + less**2 * gg - 2 * less * xg - 2 * allowed * bare + counts * allowed**2
        return cls(bare - counts * allowed, squares, counts, -less - allowed, 1 - allowed)

    @property
    def mean(self) -> float:
        """Mean over the people played."""
        return float(self.totals.sum() / np.broadcast_to(self.counts, self.totals.shape).sum())

    @property
    def variance(self) -> float:
        """Over the people played."""
        people = float(np.broadcast_to(self.counts, self.totals.shape).sum())
        return max(0.0, float(self.squares.sum()) / people - self.mean**2)

    def upper(self, error: float) -> float:
        """Limit the population's mean from above; it is larger with chance ``error`` at most."""
        width = self.high - self.low
        total = np.clip((self.totals - self.counts * self.low) / width, 0, self.counts)
        square = self.squares - 2 * self.low * self.totals + self.counts * self.low**2
        square = np.clip(square / width**2, total**2 / np.maximum(self.counts, 1), total)
        high = population_mean_upper(total, square, self.counts, confidence=1 - error).high
        assert high is not None
        return self.low + width * high

    def lower(self, error: float) -> float:
        """Limit it from below: the upper limit of the opposite numbers."""
        opposite = PeopleSums(-self.totals, self.squares, self.counts, -self.high, -self.low)
        return -opposite.upper(error)


@dataclass(frozen=True)
class Envelope:
    """What values are never beyond, trial by trial.

    Attributes
    ----------
    trials
        In each trial, shape (trials,).
    people
        Numbers of independent people whose mean over the population is that of ``trials``; they
        may be of more trials. None where ``trials`` is one number that is known.
    """

    trials: FloatArray
    people: PeopleSums | None = None

    @property
    def opposite(self) -> Envelope:
        """The same with the other sign."""
        known = self.people
        turned = known and PeopleSums(
            -known.totals, known.squares, known.counts, -known.high, -known.low
        )
        return Envelope(-self.trials, turned)

    def cut(self, trials: int) -> Envelope:
        """Give it for the first trials, with all that is known of people."""
        return Envelope(self.trials[:trials], self.people)


def enclosed_limits(
    values: ArrayLike,
    below: Envelope,
    above: Envelope,
    *,
    confidence: float = 0.95,
    people: int = 1,
    quantity: str = "",
) -> Estimate:
    """Limit the mean of independent values that lie between two envelopes, whatever they are.

    ``E[value] = E[below] + E[value - below]``. The first term is limited by `PeopleSums`, at a
    tenth of the side's error. The second is a mean of numbers that are not negative, whose lower
    limit no far end of a range spoils: gamblers bet on each trial that it is above a claim ``m``
    (see `narcissus.evidence.betting`), can lose ``m`` a unit at most, and a claim that they refuse
    is too small. The sum fails only if one of the terms does, so that the side's error holds
    however the two depend on each other; the upper limit is that of the opposite values.

    The number of trials, the confidence and ``people`` must be fixed before the first trial.

    Parameters
    ----------
    values
        One value a trial, shape (trials,), trials independent and alike, in the order of play.
    below, above
        What they are never below and never above, of the same trials.
    confidence
        Level in (0, 1) of both limits together.
    people
        Over how many targets each value is a mean: gamblers expect spreads of that size. Any
        number is valid.
    quantity
        What is averaged, in words.

    Raises
    ------
    InputError
        A value is beyond its envelope.

    Examples
    --------
    >>> all_right = Envelope(np.ones(100))
    >>> small = Envelope(np.full(100, 0.7))
    >>> found = enclosed_limits(np.full(100, 0.72), small, all_right, people=100)
    >>> round(found.low, 4), round(found.high, 4)
    (0.719, 0.7305)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise InputError(f"`values` must be a non-empty vector, got shape {array.shape}")
    same_trials(values=array, below=below.trials)
    same_trials(values=array, above=above.trials)
    error = (1 - fraction("confidence", confidence)) / 2
    some = integer("people", people, low=1)
    mean = float(array.mean())
    low = _from_below(array, below, error, some)
    high = -_from_below(-array, above.opposite, error, some)
    method = "betting between envelopes"
    return Estimate(mean, min(mean, low), max(mean, high), confidence, array.size, quantity, method)


def _from_below(values: FloatArray, below: Envelope, error: float, people: int) -> float:
    rest = values - below.trials
    if rest.min() < -_HAIR:
        raise InputError(f"a value is {-rest.min():.3g} beyond its envelope")
    rest = np.maximum(rest, 0.0)
    if below.people is None:
        return float(below.trials.mean()) + _least_mean(rest, error, people)
    if not rest.any():  # the envelope itself; but that is not known beforehand
        return below.people.lower(OF_PEOPLE * error)
    return below.people.lower(OF_PEOPLE * error) + _least_mean(
        rest, (1 - OF_PEOPLE) * error, people
    )


def _least_mean(values: FloatArray, error: float, people: int) -> float:
    """Limit a mean from below of numbers that are not negative and have no other end.

    One gambler expects the spread of a mean over people and stakes nearly all, which with few
    trials brings a limit near the best that there is; a little of the unit is kept for one who
    expects a spread that is smaller by as much again (values that hardly leave their envelope),
    and for one who would survive values that are mostly nothing.
    """
    part = 1 / people if people > 1 else 0.1
    tempers = Temper(part, 0.99, 0.75), Temper(part**2, 0.99, 0.125), Temper(1.0, 0.5, 0.125)
    weights = np.ones_like(values)
    gamblers = plug_in(values, weights, middle=0.0, tempers=tempers, hurdle=-math.log(error))
    return gamblers.refused_up_to(lambda m: values - m, lambda m: m, 0.0, float(values.max()))
