"""Matrices from NumPy's and SciPy's files: npy, npz and sparse npz, never a pickle."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from narcissus._files import LARGEST, parsing, read_bytes
from narcissus._validation import did_you_mean
from narcissus.errors import InputError, TooLargeError

SUFFIXES = {".npy", ".npz"}
NAMES = {"secrets", "outputs", "answers"}
"""Arrays of an npz that hold names."""
SPARSE = {"format", "shape", "data"}
"""What every file of `scipy.sparse.save_npz` holds."""


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """A matrix as a file holds it."""

    matrix: Any  # Two-dimensional, real; a NumPy array or a SciPy sparse array
    # secrets, outputs: Names of its rows and columns; None where the file has none
    secrets: list[str] | None = None
    outputs: list[str] | None = None


def is_array_file(path: Path) -> bool:
    """Return by its name whether a file is NumPy's or SciPy's."""
    return path.suffix.lower() in SUFFIXES


def read_matrix(path: Path) -> NamedMatrix:
    """Read a matrix.

    path: an npy with one matrix; an npz with one, or with one called ``matrix``, and with names of
        its rows as ``secrets`` and of its columns as ``outputs`` (or ``answers``) if wished; or
        what `scipy.sparse.save_npz` wrote.
    Raises InputError: it is unreadable, holds Python objects (which are refused, since reading them
        can run a program), or no matrix of numbers.
    """
    content = read_bytes(path)
    with parsing(path, "a file of NumPy or SciPy arrays"):
        if path.suffix.lower() == ".npy":
            return NamedMatrix(_checked(path, path.name, _load(path, content)))
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > LARGEST:
            raise TooLargeError(
                f"{path} unpacks to {size:,} bytes; at most {LARGEST:,} of an array are read"
            )
        with _load(path, content) as arrays:
            if set(arrays.files) >= SPARSE:
                return NamedMatrix(_sparse(content))
            return _of_archive(path, arrays)


def read_row(path: Path) -> Any:
    """Read a row of numbers from an npy; the errors are those of `read_matrix`."""
    if path.suffix.lower() != ".npy":
        raise InputError(f"{path}: one row of numbers is read from an npy, a CSV or a Parquet file")
    content = read_bytes(path)
    with parsing(path, "a file of a NumPy array"):
        return _checked(path, path.name, _load(path, content)[None])[0]


def _load(path: Path, content: bytes) -> Any:
    if content[:1] == b"\x80":
        raise _pickled(path)
    try:
        return np.load(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:
        if str(error).startswith("Object arrays"):
            raise _pickled(path) from error
        raise


def _pickled(path: Path) -> InputError:
    return InputError(
        f"{path} holds Python objects (a pickle), which are not read: reading them can run any "
        "program. Save numbers alone: np.save(path, np.asarray(matrix, dtype=float))"
    )


def _sparse(content: bytes) -> Any:
    found: Any = sparse.load_npz(io.BytesIO(content))
    if hasattr(found, "check_format"):
        found.check_format(full_check=True)  # wrong places would be read beyond the array's end
    return sparse.csr_array(found)


def _of_archive(path: Path, arrays: Any) -> NamedMatrix:
    others = [name for name in arrays.files if name not in NAMES]
    name = "matrix" if "matrix" in others else others[0] if len(others) == 1 else None
    if name is None:
        has = f"has {', '.join(map(repr, others[:6]))}" if others else "has none"
        raise InputError(
            f"{path} must hold one matrix, or one called 'matrix'; it {has}"
            f"{did_you_mean('matrix', others)}"
        )
    columns = "answers" if "answers" in arrays.files else "outputs"
    return NamedMatrix(
        _checked(path, name, _array(path, arrays, name)),
        _names(path, arrays, "secrets"),
        _names(path, arrays, columns),
    )


def _array(path: Path, arrays: Any, name: str) -> Any:
    try:
        return arrays[name]
    except ValueError as error:
        if str(error).startswith("Object arrays"):
            raise _pickled(path) from error
        raise


def _names(path: Path, arrays: Any, name: str) -> list[str] | None:
    if name not in arrays.files:
        return None
    values = _array(path, arrays, name)
    if values.ndim != 1 or values.dtype.kind not in "Uiu":
        raise InputError(
            f"{path}: `{name}` must be a list of texts, got {values.dtype} of shape {values.shape}"
        )
    return [str(one) for one in values.tolist()]


def _checked(path: Path, name: str, values: Any) -> Any:
    if values.dtype.kind not in "biuf":
        raise InputError(f"{path}: {name!r} holds {values.dtype}, not real numbers")
    if values.ndim != 2:
        raise InputError(
            f"{path}: {name!r} has shape {values.shape}; a matrix has a row per secret and a "
            "column per output"
        )
    return values
