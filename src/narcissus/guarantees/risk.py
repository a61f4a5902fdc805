"""The risk to one person next to a guarantee: belief, true-positive rate, advantage, a picture.

This module loads neither SciPy nor the bounds: a program that chooses an epsilon can call it at
each move of a slider.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from narcissus._outwards import lower, upper
from narcissus._validation import between, one_of, probability
from narcissus.errors import InputError
from narcissus.guarantees.base import Guarantee, Secret, require_replace_one
from narcissus.guarantees.parametric import ApproximateDP, PureDP, as_asked
from narcissus.results import Bound, Grade, Result, plain

ROUNDING = 1e-12
"""Limits are rounded outwards by it, relatively: more than a normal quantile loses in its tails."""
_INDEPENDENT = "what is believed of other people does not depend on the claim"


def true_positive_rate(guarantee: Guarantee, fpr: float) -> Bound:
    """Bound the true-positive rate of any attack with false-positive rate at most ``fpr``.

    ``guarantee`` must be for the question asked; see `narcissus.guarantees.as_asked`.

    Source: Dong, Roth and Su 2022, Definition 2.3: ``1 - f(fpr)``, ``f`` the trade-off function.

    >>> from narcissus.guarantees import GaussianDP
    >>> round(true_positive_rate(GaussianDP(1.0), 0.01).value, 6)  # Phi(Phi^-1(0.01) + 1)
    0.092362
    """
    require_replace_one(guarantee)
    rate = probability("fpr", fpr)
    value = min(1.0, float(guarantee.power(rate)) * (1 + ROUNDING))
    return Bound(
        value,
        f"true positive rate at a false positive rate of {rate:g}",
        "Dong, Roth and Su 2022, Definition 2.3",
        guarantee.assumed,
    )


def log_odds_gain(guarantee: Guarantee, confidence: float) -> float:
    """Return a limit on the privacy loss that a share ``confidence`` of releases keeps.

    For every ``e`` and ``t > e``, the outputs ``S`` that are more than ``exp(t)`` times likelier
    under one data set than under its neighbour have probability at most ``profile(e) / (1 -
    exp(e - t))``, since ``profile(e) >= P(S) - exp(e) Q(S)`` and ``Q(S) <= exp(-t) P(S)``. The
    least such ``t`` is ``min_e [e - log(1 - profile(e) / (1 - confidence))]``: no smaller one
    follows from a profile alone. Infinite where ``profile(e)`` never falls below ``1 -
    confidence``.

    Source: Narcissus theory 4.8 (belief).

    >>> log_odds_gain(PureDP(1.0), 0.99)
    1.0
    """
    rest = 1.0 - between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    points, best = np.sort(guarantee.tangents()), math.inf
    for _ in range(5):  # every point is valid: an unfinished search costs sharpness only
        with np.errstate(divide="ignore", invalid="ignore"):
            spent = np.minimum(guarantee.profile(points) / rest, 1.0)
            gains = points - np.log1p(-spent)
        near = int(gains.argmin())
        best = min(best, float(gains[near]))
        points = np.sort(points)
        around = int(np.searchsorted(points, points[near]))
        points = np.linspace(
            points[max(around - 1, 0)], points[min(around + 1, len(points) - 1)], 33
        )
    return best


@dataclass(frozen=True)
class PersonalRisk(Result):
    """The risk to one person under a guarantee; every limit holds for any attacker.

    guarantee: The guarantee, in words.
    secret: Subject of the claim: ``"membership"`` or ``"value"``.
    prior: Probability of a true claim about one person, before the release.
    belief: Limit on its probability afterwards, in a share ``confidence`` of releases.
    every_release: Whether the limit on the belief holds for every release.
    confidence: Share of releases, in (0, 1).
    fpr: False-positive rate of an attack.
    tpr: Limit on its true-positive rate.
    advantage: Limit on the difference of both rates, at any rate.
    """

    guarantee: str
    secret: str
    prior: float
    belief: Bound
    every_release: bool
    confidence: float
    fpr: float
    tpr: Bound
    advantage: Bound

    @property
    def grade(self) -> Grade:
        """'proved'."""
        return "proved"

    @property
    def odds(self) -> tuple[float, float]:
        """Odds of the claim before and, at most, after the release; infinite at certainty."""
        after = self.belief.value
        return self.prior / (1 - self.prior), math.inf if after >= 1 else after / (1 - after)

    @property
    def _often(self) -> str:
        share = f"{lower(100 * self.confidence, 12)} of 100 releases"
        return "in every release" if self.every_release else f"in at least {share}"

    @property
    def sentence(self) -> str:
        """The limit on the belief in one sentence, to appears next to an epsilon."""
        claim = (
            "someone is in the data" if self.secret == "membership" else "a fact is true of someone"
        )
        if self.belief.value >= 1:
            return (
                f"This guarantee does not limit how surely an attacker may conclude that {claim}."
            )
        often = "" if self.every_release else f", {self._often}"
        return (
            f"An attacker who thinks it {100 * self.prior:.3g}% likely that {claim} will think it "
            f"at most {_percent(self.belief.value)} likely after the release{often}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, with grade, odds and sentence."""
        before, after = map(plain, self.odds)
        additions = {"odds_before": before, "odds_at_most": after, "sentence": self.sentence}
        return {"grade": self.grade, **super().to_dict(), **additions}

    def __str__(self) -> str:
        before, after = map(_ratio, self.odds)
        return "\n".join(
            [
                self.sentence,
                "",
                self.squares(),
                "",
                f"Belief       from {self.prior:g} to at most {upper(self.belief.value)}",
                f"             {self._often}",
                f"Odds         from {before}, to at most {after}",
                f"Attack       at most {_percent(self.tpr.value)} true positives at "
                f"{100 * self.fpr:g}% false ones",
                f"Advantage    at most {upper(self.advantage.value)}",
                "",
                f"PROVED from {self.guarantee}",
                *(f"  assuming {assumption}" for assumption in self.belief.assumptions[1:]),
            ]
        )

    @property
    def of_100(self) -> tuple[int, int]:
        """Of 100 such claims how many are true before, and at most after; rounded upwards."""
        before, after = (
            math.ceil(100 * probability - 1e-9) for probability in (self.prior, self.belief.value)
        )
        return before, after

    def squares(self) -> str:
        """Return the picture as text: ten rows of ten, ``#`` before, ``+`` added, ``.`` neither."""
        before, after = self.of_100
        marks = "#" * before + "+" * (after - before) + "." * (100 - after)
        rows = [" ".join(marks[i : i + 10]) for i in range(0, 100, 10)]
        rows[0] += f"   # before the release: {before} of 100"
        rows[1] += f"   + added by it, at most: {after - before} of 100"
        return "\n".join(rows)

    def svg(self) -> str:
        """Return the picture as SVG, with its title and its text; no script, no reference."""
        before, after = self.of_100
        title = f"Belief: {before} of 100 before the release, at most {after} of 100 after it"
        cells = "".join(
            f'<rect x="{11 * (i % 10)}" y="{11 * (i // 10)}" width="10" height="10" '
            f'fill="{"#0b63a5" if i < before else "#a8480c" if i < after else "#d5dae0"}"/>'
            for i in range(100)
        )
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 109 109" role="img">'
            f"<title>{title}</title><desc>{html.escape(self.sentence)}</desc>{cells}</svg>"
        )


def risk_of(
    guarantee: Guarantee | float | tuple[float, float],
    prior: float,
    *,
    fpr: float = 0.01,
    confidence: float = 0.99,
    secret: Secret = "membership",
) -> PersonalRisk:
    """Limit what any attacker can conclude about one person from a release.

    guarantee: a guarantee; or epsilon, or (epsilon, delta), of add-remove neighbours, as the
        privacy map of an OpenDP measurement returns them.
    prior: probability in (0, 1) that the claim about the person is true, before the release.
    fpr: false-positive rate in [0, 1] at which the true-positive rate is limited.
    confidence: share of releases in (0, 1) that keep the limit on the belief.
    secret: subject of the claim: ``"membership"`` (the record is in the data) or ``"value"`` (any
        fact about the record, for which add-remove neighbours are converted).
    InputError: for an argument out of its range.

    Source: Narcissus theory 4.8.

    >>> risk_of(1.0, prior=0.01).sentence  # doctest: +NORMALIZE_WHITESPACE
    'An attacker who thinks it 1% likely that someone is in the data will think it at most 2.68%
    likely after the release.'
    """
    chance = between("prior", prior, 0, 1, open_low=True, open_high=True)
    one_of("secret", secret, get_args(Secret))
    promise = as_asked(_given(guarantee), secret)
    gain = log_odds_gain(promise, confidence)
    every = math.isfinite(gain) and float(promise.profile(gain)) <= 0
    after = 1 / (1 + (1 - chance) / chance * math.exp(-gain))
    words = promise.describe()
    belief = Bound(
        min(1.0, after * (1 + ROUNDING)),
        f"belief in a claim of prior probability {chance:g}",
        "Narcissus theory 4.8 (belief)",
        (*promise.assumed, _INDEPENDENT),
    )
    advantage = Bound(
        min(1.0, float(promise.profile(0.0)) * (1 + ROUNDING)),
        "true-positive rate minus false-positive rate",
        "Dong, Roth and Su 2022, Proposition 2.12",
        promise.assumed,
    )
    rate = true_positive_rate(promise, fpr)
    return PersonalRisk(
        words, secret, chance, belief, every, confidence, float(fpr), rate, advantage
    )


def _given(guarantee: Guarantee | float | tuple[float, float]) -> Guarantee:
    if isinstance(guarantee, Guarantee):
        return guarantee
    if not isinstance(guarantee, tuple):
        return PureDP(guarantee, adjacency="add-remove")
    if len(guarantee) != 2:  # pyright: ignore[reportUnnecessaryComparison] (from outside)
        raise InputError(f"`guarantee` must be an epsilon or (epsilon, delta), got {guarantee!r}")
    return ApproximateDP(*guarantee, adjacency="add-remove")


def _percent(value: float) -> str:
    return f"{upper(100 * value, 3)}%"


def _ratio(odds: float) -> str:
    """Return odds as ``1:99``; an upper limit rounds towards certainty."""
    if math.isinf(odds):
        return "certainty"
    return f"1:{lower(1 / odds, 3)}" if odds < 1 else f"{upper(odds, 3)}:1"
