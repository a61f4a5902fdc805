"""Swanberg et al. 2025, Beyond the Worst Case: its figures, tables and statements."""

from narcissus_papers.base import Item
from narcissus_papers.swanberg.definitions import DEFINITIONS
from narcissus_papers.swanberg.figure_1 import FIGURE_1
from narcissus_papers.swanberg.figure_2 import FIGURE_2A, FIGURE_2B
from narcissus_papers.swanberg.figure_3 import FIGURE_3
from narcissus_papers.swanberg.figure_4 import FIGURE_4
from narcissus_papers.swanberg.figure_5 import FIGURE_5
from narcissus_papers.swanberg.figure_6 import FIGURE_6
from narcissus_papers.swanberg.figure_7 import FIGURE_7
from narcissus_papers.swanberg.proposition_b1 import PROPOSITION_B1
from narcissus_papers.swanberg.table_1 import TABLE_1
from narcissus_papers.swanberg.theorems import THEOREM_ITEMS

ALL: tuple[Item, ...] = (
    FIGURE_1,
    FIGURE_2A,
    FIGURE_2B,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FIGURE_6,
    FIGURE_7,
    TABLE_1,
    *DEFINITIONS,
    *THEOREM_ITEMS,
    PROPOSITION_B1,
)
"""What of this paper can be made again, in its order."""
