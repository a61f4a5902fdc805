"""What others wrote as TOML is bounded in depth, and parsed in linear time."""

import time
import tomllib

import pytest

from narcissus._toml import DEEPEST, read_toml
from narcissus.errors import InputError
from narcissus.study.toml import read_document

DEEP = {
    "key": lambda n: ".".join("a" * n) + "=1",
    "key of texts": lambda n: " . ".join(["'a'", '"b"'] * (n // 2)) + "=1",
    "header": lambda n: "[" + ".".join("a" * n) + "]",
    "array of tables": lambda n: "[[" + ".".join("a" * n) + "]]",
    "key of an inline table": lambda n: "x={" + ".".join("a" * n) + "=1}",
    "lists": lambda n: "x=" + "[" * n + "]" * n,
    "inline tables": lambda n: "x=" + "{a=" * n + "1" + "}" * n,
    "after texts": lambda n: "# \"\nx='#'\ny=\"\"\"\n'\"\"\"\n" + ".".join("a" * n) + "=1",
}  # fmt: skip


@pytest.mark.parametrize("kind", DEEP)
def test_no_depth_takes_longer_than_reading(kind, tmp_path):
    path, began = tmp_path / "s.toml", time.process_time()
    path.write_text(DEEP[kind](150_000))
    with pytest.raises(InputError, match=rf"s\.toml.*more than {DEEPEST} (parts|deep)"):
        read_document(path)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("text", [
    ".".join("a" * DEEPEST) + "=1",
    "x=" + "[" * DEEPEST + "]" * DEEPEST,
    'x="' + "[." * 300 + '\\"[["',
    "x='" + "{." * 300 + "'",
    'x="""' + '."[{\\"""\n' * 100 + '"""',
    "x='''" + ".''[[\n" * 100 + "'''",
    "# " + "[." * 300 + "\nx=1",
    "x=[" + "[1.5, 2.5], " * 300 + "]",
    "x=[" + "{a.b=1.5}, " * 300 + "]",
    "x=1.5 # a" + "\n[a.b]\n" + "c.d=1.5\n",
])  # fmt: skip
def test_what_is_not_deep_is_read_as_the_parser_reads_it(text):
    assert read_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ['x="', "x='", 'x="""a', "x='''a", "x=", "[", '"', "x=[1", "a.b"])
def test_what_is_no_toml_has_line_and_column(text):
    with pytest.raises(tomllib.TOMLDecodeError, match=r"line|end of document"):
        read_toml(text)
