"""Learn from simulated releases how a release of this mechanism gives people away.

Conditional logit (McFadden 1974): chances of alternatives from numbers that describe each.

    Pr[person i has value u] = exp(w . x_iu) / sum_v exp(w . x_iv)

The log likelihood is concave in ``w``; with a ridge it has one maximum, found by Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from narcissus._options import FilledIn
from narcissus._validation import positive
from narcissus.attacks.table.base import Floats, Joint, ReleaseByRelease, View, softmax, view_of
from narcissus.attacks.table.features import features_of
from narcissus.attacks.table.training import Simulated
from narcissus.errors import InputError
from narcissus.mechanisms import Counts, Microdata, ProtectedCounts

STEPS = 50


@dataclass(frozen=True, eq=False)
class ConditionalLogit:
    """A fitted conditional logit."""

    weights: Floats  # One for each feature, shape (features,)

    @classmethod
    def fit(cls, features: Floats, chosen: Joint, ridge: float) -> ConditionalLogit:
        """Find the weights of the largest log likelihood less the ridge.

        features: of each alternative of each person, shape (n, alternatives, features).
        chosen: the alternative that each person has, shape (n,).
        ridge: how much half the square of a weight costs, the feature in units of its standard
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
        """Return the chance of each alternative, shape (n, alternatives)."""
        return softmax(features @ self.weights)


ENTRIES = 8_000_000  # numbers that are learned from, at most


@dataclass(frozen=True)
class Learned(ReleaseByRelease):
    """A conditional logit over each person's values, on what the release says near them.

    Attributes
    ----------
    ridge
        How much half the square of a weight costs, above 0.
    logit
        What was learned.
    """

    ridge: float = 1.0
    logit: Annotated[ConditionalLogit | None, FilledIn()] = None
    title = "learned from simulated releases"
    uses = "prior and release"
    reads = learns_from = (Counts, ProtectedCounts, Microdata)

    def __post_init__(self) -> None:
        """Refuse a ridge that is not positive."""
        positive("ridge", self.ridge)

    def features(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Return what the logit is told, shape (n, values, features)."""
        return features_of(view)

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> Self:
        """Fit the logit; of many people, to some.

        Raises
        ------
        InputError
            There is nothing to learn from.
        """
        if not simulated:
            raise InputError("the attacks `learned` and `stack` need at least one training release")
        features: list[Floats] = []
        chosen: list[Joint] = []
        for one in simulated:
            found = self.features(view_of(one.targets, one.release), rng=rng)
            most = max(1, ENTRIES // (len(simulated) * found[0].size))
            some = np.arange(len(found))
            if len(found) > most:
                some = rng.choice(len(found), most, replace=False)
            features.append(found[some])
            chosen.append(one.secrets[some])
        logit = ConditionalLogit.fit(np.concatenate(features), np.concatenate(chosen), self.ridge)
        return replace(self, logit=logit)

    def beliefs(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Return everybody's chances, shape (n, values).

        Raises
        ------
        InputError
            The attack was not trained.
        """
        if self.logit is None:
            raise InputError(
                "this attack learns from simulated releases: `train` it before it guesses"
            )
        return self.logit.chances(self.features(view, rng=rng))

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Decide by the chances."""
        return view.targets.success.decide(self.beliefs(view, rng=rng))
