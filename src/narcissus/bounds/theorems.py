"""The registry of theorems that bound any attacker, and the choice of the best bound.

`narcissus bound`, `refute`, `protect`, `compare` and audits of tables take their theorems from
`THEOREMS` and their number from `best`. A theorem is a `narcissus.bounds.Theorem` in a file of its
family, and one line in `THEOREMS`:

>>> import math
>>> from narcissus.bounds import Needs, Theorem
>>> from narcissus.bounds.theorem import ONE_POINT
>>> UNION = Theorem(
...     id="union",
...     source="Example 2026, Theorem 1",
...     says="The mean number of right guesses over the count (Markov's inequality).",
...     about=("tail",),
...     limit=lambda q: q.r * (q.p * math.exp(q.epsilon) + q.delta) / q.v,
...     needs=Needs(guarantee=ONE_POINT),
...     independent=False,
... )

Its bounds name it, and it answers other questions with its unmet need:

>>> from narcissus.bounds import threat
>>> from narcissus.guarantees import ApproximateDP, GaussianDP
>>> ten = threat(prior=0.01, targets=10)
>>> print(UNION.bound(ten, ApproximateDP(1.0, 1e-3), 2))  # doctest: +ELLIPSIS
PROVED: probability that at least 2 of 10 targets are reconstructed at most 0.140915
  by Example 2026, Theorem 1
  assuming approximate DP with epsilon 1 and delta 0.001 (replace-one neighbours)
  assuming the program that releases keeps this, ...
  assuming no attempt that the attack can make succeeds a priori with probability above 0.01
>>> print(UNION.bound(ten, GaussianDP(1.0), 2).reason)
Example 2026, Theorem 1 needs a guarantee of the kind PureDP or ApproximateDP

`tests/bounds/test_theorems.py` compares every theorem of the registry with the best of all
mechanisms in small worlds, so false ones are found; ``holds=None`` needs a counterexample there.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import probability
from narcissus.bounds.domination import DOMINATION
from narcissus.bounds.interpolation import INTERPOLATION
from narcissus.bounds.listed import LISTED, RANKED, RANKED_TAIL
from narcissus.bounds.one_target import COLUMNS, OPTIMUM, OPTIMUM_PROGRAM
from narcissus.bounds.published import (
    BALLE,
    BAYES_RISK,
    COHEN,
    COROLLARY_3_4,
    DISTRIBUTIONAL,
    F_DP_ONE_RUN,
    HAYES,
    HUMPHRIES,
    ONE_RUN,
    RENYI,
    STOCK,
    THEOREM_3_2,
    THEOREM_3_3,
    THEOREM_3_5,
    YEOM,
)
from narcissus.bounds.swap import ONE_TARGET, SWAP, SWAP_PROGRAM
from narcissus.bounds.theorem import Question, Theorem
from narcissus.bounds.threat import Threat
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee
from narcissus.results import Bound

FloatArray = NDArray[np.float64]

THEOREMS: dict[str, Theorem] = {
    theorem.id: theorem
    for theorem in (
        OPTIMUM,
        OPTIMUM_PROGRAM,
        LISTED,
        RANKED,
        COLUMNS,
        ONE_TARGET,
        SWAP,
        SWAP_PROGRAM,
        INTERPOLATION,
        RANKED_TAIL,
        DOMINATION,
        F_DP_ONE_RUN,
        RENYI,
        STOCK,
        DISTRIBUTIONAL,
        THEOREM_3_2,
        BALLE,
        COHEN,
        COROLLARY_3_4,
        HUMPHRIES,
        YEOM,
        HAYES,
        BAYES_RISK,
        THEOREM_3_3,
        THEOREM_3_5,
        ONE_RUN,
    )
}
"""All theorems by their id, ours first: among equal numbers the first is named."""

_OF_THE_PACKAGE = frozenset(THEOREMS)


def bounds_on(
    threat: Threat, guarantee: Guarantee, at_least: int | None = None, *, expensive: bool = True
) -> list[Bound]:
    """List the bounds of all theorems that apply, in the order of the registry.

    ``at_least`` is the count, or None for the success on one target; without ``expensive`` theorems
    those that cost linear programs or long recursions are left out.
    """
    q = Question(threat, guarantee, at_least)
    answers = [t.answer(q) for t in THEOREMS.values() if expensive or not t.expensive]
    return [answer for answer in answers if isinstance(answer, Bound)]


def best(bounds: Iterable[Bound]) -> Bound:
    """Return the tightest valid bound.

    >>> from narcissus.bounds import threat
    >>> from narcissus.guarantees import PureDP
    >>> best(bounds_on(threat(values=[0.7, 0.2, 0.1]), PureDP(1.0))).value
    0.7
    """
    valid = [bound for bound in bounds if bound.valid]
    if not valid:
        raise InputError("`bounds` must hold at least one that is valid")
    return min(valid, key=lambda bound: bound.value)


def user_theorems() -> dict[str, Theorem]:
    """Return the theorems added to `THEOREMS` in this process; other processes lack them."""
    return {name: theorem for name, theorem in THEOREMS.items() if name not in _OF_THE_PACKAGE}


def for_each(guarantee: Guarantee) -> list[Theorem]:
    """List the theorems with `each`, which need only the people's priors; see `each_success`."""
    return [theorem for theorem in _valid_under(guarantee) if theorem.each is not None]


def of_tails(guarantee: Guarantee) -> list[Theorem]:
    """List the theorems with ``tails``: bounds on all counts of many people at the same time."""
    return [theorem for theorem in _valid_under(guarantee) if theorem.tails is not None]


def _valid_under(guarantee: Guarantee) -> list[Theorem]:
    return [
        theorem
        for theorem in THEOREMS.values()
        if theorem.holds is not None and isinstance(guarantee, theorem.needs.guarantee)
    ]


def each_success(
    priors: ArrayLike, guarantee: Guarantee, success: ArrayLike | None = None
) -> FloatArray:
    """Bound the success on each of many people by the minimum over all theorems, shape (m,).

    ``priors`` has one distribution per person, shape (m, V); ``success`` is None for exact match,
    or a 0/1 matrix, shape (V, Z).
    """
    limits = [t.each(priors, guarantee, success) for t in for_each(guarantee) if t.each]
    return np.minimum.reduce(limits)


def advantage(success: float, prior: float) -> float:
    """Return ``(success - prior) / (1 - prior)``; 0 for a prior of 1.

    Source: Swanberg et al. 2025, section 4 (Narcissus theory 4.8).
    """
    p = probability("prior", prior)
    # A success that equals the prior but for rounding is no advantage.
    if abs(success - p) <= 4 * np.finfo(float).eps:
        return 0.0
    return 0.0 if p == 1 else max(0.0, (probability("success", success) - p) / (1.0 - p))
