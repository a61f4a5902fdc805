"""What programs may use must fit; what they take is told before."""

from pathlib import Path

import pytest

from narcissus.errors import LongWorkError, TooLargeError
from narcissus.extraction.sandbox import Limits, without_isolation
from narcissus.observer import SILENT
from narcissus.study.extraction_work import check
from narcissus.study.kinds import RunOptions


@pytest.fixture
def checked(tmp_path):
    release = tmp_path / "release"
    release.write_bytes(b"x" * 100)

    def run(program=b"print(1)", runs=60, workers=2, hours=1.0, limits=None):
        options = RunOptions(1, SILENT, hours=hours)
        with without_isolation():
            check(program, release, limits or Limits(), runs, workers=workers, options=options)

    return run


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"workers": 10_000, "runs": 10_000}, "GB of memory"),
        ({"limits": Limits(memory=2**50)}, "GB of memory"),
        ({"limits": Limits(disk=2**50)}, "GB of memory"),
        ({"limits": Limits(output=2**45)}, "GB of memory"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_program_runs(checked, given, says):
    with pytest.raises(TooLargeError, match=says):
        checked(b"open('ran', 'w')", **given)


def test_the_temporary_folder_counts(checked, monkeypatch):
    class Usage:
        free = 2**27

    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage)
    with pytest.raises(TooLargeError, match="space in the temporary folder"):
        checked()


def test_a_program_is_timed_where_its_limit_would_be_too_long(checked):
    checked()  # 60 runs of a minute, two at a time: half an hour at most
    with pytest.raises(LongWorkError, match=r"100,000 runs of \S+ s each, 2 at a time"):
        checked(b"import time; time.sleep(0.5)", runs=100_000, limits=Limits(3600.0, output=100))
    checked(b"print(1)", runs=100, limits=Limits(3600.0), hours=1.0)
    checked(runs=100_000, limits=Limits(1e9, output=100), hours=None)


def test_a_program_that_does_not_end_may_take_all_its_time(checked, monkeypatch):
    monkeypatch.setattr("narcissus.study.extraction_work.PATIENCE", 1.0)
    with pytest.raises(LongWorkError, match=r"about 30 hours of work: 60 runs of 3.6e\+03 s each"):
        checked(b"while True: pass", limits=Limits(3600.0))
    assert not Path("ran").exists()
