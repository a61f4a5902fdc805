"""Iterative Bayesian update: the prior that explains the outputs of many people best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import positive
from narcissus.channels.channel import channel, prior_for
from narcissus.errors import InputError

MOST_STEPS = 100_000


@dataclass(frozen=True, eq=False)
class ExplainedPrior:
    """A prior of greatest likelihood, as near as asked.

    Attributes
    ----------
    prior
        Shape (secrets,).
    short
        What the mean log likelihood of an output is short of the greatest, at most, in nats.
    steps
        How many it took.
    """

    prior: NDArray[np.float64]
    short: float
    steps: int


def explain(matrix: Any, counts: ArrayLike, *, tolerance: float = 1e-9) -> ExplainedPrior:
    """Find the prior under which the outputs of many people are likeliest.

    Parameters
    ----------
    matrix
        The channel through which everybody's secret went.
    counts
        How often each output came, shape (outputs,).
    tolerance
        In nats an output; after 100,000 steps what there is.

    Raises
    ------
    InputError
        An output came that no secret gives.

    Notes
    -----
    Expectation-maximisation of a concave problem; ``max_s sum_o f_o C_so / q_o - 1`` limits what is
    missing. Source: Agrawal and Aggarwal 2001; ElSalamouny and Palamidessi 2020.
    """
    c, near = channel(matrix), positive("tolerance", tolerance)
    seen = np.asarray(counts, dtype=np.float64)
    if seen.shape != (c.shape[1],) or (seen < 0).any() or not 0 < seen.sum() < np.inf:
        raise InputError(f"`counts` must be {c.shape[1]} numbers of at least 0, not all 0")
    never = (seen > 0) & (c.dense.max(axis=0) == 0)
    if never.any():
        raise InputError(f"output {c.outputs[int(never.argmax())]!r} came, and no secret gives it")
    rows, share = c.dense[:, seen > 0], seen[seen > 0] / seen.sum()
    prior, short, steps = prior_for(c, None).copy(), np.inf, 0
    while short > near and steps < MOST_STEPS:
        grow = rows @ (share / (prior @ rows))
        short = float(grow.max()) - 1
        steps += 1
        if short > near:
            prior *= grow
            prior /= prior.sum()
    return ExplainedPrior(prior, max(0.0, short), steps)
