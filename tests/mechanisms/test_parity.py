"""Exclusive ors: what is released by hand, and what it says about single bits: nothing."""

import itertools

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Parity, XorHalf

RNG = np.random.default_rng(0)


def test_parities_of_neighbours_by_hand():
    data = np.array([[[0, 1, 1, 1], [1, 1, 0, 0]]], dtype=np.uint8)
    assert Parity().release(data, RNG).tolist() == [[[1, 0], [0, 0]]]


def test_halves_by_hand():
    data = np.array([[0, 1, 1, 1], [1, 0, 1, 0]], dtype=np.uint8)
    assert XorHalf("second").release(data, RNG).tolist() == [[1, 1], [1, 0]]
    assert XorHalf("xor").release(data, RNG).tolist() == [[1, 0], [0, 0]]


EVERY = np.array(list(itertools.product((0, 1), repeat=6)), dtype=np.uint8)


@pytest.mark.parametrize(
    ("mechanism", "data"),
    [(Parity(), EVERY[:, None]), (XorHalf("second"), EVERY), (XorHalf("xor"), EVERY)],
    ids=repr,
)
def test_each_bit_stays_a_fair_coin_whatever_is_released(mechanism, data):
    """By enumeration of all strings; of halves, each bit of the first one."""
    hidden = data.reshape(64, 6)[:, : 3 if isinstance(mechanism, XorHalf) else 6]
    written = mechanism.channel(data)
    shown = written.matrix.toarray().argmax(axis=1)
    assert len(written.releases) == 8
    for release in range(8):
        assert (hidden[shown == release].mean(axis=0) == 0.5).all()


def test_odd_strings_are_refused():
    for data in (np.zeros((1, 2, 3), dtype=int), np.zeros((1, 4), dtype=int)):
        with pytest.raises(InputError, match="even number of bits"):
            Parity().release(data, RNG)
    for data in (np.zeros((1, 3), dtype=int), np.zeros((1, 2, 2), dtype=int)):
        with pytest.raises(InputError, match="even number of bits"):
            XorHalf("xor").release(data, RNG)
    with pytest.raises(InputError, match="part"):
        XorHalf("first")
