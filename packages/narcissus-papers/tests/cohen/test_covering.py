"""Covering programs: what is claimed holds, fails where something is wrong, and words are near."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.cohen import scaling
from narcissus_papers.cohen.complexity import near

ITEM = ITEMS["003/figure-covering"]


@pytest.mark.states("Cohen et al. 2024", "Example D.5", "Example D.6")
def test_all_claims_hold():
    found = ITEM.make(Given())
    assert (found.verdict, len(found.held), len(found.panels)) == ("agrees", 7, 3)
    for panel in found.panels:
        assert all(len(line.x) == len(line.y) > 1 for line in panel.lines)
    assert ITEM.command.startswith("narcissus scale ")


WRONG = [
    ("near", lambda f: lambda d, share: f(d, share) * 1.01),
    ("entropy", lambda f: lambda share: f(share) * 0.9),
    ("sizes", lambda f: lambda d: (0, d / 2)),
    ("greedy_code", lambda f: lambda d: 3 * f(d)),
    ("first_near", lambda f: lambda d, strings: 4 * f(d, strings)),
    ("listed_program", lambda f: lambda d, number: f(d, number + 1)),
    ("expected_bits", lambda f: lambda chance: 1.1 * f(chance)),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_a_claim_fails_where_something_is_wrong(monkeypatch, name, wrong):
    monkeypatch.setattr(scaling, name, wrong(getattr(scaling, name)))
    assert ITEM.make(Given()).verdict == "differs"


def test_a_program_as_long_as_half_of_the_bits_is_noticed(monkeypatch):
    monkeypatch.setattr(
        scaling.HammingBall, "covering_program_size", lambda self, d: math.ceil(d / 16)
    )
    assert ITEM.make(Given()).verdict == "differs"


def test_greedy_codes_cover_every_string_and_start_at_nought():
    for d in (4, 6, 8):
        words = scaling.greedy_code(d)
        assert words[0] == 0
        assert all(min((x ^ word).bit_count() for word in words) <= d // 4 for x in range(2**d))
        assert not all(
            min((x ^ word).bit_count() for word in words[:-1]) <= d // 4 for x in range(2**d)
        )


def test_the_first_word_that_is_near_is_found():
    strings = np.array([3, 40_000, 2**16 - 1], dtype=np.uint64)
    for string, number in zip(strings, scaling.first_near(16, strings), strict=True):
        apart = [(scaling.listed_word(16, n) ^ int(string)).bit_count() for n in range(number + 1)]
        assert apart[-1] <= 4
        assert min(apart[:-1], default=16) > 4


def test_the_expected_bits_are_those_of_a_geometric_number():
    drawn = np.log2(np.random.default_rng(1).geometric(0.01, 40_000))
    assert scaling.expected_bits(0.01) == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 200)


def test_the_slope_is_what_is_left_of_a_constant_and_half_a_logarithm():
    d = np.array([100.0, 200.0, 400.0])
    assert scaling.slope_of(d, 7 + 0.3 * d + np.log2(d) / 2) == pytest.approx((0.3, 7))
    long = np.array([1000.0, 2000.0, 4000.0])
    bits = np.array([-math.log2(near(int(x), 0.25)) for x in long])
    a, c = scaling.slope_of(long, bits)
    assert a == pytest.approx(0.18872, abs=1e-5)
    assert c == pytest.approx(math.log2(math.sqrt(2 * math.pi * 3 / 16) / 1.5), abs=0.01)
