"""Long work is told before it starts: asked about on a terminal, refused elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import click

from narcissus.errors import LongWorkError

HOURS = 1 / 6
"""Longest time that work takes without being agreed to."""

PlayedT = TypeVar("PlayedT")


def agreed(play: Callable[[float | None], PlayedT], *, yes: bool) -> PlayedT:
    """Play what may take long; where it does, ask whoever sits at the terminal.

    Parameters
    ----------
    play
        Takes the longest time that was agreed to, in hours; None is any.
    yes
        Whether any time was agreed to beforehand.

    Raises
    ------
    LongWorkError
        It takes long, and nobody is there or says yes.
    """
    if yes:
        return play(None)
    try:
        return play(HOURS)
    except LongWorkError as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        click.echo(f"narcissus: {error}", err=True)
        if not click.confirm("Start it now?", default=False, err=True):
            raise
        return play(None)
