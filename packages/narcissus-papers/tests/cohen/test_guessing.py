"""The examples of appendix D, with what is wrong in them, and the example that fools verifiers."""

from __future__ import annotations

import math
from itertools import product

import pytest

from narcissus.game import Game
from narcissus.mechanisms import Identity
from narcissus_papers.cohen import complexity


@pytest.mark.states("Cohen et al. 2024", "Example D.4", "Example D.5", "Example D.6",
                    "Definition D.10", "Lemma D.11", "Algorithm D.12", "section D.4.2",
                    "footnote 8")  # fmt: skip
def test_all_claims_hold_but_for_misprints(says):
    says("Example D.4", "the chance is 3/4 for every d")
    for number in ("Example D.5", "Example D.6"):
        says(number, "it is (1 - o(1)) d/2, as printed")
    says("Definition D.10", "compared with d + l(d) uniform bits")
    says("Lemma D.11")
    says("footnote 8", "the string of the footnote")


@pytest.mark.parametrize(("d", "share"), [(1, 0.5), (6, 0.5), (8, 0.25), (9, 0.25)])
def test_balls_are_counted(d, share):
    hits = sum(sum(x) <= share * d for x in product((0, 1), repeat=d))
    assert complexity.near(d, share) == pytest.approx(hits / 2**d)
    assert complexity.ball_bits(d, share) == pytest.approx(math.log2(hits))


def test_limits_hold_for_a_small_length_by_counting():
    """A covering of 8 bits by balls of radius 2 has 2^8 / 37 words at least."""
    low, high = complexity.sizes(8)
    assert 2**high >= 2**8 / 37
    assert low < high
    # one more in ten attempts at a string costs what ten times the output costs
    assert complexity.sizes(8, 10) == pytest.approx((low - math.log2(10), high))
    assert complexity.sizes(8, 1, 10) == pytest.approx((low - math.log2(10), high))


def again(right):
    """Give random data where a seed was asked for."""
    return lambda **given: right(**{**given, "pseudo_random": True})


WRONG = [
    ("Example D.4", "near", lambda f: lambda *a: 0.99 * f(*a)),
    ("Example D.5", "near", lambda f: lambda *a: 0.99 * f(*a)),
    ("Example D.6", "ball_bits", lambda f: lambda *a: 0.9 * f(*a)),
    ("Example D.5", "WRITTEN", lambda _v: (100, 200)),
    ("Lemma D.11", "self_extracting", lambda _f: lambda data, method: data),
    ("Lemma D.11", "prg_example", lambda f: lambda **g: f(**{**g, "length": 256})),
    (
        "Definition D.10",
        "write_out",
        lambda f: lambda game: f(Game(game.world, Identity(), game.relation)),
    ),
    ("footnote 8", "approximate_prg_example", lambda f: lambda **g: f(**{**g, "advantage": 0.08})),
]


@pytest.mark.parametrize(("number", "name", "wrong"), WRONG)
def test_a_claim_fails_where_something_is_wrong(spoiled, monkeypatch, number, name, wrong):
    assert spoiled(monkeypatch, number, complexity, name, wrong)
