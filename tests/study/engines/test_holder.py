"""A large release split over workers: the same digits whoever holds the parts, and who dies."""

import os
import signal
import time
from contextlib import closing

import pytest

from narcissus.attacks.table import shards as shares
from narcissus.errors import NarcissusError
from narcissus.game.executor import Serial
from narcissus.observer import SilentObserver
from narcissus.study.engines import Processes
from narcissus.study.engines.holder import ByWorkers, SplitReleases, split_if_few


class Counter:
    """What is held: a number, and whose process it is in."""

    def __init__(self, number):
        self.number = number

    def add(self, more):
        self.number += more
        return self.number

    def told(self):
        return self.number

    def where(self):
        return os.getpid()

    def dies_once(self, path):
        """End the process of the first part, the first time."""
        if self.number == 0 and not os.path.exists(path):
            open(path, "x").close()
            os._exit(3)
        return self.add(1)


def counters(number):
    return [lambda n=n: Counter(10 * n) for n in range(number)]


class Notes(SilentObserver):
    def __init__(self):
        self.notes = []

    def note(self, message):
        self.notes.append(message)


@pytest.fixture(scope="module")
def several():
    executor = Processes(2)
    yield executor
    executor.close()


@pytest.fixture(params=["several", "own"])
def workers(request):
    """Two processes of ours, or three workers of Dask's."""
    return request.getfixturevalue(request.param)


@pytest.mark.one_in(2)
def test_parts_stay_with_their_workers_and_are_made_anew_elsewhere(workers, tmp_path):
    notes = Notes()
    held = ByWorkers(workers, notes).hold(counters(5))
    assert held.tell("add", 1) == [1, 11, 21, 31, 41]
    where = held.ask("where")
    assert held.ask("where") == where
    assert len(set(where)) == workers.workers
    assert os.getpid() not in where
    assert not any("made anew" in note for note in notes.notes)
    os.kill(where[0], signal.SIGKILL)
    assert held.ask("told") == [1, 11, 21, 31, 41]
    assert where[0] not in held.ask("where")
    assert any("made anew" in note for note in notes.notes)
    assert held.tell("add", -1) == [0, 10, 20, 30, 40]
    assert held.tell("dies_once", str(tmp_path / "died")) == [1, 11, 21, 31, 41]
    assert (tmp_path / "died").exists()
    assert held.tell("add", 1) == [2, 12, 22, 32, 42]
    until = time.monotonic() + 60
    while len(set(where := held.ask("where"))) < workers.workers and time.monotonic() < until:
        time.sleep(0.1)
    assert len(set(where)) == workers.workers, "workers that come later take parts over"
    assert held.ask("told") == [2, 12, 22, 32, 42]
    held.close()
    other = ByWorkers(workers).hold(counters(2))
    assert other.ask("told") == [0, 10]


class Forgets(Serial):
    """Workers that lose what they hold at once."""

    workers = 2

    def play_at(self, jobs, observer=None):
        return dict.fromkeys(jobs)


def test_parts_that_are_always_lost_end_the_run():
    held = ByWorkers(Forgets()).hold(counters(2))
    with pytest.raises(NarcissusError, match="lose part 1 of the release again and again"):
        held.ask("told")


class KillerInTheMiddle(Notes):
    """An executor's workers, one of which is killed after so many plays."""

    is_here = True

    def __init__(self, executor, after):
        super().__init__()
        self.executor, self.left, self.workers = executor, after, executor.workers

    def play(self, job, keys, observer=None):
        return self.executor.play(job, keys, observer)

    def play_at(self, jobs, observer):
        self.left -= 1
        if self.left == 0:
            [victim] = self.executor.play_at({0: lambda _: os.getpid()}, observer).values()
            os.kill(victim, signal.SIGKILL)
        return self.executor.play_at(jobs, self)

    def close(self):
        self.executor.close()


@pytest.mark.one_in(2)
def test_who_holds_the_parts_does_not_change_a_digit(workers, study, monkeypatch):
    """One trial of a study here, and split over workers, one of them killed in the middle."""
    import narcissus

    monkeypatch.setattr(shares, "TYPES", 12)
    made = narcissus.load_study(study(run={"trials": 1}, mechanism={"epsilon": 1}))
    here = narcissus.run(made, engine="serial")
    killing = KillerInTheMiddle(workers, 5)
    there = narcissus.run(made, engine=killing, observer=killing)
    assert killing.left < 0, "it was split"
    assert any("made anew" in note for note in killing.notes)
    assert here.record.digest == there.record.digest
    assert here.record.to_json() == there.record.to_json()


@pytest.mark.one_in(2)
def test_what_a_part_raises_ends_the_question_and_says_where(workers):
    held = ByWorkers(workers).hold(counters(2))
    with pytest.raises(TypeError) as raised:
        held.tell("add", "one")
    assert any("in part" in note for note in raised.value.__notes__)


@pytest.mark.nightly
def test_few_large_releases_are_split(several):
    n = shares.TYPES + 1
    assert isinstance(split_if_few(several, ["0/0"], n, 2), SplitReleases)
    assert split_if_few(several, ["0/0"], n - 1, 2) is several
    assert split_if_few(several, ["0/0", "1/0"], n, 2) is several
    assert split_if_few(several, [], n, 2) is several
    alone = Serial()
    assert split_if_few(alone, ["0/0"], n, 2) is alone
    with closing(SplitReleases(Serial())) as here:
        assert dict(here.play(int, ["3"])) == {"3": 3}
