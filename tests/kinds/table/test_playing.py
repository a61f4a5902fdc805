"""Trials are played once, kept, and played on for."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from scipy import stats

import narcissus
import narcissus as library
import narcissus as package
from narcissus.bounds import THEOREMS
from narcissus.evidence import mean_limits
from narcissus.game import executor
from narcissus.game.executor import Serial
from narcissus.game.looks import schedule, until_decided
from narcissus.kinds.table.kind import KIND, prepare
from narcissus.kinds.table.playing import (
    PrecisionPlan,
    SentExperiment,
    half_width,
    play_looks,
)
from narcissus.kinds.table.schema import TRIALS as QUICK_TRIALS
from narcissus.kinds.table.schema import quicker
from narcissus.kinds.table.summary import summarise
from narcissus.observer import SilentObserver
from narcissus.study import load_study
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of

ROOT = Path(__file__).resolve().parents[3]


def settings_of(record):
    """Judge the settings of a record, or of one that lies in a folder."""
    return KIND.judged(read_record(record) if isinstance(record, str) else record).each


def record(path, folder=None, **changes):
    return library.run(library.load_study(path), rng=7, folder=folder, **changes).record


def test_kept_trials_are_not_played_again(study, tmp_path, monkeypatch):
    path = study()
    first = record(path, tmp_path / "out")

    def never(self, key):
        raise AssertionError(f"played {key} again")

    monkeypatch.setattr("narcissus.kinds.table.experiment.Experiment.play", never)
    assert record(path, tmp_path / "out").rows == first.rows


def test_a_run_that_looks_is_the_same_when_it_goes_on(study, tmp_path):
    """The second run finds the trials of the first look and plays those of the later ones."""
    path = study(run={"precision": 40, "trials": 12})
    whole = record(path)
    assert record(path, tmp_path / "out").rows == whole.rows
    assert record(path, tmp_path / "out").rows == whole.rows


def test_theorems_and_trials_are_those_of_who_sent_it(study, monkeypatch):
    made = narcissus.load_study(study(run={"trials": 2}))
    experiment = prepare(made.settings, made.folder, entropy=3)
    some = next(iter(THEOREMS.values()))
    monkeypatch.setitem(THEOREMS, "own", some)
    packed = cloudpickle.dumps(SentExperiment.of(experiment))
    monkeypatch.delitem(THEOREMS, "own")
    before = set(THEOREMS)
    found = pickle.loads(packed)("1/0")
    assert set(THEOREMS) - before == {"own"}
    monkeypatch.setitem(THEOREMS, "own", some)  # and leave none behind
    monkeypatch.undo()
    here = experiment.play("1/0")
    assert found.keys() == here.keys()
    assert all((found[name] == here[name]).all() for name in here)


def test_a_precision_chooses_the_trials_and_is_kept(study, narcissus):
    path = study(run={"trials": None, "precision": 8, "seed": 3}, threat={"targets": 40})
    code, out, err = narcissus("audit", path, "--json")
    assert code == 0, err
    [one] = settings_of("results/s")
    assert "trials for limits within 8 points; at most" in err
    reached = one.result.precision
    assert reached.aimed == 0.08
    assert reached.reached <= 0.08
    for found in (one.result.guess, one.result.best_attack, one.result.ceiling):
        assert (found.high - found.low) / 2 <= reached.reached + 1e-12
    assert one.result.confidence == 0.95
    for workers in ("1", "2"):
        where = ("--out", f"again{workers}", "--workers", workers)
        _, again, _ = narcissus("audit", path, "--json", "--quiet", *where)
        assert json.loads(again)["result"] == json.loads(out)["result"]
        assert json.loads(again)["portable_digest"] == json.loads(out)["portable_digest"]


class Asked(Serial):
    """Keeps the keys that it was asked for."""

    def __init__(self):
        self.plays = []

    def play(self, job, keys, observer=None):
        self.plays.append(list(keys))
        yield from super().play(job, keys)


def test_a_pilot_that_takes_long_is_played_by_others(study, monkeypatch):
    path = study(
        run={"trials": 4, "precision": 0.5, "seed": 3},
        threat={"targets": 40},
        mechanism={"epsilon": [1, "=inf"]},
    )
    made = package.load_study(path)
    alone = package.run(made, engine="serial")
    monkeypatch.setattr(executor, "WORTH_SENDING", -1.0)
    others = Asked()
    found = package.run(made, engine=others)
    pilot = [f"{t}/{s}" for t in range(10) for s in range(2)]
    assert others.plays[0] == pilot[1:]
    assert found.record.digest == alone.record.digest


def test_most_trials_are_not_exceeded_and_what_was_not_reached_is_said(study, narcissus):
    """With one look the limits are those of a run of so many trials."""
    path = study(run={"trials": 12, "precision": 0.5, "seed": 3}, threat={"targets": 40})
    code, _, err = narcissus("audit", path, "--json")
    assert code == 0, err
    assert "at most 12 are played" in err
    [one] = settings_of("results/s")
    assert one.result.trials == 12
    assert one.result.precision.reached > one.result.precision.aimed
    narcissus("audit", study("p.toml", run={"trials": 12, "seed": 3},
              threat={"targets": 40}), "--json", "--out", "plain")  # fmt: skip
    [same] = settings_of("plain")
    assert one.result == same.result
    assert one.result.model_copy(update={"precision": None}) == same.result
    code, out, _ = narcissus("report", "results/s/record.json", "--text", "--verbose")
    assert code == 0
    assert "not reached, after 12 trials of at most 12" in " ".join(out.split())
    text = narcissus("report", "results/s/record.json", "--text", "--verbose")[1]
    assert "not reached" in " ".join(text.split())


def test_a_run_waits_for_the_gain_and_the_groups_that_a_threshold_limits(study, narcissus):
    """Groups that are told, with two members a trial or more; others would hold up the run."""
    changes = {
        "run": {"trials": None, "precision": 12, "seed": 3},
        "threat": {"targets": 40},
        "groups": {"columns": ["sex", "ill"], "unusual": False},
    }
    code, _, err = narcissus("audit", study(**changes), "--json")
    assert code == 0, err
    [alone] = settings_of("results/s")
    threshold = {"gain": 0.9, "worst_group": 0.9, "reason": "a test", "origin": "a test"}
    path = study("more.toml", **changes, threshold=threshold)
    code, _, err = narcissus("audit", path, "--json", "--out", "more")
    assert code == 0, err
    [one] = settings_of("more")
    assert one.result.trials > alone.result.trials
    reached = one.result.precision.reached
    assert reached <= 0.12
    waited = [(one.result.best_attack.gain.high - one.result.best_attack.gain.low) / 2]
    for group in one.result.groups:
        if not group.by_secret and group.share_of_people * 40 >= 2:
            own = [group.attacks[one.result.best], group.ceiling]
            waited += [(found.high - found.low) / 2 for found in own]
    assert len(waited) > 5
    assert max(waited) <= reached + 1e-12
    assert one.result.confidence == 0.95


@pytest.mark.nightly
def test_each_look_spends_its_part_of_the_error(study):
    """Limits of a look are those of its trials at a level of its own; the parts add up to one."""
    loaded = package.load_study(study(run={"trials": 2}))
    experiment = prepare(loaded.settings, loaded.folder, entropy=3)
    plan = PrecisionPlan(wanted=0.01, looks=schedule(20, 70), requested={"prior": 25})
    assert [(x.trials, x.part) for x in plan.looks] == [
        (20, 0.5), (30, 0.25), (45, 0.125), (68, 0.0625), (70, 0.0625),
    ]  # fmt: skip
    heard = Heard()
    made = []

    def play(now):
        made.append(now)
        return {key: now.play(key) for key in now.keys()}  # noqa: SIM118

    last, trials = play_looks(experiment, plan, play, heard)
    assert [1 - one.confidence for one in made] == pytest.approx(
        [0.05 * look.part for look in plan.looks]
    )
    assert {one.claimed for one in made} == {0.95}
    assert [dict((n, c) for n, _, c in one.attacks)["prior"] for one in made] == [20, *[25] * 4]
    assert len(trials) == 70
    assert last.precision.look == 5
    assert len(heard.notes) == 4
    assert "aimed 1, about" in heard.notes[0]
    found = summarise(last, 0, [trials[f"{t}/0"] for t in range(70)])
    assert found.confidence == 0.95
    assert found.precision == last.precision
    assert half_width(found) == last.precision.reached
    plain = replace(last, holds=None, confidence=1 - 0.05 / 16)
    same = summarise(plain, 0, [trials[f"{t}/0"] for t in range(70)]).guess
    assert (same.share, same.low, same.high) == (
        found.guess.share,
        *[found.guess.low, found.guess.high],
    )


class Heard(SilentObserver):
    def __init__(self):
        self.notes = []

    def note(self, message):
        self.notes.append(message)


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.nightly) for s in (1, 2))])
@pytest.mark.nightly
def test_limits_at_a_look_that_was_waited_for_still_cover(seed):
    """Shares of fair coins, stopped when their limits leave out the truth, if they ever do.

    400 runs at 80%: more than 120 misses come with chance 1e-6 if the level holds.
    """
    rng = np.random.default_rng(seed)
    looks = schedule(20, 150)
    wrong = 0
    assert sum(look.part for look in looks) == pytest.approx(1)
    for _ in range(400):
        values = rng.binomial(5, 0.5, looks[-1].trials) / 5
        for look in looks:
            found = mean_limits(values[: look.trials], confidence=1 - 0.2 * look.part)
            if not found.low <= 0.5 <= found.high:
                wrong += 1
                break
    assert wrong <= stats.binom.isf(1e-6, 400, 0.2)


def ever_missed(chance, parts, error=0.05):
    """Compute exactly how often limits of a count leave out its chance at any look."""
    alive, before, missed = np.ones(1), 0, 0.0
    for look, part in zip(until_decided(), parts, strict=False):
        more = np.arange(look.trials - before + 1)
        alive = np.convolve(alive, stats.binom.pmf(more, look.trials - before, chance))
        counts, before = np.arange(look.trials + 1), look.trials
        side = error * part / 2  # Clopper-Pearson: the chance of so many, or so few, is no larger
        wrong = (stats.binom.sf(counts - 1, before, chance) <= side) | (
            stats.binom.cdf(counts, before, chance) <= side
        )
        missed += float(alive[wrong].sum())
        alive = np.where(wrong, 0.0, alive)
    return missed


@pytest.mark.parametrize("chance", [0.02, 0.5, 0.9])
def test_looks_until_a_verdict_keep_the_level_and_would_not_without_their_parts(chance):
    parts = [look.part for look in until_decided()[:12]]
    assert 0.01 < ever_missed(chance, parts) <= 0.05
    assert ever_missed(chance, [1.0] * 12) > 0.05


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ({"trials": None, "precision": 0.0001}, "ask for less precision"),
        ({"trials": None, "precision": 0.0}, "above 0"),
    ],
)
def test_a_precision_that_cannot_be_had_is_refused(study, narcissus, run, says):
    code, _, err = narcissus("audit", study(run=run), "--quiet")
    assert code == 2
    assert says in err


@pytest.mark.nightly
def test_a_run_with_a_precision_is_verified_and_a_forged_one_is_not(study, narcissus):
    path = study(run={"trials": None, "precision": 8, "seed": 3}, threat={"targets": 40})
    assert narcissus("audit", path, "--quiet", "--out", "out")[0] == 0
    code, out, err = narcissus("verify", "out", path, "--quiet")
    assert code == 0, out + err
    assert "gives every number" in out
    record = json.loads(Path("out/record.json").read_text())
    record["result"]["settings"][0]["trials"] += 1
    record["digest"] = digest_of(record)
    Path("out/record.json").write_text(json.dumps(record))
    code, out, _ = narcissus("verify", "out", path, "--quiet")
    assert code == 1
    assert "result.settings" in out


def test_a_pilot_that_takes_long_is_agreed_to_first(study, narcissus, monkeypatch):
    monkeypatch.setattr("narcissus.cli.playing.HOURS", 1e-9)
    path = study(run={"trials": None, "precision": 8, "seed": 3})
    code, out, err = narcissus("audit", path)
    assert (code, out) == (2, "")
    assert "10 trials of" in err
    assert "a pilot" not in err
    assert not Path("results").exists()


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("when", ["a pilot of", "trials for limits"])
@pytest.mark.one_in(2)
def test_interrupted_in_the_pilot_or_after_it(study, narcissus, when):
    """The same command goes on, and finds what a run that was left alone finds."""
    path = study(run={"trials": None, "precision": 4, "seed": 3}, threat={"targets": 40})
    command = [sys.executable, "-m", "narcissus", "audit", str(path), "--out", "out"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    heard = ""
    while when not in heard:
        heard += process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert not Path("out/record.json").exists()
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    alone = package.run(package.load_study(path))
    kept = json.loads(Path("out/record.json").read_text())
    assert {
        key: kept[key] for key in alone.results
    } == alone.results  # to the last digit; the keys of digests differ
    assert kept["portable_digest"] == alone.record.portable_digest


AUTO = {"trials": "auto", "seed": 3}


@pytest.mark.nightly
def test_a_run_plays_until_it_is_decided(study, narcissus, monkeypatch):
    """Its limits are those of as many trials at the level of the look, so they cover as said."""
    monkeypatch.setattr("narcissus.game.looks.FIRST", 4)
    path = study(run=AUTO, threshold={"advantage": 0.1}, threat={"targets": 40})
    code, _, err = narcissus("audit", path)
    assert (code, "trials not decided, about" in err) == (0, True), err
    [one] = settings_of("results/s")
    ended = one.result.precision
    assert (ended.ended, one.status) == ("decided", "met")
    assert ended.look > 1
    assert ended.part == pytest.approx(1 / (ended.look * (ended.look + 1)))
    level = 1 - 0.05 * ended.part
    fixed = study(
        "f.toml", run={"trials": one.result.trials, "seed": 3, "confidence": level},
        threshold={"advantage": 0.1}, threat={"targets": 40},
    )  # fmt: skip
    assert narcissus("audit", fixed, "--quiet", "--out", "fixed")[0] == 0
    [same] = settings_of("fixed")
    limits = [(row.role, row.of, row.quantity.low, row.quantity.high) for row in one.result.rows()]
    assert limits == [(r.role, r.of, r.quantity.low, r.quantity.high) for r in same.result.rows()]
    before = record(path, "out")
    assert record(path, "out").rows == before.rows  # and goes on from kept trials
    text = " ".join(narcissus("report", "results/s/record.json", "--text", "--verbose")[1].split())
    assert "ended when its verdict was decided" in text


def test_time_ends_a_run_at_a_look_and_verify_ends_it_there(study, narcissus):
    path = study(run=AUTO, threshold={"advantage": 0.02}, threat={"targets": 40})
    code, _, err = narcissus("audit", path, "--budget", "0.001s")
    assert code == 3, err
    [one] = settings_of("results/s")
    assert (one.result.precision.ended, one.result.trials) == ("budget", 20)
    code, out, _ = narcissus("verify", "results/s", path, "--quiet")
    assert code == 0, out
    assert "budget" not in read_record("results/s/record.json").study["run"]


def test_what_no_trials_decide_ends_too(study):
    """Every look finds the ceiling above what is accepted, and no attack there."""
    path = study(run=AUTO, threshold={"share": 0.5}, attacks={"prior": {}})
    [one] = settings_of(record(path))
    assert one.result.precision.ended in ("beyond trials", "decided")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"run": AUTO}, "add [threshold]"),
        ({"run": {**AUTO, "precision": 1.0}}, "give one of them"),
        ({"run": {"budget": "10m"}}, "`budget` ends a run"),
        ({"run": {**AUTO, "budget": "10 minutes"}}, "30s, 10m or 2h"),
    ],
)
def test_an_end_that_cannot_be_is_refused(study, narcissus, changes, says):
    code, _, err = narcissus("audit", study(**changes), "--quiet")
    assert (code, says in err) == (2, True), err


def test_a_quick_look_keeps_its_level_and_says_what_it_left_out(study, narcissus):
    path = study(
        run={"trials": 300}, mechanism={"epsilon": [2.0, 8.0]},
        threshold={"advantage": 0.9, "at": 2.0},
        attacks={"prior": {}, "posterior": {}, "gibbs": {"trials": 100}, "ceiling": {}},
    )  # fmt: skip
    code, out, err = narcissus("audit", path, "--quick")
    assert code in (0, 3), err
    assert out.startswith("table of") or "(quick look)" in out
    found = read_record("results/s-quick/record.json")
    [one] = settings_of(found)
    assert (one.result.trials, one.result.confidence) == (20, 0.95)
    assert {a.name for a in one.result.attacks} == {"prior", "posterior"}
    assert "20 trials, epsilon 2 alone, without gibbs" in found.to_json()
    assert found.study["run"]["quick"] is True
    assert narcissus("verify", "results/s-quick", path, "--quiet")[0] == 0
    code, _, err = narcissus("audit", str(ROOT / "examples" / "channel.toml"), "--quick")
    assert (code, "`--quick` is for studies of tables" in err) == (2, True)


def test_a_quick_look_of_a_release_without_levels_is_played():
    """A copula without a threshold ended in an internal error."""
    release = load_study(ROOT / "examples" / "releases" / "copula.toml").settings
    cut, _ = quicker(release)
    assert cut.run.trials == QUICK_TRIALS
