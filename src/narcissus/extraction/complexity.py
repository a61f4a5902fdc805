"""Upper estimates of Kolmogorov complexity, each of them a program that can be run.

The complexity of a string in the language "Python with the packages installed here" is the length
of the shortest program that prints it. It is uncomputable, but every program that prints the
string bounds it from above. Programs are written out in full, with decompressor call and escaped
payload, so no estimate is an idealised number of bits. Programs may read a public reference text,
which gives the complexity relative to it.

A program that prints ``x`` given ``y`` bounds ``K(x | y)`` from above, which running it proves. The
mutual information ``K(x) - K(x | y)`` is the difference of two numbers with only upper bounds, so
its estimate is neither an upper nor a lower bound. It is proved to lie between 0 and the bound on
``K(x)``.

Source: Cohen et al. 2024, Definitions 1.12, D.1, D.2 and D.7, section D.4.2; Narcissus theory 7.
"""

from __future__ import annotations

import bz2
import lzma
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from narcissus._optional import optional
from narcissus.errors import InputError, MissingExtraError, NarcissusError
from narcissus.observer import SILENT, Observer
from narcissus.results import Bound, Grade, NotAssessed, Result

# Compressing needs some ten times the length in memory, and minutes beyond this.
LARGEST = 64 * 2**20
_GRAM, _MOST_SLICES = 12, 400
LANGUAGE = "the language is Python with the packages installed here"
SECONDS = 600


@dataclass(frozen=True)
class Complexity(Result):
    """Upper estimates of the length of the shortest program that prints a string."""

    estimates: dict[str, int]  # length in bytes of each method's program
    best: int  # the smallest of them
    method: str  # the method of the smallest
    missing: tuple[NotAssessed, ...] = ()  # compressors that were not tried, with the reason

    def __str__(self) -> str:
        lines = [f"UPPER ESTIMATE: some {self.best} bytes suffice ({self.method})"]
        lines += [f"  {name}: {size}" for name, size in sorted(self.estimates.items())]
        return "\n".join(lines)


def python_string(data: bytes) -> bytes:
    """Return a Python string literal, in Latin-1, whose code points are the bytes of ``data``."""
    quote = b"'" if data.count(b"'") <= data.count(b'"') else b'"'
    text = data.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    return quote + text.replace(quote, b"\\" + quote).replace(b"\0", b"\\x00") + quote


def _bytes_of(payload: bytes) -> tuple[bytes, bytes]:
    """Return the line that a source begins with, and an expression for the bytes."""
    if payload.isascii():
        return b"", b"b" + python_string(payload)
    return b"#coding:L1\n", python_string(payload) + b".encode('L1')"


def _program(imports: str, expression: str, payload: bytes) -> bytes:
    """Return the source that prints ``expression``, where ``@`` stands for the payload's bytes."""
    header, literal = _bytes_of(payload)
    before, after = expression.encode().split(b"@")
    line = b"open(1,'wb').write(" + before + literal + after + b")"
    return header + (f"import {imports}\n".encode() if imports else b"") + line


def _literal(data: bytes, reference: bytes | None) -> bytes | None:
    if reference is not None:
        return None
    if data.isascii():
        return b"print(end=" + python_string(data) + b")"
    return _program("", "@", data)


def _repeat(data: bytes, reference: bytes | None) -> bytes | None:
    """Repeat the shortest period."""
    period = (data + data).find(data, 1) if data else 0
    if reference is not None or period == len(data) or not data.isascii():
        return None
    times = len(data) // period
    return b"print(end=" + python_string(data[:period]) + f"*{times})".encode()


def _zlib(data: bytes, reference: bytes | None) -> bytes:
    options = {} if reference is None else {"zdict": reference[-32768:]}  # deflate looks no further
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, **options)
    packed = packer.compress(data) + packer.flush()
    if reference is None:
        return _program("zlib", "zlib.decompress(@,-15)", packed)
    return _program(
        "zlib",
        "zlib.decompressobj(-15,open('reference','rb').read()[-32768:]).decompress(@)",
        packed,
    )


def _bz2(data: bytes, reference: bytes | None) -> bytes | None:
    if reference is not None:
        return None  # its blocks are independent: it cannot use a dictionary
    return _program("bz2", "bz2.decompress(@)", bz2.compress(data, 9))


def _after_common_prefix(
    data: bytes, reference: bytes, compress: Callable[[bytes], bytes]
) -> tuple[int, bytes]:
    """Compress ``data`` after ``reference`` and drop the reference's compressed prefix.

    A sequential coder writes the same bytes for the common part, so the program can recreate them
    and needs only the rest.
    """
    alone, both = compress(reference), compress(reference + data)
    length = min(len(alone), len(both))
    differ = np.frombuffer(alone, np.uint8, length) != np.frombuffer(both, np.uint8, length)
    same = int(differ.argmax()) if differ.any() else length
    return same, both[same:]


def _lzma(data: bytes, reference: bytes | None) -> bytes:
    def compress(text: bytes) -> bytes:
        return lzma.compress(text, lzma.FORMAT_ALONE, preset=9 | lzma.PRESET_EXTREME)

    if reference is None:
        return _program("lzma", "lzma.decompress(@)", compress(data))
    same, rest = _after_common_prefix(data, reference, compress)
    return _program(
        "lzma as l",
        "l.decompress(l.compress(r:=open('reference','rb').read(),2,preset=9|1<<31)"
        f"[:{same}]+@)[len(r):]",
        rest,
    )


def _zstd(data: bytes, reference: bytes | None) -> bytes:
    zstd = optional("zstandard", extra="compress", purpose="The estimate by zstd")
    plain = {"write_checksum": False, "write_content_size": True}
    if reference is None:
        packed = zstd.ZstdCompressor(level=22, **plain).compress(data)
        return _program("zstandard as z", "z.ZstdDecompressor().decompress(@)", packed)
    dictionary = zstd.ZstdCompressionDict(reference, zstd.DICT_TYPE_RAWCONTENT)
    packed = zstd.ZstdCompressor(level=22, dict_data=dictionary, **plain).compress(data)
    return _program(
        "zstandard as z",
        "z.ZstdDecompressor(z.ZstdCompressionDict(open('reference','rb').read(),1)).decompress(@)",
        packed,
    )


def _brotli(data: bytes, reference: bytes | None) -> bytes | None:
    brotli = optional("brotli", extra="compress", purpose="The estimate by brotli")
    if reference is not None:
        return None  # the package offers no dictionary but the built-in one
    quality = 11 if len(data) <= 2**23 else 9
    packed = brotli.compress(data, quality=quality, lgwin=24)
    return _program("brotli", "brotli.decompress(@)", packed)


def _ppm(data: bytes, reference: bytes | None) -> bytes:
    """Predict by partial matching, variant H, at the best of several orders."""
    ppm = optional("pyppmd", extra="compress", purpose="The estimate by PPM")
    size = len(data) + len(reference or b"")
    orders = (2, 3, 4, 6, 10, 16) if size <= 2**22 else (4, 8)
    memory = 2**28 if size > 2**20 else 2**24

    def compress(text: bytes, order: int) -> bytes:
        coder = ppm.Ppmd7Encoder(order, memory)
        return coder.encode(text) + coder.flush()

    def written(order: int) -> bytes:
        if reference is None:
            return _program(
                "pyppmd",
                f"pyppmd.Ppmd7Decoder({order},{memory}).decode(@,{len(data)})",
                compress(data, order),
            )
        same, rest = _after_common_prefix(data, reference, lambda text: compress(text, order))
        return _program(
            f"pyppmd\nr=open('reference','rb').read();e=pyppmd.Ppmd7Encoder({order},{memory})",
            f"pyppmd.Ppmd7Decoder({order},{memory}).decode((e.encode(r)+e.flush())[:{same}]"
            f"+@,len(r)+{len(data)})[len(r):]",
            rest,
        )

    return min(map(written, orders), key=len)


def _pieces(data: bytes, text: bytes) -> list[tuple[int, int] | bytes]:
    """Cut data into slices of a text, as (start, end), and literal bytes."""
    step = max(_GRAM, len(text) // 2**20)  # a slice of `step + _GRAM` bytes holds a gram at a step
    grams = {text[i : i + _GRAM]: i for i in range(len(text) - _GRAM, -1, -step)}
    pieces: list[tuple[int, int] | bytes] = []
    done = at = 0
    while at <= len(data) - _GRAM:
        start = grams.get(data[at : at + _GRAM])
        if start is None:
            at += 1
            continue
        back = 0
        while at - back > done and start > back and data[at - back - 1] == text[start - back - 1]:
            back += 1
        end = _in_common(memoryview(data)[at:], memoryview(text)[start:])
        pieces += [data[done : at - back]] if at - back > done else []
        pieces.append((start - back, start + end))
        done = at = at + end
    return pieces + ([data[done:]] if done < len(data) else [])


def _in_common(one: memoryview, other: memoryview) -> int:
    """Return the length of the common prefix, by steps that grow while they fit."""
    end, size = 0, _GRAM
    while size and end < min(len(one), len(other)):
        size = min(size, len(one) - end, len(other) - end)
        if one[end : end + size] == other[end : end + size]:
            end, size = end + size, 2 * size
        else:
            size //= 4
    return end


def standing_in(data: bytes, text: bytes) -> float:
    """Share of data covered by slices of a text, each of at least 12 bytes.

    >>> standing_in(b"the key of the garden shed", b"a key of the garden shed?") > 0.8
    True
    """
    cut = _pieces(data, text)
    return sum(piece[1] - piece[0] for piece in cut if isinstance(piece, tuple)) / max(1, len(data))


def _slices(data: bytes, reference: bytes | None) -> bytes | None:
    cut = [] if reference is None else _pieces(data, reference)
    if len(cut) > _MOST_SLICES or not any(isinstance(piece, tuple) for piece in cut):
        return None
    literals, parts = b"", list[str]()
    for piece in cut:
        if isinstance(piece, tuple):
            parts.append(f"r[{piece[0]}:{piece[1]}]")
        else:
            parts.append(f"o[{len(literals)}:{len(literals) + len(piece)}]")
            literals += piece
    header, literal = _bytes_of(literals)
    return (
        header
        + b"r=open('reference','rb').read()"
        + (b";o=" + literal if literals else b"")
        + f"\nopen(1,'wb').write({'+'.join(parts)})".encode()
    )


_METHODS: dict[str, Callable[[bytes, bytes | None], bytes | None]] = {
    write.__name__[1:]: write
    for write in (_literal, _repeat, _zlib, _bz2, _lzma, _zstd, _brotli, _ppm, _slices)
}


COMPRESSORS = tuple(_METHODS)


def self_extracting(data: bytes, method: str, *, reference: bytes | None = None) -> bytes | None:
    """Write a Python program that prints ``data``, its payload compressed by ``method``.

    method: one of `COMPRESSORS`; "literal" compresses nothing, "repeat" finds an exact period,
        "slices" finds slices of the reference.
    reference: public text, which the program finds as the file ``reference``; None: no such file.
    Returns: the source; None if the method fails (no period, no use for a reference).
    """
    if method not in _METHODS:
        raise InputError(f"`method` must be one of {', '.join(COMPRESSORS)}, got {method!r}")
    return _METHODS[method](data, reference)


def complexity(
    data: bytes, *, reference: bytes | None = None, observer: Observer = SILENT
) -> Complexity:
    """Bound the complexity of ``data`` from above by every installed compressor.

    data, reference: at most 64 MiB each; each compressor is tried with and without the reference,
        a public text that programs may read.

    An upper estimate: a better compressor, or a person who sees a pattern, can only lower it. No
    method gives a lower bound (Cohen et al. 2024, Lemma D.11), and `prg_example` makes a string
    that fools all of them.

    >>> complexity(b"34" * 1000).best < 100
    True
    """
    for name, text in (("data", data), ("reference", reference)):
        if text is not None and len(text) > LARGEST:
            raise InputError(f"`{name}` must be at most {LARGEST} bytes, got {len(text)}")
    estimates: dict[str, int] = {}
    missing: dict[NotAssessed, None] = {}
    texts: list[tuple[str, bytes | None]] = [("", None)]
    if reference:
        texts.append(("+reference", reference))
    observer.start("compress", len(_METHODS) * len(texts))
    for name, write in _METHODS.items():
        for suffix, text in texts:
            try:
                if (program := write(data, text)) is not None:
                    estimates[name + suffix] = len(program)
            except MissingExtraError as error:
                missing[
                    NotAssessed(f"complexity by {name}", "not installed", remedy=str(error))
                ] = None
            observer.advance()
    observer.finish()
    method = min(estimates, key=lambda name: estimates[name])
    return Complexity(estimates, estimates[method], method, tuple(missing))


@dataclass(frozen=True)
class MutualInformation(Result):
    """Information of a string about another: ``KI(x; y) = K(x) - K(x | y)``, in bits."""

    alone: Bound  # proved bound on the complexity of ``x``, in bits
    given: Bound  # proved bound on its complexity given ``y``, in bits; never above ``alone``
    estimate: float  # their difference: approximate, neither an upper nor a lower bound
    # Proved: at most ``alone``, since a complexity is not negative. Also proved: at least 0,
    # since a program need not read its input.
    at_most: float

    @property
    def grade(self) -> Grade:
        """Always 'approximate'."""
        return "approximate"

    @property
    def value(self) -> float:
        """The same as ``estimate``."""
        return self.estimate

    def __str__(self) -> str:
        return (
            f"{self.alone}\n{self.given}\n"
            f"APPROXIMATE: mutual information about {self.estimate:,.0f} bits, the difference of "
            f"two upper bounds (proved: 0 to {self.at_most:,.0f})"
        )


def conditional_complexity(
    data: bytes, given: bytes | None = None, *, observer: Observer = SILENT
) -> Bound:
    """Bound the complexity ``K(x | y)``, in bits: the shortest program found that prints ``x``.

    given: the string ``y``, in the programs' file ``reference``; None or empty for ``K(x)``.
    Returns: eight times the bytes of the program, which is run once to check that it prints
        ``data``.

    >>> letter = bytes(range(256)) * 4
    >>> conditional_complexity(letter[7:], letter).value < 8 * 256
    True
    """
    complexities = complexity(data, reference=given, observer=observer)
    return _shortest(data, given, complexities.estimates)


def _shortest(data: bytes, given: bytes | None, estimates: Mapping[str, int]) -> Bound:
    """Run programs, the shortest first, until one prints the data."""
    for name in sorted(estimates, key=lambda name: estimates[name]):
        method, _, with_reference = name.partition("+")
        program = self_extracting(data, method, reference=given if with_reference else None)
        if program is not None and _prints(program, data, given):
            condition = " given the other" if given else ""
            return Bound(
                8.0 * len(program),
                f"complexity in bits of {len(data):,} bytes{condition}",
                f"a program of {len(program):,} bytes ({name}) that was run (Cohen et al. 2024, "
                "Definition D.2)",
                (LANGUAGE,),
            )
    raise NarcissusError(
        "no program that prints the data could be run: is this Python able to start another?"
    )


def _prints(program: bytes, data: bytes, given: bytes | None) -> bool:
    command = [sys.executable, "-I", "program.py"]
    with TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_bytes(program)
        (Path(folder) / "reference").write_bytes(given or b"")
        try:
            done = subprocess.run(
                command, cwd=folder, check=False, capture_output=True, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and done.stdout == data


def mutual_information(
    data: bytes, given: bytes, *, observer: Observer = SILENT
) -> MutualInformation:
    """Estimate the information of one string about another, such as a release about its data.

    >>> found = mutual_information(b"the key is 7719 2250 4431 8160", b"")
    >>> found.estimate, found.grade
    (0.0, 'approximate')
    """
    estimates = complexity(data, reference=given, observer=observer).estimates
    alone = _shortest(data, None, {k: v for k, v in estimates.items() if "+" not in k})
    less = _shortest(data, given, estimates)
    return MutualInformation(alone, less, alone.value - less.value, alone.value)
