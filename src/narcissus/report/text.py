"""A page as plain text."""

from __future__ import annotations

from narcissus.study.record import Record


def render_text(record: Record) -> str:
    """Draw a record as text for a terminal."""
    raise NotImplementedError
