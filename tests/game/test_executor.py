"""What every executor promises, held against the one that plays in this process."""

import pytest
from threadpoolctl import threadpool_info

from narcissus.errors import NarcissusError
from narcissus.game import executor
from narcissus.game.executor import KeyLostError, Serial, in_order, soon

KEYS = ["3", "1", "2"]


class Backwards(Serial):
    """Ends with the last key first."""

    def __init__(self):
        self.keys = []

    def play(self, job, keys, observer=None):
        self.keys += keys
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


@pytest.mark.parametrize(("worth", "sent"), [(-1.0, ["1", "2"]), (60.0, [])])
def test_only_what_takes_long_is_sent_and_what_came_of_it_is_the_same(monkeypatch, worth, sent):
    monkeypatch.setattr(executor, "WORTH_SENDING", worth)
    others = Backwards()
    assert list(soon(others, int, KEYS)) == [3, 1, 2]
    assert others.keys == sent
    assert list(soon(others, int, [])) == []


def test_the_time_of_who_looks_is_not_that_of_the_job(monkeypatch):
    clock = iter([0.0, 0.1, 1000.0])
    monkeypatch.setattr(executor.time, "perf_counter", lambda: next(clock))
    others = Backwards()
    looking = soon(others, int, KEYS)
    assert [next(looking), *looking] == [3, 1, 2]
    assert others.keys == []


def test_a_lost_key_is_named():
    error = KeyLostError("workers ended", ["3", "1"])
    assert (str(error), error.keys) == ("workers ended", ("3", "1"))
    assert isinstance(error, NarcissusError)


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
