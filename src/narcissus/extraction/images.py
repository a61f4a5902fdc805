"""Images as rows of numbers and as PNG files: layout, similarity, display.

A row is an image as a network takes it, flattened in the order of its file.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus.errors import InputError
from narcissus.extraction.relations.rows import normalised

FloatArray = NDArray[np.float64]

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
        if len(shape) == 2:
            return cls(*shape)
        if len(shape) == 3 and shape[2] in (1, 3):
            return cls(shape[0], shape[1], shape[2])
        if len(shape) == 3 and shape[0] in (1, 3):
            return cls(shape[1], shape[2], shape[0], channels_first=True)
        if len(shape) == 1 and math.isqrt(shape[0]) ** 2 == shape[0]:
            return cls(math.isqrt(shape[0]), math.isqrt(shape[0]))
        raise InputError(
            f"{name} have the shape {shape} each, which is no image: give `shape`, (height, width) "
            "or (height, width, 3) or (3, height, width)"
        )

    @property
    def size(self) -> int:
        return self.height * self.width * self.channels

    def describe(self) -> str:
        """Describe the layout: "8 x 8 pixels, grey"."""
        return f"{self.height} x {self.width} pixels, {'grey' if self.channels == 1 else 'colour'}"

    def pixels(self, row: FloatArray) -> FloatArray:
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

    def png(self, row: FloatArray) -> bytes:
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

    correlation: FloatArray  # normalised cross-correlation, shape (rows,); -1 without points
    point: NDArray[np.intp]  # its index, shape (rows,)


def nearest_points(rows: FloatArray, points: FloatArray, block: int = 1024) -> NearestPoints:
    """Find the point that each row correlates with most, in blocks of rows."""
    best, place = np.full(len(rows), -1.0), np.zeros(len(rows), dtype=np.intp)
    if len(points):
        others = normalised(points).T
        for begin in range(0, len(rows), block):
            alike = normalised(rows[begin : begin + block]) @ others
            place[begin : begin + block] = first_largest(alike)
            best[begin : begin + block] = alike.max(axis=1)
    return NearestPoints(np.clip(best, -1.0, 1.0), place)
