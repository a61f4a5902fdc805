"""Values that agree with exact counts of many unknown columns, or how far they do not."""

import numpy as np
import pytest

from narcissus.attacks.table import exact_columns
from narcissus.attacks.table.exact_columns import reconstruct, witnesses
from narcissus.attacks.table.factored import FactoredGibbs, FactoredGuess, Searched, searched
from narcissus.attacks.table.places import ColumnSteps
from narcissus.knowledge import FactoredColumns
from narcissus.mechanisms import ChosenQueries, Counts, MarginalQueries, NoisyMarginals
from narcissus.mechanisms.noise import NoNoise
from narcissus.mechanisms.patterns import Grouping
from narcissus.priors import BayesianNetwork
from narcissus.success import CodesRight, ColumnsRight
from narcissus.worlds import People

SIZES = (5, 4, 3, 2, 4, 3, 2)
UNKNOWN = (2, 3, 4, 5, 6)
SHAPE = (3, 2, 4, 3, 2)


def network():
    rng = np.random.default_rng(0)
    parents = ((), (0,), (0, 1), (2, 1), (3,), (4, 0), (5,))
    tables = [
        rng.dirichlet(np.ones(size), size=tuple(SIZES[p] for p in own))
        for own, size in zip(parents, SIZES, strict=True)
    ]
    return BayesianNetwork(tuple("abcdefg"), parents, tuple(np.asarray(t) for t in tables))


def released(queries, people=40, seed=1, success=None):
    prior, rng = network(), np.random.default_rng(seed)
    world = People(prior, people)
    draw = world.draw(1, rng)
    right = CodesRight(success or ColumnsRight(queries.unknown_shape))
    [targets] = FactoredColumns(prior, queries, right).reveal(world, draw, rng)
    [counts] = NoisyMarginals(queries, NoNoise()).release(draw.data, rng)
    return targets, counts, targets.secrets(draw.data[0])


def steps_of(targets, counts):
    return ColumnSteps(targets.queries, targets.bases, counts.cells)


COARSE = ChosenQueries(
    SIZES,
    UNKNOWN,
    ((0, 1, 2), (0, 1, 3), (0, 1, 7), (0, 4), (1, 4), (0, 1, 5), (0, 1, 6), (2, 3)),
    coarse=(Grouping(4, (0, 0, 1, 1)),),
)


@pytest.mark.parametrize("queries", [MarginalQueries(SIZES, UNKNOWN, 3), COARSE])
def test_the_values_found_agree_with_every_count(queries):
    gained: list[float] = []
    for seed in range(4):
        targets, counts, secrets = released(queries, seed=seed)
        weights = [np.log(m) for m in targets.marginals]
        values, residual = reconstruct(steps_of(targets, counts), weights)
        assert residual == 0
        people = targets.codes.copy()
        people[:, list(UNKNOWN)] = values
        assert (queries.counts(people) == counts.cells).all()
        modes = targets.success.modes(targets.marginals)
        gained.append((values == secrets).mean() - (modes == secrets).mean())
    assert np.mean(gained) > 0


def test_the_residual_is_what_the_counts_are_off_by():
    """A count that nobody can have made: no values agree, and the residual says so."""
    targets, counts, _ = released(MarginalQueries(SIZES, UNKNOWN, 2))
    cells = counts.cells.copy()
    own = targets.queries.cells_of(targets.codes)[0]
    cells[own[:3]] += 2
    steps = ColumnSteps(targets.queries, targets.bases, cells)
    values, residual = reconstruct(steps, [np.log(m) for m in targets.marginals])
    people = targets.codes.copy()
    people[:, list(UNKNOWN)] = values
    reached = np.unique(np.concatenate([
        steps.cells(i, row) for i in range(40) for row in [values[i]]
    ]))  # fmt: skip
    assert reached.size
    assert residual == pytest.approx(np.abs(targets.queries.counts(people) - cells).sum())
    assert residual >= 2


def test_people_who_are_alike_in_what_is_known_share_their_values():
    """Nothing tells them apart, so each has each of their values with the same chance."""
    queries = MarginalQueries(SIZES, (1, 2, 3, 4, 5, 6), 3)
    prior, rng = network(), np.random.default_rng(0)
    world = People(prior, 30)
    draw = world.draw(1, rng)
    right = CodesRight(ColumnsRight(queries.unknown_shape))
    [targets] = FactoredColumns(prior, queries, right).reveal(world, draw, rng)
    [counts] = NoisyMarginals(queries, NoNoise()).release(draw.data, rng)
    known = targets.codes[:, :1]
    draws, _ = witnesses(steps_of(targets, counts), targets.marginals, known, 1)
    for value in range(5):
        alike = np.flatnonzero(known[:, 0] == value)
        for i in alike:
            assert len(draws[i]) == len(alike)
            assert (draws[i] == draws[alike[0]]).all()


def test_several_solutions_are_kept_where_they_agree_with_all_counts():
    targets, counts, _ = released(MarginalQueries(SIZES, UNKNOWN, 3))
    known = targets.codes[:, list(targets.queries.known)]
    one, left = witnesses(steps_of(targets, counts), targets.marginals, known, 1)
    three, least = witnesses(steps_of(targets, counts), targets.marginals, known, 3)
    assert left == least == 0
    assert all(len(many) % len(few) == 0 for many, few in zip(three, one, strict=True))
    assert len(three[0]) > len(one[0])


def test_solving_columns_again_brings_counts_nearer(monkeypatch):
    """One known column: the first pass sticks, mending does not make it worse, and helps here."""
    targets, counts, _ = released(MarginalQueries(SIZES, (1, *UNKNOWN), 3), people=30)
    weights = [np.log(m) for m in targets.marginals]
    _, mended = reconstruct(steps_of(targets, counts), weights)
    monkeypatch.setattr(exact_columns, "ROUNDS", 0)
    _, left = reconstruct(steps_of(targets, counts), weights)
    assert mended < left


@pytest.mark.parametrize("success", [None, ColumnsRight(SHAPE, at_least=3)])
def test_the_attack_on_exact_counts_beats_the_prior_and_tells_its_residual(success):
    right: list[float] = []
    prior: list[float] = []
    for seed in range(3):
        targets, counts, secrets = released(
            MarginalQueries(SIZES, UNKNOWN, 3), seed=seed, success=success
        )
        rng = np.random.default_rng(0)
        found = FactoredGibbs().attempt([counts], [targets], rng)
        assert isinstance(found, Searched)
        assert found.residual.tolist() == [0.0]
        right.append(targets.success.score(secrets, found.values[0]).mean())
        [guess] = FactoredGuess().attempt([counts], [targets], rng)
        prior.append(targets.success.score(secrets, guess).mean())
    assert np.mean(right) > np.mean(prior) + 0.1


def test_a_search_that_sticks_still_guesses():
    targets, counts, _ = released(MarginalQueries(SIZES, UNKNOWN, 2))
    cells = counts.cells.copy()
    cells[:] = np.roll(cells, 3)
    guess, residual = searched(Counts(targets.queries, NoNoise(), cells), targets)
    assert residual > 0
    assert guess.shape == (40, 5)
