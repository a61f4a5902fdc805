"""Questions about bits: how many places are as asked."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms.patterns_asked import WRITTEN, agreeing, all_patterns, bits_of, pattern


def test_places_that_agree_are_counted():
    bits = bits_of(np.array([[0, 1, 1], [1, 1, 0], [0, 0, 0]], dtype=np.uint8))
    for asked in all_patterns(3):
        right = [sum((b == 1 and a == 1) or (b == 0 and a == -1) for b, a in zip(row, asked))
                 for row in bits.tolist()]  # fmt: skip
        assert agreeing(bits, pattern(asked, 3)).tolist() == right


def test_one_record_changes_a_count_by_one_at_most():
    bits = bits_of(np.array([[0, 1, 1], [1, 1, 1]]))
    changes = {int(np.ptp(agreeing(bits, pattern(asked, 3)))) for asked in all_patterns(3)}
    assert changes == {0, 1}


def test_every_question_is_listed_once_but_the_empty_one():
    for n in range(1, WRITTEN + 1):
        found = all_patterns(n)
        assert len(found) == len(set(found)) == 3**n - 1
        assert (0,) * n not in found
    with pytest.raises(InputError, match="about 5 bits are not written out"):
        all_patterns(WRITTEN + 1)


@pytest.mark.parametrize("question", [[1, 0], [1, 0, 2], [1.0, 0, 0], "101", None, [[1, 0, 1]]])
def test_what_is_no_question_is_refused(question):
    with pytest.raises(InputError, match="a list of 3 numbers"):
        pattern(question, 3)


@pytest.mark.parametrize("data", [[[0, 2]], [[-1, 0]], [[0.5, 0]]])
def test_data_that_is_not_made_of_bits_is_refused(data):
    with pytest.raises(InputError, match="must be 0 or 1"):
        bits_of(np.array(data))
