"""Chatzikokolakis et al. 2023, Bayes Security: figures, tables and statements."""

from narcissus.reproduce.base import Item
from narcissus.reproduce.chatzikokolakis.figure_1 import FIGURE_1
from narcissus.reproduce.chatzikokolakis.figure_2 import FIGURE_2
from narcissus.reproduce.chatzikokolakis.figure_3 import FIGURE_3
from narcissus.reproduce.chatzikokolakis.figure_4 import FIGURE_4
from narcissus.reproduce.chatzikokolakis.figure_5 import FIGURE_5
from narcissus.reproduce.chatzikokolakis.figure_6 import FIGURE_6A, FIGURE_6B, FIGURE_6C
from narcissus.reproduce.chatzikokolakis.figure_7 import FIGURE_7
from narcissus.reproduce.chatzikokolakis.figure_8 import FIGURE_8

ALL: tuple[Item, ...] = (
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FIGURE_6A,
    FIGURE_6B,
    FIGURE_6C,
    FIGURE_7,
    FIGURE_8,
)
"""What of this paper can be made again, in its order."""
