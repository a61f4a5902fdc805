"""Refutation: the largest epsilon, or mu, that an audit's counts contradict.

The audit plants ``m`` canaries with independent uniform secret values, has an attack guess ``r`` of
them from one release, and counts ``v`` right guesses. Drawing exactly half of the canaries into the
data, not a coin each, is nearly harmless. Drawing one of each *pair* is not, if each half of a pair
is counted: there the pairs are the canaries, with two values each (which of the two is in).

Or many independent runs have a secret each, drawn from a prior, uniform or not, and an attack names
it. Under a guarantee each run succeeds with probability at most the optimum for that prior, given
any results of the others, so the number of successes is at most binomial.

Source: Narcissus theory 4.3 (the bound), 4.6 (the optimum for any prior), 4.7 (the published ones),
5 (refutation).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from numpy.typing import ArrayLike
from scipy import special

from narcissus._outwards import lower
from narcissus._validation import between, distribution, integer, non_negative, one_of
from narcissus.bounds import THEOREMS, Question, Theorem, Threat, optimum, swap_tail, threat
from narcissus.bounds.published import counts
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP, Secret
from narcissus.results import Grade, Result

_LARGEST_PROGRAM = 300  # guesses up to which linear programs are solved, some dozens for one answer
_LARGEST_EPSILON = 1e4
LARGEST_MU = 100.0

Chosen = Literal["before", "after", "every", "looks"]

UNIFORM = (
    "every canary's value was drawn uniformly, independently of the others and of all else "
    "(membership: a fair coin each)"
)
ABOUT_CHOICE = (
    "the guarantee is about changing one canary's value: adding or removing it for membership, "
    "replacing it for another value, where a guarantee about added or removed records counts as "
    "converted (epsilon and mu double, delta becomes delta (1 + exp(epsilon)))"
)


@dataclass(frozen=True)
class Method:
    """The result of one method for the counts."""

    id: str  # `id`, `name`: The theorem in the registry `narcissus.bounds.THEOREMS`, and its source
    name: str
    epsilon: float  # the largest epsilon refuted; 0 if none
    p_value: float  # its p-value against the claimed epsilon
    valid: bool = True  # whether its theorem holds; the others are for comparison only


@dataclass(frozen=True)
class Refutation(Result):
    """The guarantees refuted by an audit."""

    # every (epsilon', delta)-DP with ``epsilon' < epsilon`` is refuted; 0 if none is
    epsilon: float
    mu: float  # every mu'-Gaussian DP with ``mu' < mu`` is refuted
    # upper limit on a Gaussian mechanism's noise multiplier, in clipping norms: ``2 / mu``
    # for a value, since a replaced record moves it by two, ``1 / mu`` for membership;
    # infinite if nothing is refuted
    noise: float
    # against the claimed epsilon (with delta): upper bound on the probability of at least
    # this number of right guesses
    p_value: float
    confidence: float  # level: true claims are refuted with probability at most ``1 - confidence``
    delta: float  # `delta`, `claimed`: The delta assumed, and the epsilon of the p-values
    claimed: float
    canaries: int  # `canaries`, `guesses`, `correct`, `values`: The counts
    guesses: int
    correct: int
    values: int
    methods: tuple[Method, ...]  # every method's result, ours first
    # whether the number of guesses was chosen ``"before"`` or ``"after"`` the release was
    # seen, or ``"every"`` one was tested at once (then `guesses` is the one that tells most), or
    # after every canary, ``"looks"``
    guesses_chosen: Chosen
    assumptions: tuple[str, ...]  # assumptions of the refutation
    secret: Secret = "value"  # what was guessed; see `asked`

    def __post_init__(self) -> None:
        assert 0 <= self.correct <= self.guesses <= self.canaries

    def asked(self, secret: Secret) -> Refutation:
        """Return the refutation for guesses of ``secret``.

        ``"value"``, a canary's value, refutes claims about replaced records; ``"membership"``,
        whether a canary is in the data, about added and removed ones.
        """
        if secret == "membership" and self.values != 2:
            raise InputError(f"`values` must be 2 for membership, in and out; got {self.values}")
        reach = 2.0 if secret == "value" else 1.0
        noise = reach / self.mu if self.mu > 0 else math.inf
        return replace(self, secret=secret, noise=noise)

    @property
    def question(self) -> str:
        """What was guessed, and the neighbours of the refuted guarantee."""
        if self.secret == "value":
            return "what value a canary has; what is refuted is about replaced records"
        return "whether a canary is in the data; what is refuted is about added and removed records"

    @property
    def grade(self) -> Grade:
        return "sampled"

    def __str__(self) -> str:
        about = (
            f"{self.correct} of {self.guesses} guesses about {self.canaries} canaries with "
            f"{self.values} values were right"
        )
        level = f"{100 * self.confidence:g}% confidence"
        if self.epsilon <= 0:
            head = (
                f"NOTHING REFUTED (estimated): {about}; {level} rules out no epsilon at delta "
                f"{self.delta:g}"
            )
        else:
            head = (
                f"REFUTED (estimated): {about}; with {level} the mechanism is not "
                f"({lower(self.epsilon)}, {self.delta:g})-DP nor better"
            )
        return "\n".join([head, *(f"  assuming {assumption}" for assumption in self.assumptions)])


PValue = Callable[[float], float]
"""From an epsilon (with the delta of the claim) to a p-value that rises with it."""


@dataclass(frozen=True)
class Claimed:
    delta: float
    level: float
    claimed: float
    parts: int = 1  # of the error: attacks, files or looks, of which one is tested

    @classmethod
    def of(cls, delta: float, confidence: float, claimed: float, parts: int = 1) -> Claimed:
        return cls(
            between("delta", delta, 0, 1, open_high=True),
            between("confidence", confidence, 0, 1, open_low=True, open_high=True),
            non_negative("claimed", claimed),
            integer("chosen_from", parts, low=1),
        )

    @property
    def alpha(self) -> float:
        """The error of this test alone."""
        return (1.0 - self.level) / self.parts

    @property
    def said(self) -> str:
        """What is assumed of the choice of what is tested."""
        if self.parts == 1:
            return (
                "this is the only attack, file and threshold that was tried on these canaries, and "
                "it is looked at a single time: the best of several refutes falsely more often"
            )
        return (
            f"at most {self.parts:,} attacks, files, thresholds or looks were tried on these "
            "canaries, and they share the error in equal parts"
        )

    def at(self, epsilon: float) -> Guarantee:
        return ApproximateDP(epsilon, self.delta) if self.delta > 0 else PureDP(epsilon)

    def method(
        self,
        theorem: Theorem,
        p_value: PValue,
        tolerance: float,
        factor: int,
        *,
        valid: bool = True,
    ) -> Method:
        """Find the epsilon refuted by one test, its p-values multiplied by ``factor``."""
        return Method(
            theorem.id,
            theorem.statement,
            largest_refuted(p_value, self.alpha / factor, tolerance),
            min(1.0, factor * p_value(self.claimed)),
            valid,
        )

    def refutation(
        self,
        methods: tuple[Method, ...],
        mu: float,
        *,
        counts: tuple[int, int, int, int],
        assumptions: tuple[str, ...],
        chosen: Chosen = "before",
    ) -> Refutation:
        m, r, v, values = counts
        methods = tuple(
            replace(method, p_value=min(1.0, self.parts * method.p_value)) for method in methods
        )
        valid = [method for method in methods if method.valid]
        return Refutation(
            epsilon=max(method.epsilon for method in valid),
            mu=mu,
            noise=2.0 / mu if mu > 0 else math.inf,
            p_value=min(method.p_value for method in valid),
            confidence=self.level,
            delta=self.delta,
            claimed=self.claimed,
            canaries=m,
            guesses=r,
            correct=v,
            values=values,
            methods=methods,
            guesses_chosen=chosen,
            assumptions=(*assumptions, self.said),
        )


def refute(
    canaries: int,
    guesses: int,
    correct: int,
    *,
    values: int = 2,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    guesses_chosen: Chosen = "before",
    chosen_from: int = 1,
) -> Refutation:
    """Find the largest epsilon, and mu, refuted by an audit's counts.

    Source: Narcissus theory 4.3: the tail bound is the exact optimum for uniform secrets, so no
    argument from (epsilon, delta) alone refutes more. For comparison: Steinke, Nasr and Jagielski
    2023 and Mahloujifar, Melis and Chaudhuri 2024.

    canaries: Number of records with a secret value, drawn uniformly and independently; for
        membership, in or out by a fair coin: then `Refutation.asked` of the result is the
        refutation.
    values: Number of values of a secret; 2 for membership, and for pairs of which one is in.
    claimed: The epsilon of the p-values; default 0, "the release reveals nothing".
    guesses_chosen: ``"before"`` if the number of guesses was fixed before the release was seen.
        ``"after"`` tests at half the level if ``delta`` is above 0, and mu always; see
        `level_factor`.
    chosen_from: Number of attacks, files, thresholds or looks on these canaries, of which this one
        is shown, at least 1. The error is divided by it; fix it before anything is seen.

    >>> round(refute(1000, 100, 75, delta=1e-4).epsilon, 3)
    0.695
    """
    m, r, v, k = counts(canaries, guesses, correct, values)
    claim = Claimed.of(delta, confidence, claimed, chosen_from)
    late = one_of("guesses_chosen", guesses_chosen, get_args(Chosen)[:2]) == "after"
    danger = threat(prior=1 / k, exact_match=True, targets=m, guesses=r)
    methods = _methods(danger, v, claim, level_factor(claim.delta, after=late))
    if late:
        point = claim.delta or claim.alpha / (2 * m)

        def late_p_value(mu: float) -> float:
            return closed_p_value(m, r, v, GaussianDP(mu).epsilon_beyond(point), point, values=k)

        mu = largest_refuted(late_p_value, claim.alpha / 2, 1e-6, largest=LARGEST_MU)
    else:
        mu = refuted_mu(danger, v, claim.alpha)
    return claim.refutation(
        methods,
        mu,
        counts=(m, r, v, k),
        assumptions=(UNIFORM, ABOUT_CHOICE, said_of_guesses(claim.delta, late=late)),
        chosen="after" if late else "before",
    )


def _tests(asked: Question) -> list[Theorem]:
    """List the theorems by which audits test such a guarantee, single formulas first."""
    usable = [
        theorem
        for theorem in THEOREMS.values()
        if theorem.audits
        and theorem.lacks(asked) is None
        and not (theorem.needs.several_points and asked.r > _LARGEST_PROGRAM)
    ]
    return sorted(usable, key=lambda theorem: theorem.expensive)


def _methods(danger: Threat, v: int, asked: Claimed, factor: int) -> tuple[Method, ...]:
    """Find the epsilon refuted by every theorem; p-values are multiplied by ``factor``.

    The minimum of several valid tails is valid, so the theorems share one level.
    """
    claim = Question(danger, asked.at(asked.claimed), v)
    methods: list[Method] = []
    for theorem in _tests(claim):

        def p_value(epsilon: float, theorem: Theorem = theorem) -> float:
            return theorem.value(Question(danger, asked.at(epsilon), v))

        tolerance = 1e-4 if theorem.expensive else 1e-9
        methods.append(
            asked.method(theorem, p_value, tolerance, factor, valid=theorem.valid(claim))
        )
    return tuple(methods)


def level_factor(delta: float, *, after: bool) -> int:
    """Return the factor of p-values: 2 where guesses chosen late could spend delta twice.

    *The number of guesses.* If it is chosen after the release is seen, (*) of 4.3 holds for all
    numbers together, with one budget: ``sum_r d_r <= delta`` for the parts of delta spent where
    ``r`` guesses are made. With ``r`` guesses, made with probability ``pi_r``, the tail is at most
    ``pi_r B_r + C_r d_r`` (the bound is concave in delta), so what is rejected because
    ``B_r + C_r delta <= a`` for its own ``r`` has probability at most
    ``max_r B_r + delta max_r C_r <= 2 a``, and at most ``a`` where delta is 0. This needs one
    point of the profile, the same for every ``r``; so mu, whose profile has many, is then refuted
    by the point at ``delta``, or at ``(1 - confidence) / (2 canaries)`` where delta is 0.
    """
    return 2 if after and delta > 0 else 1


def said_of_guesses(delta: float, *, late: bool) -> str:
    if not late:
        return (
            "the number of guesses was fixed before the release was seen (chosen after it, "
            "the level is up to twice as large where delta is above 0)"
        )
    if delta == 0:
        return "nothing about when the number of guesses was chosen: at delta 0 it may be late"
    return "nothing about when the number of guesses was chosen: tested at half the level"


def closed_p_value(
    m: int, r: int, v: int, epsilon: float, delta: float, *, values: int = 2
) -> float:
    """Return the largest probability of ``v`` right guesses under (epsilon, delta)-DP."""
    share = 1.0 / values
    return float(swap_tail(m, share, epsilon, delta, v, guesses=r, inseparable=share))


def refuted_mu(danger: Threat, v: int, alpha: float) -> float:
    """Find the largest mu refuted: by formulas, refined by costlier methods.

    Up to some hundreds of guesses two methods that hold at many points refine it, the smaller
    p-value of the two at each mu: the published recursion over the whole curve, and the program
    over tangents.
    """
    like = Question(danger, GaussianDP(1.0), v)
    tests = [theorem for theorem in _tests(like) if theorem.valid(like)]

    def p_value(mu: float, *, expensive: bool) -> float:
        """Return the first p-value that rejects, or the smallest."""
        question, smallest_p_value = Question(danger, GaussianDP(mu), v), 1.0
        for theorem in tests:
            if theorem.expensive == expensive and smallest_p_value > alpha:
                smallest_p_value = min(smallest_p_value, theorem.value(question))
        return smallest_p_value

    closed = largest_refuted(
        lambda mu: p_value(mu, expensive=False), alpha, 1e-6, largest=LARGEST_MU
    )
    if v == 0 or not any(theorem.expensive for theorem in tests):
        return closed
    refined = largest_refuted(
        lambda mu: p_value(mu, expensive=True), alpha, 1e-3, start=closed, largest=LARGEST_MU
    )
    return max(closed, refined)


def largest_refuted(
    p_value: Callable[[float], float],
    alpha: float,
    tolerance: float,
    *,
    start: float = 0.0,
    largest: float = _LARGEST_EPSILON,
) -> float:
    """Find the largest parameter whose p-value is at most ``alpha``; ``start`` if there is none.

    The p-value must rise with the parameter. The rejected end of the last bracket is returned.
    """
    if p_value(start) > alpha:
        return start
    low, step = start, 0.25
    while p_value(low + step) <= alpha:
        low, step = low + step, 2 * step
        if low > largest:
            return largest
    high = low + step
    while high - low > tolerance * max(1.0, low):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle) <= alpha else (low, middle)
    return low


def refuted_by_runs(
    prior: ArrayLike,
    runs: int,
    correct: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Find the largest epsilon, and mu, refuted by the successes of independent runs; 0 if none.

    What is refuted is about replacing the secret, each singly at the same confidence.

    All runs draw their secret from ``prior``, shape (values,); ``delta`` belongs to the epsilon.

    >>> epsilon, mu = refuted_by_runs([0.5, 0.3, 0.2], 1000, 700)
    >>> round(epsilon, 3)
    1.425
    """
    chances = distribution("prior", prior)
    n = integer("runs", runs, low=1)
    k = integer("correct", correct, low=0, high=n)
    claim = Claimed.of(delta, confidence, 0.0)

    def p_value(guarantee: Guarantee) -> float:
        share = min(1.0, float(optimum(chances, guarantee)[0]))
        return 1.0 if k == 0 else float(special.betainc(k, n - k + 1, share))

    def largest(kind: Callable[[float], Guarantee]) -> float:
        return largest_refuted(lambda x: p_value(kind(x)), claim.alpha, 1e-6, largest=100.0)

    return largest(claim.at), largest(GaussianDP)
