"""A game's work is told before it is played."""

import re
import time
from pathlib import Path

import pytest

import narcissus
from narcissus.errors import LongWorkError
from narcissus.study.game import kind

GAME = """
kind = "game"
[world]
name = "bits"
n = 4
[mechanism]
name = "identity"
[[attack]]
name = "{attack}"
{options}
[success]
name = "prefix"
[statement]
name = "narcissus"
epsilon = 9.0
[exact]
when = "never"
[run]
trials = {trials}
seed = 1
"""
OWN = """
import time
from narcissus.success.relations.base import Attempts
class Mine:
    def attempt(self, release, known, rng):
        {does}
        return release
"""


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(trials=2000, attack="released-row", options='row = "all"', does="pass"):
        Path("mine.py").write_text(OWN.format(does=does))
        Path("g.toml").write_text(GAME.format(trials=trials, attack=attack, options=options))
        return narcissus.load_study("g.toml", allow_code=True)

    return write


def test_what_takes_long_is_refused_and_started_with_yes(
    game,
):
    loaded = game()
    with pytest.raises(LongWorkError, match=r"at most 2,000 trials of .* s each, in 1 processes"):
        narcissus.run(loaded, hours=0.0, folder="out")
    assert narcissus.run(loaded, hours=None, folder="out").results["trials"] > 0
    # all is in the store: nothing is left to be agreed to
    assert narcissus.run(loaded, hours=0.0, folder="out").results["trials"] > 0


def test_an_agreement_changes_no_number(game):
    loaded = game()
    assert (
        narcissus.run(loaded, hours=1.0).record.digest
        == narcissus.run(loaded, hours=None).record.digest
    )


def test_a_refused_game_leaves_the_folder_to_another_one(game):
    with pytest.raises(LongWorkError):
        narcissus.run(game(), rng=2, hours=0.0, folder="out")
    narcissus.run(game(), rng=3, hours=None, folder="out")


def test_a_trial_of_own_code_that_does_not_end_is_not_waited_for(game, monkeypatch):
    monkeypatch.setattr("narcissus.study.work.PATIENCE", 12.0)
    loaded = game(attack="mine:Mine", options="", does="time.sleep(3600)")
    begun = time.monotonic()
    with pytest.raises(LongWorkError, match="the first trial has not ended after 12 seconds"):
        narcissus.run(loaded, hours=1.0)
    assert time.monotonic() - begun < 60


def test_own_code_is_timed_by_what_a_trial_takes(game):
    loaded = game(trials=10**6, attack="mine:Mine", options="", does="time.sleep(0.05)")
    with pytest.raises(LongWorkError) as refused:
        narcissus.run(loaded, hours=0.01)
    found = re.search(r"1,000,000 trials of (\S+) s each", str(refused.value))
    assert 0.05 / 500 < float(found[1]) < 0.2 / 500  # it is asked for a block at once


def test_blocks_grow_until_time_shows():
    """With a player that takes 0.1 s and 1 ms a trial."""
    played = []

    def player(key):
        played.append(key)
        time.sleep(0.1 + 0.001 * kind.size_of(key))
        return {}

    assert 0.001 < kind.time_of_trial(player, "batch/3/500/1") < 0.0025
    assert played == ["batch/3/1/1", "batch/3/10/1", "batch/3/100/1", "batch/3/500/1"]
    assert kind.size_of("batch/3/500/1") == 500


def test_what_is_paid_once_a_block_is_not_paid_by_each_trial(monkeypatch):
    """Nor is what the very first call pays; a trial that is long by itself is believed."""
    monkeypatch.setattr(kind, "ENOUGH", 0.03)
    monkeypatch.setattr(kind, "LONG", 0.1)
    asked = []

    def player(key):
        count = int(key.split("/")[2])
        asked.append(count)
        time.sleep(0.04 + 0.001 * count)

    assert 0.004 < kind.time_of_trial(player, "batch/3/500/1") < 0.008
    assert asked == [1, 10]
    asked.clear()
    slow = kind.time_of_trial(lambda key: (asked.append(key), time.sleep(0.12)), "batch/3/500/1")
    assert slow >= 0.12
    assert len(asked) == 1
