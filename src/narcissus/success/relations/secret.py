"""The relation of naming a secret by its number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.worlds.base import Array
from narcissus.worlds.secret import Secret


@dataclass(frozen=True)
class NamesSecret:
    """The attempt is the number of the secret.

    Parameters
    ----------
    secrets
        Number of secrets; an attempt outside ``0 .. secrets - 1`` is an error.
    """

    secrets: int

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        return data == self._numbers(attempt)

    def _numbers(self, attempt: Any) -> NDArray[np.int64]:
        guesses = np.asarray(attempt)
        if guesses.ndim != 1 or guesses.dtype.kind not in "iu" or not self._among(guesses):
            raise InputError(
                f"an attacker must give the number of a secret, 0 to {self.secrets - 1}"
            )
        return guesses

    def _among(self, guesses: Array) -> bool:
        return bool(((guesses >= 0) & (guesses < self.secrets)).all())

    def guesses(self, data: Array) -> Array:
        return np.arange(self.secrets)

    def best(self, world: Any) -> float | None:
        """Return the chance of the likeliest secret; None where there is no prior."""
        return float(world.chances.max()) if isinstance(world, Secret) else None

    def baseline(self, world: Any, attempt: Any) -> NDArray[np.float64] | None:
        """Return the prior's chance of each guess, which is that against a fresh secret."""
        if not isinstance(world, Secret):
            return None
        return world.chances[self._numbers(attempt)]
