"""Safe reading of data sets and releases: text, NumPy without pickles, safetensors."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import file_size, parsing, read_bytes
from narcissus.errors import InputError, TooLargeError
from narcissus.extraction.arrays import SUFFIXES, arrays_of, headers_of

LARGEST_RELEASE = 2 * 2**30
WEIGHTS = ("*.safetensors", "*.npy", "*.npz")
_ANY = 2**63
_PICKLES = {".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib", ".dill"}


def refuse_pickle(path: Path) -> None:
    """Refuse a file that is or holds a pickle, whose reading could run anything."""
    file_size(path, largest=_ANY)
    with parsing(path, "a readable file"), path.open("rb") as file:
        head = file.read(8)
    # The protocol opcode alone is no proof (0x80 starts many a binary file): a pickle of
    # protocol 4 or 5 opens a frame, one of 2 or 3 is told by an opcode that can follow.
    pickled = path.suffix.lower() in _PICKLES or (
        head[:1] == b"\x80"
        and ((head[1:2] in b"\x04\x05" and head[2:3] == b"\x95")
             or (head[1:2] in b"\x02\x03" and head[2:3] in b"}](cXKNG\x8a"))
    )  # fmt: skip
    if not pickled and zipfile.is_zipfile(path):
        with parsing(path, "a readable archive"), zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        pickled = any(Path(name).suffix in _PICKLES for name in names)
    if pickled:
        raise InputError(
            f"{path} is a pickle, and reading a pickle can run any program: save it as "
            "safetensors, as .npy or .npz without objects, or as text; beside such a file, "
            "remove it"
        )


def check_release(path: Path, *, largest: int = LARGEST_RELEASE) -> int:
    """Check a release (a file, or a folder with `WEIGHTS`) before a program gets it; return its
    bytes.

    Raises
    ------
    InputError
        It is missing, empty, a pickle, or a folder without weights.
    TooLargeError
        It is larger than ``largest``.
    """
    if not path.exists():
        raise InputError(f"no such release: {path}")
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    if path.is_dir() and not any(p.match(w) for p in files for w in WEIGHTS):
        broken = [p.name for p in files if p.suffix in _PICKLES or p.suffix == ".bin"]
        hint = f"; {broken[0]} is not read, since it may hold a pickle" if broken else ""
        raise InputError(f"the folder {path} has no weights ({', '.join(WEIGHTS)}){hint}")
    if path.is_dir():
        refuse_links(path)
    size = sum(file_size(p, largest=_ANY) for p in files)
    if size == 0:
        raise InputError(f"the release {path} is empty")
    if size > largest:
        raise TooLargeError(
            f"the release {path} has {size} bytes, more than the limit of {largest}; raise "
            "`limits.release` if that is meant"
        )
    for file in files:
        refuse_pickle(file)
        if file.suffix in {".npy", ".npz"}:
            headers_of(file)
    return size


def refuse_links(folder: Path) -> None:
    """Refuse a folder with links that lead out of it: a program would get their targets.

    Links within a Hugging Face cache stay: there a model is a folder ``snapshots/REVISION`` of
    links to ``blobs``.
    """
    inside = folder.resolve()
    blobs = inside.parent.parent / "blobs"
    for link in sorted(folder.rglob("*")):
        if not link.is_symlink():
            continue
        try:
            leads = link.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise InputError(f"{link} is a link that leads nowhere: remove it") from error
        cached = inside.parent.name == "snapshots" and leads.parent == blobs
        if not leads.is_file() or not (cached or leads.is_relative_to(inside)):
            raise InputError(
                f"{link} is a link that leads out of the folder, to {leads}: put a copy of what is "
                "meant in its place"
            )


@dataclass(frozen=True, eq=False)
class DataSet:
    """The data behind a release, as bytes, text, records or rows of numbers."""

    raw: bytes  # the bytes; for an array file, those of its C-ordered values
    name: str = "the data"  # name in messages
    # the values of an array file, of shape (rows, columns)
    array: NDArray[np.float64] | None = None
    # the class of each row, -1 or 1, if there are classes
    labels: NDArray[np.float64] | None = None

    @classmethod
    def read(cls, path: Path | str) -> DataSet:
        """Read a text file or an array file; refuses pickles, empty files, several arrays."""
        path = Path(path)
        if not path.is_file():
            raise InputError(f"no such data file: {path}")
        refuse_pickle(path)
        if path.suffix in SUFFIXES:
            arrays = list(arrays_of(path).values())
            if len(arrays) != 1:
                raise InputError(f"{path} must hold one array, it holds {len(arrays)}")
            return cls.of_rows(arrays[0], name=str(path))
        raw = read_bytes(path)
        if not raw.strip():
            raise InputError(f"the data file {path} is empty")
        return cls(raw, str(path))

    @classmethod
    def of_rows(cls, rows: Any, *, name: str = "the data", labels: Any = None) -> DataSet:
        """Make a data set of an array, first axis records, the others flattened."""
        array = np.asarray(rows, dtype=np.float64)
        if array.ndim == 0 or array.size == 0:
            raise InputError(f"{name} is empty")
        if not np.isfinite(array).all():
            raise InputError(f"{name} has values that are not finite")
        array = np.ascontiguousarray(array.reshape(array.shape[0], -1))
        return cls(array.tobytes(), name, array, labels)

    @cached_property
    def text(self) -> str:
        """The data as text; `InputError` if it is not text."""
        if self.array is not None:
            raise InputError(f"{self.name} holds numbers, and this relation is about text")
        try:
            return self.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.name} is not UTF-8 text (byte {error.start}); give numbers as .npy"
            ) from error

    @cached_property
    def records(self) -> tuple[str, ...]:
        """The non-blank lines of the text."""
        return tuple(line for line in self.text.split("\n") if line.strip())

    @cached_property
    def rows(self) -> NDArray[np.float64]:
        """The data as numbers, of shape (rows, columns); a text is parsed, a row a line."""
        if self.array is not None:
            return self.array
        rows = parse_rows(self.text)
        if rows is None:
            raise InputError(f"{self.name} must hold rows of numbers, all of the same length")
        return rows


def parse_rows(text: str) -> NDArray[np.float64] | None:
    """Parse a row of numbers a line, with blanks or commas between; None on failure."""
    lines = [line.replace(",", " ").split() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines or any(len(line) != len(lines[0]) for line in lines):
        return None
    try:
        rows = np.array(lines, dtype=np.float64)
    except ValueError:
        return None
    return rows if np.isfinite(rows).all() else None
