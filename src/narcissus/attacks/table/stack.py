"""All attacks in one: a conditional logit that is also told what the others believe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

import numpy as np

from narcissus._options import FilledIn
from narcissus.attacks.table.base import Floats, View
from narcissus.attacks.table.features import LEAST
from narcissus.attacks.table.learned import Learned
from narcissus.attacks.table.posterior import MeanField
from narcissus.attacks.table.training import Simulated


@dataclass(frozen=True)
class Stack(Learned):
    """What `Learned` is told, and what the posterior believes (stacking; Wolpert 1992).

    Attributes
    ----------
    ridge
        How much half the square of a weight costs, above 0.
    posterior
        The attack whose beliefs are used.
    """

    posterior: Annotated[MeanField, FilledIn()] = field(default_factory=MeanField)
    title = "all attacks together, learned from simulated releases"

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> Self:
        """Train the posterior, then the logit on top of it."""
        trained = replace(self, posterior=self.posterior.train(simulated, rng))
        return super(Stack, trained).train(simulated, rng)

    def features(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Return what the logit is told, shape (n, values, features)."""
        beliefs = self.posterior.beliefs(view, rng=rng)
        # The belief besides its logarithm: where the posterior is too sure of itself, that one
        # alone would be weighted down until it hardly counted.
        said = np.stack([np.log(np.maximum(beliefs, np.exp(LEAST))), beliefs], axis=2)
        return np.concatenate([super().features(view, rng=rng), said], axis=2)
