"""Naive Bayes with histograms: each column by itself, whatever its distribution.

Heavy tails, several peaks and rings are all one to it, since it only counts; what it cannot see
is how columns hang together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from narcissus.channels.samples import Codes, Matrix, Samples

MOST_BINS = 32
"""Bins of a column; more say little more."""
FEWEST_BINS = 4


@dataclass(frozen=True)
class NaiveBayes:
    """Counts in bins of each column, multiplied as if columns were independent given the secret."""

    name: str = "naive-bayes"

    def fit(self, samples: Samples, chosen: Codes) -> Callable[[Codes], Matrix]:
        """Cut each column at quantiles, and count."""
        assert samples.points is not None
        points, secret = samples.points[samples.output[chosen]], samples.secret[chosen]
        size, count = len(samples.names), len(chosen)
        each = np.bincount(secret, minlength=size)
        bins = int(np.clip(round((count / size) ** (1 / 2) / 2), FEWEST_BINS, MOST_BINS))
        inner = np.quantile(points, np.arange(1, bins) / bins, axis=0)
        edges = [np.unique(column) for column in inner.T]
        logs: list[Matrix] = []
        for edge, column in zip(edges, points.T, strict=True):
            place = np.searchsorted(edge, column)
            held = np.bincount(place * size + secret, minlength=bins * size).reshape(bins, size)
            # half a sample more in each bin: what was not seen is not impossible
            logs.append(np.log((held + 0.5) / (each + 0.5 * bins)))
        with np.errstate(divide="ignore"):
            prior = np.log(each / count)
        everywhere = samples.points

        def scores(outputs: Codes) -> Matrix:
            found = np.tile(prior, (len(outputs), 1))
            for edge, log, column in zip(edges, logs, everywhere[outputs].T, strict=True):
                found += log[np.searchsorted(edge, column)]
            found -= found.max(axis=1, keepdims=True)
            return np.exp(np.maximum(found, -700.0)) * (each > 0)

        return scores
