"""The papers' figures, tables and statements, made again: ours beside what is printed."""

from narcissus.reproduce.base import (
    PAPERS,
    Given,
    Held,
    Item,
    Line,
    Needed,
    Panel,
    Printed,
    Quote,
    Reproduced,
)
from narcissus.reproduce.items import ITEMS, chosen
from narcissus.reproduce.run import reproduce

__all__ = [
    "ITEMS",
    "PAPERS",
    "Given",
    "Held",
    "Item",
    "Line",
    "Needed",
    "Panel",
    "Printed",
    "Quote",
    "Reproduced",
    "chosen",
    "reproduce",
]
