"""Releases and words shared by the statements of Kaplan et al. 2025."""

from __future__ import annotations

from collections.abc import Callable

from narcissus.profiles.closed_forms.hidden_nature import Row, Rows
from narcissus_papers.base import Given, Held, Item, Reproduced


def sums(rows: Rows) -> Row:
    """Release the exact average, times ``n``."""
    return tuple(map(sum, zip(*rows, strict=True)))


def parities(rows: Rows) -> Rows:
    """Release the parities of neighbouring bits, in no order."""
    return tuple(sorted(tuple(a ^ b for a, b in zip(r[::2], r[1::2], strict=True)) for r in rows))


def statement(
    number: str, title: str, make: Callable[[Given], Reproduced], command: str, seconds: float = 0.5
) -> Item:
    return Item("004", "statement", number, title, seconds, make, command=f"narcissus {command}")


def proved(what: str, holds: bool, part: str) -> Held:
    return Held(f"{what} (proof: Narcissus theory {part})", bool(holds), "proved")
