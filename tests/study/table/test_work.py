"""Work is estimated before it starts: refused where it cannot fit, agreed to where it is long."""

import re
import time
from pathlib import Path

import pytest

import narcissus
from narcissus.errors import LongWorkError, TooLargeError
from narcissus.game.executor import Serial
from narcissus.observer import SilentObserver
from narcissus.study.table import work
from narcissus.study.table.prepare import prepare


def ready(path):
    return prepare(narcissus.load_study(path).settings, path.parent, 1)


def test_a_study_that_would_never_end_is_told_before_it_starts(study, narcissus):
    """A trillion gradient steps: a few are timed, not all of the first trial."""
    path = study(attacks={"rap": {"steps": 10**12, "starts": 1000}}, run={"trials": 1000})
    code, out, err = narcissus("audit", path, "--quiet")
    assert (code, out) == (2, "")
    assert "years of work: 1,000 trials" in err
    assert "--yes" in err
    assert not Path("results").exists()


def test_yes_starts_what_takes_long(study, narcissus, monkeypatch):
    monkeypatch.setattr("narcissus.cli.playing.HOURS", 1e-9)
    path = study()
    assert narcissus("audit", path, "--quiet")[0] == 2
    assert not Path("results").exists()
    assert narcissus("audit", path, "--quiet", "--yes")[0] == 0
    # finished: nothing is left to be agreed to
    assert narcissus("audit", path, "--quiet")[0] == 0


def test_in_python_nothing_is_asked_unless_wished(study):
    loaded = narcissus.load_study(study())
    narcissus.run(loaded)
    with pytest.raises(LongWorkError, match=r"6 trials of .* s each, in 1 processes"):
        narcissus.run(loaded, hours=0.0)


def test_what_does_not_fit_is_refused(study, monkeypatch):
    loaded = narcissus.load_study(study())
    monkeypatch.setattr(work, "machine_memory", lambda: 10**8)
    with pytest.raises(TooLargeError, match=r"about 0.3 GB of memory .* there are 0.1 GB"):
        narcissus.run(loaded)


def test_the_trials_that_are_kept_count(study, monkeypatch):
    experiment = ready(study(run={"trials": 1_000_000}))
    one = work.estimate(experiment, experiment.keys()[:10]).kept
    assert one > 1_000_000 * 100
    monkeypatch.setattr(work, "machine_memory", lambda: 3 * 10**8)
    with pytest.raises(TooLargeError, match="GB of finished trials"):
        narcissus.run(narcissus.load_study(study(run={"trials": 1_000_000})))


@pytest.mark.parametrize("few", [1, 3, 6])
def test_the_estimate_follows_the_trials_of_each_attack(study, monkeypatch, few):
    """With a clock that counts one second for a trial and ten for each of its attacks."""
    spec = {"prior": {}, "posterior": {"trials": few}, "rap": {"steps": 500, "trials": few}}
    experiment = ready(study(attacks=spec))
    played = []

    def timed(one, key):
        assert key == experiment.keys()[-1]
        played.append([(name, attack) for name, attack, _ in one.attacks])
        return 1.0 + 10.0 * len(one.attacks), 100

    monkeypatch.setattr(work, "_timed", timed)
    found = work.estimate(experiment, experiment.keys())
    assert found.trials == 6
    assert found.seconds == 6 * 1.0 + 6 * 10.0 + few * 10.0 + few * 10.0 * (500 / 100)
    assert found.kept == 600
    assert [len(attacks) for attacks in played] == [0, 1, 1, 1]
    assert played[-1][0][1].steps == 100


SLEEPS = """
import time
class Mine:
    title, uses, informed = "mine", "prior", False
    def guess(self, view, *, rng):
        open("begun", "a").close()
        time.sleep(3600)
"""


def test_a_trial_that_does_not_end_is_not_waited_for(study, narcissus, monkeypatch):
    monkeypatch.setattr("narcissus.study.work.PATIENCE", 12.0)
    Path("mine.py").write_text(SLEEPS)
    path = study(attacks={"mine": {"kind": "mine:Mine"}})
    begun = time.monotonic()
    code, out, err = narcissus("audit", path, "--quiet", "--allow-code")
    assert time.monotonic() - begun < 60
    assert (code, out) == (2, "")
    assert "the first trial has not ended after 12 seconds" in err
    assert "--yes" in err
    assert Path("begun").exists()
    assert not Path("results").exists()


def test_own_code_is_timed_where_it_can_be_ended(study, narcissus, monkeypatch):
    """And what it takes is what a trial takes, not what starting a process does."""
    Path("mine.py").write_text(
        SLEEPS.replace("time.sleep(3600)", "return rng.integers(0, 2, view.targets.people)")
    )
    monkeypatch.setattr("narcissus.cli.playing.HOURS", 1e-9)
    path = study(attacks={"mine": {"kind": "mine:Mine"}})
    code, _, err = narcissus("audit", path, "--quiet", "--allow-code")
    assert code == 2
    found = re.search(r"6 trials of (\S+) s each, in 1 processes", err)
    assert 0 < float(found[1]) < 0.3


def test_nobody_is_asked_where_any_time_was_agreed_to(study, monkeypatch):
    experiment = ready(study())
    monkeypatch.setattr(work, "PATIENCE_WITH_LARGE", 0.0)
    monkeypatch.setattr(work, "SMALL", 0)
    heard = []

    class Hearer(SilentObserver):
        def note(self, message):
            heard.append(message)

    work.check(experiment, experiment.keys(), executor=Serial(), hours=None, observer=Hearer())
    assert heard == [
        f"a trial of {experiment.targets} people is timed first",
        "the first trial has not ended after 0 seconds: how long the study takes is not known",
    ]


@pytest.mark.parametrize(
    ("people", "first"), [({"targets": 20}, 3), ({"people": "all", "targets": None}, 2)]
)
def test_what_is_worked_out_once_is_not_counted_for_every_trial(study, monkeypatch, people, first):
    """The first trial takes ten seconds; with the same people the next takes one.

    Three trials at two settings: people who are drawn are new three times; what is proved of the
    whole table is new at each setting.
    """
    path = study(
        threat=people, mechanism={"epsilon": [1, 2]}, attacks={"prior": {}}, run={"trials": 3}
    )
    experiment = ready(path)
    played = []

    def timed(one, key):
        played.append((len(one.attacks), key))
        return (1.0 if len(played) == 2 else 10.0), 100

    monkeypatch.setattr(work, "_timed", timed)
    found = work.estimate(experiment, experiment.keys())
    assert found.seconds == first * 10 + (6 - first) * 1
    again = "2/1" if first == 2 else "2/0"
    assert played == [(0, "2/1"), (0, again), (1, "2/1")]


def test_a_long_trial_is_told(study, monkeypatch):
    heard = []

    class Hearer(SilentObserver):
        def note(self, message):
            heard.append(message)

    experiment = ready(study())
    monkeypatch.setattr(work, "_timed", lambda *_: (90.0, 100))
    work.check(experiment, experiment.keys(), executor=Serial(), hours=None, observer=Hearer())
    assert heard[0].startswith("one trial takes about 90 seconds: a run that is interrupted loses")


def test_a_trial_of_very_many_people_is_timed_where_it_can_be_ended(study, monkeypatch):
    """Ours too: nobody waits longer than it takes to see that it is long."""
    heard, waited = [], []

    class Hearer(SilentObserver):
        def note(self, message):
            heard.append(message)

    def timed(measure, what, patience, **_):
        waited.append(patience)

    monkeypatch.setattr(work, "timed", timed)
    experiment = ready(study(attacks={"prior": {}}))
    work.check(experiment, experiment.keys(), executor=Serial(), hours=1.0, observer=Hearer())
    assert (heard, waited) == ([], [])
    monkeypatch.setattr(work, "SMALL", 1000)
    work.check(experiment, experiment.keys(), executor=Serial(), hours=1.0, observer=Hearer())
    assert waited == [work.PATIENCE_WITH_LARGE]
    assert heard == [f"a trial of {experiment.targets} people is timed first"]
