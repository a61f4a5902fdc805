"""Swanberg et al. 2025, Beyond the Worst Case: its figures, tables and statements."""

from narcissus_papers.base import Item
from narcissus_papers.swanberg.figures import FIGURE_1, FIGURE_2A, FIGURE_2B, FIGURE_3
from narcissus_papers.swanberg.tables import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7
from narcissus_papers.swanberg.theorems import DEFINITIONS, PROPOSITION_B1, TABLE_1, THEOREM_ITEMS

ALL: tuple[Item, ...] = (
    *(FIGURE_1, FIGURE_2A, FIGURE_2B, FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, TABLE_1),
    *DEFINITIONS,
    *THEOREM_ITEMS,
    PROPOSITION_B1,
)
"""What of this paper can be made again, in its order."""
