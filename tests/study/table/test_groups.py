"""Groups of people: how often the release singles them out."""

import numpy as np

from narcissus.attacks.table import Targets
from narcissus.mechanisms import ChosenQueries, MarginalQueries
from narcissus.study.table.groups import SINGLED, Groups
from narcissus.success import exact_match

CODES = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 0], [1, 2, 1]], dtype=np.int32)


def singled(queries):
    """Give the number of the band of each person."""
    known = CODES * [1, 1, 0]
    targets = Targets(queries, known.astype(np.int32), np.full((4, 2), 0.5), exact_match((2,)))
    groups = Groups(columns=(), unusual=False, singled_out=True)
    masks = groups.masks(CODES, targets, CODES[:, 2].astype(np.int64))
    assert masks.sum() == 4
    assert len(groups.names) == len(SINGLED)
    return masks.argmax(axis=0).tolist()


def test_people_who_share_no_known_part_are_alone():
    """Of [a, s] and [b, s]: the first is alone in half, the last in all, the others in none."""
    assert singled(MarginalQueries((2, 3, 2), (2,), 2)) == [0, 3, 3, 0]
    assert singled(MarginalQueries((2, 3, 2), (2,), 1)) == [3, 3, 3, 3]


def test_only_tables_with_an_unknown_column_count():
    """The first is alone in one of two such tables; those of known columns say nothing."""
    more = ((0, 1),) * 4
    assert singled(ChosenQueries((2, 3, 2), (2,), ((0, 2), (1, 2), *more))) == [0, 3, 3, 0]
