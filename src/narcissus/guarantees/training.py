"""The guarantee of DP-SGD, by the program that trains: how it samples, and by what it divides.

A number that is right for one program is no bound for another one. TensorFlow Privacy and most
training loops shuffle; Opacus and an option of JAX Privacy draw by Poisson sampling. Opacus divides
by the expected size of a batch, which a record more or less may change; others by a constant, or by
the size that was drawn.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, get_args

from narcissus._optional import optional
from narcissus._validation import integer, one_of, positive, probability
from narcissus.errors import InputError
from narcissus.guarantees.base import EXACT_NOISE, Adjacency, Guarantee, Secret
from narcissus.guarantees.curves import LOSS_INTERVAL, from_event
from narcissus.guarantees.parametric import GaussianDP

Sampling = Literal["poisson", "fixed", "shuffled"]
"""How the records of a batch are drawn; see `dp_sgd`."""
Divisor = Literal["constant", "expected", "sampled"]
"""By what a noisy sum of gradients is divided; see `dp_sgd`."""

_PURPOSE = "A guarantee by privacy loss distributions"
_REMEDY = 'divide by a constant that no record changes (`divisor="constant"`)'


def dp_sgd(
    noise: float,
    rate: float,
    steps: int,
    *,
    sampling: Sampling = "poisson",
    divisor: Divisor = "constant",
    adjacency: Adjacency | None = None,
    secret: Secret = "value",
    interval: float = LOSS_INTERVAL,
) -> Guarantee:
    """Account for DP-SGD for a value or for membership, by how the program samples and divides.

    Poisson sampling: dp-accounting's privacy loss distributions (Doroshenko et al. 2022), whose
    discretised losses are pessimistic, so that the profile is a valid bound. For added and removed
    records it is the worse of both orders at each epsilon, and `power` follows ``min(f, f^-1)``,
    made convex (Dong, Roth and Su 2022, Theorem 4.2). The other two: Narcissus theory 3.1.

    noise: Noise multiplier, standard deviation over clipping norm; above 0. It is added to the sum
        of clipped gradients, before any division.
    rate: Expected share of the records in a batch, in [0, 1]; for shuffled batches above 0.
    steps: Number of steps, at least 1.
    sampling: ``"poisson"``: each record by a separate coin in each step. ``"fixed"``: a new batch
        of one fixed size in each step, drawn without replacement. ``"shuffled"``: passes through
        all records in random order, in batches of one fixed size; no chance of being left out is
        counted, so noise must be much larger.
    divisor: Of the noisy sum. ``"constant"``: by a number that no record changes, or by none.
        ``"expected"``: by the rate times the number of records, floored or not, which a record more
        or less changes. ``"sampled"``: by the size that was drawn.
    adjacency: ``"replace-one"`` (default for a value, and for shuffled batches) or
        ``"add-remove"`` (default for membership).
    interval: See `from_event`; not used for shuffled batches.

    InputError: Nothing is proved of such a program: the message says what to change.
    """
    sigma = positive("noise", noise)
    share = probability("rate", rate)
    times = integer("steps", steps, low=1)
    one_of("sampling", sampling, get_args(Sampling))
    one_of("divisor", divisor, get_args(Divisor))
    by_default = "replace-one" if secret == "value" or sampling == "shuffled" else "add-remove"
    around = adjacency or by_default
    _refuse(sampling, divisor, around)
    program = _program(sigma, share, times, sampling, divisor)
    how: dict[str, Any] = {"secret": secret, "program": program}
    if sampling == "shuffled":
        passes = _passes(share, times)
        return GaussianDP(2.0 * math.sqrt(passes) / sigma, adjacency=around, **how)
    if sampling == "fixed":  # who comes into the batch puts somebody else out: two norms apart
        sigma /= 2.0
    events = optional("dp_accounting", extra="accounting", purpose=_PURPOSE).dp_event
    gaussian = events.GaussianDpEvent(sigma)
    step = gaussian if math.isclose(share, 1.0) else events.PoissonSampledDpEvent(share, gaussian)
    composed = events.SelfComposedDpEvent(step, times)
    return replace(from_event(composed, adjacency=around, interval=interval), **how)


def training_program(steps: int, noise: float, clip: float = 1.0) -> tuple[str, ...]:
    """Say what training on all records in each step must do for its noise to be a guarantee.

    steps: Number of steps. noise: Standard deviation over ``clip``, the largest L2 norm.
    """
    return (
        f"each of {steps:,} steps takes all records, clips each record's gradient to norm {clip:g} "
        f"and adds normal noise of {noise:g} such norms to their sum",
        EXACT_NOISE,
        "nothing else is chosen by looking at the records, such as a setting or when to stop",
    )


def _refuse(sampling: Sampling, divisor: Divisor, around: Adjacency) -> None:
    if sampling == "shuffled" and around != "replace-one":
        raise InputError(
            '`sampling="shuffled"`: a record more moves others to other batches, and nothing is '
            'proved of that; ask about `adjacency="replace-one"`'
        )
    if sampling == "poisson" and divisor == "sampled":
        raise InputError(
            '`divisor="sampled"`: the mean tells how many records were drawn, and the accountant '
            f'does not count that: {_REMEDY}, or draw batches of one size (`sampling="fixed"`)'
        )
    if sampling == "poisson" and divisor == "expected" and around == "add-remove":
        raise InputError(
            '`divisor="expected"`: a record more or less changes the divisor, and with it the '
            f"noise; in many dimensions that tells which it was: {_REMEDY}, or ask about "
            '`adjacency="replace-one"`'
        )


def _passes(rate: float, steps: int) -> int:
    """Return in how many batches a record may be: passes that are begun, the last one included."""
    if rate == 0:
        raise InputError('`rate` must be above 0 for `sampling="shuffled"`')
    in_a_pass = max(1, math.floor(1.0 / rate + 1e-9))  # a last batch that is smaller may be dropped
    return math.ceil(steps / in_a_pass)


def _program(
    sigma: float, rate: float, steps: int, sampling: Sampling, divisor: Divisor
) -> tuple[str, ...]:
    """Say what the training program must do for the number to be a bound."""
    draws = {
        "poisson": f"each of {steps:,} steps draws each record with chance {rate:g}, by a "
        "separate coin (Poisson sampling, not shuffled batches)",
        "fixed": f"each of {steps:,} steps draws a new batch of one fixed size without "
        f"replacement, at most a share of {rate:g} of the records",
        "shuffled": f"{steps:,} steps go through all records in random order, in batches of one "
        f"fixed size, a share of {rate:g} of the records",
    }
    divides = {
        "constant": "is divided by a number that is the same for all records, or is left a sum",
        "expected": "is divided by the expected size of a batch",
        "sampled": "is divided by the size of the batch",
    }
    hidden = "" if sampling != "poisson" else "; nothing tells how many records were drawn"
    return (
        f"{draws[sampling]}",
        f"each record's gradient is clipped, and exact normal noise of {sigma:g} clipping norms is "
        f"added to their sum, which {divides[divisor]}{hidden}",
        "nothing else is chosen by looking at the records, such as a setting or when to stop",
    )
