"""Untrusted text, made safe to show: nothing moves the cursor, turns or hides text.

Titles, keys, names of columns, values and paths are written by others. Terminals obey escape
sequences in them, browsers and terminals obey marks of direction, and zero-width characters make
two names look alike.
"""

from __future__ import annotations

import csv
import io
import os
import re
import string
import unicodedata
from collections.abc import Iterable
from typing import IO, TextIO

WORD_JOINER = "\N{WORD JOINER}"
"""Ours, in ranges of numbers: it only keeps a line from being broken."""

_SUSPECT = re.compile(r"[^\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u05ff\u3400-\u9fff]")
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str, *, keep: str = "") -> str:
    r"""Replace each invisible or acting character by its escape (``\\u202e``).

    These are the controls (line ends, tabs and escapes included), the marks of format and of
    direction, the separators of lines, and code points not assigned in Unicode. The escapes are
    those of JSON, so that JSON keeps its meaning. Characters in ``keep`` stay, such as our own line
    ends.

    >>> visible("a\x1b[2J\u202eb\n")
    'a\\u001b[2J\\u202eb\\n'
    """

    def shown(found: re.Match[str]) -> str:
        character = found[0]
        if character in keep or unicodedata.category(character) not in _HIDDEN:
            return character
        if character in "\n\r\t":
            return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
        units = character.encode("utf-16-be", errors="surrogatepass")
        return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

    return _SUSPECT.sub(shown, text)


_MARKUP = re.compile(r"[\\`*_{}\[\]<>#!|~&$^]|://|(?<=www)\.|^(?:[-+=]|\d+[.)])")
_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in string.punctuation})


def plain_markdown(text: str) -> str:
    r"""Return Markdown that shows a text in one line, and nothing else: no link, image or mention.

    >>> print(plain_markdown("a\n### met ![x](https://example.org) <b>"))
    a\\n\#\#\# met \!\[x\](https\:\/\/example.org) \<b\>
    """
    plain = _MARKUP.sub(lambda found: found[0].translate(_ESCAPES), visible(text).strip())
    return plain.replace("@", f"@{WORD_JOINER}")  # an address, or a name that would be told


_FORMULA = re.compile(r"'*(?:[\t\r]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_BLANKS = r"(?:(?![;\t\r\n])['\"\s])*+"  # within a cell: runs between marks are read once
_BEHIND = rf"(?={_BLANKS}[=+\-@\uff1d\uff0b\uff0d\uff20])(?!{_NUMBER.pattern}(?:[;\t\r\n]|\Z))"
_LATER = re.compile(rf"(?<=[;\t\r\n]){_BEHIND}")
"""Where a cell would begin for a spreadsheet that separates cells otherwise."""
_MARKED_LATER = re.compile(rf"(?<=[;\t\r\n])'{_BEHIND}")


def marked(cell: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would compute, or that begins with one.

    So it is within a text, behind what separates the cells of other spreadsheets. Numbers stay as
    they are; `unmarked` is the inverse.

    >>> marked("=1"), marked("a;=1"), marked("-1;-2")
    ("'=1", "a;'=1", "'-1;-2")
    """
    if not isinstance(cell, str):
        return cell
    text = _LATER.sub("'", cell)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unmarked(cell: str) -> str:
    """Remove the apostrophes of `marked`."""
    text = cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell
    return _MARKED_LATER.sub("", text)


def csv_text(rows: Iterable[Iterable[object]], *, exact: bool = False) -> str:
    """Format rows of texts and numbers as CSV without formulas or hidden text.

    With ``exact`` our own readers get every character back, hidden ones too.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")  # it quotes a text that holds either
    for row in rows:
        cells = row if exact else (visible(c) if isinstance(c, str) else c for c in row)
        writer.writerow([marked(cell) for cell in cells])
        text.seek(text.tell() - 2)
        text.truncate()
        text.write("\n")
    return text.getvalue()


SHOW_VALUES = "NARCISSUS_SHOW_VALUES"
"""The variable of the environment that lets messages quote cells of the data: any text."""


def values_shown() -> bool:
    """Whether messages may quote cells of the data."""
    return bool(os.environ.get(SHOW_VALUES))


def cell(value: object) -> str:
    """Quote a cell of a table of people for a message, or only mention it.

    Messages end in logs and records, and a cell may be a secret: it is quoted only where
    `SHOW_VALUES` is set (``--show-values``). A message names the row and the column.
    """
    return repr(value) if values_shown() else "a value that --show-values shows"


_LONGEST_MARK, _MOST_LETTERS = 5, 2
"""Of a mark that a message may quote, such as ``x``, ``..`` or ``n.a.``: it needs a meaning."""
_OF_ACCOUNTS = re.compile(r"(?::(?!\s)[^:]*){4}|\$\w{1,8}\$\S{8}")
_LONGEST_NAME = 60


def quoted(text: str) -> str:
    """Quote a cell of a published table for a message: a mark without digits; else as `cell`."""
    letters = sum(map(str.isalnum, text))
    is_mark = len(text.strip()) <= _LONGEST_MARK and letters <= _MOST_LETTERS
    is_mark = is_mark and not any(map(str.isdigit, text))
    return repr(visible(text)) if is_mark else cell(text)


def heading(name: str) -> str:
    """Return the name of a column for a message, shortened; mention one that looks like no name."""
    if not is_heading(name) and not values_shown():
        return "a name that --show-values shows"
    return visible(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}...")


def is_heading(name: str) -> bool:
    """Return whether a text may name a column: it is no line of a file of accounts."""
    return _OF_ACCOUNTS.search(name) is None


def show_visibly(stream: TextIO) -> None:
    """Make a stream of this process escape hidden text, and never fail for its encoding.

    Libraries that draw on it, such as progress bars, use `Unguarded` instead.
    """
    write = stream.write

    def guarded(text: str, /) -> int:
        write(visible(text, keep="\n\t" + WORD_JOINER))
        return len(text)

    if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
        reconfigure(errors="backslashreplace")
    stream.write = guarded  # pyright: ignore[reportAttributeAccessIssue]


class Unguarded:
    """A stream without the guard of `show_visibly`, for progress bars: they move the cursor."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        """Return the attribute of the stream; ``write`` is the method of its class."""
        if name == "write":
            return lambda text: type(self._stream).write(self._stream, text)  # pyright: ignore[reportUnknownLambdaType]
        return getattr(self._stream, name)
