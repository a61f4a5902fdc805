"""A mechanism given by a plain function of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus.worlds.base import Batch
from narcissus.worlds.batches import stacked
from narcissus.worlds.own import asked


@dataclass(frozen=True)
class OwnMechanism:
    """A mechanism given by ``function(data, rng) -> release``."""

    function: Callable[[Any, np.random.Generator], Any]

    def release(self, data: Batch, rng: np.random.Generator) -> Batch:
        """Call the function once a trial."""
        return stacked([asked("mechanism", self.function, entry, rng) for entry in data])
