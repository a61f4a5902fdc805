"""The tightest valid bound for a threat, and all the others beside it.

Source: Narcissus theory 4, "Which bound?".
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import between, distribution, integer, probability
from narcissus.bounds.domination import domination
from narcissus.bounds.one_run import f_dp_one_run_p_value
from narcissus.bounds.one_target import optimum
from narcissus.bounds.one_target_program import optimum_program
from narcissus.bounds.published import many_target_bounds, one_target_bounds
from narcissus.bounds.rows import success_matrix
from narcissus.bounds.swap import (
    PROGRAM_POINTS,
    assumptions,
    quantity,
    swap_bound,
    swap_program,
)
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, PureDP
from narcissus.guarantees.base import ProfileGuarantee
from narcissus.results import Bound

FloatArray = NDArray[np.float64]

_LARGEST_SOLVED = 20  # values up to which the one-target program is solved
_LARGEST_RECURSION = 100  # successes up to which the f-DP recursion is run for one tail
_LARGEST_PROGRAM = 1000  # guesses up to which the swap program is solved for one tail
_MOST_VALUES = 1000  # of a worst prior that is written out
_MOST_TARGETS = 10**10  # more than there are people
_LARGEST_CONVOLUTION = 10**7  # targets up to which the distribution of their sum is computed


@dataclass(frozen=True)
class Threat:
    """What the attacker knows beforehand, how many targets there are, and what counts.

    Attributes
    ----------
    prior
        Prior success of the best attempt on each target; from ``values`` if they are given.
    values
        The prior of each target's value, if it is known; more is proved then. For exact match
        the worst one with that best guess if only ``prior`` is known; see `threat`.
    success
        0/1 matrix (values x guesses): when a guess is right; None for exact match.
    targets
        How many independent targets.
    guesses
        How many of them are guessed, fixed before the release is seen.
    inseparable
        ``kappa`` of theory 4.3; from ``values`` if they are given.
    exact_match
        Whether success means naming the very value.
    known
        Whether ``values`` is the prior as it is, and not the worst one with that best guess.
    """

    prior: float
    values: tuple[float, ...] | None
    success: tuple[tuple[float, ...], ...] | None
    targets: int
    guesses: int
    inseparable: float
    exact_match: bool
    known: bool


def threat(
    *,
    prior: float | None = None,
    values: ArrayLike | None = None,
    success: ArrayLike | None = None,
    within: int | None = None,
    targets: int = 1,
    guesses: int | None = None,
    inseparable: float | None = None,
    exact_match: bool = False,
) -> Threat:
    """Describe a threat.

    Parameters
    ----------
    prior
        Limit of the prior success of every attempt on one target; or ``values``. An attempt may
        cover several values, unless ``exact_match`` is on.
    values
        The distribution of each target's value, shape (V,), in the order of the values.
    success
        With ``values``: 0/1 matrix, shape (V, Z); None for exact match.
    within
        With ``values``: a guess is right if at most so many places from the value; 0 is exact
        match.
    targets, guesses, inseparable
        See `Threat`; ``inseparable`` is computed where ``values`` are given or success is exact
        match, else 0.
    exact_match
        With ``prior``: success means naming the very value, as in membership. With ``values`` it
        follows from ``success`` and ``within``.

    Notes
    -----
    *Exact match from the best guess alone.* What the best attacker reaches is, for each mechanism
    and attacker, linear in each target's prior, hence convex once the best are taken. So among
    the priors without a value above ``p`` it is largest at a corner: as many values of mass ``p``
    as fit, and one with the rest. A bound for that prior holds for all of them.

    Examples
    --------
    >>> threat(prior=0.375, exact_match=True).values
    (0.375, 0.375, 0.25)
    """
    n = integer("targets", targets, low=1, high=_MOST_TARGETS)
    r = n if guesses is None else integer("guesses", guesses, low=0)
    if r > n:
        raise InputError(f"`guesses` must be at most the {n} targets, got {r}")
    if (prior is None) == (values is None):
        raise InputError("`prior` or `values` must be given, and not both")
    if values is None:
        if success is not None or within is not None:
            raise InputError("`success` and `within` need `values`, the whole prior")
        p = probability("prior", prior)
        if exact_match:
            if inseparable is not None:
                raise InputError("`inseparable` is computed for exact match; leave it out")
            worst, collision = _worst_prior(p)
            return Threat(p, worst, None, n, r, collision, exact_match=True, known=False)
        kappa = 0.0 if inseparable is None else probability("inseparable", inseparable)
        return Threat(p, None, None, n, r, kappa, exact_match=False, known=False)
    if exact_match or inseparable is not None:
        name = "exact_match" if exact_match else "inseparable"
        raise InputError(f"`{name}` follows from `values`; leave it out")
    row = distribution("values", values)
    if within is not None:
        if success is not None:
            raise InputError("`success` and `within` must not both be given")
        reach = integer("within", within, low=0)
        place = np.arange(row.size)
        matrix = (np.abs(place[:, None] - place[None, :]) <= reach).astype(np.float64)
    else:
        matrix = np.eye(row.size) if success is None else success_matrix(success, row.size)
    # One guess for each value, in whatever order.
    exact = matrix.shape == (row.size, row.size) and all(
        bool((matrix.sum(axis=axis) == 1).all()) for axis in (0, 1)
    )
    # Some guess is right for x and wrong for y: only then does the swap tell anything.
    told = (matrix[:, None, :] > matrix[None, :, :]).any(axis=2)
    return Threat(
        min(1.0, float((row @ matrix).max())),
        tuple(row.tolist()),
        None if exact else tuple(map(tuple, matrix.tolist())),
        n,
        r,
        max(0.0, 1.0 - float(row @ told @ row)),
        exact_match=exact,
        known=True,
    )


def _worst_prior(p: float) -> tuple[tuple[float, ...] | None, float]:
    """Give the corner of all priors without a value above ``p``, and its collision probability.

    None for a prior of too many values to write out.
    """
    if p < 1e-300:  # so many values that none is ever drawn twice
        return None, 0.0
    full = math.floor(1.0 / p)
    rest = max(0.0, 1.0 - full * p)
    # Where 1 / p is whole but for rounding there is no rest.
    tail = (rest,) if rest > full * np.finfo(float).eps else ()
    values = (p,) * full + tail if full < _MOST_VALUES else None
    return values, min(1.0, full * p * p + rest * rest)


def success_bounds(threat_: Threat, guarantee: Guarantee, *, programs: bool = True) -> list[Bound]:
    """List all bounds on the success of one target.

    ``programs`` off leaves out the exact program of 4.6, which is solved for up to 20 values.
    """
    found = one_target_bounds(
        guarantee,
        threat_.prior,
        inseparable=threat_.inseparable,
        exact_match=threat_.exact_match,
    )
    if threat_.values is not None:
        value = float(optimum(threat_.values, guarantee, threat_.success)[0])
        pure = isinstance(guarantee, PureDP)  # already exact
        if programs and not pure and len(threat_.values) <= _LARGEST_SOLVED:
            exact = optimum_program(threat_.values, guarantee, threat_.success)[0]
            value = min(value, float(exact))
        said = (guarantee.describe(), _about_prior(threat_))
        name = "Narcissus theory 4.6 (one-target optimum)"
        found.insert(0, Bound(value, "success on one target", name, said))
    return found


def tail_bounds(
    threat_: Threat, guarantee: Guarantee, at_least: int, *, programs: bool = True
) -> list[Bound]:
    """List all bounds on the probability that at least so many targets fall.

    ``programs`` off leaves out what needs a linear program of the size of the number of guesses.
    """
    n, p, r, kappa = threat_.targets, threat_.prior, threat_.guesses, threat_.inseparable
    v = integer("at_least", at_least)
    found = [swap_bound(n, p, guarantee, v, guesses=r, inseparable=kappa)]
    several = guarantee.tangents(2).size > 1
    if programs and several and r <= _LARGEST_PROGRAM:
        found.append(swap_program(n, p, guarantee, v, guesses=r, inseparable=kappa))
    if threat_.values is not None and n <= _LARGEST_CONVOLUTION:
        found.append(_dominated(threat_, guarantee, v))
        # From points of a profile the recursion would know no more than the program, and be slow.
        curve = several and not isinstance(guarantee, ProfileGuarantee)
        if programs and curve and 0 < v <= min(r, _LARGEST_RECURSION) and _uniform(threat_):
            found.append(_recursion(threat_, guarantee, v))
    return found + many_target_bounds(guarantee, p, n, v, guesses=r)


def _about_prior(threat_: Threat) -> str:
    if threat_.known:
        return "the prior of the target's value is as given"
    return f"no value is likelier a priori than {threat_.prior:g}, and a guess must name it"


def _dominated(threat_: Threat, guarantee: Guarantee, v: int) -> Bound:
    row = np.array(threat_.values)
    bound = domination(row, guarantee, v, threat_.success, repeats=[threat_.targets])
    # Fewer guesses than targets: what is not guessed cannot fall, so a count above it is 0.
    return dataclasses.replace(
        bound,
        value=0.0 if v > threat_.guesses else bound.value,
        assumptions=(*bound.assumptions, _about_prior(threat_)),
    )


def _uniform(threat_: Threat) -> bool:
    """Tell whether the values are equally likely and must be matched exactly."""
    row = threat_.values
    return threat_.exact_match and row is not None and len(row) > 1 and max(row) == min(row)


def _recursion(threat_: Threat, guarantee: Guarantee, v: int) -> Bound:
    """Give the published recursion, which uses the whole trade-off function and no tangents."""
    n, r, k = threat_.targets, threat_.guesses, round(1 / threat_.prior)
    return Bound(
        f_dp_one_run_p_value(n, r, v, guarantee, k),
        quantity(n, v),
        "Mahloujifar et al. 2024 (f-DP in one run)",
        assumptions(guarantee, threat_.prior, r, n, threat_.inseparable),
    )


def best(bounds: list[Bound]) -> Bound:
    """Give the tightest of the bounds that hold.

    Examples
    --------
    >>> from narcissus.guarantees import PureDP
    >>> best(success_bounds(threat(values=[0.7, 0.2, 0.1]), PureDP(1.0))).value
    0.7
    """
    valid = [b for b in bounds if b.valid]
    if not valid:
        raise InputError("`bounds` must hold at least one that is valid")
    return min(valid, key=lambda b: b.value)


def at_most(threat_: Threat, guarantee: Guarantee, confidence: float) -> Bound:
    """Give the number of fallen targets that is not exceeded with a confidence.

    Parameters
    ----------
    confidence
        In [0, 1).

    Returns
    -------
    Bound
        With a whole number as its value.
    """
    level = between("confidence", confidence, 0, 1, open_high=True)
    allowed = 1.0 - level

    def closed(v: int) -> Bound:
        return best(tail_bounds(threat_, guarantee, v, programs=False))

    low, high = -1, threat_.guesses
    chosen: Bound | None = None
    while high - low > 1:
        middle = (low + high) // 2
        bound = closed(middle + 1)
        if bound.value <= allowed:
            high, chosen = middle, bound
        else:
            low = middle
    # The closed forms say no more. The program is sharper and dear, so every third point of the
    # profile, which is cheaper and never below all of them, first comes near the answer.
    for points in _program_points(threat_, guarantee):
        high, sharper = _fewer(threat_, guarantee, allowed, high, points)
        chosen = sharper or chosen
    if chosen is None:
        chosen = Bound(0.0, "", "every target may fall", ())
    return Bound(
        float(high),
        f"number of {threat_.targets} targets that fall, with confidence {level:g}",
        chosen.theorem,
        chosen.assumptions,
    )


def _program_points(threat_: Threat, guarantee: Guarantee) -> list[FloatArray]:
    """Give the points for the swap program, few first; none where it has nothing to add."""
    points = guarantee.tangents(PROGRAM_POINTS)
    several = guarantee.tangents(2).size > 1
    return [points[::3], points] if several and threat_.guesses <= _LARGEST_PROGRAM else []


def _fewer(
    threat_: Threat, guarantee: Guarantee, allowed: float, high: int, points: FloatArray
) -> tuple[int, Bound | None]:
    """Go down from ``high`` by doubling steps, then by bisection, while the program allows it."""
    low, step = -1, 1
    chosen: Bound | None = None
    doubling = True
    while high - low > 1:
        middle = max(high - step, low + 1) if doubling else (low + high) // 2
        bound = swap_program(
            threat_.targets,
            threat_.prior,
            guarantee,
            middle + 1,
            guesses=threat_.guesses,
            inseparable=threat_.inseparable,
            epsilons=points,
        )
        if bound.value <= allowed:
            high, chosen, step = middle, bound, 2 * step
        else:
            low, doubling = middle, False
    return high, chosen


def advantage(success: float, prior: float) -> float:
    """Give ``(success - prior) / (1 - prior)``; 0 for a prior of 1.

    Notes
    -----
    Source: Swanberg et al. 2025, section 4 (Narcissus theory 4.8).
    """
    p = probability("prior", prior)
    # A success that equals the prior but for rounding is no advantage.
    if abs(success - p) <= 4 * np.finfo(float).eps:
        return 0.0
    return 0.0 if p == 1 else max(0.0, (probability("success", success) - p) / (1.0 - p))
