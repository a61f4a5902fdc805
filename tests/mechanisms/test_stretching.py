"""Generators: test vectors, recurrences stepped by hand, polynomials tried by their order."""

import hashlib

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Stretched
from narcissus.mechanisms.stretching import (
    GENERATORS,
    chacha20,
    congruential,
    primitive,
    sha_256,
    shift_register,
)

RNG = np.random.default_rng(5)


def bits_of(text):
    return np.unpackbits(np.frombuffer(text, np.uint8))[None]


def test_chacha20_is_that_of_the_standard():
    """RFC 8439, A.1: test vectors 1 and 2 (blocks 0 and 1 of the key of zeros), and 3's key."""
    stream = np.packbits(chacha20(np.zeros((1, 256), np.uint8), 1024)).tobytes().hex()
    assert stream.startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert stream[128:].startswith(
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
    )
    last = np.zeros((1, 256), np.uint8)
    last[0, -1] = 1
    block = np.packbits(chacha20(last, 1024)).tobytes().hex()[128:]
    assert block.startswith("3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a")


def test_a_short_seed_is_the_beginning_of_the_key():
    seed = RNG.integers(0, 2, (3, 20), dtype=np.uint8)
    key = np.hstack([seed, np.zeros((3, 236), np.uint8)])
    assert (chacha20(seed, 700) == chacha20(key, 700)).all()


def test_sha_256_counts():
    seed = bytes(range(16))
    wanted = hashlib.sha256(seed + bytes(4)).digest()
    wanted += hashlib.sha256(seed + bytes([0, 0, 0, 1])).digest()
    assert np.packbits(sha_256(bits_of(seed), 512)).tobytes() == wanted


def test_congruential_steps():
    state, words = 0b1011, []
    for _ in range(5):
        state = (state * 6364136223846793005 + 1442695040888963407) % 16
        words.append(f"{state:04b}")
    found = congruential(np.array([[1, 0, 1, 1]], np.uint8), 18)[0]
    assert "".join(map(str, found)) == "".join(words)[:18]
    wide = congruential(np.ones((1, 64), np.uint8), 64)[0]
    state = ((2**64 - 1) * 6364136223846793005 + 1442695040888963407) % 2**64
    assert "".join(map(str, wide)) == f"{state:064b}"


@pytest.mark.parametrize("bits", [2, 3, 5, 8, 11])
def test_a_shift_register_runs_through_all_states_but_nought(bits):
    period = 2**bits - 1
    seed = np.zeros((1, bits), np.uint8)
    seed[0, 0] = 1
    made = shift_register(seed, period + bits)[0]
    states = {made[at : at + bits].tobytes() for at in range(period)}
    assert len(states) == period
    assert (made[period:] == seed[0]).all()
    assert not shift_register(np.zeros((1, bits), np.uint8), 40).any()


def test_polynomials_are_the_smallest():
    """Those of degree 4 and 8 that are known; smaller ones of degree 8 have a smaller order."""
    assert [primitive(n) for n in (1, 2, 3, 4, 8)] == [0b11, 0b111, 0b1011, 0b10011, 0b100011101]
    assert primitive(32) == 0x1000000AF  # x^32 + x^7 + x^5 + x^3 + x^2 + x + 1


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_stretches(name):
    rule = GENERATORS[name]
    seeds = RNG.integers(0, 2, (4, rule.shortest + 5), dtype=np.uint8)
    long, short = rule.stretch(seeds, 301), rule.stretch(seeds, 50)
    assert long.shape == (4, 301)
    assert (long[:, :50] == short).all()
    assert (rule.stretch(seeds[2:3], 301) == long[2]).all()
    for size in (rule.shortest - 1, rule.longest + 1):
        with pytest.raises(InputError, match="seed_bits"):
            Stretched(size, 512, name)


def test_another_generator_is_refused():
    with pytest.raises(InputError, match="`generator` must be"):
        Stretched(8, 64, "dice")
