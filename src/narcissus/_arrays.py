"""Named arrays as bytes: NumPy's own format without pickles, and a limit on what it unpacks to."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

MOST_UNPACKED = 2**28  # bytes of a trial; one of a million people has some 10 million

Arrays = Mapping[str, NDArray[np.generic]]


def pack(arrays: Arrays) -> bytes:
    """Give arrays as bytes."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **dict(arrays))
    return buffer.getvalue()


def unpack(blob: bytes) -> dict[str, NDArray[np.generic]]:
    """Give the arrays back.

    Raises
    ------
    Exception
        Of whatever kind: these bytes are not what `pack` gives, or too much.
    """
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MOST_UNPACKED:
        raise ValueError(f"{size:,} bytes of arrays")
    with np.load(io.BytesIO(blob), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
