"""An n-gram model that is trained on a secret with DP-SGD, as a study names it: by its epsilon.

Two softmax gradients are never as far apart as clipping allows unless they are clipped hard, so
the training keeps more than it was given noise for, and says so.

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
        What models start from: `prior`, the logarithm of the prior, a model pretrained on as much
        public text as could be; `public`, one that counted `public` canaries; `zero`, nothing.
    sensitivity
        What the noise is made for: `clip`, all that clipping allows, as libraries account it;
        `softmax`, no more than gradients of a softmax can differ.
    public
        Public canaries that a model counts where it starts so, drawn from the prior.
    """

    start: Literal["prior", "zero", "public"] = "prior"
    sensitivity: Literal["clip", "softmax"] = "clip"
    public: int = 100

    def __post_init__(self) -> None:
        """Refuse what no model can be trained by."""
        super().__post_init__()
        one_of("start", self.start, STARTS)
        one_of("sensitivity", self.sensitivity, SENSITIVITIES)
        integer("public", self.public, low=1)

    @property
    def apart(self) -> float:
        """How far two neighbours are taken to be apart in a step, in clipping norms."""
        clipped = super().apart
        return min(clipped, math.sqrt(2) / self.clip) if self.sensitivity == "softmax" else clipped

    @property
    def work(self) -> float:
        """How much a step takes for each model and value, in logits."""
        return 1.0

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
        """Give the mechanism for secrets of a prior; its guarantee is what holds, replace-one."""
        start = self.start_of(chances)

        def made(rate: float) -> TrainedOnSecret:
            training = SecretTraining(self.noise, self.clip, self.steps, rate)
            return TrainedOnSecret(training, chances.size, start)

        return self.chosen(made, chances)
