"""Safe reading and writing: regular files only, with limits on size set beforehand."""

from __future__ import annotations

import binascii
import codecs
import csv
import errno
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import stat
import struct
import sys
import traceback
import zipfile
import zlib
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from narcissus._archives import opened_archive
from narcissus._folders import opened_folder, opened_through_links
from narcissus._optional import optional
from narcissus._unchanged import note_reading
from narcissus.errors import InputError, NarcissusError, TooLargeError

LARGEST = 2**30
"""Most bytes of a table, a channel or an array that are read, uncompressed (1 GiB)."""

WORTH = 100
"""How many times its size on disk a packed text may unpack to."""
SMALL = 2**24
"""What it may unpack to in any case, in bytes: a short text of one letter packs a thousandfold."""

LONGEST_LINE = 2**20
"""Longest line of a text table, in bytes."""

_IN_COMMAS = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
_COMMA = re.compile(r'(?:^|;)\s*"?[-+]?[\d.]*,\d+(?:[eE][-+]?\d+)?"?\s*(?:;|$)')
_THOUSANDS = re.compile(r'(?:^|;)\s*"?[-+]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?"?\s*(?:;|$)')


class BadContentError(InputError):
    """What a reader of ours says of a file's content; `parsing` names the file."""


_OF_READERS: tuple[type[Exception], ...] = (
    UnicodeError,
    json.JSONDecodeError,
    csv.Error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    binascii.Error,
    EOFError,
)
"""What parsers written in C raise of a bad file, wherever they are called."""


@contextmanager
def parsing(path: Path | str, what: str, *known: type[Exception]) -> Generator[None]:
    """Turn what a parser raises of a bad file into one `InputError` that names the file.

    Parsers of other libraries share no base class for that, down to RecursionError and MemoryError,
    so an error that is raised inside of another library is one about the file. What this package
    raises itself is a mistake of ours, and stays as it is, with a note of the file: to call a good
    file bad would hide it.

    path: What is read, named in the message.
    what: What it should be, such as "a CSV table".
    known: More classes that tell of a bad file where our own code calls a parser without a frame of
        Python, such as `numpy.frombuffer`.

    InputError: The file is bad, or cannot be read. TooLargeError: It does not fit into memory.
    """
    try:
        yield
    except BadContentError as error:
        raise InputError(f"{path} is not {what}: {_in_a_line(error)}") from error
    except NarcissusError:
        raise
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"cannot read {error.filename or path}: {error.strerror}") from error
        raise InputError(f"{path} is not {what}: {_in_a_line(error)}") from error  # a parser's own
    except RecursionError as error:
        raise InputError(f"{path} is not {what}: it is nested too deeply") from error
    except MemoryError as error:
        raise TooLargeError(f"{path} does not fit into memory") from error
    except Exception as error:
        if is_ours(error, *known):
            error.add_note(f"while reading {path}")
            raise
        raise InputError(f"{path} is not {what}: {reason_of(error)}") from error


def is_ours(error: BaseException, *known: type[Exception]) -> bool:
    """Say whether an error was raised by a line of this package, and is not of a known class."""
    if isinstance(error, (*_OF_READERS, *known)):
        return False
    place = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        place = frame.f_globals.get("__name__")
    return isinstance(place, str) and place.partition(".")[0] in _PACKAGES


_PACKAGES = frozenset({"narcissus", "narcissus_papers"})


OF_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    TypeError,
)
"""What Python raises where a library did not expect a content: its words are about the library."""


def reason_of(error: BaseException) -> str:
    """Return what is wrong with a file, in words about the file."""
    is_panic = type(error).__name__ == "PanicException"  # of a library in Rust
    if is_panic or (isinstance(error, OF_MISTAKES) and not isinstance(error, UnicodeError)):
        return "it is damaged, or holds something that its reader does not expect"
    if "set_int_max_str_digits" in str(error):
        return f"it holds a whole number of more than {sys.get_int_max_str_digits():,} digits"
    return _in_a_line(error)


def _in_a_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def no_such_file(path: Path, near: str = "") -> InputError:
    """Return the error for a path that leads to no file; near: the hint at another name."""
    if path.is_symlink():
        return InputError(f"{path} is a link to a file that is not there")
    return InputError(f"no such file: {path}{near}")


def file_size(path: Path, *, largest: int = LARGEST) -> int:
    """Return the size of a regular file in bytes.

    InputError: it is missing, a folder, or a pipe or device, which may never end. TooLargeError: it
    has more than ``largest`` bytes.
    """
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise no_such_file(path) from error
    except (OSError, ValueError) as error:  # a ValueError: a NUL in the name
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from error
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"cannot read {path}: it is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(
            f"cannot read {path}: it is a pipe or a device, not a file: write what comes out of "
            "it to a file first"
        )
    if status.st_dev in _systems():
        raise InputError(
            f"cannot read {path}: it is a view of the running system, not a file: reading it may "
            "never end"
        )
    if status.st_size > largest:
        raise _too_large(path, f"{status.st_size:,} bytes", largest)
    note_reading(path, status)
    return status.st_size


def _systems(*more: str) -> set[int]:
    """Device numbers of file systems that make up files while they are read, such as /proc/kmsg."""
    devices = set[int]()
    for place in ("/proc", "/sys", *more):
        with suppress(OSError):
            devices.add(os.stat(place).st_dev)
    return devices - {os.stat(os.sep).st_dev}


def read_bytes(path: Path, *, largest: int = LARGEST) -> bytes:
    """Read a whole regular file; the errors are those of `file_size`."""
    file_size(path, largest=largest)
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if len(content) > largest:  # it grew meanwhile
        raise _too_large(path, f"more than {largest:,} bytes", largest)
    return content


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file of any size, as in records."""
    file_size(path, largest=sys.maxsize)
    try:
        with path.open("rb") as file:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def files_digest(paths: Iterable[Path]) -> str:
    """Return one SHA-256 of several files, in the order of their paths."""
    digests = "".join(map(file_digest, sorted(paths)))
    return "sha256:" + hashlib.sha256(digests.encode()).hexdigest()


def _too_large(path: Path | str, size: str, largest: int) -> TooLargeError:
    return TooLargeError(
        f"{path} has {size}; at most {largest:,} ({largest / 2**20:,.0f} MiB) are read"
    )


class _Watched(io.RawIOBase):
    """The bytes of a text table, refused if there are too many or they are not text."""

    def __init__(self, source: IO[bytes], path: Path, largest: int) -> None:
        self._source, self._path, self._largest = source, path, largest
        self._count = 0
        self._line = 0  # bytes since the last end of a line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with unpacking(self._path):
            data = self._source.read(min(len(buffer), 2**16))
        if (place := data.find(b"\0")) >= 0:
            raise InputError(
                f"{self._path} is not a text table: it holds binary data "
                f"(byte {self._count + place:,} is zero)"
            )
        self._count += len(data)
        if self._count > self._largest:
            raise _too_large(
                self._path, f"more than {self._largest:,} bytes of text", self._largest
            )
        self._watch_lines(data)
        buffer[: len(data)] = data
        return len(data)

    def _watch_lines(self, data: bytes) -> None:
        first, last = data.find(b"\n"), data.rfind(b"\n")
        if last < 0:
            first = last = data.rfind(b"\r")  # lines of old
        longest = self._line + (len(data) if first < 0 else first)
        self._line = longest if last < 0 else len(data) - last - 1
        if longest > LONGEST_LINE:
            raise TooLargeError(
                f"{self._path} is not a text table: it has a line of more than "
                f"{LONGEST_LINE:,} bytes"
            )

    def close(self) -> None:
        self._source.close()
        super().close()


_LETTERS = [bytes([b]).decode("cp1252", "ignore") or chr(b) for b in range(256)]
"""What each byte is in Windows-1252; its five gaps as in Latin-1."""


def _western(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    return "".join(_LETTERS[b] for b in wrong), error.end


WESTERN = "narcissus-western"
"""How `western` treats bytes that are no UTF-8 in files of Excel, SAS and R on Windows."""
codecs.register_error(WESTERN, _western)


_RUNS = re.compile(rb"([A-Za-z]?)([\x80-\xff]+)([A-Za-z]?)")
_GAPS = bytes(b for b in range(128, 256) if ord(_LETTERS[b]) < 160)  # no letters of Windows-1252
_FEWEST_STRANGE = 6  # bytes that are of no Western language


def is_western(data: bytes) -> bool:
    """Check whether bytes that are no UTF-8 may be Windows-1252: its accents are among letters.

    Letters of other alphabets follow one another, or are bytes that it gives no letter.
    """
    strange = total = 0
    for before, run, after in _RUNS.findall(data):
        try:
            run.decode()
        except UnicodeDecodeError:
            is_word = len(run) == 1 or (len(run) == 2 and (before or after))
            total += len(run)
            strange += 0 if is_word and run == run.translate(None, _GAPS) else len(run)
    return strange < _FEWEST_STRANGE or 2 * strange < total


def western(data: bytes) -> str:
    """Decode UTF-8, of which bytes that are none are those of Windows-1252."""
    plain = len(data.translate(None, bytes(range(128, 256))))
    if len(data.decode("utf-8", "ignore")) == plain:  # each such byte: quicker at once
        letters: Any = "".join(_LETTERS)
        return codecs.charmap_decode(data, "strict", letters)[0]
    return data.decode("utf-8", WESTERN)


def open_text(path: Path, *, largest: int = LARGEST, errors: str = "strict") -> io.TextIOWrapper:
    """Open a text table as `open_bytes` does, and decode it; a byte order mark is left out."""
    watched = open_bytes(path, largest=largest)
    return io.TextIOWrapper(watched, encoding="utf-8-sig", errors=errors, newline="")


def separator(path: Path) -> str:
    """Return what separates the cells of a text table, by its first line: `;`, a tab, or `,`.

    InputError: it has decimal commas, and a number such as 1.234 that may be a thousand times more.
    """
    with parsing(path, "a CSV table"), open_text(path, errors="replace") as file:
        line = re.sub('"[^"]*"', "", next((line for line in file if line.strip()), ""))
    cells = line.split(";")
    if len(cells) > 1 and all("," not in c or _COMMA.fullmatch(c.strip()) for c in cells):
        _require_no_thousands(path)
        return ";"
    return "\t" if "\t" in line and "," not in line else ","


def _require_no_thousands(path: Path) -> None:
    commas, dotted = False, 0
    with parsing(path, "a CSV table"), open_text(path, errors="replace") as file:
        for number, line in enumerate(file, start=1):
            commas = commas or bool(_COMMA.search(line))
            dotted = dotted or number * bool(_THOUSANDS.search(line))
            if commas and dotted:
                raise InputError(
                    f"{path}, line {dotted:,}: numbers have decimal commas, and one has points "
                    "where thousands end; write 1.234 as 1234 or as 1,234, whichever it is"
                )


def pointed(text: str) -> str:
    """Return a cell of a table with semicolons: its decimal comma becomes a point."""
    return text.replace(",", ".") if _IN_COMMAS.fullmatch(text.strip()) else text


def csv_rows(path: Path, *, largest: int = LARGEST, what: str = "a CSV table") -> list[list[str]]:
    """Read the rows of a text table, empty lines included, by its own separator."""
    mark = separator(path)
    with parsing(path, what), open_text(path, largest=largest) as file:
        rows = list(csv.reader(file, delimiter=mark, strict=True))
    return [[*map(pointed, row)] for row in rows] if mark == ";" else rows


def open_bytes(path: Path, *, largest: int = LARGEST) -> io.BufferedReader:
    """Open a text table, unpacked if its name ends in one of `PACKED`, with limits while reading.

    UTF-16 with a byte order mark becomes UTF-8; other bytes stay as they are. Reading stops with an
    error after ``largest`` unpacked bytes, at a line of more than `LONGEST_LINE`, or at a zero
    byte. A packed file is refused first if it unpacks to over `WORTH` times its size.
    """
    size = file_size(path, largest=largest)
    if is_packed(path):
        _require_worth(path, min(largest, max(SMALL, WORTH * size)))
    source = _unpacked(path)  # closed with the stream that is returned
    try:
        with unpacking(path):
            mark = source.read(2)
    except BaseException:
        source.close()
        raise
    return watched(_Begun(mark, source), path, largest)


def watched(source: Any, path: Path, largest: int) -> io.BufferedReader:
    """Return a stream of the bytes of a text, with the limits of `open_bytes`."""
    return io.BufferedReader(_Watched(source, path, largest), 2**16)


class _Begun:
    """A stream of which two bytes were read; UTF-16 with a byte order mark becomes UTF-8."""

    def __init__(self, begun: bytes, source: Any) -> None:
        kind = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}.get(begun)
        self._decoder = None if kind is None else codecs.getincrementaldecoder(kind)()
        self._begun, self._source = b"" if kind else begun, source
        self.close = source.close

    def read(self, size: int) -> bytes:
        data, self._begun = self._begun, b""
        if self._decoder is None:
            return data or self._source.read(size)
        while True:  # three bytes at most are made of two
            data = self._source.read(max(2, size // 2))
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8")


DEEPEST_FOLDER = 32
"""Most folders within each other that are looked through."""


def files_below(folder: Path) -> list[Path]:
    """Return all that is below a folder, sorted: files, folders, links, which are not followed.

    InputError: Folders are nested more than `DEEPEST_FOLDER` deep.
    """
    paths: list[Path] = []
    level = [folder]
    for _ in range(DEEPEST_FOLDER + 1):
        entries = [entry for place in level for entry in os.scandir(place)]
        paths += [Path(entry.path) for entry in entries]
        level = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
        if not level:
            return sorted(paths)
    raise InputError(f"{folder} has folders that are nested more than {DEEPEST_FOLDER} deep")


PACKED = (".gz", ".xz", ".zst", ".zip")
"""How the name of a packed text ends; a zip archive must hold one file only."""


def is_packed(path: Path) -> bool:
    return path.name.lower().endswith(PACKED)


def unpacked_name(path: Path) -> str:
    """Return the name of what is in a packed file, in lower case; else the file's own."""
    if path.suffix.lower() == ".zip":
        with unpacking(path), opened_archive(path) as archive:
            return Path(_only_member(path, archive).filename).name.lower()
    return (path.with_suffix("") if is_packed(path) else path).name.lower()


@contextmanager
def unpacking(path: Path) -> Generator[None]:
    """Turn whatever an unpacking library raises into an `InputError` that names the file."""
    try:
        yield
    except NarcissusError:
        raise
    except OSError as error:
        if error.errno is not None or not is_packed(path):
            raise InputError(f"cannot read {path}: {error.strerror or error}") from error
        raise InputError(_incomplete(path, error)) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} begins as UTF-16 and is none: save it as UTF-8") from error
    except Exception as error:
        if is_ours(error):
            error.add_note(f"while unpacking {path}")
            raise
        raise InputError(_incomplete(path, error)) from error


def _incomplete(path: Path, error: Exception) -> str:
    kind = {".gz": "gzip", ".zst": "zstd"}.get(suffix := path.suffix.lower(), suffix[1:])
    return f"{path} is not a complete {kind} file: {_in_a_line(error)}"


def _unpacked(path: Path) -> Any:
    with unpacking(path):
        match path.suffix.lower():
            case ".gz":
                return gzip.open(path, "rb")
            case ".xz":
                return lzma.open(path, "rb")
            case ".zst":
                arrow: Any = optional("pyarrow", extra="formats", purpose="Reading zstd")
                return arrow.input_stream(str(path), compression="zstd")
            case ".zip":
                with opened_archive(path):
                    pass
                with zipfile.ZipFile(path) as archive:  # open until its member is closed
                    return archive.open(_only_member(path, archive))
            case _:
                return path.open("rb")


def _only_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise InputError(
            f"{path} holds {len(members):,} files: unpack it, and name the one that is the table"
        )
    if members[0].flag_bits & 1:
        raise InputError(f"{path} is protected by a password: unpack it first")
    return members[0]


def _require_worth(path: Path, largest: int) -> None:
    """Unpack a file once without parsing it, since parsing is slow.

    An incomplete file is left to the reader to report.
    """
    left = largest
    with suppress(Exception), closing(_unpacked(path)) as file:
        while left >= 0 and (data := file.read(2**20)):
            left -= len(data)
    if left < 0:
        raise TooLargeError(
            f"{path} unpacks to more than {largest:,} bytes of text; at most {WORTH} times its "
            f"size are read (or {SMALL:,} bytes): unpack it first if it is what you expect"
        )


def write_atomically(
    path: Path, content: str | bytes, *, private: bool = False, links: bool = True
) -> None:
    """Write a file (text as UTF-8) so that it is either the old or the new one, never half.

    A private file is for this user alone from the start, whatever the umask. Devices and pipes are
    refused: a file would replace them for any user who may write there.

    links: Whether its folder may be reached by links: a person named it. False for files that this
        program names, in a folder that may have come from somebody else.
    Raises OSError: the system refuses; the error names the file. InputError: a device, or a link.
    """
    if not path.name:  # "" and "." are the folder itself
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    _require_place_for_files(path)
    with (opened_through_links if links else opened_folder)(path.parent) as folder:
        folder.write(path.name, content, private=private)


def _require_place_for_files(path: Path) -> None:
    with suppress(OSError):  # nothing there yet, or a link that leads nowhere
        is_file = stat.S_ISREG(mode := path.stat().st_mode) or stat.S_ISDIR(mode)
        if not is_file or path.parent.stat().st_dev in _systems("/dev"):
            raise InputError(f"cannot write {path}: it is a pipe or a device: name a file")


def require_own_folder(path: Path) -> None:
    """Refuse a path for data on single people that other users could swap or read.

    InputError: its folder, or the first existing one above it, belongs to another user or is
    writable by others.
    """
    folder = next((place for place in path.absolute().parents if place.exists()), None)
    if folder is None or sys.platform == "win32":
        return
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & stat.S_IWOTH:
        whose = "belongs to another user" if status.st_uid != os.geteuid() else "is open to others"
        raise InputError(
            f"{path} would be about single people, and the folder {folder} {whose}: choose a "
            "folder that is yours alone"
        )


def remedy(error: OSError) -> str:
    """Return what to do where a file cannot be written."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return "make room on this disk, or choose a file on another one; nothing was replaced"
    return "choose a file in a folder that exists and can be written to"


def put(path: Path, content: str | bytes) -> None:
    """Write a file as `write_atomically` does, or raise InputError."""
    with writing(path):
        write_atomically(path, content)


def put_result(path: Path, content: str | bytes) -> None:
    """Write a file for this user alone into a results folder, which is made.

    InputError: it cannot be written, or is reached by a link.
    """
    with writing(path), opened_folder(path.parent, make=True) as place:
        place.write(path.name, content, private=True)


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Turn what the system refuses into an `InputError` that names the file and the remedy.

    path: named where the error names no file.
    """
    try:
        yield
    except OSError as error:
        place = error.filename or path
        raise InputError(
            f"cannot write {place}: {error.strerror or error}; {remedy(error)}"
        ) from error
