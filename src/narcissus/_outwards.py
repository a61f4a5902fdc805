"""Limits as text, rounded outwards: the printed limit still holds."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def upper(value: float, figures: int = 6, *, places: int | None = None) -> str:
    """Format an upper limit, never below its value.

    Digits after the twelfth are floating-point noise and do not count. ``figures`` are significant,
    without trailing zeros; ``places`` are decimal places instead, all of them shown.

    >>> upper(0.7310581), upper(0.1 + 0.2), upper(100), upper(0.01234, places=3)
    ('0.731059', '0.3', '100', '0.013')
    """
    return _outwards(value, figures, places, ROUND_CEILING)


def lower(value: float, figures: int = 6, *, places: int | None = None) -> str:
    """Format a lower limit, never above its value; see `upper`.

    >>> lower(0.7310589), lower(0.3 - 0.2), lower(1e-300), lower(0.0599, places=2)
    ('0.731058', '0.1', '1e-300', '0.05')
    """
    return _outwards(value, figures, places, ROUND_FLOOR)


def _outwards(value: float, figures: int, places: int | None, rounding: str) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    exact = Decimal(f"{value + 0.0:.12g}")
    if places is not None:
        decimal = exact.quantize(Decimal(1).scaleb(-places), rounding=rounding)
        return f"{decimal or abs(decimal):f}"  # a zero has no sign
    decimal = Context(prec=figures, rounding=rounding).create_decimal(exact)
    return f"{float(decimal):.{figures}g}"
