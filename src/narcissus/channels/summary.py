"""All about one channel in one result, and leakage by group of people.

An attacker who knows the group faces a channel and a separate prior: those of its samples, or of
its secrets. Limits of all groups hold together, hence so do those of every difference.
Source: Narcissus theory 6.14.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from narcissus._files import csv_rows
from narcissus._outwards import lower
from narcissus._pandas import pd
from narcissus._random import RandomSource, generator
from narcissus._visible import unmarked
from narcissus.channels.bayes_security import MOST_DRAWN, beta_star, local_dp_epsilon, plot_pairwise
from narcissus.channels.channel import (
    AS_WRITTEN,
    Channel,
    Matrix,
    Numbers,
    ProvedResult,
    channel,
    check_names,
    prior_for,
    require_two,
)
from narcissus.channels.closed_forms import ClosedForm, LocationFamily, numbered
from narcissus.channels.estimate import LeakageEstimate, as_columns, between_text, estimate
from narcissus.channels.from_guarantees import from_local_dp
from narcissus.channels.measures import (
    bayes_risk,
    bayes_vulnerability,
    capacity,
    guessing_error,
    implied_bayes_risk,
    shannon_leakage,
)
from narcissus.errors import InputError
from narcissus.evidence import each_confidence
from narcissus.findings import Finding
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate, Grade, NotAssessed, Result, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from narcissus.channels.channel import ChannelLike, PriorLike


@dataclass(frozen=True)
class ChannelSummary(ProvedResult):
    """What a channel leaks, exactly."""

    name: str
    secrets: int
    beta_star: float
    pair: tuple[str, ...]  # Two secrets that reach it; none if there is one secret
    bayes_risk: float  # For the prior, as are the next two and the leakage
    guessing_error: float
    beta: float  # The ratio of both
    capacity: float  # Multiplicative, as is the leakage
    leakage: float
    epsilon_ldp: float  # Smallest epsilon of epsilon-LDP, ``inf`` if there is none
    implied_risk: float  # The Bayes risk that ``beta*`` or the capacity alone implies
    implied_by: str  # Which of the two
    shannon: float | None  # Mutual information in bits; None for a mechanism too large for a matrix
    prior: str  # "uniform" or "given"
    channel: Channel | None = None

    @property
    def additive_leakage(self) -> float:
        """What the output adds to the chance of the right guess."""
        return max(0.0, self.guessing_error - self.bayes_risk)

    @property
    def min_entropy_leakage(self) -> float:
        """``log2`` of the multiplicative leakage, bits."""
        return math.log2(self.leakage)

    def to_dict(self) -> dict[str, Any]:
        names = ("beta_star", "pair", "bayes_risk", "guessing_error", "beta", "capacity", "leakage")
        return {name: plain(getattr(self, name)) for name in (*names, "epsilon_ldp")}

    def more(self) -> dict[str, Any]:
        """Return what else is known: other leakages, the implied risk, the advantage."""
        return {
            "secrets": self.secrets,
            "advantage": 1 - self.beta_star,
            "additive_leakage": self.additive_leakage,
            "min_entropy_leakage": self.min_entropy_leakage,
            "shannon_leakage": self.shannon,
            "implied_bayes_risk": self.implied_risk,
            "implied_by": self.implied_by,
            "delta_at_epsilon_0": 1 - self.beta_star,
        }

    def findings(self) -> list[Finding]:
        """Return what the numbers say about each other; none may contradict another.

        Each is computed by itself: Bayes security by a search over pairs, the Bayes risk from
        the columns, the capacity from their maxima, epsilon from ratios.
        """
        risk, security = "Bayes risk", "Bayes security"
        best, worst = self.bayes_risk, self.beta_star
        lower_limit = (
            from_local_dp(self.epsilon_ldp).value if math.isfinite(self.epsilon_ldp) else 0.0
        )
        return [
            Finding(risk, "the best attacker", best, best),
            Finding(risk, "the best guess without the output", None, self.guessing_error),
            Finding(risk, f"what {self.implied_by} implies", self.implied_risk),
            Finding(security, "the worst pair", worst, worst),
            Finding(security, "local differential privacy", lower_limit),
            Finding(security, "the prior's own ratio of errors", None, self.beta),
        ]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        if self.channel is None:
            raise InputError(f"a heat map needs the channel, of at most {MOST_DRAWN} secrets")
        return plot_pairwise(self.channel, ax=ax)

    def __str__(self) -> str:
        if not self.pair:
            return (
                f"{self.name}: one secret, and so nothing to tell apart: Bayes security 1, "
                "whatever the output"
            )
        epsilon = self.epsilon_ldp
        bits = f"{self.min_entropy_leakage:.6g} bits of min-entropy"
        if self.shannon is not None:
            bits += f", {self.shannon:.6g} bits of Shannon information"
        implied = "both alike" if self.implied_by == "equal" else self.implied_by
        first, second = self.pair
        return f"""\
{self.name}: {self.secrets} secrets, {self.prior} prior

  Bayes security (worst pair)  {self.beta_star:.6g}   (1: nothing leaks, 0: two secrets are told \
apart for certain)
    secrets {first!r} and {second!r}: of 100 attempts to tell them apart, \
{100 - 50 * self.beta_star:.1f} are right (50 by guessing)
  Bayes risk                   {self.bayes_risk:.6g}   (the best attacker is wrong this often)
  guessing error               {self.guessing_error:.6g}   (the same without the output)
  beta for this prior          {self.beta:.6g}   (their ratio)
  leakage                      {self.leakage:.6g}   (times likelier right; {bits})
  capacity                     {self.capacity:.6g}   (the most it can be for any prior and any \
non-negative gain)
  local DP epsilon             {f"{epsilon:.6g}" if math.isfinite(epsilon) else "none (infinite)"}
  implied Bayes risk           at least {lower(self.implied_risk)}   (from {implied})

  All numbers are exact for this channel; nothing is estimated.
  assuming {AS_WRITTEN}"""


def analyse(
    source: ChannelLike,
    prior: PriorLike | None = None,
    *,
    name: str = "",
    observer: Observer = SILENT,
) -> ChannelSummary:
    """Compute what a channel or a mechanism in closed form leaks.

    source: A `Channel`, what `channel` takes, or a `ClosedForm`.

    >>> analyse([[0.75, 0.25], [0.25, 0.75]]).beta_star
    0.5
    """
    if isinstance(source, ClosedForm):
        label = name or repr(source)
        if prior is None:
            return _closed(source, label)
        if isinstance(source, LocationFamily):
            return _numbers(source, prior, label)
        return _explicit(_matrix_of(source), prior, label, observer)
    return _explicit(channel(source), prior, name or "channel", observer)


def prior_of(source: ChannelLike, prior: PriorLike | None) -> Matrix:
    """Return a prior over the secrets of a channel or a mechanism, checked; None means uniform."""
    if isinstance(source, LocationFamily):  # numbers have names, but no matrix
        shell = channel(np.ones((source.secrets, 1)), secrets=numbered(source.secrets))
        return prior_for(shell, prior)
    made = _matrix_of(source) if isinstance(source, ClosedForm) else channel(source)
    return prior_for(made, prior)


def _matrix_of(source: ClosedForm) -> Channel:
    try:
        return source.channel()
    except InputError as error:
        raise InputError(f"a custom prior needs the channel as a matrix: {error}") from error


def _made(
    name: str,
    secrets: int,
    pair: tuple[str, ...],
    numbers: Numbers,
    guess: float,
    leakage: float,
    implied: tuple[float, str],
    shannon: float | None,
    prior: str,
    made: Channel | None = None,
) -> ChannelSummary:
    risk = numbers.bayes_risk
    beta = min(1.0, risk / guess) if guess > 0 else 1.0
    return ChannelSummary(
        name,
        secrets,
        numbers.beta_star,
        pair,
        risk,
        guess,
        beta,
        numbers.capacity,
        leakage,
        numbers.local_epsilon,
        *implied,
        shannon,
        prior,
        made,
    )


def _explicit(c: Channel, prior: PriorLike | None, name: str, observer: Observer) -> ChannelSummary:
    weights = prior_for(c, prior)
    if c.shape[0] > 1:
        require_two(weights, c.secrets)
    security = beta_star(c, observer=observer)
    numbers = Numbers(security.value, capacity(c), bayes_risk(c, weights), local_dp_epsilon(c))
    implied = implied_bayes_risk(security.value, numbers.capacity, weights)
    leakage = max(1.0, bayes_vulnerability(c, weights) / float(weights.max()))
    which = "uniform" if prior is None else "given"
    return _made(
        name,
        c.shape[0],
        security.pair,
        numbers,
        guessing_error(weights),
        leakage,
        (implied.value, implied.tighter),
        shannon_leakage(c, weights),
        which,
        c,
    )


def _numbers(m: LocationFamily, prior: PriorLike | None, name: str) -> ChannelSummary:
    """Noise on numbers under a prior: what depends on it has a closed form as well."""
    weights = prior_of(m, prior)
    require_two(weights, numbered(m.secrets))
    guess = guessing_error(weights)
    risk = min(m.bayes_risk_of(weights), guess)  # but for rounding it is
    implied = implied_bayes_risk(m.beta_star, m.capacity, weights)
    leakage = max(1.0, (1 - risk) / float(weights.max()))
    return _made(
        name,
        m.secrets,
        m.pair,
        m.numbers._replace(bayes_risk=risk),
        guess,
        leakage,
        (implied.value, implied.tighter),
        None,
        "given",
    )


def _closed(m: ClosedForm, name: str) -> ChannelSummary:
    n, guess = m.secrets, m.guessing_error
    numbers = Numbers(m.beta_star, m.capacity, m.bayes_risk, m.local_epsilon)
    by_beta, by_capacity = numbers.beta_star * guess, max(0.0, 1 - numbers.capacity / n)
    by = "Bayes security" if by_beta > by_capacity else "capacity"
    by = "equal" if np.isclose(by_beta, by_capacity, rtol=1e-12) else by
    made, shannon = None, None
    if n <= MOST_DRAWN:
        try:
            made = m.channel()
            shannon = shannon_leakage(made)
        except InputError:  # continuous, or too many outputs: the closed form stands alone
            made = None
    leakage = max(1.0, numbers.capacity)  # the uniform prior reaches the capacity
    implied = max(by_beta, by_capacity), by
    return _made(name, n, m.pair, numbers, guess, leakage, implied, shannon, "uniform", made)


Quantity = Literal["beta_star", "bayes_risk"]
QUANTITIES: tuple[Quantity, ...] = ("beta_star", "bayes_risk")
WORDS: dict[str, str] = {"beta_star": "Bayes security", "bayes_risk": "Bayes risk"}
MOST_GROUPS = 200  # Groups that are taken; a column with more is hardly one of groups


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
    """What each group of people gives away."""

    # Each group's numbers, by name: of a channel, or estimated from samples
    groups: Mapping[str, ChannelSummary] | Mapping[str, LeakageEstimate]
    not_assessed: tuple[NotAssessed, ...]  # Groups without an answer, each with the reason
    # Of all groups' limits of one quantity together; None where the numbers are exact
    confidence: float | None

    @property
    def grade(self) -> Grade:
        """'sampled', or 'proved' where the channel is known."""
        return "proved" if self.confidence is None else "sampled"

    def limits(self, quantity: Quantity) -> dict[str, Estimate]:
        """Return a quantity of each group; exact numbers are their own limits."""
        estimates: dict[str, Estimate] = {}
        for name, group in self.groups.items():
            value = getattr(group, quantity)
            exact = isinstance(value, float)
            estimates[name] = Estimate(value, value, value, 1.0, 0) if exact else value
        return estimates

    def differences(self, quantity: Quantity) -> list[GroupDifference]:
        """Return the difference of each two groups; limits of all of them hold together."""

        def less(value: float | None, other: float | None) -> float | None:
            return None if value is None or other is None else value - other

        return [
            GroupDifference(a, b, e.value - f.value, less(e.low, f.high), less(e.high, f.low))
            for (a, e), (b, f) in combinations(self.limits(quantity).items(), 2)
        ]

    def worst(self, quantity: Quantity = "beta_star") -> tuple[str, bool]:
        """Name the group that gives most away, and tell whether that is sure.

        It has the smallest upper limit: so much is certified. It is sure if that lies below the
        lower limits of all others that were assessed, and there is no group that was not.
        """
        estimates = self.limits(quantity)
        upper_limits = {name: 1.0 if e.high is None else e.high for name, e in estimates.items()}
        name = min(upper_limits, key=lambda g: (upper_limits[g], estimates[g].value, g))
        rest = [e.low for g, e in estimates.items() if g != name]
        sure = not self.not_assessed and all(
            low is not None and upper_limits[name] < low for low in rest
        )
        return name, sure

    def to_dict(self) -> dict[str, Any]:
        worst = {q: dict(zip(("group", "sure"), self.worst(q), strict=True)) for q in QUANTITIES}
        apart = {
            q: [
                {"first": d.first, "second": d.second, "difference": d.value}
                | {"low": d.low, "high": d.high, "shown": d.shown}
                for d in self.differences(q)
            ]
            for q in QUANTITIES
        }
        return {
            "groups": {name: group.to_dict() for name, group in self.groups.items()},
            "worst": worst,
            "differences": apart,
            "not_assessed": [group.to_dict() for group in self.not_assessed],
            "confidence": self.confidence,
            "grade": self.grade,
        }

    def to_frame(self) -> pd.DataFrame:
        rows: list[dict[str, Any]] = [{"group": name} for name in self.groups]
        for quantity in QUANTITIES:
            for row, e in zip(rows, self.limits(quantity).values(), strict=True):
                row.update(as_columns(quantity, e))
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        level, exact = "exact", self.confidence is None
        if self.confidence is not None:
            percent = 100 * self.confidence
            level = f"limits of all groups hold together with {percent:g}% confidence"
        lines = [f"{len(self.groups)} groups, {level}", ""]
        for quantity in QUANTITIES:
            lines.append(f"  {WORDS[quantity]}")
            for name, e in self.limits(quantity).items():
                limits = "" if exact else f"   limits {between_text(e.low, e.high)}"
                lines.append(f"    {name:<20} {e.value:.4f}{limits}")
            name, sure = self.worst(quantity)
            known = "shown" if sure else "not shown: the limits overlap, or a group is missing"
            lines.append(f"    gives most away: {name!r} ({known})")
            for d in self.differences(quantity):
                if d.shown:
                    limits = "" if exact else f"   limits {between_text(d.low, d.high)}"
                    lines.append(f"    {d.first!r} above {d.second!r} by {d.value:+.4f}{limits}")
        return "\n".join([*lines, *(f"  {group}" for group in self.not_assessed)])


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

    Groups with too few samples of a secret, or one secret only, are named and not assessed.

    secrets, outputs, estimators, kind, rng, observer: As in `narcissus.channels.estimate`.
    groups: The group of each sample, shape (samples,), of any type.
    confidence: Level in (0, 1) at which the limits of one quantity hold for all groups together.

    Source: Narcissus theory 6.14.

    >>> rng = np.random.default_rng(1)
    >>> secret, group = rng.integers(2, size=4000), rng.integers(2, size=4000)
    >>> right = rng.random(4000) < np.where(group == 1, 0.9, 0.6)
    >>> found = estimate_groups(secret, np.where(right, secret, 1 - secret), group, rng=1)
    >>> found.worst()
    ('1', True)
    """
    who = pd.Series(np.asarray(groups).ravel())
    column = pd.Series(np.asarray(secrets).ravel())
    frame = outputs if isinstance(outputs, pd.DataFrame) else pd.DataFrame(np.asarray(outputs))
    if not len(who) == len(column) == len(frame):
        raise InputError(
            f"there are {len(column)} secrets, {len(frame)} outputs and {len(who)} groups: "
            "one of each for every sample"
        )
    if who.isna().any():
        raise InputError("`groups` must not have missing values; say what is missing by a value")
    codes, labels = pd.factorize(who, sort=True)
    random = generator(rng)

    def one(number: int, level: float) -> LeakageEstimate:
        mine = np.flatnonzero(codes == number)
        return estimate(
            column.iloc[mine].reset_index(drop=True),
            frame.iloc[mine].reset_index(drop=True),
            confidence=level,
            estimators=estimators,
            kind=kind,
            rng=random,
            observer=observer,
        )

    return _by_group(
        [str(label) for label in labels], one, "collect more samples of this group", confidence
    )


def _by_group(
    names: list[str],
    assess: Callable[[int, float], Any],
    remedy: str,
    confidence: float | None = None,
) -> GroupLeakage:
    """Assess each group; what cannot be is named with the reason and a remedy."""
    if not 2 <= len(names) <= MOST_GROUPS:
        raise InputError(
            f"there must be 2 to {MOST_GROUPS} groups to compare, got {len(names)}; is it the "
            "right column?"
        )
    level = 1.0 if confidence is None else each_confidence(confidence, len(names))
    assessments: dict[str, Any] = {}
    left: list[NotAssessed] = []
    for number, name in enumerate(names):
        try:
            assessments[name] = assess(number, level)
        except InputError as error:
            left.append(NotAssessed(f"the group {name!r}", str(error), remedy))
    if not assessments:
        raise InputError(f"no group can be assessed; the first: {left[0].reason}")
    return GroupLeakage(assessments, tuple(left), confidence)


def analyse_groups(
    matrix: ChannelLike,
    groups: Mapping[str, str],
    prior: PriorLike | None = None,
    *,
    observer: Observer = SILENT,
) -> GroupLeakage:
    """Compute the leakage of each group of secrets of a known channel, exactly.

    Groups of one secret, or of one with all the mass, are named and not assessed.

    matrix: The channel, whose secrets are people or what they keep to themselves.
    groups: The group of each secret, by the secrets' names.
    prior: Of all secrets, uniform if left out; within a group it is scaled to 1.
    """
    c = channel(matrix)
    memberships = {str(k): str(v) for k, v in groups.items()}
    check_names("groups", memberships, c.secrets, "group")
    weights = prior_for(c, prior)

    names = sorted(set(memberships.values()))

    def one(number: int, _: float) -> ChannelSummary:
        name = names[number]
        mine = [i for i, secret in enumerate(c.secrets) if memberships[secret] == name]
        if len(mine) < 2 or np.count_nonzero(weights[mine]) < 2:
            raise InputError("there is one secret only in it: nothing to tell apart")
        part = None if prior is None else weights[mine] / float(weights[mine].sum())
        return analyse(c.rows(mine), part, name=name, observer=observer)

    return _by_group(names, one, "join it with another group")


def read_groups(path: Path | str) -> dict[str, str]:
    """Read which secret is of which group from a CSV: a line of names, then secret and group."""
    path = Path(path)
    rows = [row for row in csv_rows(path) if row]
    if len(rows) < 2:
        raise InputError(f"{path} needs a line of names (secret,group), then one for each secret")
    groups: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != 2:
            raise InputError(f"{path}, line {number}: {len(row)} cells; give secret and group")
        secret, group = (unmarked(cell.strip()) for cell in row)
        if secret in groups:
            raise InputError(f"{path}, line {number}: the secret {secret!r} appears there twice")
        groups[secret] = group
    return groups
