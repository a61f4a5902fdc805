"""Who is asked before long work, and what happens then."""

import click
import pytest
from click.testing import CliRunner

from narcissus.cli import long_work
from narcissus.cli.long_work import HOURS, agreed
from narcissus.errors import LongWorkError


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
            monkeypatch.setattr(long_work.sys, name, terminal)
        try:
            click.echo(agreed(play, yes=False))
        finally:
            monkeypatch.undo()

    done = CliRunner().invoke(command, input=answer)
    assert play.told == told
    assert "Start it now?" in done.output
    assert isinstance(done.exception, LongWorkError) == (answer == "\n")
