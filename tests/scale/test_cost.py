"""How long it takes is reckoned from a few trials; what prepares itself is paid for once."""

from types import SimpleNamespace

import pytest

from narcissus.scale import sweep
from narcissus.study import load_study


@pytest.fixture
def clock(monkeypatch):
    """Give a clock that a played trial moves by a second, and preparing by ten."""
    now = [0.0]

    def play(game, attacks, statement, *, trials, **_):
        now[0] += 10 + trials

    monkeypatch.setattr(sweep, "play", play)
    monkeypatch.setattr(sweep, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return now


def test_trials_are_counted_and_preparing_once(clock, rows):
    assert sweep.seconds_of(load_study(rows)) == pytest.approx(10 + 400)
    assert clock[0] == 11 + 20  # one trial, then ten: enough to tell


def test_one_trial_is_what_it_took(clock, rows):
    assert sweep.seconds_of(load_study({**rows, "run": {"trials": 1}})) == 11


def test_without_an_attack_there_are_no_trials(halves):
    assert sweep.seconds_of(load_study(halves)) == 0


def test_a_game_that_cannot_be_played_takes_no_time(rows):
    study = {**rows, "attack": [{"name": "try-inputs"}], "world": {"name": "bits", "n": 3}}
    study["attack"] = [{"name": "seed-search"}]  # of another mechanism
    assert sweep.seconds_of(load_study(study)) == 0
