"""Leakage by group of people: who is told apart best, with limits that hold for all groups at once.

The attacker knows the group, so each group has a channel and a prior of its own: those of its
samples, or of its secrets. Limits of all groups hold together (each is made at the level of the
family), hence so do those of every difference.

Source: Narcissus theory 6.14.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from narcissus._files import open_text, parsing
from narcissus._outwards import lower, upper
from narcissus._pandas import pd
from narcissus._random import RandomSource, generator
from narcissus._visible import unmarked
from narcissus.channels.channel import channel, prior_for
from narcissus.channels.estimate import estimate
from narcissus.channels.leakage import LeakageEstimate
from narcissus.channels.summary import ChannelSummary, analyse
from narcissus.errors import InputError
from narcissus.evidence import each_confidence
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate, Grade, NotAssessed, Result

Quantity = Literal["beta_star", "bayes_risk"]
WORDS: dict[str, str] = {"beta_star": "Bayes security", "bayes_risk": "Bayes risk"}
MOST_GROUPS = 200
"""Groups that are taken; a column with more is hardly one of groups."""


@dataclass(frozen=True)
class GroupDifference:
    """By how much one group's value lies above another's; each limit None where none is known."""

    first: str
    second: str
    value: float
    low: float | None
    high: float | None

    @property
    def shown(self) -> bool:
        """Whether the two differ for sure, at the level of the limits."""
        return (self.low or 0.0) > 0 or (self.high is not None and self.high < 0)


@dataclass(frozen=True)
class GroupLeakage(Result):
    """What each group of people gives away.

    Attributes
    ----------
    groups
        Each group's numbers, by name: of a channel, or estimated from samples.
    not_assessed
        Groups without an answer, each with the reason.
    confidence
        Of all groups' limits of one quantity together; None where the numbers are exact.
    """

    groups: Mapping[str, ChannelSummary] | Mapping[str, LeakageEstimate]
    not_assessed: tuple[NotAssessed, ...]
    confidence: float | None

    @property
    def grade(self) -> Grade:
        """'sampled', or 'proved' where the channel is known."""
        return "proved" if self.confidence is None else "sampled"

    def limits(self, quantity: Quantity) -> dict[str, Estimate]:
        """Return a quantity of each group; exact numbers are their own limits."""
        found: dict[str, Estimate] = {}
        for name, one in self.groups.items():
            value = getattr(one, quantity)
            exact = isinstance(value, float)
            found[name] = Estimate(value, value, value, 1.0, 0) if exact else value
        return found

    def differences(self, quantity: Quantity) -> list[GroupDifference]:
        """Return the difference of each two groups; limits of all of them hold together."""
        found = self.limits(quantity)
        return [
            GroupDifference(
                a,
                b,
                found[a].value - found[b].value,
                _less(found[a].low, found[b].high),
                _less(found[a].high, found[b].low),
            )
            for a, b in combinations(found, 2)
        ]

    def worst(self, quantity: Quantity = "beta_star") -> tuple[str, bool]:
        """Name the group that gives most away, and tell whether that is sure.

        It has the smallest upper limit: so much is certified. It is sure if that lies below the
        lower limits of all others that were assessed, and there is no group that was not.
        """
        found = self.limits(quantity)
        most = {name: 1.0 if e.high is None else e.high for name, e in found.items()}
        name = min(most, key=lambda g: (most[g], found[g].value, g))
        rest = [e.low for g, e in found.items() if g != name]
        sure = not self.not_assessed and all(low is not None and most[name] < low for low in rest)
        return name, sure

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the command line, under its keys."""
        quantities: tuple[Quantity, ...] = ("beta_star", "bayes_risk")
        worst = {q: dict(zip(("group", "sure"), self.worst(q), strict=True)) for q in quantities}
        apart = {
            q: [
                {"first": d.first, "second": d.second, "difference": d.value}
                | {"low": d.low, "high": d.high, "shown": d.shown}
                for d in self.differences(q)
            ]
            for q in quantities
        }
        return {
            "groups": {name: one.to_dict() for name, one in self.groups.items()},
            "worst": worst,
            "differences": apart,
            "not_assessed": [one.to_dict() for one in self.not_assessed],
            "confidence": self.confidence,
            "grade": self.grade,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row a group: both quantities with their limits."""
        rows: list[dict[str, Any]] = [{"group": name} for name in self.groups]
        for quantity in ("beta_star", "bayes_risk"):
            for row, e in zip(rows, self.limits(quantity).values(), strict=True):
                row |= {quantity: e.value, f"{quantity}_low": e.low, f"{quantity}_high": e.high}
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        level = (
            "exact"
            if self.confidence is None
            else f"limits of all groups hold together with {100 * self.confidence:g}% confidence"
        )
        lines = [f"{len(self.groups)} groups, {level}", ""]
        for quantity in ("beta_star", "bayes_risk"):
            lines.append(f"  {WORDS[quantity]}")
            for name, e in self.limits(quantity).items():
                lines.append(f"    {name:<20} {e.value:.4f}{self._said(e.low, e.high)}")
            name, sure = self.worst(quantity)
            known = "shown" if sure else "not shown: the limits overlap, or a group is missing"
            lines.append(f"    gives most away: {name!r} ({known})")
            for d in self.differences(quantity):
                if d.shown:
                    said = self._said(d.low, d.high)
                    lines.append(f"    {d.first!r} above {d.second!r} by {d.value:+.4f}{said}")
        return "\n".join([*lines, *(f"  {one}" for one in self.not_assessed)])

    def _said(self, low: float | None, high: float | None) -> str:
        if self.confidence is None:
            return ""
        least = "no limit" if low is None else lower(low, places=4)
        most = "no limit" if high is None else upper(high, places=4)
        return f"   limits {least} to {most}"


def _less(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def estimate_groups(
    secrets: Any,
    outputs: Any,
    groups: Any,
    *,
    confidence: float = 0.95,
    estimators: Any = None,
    kind: str = "auto",
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> GroupLeakage:
    """Estimate the leakage of each group of people from samples.

    Parameters
    ----------
    secrets, outputs, estimators, kind, rng, observer
        As in `narcissus.channels.estimate`.
    groups
        The group of each sample, shape (samples,), of any type.
    confidence
        Level in (0, 1) at which the limits of one quantity hold for all groups together.

    Returns
    -------
    GroupLeakage
        Groups with too few samples of a secret, or one secret only, are named and not assessed.

    Raises
    ------
    InputError
        One group only, more than 200, other lengths, missing values, or no group with an answer.

    Source: Narcissus theory 6.14.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> secret, group = rng.integers(2, size=4000), rng.integers(2, size=4000)
    >>> right = rng.random(4000) < np.where(group == 1, 0.9, 0.6)
    >>> found = estimate_groups(secret, np.where(right, secret, 1 - secret), group, rng=1)
    >>> found.worst()
    ('1', True)
    """
    who = pd.Series(np.asarray(groups).ravel())
    told = pd.Series(np.asarray(secrets).ravel())
    frame = outputs if isinstance(outputs, pd.DataFrame) else pd.DataFrame(np.asarray(outputs))
    if not len(who) == len(told) == len(frame):
        raise InputError(
            f"there are {len(told)} secrets, {len(frame)} outputs and {len(who)} groups: "
            "one of each for every sample"
        )
    if who.isna().any():
        raise InputError("`groups` must not have missing values; say what is missing by a value")
    codes, labels = pd.factorize(who, sort=True)
    _check_number(len(labels))
    level, random = each_confidence(confidence, len(labels)), generator(rng)
    found: dict[str, LeakageEstimate] = {}
    left: list[NotAssessed] = []
    for code, label in enumerate(labels):
        mine = np.flatnonzero(codes == code)
        try:
            found[str(label)] = estimate(
                told.iloc[mine].reset_index(drop=True),
                frame.iloc[mine].reset_index(drop=True),
                confidence=level,
                estimators=estimators,
                kind=kind,
                rng=random,
                observer=observer,
            )
        except InputError as error:
            left.append(_left_out(str(label), error, "collect more samples of this group"))
    _require_some(found, left)
    return GroupLeakage(found, tuple(left), confidence)


def analyse_groups(
    matrix: Any, groups: Mapping[str, str], prior: Any = None, *, observer: Observer = SILENT
) -> GroupLeakage:
    """Compute the leakage of each group of secrets of a known channel, exactly.

    Parameters
    ----------
    matrix
        The channel, whose secrets are people or what they keep to themselves.
    groups
        The group of each secret, by the secrets' names.
    prior
        Of all secrets, uniform if left out; within a group it is scaled to 1.
    observer
        Hears of progress.

    Returns
    -------
    GroupLeakage
        Groups of one secret, or of one with all the mass, are named and not assessed.

    Raises
    ------
    InputError
        A secret without a group, an unknown one, or fewer than two groups.
    """
    c = channel(matrix)
    given = {str(k): str(v) for k, v in groups.items()}
    missing = [s for s in c.secrets if s not in given]
    unknown = sorted(set(given) - set(c.secrets))
    if missing or unknown:
        what = f"has no group for the secret {missing[0]!r}" if missing else ""
        what += " and " if missing and unknown else ""
        what += f"names {unknown[0]!r}, which is no secret of the channel" if unknown else ""
        raise InputError(f"`groups` {what} (the first line of a file names its columns)")
    weights = prior_for(c, prior)
    names = sorted(set(given.values()))
    _check_number(len(names))
    found: dict[str, ChannelSummary] = {}
    left: list[NotAssessed] = []
    for name in names:
        mine = [i for i, secret in enumerate(c.secrets) if given[secret] == name]
        mass = float(weights[mine].sum())
        if len(mine) < 2 or np.count_nonzero(weights[mine]) < 2:
            why = InputError("there is one secret only in it: nothing to tell apart")
            left.append(_left_out(name, why, "join it with another group"))
            continue
        part = weights[mine] / mass if prior is not None else None
        found[name] = analyse(c.rows(mine), part, name=name, observer=observer)
    _require_some(found, left)
    return GroupLeakage(found, tuple(left), None)


def _check_number(count: int) -> None:
    if not 2 <= count <= MOST_GROUPS:
        raise InputError(
            f"there must be 2 to {MOST_GROUPS} groups to compare, got {count}; is it the right "
            "column?"
        )


def _left_out(name: str, error: InputError, remedy: str) -> NotAssessed:
    return NotAssessed(f"the group {name!r}", str(error), remedy)


def _require_some(found: Mapping[str, object], left: list[NotAssessed]) -> None:
    if not found:
        raise InputError(f"no group can be assessed; the first: {left[0].reason}")


def read_groups(path: Path | str) -> dict[str, str]:
    """Read which secret is of which group from a CSV: a line of names, then secret and group.

    Raises
    ------
    InputError
        The file is missing or unreadable, a line has not two cells, or a secret stands twice.
    """
    path = Path(path)
    with parsing(path, "a readable CSV"), open_text(path) as stream:
        rows = [row for row in csv.reader(stream) if row]
    if len(rows) < 2:
        raise InputError(f"{path} needs a line of names (secret,group), then one for each secret")
    found: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != 2:
            raise InputError(f"{path}, line {number}: {len(row)} cells; give secret and group")
        secret, group = (unmarked(one.strip()) for one in row)
        if secret in found:
            raise InputError(f"{path}, line {number}: the secret {secret!r} stands there twice")
        found[secret] = group
    return found
