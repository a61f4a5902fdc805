"""Texts that are written in another code, and what cannot be read.

Whoever gets a text can undo what every computer can: base64, base32, hexadecimal digits, escapes,
compression, UTF-16, letters shifted by 13, the order reversed. Each is tried a few times over, and
all that comes out is bounded together. What stays random is no text, and is counted as unread.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import codecs
import html
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import unquote

MOST_UNPACKED = 2**26
"""Most bytes that all texts of a folder may unpack to (64 MiB)."""
LARGEST_PIECE = 2**22
"""Most bytes that are unpacked of a single piece (4 MiB)."""
MOST_PIECES = 100
"""Most pieces of a file of another format that are unpacked."""
LONGEST_UNREAD = 1000
"""Fewest characters without a space that count as unread: a key or a digest is shorter."""
_DEEPEST = 3
_WORD = r"[A-Za-z0-9+/_-]{16,}+"
_LAST = r"\s{1,2}[A-Za-z0-9+/_-]{1,15}(?![A-Za-z0-9+/_-])"
_PACKED = re.compile(rf"({_WORD}(?:\s{{1,2}}{_WORD})*+)((?:{_LAST})?={{0,6}})")
_DENSE = re.compile(rf"[!-~]{{{LONGEST_UNREAD},}}")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_SPACE = re.compile(r"\\[nrt]")
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1f\x7f]")
_RANDOM_BYTES = 0.9
_RANDOM_LETTERS = 0.7
"""Share of its size to which what is random is compressed: all of it, or three quarters."""


@dataclass
class Unpacker:
    """Texts, read in each code that they may be written in.

    shortest: Characters of a text that is worth reading.
    unread: Whether something was met that cannot be read, or is too much.
    """

    shortest: int
    left: int = MOST_UNPACKED
    unread: bool = False
    texts: list[str] = field(default_factory=list[str])

    def read_text(self, text: str, depth: int = 0) -> None:
        """Add a text as it is, in other codes, and what is packed in it."""
        if len(text) < self.shortest:
            return
        for version in dict.fromkeys(_versions(text)):
            self.texts.append(version)
        if depth >= _DEEPEST:
            return
        # what is reversed or shifted may be packed as well
        packed = 0
        for view in (text, text[::-1], codecs.encode(text, "rot13")):
            for match in _PACKED.finditer(view):
                packed += self._read_run(match[1], match[2], depth, is_plain=view is text)
        if packed == 0 and any(
            _is_random(match[0].encode(), _RANDOM_LETTERS) for match in _DENSE.finditer(text)
        ):
            self.unread = True

    def read_bytes(self, content: bytes, depth: int = 0) -> bool:
        """Add the text that bytes are, packed or not; return whether they are one."""
        plain = self._unpacked(content)
        for code in _codes(plain):
            try:
                text = plain.decode(code)
            except UnicodeDecodeError:
                continue
            if not _CONTROL.search(text):
                self.read_text(text, depth + 1)
                return True
        return False

    def read_file(self, content: bytes) -> None:
        """Add the texts within a file of another format, such as a picture."""
        letters = rb"[\x20-\x7e\xa0-\xff]"
        packed = re.finditer(rb"(?<=\0)x[\x01\x5e\x9c\xda]", content)  # as PNG packs texts
        for match in islice(packed, MOST_PIECES):
            self.read_bytes(content[match.start() : match.start() + LARGEST_PIECE])
        self.unread |= next(packed, None) is not None
        for match in re.finditer(letters + rb"{%d,}" % self.shortest, content):
            self.read_text(match[0].decode("utf-8", errors="replace"))
        for match in re.finditer(rb"(?:[\x20-\x7e]\0){%d,}" % self.shortest, content):
            self.read_text(match[0].decode("utf-16-le"))

    def _read_run(self, run: str, last: str, depth: int, *, is_plain: bool) -> bool:
        """Return whether a run of letters and digits was read, or seen to be random.

        last: A shorter word after it, which may be the end of it or the next word.
        """
        decoded: list[bytes] = []
        for letters in dict.fromkeys("".join(text.split()) for text in (run + last, run)):
            for decode in _DECODERS:
                try:
                    decoded.append(decode(letters))
                except (binascii.Error, ValueError):
                    continue
                if self.read_bytes(decoded[-1], depth):
                    return True
        is_long = is_plain and len(run) >= LONGEST_UNREAD
        if is_long and any(_is_random(content, _RANDOM_BYTES) for content in decoded):
            self.unread = True
            return True
        return False

    def _unpacked(self, content: bytes) -> bytes:
        """Undo compression, as far as the bound allows."""
        for _ in range(_DEEPEST):
            for start, unpack in _COMPRESSIONS:
                if not start.match(content):
                    continue
                most = max(0, min(LARGEST_PIECE, self.left))
                try:
                    plain = unpack(content, most + 1)
                except (zlib.error, OSError, lzma.LZMAError, EOFError, ValueError):
                    continue
                if len(plain) > most:
                    self.unread = True
                    plain = plain[:most]
                self.left -= len(plain)
                content = plain
                break
            else:
                break
        return content


def _versions(text: str) -> Iterator[str]:
    yield text
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    if "\\" in text or "%" in text or "&" in text:
        plain = _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text)
        plain = html.unescape(unquote(_SPACE.sub(" ", plain), errors="replace"))
        yield plain.replace('\\"', '"').replace("\\/", "/")


def _codes(content: bytes) -> tuple[str, ...]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ("utf-16",)
    if content[1:2] == b"\0":
        return ("utf-16-le",)
    return ("utf-16-be",) if content[:1] == b"\0" else ("utf-8",)


def _is_random(content: bytes, share: float) -> bool:
    return len(zlib.compress(content[:LARGEST_PIECE])) > share * len(content)


def _from_base64(letters: str) -> bytes:
    plain = letters.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _from_base32(letters: str) -> bytes:
    plain = letters.rstrip("=")
    return base64.b32decode(plain + "=" * (-len(plain) % 8))


def _inflate(content: bytes, most: int) -> bytes:
    return zlib.decompressobj(wbits=47).decompress(content, most)


def _unpack_bz2(content: bytes, most: int) -> bytes:
    return bz2.BZ2Decompressor().decompress(content, most)


def _unpack_lzma(content: bytes, most: int) -> bytes:
    return lzma.LZMADecompressor(memlimit=2**28).decompress(content, most)


_DECODERS: tuple[Callable[[str], bytes], ...] = (bytes.fromhex, _from_base32, _from_base64)
_COMPRESSIONS: tuple[tuple[re.Pattern[bytes], Callable[[bytes, int], bytes]], ...] = (
    (re.compile(rb"\x1f\x8b|x[\x01\x5e\x9c\xda]"), _inflate),
    (re.compile(rb"BZh"), _unpack_bz2),
    (re.compile(rb"\xfd7zXZ\0|\x5d\0\0"), _unpack_lzma),
)
