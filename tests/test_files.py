"""Files of strangers: no more is read than was agreed to, and each failure is one clear message."""

import datetime
import fractions
import gzip
import hashlib
import importlib
import json
import os
import re
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from narcissus import _files
from narcissus._files import (
    file_digest,
    file_size,
    files_digest,
    open_text,
    parsing,
    put,
    read_bytes,
    reason_of,
    require_own_folder,
    write_atomically,
)
from narcissus.errors import InputError, TooLargeError


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "fifo.csv"
    os.mkfifo(path)
    return path


def test_only_regular_files(tmp_path, fifo):
    for read in (file_size, read_bytes, open_text):
        with pytest.raises(InputError, match="it is a pipe or a device, not a file"):
            read(fifo)
        with pytest.raises(InputError, match="it is a folder, not a file"):
            read(tmp_path)
        with pytest.raises(InputError, match="no such file"):
            read(tmp_path / "none")


def test_sizes_are_looked_at_first(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bytes(path, largest=5) == b"12345"
    with pytest.raises(TooLargeError, match="has 5 bytes; at most 4"):
        read_bytes(path, largest=4)
    with path.open("wb") as file:
        file.truncate(2**40)  # a hole: a tebibyte that takes no room
    with pytest.raises(TooLargeError, match="1,099,511,627,776 bytes"):
        read_bytes(path)


def test_text_is_read_as_it_stands(tmp_path):
    text = 'a,b\r\nÄ,"x\ny"\r1,2\n'
    (tmp_path / "a.csv").write_bytes(text.encode())
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a.csv", "a.csv.gz"):
        with open_text(tmp_path / name) as stream:
            assert stream.read() == text


def test_a_packed_file_is_read_only_so_far(tmp_path, monkeypatch):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 200_000))
    with open_text(path, largest=800_000) as stream:
        assert sum(1 for _ in stream) == 200_000
    with (
        pytest.raises(TooLargeError, match="more than 799,999 bytes of text"),
        open_text(path, largest=799_999) as stream,
    ):
        list(stream)
    several = gzip.compress(b"1,2\n" * 100_000)  # a file of several members is one text
    path.write_bytes(several + several)
    with (
        pytest.raises(TooLargeError, match="more than"),
        open_text(path, largest=799_999) as stream,
    ):
        list(stream)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r"])
def test_a_line_without_end(tmp_path, packed, end):
    """Four gigabytes of one line, in four megabytes: refused after the first of it."""
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    content = b"a,b" + end + b"0," * 2**20
    path.write_bytes(gzip.compress(content) if packed else content)
    with (
        pytest.raises(TooLargeError, match="a line of more than 1,048,576 bytes"),
        open_text(path) as stream,
    ):
        list(stream)


def test_lines_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "LONGEST_LINE", 100_000)
    path = tmp_path / "a.csv"
    for end in (b"\n", b"\r"):
        path.write_bytes((b"x" * 100_000 + end) * 3)
        with open_text(path) as stream:
            assert len(list(stream)) == 3
        path.write_bytes((b"x" * 100_000 + end) * 3 + b"x" * 100_001)
        with pytest.raises(TooLargeError), open_text(path) as stream:
            list(stream)


@pytest.mark.parametrize("place", [0, 5, 8191, 8192, 8193, 70_000, 199_999])
def test_a_zero_byte_anywhere(tmp_path, place):
    content = bytearray(b"1,2\n" * 50_000)
    content[place] = 0
    (tmp_path / "a.csv").write_bytes(content)
    with (
        pytest.raises(InputError, match=f"byte {place:,} is zero"),
        open_text(tmp_path / "a.csv") as stream,
    ):
        list(stream)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"), KeyError("k"), TypeError("t"), RecursionError(), MemoryError(),
        OverflowError("o"), zlib.error("z"), OSError(5, "input/output error"), AssertionError(),
    ],
)  # fmt: skip
def test_whatever_a_parser_raises_names_the_file(tmp_path, error):
    path = tmp_path / "a.x"
    with pytest.raises(InputError, match=r"a\.x"), parsing(path, "an x"):
        raise error  # in a line that is none of ours, as in a library
    with pytest.raises(KeyboardInterrupt), parsing(path, "an x"):
        raise KeyboardInterrupt


def raised_by_us(error):
    """Raise it in a line of the package, as a slip there does."""
    exec("raise error", {"__name__": "narcissus.tables.read", "error": error})


@pytest.mark.parametrize(
    "slip",
    [ValueError("max() iterable argument is empty"), KeyError("k"), ZeroDivisionError("by zero")],
)
def test_a_slip_of_ours_is_no_bad_file(tmp_path, slip):
    path = tmp_path / "a.x"
    with pytest.raises(type(slip)) as caught, parsing(path, "an x"):
        raised_by_us(slip)
    assert caught.value is slip
    assert caught.value.__notes__ == [f"while reading {path}"]
    with pytest.raises(InputError), parsing(path, "an x", type(slip)):
        raised_by_us(slip)  # where the reader has said that this tells of a bad file
    with pytest.raises(InputError), parsing(path, "an x"):
        raised_by_us(json.JSONDecodeError("no", "", 0))
    with pytest.raises(InputError, match="cannot read other: gone"), parsing(path, "an x"):
        raised_by_us(OSError(2, "gone", "other"))


def test_digests_are_those_of_the_bytes_and_of_the_digests_in_order(tmp_path, fifo):
    for name, text in (("b", b"2"), ("a", b"1")):
        (tmp_path / name).write_bytes(text)
    one, two = (f"sha256:{hashlib.sha256(text).hexdigest()}" for text in (b"1", b"2"))
    assert file_digest(tmp_path / "a") == one
    wanted = hashlib.sha256((one + two).encode()).hexdigest()
    assert files_digest([tmp_path / "b", tmp_path / "a"]) == f"sha256:{wanted}"
    with pytest.raises(InputError, match="it is a pipe"):
        file_digest(fifo)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are Unix's")
@pytest.mark.parametrize("mask", [0, 0o022, 0o777])
def test_a_private_file_is_for_its_user_alone(tmp_path, mask):
    """A file that was there for everybody, too; the mask never decides."""
    path = tmp_path / "rows.csv"
    path.write_text("old")
    path.chmod(0o666)
    before = os.umask(mask)
    try:
        write_atomically(path, "new", private=True)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="modes of files are Unix's")
def test_rows_of_people_go_to_a_folder_of_the_users(tmp_path, monkeypatch):
    require_own_folder(tmp_path / "new" / "rows.csv")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(InputError, match="shared is open to others: choose"):
        require_own_folder(shared / "new" / "rows.csv")
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        require_own_folder(tmp_path / "rows.csv")


def test_a_view_of_the_system_is_no_file():
    """/proc/kmsg calls itself a regular file of no bytes, and reading it never ends."""
    path = Path("/proc/self/status")
    if not path.exists():
        pytest.skip("reads /proc")
    for read in (file_size, read_bytes, open_text):
        with pytest.raises(InputError, match="a view of the running system"):
            read(path)


def test_a_packed_text_unpacks_to_a_hundred_times_its_size(tmp_path):
    """Refused before a line of it is parsed; a small one may pack as well as it likes."""
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"0,1\n" * 2**22))
    with open_text(path) as stream:
        assert next(stream) == "0,1\n"
    path.write_bytes(gzip.compress(b"0,1\n" * (2**22 + 1)))
    with pytest.raises(TooLargeError, match="at most 100 times its size"):
        open_text(path)


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices of Unix")
def test_a_file_takes_the_place_of_no_device_and_no_pipe(tmp_path):
    """The administrator may write into /dev: `--out /dev/full` made a file of it, for everybody."""
    os.mkfifo(pipe := tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    for path in (pipe, tmp_path / "null", Path("/dev/null"), Path("/dev/stdout")):
        before = path.lstat()
        for write in (write_atomically, put):
            with pytest.raises(InputError, match="a pipe or a device: name a file"):
                write(path, "text")
        assert path.lstat().st_ino == before.st_ino
        assert path.lstat().st_mode == before.st_mode
    assert {p.name for p in tmp_path.iterdir()} == {"pipe", "null"}


def mistakes():
    """What libraries raise of contents that they did not expect, with their own words."""
    calls = [
        lambda: np.zeros(0)[0],
        lambda: pd.DataFrame({"a": [1]})["b"],
        lambda: json.loads("9" * 5000),
        lambda: fractions.Fraction(1, 0),
        lambda: importlib.import_module("tiktoken_of_nobody"),
        lambda: datetime.date.fromisoformat(3),
    ]
    for call in calls:
        try:
            call()
        except Exception as error:
            yield error


INTERNALS = re.compile(
    r"out of (range|bounds)|index \d|sys\.|axis|NoneType|pip|module|_int_max|argument"
)


def test_no_words_of_a_librarys_internals_are_told_of_a_file():
    errors = list(mistakes())
    assert len(errors) == 6
    for error in errors:
        reason = reason_of(error)
        assert not INTERNALS.search(reason), reason
    told = r"^x is not a table: it is damaged, or holds something"
    with pytest.raises(InputError, match=told), parsing("x", "a table"):
        pd.DataFrame({"a": [1]}).loc[:, "b"]
    assert reason_of(ValueError("line 3 has no end")) == "line 3 has no end"
