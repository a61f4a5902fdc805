"""Study files of strangers: any text ends in a study or in one message, and soon."""

import os
import time

import pytest

from narcissus.errors import StudyError
from narcissus.study.toml import DEEPEST, LARGEST, read_document

BLANKS = [
    "[" + " " * 900, "[[" + " " * 900, "[" + " " * 900 + "]x", "a" + " " * 900, "a." * 400,
    '"' + "a" * 900, "a" + " ." * 400, "[a] " + "#" * 900, "[" * 900, "]" * 900, "= " * 400,
]  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "s.toml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize("line", BLANKS)
def test_no_line_takes_long(write, line):
    """A megabyte of them, in a text that TOML allows. No measure of speed: the worst took hours."""
    text = "title = '''\n" + (line + "\n") * (LARGEST // (len(line) + 2)) + "'''\n"
    begin = time.process_time()
    read_document(write(text[:LARGEST]))
    assert time.process_time() - begin < 20


def test_places_are_found_in_every_form(write):
    text = "a = 1\r\n [ b . c ] # x\r\n 'd'.e=2\n[[f]]\ng=1\n  [[ f ]]\ng=2\n[f.h]\ni=1\n"
    document = read_document(write(text))
    for path, line in {
        ("a",): 1, ("b", "c"): 2, ("b", "c", "d", "e"): 3, ("f", 0, "g"): 5, ("f", 1): 6,
        ("f", 1, "g"): 7,
    }.items():  # fmt: skip
        assert document.place(path).endswith(f"line {line}"), path


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "nested"),
        ("a = " + "{b=" * 5000 + "1" + "}" * 5000, "nested|not valid TOML"),
        ("a" + ".a" * 5000 + " = 1", "nested"),
        (f"a = {'[' * DEEPEST}{']' * DEEPEST}", "nested more than 32 deep"),
        ("a = [1, -1" + "0" * 400 + "]", "more than 128 bits"),
        ("a = " + "9" * 5000, "not valid TOML"),
        ("a = 1e", "not valid TOML.*line 1"),
        ("a = 9999-99-99", "not valid TOML"),
        (b"\xff\xfe", "cannot read"),
        (b"a = '\x00'", "not valid TOML"),
        (b"#" * (LARGEST + 1), "1,048,577 bytes; at most 1,048,576"),
    ],
)
def test_what_is_no_study_is_said_in_one_message(write, content, says):
    with pytest.raises(StudyError, match=says):
        read_document(write(content))


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "s.toml")
    with pytest.raises(StudyError, match="it is a pipe or a device"):
        read_document(tmp_path / "s.toml")
