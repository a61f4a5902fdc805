"""The likeliest joint values against the sorted joint, and where nobody could list it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from narcissus.bounds import exact_match_optimum, optimum, optimum_by_listing
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.priors import elimination as module
from narcissus.priors.elimination import likeliest, listing
from narcissus.priors.factors import Factors


@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([0.0, 0.02, 0.1, 0.4]))
def test_it_is_the_head_of_the_sorted_joint(draw_factors, all_values, seed, most, least):
    factors = draw_factors(seed)
    _, chances = all_values(factors)
    found = likeliest(factors, most, least)
    for row in range(len(found.unlisted)):
        mine = slice(found.starts[row], found.starts[row + 1])
        own = chances[np.argmax(factors.rows == row)]
        ordered = np.sort(own)[::-1]
        wanted = ordered[(ordered >= least) & (ordered > 0)][:most]
        np.testing.assert_allclose(np.exp(found.log_probabilities[mine]), wanted, rtol=1e-11)
        others = ordered[wanted.size :].max(initial=0.0)
        assert np.exp(found.unlisted[row]) == pytest.approx(others, rel=1e-11)
        # each is listed with its own probability, once
        number = np.ravel_multi_index(tuple(found.values[mine].T), factors.shape)
        assert np.unique(number).size == number.size
        np.testing.assert_allclose(own[number], wanted, rtol=1e-11)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_small_pieces_give_the_same(draw_factors, seed, most):
    factors = draw_factors(seed)
    whole = likeliest(factors, most)
    before = module._CELLS, module._LISTED
    module._CELLS, module._LISTED = 1, 1
    try:
        parts = likeliest(factors, most)
    finally:
        module._CELLS, module._LISTED = before
    assert (whole.starts == parts.starts).all()
    np.testing.assert_allclose(whole.log_probabilities, parts.log_probabilities, rtol=1e-12)
    np.testing.assert_allclose(whole.unlisted, parts.unlisted, rtol=1e-12)


@given(st.integers(0, 10**6))
def test_rows_can_be_asked_for_alone(draw_factors, seed):
    factors = draw_factors(seed)
    whole = likeliest(factors, 5)
    last = len(whole.unlisted) - 1
    least = np.exp(whole.log_probabilities[whole.starts[last]]) / 2
    alone = likeliest(factors, 5, least, rows=[last])
    own = whole.log_probabilities[whole.starts[last] :]
    np.testing.assert_allclose(alone.log_probabilities, own[own >= np.log(least)], rtol=1e-12)


def test_sixty_coins_have_their_likeliest_values_in_the_order_of_heads():
    """2^60 values: one without heads, 60 with one, 1,770 with two, ..."""
    coins = 60
    table = np.log([[0.9, 0.1]])
    factors = Factors(
        (2,) * coins, tuple((c,) for c in range(coins)), (table,) * coins, np.zeros(1, dtype=int)
    )
    found = likeliest(factors, 1 + 60 + 1000)
    heads = found.values.sum(axis=1)
    assert heads.tolist() == [0] + [1] * 60 + [2] * 1000
    truth = (60 - heads) * np.log(0.9) + heads * np.log(0.1)
    np.testing.assert_allclose(found.log_probabilities, truth, rtol=1e-12)
    assert found.unlisted[0] == pytest.approx(58 * np.log(0.9) + 2 * np.log(0.1), rel=1e-12)
    # by their probability: exactly those with at most one
    cut = likeliest(factors, 10**6, 0.9**58 * 0.1**2 * 1.01)
    assert cut.values.sum(axis=1).tolist() == [0] + [1] * 60


def test_questions_that_make_no_sense_are_refused():
    factors = Factors((2,), ((0,),), (np.zeros((2, 2)),), np.array([0, 1]))
    with pytest.raises(InputError, match="most"):
        likeliest(factors, 0)
    for rows in ([2], [-1]):
        with pytest.raises(InputError, match="rows"):
            likeliest(factors, 1, rows=rows)
    assert likeliest(factors, 1, rows=[]).starts.tolist() == [0]
    assert likeliest(factors, 3, 0.6).starts.tolist() == [0, 0, 0]


@given(st.integers(0, 10**6), st.floats(0, 5), st.integers(1, 60))
def test_the_optimum_without_the_joint_is_that_of_the_joint(
    draw_factors, all_values, seed, epsilon, most
):
    factors = draw_factors(seed)
    _, chances = all_values(factors)
    found = optimum_by_listing(listing(factors), len(factors.tables[0]), PureDP(epsilon))
    truth = exact_match_optimum(chances, epsilon)
    np.testing.assert_allclose(found.value[factors.rows], truth, rtol=1e-9)
    assert (found.left_open == 0).all()
    guarantee = GaussianDP(0.1 + epsilon / 3)
    for cut in (most, 1000):
        found = optimum_by_listing(listing(factors), len(factors.tables[0]), guarantee, most=cut)
        truth = optimum(chances, guarantee)
        assert (found.value[factors.rows] >= truth - 2e-7).all()  # the search of the best epsilon
    assert (found.value[factors.rows] <= truth + 2e-4).all()


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 5.0, 8.0])
def test_the_optimum_of_sixty_coins_is_that_of_their_counts_of_heads(epsilon):
    """2^60 joint values in 61 groups of equal ones: the closed form by group."""
    coins = 60
    table = np.log([[0.7, 0.3]])
    factors = Factors(
        (2,) * coins, tuple((c,) for c in range(coins)), (table,) * coins, np.zeros(1, dtype=int)
    )
    heads = np.arange(coins + 1)
    counts = special.binom(coins, heads)
    mass = 0.7 ** (coins - heads) * 0.3**heads
    grown = np.exp(epsilon)
    truth = (grown * np.cumsum(mass * counts) / (grown + np.cumsum(counts) - 1)).max()
    found = optimum_by_listing(listing(factors), 1, PureDP(epsilon))
    assert found.left_open[0] == 0
    assert found.value[0] == pytest.approx(truth, rel=1e-9)
    assert exact_match_optimum(mass, epsilon, counts)[0] == pytest.approx(truth, rel=1e-9)
    # and under a whole profile, from below 2^15 values
    loose = optimum_by_listing(listing(factors), 1, GaussianDP(1.5), most=2**15)
    whole = optimum(mass, GaussianDP(1.5), counts=counts)[0]
    assert whole - 2e-7 <= loose.value[0] <= whole + 1e-5


def test_the_limit_of_what_is_not_listed_is_not_below_it():
    table = np.log([[0.4, 0.3, 0.2, 0.1]])
    factors = Factors((4,), ((0,),), (table,), np.zeros(1, dtype=int))
    priors = listing(factors)(np.array([0]), 2, np.zeros(1))
    np.testing.assert_allclose(priors.masses, [[0.4, 0.3]], rtol=1e-12)
    assert 0.2 <= priors.unlisted[0] <= 0.2 * (1 + 1e-8)
