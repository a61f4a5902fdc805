"""A theorem that bounds any attacker: its statement, its needs, its bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import integer, probabilities
from narcissus.bounds.threat import Threat
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    Guarantee,
    ProfileGuarantee,
    PureDP,
    require_replace_one,
)
from narcissus.results import Bound, NotAssessed

FloatArray = NDArray[np.float64]


def log_odds(prior: ArrayLike) -> FloatArray:
    """Return ``log(prior / (1 - prior))``, infinite at 0 and 1."""
    return special.logit(probabilities("prior", prior))


def posterior(prior: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Return ``expit(logit(prior) + epsilon)``: success odds times ``exp(epsilon)``.

    Shapes broadcast; accurate for priors of 1e-300 and epsilons of 1e4.

    Source: Swanberg et al. 2025, Theorem 3.2.
    """
    return special.expit(log_odds(prior) + np.asarray(epsilon, dtype=np.float64))


ForPeople = Callable[[ArrayLike, Guarantee, ArrayLike | None], FloatArray]
"""From priors, a guarantee and a success matrix (None for exact match) to numbers."""

About = Literal["success", "tail", "columns"]
"""The success on one target (and so the mean share of many), the chance that many are
reconstructed, or the mean share of a target's unknown columns."""

ONE_POINT = (PureDP, ApproximateDP)  # guarantees that are one point (epsilon, delta)


def points_of(guarantee: Guarantee, count: int = 40, larger: int = 9) -> FloatArray:
    """Return rising epsilons, at least 0, at which a bound on many targets is worth evaluating.

    The guarantee's tangents and, if delta is positive at the last of them, about ``larger`` bigger
    ones: (epsilon, delta)-DP holds at every larger epsilon, where leaks may cost less.
    """
    points = np.unique(np.maximum(guarantee.tangents(count), 0.0))
    if float(guarantee.profile(points[-1])) <= 1e-12:
        return points
    extras = np.append(1e-7, np.geomspace(1e-3, 8.0, larger))
    return np.append(points, extras[extras > points[-1]])


@dataclass(frozen=True)
class Question:
    """The quantity to bound: a threat under a guarantee, and a number of reconstructed targets."""

    threat: Threat  # see `narcissus.bounds.threat`
    # about replace-one neighbours, or for membership; see `narcissus.guarantees.as_asked`
    guarantee: Guarantee
    at_least: int | None = None  # the count, or None for the success on one target

    def __post_init__(self) -> None:
        require_replace_one(self.guarantee)
        if self.at_least is not None:
            object.__setattr__(self, "at_least", integer("at_least", self.at_least))
            if self.threat.columns is not None:
                raise InputError("`at_least` counts targets; a threat to columns has a mean share")

    @property
    def about(self) -> About:
        if self.at_least is not None:
            return "tail"
        return "success" if self.threat.columns is None else "columns"

    @property
    def n(self) -> int:
        """Number of targets; the success on one target is a tail with ``n = v = 1``."""
        return 1 if self.at_least is None else self.threat.targets

    @property
    def r(self) -> int:
        """Number of targets guessed."""
        return 1 if self.at_least is None else self.threat.guesses

    @property
    def v(self) -> int:
        """Number of targets that are reconstructed."""
        return 1 if self.at_least is None else self.at_least

    @property
    def p(self) -> float:
        """Prior success of the best attempt on one target."""
        return self.threat.prior

    @property
    def epsilon(self) -> float:
        """The guarantee's epsilon; for `ONE_POINT`, like `delta` and `odds`."""
        assert isinstance(self.guarantee, ONE_POINT)
        return self.guarantee.epsilon

    @property
    def delta(self) -> float:
        assert isinstance(self.guarantee, ONE_POINT)
        return self.guarantee.delta

    @cached_property
    def odds(self) -> FloatArray:
        """Log of the prior odds times ``exp(epsilon)``."""
        return log_odds(self.p) + self.epsilon

    @property
    def of_values(self) -> tuple[FloatArray, Guarantee, int, ArrayLike | None]:
        """The prior, guarantee, count and success of bounds that take them; see `Needs.values`."""
        return np.array(self.threat.values), self.guarantee, self.v, self.threat.success

    @property
    def quantity(self) -> str:
        """The bounded quantity, in words."""
        if self.threat.columns is not None:
            return f"mean share of {len(self.threat.columns)} columns of one target"
        if self.at_least is None:
            return "success on one target"
        return f"probability that at least {self.v} of {self.n} targets are reconstructed"


@dataclass(frozen=True)
class Needs:
    """Conditions for a theorem to apply, or to hold."""

    # kinds of guarantees, any one of which suffices
    guarantee: tuple[type[Guarantee], ...] = (Guarantee,)
    # the whole prior of a target's value, or the worst one, must be known (see `threat`)
    values: bool = False
    # the likeliest values and an upper bound on the others must be known
    # (`threat_of_likeliest`)
    likeliest: bool = False
    ranked: bool = False  # the masses of the values by rank must be known (see `threat_of_ranked`)
    # `exact_match`, `uniform`: A guess must name the exact value; the values must be equally
    # likely
    exact_match: bool = False
    uniform: bool = False
    prior: float | None = None  # the only prior success to which it applies; None for any
    inseparable: float = 0.0  # the least ``kappa``
    several_points: bool = False  # the guarantee must imply more than one point (epsilon, delta)
    # the guarantee must not be pure DP, where nothing is gained over a closed form
    not_pure: bool = False
    formula: bool = False  # the trade-off function must be a formula, not the envelope of a profile
    # `most_values`, `most_targets`, `most_guesses`, `most_at_least`: Sizes up to which it is
    # computed; None for any
    most_values: int | None = None
    most_targets: int | None = None
    most_guesses: int | None = None
    most_at_least: int | None = None
    at_least: int | None = None  # the only count to which it applies; None for any

    @property
    def whole(self) -> bool:
        """Whether more of the prior is needed than its best guess."""
        return self.values or self.likeliest or self.ranked

    def lacking(self, q: Question) -> str | None:
        """Describe the first need that a question does not meet; None if all are met."""
        threat, guarantee = q.threat, q.guarantee
        kinds = " or ".join(kind.__name__ for kind in self.guarantee)
        size = 0 if threat.values is None else len(threat.values)
        pure, curve = isinstance(guarantee, PureDP), not isinstance(guarantee, ProfileGuarantee)
        sizes = (
            (self.most_values, size, "at most {} values"),
            (self.most_targets, q.n, "at most {} targets"),
            (self.most_guesses, q.r, "at most {} guesses"),
            (self.most_at_least, q.v, "a count of at most {}"),
        )
        checks = (
            (isinstance(guarantee, self.guarantee), f"a guarantee of the kind {kinds}"),
            (not self.values or size > 0, "the whole prior of a target's value"),
            (
                not self.likeliest or threat.likeliest is not None,
                "the likeliest values of priors too long to list",
            ),
            (
                not self.ranked or threat.ranked is not None,
                "the masses of too many values to list, by rank",
            ),
            (not self.exact_match or threat.exact_match, "guesses that name the very value"),
            (not self.uniform or threat.uniform, "equally likely values, named exactly"),
            (self.prior in (None, q.p), f"a prior success of {self.prior}"),
            (threat.inseparable >= self.inseparable, f"kappa of at least {self.inseparable:g}"),
            (not self.not_pure or not pure, "a guarantee other than pure DP"),
            (not self.formula or curve, "a guarantee whose trade-off function is a formula"),
            *(
                (limit is None or count <= limit, need.format(limit))
                for limit, count, need in sizes
            ),
            (self.at_least in (None, q.v), f"the count {self.at_least}"),
            (
                not self.several_points or guarantee.tangents(2).size > 1,
                "a guarantee of more than one point",
            ),
        )
        return next((need for met, need in checks if not met), None)


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """A statement that bounds any attacker, under given needs."""

    id: str  # short permanent name: ``"swap"``
    source: str  # the paper and its number: ``"Swanberg et al. 2025, Theorem 3.2"``.
    title: str = ""  # its name, if the source alone is not clear
    says: str  # the statement, in one sentence
    # the bounded quantity: the success on one target, a tail of many, or both
    about: tuple[About, ...]
    # the bound for a `Question` that meets the needs, with a count from 1 to the number of
    # guesses. It need not be cut off at 1, nor at the prior.
    limit: Callable[[Question], float]
    needs: Needs = Needs()  # conditions without which it does not apply
    # further conditions for validity: elsewhere its number is shown for comparison only. None
    # for a false published statement.
    holds: Needs | None = Needs()
    why: str = ""  # the reason where it does not hold
    independent: bool = True  # whether a tail needs independent targets
    inseparable: bool = False  # whether it uses ``kappa``
    also: tuple[str, ...] = ()  # further assumptions, in words
    expensive: bool = (
        False  # whether it costs more than a formula: a linear program, a long recursion
    )
    # whether audits in one run test by it. Its tail must then rise with the guarantee.
    audits: bool = False
    own: bool = False  # whether it is this project's own result
    # bounds the success on each of many people at once: from their priors, shape (m, V), the
    # guarantee and the success matrix (None for exact match) to shape (m,). Audits of tables
    # use the minimum over all theorems that offer it. None if not offered.
    each: ForPeople | None = None
    # bounds the chance that at least v of many people are reconstructed, for all v at once: from
    # the same three arguments to shape (m + 2,), for ``v = 0 .. m + 1``. Audits of tables show it
    # next to the domination theorem, which they evaluate at points of the guarantee chosen
    # beforehand. None if not offered.
    tails: ForPeople | None = None

    @property
    def statement(self) -> str:
        """Source and title, as in reports."""
        return f"{self.source} ({self.title})" if self.title else self.source

    def by(self, how: str) -> Theorem:
        """Return the same theorem with ``how`` it was computed in its title."""
        return replace(self, title=f"{self.title}, {how}" if self.title else how)

    def lacks(self, q: Question) -> str | None:
        """Describe the first unmet need of a question; None if the theorem applies."""
        if q.about not in self.about:
            return f"a question about the {' or the '.join(self.about)}"
        return self.needs.lacking(q)

    def valid(self, q: Question) -> bool:
        """Check that it holds for a question that meets the needs."""
        return self.holds is not None and self.holds.lacking(q) is None

    def value(self, q: Question) -> float:
        """Return the bound for a question that meets the needs, in [0, 1]."""
        if q.v <= 0 or q.v > q.r:
            return float(q.v <= 0)
        value = min(1.0, max(0.0, self.limit(q)))
        # Rounding must not put a bound below what is reached without the release.
        return value if q.about == "tail" else min(1.0, max(q.p, value))

    def bound(
        self, threat: Threat, guarantee: Guarantee, at_least: int | None = None
    ) -> Bound | NotAssessed:
        """Return the bound with its assumptions, or the unmet need; see `Question`."""
        return self.answer(Question(threat, guarantee, at_least))

    def answer(self, q: Question) -> Bound | NotAssessed:
        lacking = self.lacks(q)
        if lacking is not None:
            return NotAssessed(q.quantity, f"{self.statement} needs {lacking}")
        bound = self.claim(self.value(q), q.quantity, self.assumptions(q), valid=self.valid(q))
        near = q.threat.nearby
        return bound if near is None else replace(bound, takes_as_given=(near.describe(),))

    def claim(
        self, value: float, quantity: str, assumptions: tuple[str, ...], *, valid: bool = True
    ) -> Bound:
        """Return a number computed elsewhere as a bound by this theorem."""
        return Bound(value, quantity, self.statement, assumptions, valid, self.id)

    def assumptions(self, q: Question) -> tuple[str, ...]:
        texts = [*q.guarantee.assumed]
        if q.about == "tail" and self.independent:
            texts.append("the targets' values are independent given what the attacker knows")
        if self.needs.whole or q.about == "columns":
            texts.append(q.threat.about_prior)
        else:
            texts.append(
                f"no attempt that the attack can make succeeds a priori with probability "
                f"above {q.p:g}"
            )
            if q.threat.nearby is not None:
                texts.append(q.threat.nearby.describe())
        if q.r < q.n:
            texts.append(f"the number of guesses, {q.r}, is fixed before the release is seen")
        if self.inseparable and q.threat.inseparable > 0:
            kappa = q.threat.inseparable
            texts.append(f"no guess tells two draws of a target apart with probability {kappa:g}")
        return (*texts, *self.also)
