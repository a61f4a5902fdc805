"""Releases and words shared by the statements of Kaplan et al. 2025."""

from __future__ import annotations

from narcissus.profiles.closed_forms.hidden_nature import Row, Rows
from narcissus_papers.base import Held


def sums(rows: Rows) -> Row:
    """Release the exact average, times ``n``."""
    return tuple(map(sum, zip(*rows, strict=True)))


def parities(rows: Rows) -> Rows:
    """Release the parities of neighbouring bits, in no order."""
    return tuple(sorted(tuple(a ^ b for a, b in zip(r[::2], r[1::2], strict=True)) for r in rows))


def proved(what: str, holds: bool, part: str) -> Held:
    return Held(f"{what} (proof: Narcissus theory {part})", bool(holds), "proved")
