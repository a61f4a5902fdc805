"""Images that a model reproduces, by the relation "close and unique", and would reproduce anyway.

The attacker samples each caption many times and keeps the repeated outputs. An image counts as
reproduced if one of the attempts for its caption is close to it and it is unlike every other image
of the training data. *Fresh* images are compared with the same attempts by the same rule, as the
baseline of unseen images. Given the training data, the model and the initial noise, whether a fresh
image counts depends on this image alone. So limits of the fresh share hold however training images
depend on each other through the model.

Source: Cohen et al. 2024, D.3 (after Carlini et al. 2023); the baseline is Narcissus theory 1
**[new]**.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import distance

from narcissus._random import RandomSource, child
from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.extraction.image_models import CaptionedGenerator, densest_samples
from narcissus.extraction.images import CaptionedImages

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Attempts = Mapping[str, FloatArray]
"""By caption: rows that were kept, shape (kept, pixels of an image)."""
_BLOCK = 512


@dataclass(frozen=True)
class CloseUnlike:
    """When an image counts: an attempt is close, and the image is unlike all others.

    Distances are root mean square differences of a pixel: the L2 distance over the root of the
    number of pixels, which makes them independent of the images' size.

    close: distance of the image to an attempt, below this.
    unique: distance of the image to every other image of the training data, above this.
    """

    close: float
    unique: float

    def __post_init__(self) -> None:
        positive("close", self.close)
        positive("unique", self.unique)
        if self.close >= self.unique:
            raise InputError(
                f"`close` must be below `unique`, got {self.close:g} and {self.unique:g}"
            )


@dataclass(frozen=True)
class _OneCaption:
    """A model restricted to one caption."""

    model: CaptionedGenerator
    caption: str

    def sample(self, count: int, *, rng: RandomSource = None) -> FloatArray:
        return self.model.sample(count, caption=self.caption, rng=rng)


def attempts_of(
    model: CaptionedGenerator,
    captions: Iterable[str],
    relation: CloseUnlike,
    *,
    pixels: int,
    samples: int = 40,
    keep: int = 1,
    entropy: int = 0,
) -> dict[str, FloatArray]:
    """Sample a model for each caption, and keep the outputs that repeat.

    The attempts for a caption depend on the model, the caption and ``entropy`` alone, on no other
    caption.

    model: it is only sampled.
    captions: captions to ask for.
    relation: defines which samples are the same.
    pixels: numbers in an image.
    samples, keep: images drawn for a caption, and attempts kept: the densest places, each the mean
        of its neighbourhood.
    entropy: of the samples' initial noise.
    """
    found: dict[str, FloatArray] = {}
    for caption in sorted(set(captions)):
        key = int.from_bytes(hashlib.sha256(caption.encode()).digest()[:4], "little")
        found[caption] = densest_samples(
            _OneCaption(model, caption),
            samples=integer("samples", samples, low=1),
            radius=relation.close * math.sqrt(pixels),
            keep=integer("keep", keep, low=1),
            rng=child(entropy, key),
        )
    return found


def nearest_attempt(images: CaptionedImages, attempts: Attempts) -> FloatArray:
    """Compute each image's distance to the attempts for its caption, shape (n,)."""
    found = np.full(len(images), np.inf)
    for place, (row, caption) in enumerate(zip(images.rows, images.captions, strict=True)):
        found[place] = _distances(row[None], attempts[caption]).min()
    return found


def unlike_others(images: CaptionedImages, unique: float) -> BoolArray:
    """Check whether each image is unlike all others of the same data, shape (n,).

    Copies of an image, and the same image with another caption, are one image.
    """
    rows, same = np.unique(images.rows, axis=0, return_inverse=True)
    keep = np.empty(len(rows), dtype=np.bool_)
    for start in range(0, len(rows), _BLOCK):
        block = _distances(rows[start : start + _BLOCK], rows)
        places = np.arange(len(block))
        block[places, start + places] = np.inf
        keep[start : start + _BLOCK] = block.min(axis=1) > unique
    return keep[same.ravel()]


def unlike_trained(
    images: CaptionedImages, trained: CaptionedImages, unique: float, rng: np.random.Generator
) -> BoolArray:
    """Check whether each image is unlike all training images but one, shape (n,).

    The one is drawn for each. A training image is compared with all except itself, and a fresh
    image in its place with equally many.
    """
    rows = np.unique(trained.rows, axis=0)
    found = np.empty(len(images), dtype=np.bool_)
    left_out = rng.integers(len(rows), size=len(images))
    for start in range(0, len(images), _BLOCK):
        block = _distances(images.rows[start : start + _BLOCK], rows)
        block[np.arange(len(block)), left_out[start : start + _BLOCK]] = np.inf
        found[start : start + _BLOCK] = block.min(axis=1) > unique
    return found


def _distances(rows: FloatArray, others: FloatArray) -> FloatArray:
    """Return the root mean square differences, shape (rows, others)."""
    return distance.cdist(rows, others) / math.sqrt(rows.shape[1])
