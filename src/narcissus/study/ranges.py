"""Values to try, as a line of text: from, to, and a step or a factor; or a list."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from narcissus.errors import InputError

MOST, LARGEST = 100_000, 10**15


def spread(text: str, option: str = "--values") -> list[float]:
    """Read values to try: ``FROM:TO:STEP``, both ends included, or a list with commas.

    Whole numbers stay whole, and steps are decimal: ``0:0.3:0.1`` holds 0.3. A step ``xF`` is a
    factor: ``8:64:x2`` is 8, 16, 32, 64. Messages call it ``option``.
    """
    wrong = InputError(
        f"`{option}` must be FROM:TO:STEP (such as 0:0.5:0.01, or 8:64:x2 by a factor) or a list "
        f"(1,2,4), got {text!r}"
    )
    ranged = ":" in text
    words = [word.strip() for word in text.split(":" if ranged else ",")]
    by_factor = ranged and words[-1].startswith("x")
    if by_factor:
        words[-1] = words[-1][1:]
    try:
        numbers = [Decimal(word) for word in words]
    except InvalidOperation as error:
        raise wrong from error
    if not all(number.is_finite() and abs(number) < LARGEST for number in numbers) or (
        ranged and len(numbers) != 3
    ):
        raise wrong
    if ranged:
        start, end, step = numbers
        numbers = (_factors if by_factor else _steps)(start, end, step, option)
    return [int(number) if number == int(number) else float(number) for number in numbers]


def _steps(start: Decimal, end: Decimal, step: Decimal, option: str) -> list[Decimal]:
    if step == 0 or (end - start) / step < 0:
        raise InputError(f"`{option}` never gets from {start} to {end} in steps of {step}")
    if (end - start) / step > MOST:
        raise InputError(f"`{option}` holds more than {MOST:,} values: make the step larger")
    return [start + k * step for k in range(int((end - start) / step) + 1)]


def _factors(start: Decimal, end: Decimal, factor: Decimal, option: str) -> list[Decimal]:
    rises = factor > 1
    if min(start, end, factor) <= 0 or factor == 1 or (end < start if rises else end > start):
        raise InputError(f"`{option}` never gets from {start} to {end} by factors of {factor}")
    numbers = [start]
    while (numbers[-1] * factor <= end) if rises else (numbers[-1] * factor >= end):
        if len(numbers) > MOST:
            raise InputError(f"`{option}` holds more than {MOST:,} values: make the factor larger")
        numbers.append(numbers[-1] * factor)
    return numbers
