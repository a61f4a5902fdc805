"""Work is estimated before it starts: refused where it cannot fit, agreed to where it is long."""

from pathlib import Path

import pytest

import narcissus
from narcissus.errors import LongWorkError, TooLargeError
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
    monkeypatch.setattr("narcissus.cli.audit.HOURS", 1e-9)
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

    def timed(one):
        played.append([(name, attack) for name, attack, _ in one.attacks])
        return 1.0 + 10.0 * len(one.attacks), 100

    monkeypatch.setattr(work, "_timed", timed)
    found = work.estimate(experiment, experiment.keys())
    assert found.trials == 6
    assert found.seconds == 6 * 1.0 + 6 * 10.0 + few * 10.0 + few * 10.0 * (500 / 100)
    assert found.kept == 600
    assert [len(attacks) for attacks in played] == [0, 1, 1, 1]
    assert played[-1][0][1].steps == 100


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "5 seconds"), (119, "119 seconds"), (120, "2 minutes"), (7200, "2 hours"),
     (86_400 * 3, "3 days"), (1e12, "3.17e+04 years")],
)  # fmt: skip
def test_times_in_words(seconds, words):
    assert work._words(seconds) == words
