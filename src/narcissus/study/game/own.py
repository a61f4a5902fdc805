"""Worlds and mechanisms given by a plain function of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus.errors import InputError
from narcissus.worlds.base import Batch, Draw
from narcissus.worlds.batches import stacked


def _call(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        name = getattr(function, "__name__", repr(function))
        raise InputError(f"the {what} `{name}` raised {type(error).__name__}: {error}") from error


@dataclass(frozen=True)
class OwnWorld:
    """A world given by ``function(rng) -> data set``; fresh data sets are drawn independently."""

    function: Callable[[np.random.Generator], Any]

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Call the function once a trial."""
        return Draw(stacked([_call("world", self.function, rng) for _ in range(trials)]))

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Batch:
        """Draw independent data sets."""
        return self.draw(draw.trials, rng).data


@dataclass(frozen=True)
class OwnMechanism:
    """A mechanism given by ``function(data, rng) -> release``."""

    function: Callable[[Any, np.random.Generator], Any]

    def release(self, data: Batch, rng: np.random.Generator) -> Batch:
        """Call the function once a trial."""
        return stacked([_call("mechanism", self.function, entry, rng) for entry in data])
