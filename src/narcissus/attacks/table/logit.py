"""Conditional logit (McFadden 1974): chances of alternatives from numbers that describe each.

    Pr[person i has value u] = exp(w . x_iu) / sum_v exp(w . x_iv)

The log likelihood is concave in ``w``; with a ridge it has one maximum, found by Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus.attacks.table.base import Floats, Joint, softmax

STEPS = 50


@dataclass(frozen=True, eq=False)
class ConditionalLogit:
    """A fitted conditional logit.

    Attributes
    ----------
    weights
        One for each feature, shape (features,).
    """

    weights: Floats

    @classmethod
    def fit(cls, features: Floats, chosen: Joint, ridge: float) -> ConditionalLogit:
        """Find the weights of the largest log likelihood less the ridge.

        Parameters
        ----------
        features
            Of each alternative of each person, shape (n, alternatives, features).
        chosen
            The alternative that each person has, shape (n,).
        ridge
            How much half the square of a weight costs, the feature in units of its standard
            deviation among a person's alternatives.
        """
        centred = features - features.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=(0, 1)))
        scaled = centred / np.where(deviation > 0, deviation, 1.0)
        truth = scaled[np.arange(len(chosen)), chosen].sum(axis=0)
        weights = np.zeros(features.shape[2])
        value = -np.inf
        step = weights
        for _ in range(STEPS):
            tried = weights + step
            logits = scaled @ tried
            top = logits.max(axis=1)
            logs = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
            found = float(truth @ tried - logs.sum() - ridge / 2 * tried @ tried)
            if found < value:  # too far
                step = step / 2
                continue
            gained, weights, value = found - value, tried, found
            if gained < 1e-9 * max(1.0, abs(value)):
                break
            chances = softmax(logits)
            mean = np.einsum("nv,nvf->nf", chances, scaled)
            slope = truth - mean.sum(axis=0) - ridge * weights
            weighted = (scaled * chances[:, :, None]).reshape(-1, weights.size)
            second = weighted.T @ scaled.reshape(-1, weights.size) - mean.T @ mean
            step = np.linalg.solve(second + ridge * np.eye(weights.size), slope)
        return cls(weights / np.where(deviation > 0, deviation, 1.0))

    def chances(self, features: Floats) -> Floats:
        """Give the chance of each alternative, shape (n, alternatives)."""
        return softmax(features @ self.weights)
