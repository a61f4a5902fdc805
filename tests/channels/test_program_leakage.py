"""A program is run until the answer is narrow enough, and the answer holds then."""

import sys
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels.program_leakage import StopWhen, program_leakage
from narcissus.channels.programs import Program
from narcissus.errors import InputError, LongWorkError

module = import_module("narcissus.channels.program_leakage")

FLIPS = """
import random, sys
random.seed(5)
for line in sys.stdin:
    print(int(line) ^ (random.random() < 0.2), flush=True)
"""
FLIPPED = Program([sys.executable, "-S", "-c", FLIPS], ("0", "1"), given="lines")


class Heard:
    """An observer that keeps what it is told."""

    def __init__(self):
        self.notes = []

    def start(self, *_):
        pass

    advance = finish = start

    def note(self, message):
        self.notes.append(message)


def test_it_runs_until_it_is_narrow_and_goes_on_with_more(tmp_path):
    path, heard = tmp_path / "runs.csv", Heard()
    first = program_leakage(FLIPPED, path=path, stop=StopWhen(0.01, most=450), observer=heard)
    assert first.estimate.samples == 400
    assert "at most 400 runs" in heard.notes[0]
    assert "not as narrow as asked" in str(first)
    stop = StopWhen(0.15, most=4000)
    more = program_leakage(
        FLIPPED, path=path, stop=stop, measures=["shannon-leakage"], observer=heard
    )
    assert 400 < more.estimate.samples < 3200
    assert len(path.read_text().splitlines()) == 1 + more.estimate.samples
    assert "(400 are there already)" in heard.notes[1]
    assert more.slack <= 0.15
    assert more.estimate.beta_star.low < 0.4 < more.estimate.beta_star.high
    told = more.leakage["shannon-leakage"]
    assert told.low < ch.shannon_leakage([[0.8, 0.2], [0.2, 0.8]]) < told.high
    assert told.confidence == 0.95
    assert more.evidence.p_value < 1e-6
    assert {"leakage", "no_leakage", "beta_star", "runs"} <= set(more.to_dict())
    assert "narrow enough" in str(more)


def test_looks_are_at_sizes_that_do_not_depend_on_how_many_runs_are_allowed():
    assert StopWhen(most=450).looks(2) == (200, 400)
    assert StopWhen(most=10_000).looks(2) == (200, 6400)
    assert StopWhen(most=10_000).looks(10) == (500, 8000)
    with pytest.raises(InputError, match="need 500 runs at least"):
        StopWhen(most=400).looks(10)


def test_long_work_is_refused_before_it_starts(tmp_path):
    slow = Program(["sleep", "0.05"], ("a", "b"), given="stdin", observe="time")
    path = tmp_path / "runs.csv"
    with pytest.raises(LongWorkError, match=r"at most 12,800 runs.*ms a run"):
        program_leakage(slow, path=path, stop=StopWhen(hours=0.01))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="folder"):
        program_leakage(slow, path=tmp_path / "no" / "runs.csv")


@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    "repeats", [25, pytest.param(5000, marks=pytest.mark.nightly)], ids=["few", "many"]
)
def test_what_is_said_where_it_stops_covers(tmp_path, monkeypatch, repeats):
    """At 60%: of the last look's limits of all, any wrong in at most .4; false alarm 1e-6."""
    rows = np.array([[0.7, 0.3], [0.4, 0.6]])
    truth = {"beta_star": 0.7, "bayes_risk": 0.35}
    rng, misses = np.random.default_rng(3), dict.fromkeys(truth, 0)

    class Played:
        def __enter__(self):
            return lambda secret: (str(int(rng.random() > rows[int(secret), 0])),)

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(module, "runs", lambda _: Played())
    for turn in range(repeats):
        found = program_leakage(
            FLIPPED, path=tmp_path / f"{turn}.csv", stop=StopWhen(0.3, 0.6, 800), rng=turn,
            estimators=["frequentist"],
        ).estimate  # fmt: skip
        for name, value in truth.items():
            e = getattr(found, name)
            misses[name] += not e.low <= value <= e.high
    assert max(misses.values()) <= stats.binom.isf(1e-6, repeats, 0.4)
