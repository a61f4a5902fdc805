"""Inference from the sampled people, or samples of a prior, to their population.

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
from numpy.typing import ArrayLike
from scipy import special

from narcissus._arrays import Floats
from narcissus._validation import between, fraction, integer, non_negative, probability, same_trials
from narcissus.bounds.binomial import PoissonBinomial
from narcissus.bounds.theorem import posterior
from narcissus.errors import InputError
from narcissus.evidence.betting import Temper, plug_in
from narcissus.results import Bound, Estimate

_MOST = 0.9  # largest stake; any number below 1 is valid


def population_mean_upper(
    sums: ArrayLike,
    squares: ArrayLike,
    counts: ArrayLike,
    *,
    confidence: float = 0.95,
    quantity: str = "",
) -> Estimate:
    """Compute an upper limit on a population's mean of a number in [0, 1] per person.

    Needs only the sums of each trial. Predictable empirical Bernstein limits with one stake ``s``
    and one guess ``g`` of the mean for all people of a trial, chosen from the trials before it:
    ``exp(s (m - x) - psi(s) (x - g)^2)`` with ``psi(s) = -log(1 - s) - s`` is at most ``exp(s (m -
    g)) (1 + s (g - x))`` (Fan, Grama and Liu 2015), whose mean for independently drawn people is at
    most 1. Also for people drawn without replacement within a trial: the mean of a product of ``1 +
    s (g - x)`` over them is an elementary symmetric mean, at most the power of its mean factor
    (Maclaurin's inequality). Trials are independent.

    Source: Waudby-Smith and Ramdas 2023, Theorem 2; one stake for all people of a trial, and trials
    without replacement, are ours.

    sums, squares: Sum over the people of each trial of their numbers, and of the squares, shape
        (trials,), trials in the order of play.
    counts: Number of people: one whole number, or one per trial (members of a group), possibly 0.
        Given the counts, the people must be drawn as described above.
    confidence: Level in (0, 1) of the upper limit, the only one; like the number of trials fixed
        beforehand.

    >>> round(population_mean_upper([50.0] * 20, [26.0] * 20, 100).high, 4)
    0.5072
    """
    total, square, people = _checked(sums, squares, counts)
    level = fraction("confidence", confidence)
    hurdle = -math.log(1 - level)
    everybody, whole = float(people.sum()), float(total.sum())
    seen = 1 + _before(people)
    guess = (0.5 + _before(total)) / seen
    rest = np.maximum(square - 2 * guess * total + people * guess**2, 0.0)
    variance = (0.25 + _before(rest)) / seen
    stake = np.minimum(_MOST, np.sqrt(2 * hurdle / (everybody * variance)))
    spread = (-np.log1p(-stake) - stake) * rest
    limits = (hurdle + np.cumsum(stake * total + spread)) / np.cumsum(stake * people)
    mean = whole / everybody
    return Estimate(
        mean,
        None,
        max(mean, min(1.0, float(limits.min()))),
        level,
        int(everybody),
        quantity,
        method="predictable empirical Bernstein",
        why="an upper limit was asked for",
    )


def population_tail(mean: float, people: int, *, spent: float = 0.0) -> Floats:
    """Bound ``Pr[at least v]`` over people drawn from a population, ``v = 0 .. people + 1``.

    Given the people, a theorem states ``Pr[at least v] <= Pr[sum of Bernoulli(o_i) >= v] + spent``,
    person ``i`` having the number ``o_i``. For people drawn independently the sum is binomial, with
    the population's mean of ``o``. If they are drawn without replacement, the generating function
    of the sum is an elementary symmetric mean of linear functions with negative roots. It has only
    real roots, and the sum is again one of independent Bernoullis with that mean; by Hoeffding
    1956, Theorem 4, its tail is at most the binomial one from one above the expected count. Below
    that the bound is 1.

    ``mean`` may be an upper limit on the population's mean of ``o``, such as
    `population_mean_upper`: then all entries hold jointly, at its level. ``spent`` is an upper
    bound on the theorem's addition (failures that delta allows), averaged over people.

    >>> tails = population_tail(0.5, 100)
    >>> round(float(tails[60]), 4), float(tails[50]), float(tails[101])
    (0.0284, 1.0, 0.0)
    """
    q, n = probability("mean", mean), integer("people", people, low=1)
    extra = non_negative("spent", spent)
    tails = np.minimum(PoissonBinomial(np.full(n, q)).tails() + extra, 1.0)
    tails[np.arange(n + 2) < n * q + 1] = 1.0
    tails[-1] = 0.0  # more than everybody is impossible
    return tails


def _before(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)[:-1]])


def _checked(
    sums: ArrayLike, squares: ArrayLike, counts: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Check the sums; leave out trials without people."""
    total, square = np.asarray(sums, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    people = np.asarray(counts, dtype=np.float64)
    if total.ndim != 1 or square.shape != total.shape or people.shape not in ((), total.shape):
        raise InputError(
            "`sums`, `squares` and `counts` must have one number a trial, "
            f"got shapes {total.shape}, {square.shape} and {people.shape}"
        )
    people = np.broadcast_to(people, total.shape)
    if not ((people >= 0) & (people == np.floor(people))).all() or not people.any():
        raise InputError("`counts` must be whole numbers of people, some above 0")
    hair = 1e-9 * (1 + people)  # of rounding
    floor = total**2 / np.maximum(people, 1)
    if not ((total >= -hair) & (total <= people + hair)).all():
        raise InputError("`sums` must be of numbers in [0, 1]: from 0 to the count")
    if not ((square >= floor - hair) & (square <= total + hair)).all():
        raise InputError("`squares` must be of the same numbers as `sums`")
    some = people > 0
    return total[some], square[some], people[some]


OF_PEOPLE = 0.1
"""Share of the error of a side that is kept for the envelope's mean: with people as units, a
smaller error costs least there."""

_HAIR = 1e-9  # of rounding, by which a value may leave its envelope


@dataclass(frozen=True)
class PeopleSums:
    """Sums over people of a number per person, trial by trial."""

    # `totals`, `squares`: Sums of the numbers and of their squares over the people of each
    # trial, shape (trials,)
    totals: Floats
    squares: Floats
    counts: Floats | int  # number of people, one or one per trial; see `population_mean_upper`
    low: float = 0.0  # `low`, `high`: Range of each number
    high: float = 1.0

    @classmethod
    def of_moments(
        cls, moments: Floats, counts: Floats | int, *, less: float, allowed: float
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
        return float(self.totals.sum() / np.broadcast_to(self.counts, self.totals.shape).sum())

    @property
    def variance(self) -> float:
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

    @property
    def opposite(self) -> PeopleSums:
        return PeopleSums(-self.totals, self.squares, self.counts, -self.high, -self.low)

    def lower(self, error: float) -> float:
        """Compute a lower limit: the upper limit of the negated numbers."""
        return -self.opposite.upper(error)


@dataclass(frozen=True)
class Envelope:
    """Bounds on values, trial by trial."""

    trials: Floats  # the bound in each trial, shape (trials,)
    # numbers of independent people whose population mean is the mean of ``trials``; they may
    # come from more trials. None if ``trials`` is one known number.
    people: PeopleSums | None = None

    @property
    def opposite(self) -> Envelope:
        return Envelope(-self.trials, self.people and self.people.opposite)

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

    The number of trials, the confidence and ``people``, those averaged per trial, which set the
    spread that gamblers expect, must be fixed before the first trial; trials are independent and
    alike. Raises `InputError` for a value outside its envelope.

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


def _from_below(values: Floats, below: Envelope, error: float, people: int) -> float:
    rest = values - below.trials
    if rest.min() < -_HAIR:
        raise InputError(f"a value is {-rest.min():.3g} beyond its envelope")
    rest = np.maximum(rest, 0.0)
    if below.people is None:
        return float(below.trials.mean()) + _least_mean(rest, error, people)
    if not rest.any():  # the envelope itself, which is not known beforehand
        return below.people.lower(OF_PEOPLE * error)
    return below.people.lower(OF_PEOPLE * error) + _least_mean(
        rest, (1 - OF_PEOPLE) * error, people
    )


def _least_mean(values: Floats, error: float, people: int) -> float:
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


def upper_priors(hits: ArrayLike, samples: ArrayLike, *, error: float, attempts: int) -> Floats:
    """Compute simultaneous upper limits on prior successes from samples of the prior.

    Source: Narcissus theory 4.4 (a prior known only from samples): Clopper and Pearson 1934 at
    ``error / (n attempts)`` each. An attacker who picks the attempt that is rarest in the same
    sample breaks limits for a single attempt.

    hits: Number of samples for which each target's attempt would have been right, shape (n,).
    samples: Number of independent draws from the target's prior; broadcasts to (n,).
    error: Probability, over the samples, that any limit fails; in (0, 1).
    attempts: Number of attempts available on each target after seeing anything that depends on
        these samples: for a guessed value, the number of values. 1 only if the attempt was fixed
        without them. There is no default: with 1, if the attacker names the value seen least of ten
        equal ones in 30 samples, limits at error .05 fail in .37 of cases.
    """
    alpha = between("error", error, 0, 1, open_low=True, open_high=True)
    right = np.atleast_1d(np.asarray(hits, dtype=np.float64))
    total = np.broadcast_to(np.asarray(samples, dtype=np.float64), right.shape)
    whole = (right == np.floor(right)) & (total == np.floor(total))
    if right.ndim != 1 or not (whole & (right >= 0) & (right <= total) & (total >= 1)).all():
        raise InputError("`hits` must be whole numbers from 0 to `samples`, a vector")
    each = alpha / (right.size * integer("attempts", attempts, low=1))
    limits = np.ones(right.shape)
    short = right < total
    limits[short] = special.betainccinv(right[short] + 1, total[short] - right[short], each)
    return limits


def estimated_tail(
    hits: ArrayLike,
    samples: ArrayLike,
    epsilon: float,
    delta: float,
    at_least: int,
    *,
    error: float,
    attempts: int,
) -> Bound:
    """Bound the tail when each target's prior success is known from samples only.

    The tail at the upper limits (see `upper_priors`), plus ``n delta``, plus ``error`` for limits
    that fail.

    Source: Narcissus theory 4.4; the tail is Swanberg et al. 2025, Corollary 3.4, which leaves
    estimated priors to future work.
    """
    e, d = non_negative("epsilon", epsilon), probability("delta", delta)
    v = integer("at_least", at_least)
    limits = upper_priors(hits, samples, error=error, attempts=attempts)
    tail = PoissonBinomial(np.atleast_1d(posterior(limits, e))).tail(v)
    return Bound(
        min(1.0, tail + limits.size * d + error) if v <= limits.size else 0.0,
        f"probability, over samples and release, that at least {v} of {limits.size} targets "
        "are reconstructed",
        "Narcissus theory 4.4 (estimated prior)",
        (
            f"(epsilon, delta)-DP with epsilon {e:g}, delta {d:g} (replace-one neighbours)",
            "the samples are independent draws from each target's prior",
            "the samples are independent of the attempt"
            if attempts == 1
            else f"the attempt on a target is one of {attempts}, whatever the samples",
        ),
    )
