"""Swanberg et al. 2025, Beyond the Worst Case: its figures, tables and statements."""

from narcissus.reproduce.base import Item
from narcissus.reproduce.swanberg.figure_1 import FIGURE_1
from narcissus.reproduce.swanberg.figure_2 import FIGURE_2A, FIGURE_2B
from narcissus.reproduce.swanberg.figure_3 import FIGURE_3

ALL: tuple[Item, ...] = (FIGURE_1, FIGURE_2A, FIGURE_2B, FIGURE_3)
"""What of this paper can be made again, in its order."""
