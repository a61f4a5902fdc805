"""The Hamming relation; the paper's examples are in `tests/papers`."""

import math
import random

import numpy as np
import pytest

from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import HammingBall


def bits(rng, d):
    return "".join(map(str, rng.integers(0, 2, d)))


def test_hamming_members_count():
    rng = np.random.default_rng(9)
    data = DataSet("\n".join(bits(rng, 64) for _ in range(3)).encode())
    relation = HammingBall(0.25)
    members = list(relation.cheap_members(data))
    assert all(relation.counts(data, m) for m in members)
    assert not relation.counts(data, b"01\n" * 101)


NUMBERS = [7, 10**150 + 1, 10**6000 + 12345, 2**900 - 1, 256**90 - 10]


@pytest.mark.parametrize("number", NUMBERS, ids=int.bit_length)
def test_a_covering_program_has_its_number_in_it(number):
    """All but the search is run: what the program counts up to."""
    program = HammingBall(0.25).covering_program(8, number)
    assert len(program) < 210 + number.bit_length() / 8 * (1 + 7 / 256)
    before, _, rest = program.decode("latin-1").partition("for _ in range(")
    inside = rest.partition("+1):z=")[0]
    header = program[: program.index(b"\n") + 1] if program.startswith(b"#") else b""
    space = {}
    exec(compile(header + b"n=" + inside.encode("latin-1"), "p", "exec"), space)
    assert space["n"] == number
    assert "range(1<<8)" in before


@pytest.mark.parametrize("d", [40, 1000, 3000, 20_000])
def test_the_size_of_a_covering_program_is_enough_for_every_word(d):
    relation = HammingBall(0.25)
    log_volume = math.log2(sum(math.comb(d, i) for i in range(d // 4 + 1)))
    words = int(2 ** (d - log_volume) * (1 + log_volume * math.log(2))) if d < 5000 else 2**3770
    rng = random.Random(3)
    numbers = [words - 1, *(rng.randrange(words) for _ in range(5))]
    if words > 256:  # the bytes that cost most to write
        raw = bytes(range(256)) * 2
        numbers.append(int.from_bytes(raw[: words.bit_length() // 8 - 1], "big"))
    sizes = [len(relation.covering_program(d, number)) for number in numbers]
    assert max(sizes) <= relation.covering_program_size(d) <= max(sizes) + 16
