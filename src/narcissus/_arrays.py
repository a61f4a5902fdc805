"""Named arrays as bytes, in NumPy's format without pickles, and a tie-safe ``argmax``."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._archives import array_name, opened_archive

MOST_UNPACKED = 2**28  # bytes of a trial; one of a million people has some 10 million

TIE = 1e-12
"""Numbers that differ by so small a part are equal: last digits depend on the processor."""

Arrays = Mapping[str, NDArray[np.generic]]
Floats = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def first_largest(values: NDArray[np.float64], axis: int = -1) -> NDArray[np.intp]:
    """Index of the first entry along an axis that is the largest up to `TIE`.

    Unlike ``argmax`` it does not depend on rounding. Entries must be finite or minus infinity.
    """
    top = values.max(axis=axis, keepdims=True)
    return np.argmax(values >= top - TIE * np.abs(top), axis=axis)


def pack(arrays: Arrays) -> bytes:
    """Serialise arrays, none of objects; before NumPy 2.1 `savez` has no `allow_pickle`."""
    if any(array.dtype.hasobject for array in arrays.values()):
        raise ValueError("an array of objects would be pickled")
    buffer = io.BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(buffer, **named)
    return buffer.getvalue()


def unpack(blob: bytes) -> dict[str, NDArray[np.generic]]:
    """Deserialise arrays of `pack`; other bytes, or too many, raise any kind of exception."""
    with opened_archive("arrays", blob, same=array_name, noun="array") as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MOST_UNPACKED:
        raise ValueError(f"{size:,} bytes of arrays")
    with np.load(io.BytesIO(blob), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
