"""Exact counts: whatever they determine is recovered, by enumeration of all that agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus.attacks.table import GibbsSampling, MeanField, Targets, View
from narcissus.attacks.table.posterior import consistent_beliefs
from narcissus.mechanisms import (
    ChosenQueries,
    Grouping,
    MarginalQueries,
    NoisyMarginals,
    NoNoise,
)
from narcissus.success import exact_match


def agreeing(targets, release):
    """Every assignment of joint values that has these exact counts, by depth-first search."""
    queries = targets.queries
    cells = []
    for person in range(targets.people):
        options = []
        for value in range(queries.values):
            code = targets.codes[person : person + 1].copy()
            code[:, list(queries.unknown)] = queries.split(np.array([value]))
            options.append(queries.cells_of(code)[0])
        cells.append(options)
    left = release.copy()
    found = []

    def place(person, chosen):
        if person == targets.people:
            found.append(tuple(chosen))
            return
        for value, touched in enumerate(cells[person]):
            if (left[touched] > 0.5).all():
                left[touched] -= 1
                place(person + 1, [*chosen, value])
                left[touched] += 1

    place(0, [])
    return np.array(found)


@st.composite
def small_worlds(draw):
    d = draw(st.integers(2, 4))
    sizes = tuple(draw(st.lists(st.integers(2, 3), min_size=d, max_size=d)))
    unknown = tuple(draw(st.permutations(range(d)))[: draw(st.integers(1, min(2, d)))])
    people, seed = draw(st.integers(2, 7)), draw(st.integers(0, 2**32 - 1))
    if draw(st.booleans()):
        return MarginalQueries(sizes, unknown, draw(st.integers(1, d))), people, seed
    # A list of tables, some of which have the groups of an unknown column in its place.
    coarse = Grouping(unknown[0], (0, 1, 1)[: sizes[unknown[0]]])
    columns = st.lists(st.integers(0, d - 1), min_size=1, max_size=d, unique=True)
    sets = draw(st.lists(st.tuples(columns, st.booleans()), min_size=1, max_size=4))
    chosen = [(d,)] + [
        tuple(d if grouped and c == unknown[0] else c for c in names) for names, grouped in sets
    ]
    return ChosenQueries(sizes, unknown, tuple(chosen), coarse=(coarse,)), people, seed


@settings(max_examples=120, deadline=None)
@given(small_worlds())
def test_whatever_is_determined_is_recovered(drawn):
    queries, people, seed = drawn
    sizes, unknown = queries.sizes, queries.unknown
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, s, people) for s in sizes], axis=1).astype(np.int32)
    release = NoisyMarginals(queries, NoNoise()).release(codes[None])[0].cells
    known = codes.copy()
    known[:, list(unknown)] = 0
    prior = rng.dirichlet(np.ones(queries.values), people)
    targets = Targets(queries, known, prior, exact_match(queries.unknown_shape))
    every = agreeing(targets, release)
    truth = queries.joint(codes)
    assert (every == truth).all(axis=1).any()
    beliefs = consistent_beliefs(targets, release)
    np.testing.assert_allclose(beliefs.sum(axis=1), 1, atol=1e-9)
    guess = beliefs.argmax(axis=1)
    determined = (every == every[0]).all(axis=0)
    np.testing.assert_array_equal(guess[determined], truth[determined])
    # Also a column that is determined where another is not.
    split = queries.split(every.ravel()).reshape(*every.shape, len(unknown))
    columns = (split == split[0]).all(axis=0)
    said = queries.split(guess)
    np.testing.assert_array_equal(said[columns], split[0][columns])
    # Somebody known to be in one of several values is never guessed out of them by the tables'
    # own zeros: the guess occurs in some assignment that agrees.
    for person in np.flatnonzero(~determined):
        if len(unknown) == 1 and getattr(queries, "k", 3) <= 2:
            assert beliefs[person, np.unique(every[:, person])].sum() > 0


@settings(max_examples=40, deadline=None)
@given(small_worlds())
def test_a_wrong_prior_gives_way(drawn):
    """The prior of real people may rule out the truth; the counts still decide."""
    queries, people, seed = drawn
    sizes, unknown = queries.sizes, queries.unknown
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, s, people) for s in sizes], axis=1).astype(np.int32)
    release = NoisyMarginals(queries, NoNoise()).release(codes[None])[0].cells
    truth = queries.joint(codes)
    known = codes.copy()
    known[:, list(unknown)] = 0
    prior = rng.dirichlet(np.ones(queries.values), people)
    prior[np.arange(people), truth] = 0
    prior /= prior.sum(axis=1, keepdims=True)
    targets = Targets(queries, known, prior, exact_match(queries.unknown_shape))
    every = agreeing(targets, release)
    beliefs = consistent_beliefs(targets, release)
    assert np.isfinite(beliefs).all()
    determined = (every == every[0]).all(axis=0)
    np.testing.assert_array_equal(beliefs.argmax(axis=1)[determined], truth[determined])


def test_both_posteriors_hand_over():
    rng = np.random.default_rng(2)
    queries = MarginalQueries((2, 4, 4), (0,), 3)
    codes = np.stack([rng.integers(0, s, 12) for s in queries.sizes], axis=1).astype(np.int32)
    release = NoisyMarginals(queries, NoNoise()).release(codes[None])[0].cells
    known = codes.copy()
    known[:, 0] = 0
    targets = Targets(queries, known, rng.dirichlet(np.ones(2), 12), exact_match((2,)))
    view = View(targets, NoNoise(), release)
    a = MeanField().beliefs(view, rng=rng)
    np.testing.assert_array_equal(a, GibbsSampling().beliefs(view, rng=rng))
    np.testing.assert_array_equal(a, consistent_beliefs(targets, release))


@pytest.mark.parametrize(
    ("sizes", "unknown", "k"),
    [
        ((4, 3, 2), (0,), 2),
        ((5, 4, 3, 2, 2), (0,), 2),
        ((4, 3, 5, 2), (0, 2), 2),
        ((6, 3), (0,), 1),
        ((2,) * 12, (0,), 3),
    ],
)
def test_a_hard_world_of_200_people_ends(sizes, unknown, k):
    """Few known columns determine little: integer programs must not run away (node limit)."""
    rng = np.random.default_rng(4)
    queries = MarginalQueries(sizes, unknown, k)
    codes = np.stack([rng.integers(0, s, 200) for s in sizes], axis=1).astype(np.int32)
    release = NoisyMarginals(queries, NoNoise()).release(codes[None])[0].cells
    known = codes.copy()
    known[:, list(unknown)] = 0
    prior = rng.dirichlet(np.full(queries.values, 0.5), 200)
    targets = Targets(queries, known, prior, exact_match(queries.unknown_shape))
    beliefs = consistent_beliefs(targets, release)
    np.testing.assert_allclose(beliefs.sum(axis=1), 1, atol=1e-9)
    # No worse than the prior, which knows nothing of the counts.
    truth = queries.joint(codes)
    assert (beliefs.argmax(axis=1) == truth).mean() >= (prior.argmax(axis=1) == truth).mean() - 0.05
