"""What commands that play studies share: engines, consent to long work, files of studies."""

import click
import pytest
from click.testing import CliRunner

from narcissus.cli import playing
from narcissus.cli.playing import HOURS, agreed, engine_of, refuse_existing, written_to
from narcissus.errors import InputError, LongWorkError
from narcissus.study.engines import Dask


def test_a_name_is_passed_on_and_a_scheduler_is_a_cluster():
    with engine_of(None, None, 3) as engine:
        assert engine is None
    with engine_of("serial", None, None) as engine:
        assert engine == "serial"
    for name in (None, "dask"):
        with engine_of(name, "tcp://here:8786", None) as engine:
            assert isinstance(engine, Dask)
            assert not engine.is_here


@pytest.mark.parametrize(
    ("name", "scheduler", "workers", "says"),
    [
        ("dusk", None, None, "did you mean `dask`"),
        ("processes", "tcp://here:8786", None, "`--scheduler` is for the engine dask"),
        ("dask", "tcp://here:8786", 2, "has its own workers"),
    ],
)
def test_what_makes_no_sense_is_refused(name, scheduler, workers, says):
    with pytest.raises(InputError, match=says), engine_of(name, scheduler, workers):
        pass


class Play:
    """Long work that notes with which agreement it was started."""

    def __init__(self, hours):
        self.takes, self.told = hours, []

    def __call__(self, hours):
        self.told.append(hours)
        if hours is not None and self.takes > hours:
            raise LongWorkError("this is about 6 minutes of work")
        return "played"


def test_ten_minutes_need_no_agreement_and_more_needs_it():
    minutes = 60 * HOURS
    assert minutes == pytest.approx(10)
    assert agreed(short := Play(HOURS), yes=False) == "played"
    assert short.told == [HOURS]
    long = Play(HOURS * 1.01)
    with pytest.raises(LongWorkError, match="6 minutes"):
        agreed(long, yes=False)  # nobody sits at a terminal here
    assert agreed(long, yes=True) == "played"
    assert long.told == [HOURS, None]


@pytest.mark.parametrize(("answer", "told"), [("y\n", [HOURS, None]), ("\n", [HOURS])])
def test_whoever_sits_at_the_terminal_is_asked(answer, told, monkeypatch):
    play = Play(1.0)

    class Terminal:
        """Says that somebody is there."""

        def isatty(self):
            return True

        def __getattr__(self, name):
            return getattr(self.under, name)

    @click.command
    def command():
        import sys

        for name in ("stdin", "stderr"):
            terminal = Terminal()
            terminal.under = getattr(sys, name)
            monkeypatch.setattr(playing.sys, name, terminal)
        try:
            click.echo(agreed(play, yes=False))
        finally:
            monkeypatch.undo()

    done = CliRunner().invoke(command, input=answer)
    assert play.told == told
    assert "Start it now?" in done.output
    assert isinstance(done.exception, LongWorkError) == (answer == "\n")


def test_a_file_is_replaced_only_if_that_was_said(tmp_path):
    path = tmp_path / "s.toml"
    refuse_existing(None, force=False)
    refuse_existing(path, force=False)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="exists"):
        refuse_existing(path, force=False)
    refuse_existing(path, force=True)


def test_it_is_said_how_it_is_played(tmp_path, capsys):
    path = tmp_path / "s.toml"
    written_to(path, "text")
    assert path.read_text(encoding="utf-8") == "text"
    assert f"narcissus audit {path}" in capsys.readouterr().out
    written_to(path, "more", quiet=True)
    assert capsys.readouterr().out == ""
    with pytest.raises(InputError, match="cannot write"):
        written_to(tmp_path / "no" / "s.toml", "text")
