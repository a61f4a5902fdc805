"""Consent to long work: asked for on a terminal, refused elsewhere."""

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
    """Call ``play`` with the longest time agreed to, in hours (None: any); ask if it takes longer.

    ``yes`` agrees beforehand. LongWorkError is raised where nobody is there or agrees.
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
