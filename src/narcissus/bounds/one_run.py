"""The published p-values of auditing in one run, for comparison with ours.

Source: Narcissus theory 4.7; ours are in `narcissus.bounds.swap`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._validation import integer, non_negative, probability
from narcissus.bounds.binomial import upper_tail
from narcissus.bounds.theorem import ONE_POINT, Needs, Theorem
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, PureDP, require_replace_one

FloatArray = NDArray[np.float64]


def counts(canaries: int, guesses: int, correct: int, values: int = 2) -> tuple[int, int, int, int]:
    """Check the counts of an audit and return ``(m, r, v, k)``."""
    m = integer("canaries", canaries, low=1, high=10**10)
    r = integer("guesses", guesses, low=0)
    if r > m:
        raise InputError(f"`guesses` must be at most the {m} canaries, got {r}")
    v = integer("correct", correct, low=0)
    if v > r:
        raise InputError(f"`correct` must be at most the {r} guesses, got {v}")
    return m, r, v, integer("values", values, low=2)


def one_run_p_value(
    canaries: int, guesses: int, correct: int, epsilon: float, delta: float = 0.0
) -> float:
    """Compute the published p-value against (epsilon, delta)-DP; membership only.

    ``Pr[Bin(r, q) >= v] + 2 m delta max_i Pr[v - i <= Bin(r, q) < v] / i``.

    Source: Steinke, Nasr and Jagielski 2023, Theorem 5.2, as in Narcissus theory 4.7. Not valid
    for ``v`` below the mean; valid in all tail cases tried.

    >>> round(one_run_p_value(1000, 100, 75, 0.673, 1e-4), 4)
    0.05
    """
    m, r, v, _ = counts(canaries, guesses, correct)
    e, d = non_negative("epsilon", epsilon), probability("delta", delta)
    if v == 0:
        return 1.0
    q = float(special.expit(e))
    tail = float(upper_tail(r, v, e))
    if d == 0:
        return tail
    # From where the range covers all that matters on, (1 - tail) / i only falls.
    reach = v - r * q + 12 * math.sqrt(r * q * (1 - q)) + 60
    i = np.arange(1, min(v, max(1, math.ceil(reach))) + 1)
    below = upper_tail(r, v - i, e)
    return min(1.0, tail + 2.0 * m * d * float(((below - tail) / i).max()))


def f_dp_one_run_p_value(
    canaries: int, guesses: int, correct: int, guarantee: Guarantee, values: int = 2
) -> float:
    """Compute the published p-value of f-DP auditing in one run.

    Exact match on ``values`` equally likely values. The recursion over correct guesses runs for
    many levels at once; the p-value is the largest level not rejected, to four digits and rounded
    up.

    Source: Mahloujifar, Melis and Chaudhuri 2024, as in Narcissus theory 4.7. The linear program
    of 4.3 is sharper.

    >>> from narcissus.guarantees import GaussianDP
    >>> round(f_dp_one_run_p_value(100, 100, 80, GaussianDP(1.0)), 4)
    0.4709
    """
    require_replace_one(guarantee)
    m, r, v, k = counts(canaries, guesses, correct, values)
    if v == 0:
        return 1.0
    low, high = math.log(1e-300), 0.0
    for _ in range(4):
        levels = np.linspace(low, high, 129)
        rejected = _rejected(m, r, v, k, guarantee=guarantee, levels=np.exp(levels))
        if not rejected.any():
            return 1.0
        if rejected.all():
            return math.exp(low)
        first = int(np.flatnonzero(rejected)[0])
        low, high = levels[max(first - 1, 0)], levels[first]
    return min(1.0, math.exp(high))


def _rejected(
    m: int, r: int, v: int, k: int, *, guarantee: Guarantee, levels: FloatArray
) -> NDArray[np.bool_]:
    """Return at which levels the guarantee is rejected."""
    right = levels * (v / m)
    wrong = levels * ((r - v) / m)
    for i in range(v - 1, -1, -1):
        needed = np.maximum(wrong, (k - 1) * guarantee.least_alpha(np.minimum(right, 1.0)))
        right = np.minimum(1.0, right + i / (r - i) * (needed - wrong))
        wrong = needed
    return right + wrong > r / m


ONE_RUN = Theorem(
    id="one-run",
    source="Steinke et al. 2023, Theorem 5.2",
    title="one run, 2 m delta",
    says="A tail of right guesses about fair coins, as audits in one run test by it.",
    about=("tail",),
    limit=lambda q: one_run_p_value(q.n, q.r, q.v, q.epsilon, q.delta),
    needs=Needs(guarantee=ONE_POINT, prior=0.5),
    holds=Needs(guarantee=(PureDP,)),
    why="With a delta a mechanism exceeds it for counts below the mean (Narcissus theory 4.2).",
    audits=True,
)
F_DP_ONE_RUN = Theorem(
    id="f-dp-one-run",
    source="Mahloujifar et al. 2024",
    title="f-DP in one run",
    says="A tail of right guesses about equally likely values, by the whole trade-off function.",
    about=("tail",),
    limit=lambda q: f_dp_one_run_p_value(q.n, q.r, q.v, q.guarantee, round(1 / q.p)),
    needs=Needs(uniform=True, formula=True, most_at_least=500),
    inseparable=True,
    dear=True,
    audits=True,
)
