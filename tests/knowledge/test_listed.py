"""Side information by a table of chances, with coins and Nature, and the surprisal that is left."""

import math

import numpy as np
import pytest

from narcissus import Game, play
from narcissus.errors import InputError
from narcissus.knowledge import KnownRows, Listed
from narcissus.knowledge.base import Surprisals, listed, refine
from narcissus.mechanisms import ExactAverage
from narcissus.profiles import Bayes, write_out
from narcissus.success.relations import Hamming, Member
from narcissus.worlds import Bits, Finite, Tardos, Uniform

SETS = [[[0], [0]], [[0], [1]], [[1], [0]], [[1], [1]]]
WORLD = Finite(SETS, [[0.25] * 4, [0.5, 0.125, 0.125, 0.25]], (0.25, 0.75))
COINS = [[[1, 0], [0.5, 0.5], [0, 1], [0.25, 0.75]], [[0, 1], [0.5, 0.5], [1, 0], [1, 0]]]


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.1")
def test_what_is_told_and_fresh_data_are_drawn_as_listed(within):
    rng, side, trials = np.random.default_rng(1), Listed(COINS), 20_000
    draw = WORLD.draw(trials, rng)
    told = side.reveal(WORLD, draw, rng)
    fresh = side.fresh(WORLD, draw, told, rng)
    exact = refine(WORLD.enumerate(), side)
    for chance, sample, known in zip(exact.weight, exact.sample, exact.known, strict=True):
        nature = next(v for v in (0, 1) if np.allclose(
            sample, (part := WORLD.table[v] * np.array(COINS[v])[:, known]) / part.sum()
        ))  # fmt: skip
        here = (draw.nature == nature) & (told == known)
        assert within(int(here.sum()), trials, chance)
        for one, share in zip(SETS, sample, strict=True):
            same = (fresh[here] == np.array(one)).all(axis=(1, 2))
            assert within(int(same.sum()), int(here.sum()), share)


@pytest.mark.parametrize("side", [Listed(COINS), Listed([[1, 0], [0.5, 0.5], [0, 1], [1, 0]])])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_the_best_attacker_does_as_well_when_it_is_played(side, share):
    game = Game(WORLD, ExactAverage(), Member(), side, surprisal=share)
    success, baseline = write_out(game).rates(0.0)
    run = play(game, Bayes(), trials=4000, confidence=1 - 1e-6, stop=False, rng=3).attackers[0]
    assert run.success.low <= success <= run.success.high
    assert abs(run.scores.baseline.mean() - baseline) < 0.05


def test_listed_surprisal_is_that_of_the_formula():
    """Where the prior of Tardos has a formula, the listed world says the same of every row."""
    world, side = Tardos(4, 2, 2), KnownRows(1)
    found = Surprisals(refine(world.enumerate(), side), 2)
    rng = np.random.default_rng(5)
    draw = world.draw(300, rng)
    for place in (0, 1):
        index = np.full(300, place)
        told, plain = found.of(draw.data, draw.data[:, :1], place)
        assert told == pytest.approx(side.surprisal(world, draw, draw.data[:, :1], index))
        assert plain == pytest.approx(world.surprisal(draw, index))


def test_a_string_of_bits_is_one_row_where_the_relation_says_so():
    game = Game(Bits(3, 0.25), ExactAverage(), Hamming(0.4), KnownRows(1), surprisal=0.5)
    found = listed(game.world, game.side, game.rows_of(np.zeros((1, 3), dtype=np.uint8)))
    assert found.plain.shape == (8, 1)
    assert found.plain[0, 0] == pytest.approx(-3 * math.log2(0.75))
    assert found.told(0)[0, 0] == pytest.approx(-2 * math.log2(0.75))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Listed([[0.5, 0.6]]), "sum to 1"),
        (lambda: Listed([0.5, 0.5]), "a list of numbers for each data set"),
        (lambda: Listed([["a", "b"]]), "a list of numbers for each data set"),
        (lambda: Listed([[1], [0.5, 0.5]]), "a list of numbers for each data set"),
        (lambda: Listed([[1.0]] * 3).check(WORLD), "a list for each of 4 data sets"),
        (lambda: Listed([[[1.0]] * 4] * 3).check(WORLD), "each of 2 natures"),
        (lambda: Listed([[1.0]] * 4).check(Bits(2)), "works for finite"),
        (lambda: Listed([[1.0]] * 2).check(Finite([[0], [0]])), "all different"),
        (
            lambda: listed(Uniform(5, 4), KnownRows(1), 5),
            "at most 4,096 data sets",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()
