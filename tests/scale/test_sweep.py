"""A sweep plays a study at each value, keeps what is finished, and says what failed."""

import json
from types import SimpleNamespace

import pytest

from narcissus.errors import InputError, LongWorkError
from narcissus.observer import SilentObserver
from narcissus.scale import Parameter, Sweep, scale, sweep
from narcissus.scale import sweep as room
from narcissus.scale.fit import EVERYBODY
from narcissus.study import load_study

OVER = Parameter("world.n", (2, 4, 6))
LENGTHS = Parameter("success.length", (1, 2, 3))


class Heard(SilentObserver):
    def __init__(self):
        self.notes, self.steps, self.total, self.done = [], 0, None, None

    def note(self, message):
        self.notes.append(message)

    def start(self, what, total, done=0):
        assert self.total is None, "one stage for all values"
        self.total, self.done = total, done

    def advance(self, steps=1):
        self.steps += steps


def gains(scaled):
    return [p.value for c in scaled.curves if c.whose == EVERYBODY for p in c.points
            if c.quantity == "gain"]  # fmt: skip


def test_every_attacker_is_covered_where_the_game_is_small(halves):
    scaled = scale(halves, Sweep(OVER, (LENGTHS,)))
    assert gains(scaled) == pytest.approx([0.5, 0.75, 0.875])
    assert (scaled.title, scaled.name) == ("Halves", "world.n")


def test_a_finished_value_is_not_played_again(rows, tmp_path, monkeypatch):
    sweep = Sweep(Parameter("success.k", (1, 2)), trials=200)
    first = scale(rows, sweep, folder=tmp_path, rng=3)
    played = []

    def counting(study, **keys):
        played.append(study)
        return run(study, **keys)

    run = room.run
    monkeypatch.setattr(room, "run", counting)
    heard = Heard()
    again = scale(rows, sweep, folder=tmp_path, rng=3, observer=heard)
    assert not played
    assert again.curves == first.curves
    assert heard.notes == ["all 2 values of success.k were played earlier"]
    assert heard.total == heard.done == 400
    # one that is damaged, of another seed, confidence or number of trials is played anew
    record = tmp_path / "values" / "2" / "record.json"
    record.write_text(record.read_text().replace('"title": "', '"title": "x'))
    assert scale(rows, sweep, folder=tmp_path, rng=3).curves == first.curves
    assert len(played) == 1
    other = scale(rows, sweep, folder=tmp_path, rng=4, restart=True)
    assert len(played) == 3
    assert other.curves != first.curves
    scale(rows, Sweep(sweep.over, (), 200, 0.9), folder=tmp_path, rng=4)
    assert len(played) == 5


def test_a_wider_sweep_plays_what_is_new_and_shares_the_level(rows, tmp_path):
    sweep = Sweep(Parameter("success.k", (1, 2)), trials=100)
    scale(rows, sweep, folder=tmp_path, rng=3)
    wider = scale(
        rows, Sweep(Parameter("success.k", (1, 2, 3)), trials=100), folder=tmp_path, rng=3
    )
    levels = {one.results.confidence for one in wider.each}
    assert levels == {1 - (1 - 0.95) / 6}


def test_seeds_repeat_a_sweep(rows):
    sweep = Sweep(Parameter("success.k", (1, 2)), trials=200)
    assert scale(rows, sweep, rng=7).curves == scale(rows, sweep, rng=7).curves
    assert scale(rows, sweep, rng=7).curves != scale(rows, sweep, rng=8).curves


def test_progress_is_one_stage(rows):
    heard = Heard()
    scale(rows, Sweep(Parameter("success.k", (1, 2, 3)), trials=100), rng=1, observer=heard)
    assert (heard.total, heard.done, heard.steps) == (300, 0, 300)
    assert heard.notes[0].startswith("about ")
    assert heard.notes[0].endswith("of trials: 3 values of success.k")


def test_what_takes_longer_than_was_agreed_to_is_refused(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "seconds_of", lambda _: 3600.0)
    sweep = Sweep(Parameter("success.k", (1, 2)))
    with pytest.raises(LongWorkError, match=r"2 hours of work: 2 values .* fewer --trials"):
        scale(rows, sweep, folder=tmp_path, hours=1.0)
    assert not list(tmp_path.iterdir())
    with pytest.raises(LongWorkError, match="about 60 minutes"):
        scale(rows, sweep, hours=0.9, workers=2)


def test_a_value_that_cannot_be_played_does_not_stop_the_others(halves):
    study = {**halves, "exact": {"when": "required", "limit": 20}}
    scaled = scale(study, Sweep(OVER, (LENGTHS,)))
    assert [one.record is not None for one in scaled.each] == [True, True, False]
    assert "20" in scaled.each[2].failed
    assert len(gains(scaled)) == 2
    with pytest.raises(InputError, match=r"no value of world\.n could be played: "):
        scale({**study, "exact": {"when": "required", "limit": 1}}, Sweep(OVER, (LENGTHS,)))


def test_records_are_whole(rows, tmp_path):
    scale(rows, Sweep(Parameter("success.k", (1, 2)), trials=50), folder=tmp_path, rng=1)
    record = json.loads((tmp_path / "values" / "2" / "record.json").read_text())
    assert record["study"]["success"]["k"] == 2
    assert (tmp_path / "values" / "2" / "report.html").exists()


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
