"""An attacker of a pseudo-random generator: try seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from narcissus._options import FilledIn
from narcissus._validation import integer
from narcissus.attacks.ciphers import different_strings
from narcissus.errors import InputError
from narcissus.mechanisms.generator import Stretched
from narcissus.worlds.base import Array, Batch


@dataclass(frozen=True)
class SeedSearch:
    """Return "stretched" where one of the seeds that were tried gives the string, "random" else.

    Parameters
    ----------
    budget
        Seeds to try: all of them where there are no more, random different ones otherwise.
    """

    budget: int = 1024
    generator: Annotated[Stretched | None, FilledIn()] = None

    def __post_init__(self) -> None:
        integer("budget", self.budget, low=1)

    def prepare(self, game: object) -> SeedSearch:
        """Take the generator from the game."""
        mechanism = getattr(game, "mechanism", None)
        if not isinstance(mechanism, Stretched):
            raise InputError("the attack `seed-search` needs the mechanism `stretched`")
        return SeedSearch(self.budget, mechanism)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Guess the bit of each string, shape (trials,)."""
        if self.generator is None:
            raise InputError("call `prepare` first: the attack needs the generator")
        seeds = different_strings(self.budget, self.generator.seed_bits, rng)
        tried = {string.tobytes() for string in self.generator.stretch(seeds)}
        return np.array([int(np.asarray(row).tobytes() in tried) for row in release])
