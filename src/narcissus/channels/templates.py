"""Gaussian templates: the classic estimators for side channels, and for outputs of many columns.

Source: Chari, Rao and Rohatgi 2003.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg

from narcissus.channels.samples import Codes, Matrix, Samples

Covariance = Literal["pooled", "each", "shrunk"]


@dataclass(frozen=True)
class Templates:
    """A Gaussian per secret.

    The best attack where the noise is Gaussian; elsewhere one attack among others.

    Attributes
    ----------
    covariance
        "pooled": one for all, the best where the secret moves the mean alone (linear
        discriminants); "each": each secret its own, for secrets that change spread or how columns
        hang together, as those of masked implementations do (quadratic discriminants); "shrunk":
        each its own, shrunk towards its diagonal, for many columns and few samples.
    """

    covariance: Covariance = "pooled"

    @property
    def name(self) -> str:
        """How it is called in results."""
        return "templates" if self.covariance == "pooled" else f"templates-{self.covariance}"

    def fit(self, samples: Samples, chosen: Codes) -> Callable[[Codes], Matrix]:
        """Estimate means and covariances, and whiten."""
        assert samples.points is not None
        points, secret = samples.points[samples.output[chosen]], samples.secret[chosen]
        size, (count, columns) = len(samples.names), points.shape
        each = np.bincount(secret, minlength=size)
        means = np.zeros((size, columns))
        np.add.at(means, secret, points)
        means /= np.maximum(each, 1)[:, None]
        rest = points - means[secret]
        floor = 1e-9 * (float(points.var(axis=0).mean()) or 1.0)
        pooled = _tamed(rest.T @ rest / max(1, count - size), min(1.0, columns / count), floor)
        with np.errstate(divide="ignore"):
            prior = np.log(each / count)
        if self.covariance == "pooled":
            whiteners = [linalg.cholesky(pooled, lower=True)] * size
        else:
            order = np.argsort(secret, kind="stable")
            parts = np.split(rest[order], np.cumsum(each)[:-1])
            whiteners = [self._whitener(part, pooled, floor) for part in parts]
        return _scorer(samples.points, means, prior, whiteners, each)

    def _whitener(self, rest: Matrix, pooled: Matrix, floor: float) -> Matrix:
        """Factor the covariance of one secret; of fewer samples than columns the pooled one."""
        count, columns = rest.shape
        if count < 3 or (self.covariance == "each" and count <= columns + 1):
            return linalg.cholesky(pooled, lower=True)
        share = min(1.0, columns / count) if self.covariance == "shrunk" else 0.0
        made = _tamed(rest.T @ rest / (count - 1), share, floor)
        try:
            return linalg.cholesky(made, lower=True)
        except linalg.LinAlgError:  # columns that follow from one another
            return linalg.cholesky(pooled, lower=True)


def _tamed(covariance: Matrix, share: float, floor: float) -> Matrix:
    """Shrink towards the diagonal when columns are many, and keep constant columns harmless."""
    return (1 - share) * covariance + np.diag(share * np.diag(covariance) + floor)


def _scorer(
    everywhere: Matrix, means: Matrix, prior: Matrix, whiteners: list[Matrix], each: Codes
) -> Callable[[Codes], Matrix]:
    """Return densities up to a factor for each output, from factors of the covariances."""
    same = all(factor is whiteners[0] for factor in whiteners)
    shift = prior - np.array([np.log(np.diag(factor)).sum() for factor in whiteners])
    unit = np.eye(means.shape[1])
    # a product costs less than a solution, and of one column all secrets are done at once
    inverses = [
        linalg.solve_triangular(factor, unit, lower=True).T
        for factor in (whiteners[:1] if same else whiteners)
    ]
    centres = means @ inverses[0]

    def scores(outputs: Codes) -> Matrix:
        x = everywhere[outputs]
        if same:
            # |x - m|^2 without the part that all secrets share
            logs = x @ inverses[0] @ centres.T - (centres**2).sum(axis=1) / 2 + prior
        elif x.shape[1] == 1:
            logs = shift - ((x - means[:, 0]) * np.ravel(inverses)) ** 2 / 2
        else:
            logs = np.tile(shift, (len(outputs), 1))
            for secret, inverse in enumerate(inverses):
                white = (x - means[secret]) @ inverse
                logs[:, secret] -= np.einsum("ij,ij->i", white, white) / 2
        logs -= logs.max(axis=1, keepdims=True)
        return np.exp(np.maximum(logs, -700.0)) * (each > 0)

    return scores
