"""DP-SGD specified by its epsilon, with noise for the sensitivity that clipping allows.

Adding a canary moves a step by the clipping norm, replacing one by twice that. Libraries account
so, and the noise follows them; the training itself reports the guarantee that truly holds.

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
    """DP-SGD specified by its epsilon.

    Parameters
    ----------
    epsilon
        Target of the noise, with `delta` and `neighbours`; a list asks for each. Infinite: no
        noise.
    delta
        In (0, 1).
    steps
        Steps, each on the whole data.
    clip
        Largest L2 norm of a gradient.
    learning_rate
        Step size; by default the one of a grid with the least mean loss on simulated canaries, as
        published.
    neighbours
        Meaning of `epsilon`: another canary (`replace-one`) or one more (`add-remove`). Bounds
        always use the guarantee for another canary.
    """

    epsilon: Level
    delta: float = 1e-5
    steps: int = 100
    clip: float = 1.0
    learning_rate: float | None = None
    neighbours: Literal["replace-one", "add-remove"] = "replace-one"

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon, allow_infinite=True)
        between("delta", self.delta, 0, 1, open_low=True, open_high=True)
        integer("steps", self.steps, low=1)
        positive("clip", self.clip)
        if self.learning_rate is not None:
            positive("learning_rate", self.learning_rate)
        one_of("neighbours", self.neighbours, NEIGHBOURS)

    @property
    def accounted(self) -> GaussianDP | None:
        """The noise's target guarantee for `neighbours`; None without noise."""
        if math.isinf(self.epsilon):
            return None
        return GaussianDP.from_epsilon_delta(self.epsilon, self.delta, adjacency=self.neighbours)

    @property
    def apart(self) -> float:
        """Largest distance of two neighbours in a step, in clipping norms."""
        return 2.0 if self.neighbours == "replace-one" else 1.0

    @property
    def noise(self) -> float:
        """Standard deviation of a step's noise, as a multiple of ``clip``."""
        accounted = self.accounted
        return 0.0 if accounted is None else math.sqrt(self.steps) * self.apart / accounted.mu

    def chosen(self, made: Callable[[float], MadeT], chances: FloatArray) -> MadeT:
        """Return the mechanism with the given learning rate, or the best of the grid."""
        if self.learning_rate is not None:
            return made(self.learning_rate)
        rates = [10 * rate / self.steps for rate in RATES]
        return min(map(made, rates), key=lambda one: self._loss(one, chances))

    def _loss(self, mechanism: TrainsOnSecrets, chances: FloatArray) -> float:
        """Return the mean loss of simulated canaries after training, the same for every rate."""
        rng = child(0, self.steps, chances.size)
        secrets = rng.choice(chances.size, size=_PILOTS, p=chances / chances.sum())
        logits = mechanism.release(secrets, rng)
        own = logits[np.arange(_PILOTS), secrets]
        return float((special.logsumexp(logits, axis=1) - own).mean())
