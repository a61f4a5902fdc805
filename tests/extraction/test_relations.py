"""A relation of outputs is a relation of games."""

import math
import random

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import (
    Close,
    HammingBall,
    Near,
    Strings,
    Verbatim,
    lines_of,
    printed,
)


def test_a_batch_is_scored_trial_by_trial():
    data = [DataSet(b"one"), DataSet(b"two"), DataSet(b"three")]
    held = Verbatim().holds(data, [b"one", b"one", b"three\n"], None)
    assert held.tolist() == [True, False, True]


def test_lines():
    assert lines_of(b"a\n\n b \n") == ["a", " b "]
    assert lines_of(b"\xff") == []
    assert Strings().program_sizes(DataSet(b"x")) == {}


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
@pytest.mark.one_in(2)
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


RNG = np.random.default_rng(34)


def test_rows_are_printed_to_the_last_bit():
    rows = RNG.normal(size=(3, 4)) * 10.0 ** RNG.integers(-9, 9, (3, 4))
    assert (DataSet(printed(rows)).rows == rows).all()


def test_near_relation():
    """Relation (b): only an item far from all others counts; its copies are one item."""
    rows = np.array([[0, 0], [0.5, 0], [10, 10], [10, 10.0]])
    data = DataSet.of_rows(rows)
    relation = Near(radius=1, isolation=3)
    assert relation.counts(data, b"10 9.5")
    assert not relation.counts(data, b"0 0")
    assert not relation.counts(data, b"10 8.9")
    assert not relation.counts(data, b"10 10 10")
    assert not Near(radius=1, isolation=3, merge_copies=False).counts(data, b"10 10")
    members = list(relation.cheap_members(data))
    assert members
    assert all(relation.counts(data, m) for m in members)
    with pytest.raises(InputError, match="below"):
        Near(radius=2, isolation=1)


def test_close_relation():
    """Relation (c)."""
    rows = RNG.normal(size=(6, 20))
    data = DataSet.of_rows(rows)
    noisy = rows[:3] + 0.01 * RNG.normal(size=(3, 20))
    output = "\n".join(",".join(map(str, row)) for row in noisy).encode()
    assert Close(3, radius=0.2).counts(data, output)
    assert not Close(4, radius=0.2).counts(data, output)
    assert Close(3, correlation=0.99).counts(data, output)
    assert not Close(4, correlation=0.99).counts(data, output)
    for relation in (Close(4, radius=0.5), Close(4, correlation=0.95)):
        members = list(relation.cheap_members(data))
        assert members
        assert all(relation.counts(data, m) for m in members)
        exact = len("\n".join(" ".join(map(str, r)) for r in rows[:4]))
        assert min(map(len, members)) < exact / 2
    with pytest.raises(InputError, match="one of"):
        Close(1)


def test_verbatim():
    data = DataSet(b"one\ntwo\n")
    assert Verbatim().counts(data, b"one\ntwo")
    assert not Verbatim().counts(data, b"one\ntwo ")
    assert list(Verbatim().cheap_members(data)) == [b"one\ntwo"]


def test_strings_relation():
    """Relation (a): rare, complex lines count; common and simple ones do not."""
    rng = np.random.default_rng(34)
    secret = "".join(map(str, rng.integers(0, 10, 60)))
    records = ["hello world"] * 5 + [secret, "aaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
    data = DataSet("\n".join(records).encode())
    relation = Strings(at_least=1, k=2, bytes_each=20)
    assert relation.counts(data, f"noise\n{secret[3:58]}\n".encode())
    assert not relation.counts(data, b"hello world")  # five times is too common
    assert not relation.counts(data, b"aaaaaaaaaaaaaaaaaaaaaaaaaaaa")  # too simple
    assert not relation.counts(data, secret[:20].encode()[::-1])
    assert not relation.counts(data, b"\xff")
    assert all(relation.counts(data, m) for m in relation.cheap_members(data))
