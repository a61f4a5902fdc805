"""Functions of strings against the standard library, test vectors and steps by hand."""

import hashlib

import numpy as np
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import (
    MultiplyHash,
    Sha256,
    Stretched,
)
from narcissus.mechanisms.stretching import (
    GENERATORS,
    chacha20,
    congruential,
    primitive,
    sha_256,
    shift_register,
)


def test_hashes_against_the_standard_library():
    bits = np.random.default_rng(2).integers(0, 2, (5, 20)).astype(np.uint8)
    for row, image in zip(bits, Sha256(12).release(bits, np.random.default_rng(0)), strict=True):
        digest = hashlib.sha256(np.packbits(row).tobytes()).digest()
        assert image.tolist() == np.unpackbits(np.frombuffer(digest, np.uint8))[:12].tolist()
    words = np.random.default_rng(3).integers(0, 2, (50, 64)).astype(np.uint8)
    mechanism = MultiplyHash()
    images = mechanism.release(words, np.random.default_rng(0))
    assert (mechanism.invert(images) == words).all()
    number = int("".join(map(str, words[0])), 2) * 0x9E3779B97F4A7C15 % 2**64
    assert int("".join(map(str, images[0])), 2) == number


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


BITS = np.array([[0], [1]] * 200)


def test_strings_are_those_of_shake_and_others_are_random():
    rng, made = np.random.default_rng(1), Stretched(seed_bits=5, length=40)
    strings = made.release(BITS, rng)
    assert strings.shape == (400, 40)
    by_hand = set()
    for seed in range(32):
        packed = bytes([seed << 3])
        text = hashlib.shake_256(packed).digest(5)
        by_hand.add(tuple(np.unpackbits(np.frombuffer(text, np.uint8))))
    found = [tuple(row) in by_hand for row in strings]
    assert found == (BITS[:, 0] == 1).tolist()
    assert len({tuple(row) for row in strings[1::2]}) == 32
    assert len({tuple(row) for row in strings[0::2]}) == 200


def test_the_channel_is_the_law_of_what_is_released():
    made = Stretched(seed_bits=3, length=6)
    channel = made.channel(np.array([[1], [0]]))
    chances = channel.matrix.toarray()
    assert chances.sum(axis=1) == pytest.approx([1, 1])
    assert (chances[1] == 1 / 64).all()
    stretched = made.stretch((np.arange(8)[:, None] >> np.arange(3)[::-1]) & 1)
    for string, chance in zip(channel.releases, chances[0], strict=True):
        assert chance == (stretched == string).all(axis=1).sum() / 8


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"seed_bits": 0}, "seed_bits"),
        ({"seed_bits": 257}, "seed_bits"),
        ({"seed_bits": 8, "length": 8}, "`length` must be more than `seed_bits` \\(8\\), got 8"),
    ],
)
def test_a_generator_stretches_a_seed(keys, said):
    with pytest.raises(InputError, match=said):
        Stretched(**keys)


def test_what_is_no_bit_or_too_long_is_refused():
    with pytest.raises(InputError, match="data sets of one bit"):
        Stretched().release(np.array([[2]]), np.random.default_rng(0))
    with pytest.raises(TooLargeError, match="2\\^512 releases"):
        Stretched().channel(BITS)


@pytest.mark.parametrize("name", sorted({*GENERATORS} - {"shift-register"}))
def test_the_shortest_seed_has_one_bit(name):
    seeds = np.array([[0], [1]], dtype=np.uint8)
    images = Stretched(1, 64, name).release(seeds, np.random.default_rng(0))
    assert images.shape == (2, 64)
