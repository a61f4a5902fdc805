"""Success, baseline, gain and bound at each size, from the results of the studies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from narcissus.findings import weakest
from narcissus.profiles.family import ROUNDING
from narcissus.results import Grade
from narcissus.scale.fit import Direction, Exponent, Known, direction, exponents
from narcissus.study.results.game import AttackerResult, ExactGame, GameResults, ProofResult

Quantity = Literal["gain", "success", "baseline", "bound", "closed form"]
EVERYBODY = "any attacker"


@dataclass(frozen=True)
class SizeCurve:
    """One quantity over the sizes at which it is known.

    Attributes
    ----------
    whose
        An attack, `EVERYBODY` (the exact answer; success and baseline are of the attacker
        with the largest gain, where there is any), or a theorem.
    quantity
        "gain" is success less ``e^epsilon`` times the own baseline, with the epsilon of the
        statement; "bound" limits success or gain, "closed form" is success by a formula.
    points
        In the order of sizes.
    grade
        The weakest grade of its points.
    limits
        Of a bound, the quantity that it limits.
    """

    whose: str
    quantity: Quantity
    points: tuple[Known, ...]
    grade: Grade
    limits: str = ""

    @property
    def direction(self) -> Direction:
        """Certain direction of the curve."""
        return direction(self.points)

    @property
    def exponents(self) -> list[Exponent]:
        """Both laws, fitted."""
        return exponents(self.points)


def epsilon_of(results: GameResults) -> float:
    """Return the logarithm of the factor on the baseline in a gain."""
    if results.statement.name == "threshold":  # its epsilon is a success, and no factor
        return 0.0
    return results.statement.epsilon or 0.0


def curves_of(
    found: Sequence[tuple[float, GameResults]], *, between: bool = False
) -> list[SizeCurve]:
    """Collect all curves from sizes, in order, and the results of the study of each.

    ``between`` is whether the study covers every rate of an interval, with some rates written out.
    """
    made: dict[tuple[str, Quantity, str], list[tuple[Known, Grade]]] = {}
    for size, results in found:
        for whose, quantity, limits, known, grade in _of_one(size, results, between=between):
            made.setdefault((whose, quantity, limits), []).append((known, grade))
    return [
        SizeCurve(
            whose, quantity, tuple(k for k, _ in points), weakest(g for _, g in points), limits
        )
        for (whose, quantity, limits), points in made.items()
    ]


_Point = tuple[str, Quantity, str, Known, Grade]


def _of_one(size: float, results: GameResults, *, between: bool) -> Iterator[_Point]:
    if results.exact is not None:
        yield from (_of_all_rates if between else _exact)(size, results.exact)
    for one in results.attackers:
        if one.failed < one.success.trials:  # one that always raised says nothing
            yield from _sampled(size, one, math.exp(epsilon_of(results)))
    for proof in results.proofs:
        yield _bound(size, proof)


def _exact(size: float, exact: ExactGame) -> Iterator[_Point]:
    best, grade = exact.best_attacker, exact.grade
    gain = exact.delta[exact.epsilon.index(best.at_epsilon)]
    numbers: dict[Quantity, float] = {"gain": gain}
    if gain > ROUNDING:  # else the best attacker makes no attempt
        numbers |= {"success": best.success, "baseline": best.baseline}
    for quantity, value in numbers.items():
        low, high = max(0.0, value - ROUNDING), value + ROUNDING
        yield EVERYBODY, quantity, "", Known(size, value, low, high, exact=True), grade


def _of_all_rates(size: float, exact: ExactGame) -> Iterator[_Point]:
    """Yield the delta needed at the worst rate examined, and the one enough for every rate.

    Success and baseline are known at the examined rates only, and the worst rate may be another.
    """
    gain = exact.delta[exact.epsilon.index(exact.best_attacker.at_epsilon)]
    enough = 1.0 if exact.cover is None else exact.cover.at_most
    known = Known(size, gain, max(0.0, gain - ROUNDING), max(enough, gain) + ROUNDING)
    yield EVERYBODY, "gain", "", known, exact.grade


def _sampled(size: float, one: AttackerResult, factor: float) -> Iterator[_Point]:
    """Yield the sampled points of one attack; all limits hold at once, so the narrower ones do."""
    won, lost = one.success, one.baseline
    s = won.value, _or(won.low, 0.0), _or(won.high, 1.0)
    b = lost.value, _or(lost.low, 0.0), _or(lost.high, 1.0)
    low, high = s[1] - factor * b[2], s[2] - factor * b[1]
    if one.gap is not None:
        low, high = max(low, _or(one.gap.low, -math.inf)), min(high, _or(one.gap.high, math.inf))
    gain = s[0] - factor * b[0]
    yield one.name, "gain", "", Known(size, gain, min(low, gain), max(high, gain)), "sampled"
    yield one.name, "success", "", Known(size, *s), "sampled"
    yield one.name, "baseline", "", Known(size, *b), "sampled"


def _or(limit: float | None, otherwise: float) -> float:
    return otherwise if limit is None else limit


def _bound(size: float, proof: ProofResult) -> _Point:
    value = proof.value
    theorem = proof.theorem.split(" (")[0]  # without the promise, which the size may be part of
    limits = "gain" if proof.limits == "delta" else "success"
    return theorem, "bound", limits, Known(size, value, value, value, exact=True), proof.grade
