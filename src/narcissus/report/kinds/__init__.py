"""A record turned into a page, by its kind; one file here for each kind that has no rows yet."""

from __future__ import annotations

from importlib import import_module

from narcissus.report.about import shown
from narcissus.report.envelope import complete
from narcissus.report.page import Page
from narcissus.study.record import Record
from narcissus.study.shareable import to_show

# kind -> module with a function `page(record) -> Page`
PAGES: dict[str, str] = {}


def page_of(record: Record, *, internal: bool = False, alone: bool = False) -> Page:
    """Turn a record into a page: what its kind says, within what every report says.

    internal: draw all that the steward may see; else what may be shown
        (`narcissus.study.shareable`).
    alone: of a sweep, draw the setting alone that the status is about.
    Raises InputError: it has groups of so few real people that it cannot be shown.
    """
    record = record if internal else to_show(record)
    if (found := shown(record)) is not None:
        page = found[0].page(record, found[1].alone if alone else found[1])
    else:
        page = import_module(PAGES[record.kind]).page(record)
    return complete(page, record, internal=internal)
