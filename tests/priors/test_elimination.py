"""Elimination against the joint distribution where it can be listed, and beyond where it cannot."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from narcissus.bounds import exact_match_optimum, optimum, optimum_by_listing
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.priors import elimination
from narcissus.priors import elimination as module
from narcissus.priors.elimination import (
    Step,
    chains,
    elimination_order,
    likeliest,
    listing,
    log_partition,
    log_probability,
    marginals,
    most_likely,
    row_count,
    sample,
)
from narcissus.priors.factors import Factors

seeds = st.integers(0, 10**6)


@given(seeds)
def test_every_answer_is_that_of_the_listed_joint(draw_factors, all_values, seed):
    factors = draw_factors(seed)
    values, chances = all_values(factors)
    for v, value in enumerate(values):
        everybody = np.tile(value, (factors.people, 1))
        with np.errstate(divide="ignore"):
            truth = np.log(chances[:, v])
        np.testing.assert_allclose(log_probability(factors, everybody), truth, atol=1e-11)
    for c, found in enumerate(marginals(factors)):
        truth = [chances[:, values[:, c] == v].sum(axis=1) for v in range(factors.shape[c])]
        np.testing.assert_allclose(found[factors.rows].T, truth, rtol=1e-11)
    best = most_likely(factors)[factors.rows]
    reached = np.exp(log_probability(factors, best))
    np.testing.assert_allclose(reached, chances.max(axis=1), rtol=1e-11)


@given(seeds)
def test_a_few_rows_at_a_time_are_the_same(draw_factors, seed):
    factors = draw_factors(seed)
    whole = (log_partition(factors), *marginals(factors), most_likely(factors))
    draws = sample(factors, 3, rng=seed)
    before = elimination._BLOCK
    elimination._BLOCK = 1
    try:
        assert len(list(chains(factors, "sum"))) == row_count(factors)
        parts = (log_partition(factors), *marginals(factors), most_likely(factors))
        assert (sample(factors, 3, rng=seed) == draws).all()
    finally:
        elimination._BLOCK = before
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("seed", [3, 14, 15])
def test_draws_follow_the_joint_distribution(draw_factors, all_values, within, seed):
    factors = draw_factors(seed, most=4)
    values, chances = all_values(factors)
    draws = sample(factors, 4000, rng=seed)
    assert draws.shape == (factors.people, 4000, len(factors.shape))
    number = np.ravel_multi_index(tuple(np.moveaxis(draws, -1, 0)), factors.shape)
    for person in range(factors.people):
        counts = np.bincount(number[person], minlength=len(values))
        for count, chance in zip(counts, chances[person], strict=True):
            assert within(int(count), 4000, float(chance))


def test_a_ring_of_two_hundred_columns_has_the_trace_of_its_matrix():
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet(np.ones(3), 3)
    n = 200
    table = np.log(matrix)[None]
    scopes = (*((i, i + 1) for i in range(n - 1)), (0, n - 1))
    tables = (*(table,) * (n - 1), table.transpose(0, 2, 1))
    ring = Factors((3,) * n, scopes, tables, np.zeros(1, dtype=np.intp))
    truth = np.trace(np.linalg.matrix_power(matrix, n))
    assert log_partition(ring)[0] == pytest.approx(np.log(truth), abs=1e-12)
    stationary = np.linalg.matrix_power(matrix, n).diagonal() / truth
    for found in marginals(ring)[::37]:
        np.testing.assert_allclose(found[0], stationary, rtol=1e-10)


def test_columns_that_nothing_is_said_of_are_uniform():
    nothing = Factors((2, 3), (), (), np.array([0, 1, 1]))
    assert row_count(nothing) == 2
    np.testing.assert_allclose(log_partition(nothing), np.log(6))
    assert marginals(nothing)[1].shape == (2, 3)
    np.testing.assert_allclose(marginals(nothing)[1], 1 / 3)
    assert sample(nothing, 5, rng=0).shape == (3, 5, 2)
    assert sample(nothing, 0, rng=0).shape == (3, 0, 2)


def test_what_is_impossible_is_refused_with_the_person():
    table = np.array([[0.0, 0.0], [-np.inf, -np.inf]])
    factors = Factors((2,), ((0,),), (table,), np.array([0, 0, 1]))
    with pytest.raises(InputError, match="person 2 are impossible"):
        log_partition(factors)


@pytest.mark.parametrize(
    ("values", "said"),
    [([[0]], "shape"), ([[0.5]] * 2, "whole numbers"), ([[0], [2]], "sizes"), ([[0], [-1]], "siz")],
)
def test_values_that_are_not_there_are_refused(values, said):
    factors = Factors((2,), ((0,),), (np.zeros((2, 2)),), np.array([0, 1]))
    with pytest.raises(InputError, match=said):
        log_probability(factors, values)
    with pytest.raises(InputError, match="most"):
        likeliest(factors, 0)
    for rows in ([2], [-1]):
        with pytest.raises(InputError, match="rows"):
            likeliest(factors, 1, rows=rows)
    assert likeliest(factors, 1, rows=[]).starts.tolist() == [0]
    assert likeliest(factors, 3, 0.6).starts.tolist() == [0, 0, 0]
    # the limit of what is not listed is not below it
    one = Factors((4,), ((0,),), (np.log([[0.4, 0.3, 0.2, 0.1]]),), np.zeros(1, dtype=int))
    priors = listing(one)(np.array([0]), 2, np.zeros(1))
    np.testing.assert_allclose(priors.masses, [[0.4, 0.3]], rtol=1e-12)
    assert 0.2 <= priors.unlisted[0] <= 0.2 * (1 + 1e-8)


def some_order(shape, scopes, order) -> tuple[Step, ...]:
    """Give the steps of an order, from the definition."""
    left, steps = [set(map(int, s)) for s in scopes], []
    for column in order:
        clique = {column}.union(*(s for s in left if column in s))
        steps.append(Step(column, tuple(sorted(clique - {column}))))
        left = [s for s in left if column not in s] + [clique - {column}]
    return tuple(steps)


@given(st.integers(0, 10**6))
def test_each_step_looks_at_what_its_column_is_tied_to(seed):
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(1, 7))
    shape = tuple(int(s) for s in rng.integers(1, 5, columns))
    scopes = [
        tuple(sorted(rng.choice(columns, int(rng.integers(1, min(columns, 3) + 1)), replace=False)))
        for _ in range(int(rng.integers(0, 6)))
    ]
    steps = elimination_order(shape, scopes)
    assert sorted(step.column for step in steps) == list(range(columns))
    assert steps == some_order(shape, scopes, [step.column for step in steps])
    assert all(s.cells(shape) == np.prod([shape[c] for c in s.clique]) for s in steps)

    def sizes(order) -> list[int]:
        return [s.cells(shape) for s in some_order(shape, scopes, order)]

    if columns <= 5:  # never more than twice as wide as the best of all orders
        every = [sizes(order) for order in itertools.permutations(range(columns))]
        own = [s.cells(shape) for s in steps]
        assert min(map(sum, every)) <= sum(own) <= columns * max(own)
        assert max(own) <= 2 * min(map(max, every))


def test_what_is_tied_too_closely_is_refused_with_its_size(monkeypatch):
    shape, scopes = (10,) * 4, list(itertools.combinations(range(4), 2))
    assert elimination_order(shape, scopes)[0].cells(shape) == 10_000
    monkeypatch.setattr(module, "MAX_CLIQUE", 9_999)
    with pytest.raises(TooLargeError, match=r"ties 4 unknown columns together with 10,000 joint"):
        elimination_order(shape, scopes)


def triangulated(rng, columns):
    """Draw a graph in which some order adds no link, as its largest cliques, and these."""
    cliques = [(0,)]
    for column in range(1, columns):
        base = cliques[int(rng.integers(len(cliques)))]
        kept = rng.choice(base, int(rng.integers(1, min(3, len(base)) + 1)), replace=False)
        cliques.append((*sorted(int(c) for c in kept), column))
    return cliques


@given(st.integers(0, 10**6))
def test_where_an_order_adds_no_link_none_is_added(seed):
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(2, 25))
    cliques = triangulated(rng, columns)
    label = rng.permutation(columns)
    scopes = [tuple(sorted(int(label[c]) for c in clique)) for clique in cliques]
    shape = (3,) * columns
    steps = elimination_order(shape, scopes)
    assert max(len(step.clique) for step in steps) == max(map(len, scopes))


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
