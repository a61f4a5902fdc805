"""Numbers of rows as a reader is told them: so many of 100, counts, and limits rounded outwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from narcissus._outwards import lower, upper
from narcissus.report.format import Rounding
from narcissus.results import Grade
from narcissus.rows import Quantity, StudyRow

Form = Literal["share", "more", "number"]


@dataclass(frozen=True)
class RowView:
    """How a reader is told a number of a row: as ``scale`` times it plus ``offset``.

    form: "share" is so many of 100, "more" so many more of 100, "number" the number itself.
    rounding: Of the number: down where it is a lower limit, up where it is an upper one.
    """

    scale: float = 1.0
    offset: float = 0.0
    form: Form = "share"
    rounding: Rounding = "nearest"

    def number(self, value: float | None) -> float | None:
        return None if value is None else self.scale * value + self.offset

    def of(self, found: Quantity) -> Quantity:
        """Turn a quantity with its limits; a falling one swaps them."""
        ends = self.number(found.low), self.number(found.high)
        low, high = ends if self.scale > 0 else ends[::-1]
        return found.model_copy(
            update={"value": self.number(found.value), "low": low, "high": high}
        )


SHARE, MORE_OF_100, NUMBER = RowView(), RowView(form="more"), RowView(form="number")
AT_LEAST, AT_MOST = RowView(form="number", rounding="down"), RowView(form="number", rounding="up")
ERROR, OF_TWO = RowView(-1.0, 1.0), RowView(-0.5, 1.0)
"""An error as success; Bayes security as the success of telling two secrets apart."""


@dataclass(frozen=True)
class Reach:
    """A figure in a sentence.

    text: The sentence, with {} for the figure: "guessing gets {} people right."
    found: The share with its limits and grade; None where the sentence holds no figure.
    row: The row that it is of, where it is one of the record's.
    counted: How many of how many, where it was counted: written so, and never as so many of 100.
    is_decided: Whether the figure is the one that decided: found and row are then the judge's.
    view: How the row is read.
    is_limit: Whether the figure that decided is the upper limit of its row.
    is_drawn: Whether the picture is about it: what has another unit is only said.
    """

    text: str
    found: Quantity | None = None
    row: StudyRow | None = None
    counted: tuple[int, int] | None = None
    is_decided: bool = False
    view: RowView = SHARE
    is_limit: bool = False
    is_drawn: bool = True

    @classmethod
    def of(cls, text: str, row: StudyRow | None, view: RowView = SHARE) -> Reach:
        """Word a row of the record."""
        if row is None:
            return cls(text)
        return cls(text, view.of(row.quantity), row, counted_in(row), view=view)

    @property
    def grade(self) -> Grade | None:
        if self.found is None or self.found.value is None:
            return None
        return "counted" if self.counted is not None else self.found.grade


def decided(text: str, view: RowView = SHARE, *, is_limit: bool = False) -> Reach:
    """Word the row that decided, whichever the judge says it is; or its upper limit."""
    return Reach(text, is_decided=True, view=view, is_limit=is_limit)


def counted_in(row: StudyRow) -> tuple[int, int] | None:
    """Return how many of how many a row counted; None where it estimates or proves."""
    quantity = row.quantity
    if (
        quantity.low is not None
        or quantity.high is not None
        or row.role not in ("attack", "fresh", "measure")
    ):
        return None
    return quantity.counted


def of_100(share: float, rounding: Rounding = "nearest") -> str:
    """Write a share as whole ones of 100.

    >>> of_100(0.726), of_100(0.726, "up"), of_100(0.001), of_100(0.999), of_100(0.0)
    ('73 of 100', '73 of 100', 'fewer than 1 of 100', 'more than 99 of 100', '0 of 100')
    """
    count = hundredths(share, rounding)
    if count == 0 and share > 0:
        return "fewer than 1 of 100"
    return "more than 99 of 100" if count == 100 and share < 1 else f"{count} of 100"


def compared_of_100(share: float, limit: float) -> tuple[str, str]:
    """Write a share and a limit below it of 100, with one digit more where they look alike.

    >>> compared_of_100(0.71, 0.536), compared_of_100(0.543, 0.5361)
    (('71 of 100', '54 of 100'), ('54.3 of 100', '53.7 of 100'))
    """
    shown = of_100(share), of_100(limit, "up")
    if share <= limit or shown[0] != shown[1]:
        return shown

    def written(places: int) -> tuple[str, str]:
        return f"{100 * share:.{places}f}", str(upper(100 * limit, places=places))

    pairs = map(written, range(1, 5))
    share_text, limit_text = next(
        (pair for pair in pairs if float(pair[0]) > float(pair[1])), written(4)
    )
    return f"{share_text} of 100", f"{limit_text} of 100"


def hundredths(share: float, rounding: Rounding = "nearest") -> int:
    if rounding == "nearest":
        return round(100 * share)
    return int((upper if rounding == "up" else lower)(100 * share, places=0))


def three(value: float) -> str:
    """Write a number with three significant digits at most.

    >>> three(43.5801), three(100.0), three(0.00012345), three(123456.0)
    ('43.6', '100', '0.000123', '123,000')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:.12f}".rstrip("0").rstrip(".")


def written(value: float, view: RowView) -> str:
    """Write what is accepted of a row, as a reader is told it."""
    shown = view.number(value)
    assert shown is not None
    return three(shown) if view.form == "number" else f"{three(100 * shown)}{FORMS[view.form]}"


FORMS: dict[Form, str] = {"share": " of 100", "more": " more of 100", "number": ""}


def limits_text(found: Quantity, form: Form) -> str:
    """Write limits, rounded outwards; empty where there are none."""
    if found.low == found.high:  # none, or exact
        return ""
    if form == "number":
        ends = [None if end is None else way(end, 3) for end, way in _ways(found)]
        after = ""
    elif form == "more":
        ends = [
            None if end is None else _signed(way(100 * end, places=1)) for end, way in _ways(found)
        ]
        after = " of 100"
    else:
        low = None if found.low is None else str(hundredths(max(found.low, 0.0), "down"))
        high = None if found.high is None else str(hundredths(min(found.high, 1.0), "up"))
        ends, after = [low, high], " of 100"
    low, high = ends
    if low is None:
        return f"at most {high}{after}"
    return f"at least {low}{after}" if high is None else f"{low} to {high}{after}"


def _ways(found: Quantity) -> list[tuple[float | None, Any]]:
    return [(found.low, lower), (found.high, upper)]


def _signed(text: str) -> str:
    if text.startswith("-"):
        return f"\N{MINUS SIGN}{text[1:]}"
    return text if float(text) == 0 else f"+{text}"


def figure_text(
    value: float, view: RowView, counted: tuple[int, int] | None, rounding: Rounding = "nearest"
) -> str:
    """Write a figure of a sentence: a count as it was observed."""
    if counted is not None:
        return f"{counted[0]:,} of {counted[1]:,}"
    if view.form == "share":
        return of_100(min(1.0, max(0.0, value)), rounding)
    if view.form == "more":
        way = {"up": upper, "down": lower}.get(rounding)
        text = f"{100 * value:.1f}" if way is None else way(100 * value, places=1)
        return f"{_signed(text)} of 100"
    if rounding == "nearest":
        return three(value)
    return (upper if rounding == "up" else lower)(value, 3)


def limits_everybody(row: StudyRow) -> bool:
    """Return whether a row is about no attack, but about what all of them reach."""
    return row.role == "bound" or row.at.get("by") in ("bound", "ceiling")
