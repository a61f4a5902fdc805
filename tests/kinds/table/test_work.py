"""Work is estimated before it starts: refused where it cannot fit, agreed to where it is long."""

import re
import sys
import time
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import narcissus
import narcissus as package
from narcissus.attacks.table import GibbsSampling, MeanField, PriorGuess
from narcissus.errors import InputError, LongWorkError, StoreError, TooLargeError
from narcissus.game.executor import Serial
from narcissus.kinds.table import work
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.work import (
    ReleasesSentBack,
    is_costly,
    refuse_fixed_seeds,
    with_kept_releases,
)
from narcissus.mechanisms import KeptReleases, MarginalQueries, ProtectedCounts, ReleaseCache
from narcissus.mechanisms.table import kept as module
from narcissus.observer import SilentObserver
from narcissus.study.kinds import RunOptions
from narcissus.study.marks import RELEASES
from narcissus.success import exact_match


def ready(path):
    return prepare(narcissus.load_study(path).settings, path.parent, 1)


def checked(experiment, hours):
    """Check an experiment's work; give what is noted."""
    heard, observer = [], SilentObserver()
    observer.note = heard.append
    options = RunOptions(entropy=1, observer=observer, hours=hours)
    work.check(experiment, experiment.keys(), Serial(), options)
    return heard


def test_a_study_that_would_never_end_is_told_before_it_starts(study, narcissus):
    """Ten billion gradient steps: a few are timed, not all of the first trial."""
    path = study(attacks={"rap": {"steps": 10**7, "starts": 1000}}, run={"trials": 1000})
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
    monkeypatch.setattr(sys.modules["narcissus.kinds.table.kind"], "require_memory", print)
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


@pytest.mark.nightly
def test_a_trial_that_does_not_end_is_not_waited_for(study, narcissus, monkeypatch):
    monkeypatch.setattr("narcissus.study.work.PATIENCE", 12.0)
    Path("mine.py").write_text(SLEEPS)
    path = study(attacks={"mine": {"name": "mine:Mine"}})
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
    path = study(attacks={"mine": {"name": "mine:Mine"}})
    code, _, err = narcissus("audit", path, "--quiet", "--allow-code")
    assert code == 2
    found = re.search(r"6 trials of (\S+) s each, in 1 processes", err)
    assert 0 < float(found[1]) < 0.3


def test_nobody_is_asked_where_any_time_was_agreed_to(study, monkeypatch):
    experiment = ready(study())
    monkeypatch.setattr(work, "PATIENCE_WITH_LARGE", 0.0)
    monkeypatch.setattr(work, "SMALL", 0)
    assert checked(experiment, hours=None) == [
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
    experiment = ready(study())
    monkeypatch.setattr(work, "_timed", lambda *_: (90.0, 100))
    heard = checked(experiment, hours=None)
    assert heard[0].startswith("one trial takes about 90 seconds: a run that is interrupted loses")


def test_a_trial_of_very_many_people_is_timed_where_it_can_be_ended(study, monkeypatch):
    """Ours too: nobody waits longer than it takes to see that it is long."""
    waited = []

    def timed(measure, what, patience, **_):
        waited.append(patience)

    monkeypatch.setattr(work, "timed", timed)
    experiment = ready(study(attacks={"prior": {}}))
    assert (checked(experiment, hours=1.0), waited) == ([], [])
    monkeypatch.setattr(work, "SMALL", 1000)
    heard = checked(experiment, hours=1.0)
    assert waited == [work.PATIENCE_WITH_LARGE]
    assert heard == [f"a trial of {experiment.targets} people is timed first"]


QUERIES = MarginalQueries((5,) * 15 + (24,), (15,), 3)
SUCCESS = exact_match((24,))


def require_memory(people, attacks):
    needed = work.memory_bytes(QUERIES, SUCCESS, people, attacks)
    work.require_memory(QUERIES, SUCCESS, people, needed)


def test_it_grows_with_the_people_and_with_what_attacks_look_at():
    small, large = (work.memory_bytes(QUERIES, SUCCESS, n, [PriorGuess()]) for n in (10**4, 10**6))
    assert 50 < large / small < 100  # the tables are the same
    by_types = work.memory_bytes(QUERIES, SUCCESS, 10**6, [PriorGuess(), MeanField()])
    by_cells = work.memory_bytes(QUERIES, SUCCESS, 10**6, [MeanField(), GibbsSampling()])
    assert large < by_types < 2e9 < by_cells
    assert by_types < work.memory_bytes(QUERIES, SUCCESS, 10**6, [MeanField()], ProtectedCounts)


def test_a_million_people_with_their_prior_alone_fit_into_a_gigabyte():
    assert 0.4e9 < work.memory_bytes(QUERIES, SUCCESS, 10**6, [PriorGuess()]) < 1e9


def test_what_one_process_cannot_hold_is_refused_by_its_size(monkeypatch):
    monkeypatch.setattr(work, "machine_memory", lambda: 2**30)
    require_memory(10**5, [MeanField()])
    says = (
        r"^1,000,000 people with 24 joint values .* in 105 tables, need about \d+\.\d GB, and "
        r"there are 1\.1 GB: take fewer targets"
    )
    with pytest.raises(TooLargeError, match=says):
        require_memory(10**6, [GibbsSampling()])


IDENTITY = {n: n for n in ("mechanism", "own code", "data", "table", "version")}
OWN = """
def varied(frame, rng):
    with open("asked", "a") as file:
        file.write("x")
    return frame.sample(frac=1.0, replace=True, random_state=rng)

def fixed(frame):
    return frame.sample(frac=1.0, replace=True, random_state=1)
"""


@pytest.fixture
def own(ready, study):
    """Give a function from the name of a user's function to an experiment that releases by it."""
    study()  # makes the folder
    Path("own.py").write_text(OWN)

    def make(name):
        return ready(
            mechanism={"name": f"own:{name}", "k": None, "epsilon": None}, attacks={"prior": {}}
        )

    return make


def test_only_what_stands_outside_the_package_is_costly(ready, own):
    assert not is_costly(ready().settings[0].mechanism)
    rounded = ready(mechanism={"name": "rounding", "base": 5, "epsilon": None})
    assert not is_costly(rounded.settings[0].mechanism)
    assert is_costly(own("varied").settings[0].mechanism)


def test_releases_are_kept_where_there_is_a_folder_and_they_are_costly(ready, own, tmp_path):
    cheap = ready()
    assert with_kept_releases(cheap, ReleaseCache(tmp_path), IDENTITY) is cheap
    costly = own("varied")
    assert with_kept_releases(costly, None, IDENTITY) is costly
    place = tmp_path / "results" / RELEASES
    kept = with_kept_releases(costly, ReleaseCache(place), IDENTITY)
    assert isinstance(kept.settings[0].mechanism, KeptReleases)
    first = kept.round(0, 0).release[0].rows
    asked = Path("asked").read_text()
    again = with_kept_releases(
        own("varied"), ReleaseCache(tmp_path / "results" / RELEASES), IDENTITY
    )
    np.testing.assert_array_equal(again.round(0, 0).release[0].rows, first)
    assert Path("asked").read_text() == asked  # it was not made again
    assert len(list(place.iterdir())) == 1
    np.testing.assert_array_equal(costly.round(0, 0).release[0].rows, first)


@pytest.mark.parametrize("changed", sorted(IDENTITY))
def test_another_study_finds_none_of_them(own, tmp_path, changed):
    for identity in (IDENTITY, {**IDENTITY, changed: "other"}):
        with_kept_releases(own("varied"), ReleaseCache(tmp_path / "results"), identity).round(0, 0)
    assert Path("asked").read_text() == "xx"


def test_a_fixed_seed_is_refused(ready, own):
    refuse_fixed_seeds(ready())
    refuse_fixed_seeds(own("varied"))
    with pytest.raises(InputError, match="fixed seed"):
        refuse_fixed_seeds(own("fixed"))


OWN_VARIED = """
def varied(frame, rng):
    with open("asked", "a") as file:
        file.write("x")
    return frame.sample(frac=1.0, replace=True, random_state=rng)
"""


class Elsewhere(Serial):
    """Gets a job as bytes, and has not our folder."""

    is_here = False

    def play(self, job, keys, observer=None):
        yield from super().play(cloudpickle.loads(cloudpickle.dumps(job)), keys)


@pytest.fixture
def costly(study):
    path = study(
        mechanism={"name": "own:varied", "k": None, "epsilon": None},
        attacks={"prior": {}},
        run={"trials": 3},
    )
    Path("own.py").write_text(OWN_VARIED)
    return package.load_study(path, allow_code=True)


def asked():
    path = Path("asked")
    count = len(path.read_text()) if path.exists() else 0
    path.unlink(missing_ok=True)
    return count


def kept(folder):
    return {path.name: path.read_bytes() for path in Path(folder, "releases").iterdir()}


def test_they_are_kept_and_found_as_those_that_were_made_here(costly, hears):
    here = package.run(costly, folder="here", engine="serial")
    count = asked()
    there = package.run(costly, folder="there", engine=Elsewhere(), observer=hears)
    assert asked() == count
    assert there.record.portable_digest == here.record.portable_digest
    assert there.record.rows == here.record.rows
    assert kept("there") == kept("here")
    assert len(kept("here")) == 5
    package.run(costly, folder="there", engine=Elsewhere(), restart=True)
    fixed = count - len(kept("here"))  # only who looks for a fixed seed asks again
    assert asked() == fixed
    assert not any("not kept" in note for note in hears.notes)


def test_a_large_one_is_said_to_be_not_kept(costly, hears, monkeypatch):
    monkeypatch.setattr(module, "SENT_BACK", 10)
    package.run(costly, folder="there", engine=Elsewhere(), observer=hears)
    assert len(kept("there")) == 3  # of the trial that was timed, here
    [note] = [note for note in hears.notes if "not kept" in note]
    assert "more than 16 MiB are not sent back" in note


def test_a_worker_does_not_say_where_files_go(tmp_path):
    cache = ReleaseCache(tmp_path / "kept")

    def job(key):
        cache.put(key, b"x")

    others = ReleasesSentBack(Elsewhere(), cache)
    assert (others.workers, others.is_here) == (1, False)
    assert dict(others.play(job, ["a.npz"])) == {"a.npz": None}
    assert (tmp_path / "kept" / "a.npz").read_bytes() == b"x"
    with pytest.raises(StoreError, match=r"is called '\.\./b\.npz'"):
        list(others.play(job, ["../b.npz"]))
    assert not (tmp_path / "b.npz").exists()
