"""Products of two columns: for masked implementations, where no column by itself tells anything.

A mask splits the secret into shares that are each random; what depends on the secret is how the
leaks of two shares go together, so the mean of the product of their centred columns. The products
that differ most between secrets are kept, and told apart by templates.

Source: Prouff, Rivain and Bevan 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from narcissus.channels.samples import Codes, Matrix, Samples
from narcissus.channels.templates import Templates

MOST_PRODUCTS = 48
"""Products that are kept: those that differ most."""
MOST_SCANNED = 20_000
"""Training samples by which products are compared."""


@dataclass(frozen=True)
class Products:
    """Templates of second-order products (and squares) of the columns."""

    name: str = "products"

    def fit(self, samples: Samples, chosen: Codes) -> Callable[[Codes], Matrix]:
        """Find the products that differ most between secrets, and learn templates of them."""
        assert samples.points is not None
        points, secret = samples.points[samples.output[chosen]], samples.secret[chosen]
        middle, spread = points.mean(axis=0), points.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        some = slice(0, MOST_SCANNED)
        first, second = _telling((points[some] - middle) / scale, secret[some], len(samples.names))
        centred = (samples.points - middle) / scale
        made = replace(samples, points=centred[:, first] * centred[:, second])
        return Templates().fit(made, chosen)


def _telling(centred: Matrix, secret: Codes, size: int) -> tuple[Codes, Codes]:
    """Give the two columns of each product whose mean differs most between secrets.

    All products at once, by matrix products: the variance of the means between secrets against
    the variance within.
    """
    mean = centred.T @ centred / len(centred)
    squares = centred**2
    within = np.maximum(squares.T @ squares / len(centred) - mean**2, 1e-12)
    between = np.zeros_like(mean)
    for one in range(size):
        mine = centred[secret == one]
        if len(mine):
            between += len(mine) * (mine.T @ mine / len(mine) - mean) ** 2
    rows, columns = np.triu_indices(len(mean))
    ratio = (between / within)[rows, columns]
    best = np.sort(np.argsort(-ratio, kind="stable")[:MOST_PRODUCTS])
    return rows[best], columns[best]
