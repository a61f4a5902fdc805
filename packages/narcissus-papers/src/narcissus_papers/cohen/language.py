"""A programming language so small that trying all programs finds the shortest.

Programs are strings of bits, read from the left; ``w`` is what follows:

=========  =====================================================
``0w``     prints ``w``
``10w``    prints ``w`` again and again until there are `LENGTH` bits
``110w``   prints the input, then ``w``
``1110w``  prints ``w``, then fair coins until there are `LENGTH` bits
=========  =====================================================

Anything else runs for ever. All of the statements about complexity hold in it, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

LENGTH = 6
"""Bits of a string of interest."""

STRINGS = tuple("".join(bits) for bits in product("01", repeat=LENGTH))
"""All strings of interest."""

PROGRAMS = tuple(
    "".join(bits) for size in range(1, LENGTH + 2) for bits in product("01", repeat=size)
)
"""All programs up to the length of one that prints a string as it stands, shortest first."""

NEEDED = 2 / 3
"""Chance with which a program must succeed (Cohen et al. 2024, Definition D.1)."""


def outputs(program: str, given: str = "") -> dict[str, float]:
    """Return the chance of each output of a program for an input; empty if it runs for ever.

    Examples
    --------
    >>> outputs("1001"), outputs("1101", "01010"), len(outputs("11100000"))
    ({'010101': 1.0}, {'010101': 1.0}, 4)
    """
    if program[:1] == "0":
        return {program[1:]: 1.0}
    if program[:2] == "10":
        word = program[2:]
        return {(word * LENGTH)[:LENGTH]: 1.0} if word else {}
    if program[:3] == "110":
        return {given + program[3:]: 1.0}
    if program[:4] == "1110":
        word = program[4:]
        ends = ["".join(bits) for bits in product("01", repeat=max(0, LENGTH - len(word)))]
        return {word + end: 1 / len(ends) for end in ends}
    return {}


@cache
def table(given: str = "") -> NDArray[np.float64]:
    """Compute the chance of each string of `STRINGS` for each of `PROGRAMS`, for an input."""
    place = {string: k for k, string in enumerate(STRINGS)}
    rows = np.zeros((len(PROGRAMS), len(STRINGS)))
    for row, program in zip(rows, PROGRAMS, strict=True):
        for output, chance in outputs(program, given).items():
            if output in place:
                row[place[output]] = chance
    return rows


SIZES = np.array([len(program) for program in PROGRAMS])
"""Length of each program."""


def shortest(members: Iterable[str], given: str = "") -> int:
    """Return the length of the shortest program that prints one of some strings two times in three.

    ``members`` are some of `STRINGS`, at least one; ``given`` is the input, of at most `LENGTH`
    bits, none for the complexity without a condition.

    Source: Cohen et al. 2024, Definitions 1.12, D.1, D.2 and D.3.

    Examples
    --------
    >>> shortest(["010101"]), shortest(["011010"]), shortest(["011010"], "011010")
    (4, 7, 3)
    """
    wanted = set(members)
    inside = np.array([string in wanted for string in STRINGS], dtype=np.float64)
    enough = table(given) @ inside >= NEEDED - 1e-12
    return int(SIZES[enough].min())


def ball(string: str, radius: int) -> tuple[str, ...]:
    """Return the strings that differ from one in at most ``radius`` places."""
    return tuple(
        other
        for other in STRINGS
        if sum(a != b for a, b in zip(string, other, strict=True)) <= radius
    )
