"""DP-SGD as a study asks for it: by its epsilon, its noise made for what clipping allows.

One canary more or less moves a step by the clipping norm, another canary by twice that: so
libraries account it, and so noise is made here. What then truly holds, the training says itself.

Source: Swanberg et al. 2025, section 5.2; Narcissus theory 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from scipy import special

from narcissus._options import Level
from narcissus._random import child
from narcissus._validation import between, integer, one_of, positive
from narcissus.extraction.secret_training import FloatArray, TrainsOnSecrets
from narcissus.guarantees import GaussianDP

MadeT = TypeVar("MadeT", bound=TrainsOnSecrets)

NEIGHBOURS = ("replace-one", "add-remove")
RATES = tuple(float(rate) for rate in np.geomspace(1e-4, 1.0, 17))
"""Learning rates that are tried, each divided by the steps and times 10."""
_PILOTS = 1000  # models that try each learning rate


@dataclass(frozen=True)
class AskedTraining:
    """DP-SGD by its epsilon.

    Parameters
    ----------
    epsilon
        What the training is given noise for, with `delta` and `neighbours`; a list asks for each.
        Infinite: no noise.
    delta
        In (0, 1).
    steps
        Steps, each on the whole data.
    clip
        Largest L2 norm of a gradient.
    learning_rate
        Step size; left out, the one of a grid after which simulated canaries have the least mean
        loss, as published.
    neighbours
        What `epsilon` is about: another canary (`replace-one`), or one more (`add-remove`). Bounds
        always use what holds for another canary.
    """

    epsilon: Level
    delta: float = 1e-5
    steps: int = 100
    clip: float = 1.0
    learning_rate: float | None = None
    neighbours: Literal["replace-one", "add-remove"] = "replace-one"

    def __post_init__(self) -> None:
        """Refuse what no model can be trained by."""
        positive("epsilon", self.epsilon, allow_infinite=True)
        between("delta", self.delta, 0, 1, open_low=True, open_high=True)
        integer("steps", self.steps, low=1)
        positive("clip", self.clip)
        if self.learning_rate is not None:
            positive("learning_rate", self.learning_rate)
        one_of("neighbours", self.neighbours, NEIGHBOURS)

    @property
    def accounted(self) -> GaussianDP | None:
        """What the noise is made for, about `neighbours`; None without noise."""
        if math.isinf(self.epsilon):
            return None
        return GaussianDP.from_epsilon_delta(self.epsilon, self.delta, adjacency=self.neighbours)

    @property
    def apart(self) -> float:
        """How far clipping lets two neighbours be apart in a step, in clipping norms."""
        return 2.0 if self.neighbours == "replace-one" else 1.0

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of a step, as a multiple of ``clip``."""
        accounted = self.accounted
        return 0.0 if accounted is None else math.sqrt(self.steps) * self.apart / accounted.mu

    def chosen(self, made: Callable[[float], MadeT], chances: FloatArray) -> MadeT:
        """Give the mechanism with the learning rate asked for, or else the best of the grid.

        Parameters
        ----------
        made
            From a learning rate to the mechanism.
        chances
            The prior, shape (values,).
        """
        if self.learning_rate is not None:
            return made(self.learning_rate)
        rates = [10 * rate / self.steps for rate in RATES]
        return min(map(made, rates), key=lambda one: self._loss(one, chances))

    def _loss(self, mechanism: TrainsOnSecrets, chances: FloatArray) -> float:
        """Give the mean loss of simulated canaries after training, the same ones for every rate."""
        rng = child(0, self.steps, chances.size)
        secrets = rng.choice(chances.size, size=_PILOTS, p=chances / chances.sum())
        logits = mechanism.release(secrets, rng)
        own = logits[np.arange(_PILOTS), secrets]
        return float((special.logsumexp(logits, axis=1) - own).mean())
