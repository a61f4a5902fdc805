"""A world given by a plain function of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus.errors import InputError
from narcissus.worlds.base import Batch, Draw
from narcissus.worlds.batches import stacked


def asked(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the user's; if it raises, say which one did.
    Raises InputError: it raised.
    """
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
        return Draw(stacked([asked("world", self.function, rng) for _ in range(trials)]))

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Batch:
        """Draw independent data sets."""
        return self.draw(draw.trials, rng).data
