"""Numbers as text. Limits and bounds are rounded outwards: a rounded bound still holds."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import TYPE_CHECKING, Literal

from narcissus._outwards import lower, upper
from narcissus.results import Grade

if TYPE_CHECKING:
    from narcissus.rows import Quantity

Cell = str | float | int | None
MISSING = "\N{EM DASH}"
NO_BREAK = "\N{NO-BREAK SPACE}"
# a sign for each grade, so that none is told apart by colour alone
SIGNS: dict[Grade, str] = {
    "proved": "\N{BLACK SQUARE}",
    "proved if": "\N{WHITE UP-POINTING TRIANGLE}",
    "counted": "#",
    "sampled": "\N{CIRCLE WITH LEFT HALF BLACK}",
    "approximate": "\N{ALMOST EQUAL TO}",
    "not assessed": "?",
}
# status -> (sign, words); the sign and the words carry the meaning, the colour only repeats it
STATUS: dict[str, tuple[str, str]] = {
    "met": ("\N{CHECK MARK}", "Met"),
    "exceeded": ("\N{MULTIPLICATION X}", "Exceeded"),
    "contradicted": ("!", "Contradicted"),
    "too few trials": ("~", "Not decided"),
    "inconclusive": ("~", "Not decided"),
    "not shown": ("~", "Not decided"),
    "undeclared": ("~", "Not decided"),
    "not assessed": ("?", "Not assessed"),
    "no threshold": ("\N{BULLET}", "No threshold"),
    "compared": ("\N{BULLET}", "Compared"),
}
GRADES: dict[Grade, str] = {
    "proved": "a theorem: nothing is assumed but the guarantee and the game",
    "proved if": "a theorem that also needs an assumption, which is named",
    "counted": "counted in what was given, exactly; nothing is inferred",
    "sampled": "measured in repeated trials; the limits say how well",
    "approximate": "a formula, method or limit whose error is not known",
    "not assessed": "no answer was found; never to be read as safe",
}


def grade_word(grade: Grade) -> str:
    """Return a grade as reports write it: "sampled" is estimated."""
    return "estimated" if grade == "sampled" else grade


Rounding = Literal["nearest", "down", "up"]
_ROUNDING = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}


def percent(share: float | None, rounding: Rounding = "nearest") -> str:
    """Return a share as a percentage with one decimal; tiny shares keep two figures.

    Only an exact 0 is written as 0%, and only an exact 1, or a limit rounded up, as 100%.
    """
    if share is None:
        return MISSING
    if share in (-1, 0, 1):
        return f"{100 * share:g}%"
    # twelve digits, so that the noise of floating point does not push 0.1 "above 10%"
    value = 100 * Decimal(f"{share:.12g}")
    if abs(value) < Decimal("0.1"):
        two = Context(prec=2, rounding=_ROUNDING[rounding]).create_decimal(value)
        return f"{two.normalize():g}%"
    tenths = value.quantize(Decimal("0.1"), rounding=_ROUNDING[rounding])
    if tenths == 100:
        return "100%" if rounding == "up" else "above 99.9%"
    return f"{tenths}%"


def limits(low: float | None, high: float | None) -> str:
    """Return confidence limits of a share, rounded outwards."""
    if low is None and high is None:
        return MISSING
    if low is None:
        return f"at most {percent(high, 'up')}"
    if high is None:
        return f"at least {percent(low, 'down')}"
    return f"{percent(low, 'down')} to {percent(high, 'up')}".replace(" ", NO_BREAK)


def points(difference: float | None, rounding: Rounding = "nearest") -> str:
    """Return a difference of shares in percentage points, signed."""
    if difference is None:
        return MISSING
    nearest = f"{round(100 * difference, 1):.1f}"
    outwards = {"up": upper, "down": lower}.get(rounding)
    value = float(outwards(100 * difference, places=1) if outwards else nearest)
    sign = "\N{MINUS SIGN}" if value < 0 else "+" if value > 0 else ""
    return f"{sign}{abs(value):.1f}"


def list_names(names: Sequence[str], most: int = 3) -> str:
    """Join names; of more than one above ``most`` the rest is "and others".

    >>> list_names(["a", "b", "c", "d"]), list_names(["a", "b", "c", "d", "e"])
    ('a, b, c, d', 'a, b, c and others')
    """
    return ", ".join(names) if len(names) <= most + 1 else f"{', '.join(names[:most])} and others"


def between_points(low: float, high: float) -> str:
    """Return the limits of a difference in percentage points, rounded outwards."""
    return f"{points(low, 'down')} to {points(high, 'up')}"


def number(value: float) -> str:
    """Return a number for a reader: whole ones with separators, others with four figures."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4g}"


def cell(value: Cell, *, is_percent: bool = False) -> str:
    """Return a table's cell as text."""
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    return percent(value) if is_percent else number(value)


def contradicted(contradictions: Sequence[str]) -> str:
    """Return widest contradiction, and how many more there are; they are listed further down."""
    first, *others = contradictions
    if not others:
        return first
    pairs = (
        "pair of statements contradicts" if len(others) == 1 else "pairs of statements contradict"
    )
    return f"{first} {len(others)} more {pairs} each other."


def limits_of(quantity: Quantity) -> str:
    """Return limits as text; why there is no number, where there is none."""
    if quantity.approximate is not None:
        return f"about {limits(*quantity.approximate)}"
    if quantity.low is None and quantity.why:
        return (
            "" if quantity.high in (None, 1) else f"{limits(None, quantity.high)}; "
        ) + quantity.why
    return limits(quantity.low, quantity.high)
