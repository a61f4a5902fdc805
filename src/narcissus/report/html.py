"""A page as one HTML file."""

from __future__ import annotations

from narcissus.study.record import Record


def render_html(record: Record) -> str:
    """Draw a record as one self-contained HTML page."""
    raise NotImplementedError
