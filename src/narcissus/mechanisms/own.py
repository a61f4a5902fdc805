"""A mechanism given by a plain function of the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus.worlds.base import Batch, stacked
from narcissus.worlds.finite import asked


@dataclass(frozen=True)
class OwnMechanism:
    """A mechanism given by ``function(data, rng) -> release``.

    A function that yields is one that is talked with: it yields a greeting (or None), then an
    answer to each question, which its ``yield`` gives.
    """

    function: Callable[[Any, np.random.Generator], Any]

    @property
    def interactive(self) -> bool:
        """Whether the function yields."""
        return inspect.isgeneratorfunction(self.function)

    def release(self, data: Batch, rng: np.random.Generator) -> Batch:
        """Call the function once a trial."""
        return stacked([asked("mechanism", self.function, entry, rng) for entry in data])

    def answers(self, data: Any, rng: np.random.Generator) -> Generator[Any, Any, None]:
        """Talk about one data set."""
        return self.function(data, rng)
