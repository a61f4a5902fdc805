"""Confidence limits on a mean of values enclosed by others, trial by trial, with people as units.

The recovered share of a trial can be nearly anything: no valid limits on a mean over 100 trials are
closer than 3.6% of a trial's possible range (`narrowest_limits`). But it lies between the shares of
the worst and of the best guesses on the same release, whose means average over people, of whom each
trial has many. So the mean is the lower envelope's, limited with people as units, plus the mean of
the non-negative excess: only that part suffers from few trials.
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
    """Sums over people of a number per person, trial by trial."""

    # `totals`, `squares`: Sums of the numbers and of their squares over the people of each
    # trial, shape (trials,)
    totals: FloatArray
    squares: FloatArray
    counts: FloatArray | int  # number of people, one or one per trial; see `population_mean_upper`
    low: float = 0.0  # `low`, `high`: Range of each number
    high: float = 1.0

    @classmethod
    def of_moments(
        cls, moments: FloatArray, counts: FloatArray | int, *, less: float, allowed: float
    ) -> PeopleSums:
        """Compute the sums of ``x - less g - allowed`` from the sums of x, x^2, g, g^2, x g.

        Both numbers of a person are in [0, 1]; ``moments`` has shape (trials, 5).
        """
        x, xx, g, gg, xg = moments.T
        bare = x - less * g
        squares = xx + less**2 * gg - 2 * less * xg - 2 * allowed * bare + counts * allowed**2
        return cls(bare - counts * allowed, squares, counts, -less - allowed, 1 - allowed)

    @property
    def mean(self) -> float:
        """Mean over the people of all trials."""
        return float(self.totals.sum() / np.broadcast_to(self.counts, self.totals.shape).sum())

    @property
    def variance(self) -> float:
        """Variance over the people of all trials."""
        people = float(np.broadcast_to(self.counts, self.totals.shape).sum())
        return max(0.0, float(self.squares.sum()) / people - self.mean**2)

    def upper(self, error: float) -> float:
        """Compute an upper limit on the population's mean; it fails with chance ``error``."""
        width = self.high - self.low
        total = np.clip((self.totals - self.counts * self.low) / width, 0, self.counts)
        square = self.squares - 2 * self.low * self.totals + self.counts * self.low**2
        square = np.clip(square / width**2, total**2 / np.maximum(self.counts, 1), total)
        high = population_mean_upper(total, square, self.counts, confidence=1 - error).high
        assert high is not None
        return self.low + width * high

    def lower(self, error: float) -> float:
        """Compute a lower limit: the upper limit of the negated numbers."""
        opposite = PeopleSums(-self.totals, self.squares, self.counts, -self.high, -self.low)
        return -opposite.upper(error)


@dataclass(frozen=True)
class Envelope:
    """Bounds on values, trial by trial."""

    trials: FloatArray  # the bound in each trial, shape (trials,)
    # numbers of independent people whose population mean is the mean of ``trials``; they may
    # come from more trials. None if ``trials`` is one known number.
    people: PeopleSums | None = None

    @property
    def opposite(self) -> Envelope:
        """The negated envelope."""
        known = self.people
        turned = known and PeopleSums(
            -known.totals, known.squares, known.counts, -known.high, -known.low
        )
        return Envelope(-self.trials, turned)

    def cut(self, trials: int) -> Envelope:
        """Restrict it to the first trials, keeping all people."""
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
    """Compute confidence limits on the mean of independent values between two arbitrary envelopes.

    ``E[value] = E[below] + E[value - below]``. The first term is limited by `PeopleSums`, with a
    tenth of the side's error. The second is a mean of non-negative numbers, whose lower limit no
    far end of a range spoils: gamblers bet on each trial that it exceeds a claim ``m`` (see
    `narcissus.evidence.betting`) and lose at most ``m`` per unit, and a claim they reject is too
    small. The sum fails only if one of the terms does, so the side's error holds under any
    dependence between them; the upper limit is the lower limit of the negated values.

    The number of trials, the confidence and ``people`` must be fixed before the first trial.

    Parameters
    ----------
    values
        One value per trial, shape (trials,), trials independent and alike, in the order of play.
    below, above
        Lower and upper envelope of the same trials.
    confidence
        Level in (0, 1) of both limits together.
    people
        Number of targets averaged per trial, which sets the spread gamblers expect; any is valid.
    quantity
        The averaged quantity, in words.

    Raises
    ------
    InputError
        A value is outside its envelope.

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
    """Compute a lower limit on the mean of non-negative numbers without an upper end.

    One gambler expects the spread of a mean over people and stakes nearly all, which with few
    trials comes close to the best possible limit. A little capital is kept for one who expects a
    spread smaller by the same factor again (values that hardly leave their envelope), and for one
    who would survive values that are mostly 0.
    """
    part = 1 / people if people > 1 else 0.1
    tempers = Temper(part, 0.99, 0.75), Temper(part**2, 0.99, 0.125), Temper(1.0, 0.5, 0.125)
    weights = np.ones_like(values)
    gamblers = plug_in(values, weights, middle=0.0, tempers=tempers, hurdle=-math.log(error))
    return gamblers.refused_up_to(lambda m: values - m, lambda m: m, 0.0, float(values.max()))
