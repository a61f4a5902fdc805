"""Results as data: what is proved, sampled, approximate, or could not be assessed.

`Bound`, `Estimate` and `Approximate` share no base class with numbers in it on purpose: code that
takes one cannot be handed the other, and their texts never look alike.
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

Grade = Literal["proved", "proved if", "sampled", "approximate", "not assessed"]
GRADES: tuple[Grade, ...] = ("proved", "proved if", "sampled", "approximate", "not assessed")
"""From the strongest to the weakest; a verdict has the weakest grade of what it rests on."""
Status = Literal[
    "met",
    "exceeded",
    "contradicted",
    "too few trials",
    "inconclusive",
    "not shown",
    "not assessed",
    "no threshold",
]
"""Of a study: what became of its threshold."""


def plain(value: Any) -> Any:
    """Give ``value`` as JSON can hold it; infinities become None."""
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
        """How far the number can be trusted."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Give the fields as plain Python values that JSON can hold."""
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}

    def to_frame(self) -> pd.DataFrame:
        """Give the fields as a data frame with one row."""
        return pd.DataFrame([self.to_dict()])

    def __float__(self) -> float:
        """Give ``value``, for `float` and NumPy, of a result that is about one number."""
        value = getattr(self, "value", None)
        if not isinstance(value, int | float):
            raise TypeError(
                f"{type(self).__name__} is not one number: take one of "
                f"{', '.join(f.name for f in dataclasses.fields(self))}"
            )
        return float(value)

    def __bool__(self) -> bool:
        """Tell whether what was asked holds, where that is the question; otherwise true."""
        return bool(getattr(self, "holds", True))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True)
class Bound(Result):
    """A proved limit on what any attacker can do.

    Attributes
    ----------
    value
        The limit.
    quantity
        What is limited, in words: ``"success of one target"``.
    theorem
        The theorem, with its source: ``"Swanberg et al. 2025, Theorem 3.2"``.
    assumptions
        What must hold for the theorem to apply.
    valid
        False for a published formula that is known not to hold; kept for comparison only.
    id
        Short name of the theorem, the same for ever: that of `narcissus.bounds.THEOREMS`, for what
        is there.
    takes_as_given
        What is believed and not proved, such as that the prior is the true one.
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
        kept = "PROVED" if not self.takes_as_given else "PROVED IF"
        head = kept if self.valid else "NOT A BOUND (shown for comparison only)"
        lines = [f"{head}: {self.quantity} at most {upper(self.value)}", f"  by {self.theorem}"]
        lines += [f"  assuming {a}" for a in self.assumptions]
        lines += [f"  taken as given: {a}" for a in self.takes_as_given]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Give the fields and the grade."""
        return {**super().to_dict(), "grade": self.grade}


@dataclass(frozen=True)
class Estimate(Result):
    """A sampled number with its confidence limits.

    Attributes
    ----------
    value
        The estimate.
    low, high
        Confidence limits; None where no limit exists on that side (``why`` says the reason).
    confidence
        Level of the limits, such as 0.95.
    trials
        How many independent trials made it.
    quantity
        What is estimated, in words.
    method
        How the limits were made: ``"Clopper-Pearson"``.
    why
        Why a limit is missing, if one is.
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

    def __str__(self) -> str:
        low = "none" if self.low is None else lower(self.low)
        high = "none" if self.high is None else upper(self.high)
        text = (
            f"SAMPLED: {self.quantity or 'estimate'} {self.value:.6g}, "
            f"{100 * self.confidence:g}% limits {low} to {high} "
            f"({self.trials} trials{', ' + self.method if self.method else ''})"
        )
        return f"{text}\n  {self.why}" if self.why else text


@dataclass(frozen=True)
class Approximate(Result):
    """A sampled number with limits whose level holds only roughly: normal, studentised, bootstrap.

    Never a ground for a verdict; shown beside limits that hold.

    Attributes
    ----------
    value
        The estimate.
    low, high
        The approximate limits.
    confidence
        Level that the limits aim at, such as 0.95.
    trials
        How many independent trials made it.
    quantity
        What is estimated, in words.
    method
        How the limits were made: ``"Student's t"``.
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


@dataclass(frozen=True)
class NotAssessed(Result):
    """Something that was asked and could not be answered; never to be read as safe.

    Attributes
    ----------
    quantity
        What was asked.
    reason
        Why there is no answer.
    remedy
        What the user can do about it.
    """

    quantity: str
    reason: str
    remedy: str = ""

    @property
    def grade(self) -> Grade:
        """Always 'not assessed'."""
        return "not assessed"

    def __str__(self) -> str:
        text = f"NOT ASSESSED: {self.quantity}: {self.reason}"
        return f"{text}\n  remedy: {self.remedy}" if self.remedy else text
