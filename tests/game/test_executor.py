"""What every executor promises, held against the one that plays in this process."""

import pytest
from threadpoolctl import threadpool_info

from narcissus.errors import NarcissusError
from narcissus.game.executor import Serial, in_order

KEYS = ["3", "1", "2"]


class Backwards(Serial):
    """Ends with the last key first."""

    def play(self, job, keys, observer=None):
        yield from super().play(job, list(keys)[::-1])


def test_each_key_is_given_with_what_came_of_it():
    assert list(Serial().play(int, KEYS)) == [("3", 3), ("1", 1), ("2", 2)]
    assert (Serial().workers, Serial().is_here) == (1, True)


def test_what_ends_in_any_order_is_given_in_that_of_the_keys():
    assert [key for key, _ in Backwards().play(int, KEYS)] == KEYS[::-1]
    assert list(in_order(Backwards(), int, KEYS)) == [3, 1, 2]


def test_nothing_is_played_before_it_is_asked_for():
    asked = []
    looking = in_order(Serial(), asked.append, KEYS)
    assert asked == []
    next(looking)
    assert asked == ["3"]


def test_linear_algebra_has_one_thread():
    import scipy.linalg  # noqa: F401

    [(_, most)] = Serial().play(lambda _: max(i["num_threads"] for i in threadpool_info()), ["0"])
    assert most == 1


@pytest.mark.parametrize(
    ("raised", "error", "says"),
    [
        (MemoryError(), NarcissusError, r"memory ran out in trial 0 \(MemoryError\)"),
        (SystemExit(0), NarcissusError, r"sys.exit\(0\) was called in trial 0"),
        (KeyError("x"), KeyError, "x"),
    ],
)
def test_what_a_job_raises_is_raised_with_its_key(raised, error, says):
    def job(key):
        raise raised

    with pytest.raises(error, match=says) as caught:
        list(Serial().play(job, ["0"]))
    assert error is NarcissusError or caught.value.__notes__ == ["in trial 0"]
