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


def test_all_rows_stand_as_in_the_table():
    """Nothing is drawn: who comes first is nobody's luck, and the generator is left as it was."""
    codes, rng = np.arange(12).reshape(6, 2), np.random.default_rng(1)
    data = RealRows(codes, 6).draw(3, rng).data
    assert data.shape == (3, 6, 2)
    assert (data == codes).all()
    assert rng.random() == np.random.default_rng(1).random()
