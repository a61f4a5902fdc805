"""Gaussian templates: the classic estimator for side channels, and for outputs of many columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from narcissus.channels.samples import Codes, Matrix, Samples


@dataclass(frozen=True)
class Templates:
    """A Gaussian per secret with one covariance for all (linear discriminants).

    The best attack where the noise is Gaussian and the secret moves its mean; elsewhere one attack
    among others. Source: Chari, Rao and Rohatgi 2003.
    """

    name: str = "templates"

    def fit(self, samples: Samples, chosen: Codes) -> Callable[[Codes], Matrix]:
        """Estimate means and the pooled covariance, and whiten."""
        assert samples.points is not None
        points, secret = samples.points[samples.output[chosen]], samples.secret[chosen]
        size, (count, columns) = len(samples.names), points.shape
        each = np.bincount(secret, minlength=size)
        means = np.zeros((size, columns))
        np.add.at(means, secret, points)
        means /= np.maximum(each, 1)[:, None]
        rest = points - means[secret]
        covariance = rest.T @ rest / max(1, count - size)
        # Shrink towards the diagonal when columns are many, and keep constant columns harmless.
        share = min(1.0, columns / count)
        spread = np.diag(covariance)
        floor = 1e-9 * (float(points.var(axis=0).mean()) or 1.0)
        covariance = (1 - share) * covariance + np.diag(share * spread + floor)
        factor = linalg.cholesky(covariance, lower=True)
        whitened = linalg.solve_triangular(factor, means.T, lower=True).T
        with np.errstate(divide="ignore"):
            prior = np.log(each / count)
        everywhere = samples.points

        def scores(outputs: Codes) -> Matrix:
            x = linalg.solve_triangular(factor, everywhere[outputs].T, lower=True).T
            # |x - m|^2 without the part that all secrets share
            logs = x @ whitened.T - (whitened**2).sum(axis=1) / 2 + prior
            logs -= logs.max(axis=1, keepdims=True)
            return np.exp(np.maximum(logs, -700.0)) * (each > 0)

        return scores
