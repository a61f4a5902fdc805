"""The order of elimination: its steps, its width where that is known, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus.errors import TooLargeError
from narcissus.priors import elimination
from narcissus.priors import elimination as module
from narcissus.priors.best_guess import right_columns
from narcissus.priors.elimination import Step, elimination_order, likeliest


def cost(shape, scopes, order) -> int:
    """Give the joint values that an order looks at, from the definition."""
    left, total = [set(s) for s in scopes], 0
    for column in order:
        clique = {column}.union(*(s for s in left if column in s))
        total += int(np.prod([shape[c] for c in clique]))
        left = [s for s in left if column not in s] + [clique - {column}]
    return total


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
    left = [set(map(int, s)) for s in scopes]
    for step in steps:
        clique = {step.column}.union(*(s for s in left if step.column in s))
        assert step.given == tuple(sorted(clique - {step.column}))
        assert step.cells(shape) == np.prod([shape[c] for c in clique])
        left = [s for s in left if step.column not in s] + [clique - {step.column}]
    # of six columns all 720 orders can be looked at: never more than twice the best
    if columns <= 5:
        least = min(cost(shape, scopes, o) for o in itertools.permutations(range(columns)))
        assert least <= sum(s.cells(shape) for s in steps) <= 2 * least


def test_a_chain_of_columns_is_taken_two_at_a_time():
    shape = (7,) * 30
    steps = elimination_order(shape, [(i, i + 1) for i in range(29)])
    assert max(step.cells(shape) for step in steps) == 49


def test_a_star_is_taken_from_its_rays():
    # the hub is small, so that the smallest step alone is a bad guide
    shape = (2, *(9,) * 12)
    steps = elimination_order(shape, [(0, i) for i in range(1, 13)])
    assert max(step.cells(shape) for step in steps) == 18


def test_what_is_tied_too_closely_is_refused_with_its_size(monkeypatch):
    shape, scopes = (10,) * 4, list(itertools.combinations(range(4), 2))
    assert elimination_order(shape, scopes)[0].cells(shape) == 10_000
    monkeypatch.setattr(module, "MAX_CLIQUE", 9_999)
    with pytest.raises(TooLargeError, match=r"ties 4 unknown columns together with 10,000 joint"):
        elimination_order(shape, scopes)


def some_order(shape, scopes, order) -> tuple[Step, ...]:
    """Give the steps of an order, from the definition."""
    left, steps = [set(s) for s in scopes], []
    for column in order:
        clique = {column}.union(*(s for s in left if column in s))
        steps.append(Step(column, tuple(sorted(clique - {column}))))
        left = [s for s in left if column not in s] + [clique - {column}]
    return tuple(steps)


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_every_order_gives_the_same_answers(draw_factors, all_values, seed):
    """All answers by elimination, in three random orders and in the one chosen."""
    factors = draw_factors(seed, most=4)
    rng = np.random.default_rng(seed)
    values, chances = all_values(factors)
    guess = np.stack([rng.integers(0, size, factors.people) for size in factors.shape], axis=1)
    right = (values == guess[:, None]).sum(axis=2)
    columns = len(factors.shape)
    orders = [rng.permutation(columns).tolist() for _ in range(3)]
    for order in [None, *orders]:
        with pytest.MonkeyPatch.context() as patch:
            if order is not None:
                steps = some_order(factors.shape, factors.scopes, order)
                patch.setattr(elimination, "elimination_order", lambda *_, steps=steps: steps)
            for c, found in enumerate(elimination.marginals(factors)):
                expected = [
                    [own[values[:, c] == v].sum() for v in range(factors.shape[c])]
                    for own in chances
                ]
                np.testing.assert_allclose(found[factors.rows], expected, atol=1e-12)
            best = elimination.most_likely(factors)[factors.rows]
            found = np.exp(elimination.log_probability(factors, best))
            np.testing.assert_allclose(found, chances.max(axis=1), atol=1e-12)
            law = right_columns(factors, guess)
            expected = [[(own * (right[i] == k)).sum() for k in range(columns + 1)]
                        for i, own in enumerate(chances)]  # fmt: skip
            np.testing.assert_allclose(law, expected, atol=1e-12)
            listed = likeliest(factors, 3)
            for row in range(len(listed.unlisted)):
                own = np.exp(listed.log_probabilities[listed.starts[row] : listed.starts[row + 1]])
                person = int(np.argmax(factors.rows == row))
                expected = np.sort(chances[person])[::-1]
                expected = expected[expected > 0]
                np.testing.assert_allclose(own, expected[:3], atol=1e-12)
                rest = expected[3] if expected.size > 3 else 0.0
                assert np.exp(listed.unlisted[row]) == pytest.approx(rest, abs=1e-12)
            drawn = elimination.sample(factors, 20, rng=1)
            each = [np.exp(elimination.log_probability(factors, drawn[:, k])) for k in range(20)]
            assert np.min(each) > 0  # nothing impossible is drawn


def triangulated(rng, columns):
    """Draw a graph in which some order adds no link, as its largest cliques, and these."""
    cliques = [(0,)]
    for column in range(1, columns):
        base = cliques[int(rng.integers(len(cliques)))]
        kept = rng.choice(base, int(rng.integers(1, min(3, len(base)) + 1)), replace=False)
        cliques.append((*sorted(int(c) for c in kept), column))
    return cliques


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_where_an_order_adds_no_link_none_is_added(seed):
    """The width is then the largest clique of the graph, which no order can avoid."""
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(2, 25))
    cliques = triangulated(rng, columns)
    label = rng.permutation(columns)
    scopes = [tuple(sorted(int(label[c]) for c in clique)) for clique in cliques]
    shape = (3,) * columns
    steps = elimination_order(shape, scopes)
    assert max(len(step.clique) for step in steps) == max(map(len, scopes))


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_width_is_near_the_least_of_all_orders(seed):
    """Six columns: all 720 orders; the widest step is at most twice that of the best order."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(s) for s in rng.integers(2, 6, 6))
    pairs = list(itertools.combinations(range(6), 2))
    chosen = rng.choice(len(pairs), int(rng.integers(5, 11)), replace=False)
    scopes = [pairs[i] for i in chosen]

    def width(order):
        return max(step.cells(shape) for step in some_order(shape, scopes, order))

    least = min(width(order) for order in itertools.permutations(range(6)))
    found = elimination_order(shape, scopes)
    assert found == some_order(shape, scopes, [step.column for step in found])
    widest = max(step.cells(shape) for step in found)
    assert least <= widest <= 2 * least


def test_the_cheapest_of_the_three_orders_is_taken():
    """Random graphs on which each of them is the best alone."""
    rng, won = np.random.default_rng(0), set()
    for _ in range(300):
        columns = 8
        shape = tuple(int(s) for s in rng.integers(2, 12, columns))
        pairs = list(itertools.combinations(range(columns), 2))
        chosen = rng.choice(len(pairs), int(rng.integers(8, 16)), replace=False)
        scopes = [pairs[i] for i in chosen]
        graph = {c: {b for s in scopes if c in s for b in s if b != c} for c in range(columns)}
        sums = {
            score.__name__: sum(s.cells(shape) for s in module._greedy(graph, shape, score))
            for score in (module._fill, module._weighted_fill, module._size)
        }
        least = min(sums.values())
        assert sum(s.cells(shape) for s in elimination_order(shape, scopes)) == least
        alone = [*sums.values()].count(least) == 1
        won |= {name for name, own in sums.items() if alone and own == least}
    assert won == {"_fill", "_weighted_fill", "_size"}
