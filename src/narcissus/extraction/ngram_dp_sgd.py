"""An n-gram model trained on a secret with DP-SGD, as a study specifies it: by its epsilon.

Two softmax gradients differ by less than clipping allows, except for very small norms. So the
training guarantees more than its noise was made for, and reports this.

Source: Swanberg et al. 2025, section 5.2; Narcissus theory 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from narcissus._random import child
from narcissus._validation import integer, one_of
from narcissus.extraction.asked_training import AskedTraining
from narcissus.extraction.secret_training import FloatArray, SecretTraining, TrainedOnSecret

STARTS = ("prior", "zero", "public")
SENSITIVITIES = ("clip", "softmax")


@dataclass(frozen=True)
class NgramDpSgd(AskedTraining):
    """A character n-gram model, trained on a canary with DP-SGD; only its last character is secret.

    Parameters
    ----------
    start
        Initial logits: `prior`, the logarithm of the prior, as after pretraining on unlimited
        public text; `public`, counts of `public` canaries; `zero`, nothing.
    sensitivity
        Basis of the noise: `clip`, all that clipping allows, as libraries account it; `softmax`,
        the largest difference of two softmax gradients.
    public
        Public canaries, drawn from the prior, that the start `public` counts.
    """

    start: Literal["prior", "zero", "public"] = "prior"
    sensitivity: Literal["clip", "softmax"] = "clip"
    public: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("start", self.start, STARTS)
        one_of("sensitivity", self.sensitivity, SENSITIVITIES)
        integer("public", self.public, low=1)

    @property
    def apart(self) -> float:
        """Assumed distance of two neighbours in a step, in clipping norms."""
        clipped = super().apart
        return min(clipped, math.sqrt(2) / self.clip) if self.sensitivity == "softmax" else clipped

    @property
    def work(self) -> float:
        """Work of a step for each model and value, in logits."""
        return 1.0

    def start_of(self, chances: FloatArray) -> FloatArray | None:
        """Return the initial logits of the models, shape (values,); None: 0."""
        if self.start == "zero":
            return None
        if self.start == "prior":
            # what no public text ever had is unlikely to a pretrained model, not impossible
            return np.log(np.maximum(chances, 1e-12))
        drawn = child(0, self.public).multinomial(self.public, chances / chances.sum())
        return np.log((drawn + 1.0) / (self.public + chances.size))

    def trained_on(self, chances: FloatArray) -> TrainedOnSecret:
        start = self.start_of(chances)

        def made(rate: float) -> TrainedOnSecret:
            training = SecretTraining(self.noise, self.clip, self.steps, rate)
            return TrainedOnSecret(training, chances.size, start)

        return self.chosen(made, chances)
