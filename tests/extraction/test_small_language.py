"""The shortest program is shorter than every other: all small programs are run, by other code."""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.extraction import (
    Instruction,
    SmallProgram,
    read_program,
    shortest_program,
)


def gammas(code, numbers):
    """Read numbers in Elias' gamma code; None where the code ends before."""
    found = []
    for _ in range(numbers):
        noughts = len(code) - len(code.lstrip("0"))
        if len(code) < 2 * noughts + 1:
            return None
        found.append(int(code[: 2 * noughts + 1], 2))
        code = code[2 * noughts + 1 :]
    return None if 0 in found else [*found, code]


def printed(code, given, size):
    """Run a program symbol by symbol, as the table of the language says; None if it is none."""
    out = []
    while code != "1111":
        kind = next((k for k in range(4) if code.startswith("1" * k + "0")), None)
        if kind is None:
            return None
        code = code[kind + 1 :]
        if kind == 3:
            if len(code) < size:
                return None
            by, code = int(code[:size], 2), code[size:]
        if (read := gammas(code, 2 if kind in {1, 2} else 1)) is None:
            return None
        *at, count, code = read
        for n in range(count):
            if kind == 0:
                if len(code) < size:
                    return None
                symbol, code = int(code[:size], 2), code[size:]
            elif kind == 1:
                if at[0] > len(out):
                    return None
                symbol = out[-at[0]]
            elif kind == 2:
                if at[0] + n > len(given):
                    return None
                symbol = given[at[0] - 1 + n]
            else:
                symbol = ((out or [0])[-1] + by) % 2**size
            out.append(symbol)
    return bytes(out)


@cache
def codes(given, size, most):
    """All programs of at most ``most`` bits, with what they print."""
    begun = ("".join(bits) for n in range(most - 3) for bits in product("01", repeat=n))
    every = (code + "1111" for code in begun)  # as all of them end
    return {c: x for c in every if (x := printed(c, given, size)) is not None}


CASES = [(b"", 1), (b"\1\0\0\1\1\0\1", 1), (b"\3\0\2\1", 2), (b"", 2)]


@pytest.mark.states("Cohen et al. 2024", "Definition 1.12", "Definition D.2")
@pytest.mark.parametrize(("release", "size"), CASES)
@pytest.mark.repeats(16, 19, "most")
def test_no_program_is_shorter(release, size, most):
    every, least = codes(release, size, most), {}
    for code, output in every.items():
        assert read_program(code, symbol_bits=size).run(release) == output
        assert read_program(code, symbol_bits=size).code == code
        least.setdefault(output, len(code))  # the shortest come first
    assert len(least) > 40
    assert not any(b.startswith(a) for a, b in pairwise(sorted(every)))
    assert sum(2 ** (most - len(code)) for code in every) <= 2**most  # none begins another
    for output, bits in least.items():
        found = shortest_program(output, release, symbol_bits=size)
        assert (len(found.code), printed(found.code, release, size)) == (bits, output)
    # and what no small program prints needs more
    for other in map(bytes, product(range(2**size), repeat=6 // size)):
        if other not in least:
            assert len(shortest_program(other, release, symbol_bits=size).code) > most


@st.composite
def programs(draw):
    """Programs of all kinds of instructions, with an input; some read outside of what there is."""
    size = draw(st.integers(1, 8))
    symbols = st.integers(0, 2**size - 1)
    release = bytes(draw(st.lists(symbols, max_size=12)))
    rows = []
    for kind in draw(st.lists(st.sampled_from(["say", "copy", "take", "step"]), max_size=5)):
        of = {"say": st.lists(symbols, min_size=1, max_size=5).map(bytes), "step": symbols}
        what = draw(of.get(kind, st.integers(1, 6)))
        rows.append(
            Instruction(kind, len(what) if kind == "say" else draw(st.integers(1, 9)), what)
        )
    return SmallProgram(tuple(rows), size), release


@given(programs())
def test_no_random_program_is_shorter(made):
    program, release = made
    code, size = program.code, program.symbol_bits
    assert read_program(code, symbol_bits=size) == program
    output = printed(code, release, size)
    assert program.run(release) == output
    if output is not None:
        found = shortest_program(output, release, symbol_bits=size)
        assert printed(found.code, release, size) == output
        assert len(found.code) <= len(code)


@pytest.mark.parametrize(
    ("data", "release", "steps", "bits"),
    [
        (b"", b"", [], 4),
        (b"34" * 1000, b"", [("say", 2, b"34"), ("copy", 1998, 2)], 50),
        (bytes(range(7, 207)), b"", [("say", 1, b"\7"), ("step", 199, 1)], 41),
        (b"known", b"unknown", [("take", 5, 3)], 3 + 3 + 5 + 4),
    ],
)
def test_programs_by_hand(data, release, steps, bits):
    found = shortest_program(data, release)
    assert (found.instructions, len(found.code)) == (tuple(Instruction(*s) for s in steps), bits)


def test_noise_costs_itself_and_is_copied():
    noise = np.random.default_rng(4).bytes(1000)
    assert 8 * 1000 < len(shortest_program(noise).code) < 8 * 1000 + 40
    assert len(shortest_program(noise, noise).code) == 3 + 1 + 19 + 4


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: shortest_program(b"a" * 4097), "`data` must have at most 4,096 symbols"),
        (lambda: shortest_program(b"\2", symbol_bits=1), "`data` must hold symbols below 2, got 2"),
        (lambda: shortest_program(b"", symbol_bits=9), "`symbol_bits`"),
        (lambda: read_program("111"), "see bit 4 of 3"),
        (lambda: read_program("0" * 10**6), "`count` must be at least 1"),
        (lambda: read_program("01x1"), "see bit 3 of 4"),
        (lambda: read_program("10" + "0" * 5000 + "1" * 5001 + "11111"), "must be below 1e308"),
        (lambda: read_program("11110"), "got 1 bits after 1111"),
        (lambda: Instruction("copy", 1, 0), "`of` must be at least 1"),
        (lambda: Instruction("say", 2, b"a"), "must hold 2 symbols, got 1"),
        (lambda: Instruction("jump", 2, 1), "`kind` must be one of say, copy, take, step"),
        (lambda: SmallProgram((Instruction("step", 1, 2),), 1), "`of` must be at most 1"),
    ],
)
def test_what_is_wrong_is_told(call, says):
    with pytest.raises(InputError) as error:
        call()
    assert says in str(error.value)
