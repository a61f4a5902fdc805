"""Composition: several observations of one secret, repeated use, and one channel after another.

The exact channel where it fits, the theorem's bound where not.
Source: Chatzikokolakis et al. 2023, section IV (Theorems 3 and 4) and section V-E (capacity).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, special

from narcissus._outwards import lower, upper
from narcissus._validation import between, integer
from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import Channel, channel, same_secrets
from narcissus.channels.closed_forms.gaussian import Gaussian
from narcissus.channels.closed_forms.laplace import Laplace
from narcissus.channels.closed_forms.location import LocationFamily
from narcissus.channels.log_ratio import GaussianLogRatio, LaplaceLogRatio, LogRatio
from narcissus.channels.measures import capacity
from narcissus.channels.uses import overlap_after
from narcissus.channels.worst_after import worst_after
from narcissus.errors import InputError, TooLargeError
from narcissus.results import Grade, Result

MOST_ENTRIES = 50_000_000
"""Largest composition that is written out, in matrix entries (400 MB)."""
MOST_WRITTEN = 200_000
"""Largest composition that is written out where only its security is asked for."""
LEAST_NORMAL = 2.3e-308
"""Numbers below it lose digits."""
MOST_USES = 1_000_000
"""Most outputs about one secret."""


def _refuse_size(what: str, entries: float, most: int) -> None:
    if entries > most:
        raise TooLargeError(
            f"the exact {what} would have {entries:.3g} entries ({8 * entries / 2**30:.3g} GiB), "
            f"more than `most` = {most:g}; ask `parallel_security` or `repeated_security` for the "
            "theorem's bound instead"
        )


def parallel(*matrices: Any, most: int = MOST_ENTRIES) -> Channel:
    """Return the channel of an attacker who sees the outputs of all channels for the same secret.

    Parameters
    ----------
    matrices
        Channels over the same secrets.
    most
        Largest number of entries.

    Raises
    ------
    InputError
        Other secrets, or none given.
    TooLargeError
        The product of the numbers of outputs explodes; the message says the size.

    Source: Chatzikokolakis et al. 2023, section IV-A.
    """
    if not matrices:
        raise InputError("`parallel` needs at least one channel")
    channels = [channel(m) for m in matrices]
    n = channels[0].shape[0]
    _refuse_size("parallel composition", n * math.prod(float(c.shape[1]) for c in channels), most)
    first = channels[0]
    values, names = first.dense, first.outputs
    for other in channels[1:]:
        same_secrets("in parallel", first.secrets, other.secrets)
        values = (values[:, :, None] * other.dense[:, None, :]).reshape(n, -1)
        names = tuple(f"{a}|{b}" for a, b in itertools.product(names, other.outputs))
    return Channel(np.ascontiguousarray(values), first.secrets, names)


def repeat(matrix: Any, times: int, *, most: int = MOST_ENTRIES) -> Channel:
    """Return the channel of an attacker who sees ``times`` independent outputs of the same secret.

    Their order tells nothing, so outputs are the counts of each symbol: as informative as the
    sequence, and far fewer.

    Raises
    ------
    TooLargeError
        Too many different counts; the message says how many.
    """
    c = channel(matrix)
    times = integer("times", times, low=1, high=MOST_USES)
    n, m = c.shape
    if times == 1:
        return c
    _refuse_size("repeated use", n * float(special.comb(m + times - 1, times)), most)
    counts = np.array(list(_counts(m, times)), dtype=np.int64)
    # Multinomial coefficients and powers in logarithms; an output that a secret never gives and
    # that occurs makes the whole outcome impossible for it.
    weights = special.gammaln(times + 1) - special.gammaln(counts + 1).sum(axis=1)
    dense = c.dense
    logs = np.log(np.where(dense > 0, dense, 1.0))
    values = np.exp(logs @ counts.T + weights)
    values[((dense == 0).astype(float) @ counts.T) > 0] = 0.0
    names = tuple(
        "+".join(f"{k}*{c.outputs[i]}" for i, k in enumerate(row) if k) for row in counts.tolist()
    )
    return Channel(values, c.secrets, names)


def _counts(symbols: int, total: int) -> Any:
    """Yield all ways to split ``total`` over ``symbols``."""
    for bars in itertools.combinations(range(total + symbols - 1), symbols - 1):
        edges = (-1, *bars, total + symbols - 1)
        yield [edges[i + 1] - edges[i] - 1 for i in range(symbols)]


def cascade(first: Any, second: Any) -> Channel:
    """Return the channel whose output is that of ``second``, fed with the output of ``first``.

    Raises
    ------
    InputError
        The outputs of the first are not the secrets of the second.
    TooLargeError
        The product would not fit; the message says its size.

    Source: Chatzikokolakis et al. 2023, section IV-B.
    """
    one, two = channel(first), channel(second)
    if one.shape[1] != two.shape[0]:
        raise InputError(
            f"the first channel has {one.shape[1]} outputs and the second takes {two.shape[0]}: "
            "in a cascade they must be the same"
        )
    if not (one.is_sparse and two.is_sparse):
        entries = float(one.shape[0]) * two.shape[1]
        if entries > MOST_ENTRIES:
            raise TooLargeError(
                f"the cascade would have {entries:.3g} entries ({8 * entries / 2**30:.3g} GiB); "
                "give sparse channels, or ask `cascade_security` for the theorem's bound"
            )
    values: Any = one.matrix @ two.matrix
    if one.is_sparse and two.is_sparse:
        values = sparse.csr_array(values)
    return Channel(values, one.secrets, two.outputs)


@dataclass(frozen=True)
class ComposedSecurity(Result):
    """Bayes security and capacity of a composition.

    Attributes
    ----------
    beta_star
        Exact, or a proved lower limit.
    beta_star_at_most
        Exact, or a proved upper limit; 1 where only a theorem is known.
    capacity
        Exact, or a proved upper limit.
    exact
        Whether they are exact.
    theorem
        Where a limit comes from; "" for exact numbers.
    """

    beta_star: float
    capacity: float
    exact: bool
    theorem: str = ""
    beta_star_at_most: float = 1.0

    @property
    def value(self) -> float:
        """The same as ``beta_star``."""
        return self.beta_star

    @property
    def gap(self) -> float:
        """Relative distance of the limits of ``beta*``; 0 where it is exact."""
        if self.exact or self.beta_star_at_most == 0:
            return 0.0
        return 1 - self.beta_star / self.beta_star_at_most

    @property
    def grade(self) -> Grade:
        """Always 'proved'."""
        return "proved"

    def __str__(self) -> str:
        if self.exact:
            return f"EXACT: Bayes security {self.beta_star:.6g}, capacity {self.capacity:.6g}"
        at_most = self.beta_star_at_most
        # what is rounding differs from one processor to the next
        gap = f"gap {self.gap:.1g}" if self.gap > 1e-9 else "gap below 1e-9"
        if at_most < LEAST_NORMAL:
            gap = "less than can be written with all its digits"
        above = "" if at_most == 1 else f" and at most {upper(at_most, 7)} ({gap})"
        return (
            f"PROVED: Bayes security at least {lower(self.beta_star, 7)}{above}, capacity at most "
            f"{upper(self.capacity)}\n  by {self.theorem}"
        )


_PARALLEL = "the law of the log ratio, Narcissus theory 6.4 (capacity: Espinoza and Smith 2012)"
_CASCADE = "Chatzikokolakis et al. 2023, Theorem 4 (capacity: Espinoza and Smith 2012)"


def parallel_security(
    *matrices: Any, most: int = MOST_WRITTEN, tolerance: float = 1e-6
) -> ComposedSecurity:
    """Return ``beta*`` and capacity of channels in parallel: exact, or between limits that hold.

    See `mixed_security`.
    """
    return mixed_security([(m, 1) for m in matrices], most=most, tolerance=tolerance)


def repeated_security(
    matrix: Any, times: int, *, most: int = MOST_WRITTEN, tolerance: float = 1e-6
) -> ComposedSecurity:
    """Return ``beta*`` and capacity of repeated use: exact, or between limits that hold.

    See `mixed_security`.

    Examples
    --------
    >>> from narcissus.channels import KaryRandomizedResponse
    >>> many = repeated_security(KaryRandomizedResponse(10, 1).channel(), 20)
    >>> round(many.beta_star, 7)
    0.2335758
    """
    return mixed_security([(matrix, times)], most=most, tolerance=tolerance)


def mixed_security(
    uses: Any, *, most: int = MOST_WRITTEN, tolerance: float = 1e-6
) -> ComposedSecurity:
    """Return ``beta*`` and capacity of several channels, each used several times, about one secret.

    Parameters
    ----------
    uses
        Channels over the same secrets, each with how often it is used; independent given the
        secret.
    most
        Largest number of entries of a channel that is written out, which gives both exactly.
    tolerance
        Beyond that, how near the limits of ``beta*`` are to lie, as a share; they hold anyway.

    Returns
    -------
    ComposedSecurity
        The capacity of what is not written out is limited by the product of the capacities.

    Notes
    -----
    Source: Narcissus theory 6.4, sharper than Chatzikokolakis et al. 2023, Theorem 3, which says
    ``beta* >= prod beta*``.
    """
    between("tolerance", tolerance, 0, 1, open_low=True)
    uses = list(uses)
    if uses and all(isinstance(one, LocationFamily) for one, _ in uses):
        return _of_numbers(uses, tolerance)
    if any(isinstance(one, LocationFamily) for one, _ in uses):
        raise InputError(
            "noise on numbers (Laplace, Gaussian) composes with its like only: give the other's "
            "channel over the same numbers as noise, or all as tables"
        )
    given = [(channel(m), integer("times", k, low=1, high=MOST_USES)) for m, k in uses]
    if not given:
        raise InputError("composition needs at least one channel")
    for other, _ in given[1:]:
        same_secrets("in parallel", given[0][0].secrets, other.secrets)
    try:
        whole = parallel(*(repeat(c, k, most=most) for c, k in given), most=most)
    except TooLargeError:
        pass
    else:
        value = beta_star(whole).value
        return ComposedSecurity(value, capacity(whole), True, beta_star_at_most=value)
    secrets = given[0][0].shape[0]
    log_capacity = sum(k * math.log(capacity(c)) for c, k in given)
    found = worst_after(given, tolerance).overlap
    return ComposedSecurity(
        found.low,
        float(secrets) if log_capacity > math.log(secrets) else math.exp(log_capacity),
        False,
        _PARALLEL,
        found.high,
    )


def _of_numbers(uses: list[tuple[LocationFamily, int]], tolerance: float) -> ComposedSecurity:
    """Compose noise on the same numbers: the two ends are told apart best by each, and by all."""
    laws: list[tuple[LogRatio, int]] = []
    squares, points, log_capacity = 0.0, {form.secrets for form, _ in uses}, 0.0
    if len(points) > 1:
        raise InputError(f"noise on the same numbers has as many `points`, got {sorted(points)}")
    for form, times in uses:
        k = integer("times", times, low=1, high=MOST_USES)
        log_capacity += k * math.log(form.capacity)
        if isinstance(form, Gaussian):  # together as one with the root of the sum of squares
            squares += k * (form.span / form.sigma) ** 2
        elif isinstance(form, Laplace):
            laws.append((LaplaceLogRatio(form.span / form.scale), k))
        else:
            raise InputError(f"noise on numbers must be Laplace or Gaussian, got {form!r}")
    capacity_at_most = math.exp(min(log_capacity, math.log(points.pop())))
    if not laws:
        value = Gaussian(math.sqrt(squares), 1.0).beta_star
        return ComposedSecurity(value, capacity_at_most, False, _PARALLEL, value)
    if squares:
        laws.append((GaussianLogRatio(math.sqrt(squares)), 1))
    found = overlap_after(laws, tolerance)
    return ComposedSecurity(found.low, capacity_at_most, False, _PARALLEL, found.high)


def cascade_security(beta_stars: Any, capacities: Any) -> ComposedSecurity:
    """Limit a cascade of channels known by their ``beta*`` and capacities alone.

    Source: Chatzikokolakis et al. 2023, Theorem 4: ``beta*(C1 C2) >= max``; capacity ``<= min``.
    """
    return ComposedSecurity(max(beta_stars), min(capacities), False, _CASCADE)
