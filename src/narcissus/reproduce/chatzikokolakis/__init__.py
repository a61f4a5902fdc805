"""Chatzikokolakis et al. 2023, Bayes Security: figures, tables and statements."""

from narcissus.reproduce.base import Item
from narcissus.reproduce.chatzikokolakis.composition import COMPOSITION
from narcissus.reproduce.chatzikokolakis.computing import COMPUTING
from narcissus.reproduce.chatzikokolakis.corner_points import CORNER_POINTS
from narcissus.reproduce.chatzikokolakis.databases import DATABASES
from narcissus.reproduce.chatzikokolakis.figure_1 import FIGURE_1
from narcissus.reproduce.chatzikokolakis.figure_2 import FIGURE_2
from narcissus.reproduce.chatzikokolakis.figure_3 import FIGURE_3
from narcissus.reproduce.chatzikokolakis.figure_4 import FIGURE_4
from narcissus.reproduce.chatzikokolakis.figure_5 import FIGURE_5
from narcissus.reproduce.chatzikokolakis.figure_6 import FIGURE_6A, FIGURE_6B, FIGURE_6C
from narcissus.reproduce.chatzikokolakis.figure_7 import FIGURE_7
from narcissus.reproduce.chatzikokolakis.figure_8 import FIGURE_8
from narcissus.reproduce.chatzikokolakis.leakage import LEAKAGE
from narcissus.reproduce.chatzikokolakis.local_privacy import LOCAL_PRIVACY
from narcissus.reproduce.chatzikokolakis.mechanisms import MECHANISMS
from narcissus.reproduce.chatzikokolakis.security import SECURITY
from narcissus.reproduce.chatzikokolakis.tables import TABLE_1, TABLE_2

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
    TABLE_1,
    TABLE_2,
    *SECURITY,
    *CORNER_POINTS,
    *COMPOSITION,
    *LOCAL_PRIVACY,
    *DATABASES,
    *LEAKAGE,
    *MECHANISMS,
    *COMPUTING,
)
"""What of this paper can be made again, in its order."""
