"""Images with captions, divided into training images and unseen ones.

Repetitions of an image with one caption count as one image with copies, since repetition drives
memorisation. All copies are on one side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._files import parsing, read_bytes
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.extraction.arrays import SUFFIXES, arrays_of
from narcissus.extraction.files import refuse_pickle

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CaptionedImages:
    """Distinct images, each with a caption and its copies."""

    # shape (n, height, width, channels), channels 1 (grey) or 3 (colour), each in [0, 1]
    pixels: FloatArray
    captions: tuple[str, ...]  # A short text for each; "" for none
    copies: IntArray  # occurrences of each, shape (n,)

    def __post_init__(self) -> None:
        shape = self.pixels.shape
        if len(shape) != 4 or shape[3] not in (1, 3) or 0 in shape[1:]:
            raise InputError(f"images must have the shape (n, height, width, 1 or 3), got {shape}")
        if len(self.captions) != shape[0] or self.copies.shape != (shape[0],):
            raise InputError(f"there are {shape[0]} images and {len(self.captions)} captions")

    def __len__(self) -> int:
        return len(self.captions)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels of an image."""
        _, height, width, channels = self.pixels.shape
        return height, width, channels

    @property
    def rows(self) -> FloatArray:
        """The images as rows of numbers, shape (n, height * width * channels)."""
        return self.pixels.reshape(len(self), -1)

    def those(self, places: ArrayLike) -> CaptionedImages:
        """Select images by position."""
        chosen = np.asarray(places, dtype=np.int64)
        captions = tuple(self.captions[i] for i in chosen.tolist())
        return CaptionedImages(self.pixels[chosen], captions, self.copies[chosen])

    def repeated(self, copies: ArrayLike) -> CaptionedImages:
        """Replace the numbers of copies, shape (n,)."""
        return CaptionedImages(self.pixels, self.captions, np.asarray(copies, dtype=np.int64))


def counted_images(pixels: ArrayLike, captions: Sequence[str] | None = None) -> CaptionedImages:
    """Return the distinct images in order of first occurrence, with their copies.

    Parameters
    ----------
    pixels
        Shape (n, height, width) or (n, height, width, channels); integers from 0 to 255, or numbers
        from 0 to 1.
    captions
        One for each image; None: no captions.

    Raises
    ------
    InputError
        A shape or a pixel is out of range, or the numbers of captions and images differ.

    Examples
    --------
    >>> found = counted_images([[[0, 255]], [[9, 9]], [[0, 255]]], ["a", "b", "a"])
    >>> found.captions, found.copies.tolist(), found.pixels[0].ravel().tolist()
    (('a', 'b'), [2, 1], [0.0, 1.0])
    """
    given = np.asarray(pixels)
    if given.ndim == 3:
        given = given[..., None]
    if given.ndim != 4 or not given.size:
        raise InputError(
            "images must have the shape (n, height, width) or (n, height, width, channels), got "
            f"{given.shape}"
        )
    most = 255 if given.dtype.kind in "iu" else 1
    values = given.astype(np.float64)
    if not np.isfinite(values).all() or values.min() < 0 or values.max() > most:
        raise InputError(
            "pixels must be whole numbers from 0 to 255 or numbers from 0 to 1, got some from "
            f"{values.min():g} to {values.max():g}"
        )
    texts = [""] * len(values) if captions is None else list(captions)
    if len(texts) != len(values):
        raise InputError(f"there are {len(values):,} images and {len(texts):,} captions")
    places: dict[tuple[bytes, str], list[int]] = {}
    for place, (image, text) in enumerate(zip(values, texts, strict=True)):
        places.setdefault((image.tobytes(), text), []).append(place)
    first = [held[0] for held in places.values()]
    copies = np.array([len(held) for held in places.values()], dtype=np.int64)
    return CaptionedImages(values[first] / most, tuple(texts[i] for i in first), copies)


def read_images(images: Path | str, captions: Path | str | None = None) -> CaptionedImages:
    """Read images from an array file, and captions from a text file with one a line.

    Raises
    ------
    InputError
        A file is missing, a pickle, or has the wrong content.
    TooLargeError
        The images exceed the limit for an array file.
    """
    images = Path(images)
    if images.suffix not in SUFFIXES:
        known = ", ".join(sorted(SUFFIXES))
        raise InputError(f"images are read from {known}, not from {images.name}")
    refuse_pickle(images)
    arrays = list(arrays_of(images).values())
    if len(arrays) != 1:
        raise InputError(f"{images} must hold one array, it holds {len(arrays)}")
    texts = None
    if captions is not None:
        captions = Path(captions)
        with parsing(captions, "UTF-8 text"):
            text = read_bytes(captions).decode("utf-8")
        texts = [line.strip() for line in text.splitlines()]
    try:
        return counted_images(arrays[0], texts)
    except InputError as error:
        raise InputError(f"{images}: {error}") from error


@dataclass(frozen=True)
class DividedImages:
    """Division of images into training images and others."""

    trained: CaptionedImages  # images that the model was trained on
    fresh: CaptionedImages  # images of the same source that no model here has seen
    # images of the shadow models but not of the model; None without shadow models
    shadow: CaptionedImages | None = None
    by_chance: bool = False  # whether the division is random

    def __post_init__(self) -> None:
        seen: set[bytes] = set()
        for name, side in (
            ("trained", self.trained), ("fresh", self.fresh), ("shadow", self.shadow),
        ):  # fmt: skip
            if side is None:
                continue
            if not len(side):
                raise InputError(f"there are no {name} images")
            if side.shape != self.trained.shape:
                raise InputError(
                    f"the {name} images have the shape {side.shape}, those trained on "
                    f"{self.trained.shape}"
                )
            mine = {row.tobytes() for row in side.rows}
            if mine & seen:
                raise InputError(
                    f"an image is among the {name} ones and on another side, too: leave it out of "
                    "one of them"
                )
            seen |= mine


def divide_images(
    images: CaptionedImages, rng: np.random.Generator, *, shadows: bool = True
) -> DividedImages:
    """Divide images at random into equal parts: trained on, fresh, and for shadow models.

    An image with two captions is one image here, and both go to one side.

    Raises
    ------
    InputError
        There are fewer distinct images than parts.
    """
    parts = 3 if shadows else 2
    _, same = np.unique(images.rows, axis=0, return_inverse=True)
    same = same.ravel()
    different = int(same.max()) + 1
    if different < parts:
        raise InputError(f"dividing needs at least {parts} different images, got {different}")
    side = np.empty(different, dtype=np.int64)
    side[rng.permutation(different)] = np.arange(different) * parts // different
    trained, fresh, *rest = (images.those(np.flatnonzero(side[same] == i)) for i in range(parts))
    return DividedImages(trained, fresh, rest[0] if rest else None, by_chance=True)


def duplicated(
    images: CaptionedImages, *, each: int, copies: Sequence[int], rng: np.random.Generator
) -> CaptionedImages:
    """Repeat some randomly drawn images; all others occur once.

    Since the draw is random, images with different numbers of copies are alike in all else.

    Parameters
    ----------
    images
        Any images.
    each
        Images for each number of copies.
    copies
        The numbers of copies.
    rng
        Draws the images.

    Raises
    ------
    InputError
        There are too few images to draw from.
    """
    wanted = integer("each", each, low=1) * len(copies)
    if wanted > len(images):
        raise InputError(
            f"{each} images for each of {len(copies)} numbers of copies are {wanted}, and there "
            f"are {len(images)}: give more images, or make `each` smaller"
        )
    numbers = np.ones(len(images), dtype=np.int64)
    drawn = rng.permutation(len(images))[:wanted]
    numbers[drawn] = np.repeat(np.asarray(copies, dtype=np.int64), each)
    return images.repeated(numbers)
