"""A relation that the user wrote: what counts as true or false, what is refused by name."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.success.relations import Own

RNG = np.random.default_rng(0)
DATA = np.array([[0], [1], [2]])


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        (True, True),
        (False, False),
        (np.True_, True),
        (np.False_, False),
        (1, True),
        (0, False),
        (np.int8(1), True),
        (np.array(True), True),
        (np.array(0), False),
    ],
)
def test_what_is_true_or_false(answer, held):
    assert Own(lambda data, attempt: answer).holds(DATA, [1, 2, 3], RNG).tolist() == [held] * 3


@pytest.mark.parametrize(
    "answer",
    [2, -1, 1.0, "yes", None, np.int8(2), np.float64(1), np.array([True]), np.array(2), []],
)
def test_anything_else_is_refused(answer):
    def mine(data, attempt):
        return answer

    with pytest.raises(
        InputError, match=r"the relation `mine` must return true or false.*\(attempt 7"
    ):
        Own(mine).holds(DATA, [7, 8, 9], RNG)


def test_each_data_set_meets_its_own_attempt_and_none_is_no_attempt():
    relation = Own(lambda data, attempt: int(data[0]) == attempt)
    assert relation.holds(DATA, [0, None, 5], RNG).tolist() == [True, False, False]
    with pytest.raises(ValueError, match="shorter"):
        relation.holds(DATA, [0, 1], RNG)


def test_what_the_function_raises_names_it():
    class Broken:
        def __call__(self, data, attempt):
            raise KeyError("lost")

    with pytest.raises(
        InputError, match=r"the relation `Broken` raised KeyError: 'lost' \(attempt 3\)"
    ):
        Own(Broken()).holds(DATA, [3, 3, 3], RNG)


def test_an_exact_answer_needs_the_attempts():
    assert Own(lambda data, attempt: True, (4, 5)).guesses(DATA) == [4, 5]
    with pytest.raises(InputError, match="needs the list of all attempts"):
        Own(lambda data, attempt: True).guesses(DATA)
