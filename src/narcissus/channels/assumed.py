"""What a user may assume of a channel, to get a lower limit where samples alone give none.

Upper limits never need any of it. A lower limit that rests on it says so.

Source: Narcissus theory 6.10.

Lower limits of channels whose likelihood ratios are assumed to be monotone.

The best event of a pair is then a half-line, the easiest pair the two ends, and the best rule for
all secrets a staircase. There are few of these, so that even continuous outputs have a limit.

Source: Karlin and Rubin 1956; Narcissus theory 6.10.

Lower limits of channels that are assumed to treat all secrets alike, as randomised response.

One chance then says all: that a secret is shown as itself. All samples tell of it.

Source: Narcissus theory 6.10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from narcissus._validation import did_you_mean
from narcissus.channels.lower_limits import (
    ALIKE,
    Counts,
    below,
    of_events,
    risk_low,
    security_low,
    thinned,
)
from narcissus.channels.pairs import Pair
from narcissus.channels.samples import Samples, restricted
from narcissus.errors import InputError


def symmetric_security(kept: float, secrets: int) -> float:
    """Return `beta*` from the chance that a secret is shown as itself.

    kept: that chance, in [0, 1]; each other secret is shown with the same share of the rest.
    secrets: how many, at least 2.
    """
    other = (1 - kept) / (secrets - 1)
    return min(1.0, 2 * min(kept, other) + (secrets - 2) * other)


def symmetric_security_low(data: Samples, side: float) -> float:
    """Limit `beta*` from below: at least so large but for chance ``side``.

    Notes
    -----
    `beta*` rises with the chance to be shown as oneself up to ``1 / secrets`` and falls from there:
    only the limit on the far side can be the one that fails, so both may have all of ``side``.
    """
    assert data.shown is not None
    right = int((data.shown[data.output] == data.secret).sum())
    secrets = len(data.names)
    low, high = below(right, data.size, side), 1 - below(data.size - right, data.size, side)
    return min(symmetric_security(low, secrets), symmetric_security(high, secrets))


def symmetric_risk_low(data: Samples, side: float) -> float:
    """Limit the Bayes risk from below: at least so large but for chance ``side``.

    Notes
    -----
    The best rule says of an output either that secret or one that is the same for all (the
    commonest); where a secret is shown as itself less often than as another, the commonest, or of
    its own output one other. The best of these in hindsight errs no more often than the true one.
    """
    assert data.shown is not None
    size = len(data.names)
    counts = np.zeros((size, size), dtype=np.int64)  # output, secret
    np.add.at(counts, (data.shown[data.output], data.secret), 1)
    own = np.diag(counts)
    right = int(np.maximum(own[:, None], counts).sum(axis=0).max())
    others = counts.copy()
    np.fill_diagonal(others, 0)
    right = max(right, int((others.sum(axis=0) + others.max(axis=1)).max()))
    return below(data.size - right, data.size, side)


def monotone_security_low(data: Samples, low: int, high: int, side: float) -> float:
    """Limit `beta*` from below: at least so large but for chance ``side``.

    low, high: numbers of the smallest and the largest secret.
    """
    two = restricted(data, np.array([low, high]))
    assert two.points is not None
    each = np.bincount(two.secret)
    is_alike = each.max() <= ALIKE * each.min()
    counts = two.counts(thinned(two.secret) if is_alike else None)
    rising = np.argsort(two.points[:, 0], kind="stable")
    rows: Counts = np.rint(counts[rising].toarray().T).astype(np.int64)
    sizes = int(rows[0].sum()), int(rows[1].sum())
    # of the smaller secret above each threshold, of the larger up to it; and the other way round
    above = np.r_[sizes[0], sizes[0] - np.cumsum(rows[0])]
    upto = np.r_[0, np.cumsum(rows[1])]
    return of_events(np.r_[above, sizes[0] - above], np.r_[upto, sizes[1] - upto], sizes, side)


def monotone_risk_low(data: Samples, order: Sequence[int], side: float) -> float:
    """Limit the Bayes risk from below: at least so large but for chance ``side``.

    Parameters
    ----------
    order
        Numbers of the secrets, from the smallest to the largest.

    Notes
    -----
    The best staircase in hindsight is found by dynamic programming: up to each output, the most
    samples that are right if the last said is each of the secrets.
    """
    assert data.points is not None
    rising = np.argsort(data.points[:, 0], kind="stable")
    counts = data.counts()[rising][:, list(order)]
    right = 0.0
    for turned in (counts, counts[:, ::-1]):
        best = np.zeros(len(order))
        rows = turned.tocsr()
        for row in range(rows.shape[0]):
            best = np.maximum.accumulate(best)
            start, stop = rows.indptr[row], rows.indptr[row + 1]
            best[rows.indices[start:stop]] += rows.data[start:stop]
        right = max(right, float(best.max()))
    return below(data.size - round(right), data.size, side)


SYMMETRIC = (
    "the secrets are alike: each is shown as itself with one chance, and as each other one with "
    "another, as in randomised response"
)
MONOTONE = (
    "the larger a secret, the likelier are larger outputs throughout (or smaller ones throughout): "
    "the likelihood ratio of two secrets is monotone"
)
NO_LOWER = (
    "outputs are continuous (they hardly repeat): without assumptions no finite sample rules out "
    "that the secret can be read off them, so there is no lower limit"
)


@dataclass(frozen=True)
class Assumed:
    """What is taken for granted of a channel."""

    # Secrets are alike and are shown as one another, as in randomised response
    symmetric: bool = False
    # Larger secrets make larger outputs likelier throughout (or smaller ones throughout)
    monotone: bool = False
    # Names of the secrets of which two are the easiest to tell apart; empty: of all
    among: tuple[str, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """Return what is assumed, as noun clauses."""
        found = [SYMMETRIC] if self.symmetric else [MONOTONE] if self.monotone else []
        if self.among:
            named = ", ".join(map(repr, self.among[:6])) + (", ..." if len(self.among) > 6 else "")
            found.append(f"no other two secrets are easier to tell apart than two among {named}")
        return tuple(found)

    def part(self, data: Samples) -> Samples:
        """Return the samples of the secrets that `beta*` is searched among."""
        if not self.among:
            return data
        for name in self.among:
            if name not in data.names:
                raise InputError(
                    f"there are no samples of the secret {name!r}{did_you_mean(name, data.names)}"
                )
        return restricted(data, np.array(sorted(data.names.index(name) for name in self.among)))

    def known_pair(self, part: Samples) -> Pair | None:
        """Return the pair that is easiest to tell apart, if that is assumed."""
        return ends(part) if self.monotone else None

    def lows(self, data: Samples, side: float) -> tuple[float | None, float | None]:
        """Limit the Bayes risk and `beta*` from below, each but for chance ``side``."""
        part = self.part(data)
        if self.symmetric:
            return symmetric_risk_low(data, side), symmetric_security_low(data, side)
        if self.monotone:
            low, high = ends(part)
            return (
                monotone_risk_low(data, ordered(data), side),
                monotone_security_low(part, low, high, side),
            )
        return risk_low(data, side), security_low(part, side)

    def check(self, data: Samples) -> None:
        """Refuse what does not fit the samples.
        Raises InputError: secrets or outputs that the assumption makes no sense for.
        """
        self.part(data)
        if self.symmetric and data.shown is None:
            raise InputError(
                "`symmetric` is for channels that show one of the secrets, as randomised response "
                "does: here some outputs are none of them"
            )
        if self.monotone:
            ordered(data)
            if data.points is None or data.points.shape[1] != 1:
                raise InputError("`monotone` needs outputs of one column of numbers")


NOTHING = Assumed()
"""The default: no assumption."""


class Assumptions(TypedDict, total=False):
    """What `estimate` may take for granted; upper limits never need it."""

    # True: the output is a secret, the true one with one chance and each other one with
    # another, as in randomised response. Leave the other assumptions out then.
    symmetric: bool
    # True: larger secrets make larger outputs likelier throughout, or smaller ones throughout
    # (one column of numbers; secrets that are numbers). Continuous outputs have a lower
    # limit.
    monotone: bool
    among: Sequence[Any] | None  # Two of these secrets are the easiest to tell apart
    pair: Sequence[Any] | None  # These two are; instead of ``among``


def assumed(
    *, symmetric: bool = False, monotone: bool = False, among: Any = None, pair: Any = None
) -> Assumed:
    """Put together what a user assumes; parameters as in `Assumptions`.
    Raises InputError: assumptions that do not go together; fewer than two secrets.
    """
    if symmetric and (monotone or among is not None or pair is not None):
        raise InputError("`symmetric` says all about the channel: leave the other assumptions out")
    if among is not None and pair is not None:
        raise InputError("give `among` or `pair`, not both")
    named = _names("among" if pair is None else "pair", among if pair is None else pair)
    if pair is not None and len(named) != 2:
        raise InputError(f"`pair` must be two different secrets, got {len(named)}")
    return Assumed(symmetric, monotone, named)


def _names(option: str, given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise InputError(f"`{option}` must be a list of secrets, got {given!r}")
    listed: list[Any] = list(given)
    named = tuple(dict.fromkeys(str(one) for one in listed))
    if len(named) < 2:
        raise InputError(f"`{option}` must name two different secrets or more")
    return named


def ordered(data: Samples) -> list[int]:
    """Return the numbers of the secrets in the order of their values.
    Raises InputError: secrets that are no numbers.
    """
    try:
        values = [float(name) for name in data.names]
    except ValueError as error:
        raise InputError(f"`monotone` needs secrets that are numbers: {error}") from error
    return [int(place) for place in np.argsort(values, kind="stable")]


def ends(data: Samples) -> Pair:
    """Return the smallest and the largest secret: under ``monotone`` they are the easiest pair."""
    order = ordered(data)
    low, high = sorted((order[0], order[-1]))
    return low, high


def may_be_monotone(data: Samples) -> bool:
    """Return whether `monotone` makes sense for the samples."""
    try:
        Assumed(monotone=True).check(data)
    except InputError:
        return False
    return True


def without_lower(data: Samples) -> str:
    """Explain why there is no lower limit, and which assumption would give one."""
    would = "; `monotone` gives one, if larger secrets make larger outputs likelier throughout"
    return NO_LOWER + (would if may_be_monotone(data) else "")
