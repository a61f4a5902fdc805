"""A forest of extremely randomised trees: for outputs of many columns with no form known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from narcissus._optional import optional
from narcissus.channels.samples import Codes, Matrix, Samples

TREES = 100
MOST_TRAINING = 20_000
"""Training samples that are used; each tree looks at all of them."""


@dataclass(frozen=True)
class Forest:
    """Extremely randomised trees (the extra ``learn``)."""

    seed: int = 0
    name: str = "forest"

    def fit(self, samples: Samples, chosen: Codes) -> Callable[[Codes], Matrix]:
        """Grow the trees."""
        ensemble = optional("sklearn.ensemble", extra="learn", purpose="The forest estimator")
        assert samples.points is not None
        chosen = chosen[:MOST_TRAINING]  # in random order already
        model = ensemble.ExtraTreesClassifier(TREES, min_samples_leaf=3, random_state=self.seed)
        model.fit(samples.points[samples.output[chosen]], samples.secret[chosen])
        classes = np.asarray(model.classes_, dtype=np.intp)
        size, points = len(samples.names), samples.points

        def scores(outputs: Codes) -> Matrix:
            out = np.zeros((len(outputs), size))
            out[:, classes] = model.predict_proba(points[outputs])
            return out

        return scores


def forest(seed: int = 0) -> Forest:
    """Return a forest of extremely randomised trees (the extra ``learn``), for many columns."""
    optional("sklearn.ensemble", extra="learn", purpose="The forest estimator")
    return Forest(seed)
