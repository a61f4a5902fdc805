"""Images as rows of numbers and as PNG files, and images with captions, divided into sides.

A row is an image as a network takes it, flattened in the order of its file. Repetitions of an image
with one caption count as one image with copies, since repetition drives memorisation. All copies
are on one side of a division.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._arrays import Floats, IntArray, first_largest
from narcissus._files import parsing, read_bytes
from narcissus._validation import did_you_mean, integer
from narcissus.errors import InputError
from narcissus.extraction.files import SUFFIXES, arrays_of, refuse_pickle
from narcissus.extraction.relations import normalised

MOST_PIXELS = 128
"""Largest side of an image that is shown; larger ones are averaged down."""


@dataclass(frozen=True)
class ImageLayout:
    """Layout of an image as a row."""

    height: int
    width: int
    channels: int = 1  # 1 for grey, 3 for red, green and blue
    channels_first: bool = False  # whether all of a channel comes before the next

    @classmethod
    def of(cls, shape: tuple[int, ...], name: str = "the images") -> ImageLayout:
        """Return the layout for the shape of one image; a flat one must be a square in grey."""
        match shape:
            case (height, width):
                return cls(height, width)
            case (height, width, 1 | 3 as channels):
                return cls(height, width, channels)
            case (1 | 3 as channels, height, width):
                return cls(height, width, channels, channels_first=True)
            case (size,) if math.isqrt(size) ** 2 == size:
                return cls(math.isqrt(size), math.isqrt(size))
            case _:
                raise InputError(
                    f"{name} have the shape {shape} each, which is no image: give `shape`, "
                    "(height, width) or (height, width, 3) or (3, height, width)"
                )

    @property
    def size(self) -> int:
        return self.height * self.width * self.channels

    def describe(self) -> str:
        """Describe the layout: "8 x 8 pixels, grey"."""
        return f"{self.height} x {self.width} pixels, {'grey' if self.channels == 1 else 'colour'}"

    def pixels(self, row: Floats) -> Floats:
        """Return a row as an image, shape (height, width, channels), averaged down if large."""
        if self.channels_first:
            image = row.reshape(self.channels, self.height, self.width).transpose(1, 2, 0)
        else:
            image = row.reshape(self.height, self.width, self.channels)
        step = -(-max(self.height, self.width) // MOST_PIXELS)
        if step == 1:
            return image
        rows = np.arange(0, self.height, step)
        columns = np.arange(0, self.width, step)
        heights = np.diff(np.append(rows, self.height))
        counts = heights[:, None] * np.diff(np.append(columns, self.width))
        sums = np.add.reduceat(np.add.reduceat(image, rows, axis=0), columns, axis=1)
        return sums / counts[:, :, None]

    def png(self, row: Floats) -> bytes:
        """Return a row as a PNG file, scaled from its darkest to its brightest value."""
        image = self.pixels(row)
        low, high = float(image.min()), float(image.max())
        grey = np.zeros_like(image) if high == low else (image - low) / (high - low)
        return png_of(np.round(255 * grey).astype(np.uint8))


def png_of(image: NDArray[np.uint8]) -> bytes:
    """Encode an image of shape (height, width, 1 or 3) as PNG, without metadata."""
    if image.ndim != 3 or image.shape[2] not in (1, 3) or image.size == 0:
        raise InputError(f"`image` must have the shape (height, width, 1 or 3), got {image.shape}")
    height, width, channels = image.shape
    lines = b"".join(b"\0" + np.ascontiguousarray(line).tobytes() for line in image)
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


@dataclass(frozen=True, eq=False)
class NearestPoints:
    """For each row, the point with which it correlates most."""

    correlation: Floats  # normalised cross-correlation, shape (rows,); -1 without points
    point: NDArray[np.intp]  # its index, shape (rows,)


def nearest_points(rows: Floats, points: Floats, block: int = 1024) -> NearestPoints:
    """Find the point that each row correlates with most, in blocks of rows."""
    best, place = np.full(len(rows), -1.0), np.zeros(len(rows), dtype=np.intp)
    if len(points):
        others = normalised(points).T
        for begin in range(0, len(rows), block):
            alike = normalised(rows[begin : begin + block]) @ others
            place[begin : begin + block] = first_largest(alike)
            best[begin : begin + block] = alike.max(axis=1)
    return NearestPoints(np.clip(best, -1.0, 1.0), place)


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """Images as rows."""

    rows: NDArray[np.float64]  # shape (n, d), in the order of the file
    classes: NDArray[np.intp] | None  # 0, 1, ..., shape (n,); None if the file has none
    layout: ImageLayout

    @classmethod
    def read(cls, path: Path, shape: tuple[int, ...] = ()) -> LabelledImages:
        """Read `images` and, if present, `labels` of a ``.npz``, ``.safetensors`` or ``.npy`` file.

        The first axis numbers the images. Labels are whole numbers from 0, or -1 and 1. ``shape``
        is the shape of one image if the file has flat ones; () takes it from the file.
        Raises InputError: the file is missing, a pickle, or without images; pixels are not finite
            numbers, an image comes twice, or labels do not fit.
        """
        refuse_pickle(path)
        if path.suffix not in SUFFIXES:
            raise InputError(
                f"{path} is not read as images: save them as .npz with the arrays `images` and "
                "`labels` (`numpy.savez`), as .safetensors or as .npy"
            )
        arrays = arrays_of(path)
        if path.suffix == ".npy":
            arrays = {"images": arrays[""]}
        if "images" not in arrays:
            raise InputError(
                f"{path} has no array `images`; it has {', '.join(arrays) or 'none'}"
                f"{did_you_mean('images', arrays)}"
            )
        images: NDArray[Any] = arrays["images"]
        if images.ndim < 2 or images.size == 0:
            raise InputError(
                f"{path} has no images: `images` has the shape {images.shape}, and its first axis "
                "must be the images"
            )
        rows = np.ascontiguousarray(images.reshape(len(images), -1), dtype=np.float64)
        if not np.isfinite(rows).all():
            at = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise InputError(f"{path}: image {at} has values that are not finite (NaN or infinite)")
        layout = ImageLayout.of(tuple(shape) or images.shape[1:], f"the images of {path}")
        if layout.size != rows.shape[1]:
            raise InputError(
                f"{path}: an image has {rows.shape[1]} numbers, and `shape` = {list(shape)} says "
                f"{layout.size}"
            )
        labels = arrays.get("labels")
        return cls(rows, None if labels is None else _classes(labels, len(rows), path), layout)


def _classes(labels: NDArray[Any], count: int, path: Path) -> NDArray[np.intp]:
    """Check labels and return them as classes from 0."""
    if labels.shape != (count,):
        raise InputError(
            f"{path}: `labels` has the shape {labels.shape}, and there are {count} images"
        )
    classes = labels.astype(np.float64)
    if not np.array_equal(classes, np.round(classes)):
        raise InputError(f"{path}: `labels` must be whole numbers")
    if set(np.unique(classes)) == {-1.0, 1.0}:
        classes = (classes + 1) / 2
    if classes.min() < 0 or classes.max() >= 10_000:
        raise InputError(f"{path}: `labels` must be 0, 1, 2, ..., or -1 and 1")
    return classes.astype(np.intp)


@dataclass(frozen=True, eq=False)
class CaptionedImages:
    """Distinct images, each with a caption and its copies."""

    # shape (n, height, width, channels), channels 1 (grey) or 3 (colour), each in [0, 1]
    pixels: Floats
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
    def rows(self) -> Floats:
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

    pixels: shape (n, height, width) or (n, height, width, channels); integers from 0 to 255, or
        numbers from 0 to 1.

    >>> found = counted_images([[[0, 255]], [[9, 9]], [[0, 255]]], ["a", "b", "a"])
    >>> found.captions, found.copies.tolist(), found.pixels[0].ravel().tolist()
    (('a', 'b'), [2, 1], [0.0, 1.0])
    """
    images = np.asarray(pixels)
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim != 4 or not images.size:
        raise InputError(
            "images must have the shape (n, height, width) or (n, height, width, channels), got "
            f"{images.shape}"
        )
    scale = 255 if images.dtype.kind in "iu" else 1
    values = images.astype(np.float64)
    if not np.isfinite(values).all() or values.min() < 0 or values.max() > scale:
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
    first = [indices[0] for indices in places.values()]
    copies = np.array([len(indices) for indices in places.values()], dtype=np.int64)
    return CaptionedImages(values[first] / scale, tuple(texts[i] for i in first), copies)


def read_images(images: Path | str, captions: Path | str | None = None) -> CaptionedImages:
    """Read images from an array file, and captions from a text file with one a line."""
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
        sides = {"trained": self.trained, "fresh": self.fresh, "shadow": self.shadow}
        for name, side in sides.items():
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

    each: images for each number of copies.
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
