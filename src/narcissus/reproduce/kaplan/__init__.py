"""Kaplan et al. 2025, Bayesian Perspective on Memorization: figures and statements."""

from narcissus.reproduce.base import Item

ALL: tuple[Item, ...] = ()
"""What of this paper can be made again, in its order."""
