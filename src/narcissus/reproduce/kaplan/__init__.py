"""Kaplan et al. 2025, Bayesian Perspective on Memorization: figures and statements."""

from narcissus.reproduce.base import Item
from narcissus.reproduce.kaplan.memorization import MEMORIZATION
from narcissus.reproduce.kaplan.safety import SAFETY
from narcissus.reproduce.kaplan.side_information import SIDE_INFORMATION
from narcissus.reproduce.kaplan.surprisal import SURPRISAL
from narcissus.reproduce.kaplan.thesis import THESIS

ALL: tuple[Item, ...] = (THESIS, *MEMORIZATION, *SAFETY, *SIDE_INFORMATION, *SURPRISAL)
"""What of this paper can be made again, in its order."""
