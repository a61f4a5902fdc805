"""A game that is interrupted, continued, played by several workers: the same numbers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import narcissus
from narcissus import run
from narcissus.errors import StoreError


def load_study(path):
    return narcissus.load_study(path, allow_code=True)


MINE = """
import time
import numpy as np

def world(rng):
    return rng.integers(0, 2, 4)

def attack(release, known, rng):
    if {pause}:
        time.sleep({pause})
        with open("played", "a") as file:
            file.write(".")
    if rng.random() < 0.01:
        raise ValueError("bad luck")
    return release if rng.random() < {right} else 1 - release
"""

STUDY = """
kind = "game"
[world]
name = "mine:world"
[mechanism]
name = "identity"
[success]
name = "prefix"
[[attack]]
name = "mine:attack"
[statement]
name = "narcissus"
epsilon = 0.0
delta = {delta}
[run]
trials = {trials}
seed = 5
stop = {stop}
"""


@pytest.fixture
def game(tmp_path, monkeypatch):
    """Give a function that writes a game of one's own parts into a folder."""
    monkeypatch.chdir(tmp_path)

    def write(folder=".", *, pause=0.0, right=0.5, delta=0.1, trials=3200, stop="true"):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "mine.py").write_text(MINE.format(pause=pause, right=right))
        path = place / "s.toml"
        path.write_text(STUDY.format(delta=delta, trials=trials, stop=stop))
        return path

    return write


def digest(folder="out"):
    return json.loads((Path(folder) / "record.json").read_text())["digest"]


def command(path, *options):
    return [
        sys.executable,
        "-m",
        "narcissus",
        "audit",
        str(path),
        "--allow-code",
        *map(str, options),
    ]


@pytest.mark.parametrize("delta", [0.1, 0.44], ids=["at once", "late"])
def test_workers_do_not_change_a_digit_nor_the_decision(game, delta):
    """Batches are looked at in order: the run stops at the same trial."""
    study = load_study(game(delta=delta, right=0.55))
    plain = run(study)
    assert plain.results["outcome"] == "violates"
    assert plain.results["attackers"][0]["failed"] > 0
    # "late" must pass some batches, and end before the last one.
    assert plain.results["trials"] < 3200
    assert delta == 0.1 or plain.results["trials"] > 500
    two = run(study, workers=2, folder="two")
    assert two.record.to_json() == plain.record.to_json()
    # Once more, all out of the store.
    assert run(study, folder="two").record.digest == plain.record.digest


@pytest.mark.skipif(os.name != "posix", reason="sends signals to groups")
@pytest.mark.parametrize(
    ("how", "workers"),
    [pytest.param(signal.SIGKILL, 2, marks=pytest.mark.nightly), (signal.SIGINT, 1)],
)
def test_killed_and_continued(game, how, workers):
    """kill -9 and Ctrl-C in the middle: the rest is played, and nothing changes."""
    path = game(pause=0.001, delta=0.9, trials=2400)
    options = ["--out", "out", "--workers", workers]
    process = subprocess.Popen(
        command(path, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    played = Path("played")
    deadline = time.monotonic() + 60
    # Five batches of 500, after 611 trials that were timed; so many, and at least one batch is
    # stored and one is not.
    while time.monotonic() < deadline and not (played.exists() and played.stat().st_size > 1911):
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    if how == signal.SIGKILL:
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == ""
    assert not Path("out/record.json").exists()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted; continue with: narcissus audit" in err
        assert "Traceback" not in err
    again = subprocess.run(
        command(path, *options), check=False, capture_output=True, text=True, timeout=120
    )
    assert again.returncode == 3, again.stderr
    kept, _, rest = again.stderr.split("continuing: ")[1].partition(" of ")
    assert 1 <= int(kept) < int(rest.split()[0])
    assert digest() == run(load_study(path)).record.digest


def test_more_trials_keep_the_finished_ones(game):
    heard = []

    class Hears:
        def start(self, what, total, done=0): ...
        def advance(self, steps=1): ...
        def finish(self): ...
        def note(self, message):
            heard.append(message)

    run(load_study(game(delta=0.9, trials=1200)), folder="out")
    longer = load_study(game(delta=0.8, trials=1600))
    again = run(longer, folder="out", observer=Hears())
    # 500 + 500 + 200 became 500 + 500 + 500 + 100: the statement is no part of a trial.
    assert heard == ["continuing: 2 of 4 batches were already played"]
    assert again.record.digest == run(longer).record.digest


def test_another_game_or_changed_code_is_refused(game):
    path = game(delta=0.9, trials=500)
    first = run(load_study(path), folder="out").record.digest
    other = load_study(game("other", right=0.6, delta=0.9, trials=500))
    with pytest.raises(StoreError, match=r"another study \(different: own code\).*--restart"):
        run(other, folder="out")
    with pytest.raises(StoreError, match="different: seed"):
        run(load_study(path), folder="out", rng=6)
    text = path.read_text()
    path.write_text(text.replace('"prefix"', '"pinned"\nk = 1'))
    with pytest.raises(StoreError, match="different: success"):
        run(load_study(path), folder="out")
    path.write_text(text)
    assert run(load_study(path), folder="out").record.digest == first
    assert run(other, folder="out", restart=True).record.digest == run(other).record.digest


def test_objects_of_shipped_classes_count_with_the_file_that_makes_them(game, tmp_path):
    """Their class is in the package; what they were made with is in the user's file."""
    from narcissus.study.game.kind import identity_of

    found = []
    for number, size in enumerate((4, 5)):
        path = game(str(number))
        with (path.parent / "mine.py").open("a") as file:
            file.write(f"\nfrom narcissus.worlds import Bits\nbits = Bits({size})\n")
        path.write_text(path.read_text().replace("mine:world", "mine:bits"))
        study = load_study(path)
        with study.code.in_use():
            found.append(identity_of(study.settings, study.folder, 0)["own code"]["mine"])
    assert len(set(found)) == 2
