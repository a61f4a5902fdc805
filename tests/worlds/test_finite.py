"""Lists of data sets, alone or under a prior over such lists."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.worlds import Finite
from narcissus.worlds.finite import data_sets

SETS = [[0, 1], [1, 1], [0, 0]]


def test_without_probabilities_all_are_alike():
    world = Finite(SETS)
    assert world.table == pytest.approx(np.full((1, 3), 1 / 3))
    assert world.weight.tolist() == [1]
    two = Finite(SETS, [[1, 0, 0], [0, 0.5, 0.5]])
    assert two.weight.tolist() == [0.5, 0.5]
    assert world.count() == 3


def test_a_data_set_of_one_number_has_one_record():
    assert data_sets("data", [3, 4]).tolist() == [[3], [4]]
    assert data_sets("data", [[3, 4]]).tolist() == [[3, 4]]


@pytest.mark.parametrize("wrong", [[], 3, [[1], [2, 3]], [None, [1]]])
def test_data_sets_have_one_shape(wrong):
    with pytest.raises(InputError, match="`data` must be"):
        data_sets("data", wrong)


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
