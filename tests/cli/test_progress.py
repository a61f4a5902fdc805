"""Progress: a bar at a terminal, a line each tenth elsewhere, nothing when quiet."""

import io
import json

from narcissus.cli.progress import duration, progress
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
    assert stream.getvalue() == "trials: 0 steps\n"


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
