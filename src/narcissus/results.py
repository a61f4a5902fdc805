"""Results as data: proved, counted, sampled, approximate, or not assessed.

`Bound`, `Estimate` and `Approximate` share no base class with numbers in it on purpose: code for
one cannot be given another, and their texts never look alike.
"""

from __future__ import annotations

import dataclasses
import html
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from narcissus._outwards import lower, upper
from narcissus._pandas import pd

Grade = Literal["proved", "proved if", "counted", "sampled", "approximate", "not assessed"]
GRADES: tuple[Grade, ...] = (
    *("proved", "proved if", "counted"),
    *("sampled", "approximate", "not assessed"),
)
"""From the strongest to the weakest; a verdict has the weakest grade of what it rests on."""
CERTAIN: tuple[Grade, ...] = GRADES[:3]
"""Of numbers that no chance blurs, whatever they assume: theorems, exact computations, counts."""
Status = Literal[
    "met",
    "exceeded",
    "contradicted",
    "too few trials",
    "inconclusive",
    "not shown",
    "undeclared",
    "not assessed",
    "no threshold",
]
"""Of a study: what became of its threshold."""


def plain(value: Any) -> Any:
    """Convert ``value`` to JSON types; infinities become None."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@dataclass(frozen=True)
class Result:
    """Base of results: a one-line ``repr``, a readable ``str``, HTML, a dict and a frame."""

    @property
    def grade(self) -> Grade:
        """Trust in the number, as a grade."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python values for JSON."""
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return the fields as a data frame with one row."""
        return pd.DataFrame([self.to_dict()])

    def __float__(self) -> float:
        """Return ``value``, for `float` and NumPy, of a result about one number."""
        value = getattr(self, "value", None)
        if not isinstance(value, int | float):
            raise TypeError(
                f"{type(self).__name__} is not one number: take one of "
                f"{', '.join(f.name for f in dataclasses.fields(self))}"
            )
        return float(value)

    def __bool__(self) -> bool:
        """Whether the statement in question holds; true where there is none."""
        return bool(getattr(self, "holds", True))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True)
class Bound(Result):
    """A proved limit on any attacker.

    value: The limit.
    quantity: The limited quantity, in words: ``"success of one target"``.
    theorem: The theorem, with its source: ``"Swanberg et al. 2025, Theorem 3.2"``.
    assumptions: Conditions under which the theorem applies.
    valid: False for a published formula that is known not to hold; kept for comparison only.
    id: Permanent short name of the theorem, as in `narcissus.bounds.THEOREMS` if it is there.
    takes_as_given: Unproved premises, such as that the prior is the true one.
    """

    value: float
    quantity: str
    theorem: str
    assumptions: tuple[str, ...] = ()
    valid: bool = True
    id: str = ""
    takes_as_given: tuple[str, ...] = ()

    @property
    def grade(self) -> Grade:
        """'proved', 'proved if', or 'not assessed' for a formula that is known not to hold."""
        if not self.valid:
            return "not assessed"
        return "proved if" if self.takes_as_given else "proved"

    def __str__(self) -> str:
        label = "PROVED" if not self.takes_as_given else "PROVED IF"
        head = label if self.valid else "NOT A BOUND (shown for comparison only)"
        lines = [f"{head}: {self.quantity} at most {upper(self.value)}", f"  by {self.theorem}"]
        lines += [f"  assuming {a}" for a in self.assumptions]
        lines += [f"  assumed: {a}" for a in self.takes_as_given]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the grade."""
        return {**super().to_dict(), "grade": self.grade}


@dataclass(frozen=True)
class Estimate(Result):
    """A sampled number with its confidence limits.

    value: The estimate.
    low, high: Confidence limits; None where no limit exists on that side (``why`` is the reason).
    confidence: Level of the limits, such as 0.95.
    trials: Number of independent trials.
    quantity: The estimated quantity, in words.
    method: Method of the limits: ``"Clopper-Pearson"``.
    why: Reason for a missing limit.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float
    trials: int
    quantity: str = ""
    method: str = ""
    why: str = ""

    @property
    def grade(self) -> Grade:
        """Always 'sampled'."""
        return "sampled"

    @property
    def ends(self) -> tuple[float, float]:
        """Both limits, of an estimate that has both."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high

    def __str__(self) -> str:
        low = "none" if self.low is None else lower(self.low)
        high = "none" if self.high is None else upper(self.high)
        text = (
            f"ESTIMATED: {self.quantity or 'estimate'} {self.value:.6g}, "
            f"{100 * self.confidence:g}% limits {low} to {high} "
            f"({self.trials} trials{', ' + self.method if self.method else ''})"
        )
        return f"{text}\n  {self.why}" if self.why else text


@dataclass(frozen=True)
class Approximate(Result):
    """A sampled number with limits of approximate level: normal, studentised, bootstrap.

    Never a ground for a verdict; shown next to limits that hold. The fields are those of
    `Estimate`; the level is nominal.
    """

    value: float
    low: float
    high: float
    confidence: float
    trials: int
    quantity: str = ""
    method: str = ""

    @property
    def grade(self) -> Grade:
        """Always 'approximate'."""
        return "approximate"

    def __str__(self) -> str:
        return (
            f"APPROXIMATE: {self.quantity or 'estimate'} {self.value:.6g}, about "
            f"{lower(self.low)} to {upper(self.high)} at {100 * self.confidence:g}% "
            f"({self.trials} trials{', ' + self.method if self.method else ''})"
        )


WEAK = "more than a little of what a release adds"
"""What a weak audit cannot assess: few people, or a guess that is nearly sure."""
FOR_COPIES = "looked at for copies alone"
LEFT_OUT = "what columns that were left out give away"


@dataclass(frozen=True)
class NotAssessed(Result):
    """An unanswered question, never to be read as safe."""

    quantity: str  # the question
    reason: str  # why there is no answer
    remedy: str = ""  # what the user can do about it

    @property
    def grade(self) -> Grade:
        """Always 'not assessed'."""
        return "not assessed"

    def __str__(self) -> str:
        text = f"NOT ASSESSED: {self.quantity}: {self.reason}"
        return f"{text}\n  remedy: {self.remedy}" if self.remedy else text
