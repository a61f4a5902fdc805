"""What is done with an estimate, and how what does not end is timed."""

import threading

import pytest

from narcissus.errors import LongWorkError
from narcissus.observer import SILENT, SilentObserver
from narcissus.study import work
from narcissus.study.engines import play_apart


class Hearer(SilentObserver):
    def __init__(self):
        self.heard = []

    def note(self, message):
        self.heard.append(message)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "5 seconds"), (119, "119 seconds"), (120, "2 minutes"), (7200, "2 hours"),
     (86_400 * 3, "3 days"), (1e12, "3.17e+04 years")],
)  # fmt: skip
def test_times_in_words(seconds, words):
    assert work.in_words(seconds) == words


def test_what_is_agreed_to_is_said_and_what_is_not_is_refused():
    hearer = Hearer()
    work.agree(59.0, "little", hours=1.0, observer=hearer)
    assert hearer.heard == []
    work.agree(3599.0, "some", hours=1.0, observer=hearer)
    work.agree(1e9, "much", hours=None, observer=hearer)
    assert hearer.heard == ["about 60 minutes of work: some", "about 31.7 years of work: much"]
    with pytest.raises(LongWorkError, match=r"this is about 2 hours of work: more\. .*--yes"):
        work.agree(7200.0, "more", hours=1.0, observer=hearer)


def test_a_measurement_is_taken_elsewhere_and_ended_in_time(monkeypatch):
    import os
    import time

    assert work.timed(os.getpid, "it", hours=1.0, observer=SILENT) != os.getpid()
    monkeypatch.setattr(work, "PATIENCE", 2.0)
    begun = time.monotonic()
    with pytest.raises(LongWorkError, match="it has not ended after 2 seconds"):
        work.timed(lambda: time.sleep(600), "it", hours=1.0, observer=SILENT)
    hearer = Hearer()
    assert work.timed(lambda: time.sleep(600), "it", hours=None, observer=hearer) is None
    assert "not known" in hearer.heard[0]
    assert time.monotonic() - begun < 60


def test_what_cannot_be_sent_elsewhere_is_measured_here():
    lock = threading.Lock()  # cannot be pickled

    def measure():
        with lock:
            return threading.get_ident()

    assert work.timed(measure, "it", hours=1.0, observer=SILENT) == threading.get_ident()


def test_what_goes_wrong_elsewhere_is_raised_here():
    def fails():
        raise ZeroDivisionError("a reason")

    with pytest.raises(ZeroDivisionError, match="a reason"):
        work.timed(fails, "it", hours=1.0, observer=SILENT)
    assert not [t for t in threading.enumerate() if t.name == "worker's attendant"]


def test_a_process_that_is_killed_is_replaced():
    import cloudpickle

    def once(_):
        import os
        from pathlib import Path

        flag = Path("killed")
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), 9)
        return 7

    hearer = Hearer()
    assert play_apart(cloudpickle.dumps(once), "0/0", seconds=60.0, observer=hearer) == 7
    assert "is played again" in hearer.heard[0]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
