"""Swanberg et al. 2025, Beyond the Worst Case: its figures, tables and statements."""

from narcissus.reproduce.base import Item
from narcissus.reproduce.swanberg.definitions import DEFINITIONS
from narcissus.reproduce.swanberg.figure_1 import FIGURE_1
from narcissus.reproduce.swanberg.figure_2 import FIGURE_2A, FIGURE_2B
from narcissus.reproduce.swanberg.figure_3 import FIGURE_3
from narcissus.reproduce.swanberg.theorems import THEOREM_ITEMS

ALL: tuple[Item, ...] = (
    FIGURE_1,
    FIGURE_2A,
    FIGURE_2B,
    FIGURE_3,
    *DEFINITIONS,
    *THEOREM_ITEMS,
)
"""What of this paper can be made again, in its order."""
