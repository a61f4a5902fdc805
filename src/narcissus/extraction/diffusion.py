"""A small generative model of images, which leaks a duplicated outlier.

The model is a denoising diffusion model whose denoiser is exact for a mixture of Gaussians fitted
to the data; sampling starts from noise and follows the denoiser. With few components it
generalises, but an image with many copies gets a component to itself and is printed again almost
unchanged. This is the mechanism of extraction from large diffusion models, at the size of a test.

Source: relation (b) of Cohen et al. 2024, D.3 (after Carlini et al. 2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.spatial import distance

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations.rows import printed

FloatArray = NDArray[np.float64]


class ImageGenerator(Protocol):
    """A generative model of images (or of any rows of numbers), as the attack needs it."""

    def sample(self, count: int, *, rng: RandomSource = None) -> FloatArray:
        """Draw rows, shape (count, columns)."""
        ...


class MixtureDiffusion:
    """A diffusion model with the exact denoiser of a mixture of spherical Gaussians.

    Parameters
    ----------
    rows
        Training data, shape (n, d).
    components
        Gaussians of the mixture.
    floor
        Least standard deviation of a component.
    steps
        Denoising steps of a sample.
    iterations
        Rounds of expectation maximisation.
    rng
        Draws the components' starting points.
    """

    def __init__(
        self,
        rows: ArrayLike,
        *,
        components: int = 30,
        floor: float = 0.02,
        steps: int = 60,
        iterations: int = 60,
        rng: RandomSource = None,
    ) -> None:
        data = np.asarray(rows, dtype=np.float64)
        if data.ndim != 2 or data.shape[0] < 2:
            raise InputError(f"`rows` must have the shape (n, d) with n > 1, got {data.shape}")
        components = integer("components", components, low=1, high=data.shape[0])
        self.floor = positive("floor", floor)
        self.steps = integer("steps", steps, low=2)
        self._fit(data, components, iterations, generator(rng))

    def _fit(
        self, data: FloatArray, components: int, iterations: int, random: np.random.Generator
    ) -> None:
        """Fit by expectation maximisation from far-apart starts (k-means++)."""
        n, d = data.shape
        chosen = [int(random.integers(n))]
        for _ in range(components - 1):
            nearest = distance.cdist(data, data[chosen], "sqeuclidean").min(axis=1)
            total = nearest.sum()
            chance = nearest / total if total > 0 else np.full(n, 1 / n)
            chosen.append(int(random.choice(n, p=chance)))
        self.means = data[chosen].copy()
        spread = max(float(data.var(axis=0).mean()), self.floor**2)
        self.variances = np.full(components, spread)
        self.weights = np.full(components, 1 / components)
        for _ in range(iterations):
            share = self._responsibilities(data, 0.0)
            mass = share.sum(axis=0) + 1e-9
            self.weights = mass / mass.sum()
            self.means = share.T @ data / mass[:, None]
            squares = distance.cdist(data, self.means, "sqeuclidean")
            self.variances = np.maximum((share * squares).sum(axis=0) / (d * mass), self.floor**2)

    def _responsibilities(self, rows: FloatArray, noise: float) -> FloatArray:
        """Return the posterior of each component given rows with noise of that deviation."""
        variance = self.variances + noise**2
        squares = distance.cdist(rows, self.means, "sqeuclidean")
        logs = (
            np.log(self.weights + 1e-300)
            - 0.5 * rows.shape[1] * np.log(variance)
            - squares / (2 * variance)
        )
        return special.softmax(logs, axis=1)

    def denoise(self, rows: FloatArray, noise: float) -> FloatArray:
        """Return the mean of the clean row given a noisy one."""
        share = self._responsibilities(rows, noise)
        keep = self.variances / (self.variances + noise**2)
        return (share * keep).sum(axis=1, keepdims=True) * rows + (share * (1 - keep)) @ self.means

    def sample(self, count: int, *, rng: RandomSource = None) -> FloatArray:
        """Draw rows, from noise down to none, shape (count, d)."""
        random = generator(rng)
        count = integer("count", count, low=1)
        highest = 10 * math.sqrt(float(self.variances.max()) + float(self.means.var()))
        levels = np.geomspace(highest, self.floor, self.steps)
        rows = random.normal(0.0, highest, (count, self.means.shape[1]))
        for level, lower in pairwise(levels.tolist()):
            clean = self.denoise(rows, level)
            # Ancestral sampling: towards the clean row, with fresh noise of the right size.
            ratio = (lower / level) ** 2
            rows = clean + ratio * (rows - clean)
            rows += random.normal(0.0, lower * math.sqrt(1 - ratio), rows.shape)
        return self.denoise(rows, float(levels[-1]))


def densest_samples(model: ImageGenerator, *, samples: int = 500, radius: float, keep: int = 1,
                    rng: RandomSource = None) -> FloatArray:  # fmt: skip
    """Attack a generator that is only sampled: find the outputs that it repeats.

    The samples with the most others within ``radius`` come first, none within ``radius`` of one
    already taken: a model that generalises spreads its samples, one that memorises repeats itself.

    Parameters
    ----------
    model
        The generator.
    samples
        Number of draws.
    radius
        L2 distance within which two samples are the same.
    keep
        Most rows to return.
    rng
        For the samples.

    Returns
    -------
    array of shape (keep or fewer, columns)
        Each the mean of its neighbourhood.
    """
    drawn = model.sample(integer("samples", samples, low=1), rng=rng)
    near = distance.cdist(drawn, drawn) < positive("radius", radius)
    found: list[FloatArray] = []
    open_rows = np.ones(drawn.shape[0], dtype=np.bool_)
    while len(found) < keep and open_rows.any():
        counts = np.where(open_rows, (near & open_rows).sum(axis=1), -1)
        best = int(counts.argmax())
        found.append(drawn[near[best] & open_rows].mean(axis=0))
        open_rows &= ~near[best]
    return np.array(found)


@dataclass(frozen=True)
class TrainedDiffusion:
    """The mechanism that releases a diffusion model of the rows of a data set.

    Parameters
    ----------
    components
        Gaussians of the model's mixture.
    """

    components: int = 30

    def release(self, data: Sequence[DataSet], rng: np.random.Generator) -> list[MixtureDiffusion]:
        return [MixtureDiffusion(one.rows, components=self.components, rng=rng) for one in data]


@dataclass(frozen=True)
class DensestAttack:
    """Print the outputs that a generator repeats, for the relation `Near`.

    Parameters
    ----------
    radius
        Distance within which samples count as the same.
    samples
        Rows drawn from the generator.
    """

    radius: float
    samples: int = 500

    def attempt(
        self, release: Sequence[ImageGenerator], known: Any, rng: np.random.Generator
    ) -> list[bytes]:
        return [
            printed(densest_samples(model, samples=self.samples, radius=self.radius, rng=rng))
            for model in release
        ]
