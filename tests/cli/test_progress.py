"""Progress: a bar at a terminal, a line each tenth elsewhere, nothing when quiet."""

import io
import json
import time
from pkgutil import resolve_name as resolved

import pytest

import narcissus as library
from narcissus.cli.heart import attended, duration, rest
from narcissus.cli.progress import progress
from narcissus.observer import SILENT


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_at_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with progress(stream=stream) as observer:
        observer.start("trials", 40, done=10)
        observer.advance(30)
        observer.note("a [bold] remark")
        observer.finish()
        observer.advance()  # between stages: counts for nothing
        observer.start("groups", 2)
        observer.advance(2)
    shown = stream.getvalue()
    assert "trials" in shown
    assert "40/40" in shown
    assert "groups" in shown
    assert "a [bold] remark" in shown


def test_lines_elsewhere():
    stream = io.StringIO()
    with progress(stream=stream) as observer:
        observer.start("trials", 1000, done=250)
        for _ in range(750):
            observer.advance()
        observer.finish()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "trials: 1000 steps, 250 done earlier"
    assert len(lines) == 1 + 8
    assert lines[-1].startswith("trials: 1000 of 1000 (100%), 0:00 so far")


def test_a_stage_of_nothing():
    stream = io.StringIO()
    with progress(stream=stream) as observer:
        observer.start("trials", 0)
        observer.finish()
    assert stream.getvalue() == ""


def heard(stream, wanted):
    """Wait until a stream has all that is wanted; fail after ten seconds."""
    end = time.monotonic() + 10
    while missing := [one for one in wanted if one not in stream.getvalue()]:
        assert time.monotonic() < end, (missing, stream.getvalue())
        time.sleep(0.01)


def test_no_stage_is_silent(monkeypatch):
    """What reports nothing is named, with its share and the time left where they are known."""
    monkeypatch.setattr("narcissus.cli.heart.SILENCE", 0.08)
    stream = io.StringIO()
    with progress(stream=stream) as observer:
        heard(stream, ["starting: 0:00 so far"])
        observer.start("fitting", 0)
        heard(stream, ["fitting: 0:00 so far"])
        observer.note("a pilot")
        heard(stream, ["a pilot: 0:00 so far"])
        observer.start("trials", 100)
        heard(stream, ["trials: 0 of 100 (0%), 0:00 so far\n"])
        observer.advance(6)
        time.sleep(0.1)
        observer.advance()
        observer.note("a remark")
        heard(stream, ["trials: 7 of 100 (7%), 0:00 so far, about 0:0"])
        observer.finish()
        heard(stream, ["working: 0:00 so far"])
    time.sleep(0.1)
    length = len(stream.getvalue())
    time.sleep(0.3)
    assert len(stream.getvalue()) == length  # nothing after its end


def test_a_command_that_reports_nothing_is_attended_at_a_terminal_only(monkeypatch):
    monkeypatch.setattr("narcissus.cli.heart.SILENCE", 0.08)
    for words, stream, speaks in [
        (["protect"], Terminal(), True),
        (["protect", "--quiet"], Terminal(), False),
        (["protect"], io.StringIO(), False),
    ]:
        monkeypatch.setattr("sys.stderr", stream)
        with attended(words):
            if speaks:
                heard(stream, ["narcissus protect: 0:00 so far"])
            else:
                time.sleep(0.3)
            rest()
        assert bool(stream.getvalue()) == speaks


@pytest.mark.parametrize("stopped", [False, True])
def test_a_command_is_attended_again_when_its_progress_has_ended(monkeypatch, stopped):
    """It was silent while it compared, drew or wrote what was played; not while it asks."""
    monkeypatch.setattr("narcissus.cli.heart.SILENCE", 0.08)
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    with attended(["verify"]):
        with progress() as observer:
            observer.start("trials", 1)
            observer.advance()
        if stopped:
            rest()
            time.sleep(0.3)
        else:
            heard(stream, ["narcissus verify: 0:00 so far"])
    assert ("narcissus verify" in stream.getvalue()) is not stopped


def test_every_stage_of_a_study_is_named(study, hears):
    """From Python, too: reading, fitting, proving, timing, playing and concluding."""
    heard_of = hears
    made = library.load_study(study(), observer=heard_of)
    first = [what for what, _, _ in heard_of.starts]
    assert first == ["reading the table", "fitting the prior", "proving what no attacker exceeds"]
    library.run(made, observer=heard_of)
    assert [what for what, _, _ in heard_of.starts[len(first) :]] == [
        *first, "testing the prior on rows of the table", "timing one trial", "trials",
        "drawing conclusions"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("slow", "said"),
    [
        ("narcissus.kinds.table.kind.fit_prior", "fitting the prior"),
        ("narcissus.kinds.table.kind.load_table", "reading the table"),
        ("narcissus.kinds.table.kind.proofs.best_points", "proving what no attacker exceeds"),
        ("narcissus.kinds.table.kind.measured", "drawing conclusions"),
        ("narcissus.audits.outcome.Audit.save", "writing the report"),
    ],
)
def test_a_step_that_takes_long_is_heard_of(study, narcissus, monkeypatch, slow, said):
    monkeypatch.setattr("narcissus.cli.heart.SILENCE", 0.2)
    real = resolved(slow)

    def late(*given, **more):
        time.sleep(0.5)
        return real(*given, **more)

    monkeypatch.setattr(slow, late)
    assert f"{said}: 0:00 so far" in narcissus("audit", study())[2]


def test_quiet():
    with progress(quiet=True) as observer:
        assert observer is SILENT


def test_durations():
    assert [duration(s) for s in (0, 42, 725, 10810)] == ["0:00", "0:42", "12:05", "3:00:10"]


def test_a_program_reads_lines_of_json(monkeypatch):
    monkeypatch.setenv("NARCISSUS_PROGRESS", "json")
    stream = io.StringIO()
    with progress(stream=stream) as observer:
        observer.note("a\nnote \x1b[2J")
        observer.start("trials", 1000, done=10)
        for _ in range(990):
            observer.advance()
        observer.finish()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert "\x1b" not in lines[0]["note"]
    assert {k: lines[1][k] for k in ("what", "total", "before", "done")} == {
        "what": "trials", "total": 1000, "before": 10, "done": 10
    }  # fmt: skip
    assert lines[-1]["done"] == 1000
    assert len(lines) < 100  # some a second
