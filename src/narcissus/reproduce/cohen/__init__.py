"""Cohen et al. 2024, Data Reconstruction (003, first version 000): figures and statements."""

from narcissus.reproduce.base import Item

ALL: tuple[Item, ...] = ()
"""What of this paper can be made again, in its order."""
