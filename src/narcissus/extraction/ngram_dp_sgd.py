"""An n-gram model that is trained on a secret with DP-SGD, as a study names it: by its epsilon.

Libraries account DP-SGD for what clipping allows: one canary more or less moves a step by the
clipping norm, another canary by twice that. Two softmax gradients are never that far apart unless
they are clipped hard, so the training keeps more than it was given noise for, and says so.

Source: Swanberg et al. 2025, section 5.2; Narcissus theory 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._options import Level
from narcissus._random import child
from narcissus._validation import between, integer, one_of, positive
from narcissus.extraction.secret_training import SecretTraining, TrainedOnSecret, train_models
from narcissus.guarantees import GaussianDP

FloatArray = NDArray[np.float64]

STARTS = ("prior", "zero", "public")
NEIGHBOURS = ("replace-one", "add-remove")
SENSITIVITIES = ("clip", "softmax")
RATES = tuple(float(rate) for rate in np.geomspace(1e-4, 1.0, 17))
"""Learning rates that are tried, each divided by the steps and times 10."""
_PILOTS = 1000  # models that try each learning rate


@dataclass(frozen=True)
class NgramDpSgd:
    """A character n-gram model, trained on a canary with DP-SGD; only its last character is secret.

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
        Largest L2 norm of the canary's gradient.
    learning_rate
        Step size; left out, the one of a grid after which simulated canaries have the least mean
        loss, as published.
    start
        What models start from: `prior`, the logarithm of the prior, a model pretrained on as much
        public text as could be; `public`, one that counted `public` canaries; `zero`, nothing.
    neighbours
        What `epsilon` is about: another canary (`replace-one`), or one more (`add-remove`). Bounds
        always use what holds for another canary.
    sensitivity
        What the noise is made for: `clip`, all that clipping allows, as libraries account it;
        `softmax`, no more than gradients of a softmax can differ.
    public
        Public canaries that a model counts where it starts so, drawn from the prior.
    """

    epsilon: Level
    delta: float = 1e-5
    steps: int = 100
    clip: float = 1.0
    learning_rate: float | None = None
    start: Literal["prior", "zero", "public"] = "prior"
    neighbours: Literal["replace-one", "add-remove"] = "replace-one"
    sensitivity: Literal["clip", "softmax"] = "clip"
    public: int = 100

    def __post_init__(self) -> None:
        """Refuse what no model can be trained by."""
        positive("epsilon", self.epsilon, allow_infinite=True)
        between("delta", self.delta, 0, 1, open_low=True, open_high=True)
        integer("steps", self.steps, low=1)
        positive("clip", self.clip)
        if self.learning_rate is not None:
            positive("learning_rate", self.learning_rate)
        one_of("start", self.start, STARTS)
        one_of("neighbours", self.neighbours, NEIGHBOURS)
        one_of("sensitivity", self.sensitivity, SENSITIVITIES)
        integer("public", self.public, low=1)

    @property
    def accounted(self) -> GaussianDP | None:
        """What the noise is made for, about `neighbours`; None without noise."""
        if math.isinf(self.epsilon):
            return None
        return GaussianDP.from_epsilon_delta(self.epsilon, self.delta, adjacency=self.neighbours)

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of a step, as a multiple of ``clip``."""
        accounted = self.accounted
        if accounted is None:
            return 0.0
        apart = 2.0 if self.neighbours == "replace-one" else 1.0
        if self.sensitivity == "softmax":
            apart = min(apart, math.sqrt(2) / self.clip)
        return math.sqrt(self.steps) * apart / accounted.mu

    def training(self, rate: float) -> SecretTraining:
        """Give the training with a learning rate; its guarantee is what holds, replace-one."""
        return SecretTraining(self.noise, self.clip, self.steps, rate)

    def start_of(self, chances: FloatArray) -> FloatArray | None:
        """Give the logits that models start from, shape (values,); None: 0."""
        if self.start == "zero":
            return None
        if self.start == "prior":
            # what no public text ever had is unlikely to a pretrained model, not impossible
            return np.log(np.maximum(chances, 1e-12))
        drawn = child(0, self.public).multinomial(self.public, chances / chances.sum())
        return np.log((drawn + 1.0) / (self.public + chances.size))

    def trained_on(self, chances: FloatArray) -> TrainedOnSecret:
        """Give the mechanism for secrets of a prior, its learning rate chosen."""
        start = self.start_of(chances)
        rate = self.learning_rate
        if rate is None:
            rate = min(self._rates(), key=lambda one: self._loss(one, chances, start))
        return TrainedOnSecret(self.training(rate), chances.size, start)

    def _rates(self) -> list[float]:
        return [10 * rate / self.steps for rate in RATES]

    def _loss(self, rate: float, chances: FloatArray, start: FloatArray | None) -> float:
        """Give the mean loss of simulated canaries after training, the same ones for every rate."""
        rng = child(0, self.steps, chances.size)
        secrets = rng.choice(chances.size, size=_PILOTS, p=chances / chances.sum())
        logits = train_models(secrets, chances.size, self.training(rate), start=start, rng=rng)
        own = logits[np.arange(_PILOTS), secrets]
        return float((special.logsumexp(logits, axis=1) - own).mean())
