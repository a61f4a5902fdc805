"""Programs are run, watched and ended; what goes wrong is said."""

import os
import sys
import time
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels.files import read_samples
from narcissus.channels.programs import KeptRuns, Program, StopWhen, program_leakage, runs
from narcissus.errors import InputError, LongWorkError

from .conftest import refused

AB = ("a", "b")


def once(command, secret="a", **more):
    with runs(Program(command, more.pop("secrets", AB), **more)) as run:
        return run(secret)


def test_the_secret_is_an_argument_or_a_line():
    assert once(["echo"]) == ("a",)
    assert once(["echo", "1,{secret}-2", "3"]) == ("1", "a-2 3")
    assert once(["cat"], given="stdin") == ("a",)
    with runs(Program(["cat"], AB, given="lines")) as run:
        assert [run("b"), run("a")] == [("b",), ("a",)]


def test_its_time_may_be_observed():
    short, long = (int(once(["sleep", t], observe="time", given="stdin")[0]) for t in ("0", "0.1"))
    assert short < 1e8 <= long
    busy = [sys.executable, "-S", "-c", "for i in range({secret}): pass"]
    more = {"secrets": ("1", "4000000"), "observe": "cpu"}
    short, long = (int(once(busy, secret, **more)[0]) for secret in ("1", "4000000"))
    assert 0 < short < long - 20_000
    with runs(Program(["cat"], AB, given="lines", observe="time")) as run:
        assert 0 < int(run("a")[0]) < 1e9


@pytest.mark.parametrize(
    ("command", "more", "words"),
    [
        (["sh", "-c", "echo said >&2; exit 3"], {}, "exit code 3 with the secret 'a'(?s:.*)said"),
        (["sh", "-c", "kill -9 $$"], {}, "killed by signal 9"),
        (["true"], {}, "printed 0 lines"),
        (["printf", "1\n2\n"], {}, "printed 2 lines"),
        (["yes"], {}, "more than 1,048,576 bytes"),
        (["sleep", "30"], {"given": "stdin", "seconds": 0.1}, "did not end within 0.1 s"),
        (["sleep", "30"], {"given": "lines", "seconds": 0.1}, "did not end within 0.1 s"),
        (["true"], {"given": "lines"}, "exit code 0 with the secret 'a' instead of an answer"),
        (["/dev/null/x"], {}, "there is no program"),
        ([], {}, "`command`"),
        (["echo"], {"given": "file"}, "`given`"),
        (["cat"], {"given": "lines", "observe": "cpu"}, "observe time"),
        (["echo", "{secret}"], {"given": "stdin"}, "given by stdin"),
        (["echo"], {"secrets": ("a", "a")}, "twice"),
        (["echo"], {"secrets": ("a",)}, "two secrets"),
        (["echo"], {"secrets": ("a", "b\nc")}, "line ends"),
        (["echo"], {"prior": {"a": 0.5, "c": 0.5}}, "differ at 'b'"),
        (["echo"], {"prior": [1.0]}, "1 probabilities for 2"),
    ],
)
def test_what_goes_wrong_is_said(command, more, words):
    refused(words, once, command, **more)


def test_nothing_is_left_of_it(tmp_path):
    """Neither what it has started, nor itself where it is not asked any more."""
    said, began = tmp_path / "pid", time.monotonic()
    with pytest.raises(InputError, match="did not end"):
        once(["sh", "-c", f"sleep 60 & echo $! > {said}; wait"], given="stdin", seconds=0.5)
    asleep = int(said.read_text())
    assert time.monotonic() - began < 30  # not as long as what it has started
    with runs(Program(["sh", "-c", "while read x; do echo $$; done"], AB, given="lines")) as run:
        served = int(run("a")[0])
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in (asleep, served)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(asleep)
    assert not alive(served)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not os.path.isdir("/proc/self")


def test_a_prior_goes_by_name():
    assert Program(["echo"], AB, {"b": 0.7, "a": 0.3}).weights.tolist() == [0.3, 0.7]
    assert Program(["echo", "x" * 90], AB).name.endswith("...")


PROGRAM = Program(["echo"], ("a", "b", "c"), prior=[0.2, 0.3, 0.5])


class Told:
    """Stands for a program: says how often it was run."""

    def __init__(self, fails_at=None, columns=1):
        self.times, self.fails_at, self.columns = 0, fails_at, columns

    def __call__(self, secret):
        self.times += 1
        if self.times == self.fails_at:
            raise KeyboardInterrupt
        return (f"{secret}{self.times % 2}",) * self.columns


@pytest.fixture
def kept(tmp_path):
    return lambda run, program=PROGRAM, seed=0: KeptRuns(program, run, tmp_path / "runs.csv", seed)


def test_it_goes_on_where_it_was_interrupted(kept, tmp_path):
    whole = kept(Told(columns=2))(50, None)
    (tmp_path / "runs.csv").unlink()
    cut = Told(fails_at=21, columns=2)
    with pytest.raises(KeyboardInterrupt):
        kept(cut)(50, None)
    with (tmp_path / "runs.csv").open("a") as file:
        file.write("a,half a li")  # as if ended while it wrote
    run = Told(columns=2)
    again = kept(run)
    assert len(again.rows) == 20
    secrets, outputs = again(50, None)
    assert secrets == whole[0]
    assert run.times == 30
    assert outputs.shape == (50, 2)
    found, columns, _ = read_samples(tmp_path / "runs.csv")
    assert found.tolist() == secrets
    assert list(columns) == ["output_1", "output_2"]
    more = again(10, None)
    everything = again.all()
    assert everything[0] == secrets + more[0]


def test_secrets_are_drawn_from_the_prior(kept):
    secrets, _ = kept(lambda s: (s,))(2000, None)
    assert [secrets.count(s) / 2000 for s in "abc"] == pytest.approx([0.2, 0.3, 0.5], abs=0.06)
    assert len({tuple(secrets[i : i + 4]) for i in range(0, 400, 4)}) > 30


def test_numbers_are_numbers(kept, tmp_path):
    _, outputs = kept(lambda s: (str(ord(s)),))(20, None)
    assert outputs.dtype == np.float64
    (tmp_path / "runs.csv").unlink()
    many = iter(["1"] * 15 + ["late"])
    refused("'late' in run 16", kept(lambda _: (next(many),)), 16, None)


@pytest.mark.parametrize(
    ("program", "seed", "words"),
    [
        (Program(["echo", "-n"], ("a", "b", "c"), [0.2, 0.3, 0.5]), 0, "another command .command"),
        (Program(["echo"], ("a", "b"), None), 0, "secrets, prior"),
        (PROGRAM, 1, "seed"),
    ],
)
def test_runs_of_something_else_are_refused(kept, program, seed, words):
    kept(Told())(20, None)
    refused(words, kept, Told(), program, seed)


def test_files_of_something_else_are_refused(kept, tmp_path):
    path, beside = tmp_path / "runs.csv", tmp_path / "runs.csv.json"
    path.write_text("secret,output\na,1\n")
    refused("no file of runs", kept, Told())
    path.unlink()
    kept(Told())(20, None)
    text = path.read_text()
    path.write_text(text.replace("\nc,", "\na,"))
    refused("was changed: run", kept, Told())
    beside.write_text("[]")
    refused("damaged", kept, Told())


@pytest.mark.parametrize(("second", "words"), [(("1", "2"), "print as many"), (("",), "empty")])
def test_a_run_that_differs_in_form_is_refused(kept, second, words):
    given = iter([("1",), second])
    refused(words, kept(lambda _: next(given)), 2, None)


module = import_module("narcissus.channels.programs")

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
    refused("need 500 runs at least", StopWhen(most=400).looks, 10)


def test_long_work_is_refused_before_it_starts(tmp_path):
    slow = Program(["sleep", "0.05"], ("a", "b"), given="stdin", observe="time")
    path = tmp_path / "runs.csv"
    with pytest.raises(LongWorkError, match=r"at most 12,800 runs.*ms a run"):
        program_leakage(slow, path=path, stop=StopWhen(hours=0.01))
    assert list(tmp_path.iterdir()) == []
    refused("folder", program_leakage, slow, path=tmp_path / "no" / "runs.csv")


@pytest.mark.coverage_claim
@pytest.mark.repeats(12, 5000)
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


def test_runs_that_are_kept_count_as_done(kept):
    kept(Told())(20, None)
    starts = []

    class Steps(Heard):
        def start(self, what, total, done=0):
            starts.append((what, total, done))

        def advance(self, *_):
            pass

        def finish(self):
            pass

    again = kept(Told())
    again.observer = Steps()
    again(50, None)
    again(10, None)
    assert starts == [("runs", 50, 20), ("runs", 60, 50)]
