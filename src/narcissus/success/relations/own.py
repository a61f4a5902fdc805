"""A relation written by the user, checked at every call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.worlds.base import Batch


@dataclass(frozen=True)
class Own:
    """A relation given by a Python function ``function(data, attempt) -> bool``.

    Parameters
    ----------
    function
        Takes one data set and one attempt.
    attempts
        All attempts worth making, for an exact profile; empty if the game is only played.
    """

    function: Callable[[Any, Any], Any]
    attempts: Sequence[Any] = ()

    def holds(self, data: Batch, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch, one trial after the other.

        Raises
        ------
        InputError
            The function raised, or returned something else than true or false.
        """
        name = getattr(self.function, "__name__", type(self.function).__name__)
        scores = np.zeros(len(data), dtype=bool)
        for trial, (dataset, guess) in enumerate(zip(data, attempt, strict=True)):
            if guess is None:
                continue
            try:
                answer = self.function(dataset, guess)
            except Exception as error:
                raise InputError(
                    f"the relation `{name}` raised {type(error).__name__}: {error} "
                    f"(attempt {guess!r})"
                ) from error
            if isinstance(answer, np.ndarray) and answer.ndim == 0:
                answer = answer[()]
            if not isinstance(answer, bool | np.bool_) and not (
                isinstance(answer, int | np.integer) and answer in (0, 1)
            ):
                raise InputError(
                    f"the relation `{name}` must return true or false, got {answer!r} "
                    f"(attempt {guess!r})"
                )
            scores[trial] = bool(answer)
        return scores

    def guesses(self, data: Batch) -> list[Any]:
        if not len(self.attempts):
            raise InputError(
                "an exact answer for a relation of your own needs the list of all attempts worth "
                "making: `Own(function, attempts=[...])`"
            )
        return list(self.attempts)
