"""One file for each kind of study: its record, turned into a page."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from narcissus.report.envelope import complete, plain_page
from narcissus.report.page import Page
from narcissus.study.record import Record

# kind -> module with a function `page(record) -> Page`
PAGES: dict[str, str] = {
    "channel": "narcissus.report.kinds.channel",
    "extraction": "narcissus.report.kinds.extraction",
    "game": "narcissus.report.kinds.game",
    "table": "narcissus.report.kinds.table",
}


def page_of(record: Record) -> Page:
    """Turn a record into a page: what its kind says, within what every report says.

    A kind without a page of its own has its results listed as they are.
    """
    page: Callable[[Record], Page] = plain_page
    if record.kind in PAGES:
        page = import_module(PAGES[record.kind]).page
    return complete(page(record), record)
