"""Chatzikokolakis et al. 2023, Bayes Security: figures, tables and statements."""

from narcissus_papers.base import Item
from narcissus_papers.chatzikokolakis import experiments as played
from narcissus_papers.chatzikokolakis import figures as drawn
from narcissus_papers.chatzikokolakis.composition import COMPOSITION, COMPUTING, LEAKAGE
from narcissus_papers.chatzikokolakis.local_privacy import DATABASES, LOCAL_PRIVACY, MECHANISMS
from narcissus_papers.chatzikokolakis.security import CORNER_POINTS, SECURITY

ALL: tuple[Item, ...] = (
    *(drawn.FIGURE_1, drawn.FIGURE_2, drawn.FIGURE_3, drawn.FIGURE_4, drawn.FIGURE_5),
    *(played.FIGURE_6A, played.FIGURE_6B, played.FIGURE_6C, played.FIGURE_7, played.FIGURE_8),
    *(played.TABLE_1, played.TABLE_2),
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
