"""Files of images, with or without their classes, as a network takes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus.extraction.arrays import SUFFIXES, arrays_of
from narcissus.extraction.files import refuse_pickle
from narcissus.extraction.images import ImageLayout


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

        Raises
        ------
        InputError
            The file is missing, a pickle, or without images; pixels are not finite numbers, an
            image comes twice, or labels do not fit.
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
    found = labels.astype(np.float64)
    if not np.array_equal(found, np.round(found)):
        raise InputError(f"{path}: `labels` must be whole numbers")
    if set(np.unique(found)) == {-1.0, 1.0}:
        found = (found + 1) / 2
    if found.min() < 0 or found.max() >= 10_000:
        raise InputError(f"{path}: `labels` must be 0, 1, 2, ..., or -1 and 1")
    return found.astype(np.intp)
