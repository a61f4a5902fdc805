"""All about one channel in one result: what `narcissus channel` prints."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from narcissus._outwards import lower
from narcissus.channels.bayes_security import MOST_DRAWN, beta_star, plot_pairwise
from narcissus.channels.channel import Channel, Matrix, channel, prior_for, require_two
from narcissus.channels.closed_forms import ClosedForm
from narcissus.channels.closed_forms.base import numbered
from narcissus.channels.closed_forms.location import LocationFamily
from narcissus.channels.from_guarantees import from_local_dp
from narcissus.channels.local_dp import local_dp_epsilon
from narcissus.channels.measures import (
    bayes_risk,
    bayes_vulnerability,
    capacity,
    guessing_error,
    implied_bayes_risk,
    shannon_leakage,
)
from narcissus.errors import InputError
from narcissus.findings import Finding
from narcissus.observer import SILENT, Observer
from narcissus.results import Grade, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ChannelSummary(Result):
    """What a channel leaks, exactly.

    Attributes
    ----------
    name
        Of the channel or mechanism.
    secrets
        How many.
    beta_star, pair
        Bayes security, and names of two secrets that reach it; no names if there is one secret.
    bayes_risk, guessing_error, beta
        For the prior: error of the best attacker with and without the output, and their ratio.
    capacity, leakage
        Multiplicative capacity, and multiplicative leakage for the prior.
    epsilon_ldp
        Smallest epsilon of epsilon-LDP, ``inf`` if there is none.
    implied_risk, implied_by
        The Bayes risk that ``beta*`` or the capacity alone implies for this prior, and which.
    shannon
        Mutual information in bits; None for a mechanism too large for a matrix.
    prior
        "uniform" or "given".
    """

    name: str
    secrets: int
    beta_star: float
    pair: tuple[str, ...]
    bayes_risk: float
    guessing_error: float
    beta: float
    capacity: float
    leakage: float
    epsilon_ldp: float
    implied_risk: float
    implied_by: str
    shannon: float | None
    prior: str
    channel: Channel | None = None

    @property
    def grade(self) -> Grade:
        """Always 'proved': exact numbers of a known channel."""
        return "proved"

    @property
    def additive_leakage(self) -> float:
        """What the output adds to the chance of the right guess."""
        return max(0.0, self.guessing_error - self.bayes_risk)

    @property
    def min_entropy_leakage(self) -> float:
        """``log2`` of the multiplicative leakage, bits."""
        return math.log2(self.leakage)

    def to_dict(self) -> dict[str, Any]:
        """Return the eight numbers of the command line, under its keys."""
        return {
            "beta_star": self.beta_star,
            "pair": list(self.pair),
            "bayes_risk": self.bayes_risk,
            "guessing_error": self.guessing_error,
            "beta": self.beta,
            "capacity": self.capacity,
            "leakage": self.leakage,
            "epsilon_ldp": self.epsilon_ldp if math.isfinite(self.epsilon_ldp) else None,
        }

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
        least = from_local_dp(self.epsilon_ldp).value if math.isfinite(self.epsilon_ldp) else 0.0
        return [
            Finding(risk, "the best attacker", best, best),
            Finding(risk, "the best guess without the output", None, self.guessing_error),
            Finding(risk, f"what {self.implied_by} implies", self.implied_risk),
            Finding(security, "the worst pair", worst, worst),
            Finding(security, "local differential privacy", least),
            Finding(security, "the prior's own ratio of errors", None, self.beta),
        ]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the heat map of pairwise Bayes security."""
        if self.channel is None:
            raise InputError(f"a heat map needs the channel, of at most {MOST_DRAWN} secrets")
        return plot_pairwise(self.channel, ax=ax)

    def __str__(self) -> str:
        if not self.pair:
            return (
                f"{self.name}: one secret, and so nothing to tell apart: Bayes security 1, "
                "whatever the output"
            )
        epsilon = (
            f"{self.epsilon_ldp:.6g}" if math.isfinite(self.epsilon_ldp) else "none (infinite)"
        )
        shannon = (
            "" if self.shannon is None else f", {self.shannon:.6g} bits of Shannon information"
        )
        return "\n".join(
            [
                f"{self.name}: {self.secrets} secrets, {self.prior} prior",
                "",
                f"  Bayes security (worst pair)  {self.beta_star:.6g}   (1: nothing leaks, 0: "
                "two secrets are told apart for certain)",
                f"    secrets {self.pair[0]!r} and {self.pair[1]!r}: of 100 attempts to tell them "
                f"apart, {100 - 50 * self.beta_star:.1f} are right (50 by guessing)",
                f"  Bayes risk                   {self.bayes_risk:.6g}   (the best attacker is "
                "wrong this often)",
                f"  guessing error               {self.guessing_error:.6g}   (the same without "
                "the output)",
                f"  beta for this prior          {self.beta:.6g}   (their ratio)",
                f"  leakage                      {self.leakage:.6g}   (times likelier right; "
                f"{self.min_entropy_leakage:.6g} bits of min-entropy{shannon})",
                f"  capacity                     {self.capacity:.6g}   (the most it can be for "
                "any prior and any non-negative gain)",
                f"  local DP epsilon             {epsilon}",
                f"  implied Bayes risk           at least {lower(self.implied_risk)}   (from "
                f"{'both alike' if self.implied_by == 'equal' else self.implied_by})",
                "",
                "  All numbers are exact for this channel; nothing is sampled.",
            ]
        )


def analyse(
    source: Any, prior: Any = None, *, name: str = "", observer: Observer = SILENT
) -> ChannelSummary:
    """Compute what a channel or a mechanism in closed form leaks.

    Parameters
    ----------
    source
        A `Channel`, what `channel` takes, or a `ClosedForm`.
    prior
        Probability of each secret; None is uniform.
    name
        For the texts.
    observer
        Hears of progress.

    Examples
    --------
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


def prior_of(source: Any, prior: Any) -> Matrix:
    """Return a prior over the secrets of a channel or a mechanism, checked; None means uniform.

    Raises
    ------
    InputError
        It is none, or the mechanism has no matrix and is no noise on numbers.
    """
    if isinstance(source, LocationFamily):  # numbers have names, but no matrix
        shell = channel(np.ones((source.secrets, 1)), secrets=numbered(source.secrets))
        return prior_for(shell, prior)
    made = _matrix_of(source) if isinstance(source, ClosedForm) else channel(source)
    return prior_for(made, prior)


def _matrix_of(source: ClosedForm) -> Channel:
    try:
        return source.channel()
    except InputError as error:
        raise InputError(f"a prior of your own needs the channel as a matrix: {error}") from error


def _explicit(c: Channel, prior: Any, name: str, observer: Observer) -> ChannelSummary:
    weights = prior_for(c, prior)
    if c.shape[0] > 1:
        require_two(weights, c.secrets)
    security = beta_star(c, observer=observer)
    risk, guess = bayes_risk(c, weights), guessing_error(weights)
    most = capacity(c)
    implied = implied_bayes_risk(security.value, most, weights)
    return ChannelSummary(
        name=name,
        secrets=c.shape[0],
        beta_star=security.value,
        pair=security.pair,
        bayes_risk=risk,
        guessing_error=guess,
        beta=min(1.0, risk / guess) if guess > 0 else 1.0,
        capacity=most,
        leakage=max(1.0, bayes_vulnerability(c, weights) / float(weights.max())),
        epsilon_ldp=local_dp_epsilon(c),
        implied_risk=implied.value,
        implied_by=implied.tighter,
        shannon=shannon_leakage(c, weights),
        prior="uniform" if prior is None else "given",
        channel=c,
    )


def _numbers(m: LocationFamily, prior: Any, name: str) -> ChannelSummary:
    """Noise on numbers under a prior: what depends on it has a closed form as well."""
    weights = prior_of(m, prior)
    require_two(weights, numbered(m.secrets))
    risk, guess = m.bayes_risk_of(weights), guessing_error(weights)
    risk = min(risk, guess)  # but for rounding it is
    implied = implied_bayes_risk(m.beta_star, m.capacity, weights)
    return replace(
        _closed(m, name),
        bayes_risk=risk,
        guessing_error=guess,
        beta=min(1.0, risk / guess),
        leakage=max(1.0, (1 - risk) / float(weights.max())),
        implied_risk=implied.value,
        implied_by=implied.tighter,
        shannon=None,
        prior="given",
    )


def _closed(m: ClosedForm, name: str) -> ChannelSummary:
    n = m.secrets
    risk, guess, most = m.bayes_risk, m.guessing_error, m.capacity
    by_beta, by_capacity = m.beta_star * guess, max(0.0, 1 - most / n)
    made, shannon = None, None
    if n <= MOST_DRAWN:
        try:
            made = m.channel()
            shannon = shannon_leakage(made)
        except InputError:  # continuous, or too many outputs: the closed form stands alone
            made = None
    return ChannelSummary(
        name=name,
        secrets=n,
        beta_star=m.beta_star,
        pair=m.pair,
        bayes_risk=risk,
        guessing_error=guess,
        beta=min(1.0, risk / guess),
        capacity=most,
        leakage=max(1.0, most),  # the uniform prior reaches the capacity
        epsilon_ldp=m.local_epsilon,
        implied_risk=max(by_beta, by_capacity),
        implied_by="equal"
        if np.isclose(by_beta, by_capacity, rtol=1e-12)
        else "Bayes security"
        if by_beta > by_capacity
        else "capacity",
        shannon=shannon,
        prior="uniform",
        channel=made,
    )
