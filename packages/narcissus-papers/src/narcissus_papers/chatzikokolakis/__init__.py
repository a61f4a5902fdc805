"""Chatzikokolakis et al. 2023, Bayes Security: figures, tables and statements."""

from narcissus_papers.base import Item
from narcissus_papers.chatzikokolakis.composition import COMPOSITION, COMPUTING, LEAKAGE
from narcissus_papers.chatzikokolakis.experiments import (
    FIGURE_6A,
    FIGURE_6B,
    FIGURE_6C,
    FIGURE_7,
    FIGURE_8,
    TABLE_1,
    TABLE_2,
)
from narcissus_papers.chatzikokolakis.figures import (
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
)
from narcissus_papers.chatzikokolakis.local_privacy import DATABASES, LOCAL_PRIVACY, MECHANISMS
from narcissus_papers.chatzikokolakis.security import CORNER_POINTS, SECURITY

ALL: tuple[Item, ...] = (
    *(FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6A, FIGURE_6B, FIGURE_6C, FIGURE_7),
    *(FIGURE_8, TABLE_1, TABLE_2),
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
