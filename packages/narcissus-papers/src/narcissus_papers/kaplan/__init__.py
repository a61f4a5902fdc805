"""Kaplan et al. 2025, Bayesian Perspective on Memorization: figures and statements."""

from narcissus_papers.base import Item
from narcissus_papers.kaplan.memorization import MEMORIZATION, SAFETY
from narcissus_papers.kaplan.surprisal import SIDE_INFORMATION, SURPRISAL
from narcissus_papers.kaplan.thesis import THESIS

ALL: tuple[Item, ...] = (THESIS, *MEMORIZATION, *SAFETY, *SIDE_INFORMATION, *SURPRISAL)
"""What of this paper can be made again, in its order."""
