"""Chatzikokolakis et al. 2023, Bayes Security: figures, tables and statements."""

from narcissus.reproduce.base import Item

ALL: tuple[Item, ...] = ()
"""What of this paper can be made again, in its order."""
