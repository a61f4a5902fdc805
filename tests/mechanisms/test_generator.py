"""Stretched strings: as many as there are seeds, and random ones beside them."""

import hashlib

import numpy as np
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import Stretched

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
