"""People drawn from a prior, and rows of a table."""

import numpy as np
import pytest

from narcissus.priors import fit_independent
from narcissus.tables import read_table
from narcissus.worlds import People, RealRows, World


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
