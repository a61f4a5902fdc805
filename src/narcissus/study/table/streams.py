"""The randomness of a table study: the generator of each part of a trial.

Trial ``t`` of setting ``s`` draws its people and the shape of its noise from ``t`` alone. So the
settings of a sweep see the same people and curves are smooth. Each attack has a separate generator,
independent of which others take part.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from narcissus._random import child
from narcissus.game.block import Sources

PEOPLE, NOISE, ATTACK, DECOY, PILOT, TRAIN, OWN, ALONE, HELD_OUT = range(
    9
)  # first parts of the keys of generators


@dataclass(frozen=True)
class TrialStreams:
    """Generators by the numbers of trial and setting, and the attack's name."""

    entropy: int

    def __call__(self, number: int, place: int) -> Sources:
        """Return the generators of a trial of one setting."""
        return Sources(
            child(self.entropy, PEOPLE, number),
            child(self.entropy, NOISE, number),
            lambda _, name: child(self.entropy, ATTACK, number, place, zlib.crc32(name.encode())),
        )

    def training(self, number: int, place: int) -> Sources:
        return Sources(
            child(self.entropy, TRAIN, number),
            child(self.entropy, TRAIN, number, 0),
            lambda _, name: child(self.entropy, TRAIN, 0, 1, place, zlib.crc32(name.encode())),
        )

    def alone(self, number: int) -> np.random.Generator:
        """Return the generator of releases about single people."""
        return child(self.entropy, ALONE, number)

    def others(self, number: int) -> np.random.Generator:
        """Return the generator of the people whom these are about."""
        return child(self.entropy, ALONE, number, 0)

    def decoy(self, number: int, place: int) -> Sources:
        return Sources(
            child(self.entropy, DECOY, number),
            child(self.entropy, DECOY, number, 0),
            lambda _, name: child(self.entropy, DECOY, number, 1, place, zlib.crc32(name.encode())),
        )
