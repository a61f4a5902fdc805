"""Listed worlds, pairs, families, secrets, people, and a function of the user."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, profile
from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import CountingQuery
from narcissus.priors import fit_independent
from narcissus.success.relations import Prefix
from narcissus.tables import read_table
from narcissus.worlds import (
    Bits,
    Enumerable,
    Family,
    Finite,
    NamedFamily,
    Neighbours,
    OwnWorld,
    Pairs,
    People,
    RandomNeighbours,
    RealRows,
    Secret,
    Superset,
    World,
    members,
)

SETS = [[0, 1], [1, 1], [0, 0]]


def test_without_probabilities_all_are_alike():
    world = Finite(SETS)
    assert world.table == pytest.approx(np.full((1, 3), 1 / 3))
    assert world.weight.tolist() == [1]
    two = Finite(SETS, [[1, 0, 0], [0, 0.5, 0.5]])
    assert two.weight.tolist() == [0.5, 0.5]
    assert world.count() == 3


def test_a_data_set_of_one_number_has_one_record():
    assert Finite([3, 4]).sets.tolist() == [[3], [4]]
    assert Finite([[3, 4]]).sets.tolist() == [[3, 4]]


@pytest.mark.parametrize("wrong", [[], 3, [[1], [2, 3]], [None, [1]]])
def test_data_sets_have_one_shape(wrong):
    with pytest.raises(InputError, match="`data` must be"):
        Finite(wrong)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"probabilities": [0.5, 0.5]}, "one number for each of 3 data sets, got 2"),
        ({"probabilities": [0.5, 0.5, 0.5]}, "`probabilities`"),
        ({"probabilities": [[1, 0, 0], [0, 0, 0.5]]}, "`probabilities`"),
        ({"natures": [0.5, 0.5]}, "one number for each of 1 lists"),
        ({"probabilities": [[1, 0, 0]] * 2, "natures": [0.5, 0.6]}, "`natures`"),
        ({"probabilities": [[1, 0, 0]] * 2, "natures": [1.0]}, "each of 2 lists"),
    ],
)
def test_probabilities_fit_the_data_sets_and_sum_to_one(options, says):
    with pytest.raises(InputError, match=says):
        Finite(SETS, **options)


def test_fresh_data_sets_are_of_the_same_nature(within):
    """The first nature has the first data set alone; the second one of the others."""
    world = Finite(SETS, [[1, 0, 0], [0, 0.25, 0.75]], [0.2, 0.8])
    rng = np.random.default_rng(1)
    draw = world.draw(20_000, rng)
    fresh = world.fresh(draw, rng)
    first = (draw.data == SETS[0]).all(axis=1)
    np.testing.assert_array_equal(first, draw.nature == 0)
    np.testing.assert_array_equal(first, (fresh == SETS[0]).all(axis=1))
    assert within(int(first.sum()), 20_000, 0.2)
    rest = fresh[~first]
    assert within(int((rest == SETS[2]).all(axis=1).sum()), len(rest), 0.75)
    assert (draw.data[~first] != rest).any()


def test_written_out_it_is_what_was_given():
    written = Finite(SETS, [[1, 0, 0], [0, 0.25, 0.75]], [0.2, 0.8]).enumerate()
    assert written.data.tolist() == SETS
    assert written.weight.tolist() == [0.2, 0.8]
    assert written.sample.tolist() == written.fresh.tolist() == [[1, 0, 0], [0, 0.25, 0.75]]
    assert written.known.tolist() == [0, 0]


def test_the_function_is_called_once_a_trial_and_again_for_fresh_data():
    world = OwnWorld(lambda rng: rng.integers(0, 100, 3))
    rng = np.random.default_rng(1)
    draw = world.draw(4, rng)
    assert draw.data.shape == (4, 3)
    assert draw.nature is None
    assert len({tuple(row) for row in draw.data}) == 4
    assert not (world.fresh(draw, rng) == draw.data).all()


def test_what_the_function_raises_names_it():
    def broken(rng):
        raise KeyError("oh")

    with pytest.raises(InputError, match="the world `broken` raised KeyError: 'oh'"):
        OwnWorld(broken).draw(1, np.random.default_rng(0))


def test_neighbours_list_every_pair_once():
    world = Neighbours(2, 3)
    assert (RandomNeighbours(2, 3).pairs.sets == world.pairs.sets).all()
    assert len(world.members) == len(world.pairs.sets)
    assert len(world.pairs.sets) == 9 * 2 * 2 // 2
    for a, b in world.pairs.sets:
        assert (a != b).sum() == 1
    with pytest.raises(InputError, match="4096"):
        Neighbours(20, 2)
    with pytest.raises(TooLargeError, match="2,304 pairs"):
        RandomNeighbours(9).enumerate()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n".join(f"{i % 3},{i % 2}" for i in range(30)) + "\n")
    return read_table(str(path))


def test_people_are_drawn_by_the_prior_one_data_set_after_the_other(table):
    prior = fit_independent(table)
    world = People(prior, 7)
    assert isinstance(world, World)
    rng = np.random.default_rng(3)
    expected = [prior.sample(7, rng=rng) for _ in range(4)]
    draw = world.draw(4, np.random.default_rng(3))
    np.testing.assert_array_equal(draw.data, expected)
    assert draw.nature is None
    fresh = world.fresh(draw, np.random.default_rng(4))
    assert fresh.shape == (4, 7, 2)
    assert (fresh != draw.data).any()


def test_real_rows_are_rows_of_the_table_each_at_most_once(table):
    codes = np.stack([np.arange(30), np.arange(30) * 2], axis=1)
    world = RealRows(codes, 20)
    data = world.draw(5, np.random.default_rng(1)).data
    assert data.shape == (5, 20, 2)
    np.testing.assert_array_equal(data[..., 1], 2 * data[..., 0])
    for people in data:
        assert len(set(people[:, 0])) == 20
    assert (data[0] != data[1]).any()
    assert sorted(RealRows(codes, 30).draw(1, np.random.default_rng(1)).data[0, :, 0]) == list(
        range(30)
    )


def test_counted_rows_are_drawn_as_if_each_stood_there():
    """The same draws as from all rows one below the other, and each row at most once."""
    records = np.array([[0, 5], [1, 5], [2, 7]], dtype=np.uint8)
    counts = np.array([4, 1, 7])
    world = RealRows(records, 9, counts)
    every = RealRows(np.repeat(records, counts, axis=0), 9)
    drawn = world.draw(50, np.random.default_rng(1)).data
    assert drawn.dtype == np.int32
    np.testing.assert_array_equal(drawn, every.draw(50, np.random.default_rng(1)).data)
    fresh = world.fresh(world.draw(1, np.random.default_rng(2)), np.random.default_rng(3))
    assert fresh.shape == (1, 9, 2)
    times = (drawn[..., 0, None] == [0, 1, 2]).sum(axis=1)
    assert (times <= counts).all()
    # multivariate hypergeometric: the mean is n counts / rows
    assert np.abs(times.mean(axis=0) - 9 * counts / 12).max() < 0.5


def test_few_of_very_many_are_drawn_in_no_time():
    world = RealRows(np.arange(3)[:, None], 5, np.array([10**11, 1, 10**11]))
    assert world.draw(2, np.random.default_rng(1)).data.shape == (2, 5, 1)


def test_all_rows_stand_as_in_the_table():
    """Nothing is drawn: who comes first is nobody's luck, and the generator is left as it was."""
    codes, rng = np.arange(12).reshape(6, 2), np.random.default_rng(1)
    data = RealRows(codes, 6).draw(3, rng).data
    assert data.shape == (3, 6, 2)
    assert (data == codes).all()
    assert rng.random() == np.random.default_rng(1).random()


PRIOR = [0.5, 0.3, 0.2, 0.0]


def test_draws_follow_the_prior():
    world, rng, trials = Secret(PRIOR), np.random.default_rng(1), 20_000
    draw = world.draw(trials, rng)
    for drawn in (draw.data, world.fresh(draw, rng)):
        counts = np.bincount(drawn, minlength=4)
        assert counts[3] == 0
        # a false alarm once in a million
        expected = np.array(PRIOR[:3]) * trials
        assert stats.chisquare(counts[:3], expected).pvalue > 1e-6
    assert not np.array_equal(draw.data, world.fresh(draw, rng))


def test_it_is_a_world_that_can_be_written_out():
    world = Secret(PRIOR)
    assert isinstance(world, World)
    assert isinstance(world, Enumerable)
    written = world.enumerate()
    assert written.data.tolist() == [0, 1, 2, 3]
    assert written.sample.tolist() == [PRIOR]
    assert world.count() == 4
    with pytest.raises(InputError, match="prior"):
        Secret([0.5, 0.6])


SPLIT = [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_what_holds_on_average_over_pairs_fails_for_one_of_them():
    """The numbers of the defect: the mixture needs 9/256, the family 1."""
    count = CountingQuery(0.0)
    drawn = profile(Game(RandomNeighbours(8), count, Prefix()), 1.0)
    each = profile(Game(Neighbours(8), count, Prefix()), 1.0)
    assert drawn.delta[0] == pytest.approx(9 / 256)
    assert drawn.member == ("",)
    assert each.delta[0] == pytest.approx(1)
    assert each.member[0].startswith("pair 1, [0, 0, 0, 0, 0, 0, 0, 0] and [1, 0,")
    assert "for each of 1,024 distributions" in str(each)
    assert each.to_dict()["worst"] == list(each.member)


def test_pairs_are_a_family_unless_they_are_drawn():
    listed, drawn = Pairs(SPLIT), Pairs(SPLIT, [0.2, 0.3, 0.5])
    assert len(members(listed)) == 3
    assert members(drawn) == {"": drawn}
    assert members(Pairs(SPLIT[:1])).keys() == {""}
    with pytest.raises(InputError, match="how often to draw each"):
        listed.draw(3, np.random.default_rng(0))
    with pytest.raises(InputError, match="how often to draw each"):
        listed.enumerate()
    assert "on average" in drawn.scope
    assert len(members(Neighbours(3))) == 12
    assert len(members(RandomNeighbours(3))) == 1


def test_a_prior_over_distributions_is_called_an_average_over_them():
    prior = Finite([[0], [1]], [[1.0, 0.0], [0.5, 0.5]], [0.9, 0.1])
    assert prior.scope == "this prior, on average over the 2 natures"
    assert Finite([[0], [1]]).scope == "this one distribution"
    assert "on average" in Superset(2, 3, 4).scope


def test_a_family_may_hold_families_and_equal_parts():
    family = Family([Bits(2), Neighbours(2), Bits(2), Neighbours(2)])
    assert len(family.members) == 2 * (1 + 4)
    assert next(iter(family.members)) == "Bits(n=2, rate=0.5)"
    assert "Bits(n=2, rate=0.5) (part 3)" in family.members
    with pytest.raises(InputError, match="at least one world"):
        Family([])


def test_a_family_that_was_made_has_its_names():
    family = NamedFamily(["a", "b"], [Bits(2), Bits(3)])
    assert members(family) == {"a": Bits(2), "b": Bits(3)}
    for names, parts in (([], []), (["a"], [Bits(2), Bits(3)]), (["a", "a"], [Bits(2), Bits(3)])):
        with pytest.raises(InputError, match="each its own name"):
            NamedFamily(names, parts)
