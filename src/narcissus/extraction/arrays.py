"""Array files (``.npy``, ``.npz``, ``.safetensors``), checked by their headers before any reading.

A header claims a number and type of values. The claim is compared with the file and with a limit
before any memory is allocated.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._files import LARGEST, file_size, parsing
from narcissus.errors import InputError, TooLargeError

SUFFIXES = frozenset({".npy", ".npz", ".safetensors"})

LONGEST_HEADER = 100_000_000
"""Longest header of a safetensors file, in bytes; the format's own limit."""

LONGEST_NPY_HEADER = 10_000
"""Longest header of an array in NumPy's format, in bytes; NumPy's own limit."""

_WIDTHS = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8,
    "U32": 4, "U16": 2, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
}  # fmt: skip
_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "<i1", "U8": "<u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "?",
}  # fmt: skip


@dataclass(frozen=True)
class Header:
    """The header of one array."""

    name: str  # in the file; "" in a ``.npy`` file
    kind: str  # its type, as NumPy or safetensors names it
    shape: tuple[int, ...]
    size: int  # of its values, in bytes
    start: int  # offset of the values, in the file or in its member of an archive

    @property
    def count(self) -> int:
        return math.prod(self.shape)


def headers_of(path: Path) -> list[Header]:
    """Read the headers of a file's arrays and check them against the file's size."""
    with _reading(path):
        if path.suffix == ".safetensors":
            return _safetensors(path)
        if path.suffix == ".npy":
            with path.open("rb") as file:
                return [_npy(file, "", file_size(path, largest=2**63))]
        with zipfile.ZipFile(path) as archive:
            found: list[Header] = []
            for member in archive.infolist():
                with archive.open(member) as file:
                    found.append(_npy(file, member.filename.removesuffix(".npy"), member.file_size))
            return found


def arrays_of(path: Path, *, largest: int = LARGEST) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file, never a pickle.

    Parameters
    ----------
    path
        A ``.npy``, ``.npz`` or ``.safetensors`` file.
    largest
        Most bytes of all arrays, unpacked and as float64 numbers.

    Raises
    ------
    InputError
        The file is damaged, or holds Python objects or values that are no numbers.
    TooLargeError
        The arrays are larger.
    """
    headers = headers_of(path)
    size = sum(max(header.size, 8 * header.count) for header in headers)
    if size > largest:
        raise TooLargeError(
            f"{path} unpacks to arrays of {size:,} bytes as float64; at most {largest:,} "
            f"({largest / 2**20:,.0f} MiB) are read"
        )
    with _reading(path):
        if path.suffix == ".safetensors":
            return {header.name: _values(path, header) for header in headers}
        with path.open("rb") as file:
            loaded: Any = np.load(file, allow_pickle=False)
            arrays = dict(loaded) if path.suffix == ".npz" else {"": cast(NDArray[Any], loaded)}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise InputError(f"{path}: the array {name!r} holds {array.dtype}, not numbers")
    return arrays


@contextmanager
def _reading(path: Path) -> Generator[None]:
    """Name the file in errors, and identify pickles."""
    try:
        with parsing(path, f"a readable {path.suffix} file"):
            file_size(path, largest=2**63)
            yield
    except InputError as error:
        if "pickle" in str(error):
            raise InputError(f"cannot read {path}: it holds Python objects (a pickle)") from error
        raise


def _npy(file: IO[bytes], name: str, available: int) -> Header:
    """Read the header of an array in NumPy's format with ``available`` bytes."""
    counted = _Counted(file)
    version = np.lib.format.read_magic(counted)
    read: Any = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version, getattr(np.lib.format, "_read_array_header", None))
    shape, _, kind = read(counted) if version in {(1, 0), (2, 0)} else read(counted, version)
    if kind.hasobject:
        raise ValueError("an array of objects is a pickle")
    if any(n < 0 for n in shape) or kind.itemsize == 0:
        raise ValueError(f"{name or 'the array'} has the shape {shape} and the type {kind}")
    header = Header(name, str(kind), shape, math.prod(shape) * kind.itemsize, counted.count)
    if header.start + header.size != available:
        raise ValueError(
            f"{name or 'the array'} should have {header.size:,} bytes of values, by its shape "
            f"{shape}; there are {available - header.start:,}"
        )
    return header


class _Counted(io.RawIOBase):
    """A stream that limits how much of a header is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.count = file, 0

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= LONGEST_NPY_HEADER:  # NumPy looks at the length after it has read it
            raise ValueError(f"its header has {size:,} bytes, more than {LONGEST_NPY_HEADER:,}")
        data = self._file.read(size)
        self.count += len(data)
        return data


def _safetensors(path: Path) -> list[Header]:
    """Parse a safetensors header: a length, JSON, then the raw arrays."""
    total = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if total < 8 or length > total - 8:
            raise ValueError("its header is cut off")
        if length > LONGEST_HEADER:
            raise ValueError(f"its header has {length:,} bytes, more than {LONGEST_HEADER:,}")
        entries = json.loads(file.read(length))
    if not isinstance(entries, dict):
        raise ValueError("its header is no table of arrays")
    body = total - 8 - length
    found = [
        _entry(name, entry, 8 + length, body)
        for name, entry in cast("dict[str, Any]", entries).items()
        if name != "__metadata__"
    ]
    end = 8 + length
    for header in sorted(found, key=lambda h: (h.start, h.size)):
        if header.start != end:
            raise ValueError(f"the values of {header.name} overlap others, or leave a gap")
        end += header.size
    if end != total:
        raise ValueError(f"there are {total - end:,} bytes behind the last array")
    return found


def _entry(name: str, entry: Any, begin: int, body: int) -> Header:
    if not isinstance(entry, dict):
        raise ValueError(f"its header says nothing usable of {name}")
    said = cast("dict[str, Any]", entry)
    kind: Any = said.get("dtype")
    shape: Any = said.get("shape")
    offsets: Any = said.get("data_offsets")
    if not isinstance(kind, str) or kind not in _WIDTHS:
        raise ValueError(f"{name} has the type {kind!r}, which is not known")
    if not (_wholes(shape) and _wholes(offsets) and len(offsets) == 2):
        raise ValueError(f"{name} has the shape {shape!r} and the offsets {offsets!r}")
    start, end = offsets
    size = math.prod(shape) * _WIDTHS[kind]
    if not start <= end <= body or end - start != size:
        raise ValueError(
            f"{name} should have {size:,} bytes, by its shape {tuple(shape)}; its offsets are "
            f"{start} to {end} of {body:,}"
        )
    return Header(name, kind, tuple(shape), size, begin + start)


def _wholes(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in cast("list[Any]", value)
    )


def _values(path: Path, header: Header) -> NDArray[Any]:
    if header.kind not in _TYPES:
        raise ValueError(f"{header.name} has the type {header.kind}, which NumPy lacks")
    with path.open("rb") as file:
        file.seek(header.start)
        return np.frombuffer(file.read(header.size), _TYPES[header.kind]).reshape(header.shape)
