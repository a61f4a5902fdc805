"""Sums over people's cells, and shards of the types of people, against doing it cell by cell."""

import numpy as np
import pytest

from narcissus.attacks.table import Targets
from narcissus.attacks.table import shards as room
from narcissus.attacks.table.cavity import Dual, cavity_beliefs
from narcissus.attacks.table.shards import CellIncidence, HeldHere, holding, shares_of, split
from narcissus.errors import NarcissusError
from narcissus.mechanisms import GaussianNoise, Grouping, MarginalQueries
from narcissus.success import exact_match

LISTED = (
    ((0, 2), (3, 1), (2,), (2, 0), (3,), (1,), (0,), (4, 0), (0, 1, 3), (3, 1)),
    (Grouping(2, (0, 1, 1)), Grouping(1, (0, 0, 1))),
)


WORLDS = [
    pytest.param((2, 3, 2, 4), (0,), 3, id="one unknown"),
    pytest.param((2, 3, 2, 4), (1,), 1, id="one unknown, k 1"),
    pytest.param((2, 3, 2, 2, 3), (4, 0), 3, id="two unknown"),
    pytest.param((2, 3, 2, 2), (0, 1, 3), 4, id="three unknown, k 4"),
    pytest.param((2, 3, 3), (2,), LISTED, id="one unknown, listed"),
    pytest.param((2, 3, 3), (2, 0), LISTED, id="two unknown, listed"),
]


WAYS = [
    pytest.param({}, id="as it is"),
    pytest.param({"LIMITS": (1,)}, id="not merged"),
    pytest.param({"LIMITS": (6,)}, id="in small groups"),
    pytest.param({"LIMITS": (10**6,)}, id="in one group"),
    pytest.param({"RANGE": 0}, id="keys sorted"),
    pytest.param({"BLOCK": 9}, id="in blocks"),
    pytest.param({"NARROW": 0}, id="sums one by one"),
]


def of_types(worlds, sizes, unknown, k, people=30, seed=1):
    """Draw people, most of whom are like others."""
    rng = np.random.default_rng(seed)
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    prior = rng.dirichlet(np.ones(targets.queries.values), 2)[rng.integers(0, 2, people)]
    return Targets(targets.queries, targets.codes, prior, targets.success), secrets, rng


def test_no_two_tables_share_a_cell(worlds):
    targets, _, _ = of_types(worlds, (2, 3, 3), (2,), LISTED)
    assert worlds.incidence(targets).max() == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS)
def test_both_maps_against_cells_one_by_one(worlds, monkeypatch, sizes, unknown, k, way):
    for name, value in way.items():
        monkeypatch.setattr(room, name, value)
    targets, _, rng = of_types(worlds, sizes, unknown, k)
    gathers, cells = CellIncidence(targets), worlds.incidence(targets)
    assert gathers.types.number < 30
    np.testing.assert_array_equal(np.sort(gathers.cells), np.flatnonzero(cells.any(axis=(0, 1))))

    vector = rng.normal(size=len(gathers.cells))
    raised = gathers.raised(vector)
    found = np.concatenate(
        [
            gathers.queries.spread(gathers.gathered(block, raised))
            for block in range(len(gathers.blocks))
        ]
    )
    np.testing.assert_allclose(found[gathers.types.of], cells[..., gathers.cells] @ vector)

    weights = rng.random((gathers.types.number, targets.queries.values))
    sums = gathers.nothing()
    for index, block in enumerate(gathers.blocks):
        gathers.scatter(index, sums, gathers.summed(weights[block]))
    expected = np.einsum("tv,tvc->c", weights, cells[gathers.types.first])
    np.testing.assert_allclose(gathers.lowered(sums), expected[gathers.cells])


def test_many_tables_are_looked_up_in_few():
    """105 tables of an unknown column and two others become at most 21, where people are many."""
    sizes = (5, 4, 9, 3, 2, 2, 2, 2, 2, 2, 9, 18, 5, 4, 24, 8)
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, s, 20_000) for s in sizes], axis=1).astype(np.int32)
    queries = MarginalQueries(sizes, (9,), 3)
    targets = Targets(queries, codes, np.full((20_000, 2), 0.5), exact_match((2,)))
    gathers = CellIncidence(targets)
    assert gathers.reads <= 21 * gathers.types.number * 2
    assert queries.tables == 105


WORLDS_SHARDS = [
    pytest.param((2, 3, 2, 4, 3), (0,), 3, id="one unknown"),
    pytest.param((2, 3, 2, 4, 3), (4, 0), 2, id="two unknown"),
]


def problem(worlds, sizes, unknown, k, people=60):
    rng = np.random.default_rng(4)
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    noise = GaussianNoise(2.0)
    return targets, noise, worlds.release(targets, noise, secrets, rng).cells, rng


def said(targets, theta, along):
    """Return everything that shares say, with the beliefs themselves."""
    with split(targets) as shares:
        variance = np.linspace(1, 3, len(shares.cells))
        dual = Dual(shares, np.zeros(len(shares.cells)), variance)
        value, gradient = dual.evaluate(theta)
        beliefs = dual.beliefs(theta)
        curved = dual.curve(along)
        shares.tell("respond", variance + beliefs.variance, False)
        moved = sum(shares.tell("correct", 0.7))
        after = dual.evaluate(theta)[1]
        types = np.concatenate(shares.ask("result"))
        number = len(shares.ask("cells"))
    return number, [value, gradient, beliefs.counts, beliefs.variance, curved, moved, after, types]


@pytest.mark.parametrize("most", [1, 7])
@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS_SHARDS)
def test_shares_add_up_to_all_types(worlds, monkeypatch, sizes, unknown, k, most):
    targets, _, _, rng = problem(worlds, sizes, unknown, k)
    with split(targets) as shares:
        cells = shares.cells
    theta, along = 0.2 * rng.normal(size=(2, len(cells)))
    one, whole = said(targets, theta, along)
    monkeypatch.setattr(room, "TYPES", most)
    several, parts = said(targets, theta, along)
    assert (one, several) == (1, -(-targets.types.number // most))
    with split(targets) as shares:
        np.testing.assert_array_equal(shares.cells, cells)
    for expected, found in zip(whole, parts, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.repeats(500, 2000)
def test_probes_of_shares_are_independent(worlds, monkeypatch, repeats):
    """Mean of 2,000 squares along five directions: standard error 3.2%, and twice that by day."""
    targets, _, _, rng = problem(worlds, (2, 3, 2), (0,), 2)
    monkeypatch.setattr(room, "TYPES", 2)
    with split(targets) as shares:
        dual = Dual(shares, np.zeros(len(shares.cells)), np.ones(len(shares.cells)))
        dual.beliefs(np.zeros(len(shares.cells)))
        probes = np.array([dual.probe() for _ in range(repeats)])
        off = 0.17 * (2000 / repeats) ** 0.5
        for along in rng.normal(size=(5, len(shares.cells))):
            expected = along @ (dual.curve(along) - along)
            assert np.mean((probes @ along) ** 2) == pytest.approx(expected, rel=off)


def test_beliefs_hardly_depend_on_the_shares(worlds, monkeypatch):
    """The random probes do: of 400 people there are at least a hundred free counts each."""
    targets, noise, release, _ = problem(worlds, (2, 3, 4, 4, 3), (0,), 3, people=400)
    whole = cavity_beliefs(targets, noise, release, 100, 1e-9)
    monkeypatch.setattr(room, "TYPES", 30)
    assert np.abs(cavity_beliefs(targets, noise, release, 100, 1e-9) - whole).max() < 0.05


def test_how_people_are_split_depends_on_their_number_alone():
    assert shares_of(room.TYPES, 2) == 1
    assert shares_of(room.TYPES + 1, 2) == 2
    assert shares_of(48_842, 24) == 1
    assert shares_of(1_000, room.BELIEFS // 500) == 2
    assert shares_of(7, 2 * room.BELIEFS) == 7


class Remembers:
    """A holder that knows what it held."""

    def __init__(self):
        self.held = []

    def hold(self, makers):
        self.held.append(HeldHere(makers))
        return self.held[-1]


def test_large_releases_alone_are_held_by_others(worlds, monkeypatch):
    targets, *_ = problem(worlds, (2, 3, 2), (0,), 2)
    holder = Remembers()
    with holding(holder), split(targets):
        pass
    assert not holder.held
    monkeypatch.setattr(room, "TYPES", 3)
    with split(targets):
        pass
    assert not holder.held
    with holding(holder), split(targets):
        assert len(holder.held[0].things) == -(-targets.types.number // 3)
    assert not holder.held[0].things, "they are let go"
    with pytest.raises(ZeroDivisionError), holding(holder), split(targets):
        raise ZeroDivisionError
    assert not holder.held[1].things
    with pytest.raises(NarcissusError), holding(holder), split(targets):
        raise NarcissusError
    assert holder.held[2].things, "nobody may be left to let go"
