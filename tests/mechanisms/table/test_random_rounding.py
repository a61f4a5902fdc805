"""Random rounding: its chances add up, have the count as their mean, and are those released."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.mechanisms import Columns, RandomRounding
from narcissus.mechanisms.table.random_rounding import RandomlyRoundedTo

COLUMNS = Columns(("a", "s"), (("0", "1"), ("0", "1")), (False,) * 2, (1,))


@pytest.mark.parametrize("base", [1, 2, 3, 5, 10])
def test_the_chances_are_of_the_two_neighbours_and_unbiased(base):
    counts = np.arange(41.0)
    cells = np.arange(0.0, 60.0)[:, None]
    chance = np.exp(RandomlyRoundedTo(base).log_likelihood(cells, counts))
    np.testing.assert_allclose(chance.sum(axis=0), 1)
    np.testing.assert_allclose((cells * chance).sum(axis=0), counts, atol=1e-12)
    possible = chance > 0
    assert (np.abs(cells - counts)[possible] < base).all()
    assert (np.broadcast_to(cells, possible.shape)[possible] % base == 0).all()


@pytest.mark.coverage_claim
def test_released_cells_have_these_chances():
    """30,000 cells of a count: exact binomial test, false alarm 1e-6 each."""
    prepared = RandomRounding(base=5, k=1).prepare(COLUMNS)
    rng = np.random.default_rng(3)
    people = np.zeros((30_000, 12, 2), dtype=np.int32)
    people[:, :3, 1] = 1
    cells = np.array([r.cells for r in prepared.release(people, rng)])
    rule = prepared.rule
    for place, count in ((0, 9.0), (1, 3.0)):
        values, times = np.unique(cells[:, place], return_counts=True)
        assert values.tolist() == [5 * (count // 5), 5 * (count // 5) + 5]
        chance = np.exp(rule.log_likelihood(values, np.float64(count)))
        assert stats.binomtest(int(times[1]), 30_000, chance[1]).pvalue > 1e-6
    # Cells are drawn independently of each other.
    assert (
        stats.fisher_exact(
            [[np.sum((cells[:, 0] == a) & (cells[:, 1] == b)) for a in (5, 10)] for b in (0, 5)]
        ).pvalue
        > 1e-6
    )
    assert prepared.cellwise
    assert prepared.guarantee is None


def test_it_is_named_and_ordered_by_its_base():
    planned = RandomRounding(base=3.0)
    assert (planned.label, planned.strength) == ("base 3", 3.0)
    assert planned.title == "Randomly rounded 3-way tables"
    assert "without bias" in RandomlyRoundedTo(3).title


def test_a_base_that_is_no_whole_number_is_refused():
    with pytest.raises(InputError, match="`base`"):
        RandomRounding(base=2.5)
