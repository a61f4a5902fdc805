"""Bounds on distinguishing two neighbouring data sets: true-positive rate and precision.

An attacker calls "in" (or one of two values); a false positive is such a call where the other is
true. Both bounds are read off the trade-off function, which holds in both directions.

Source: Dong, Roth and Su 2022, Definition 2.3; Narcissus theory 4.8.
"""

from __future__ import annotations

import numpy as np

from narcissus._validation import between, probability
from narcissus.guarantees import Guarantee, require_replace_one
from narcissus.results import Bound

_ROUNDING = 1e-12
"""Limits are rounded outwards by it, relatively: more than a normal quantile loses in its tails."""


def true_positive_rate(guarantee: Guarantee, fpr: float) -> Bound:
    """Bound the true-positive rate of any attack with false-positive rate at most ``fpr``.

    ``guarantee`` must be for the question asked; see `narcissus.guarantees.as_asked`.

    Notes
    -----
    ``1 - f(fpr)``, ``f`` the trade-off function. Source: Dong, Roth and Su 2022, Definition 2.3.

    Examples
    --------
    >>> from narcissus.guarantees import GaussianDP
    >>> round(true_positive_rate(GaussianDP(1.0), 0.01).value, 6)  # Phi(Phi^-1(0.01) + 1)
    0.092362
    """
    require_replace_one(guarantee)
    rate = probability("fpr", fpr)
    value = min(1.0, float(guarantee.power(rate)) * (1 + _ROUNDING))
    return Bound(
        value,
        f"true positive rate at a false positive rate of {rate:g}",
        "Dong, Roth and Su 2022, Definition 2.3",
        (guarantee.describe(),),
    )


def precision(guarantee: Guarantee, recall: float, base_rate: float) -> Bound:
    """Bound the precision of any attack with at least the given recall.

    Parameters
    ----------
    guarantee
        See `true_positive_rate`.
    recall
        Share of members found, in (0, 1); attacks that find fewer may be more precise.
    base_rate
        Share of members among the records in question, in (0, 1).

    Notes
    -----
    With ``a`` the least false-positive rate at that recall it is ``base_rate recall / (base_rate
    recall + (1 - base_rate) a)``. ``recall / a`` falls with the recall, since the trade-off
    function is convex. Source: Narcissus theory 4.8.

    Examples
    --------
    >>> from narcissus.guarantees import GaussianDP
    >>> round(precision(GaussianDP(1.0), 0.1, 0.5).value, 6)
    0.898812
    """
    require_replace_one(guarantee)
    found = between("recall", recall, 0, 1, open_low=True, open_high=True)
    members = between("base_rate", base_rate, 0, 1, open_low=True, open_high=True)
    # One minus a rate loses up to a unit in the last place of 1.
    least = float(guarantee.least_alpha(found)) * (1 - _ROUNDING) - 4 * np.finfo(float).eps
    called = members * found
    value = float(min(1.0, called / (called + (1 - members) * max(0.0, least)) * (1 + _ROUNDING)))
    return Bound(
        value,
        f"precision at a recall of {found:g} and a base rate of {members:g}",
        "Narcissus theory 4.8 (precision)",
        (guarantee.describe(),),
    )
