"""A small language of programs in which complexity is computed exactly, in bits.

A program is a row of instructions. Each adds symbols to the output; numbers ``n``, ``k`` and ``i``
are at least 1 and written in Elias' gamma code (``2 floor(log2 n) + 1`` bits); a symbol takes
``symbol_bits`` bits, 8 for bytes:

========  ==================  ==================================================================
``say``   ``0 n s1 .. sn``    adds ``n`` symbols as they are written
``copy``  ``10 k n``          adds ``n`` symbols, each the one that is ``k`` before it in the
                              output; more than ``k`` repeat the last ``k``
``take``  ``110 i n``         adds ``n`` symbols of the input (the release) from its ``i``-th on
``step``  ``1110 s n``        adds ``n`` symbols, each ``s`` more than the one before, modulo
                              ``2^symbol_bits``; before the first is nought
end       ``1111``            ends the program
========  ==================  ==================================================================

What reads outside of the output or the input is no program, nor is what goes on after its end. No
program begins another one, so ``sum 2^-K(x | y)`` over all strings ``x`` is at most 1, for each
input ``y``.

The shortest program is a shortest path: what an instruction adds depends on the output so far and
the input alone, and a program that prints ``x`` has printed a beginning of ``x`` after each
instruction. All programs for ``x`` are the paths from 0 to ``len(x)``, and of the instructions from
one place to another the shortest one is enough.

Source: Cohen et al. 2024, Definitions 1.12, D.2 and D.7; Narcissus theory 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer
from narcissus.errors import InputError

LONGEST = 2**12
"""Most symbols of a string, and of an input."""

_HEADS = {"say": "0", "copy": "10", "take": "110", "step": "1110"}
_END = "1111"


@dataclass(frozen=True)
class Instruction:
    """Adds ``count`` symbols: ``of`` is what is said, or the number ``k``, ``i`` or ``s``."""

    kind: str  # "say", "copy", "take" or "step"
    count: int
    of: bytes | int

    def __post_init__(self) -> None:
        if self.kind not in _HEADS or isinstance(self.of, bytes) != (self.kind == "say"):
            raise InputError(f"`kind` must be one of {', '.join(_HEADS)} that fits, got {self!r}")
        integer("count", self.count, low=1)
        if isinstance(self.of, int):
            integer("of", self.of, low=int(self.kind != "step"))
        elif len(self.of) != self.count:
            raise InputError(f"`of` must hold {self.count} symbols, got {len(self.of)}")

    def code(self, symbol_bits: int) -> str:
        size = _gamma(self.count)
        if isinstance(self.of, bytes):
            size += "".join(f"{symbol:0{symbol_bits}b}" for symbol in self.of)
            return _HEADS[self.kind] + size
        of = f"{self.of:0{symbol_bits}b}" if self.kind == "step" else _gamma(self.of)
        return _HEADS[self.kind] + of + size


def _gamma(number: int) -> str:
    return "0" * (number.bit_length() - 1) + f"{number:b}"


@dataclass(frozen=True)
class SmallProgram:
    """A program: its instructions in the order in which they run, without the end."""

    instructions: tuple[Instruction, ...]
    symbol_bits: int = 8

    def __post_init__(self) -> None:
        integer("symbol_bits", self.symbol_bits, low=1, high=8)
        for of in (
            instruction.of
            for instruction in self.instructions
            if instruction.kind in {"say", "step"}
        ):
            integer("of", max(of) if isinstance(of, bytes) else of, high=2**self.symbol_bits - 1)

    @property
    def code(self) -> str:
        """The program as noughts and ones."""
        return (
            "".join(instruction.code(self.symbol_bits) for instruction in self.instructions) + _END
        )

    def run(self, given: bytes = b"") -> bytes | None:
        """Return what the program prints for an input.

        Returns: None if it reads outside of what there is, or would print more than 4,096 symbols.
        """
        output = bytearray()
        for instruction in self.instructions:
            of, count = instruction.of, instruction.count
            if len(output) + count > LONGEST:
                return None
            if isinstance(of, bytes):
                output += of
            elif instruction.kind == "step":
                last, size = (output or b"\0")[-1], 2**self.symbol_bits
                output += bytes((last + of * k) % size for k in range(1, count + 1))
            elif of > len(output) if instruction.kind == "copy" else of - 1 + count > len(given):
                return None
            elif instruction.kind == "copy":
                output += (output[-of:] * (count // of + 1))[:count]
            else:
                output += given[of - 1 : of - 1 + count]
        return bytes(output)


def read_program(code: str, *, symbol_bits: int = 8) -> SmallProgram:
    """Read a program from its noughts and ones.

    symbol_bits: bits of a symbol, 1 to 8.
    Raises: `InputError` where the code is no program: it ends too soon, or goes on after its end.

    >>> read_program("0" + "1" + "01100001" + "10" + "1" + "00101" + "1111").run()
    b'aaaaaa'
    """
    integer("symbol_bits", symbol_bits, low=1, high=8)
    instructions, at = list[Instruction](), 0

    def bits(count: int) -> str:
        nonlocal at
        if len(taken := code[at : at + count]) < count or set(taken) - {"0", "1"}:
            where = f"bit {min(at, len(code)) + 1} of {len(code)}"
            raise InputError(f"`code` must be noughts and ones up to its end {_END}; see {where}")
        at += count
        return taken

    def number() -> int:
        noughts = max(0, code.find("1", at) - at)
        return int(bits(2 * noughts + 1), 2)

    while kind := next((kind for kind in _HEADS if bits(1) == "0"), None):
        of = int(bits(symbol_bits), 2) if kind == "step" else 0 if kind == "say" else number()
        count = number()
        symbols = (int(bits(symbol_bits), 2) for _ in range(count if kind == "say" else 0))
        instructions.append(Instruction(kind, count, bytes(symbols) if kind == "say" else of))
    if at < len(code):
        raise InputError(f"`code` must stop at its end, got {len(code) - at} bits after {_END}")
    return SmallProgram(tuple(instructions), symbol_bits)


def shortest_program(data: bytes, given: bytes = b"", *, symbol_bits: int = 8) -> SmallProgram:
    """Return a shortest program of the small language that prints ``data``: none is shorter.

    data, given: at most 4,096 symbols each, a byte a symbol; ``given`` is the programs' input.
    symbol_bits: bits of a symbol, 1 to 8; every byte is below ``2**symbol_bits``.
    Returns: the program. The length of its ``code`` is the complexity ``K(x | y)`` in this
        language, in bits; in another language that may be far smaller or larger.

    >>> found = shortest_program(b"34" * 1000)
    >>> [(one.kind, one.of, one.count) for one in found.instructions], len(found.code)
    ([('say', b'34', 2), ('copy', 2, 1998)], 50)
    >>> shortest_program(b"the key", b"this is the key.").instructions
    (Instruction(kind='take', count=7, of=9),)
    """
    integer("symbol_bits", symbol_bits, low=1, high=8)
    for name, text in (("data", data), ("given", given)):
        if len(text) > LONGEST:
            raise InputError(f"`{name}` must have at most {LONGEST:,} symbols, got {len(text):,}")
        if text and max(text) >= 2**symbol_bits:
            raise InputError(f"`{name}` must hold symbols below {2**symbol_bits}, got {max(text)}")
    best = np.full(len(data) + 1, len(_END))  # bits from each place of the data to the end
    choices = dict[int, Instruction]()
    for at, kind, of, bits in _fitting(data, given, symbol_bits):
        sums = bits + best[at + 1 : at + 1 + len(bits)]
        if len(sums) and (at not in choices or sums.min() < best[at]):
            count = len(sums) - int(sums[::-1].argmin())  # the fewest instructions of as many bits
            best[at] = sums.min()
            argument = data[at : at + count] if kind == "say" else int(of[count - 1])
            choices[at] = Instruction(kind, count, argument)
    at, path = 0, list[Instruction]()
    while at < len(data):
        path.append(choices[at])
        at += path[-1].count
    return SmallProgram(tuple(path), symbol_bits)


_Numbers = NDArray[np.int64]


def _fitting(
    data: bytes, given: bytes, symbol_bits: int
) -> Iterator[tuple[int, str, _Numbers, _Numbers]]:
    """Yield each place, the last first, with each kind of instruction that prints what follows.

    The numbers are ``of`` and the bits of the shortest one that adds 1, 2, .. symbols.
    """
    text, other = (np.frombuffer(buffer, np.uint8).astype(np.int64) for buffer in (data, given))
    rises = np.diff(text, prepend=0) % 2**symbol_bits
    counts = np.arange(max(len(data), len(given)) + 1)
    gamma = 2 * np.frexp(counts)[1].astype(np.int64) - 1
    near = np.zeros(len(text), np.int64)  # symbols that agree with those 1, 2, .. places before
    far = np.zeros(len(other) + 1, np.int64)  # and with those of the input, from each place on
    run = 0
    for at in reversed(range(len(text))):
        near[:at] = (near[:at] + 1) * (text[:at][::-1] == text[at])
        far[:-1] = (far[1:] + 1) * (other == text[at])
        run = run + 1 if run and rises[at] == rises[at + 1] else 1
        sizes = counts[1 : len(text) - at + 1]
        yield at, "say", sizes, 1 + gamma[sizes] + symbol_bits * sizes
        for kind, agreeing in (("copy", near[:at]), ("take", far)):
            reach = np.maximum.accumulate(agreeing)  # the first place that agrees is the cheapest
            sizes = counts[1 : 1 + (int(reach[-1]) if len(reach) else 0)]
            of = np.searchsorted(reach, sizes) + 1
            yield at, kind, of, len(_HEADS[kind]) + gamma[of] + gamma[sizes]
        yield at, "step", np.full(run, rises[at]), 4 + symbol_bits + gamma[1 : run + 1]
