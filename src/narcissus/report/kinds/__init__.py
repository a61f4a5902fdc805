"""One file for each kind of study: its record, turned into a page."""

from __future__ import annotations

from importlib import import_module

from narcissus.report.envelope import complete
from narcissus.report.page import Page
from narcissus.study.record import Record
from narcissus.study.shareable import to_show

# kind -> module with a function `page(record) -> Page`
PAGES: dict[str, str] = {
    "channel": "narcissus.report.kinds.channel",
    "classifier": "narcissus.report.kinds.classifier",
    "extraction": "narcissus.report.kinds.extraction",
    "game": "narcissus.report.kinds.game",
    "image-model": "narcissus.report.kinds.image",
    "language-model": "narcissus.report.kinds.language",
    "secrets": "narcissus.report.kinds.secrets",
    "synthetic": "narcissus.report.kinds.synthetic",
    "table": "narcissus.report.kinds.table",
}


def page_of(record: Record, *, internal: bool = False) -> Page:
    """Turn a record into a page: what its kind says, within what every report says.

    Parameters
    ----------
    record
        From a run, or read from a file.
    internal
        Draw all that the steward may see; else what may be shown (`narcissus.study.shareable`).

    Raises
    ------
    InputError
        It has groups of so few real people that it cannot be shown.
    """
    record = record if internal else to_show(record)
    return complete(import_module(PAGES[record.kind]).page(record), record, internal=internal)
