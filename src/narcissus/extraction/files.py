"""Safe reading of data sets and releases: text, NumPy without pickles, safetensors.

Array files are checked by their headers before any reading: the number and type of values that a
header claims are compared with the file and with a limit before any memory is allocated.
"""

from __future__ import annotations

import io
import json
import math
import shutil
import zipfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._archives import array_name, opened_archive
from narcissus._files import (
    LARGEST,
    BadContentError,
    file_size,
    files_below,
    parsing,
    read_bytes,
    write_atomically,
)
from narcissus._folders import require_no_links
from narcissus._json import read_json
from narcissus._validation import integer
from narcissus.errors import InputError, TooLargeError
from narcissus.worlds.base import Draw

SUFFIXES = frozenset({".npy", ".npz", ".safetensors"})
LONGEST_HEADER = 100_000_000
"""Longest header of a safetensors file, in bytes; the format's own limit."""
LONGEST_NPY_HEADER = 10_000
"""Longest header of an array in NumPy's format, in bytes; NumPy's own limit."""
_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "U8": "<u1",
    "U16": "<u2",
    "U32": "<u4",
    "U64": "<u8",
    "BOOL": "?",
}
_WIDTHS = {name: np.dtype(kind).itemsize for name, kind in _TYPES.items()} | {
    "BF16": 2,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
}
LARGEST_RELEASE = 2 * 2**30
WEIGHTS = ("*.safetensors", "*.npy", "*.npz")
_ANY = 2**63
PICKLES = {".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib", ".dill"}


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


MOST_DIMENSIONS = 32
"""Of an array; sizes of more are not multiplied."""


_METADATA = "__metadata__"


def headers_of(path: Path) -> list[Header]:
    """Read the headers of a file's arrays and check them against the file's size."""
    with _reading(path):
        if path.suffix == ".safetensors":
            return _safetensors(path)
        if path.suffix == ".npy":
            with path.open("rb") as file:
                _require_array(file, "it does not begin as an array does that NumPy wrote")
                file.seek(0)
                return [_npy(file, "", file_size(path, largest=2**63))]
        with opened_archive(path, same=array_name, noun="array") as archive:
            headers: list[Header] = []
            for member in archive.infolist():
                with archive.open(member) as file:
                    _require_array(file, f"its member `{member.filename}` is no array")
                with archive.open(member) as file:
                    headers.append(
                        _npy(file, member.filename.removesuffix(".npy"), member.file_size)
                    )
            return headers


def arrays_of(path: Path, *, largest: int = LARGEST) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file, never a pickle.

    largest: most bytes of all arrays, unpacked and as float64 numbers.
    Raises InputError: the file is damaged, or holds Python objects or values that are no numbers.
    """
    headers = headers_of(path)
    size = sum(max(header.size, 8 * header.count) for header in headers)
    if size > largest:
        raise TooLargeError(
            f"{path} unpacks to arrays of {size:,} bytes as float64; at most {largest:,} "
            f"({largest / 2**20:,.0f} MiB) are read"
        )
    with _reading(path), path.open("rb") as file:
        if path.suffix == ".safetensors":
            return {header.name: _values(file, header) for header in headers}
        loaded: Any = np.load(file, allow_pickle=False)
        arrays = dict(loaded) if path.suffix == ".npz" else {"": cast(NDArray[Any], loaded)}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise InputError(f"{path}: the array {name!r} holds {array.dtype}, not numbers")
    return arrays


def _values(file: IO[bytes], header: Header) -> NDArray[Any]:
    if header.kind not in _TYPES:
        raise BadContentError(f"{header.name} has the type {header.kind}, which NumPy lacks")
    file.seek(header.start)
    return np.frombuffer(file.read(header.size), _TYPES[header.kind]).reshape(header.shape)


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
    }.get(version)
    if read is None:  # version 3 is for names of columns, and arrays of numbers have none
        raise BadContentError(f"its format has the version {version[0]}.{version[1]}, not 1 or 2")
    shape, _, kind = read(counted)
    if kind.hasobject:
        raise BadContentError("an array of objects is a pickle")
    if len(shape) > MOST_DIMENSIONS or not all(0 <= n < 2**63 for n in shape):
        raise BadContentError(f"{name or 'the array'} has a shape that no array has")
    if kind.itemsize == 0:
        raise BadContentError(f"{name or 'the array'} has the shape {shape} and the type {kind}")
    header = Header(name, str(kind), shape, math.prod(shape) * kind.itemsize, counted.count)
    if header.start + header.size != available:
        raise BadContentError(
            f"{name or 'the array'} should have {header.size:,} bytes of values, by its shape "
            f"{shape}; there are {available - header.start:,}"
        )
    return header


def _require_array(file: IO[bytes], otherwise: str) -> None:
    """Refuse what does not begin as NumPy begins an array; otherwise: what to say then."""
    if file.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
        raise BadContentError(otherwise)


class _Counted(io.RawIOBase):
    """A stream that limits how much of a header is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.count = file, 0

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= LONGEST_NPY_HEADER:  # NumPy looks at the length after it has read it
            raise BadContentError(
                f"its header has {size:,} bytes, more than {LONGEST_NPY_HEADER:,}"
            )
        data = self._file.read(size)
        self.count += len(data)
        return data


def metadata_of(path: Path) -> Any:
    """Return what is in the header of a file in safetensors besides arrays."""
    with _reading(path):
        return _table_of_arrays(path)[0].get(_METADATA)


def _table_of_arrays(path: Path) -> tuple[dict[str, Any], int]:
    """Return the header of a file in safetensors, and its length."""
    total = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if total < 8 or length > total - 8:
            raise BadContentError("its header is cut off")
        if length > LONGEST_HEADER:
            raise BadContentError(f"its header has {length:,} bytes, more than {LONGEST_HEADER:,}")
        entries = read_json(file.read(length))
    if not isinstance(entries, dict):
        raise BadContentError("its header is no table of arrays")
    return cast("dict[str, Any]", entries), length


def _safetensors(path: Path) -> list[Header]:
    """Parse a safetensors header: a length, JSON, then the raw arrays."""
    total = path.stat().st_size
    entries, length = _table_of_arrays(path)
    body = total - 8 - length
    headers = [
        _entry(name, entry, 8 + length, body)
        for name, entry in entries.items()
        if name != _METADATA
    ]
    end = 8 + length
    for header in sorted(headers, key=lambda h: (h.start, h.size)):
        if header.start != end:
            raise BadContentError(f"the values of {header.name} overlap others, or leave a gap")
        end += header.size
    if end != total:
        raise BadContentError(f"there are {total - end:,} bytes behind the last array")
    return headers


def _entry(name: str, entry: Any, begin: int, body: int) -> Header:
    if not isinstance(entry, dict):
        raise BadContentError(f"its header says nothing usable of {name}")
    fields = cast("dict[str, Any]", entry)
    kind: Any = fields.get("dtype")
    shape: Any = fields.get("shape")
    offsets: Any = fields.get("data_offsets")
    if not isinstance(kind, str) or kind not in _WIDTHS:
        raise BadContentError(f"{name} has the type {kind!r}, which is not known")
    if isinstance(shape, list) and len(cast("list[Any]", shape)) > MOST_DIMENSIONS:
        raise BadContentError(f"{name} has more than {MOST_DIMENSIONS} dimensions")
    if not (_wholes(shape) and _wholes(offsets) and len(offsets) == 2):
        raise BadContentError(f"{name} has the shape {shape!r} and the offsets {offsets!r}")
    start, end = offsets
    size = math.prod(shape) * _WIDTHS[kind]
    if not start <= end <= body or end - start != size:
        raise BadContentError(
            f"{name} should have {size:,} bytes, by its shape {tuple(shape)}; its offsets are "
            f"{start} to {end} of {body:,}"
        )
    return Header(name, kind, tuple(shape), size, begin + start)


def _wholes(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**63
        for n in cast("list[Any]", value)
    )


def refuse_pickle(path: Path) -> None:
    """Refuse a file that is or holds a pickle, whose reading could run anything."""
    file_size(path, largest=_ANY)
    with parsing(path, "a readable file"), path.open("rb") as file:
        head = file.read(8)
    # The protocol opcode alone is no proof (0x80 starts many a binary file): a pickle of
    # protocol 4 or 5 opens a frame, one of 2 or 3 is told by an opcode that can follow.
    pickled = path.suffix.lower() in PICKLES or (
        head[:1] == b"\x80"
        and (
            (head[1:2] in b"\x04\x05" and head[2:3] == b"\x95")
            or (head[1:2] in b"\x02\x03" and head[2:3] in b"}](cXKNG\x8a")
        )
    )
    if not pickled and zipfile.is_zipfile(path):
        with parsing(path, "a readable archive"), opened_archive(path) as archive:
            names = archive.namelist()
        pickled = any(Path(name).suffix in PICKLES for name in names)
    if pickled:
        raise InputError(
            f"{path} is a pickle, and reading a pickle can run any program: save it as "
            "safetensors, as .npy or .npz without objects, or as text; next to such a file, "
            "remove it"
        )


def check_release(path: Path, *, largest: int = LARGEST_RELEASE) -> int:
    """Check a release (a file, or a folder with `WEIGHTS`) before a program gets it; return its
    bytes.
    Raises InputError: it is missing, empty, a pickle, or a folder without weights.
    """
    if not path.exists():
        raise InputError(f"no such release: {path}")
    files = [p for p in files_below(path) if p.is_file()] if path.is_dir() else [path]
    if path.is_dir() and not any(p.match(w) for p in files for w in WEIGHTS):
        broken = [p.name for p in files if p.suffix in PICKLES or p.suffix == ".bin"]
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


def refuse_links(folder: Path, left_out: Callable[[str], bool] = lambda name: False) -> None:
    """Refuse a folder with links that lead out of it: a program would get their targets.

    Links within a Hugging Face cache stay: there a model is a folder ``snapshots/REVISION`` of
    links to ``blobs``. ``left_out`` says which are no part of the release, by their names below the
    folder.
    """
    inside = folder.resolve()
    blobs = inside.parent.parent / "blobs"
    for link in files_below(folder):
        if not link.is_symlink() or left_out(link.relative_to(folder).as_posix()):
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


@dataclass(frozen=True, eq=False)
class Pool:
    """Data sets of ``size`` records, drawn from a pool without repetition.

    A fresh data set is another draw from the same pool, so an attack is compared with its success
    on data that the release has not seen.

    records: Lines of text, or rows of numbers, shape (n, columns).
    size: Records of a data set.
    labels: The class of each row, -1 or 1, shape (n,); each data set then has equal numbers of
        both, up to rounding. None: no classes.
    """

    records: Sequence[str] | Sequence[Sequence[float]] | NDArray[np.float64]
    size: int
    labels: Sequence[int] | NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        integer("size", self.size, low=1, high=len(self.records))
        if not self._is_text and len({len(np.atleast_1d(row)) for row in self.records}) > 1:
            raise InputError("`records` must be rows of equally many numbers, or lines of text")
        if self.labels is None:
            return
        if self._is_text:
            raise InputError("`labels` are for rows of numbers")
        each = [int((np.asarray(self.labels) == sign).sum()) for sign in (1, -1)]
        if sum(each) != len(self.records) or min(each) < (self.size + 1) // 2:
            raise InputError(
                f"`labels` must be -1 or 1 for each of {len(self.records)} records, with enough of "
                f"both for {self.size}; got {each[0]} of 1 and {each[1]} of -1"
            )

    @property
    def _is_text(self) -> bool:
        return isinstance(self.records[0], str)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        return Draw([self._data_set(rng) for _ in range(trials)])

    def fresh(self, draw: Draw, rng: np.random.Generator) -> list[DataSet]:
        return self.draw(draw.trials, rng).data

    def _data_set(self, rng: np.random.Generator) -> DataSet:
        if self._is_text:
            chosen = rng.choice(len(self.records), self.size, replace=False)
            return DataSet("\n".join(str(self.records[i]) for i in chosen).encode())
        records = np.asarray(self.records, dtype=np.float64)
        if self.labels is None:
            return DataSet.of_rows(records[rng.choice(len(records), self.size, replace=False)])
        labels, half = np.asarray(self.labels), self.size // 2
        sides = ((1, self.size - half), (-1, half))
        drawn = [rng.choice(np.flatnonzero(labels == s), n, replace=False) for s, n in sides]
        chosen = np.concatenate(drawn)
        return DataSet.of_rows(records[chosen], labels=labels[chosen])


def trained_once(folder: Path, said: Mapping[str, object], train: Callable[[], object]) -> None:
    """Train the model in a folder, unless an earlier run trained it as ``said`` (JSON-able).

    Raises InputError: the folder is a link, through which the model would be written elsewhere, or
        what is there cannot be removed.

    A model's folder is released, so the record of its training is next to the folder, for the
    owner alone (mode 0600): with the digest and the entropy, a holder of the folder could test
    guesses of the data.
    """
    beside = folder.with_name(f"{folder.name}.trained_on.json")
    with suppress(OSError, ValueError, InputError):
        if folder.is_dir() and read_json(read_bytes(beside)) == said:
            return
    require_no_links(folder, "the folder of a model,", "`--out`")
    try:
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
    except OSError as error:
        raise InputError(f"cannot remove {folder}: {error.strerror or error}") from error
    train()
    write_atomically(beside, json.dumps(said), private=True, links=False)
