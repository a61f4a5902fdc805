"""The papers' figures, tables and statements, reproduced next to what is printed."""

from narcissus.report.panels import Line, Panel
from narcissus_papers.base import PAPERS, Given, Held, Item, Needed, Printed, Quote, Reproduced
from narcissus_papers.items import ITEMS, chosen
from narcissus_papers.run import reproduce

__all__ = [
    "ITEMS", "PAPERS", "Given", "Held", "Item", "Line", "Needed", "Panel", "Printed", "Quote",
    "Reproduced", "chosen", "reproduce",
]  # fmt: skip
