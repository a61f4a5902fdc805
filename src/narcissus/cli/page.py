"""``narcissus app``: the page to work with."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click

from narcissus._optional import optional
from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.options import Opt, command

DEMO = "narcissus-demo-"
"""How the temporary folder of the example table is called."""


@dataclass(frozen=True, kw_only=True)
class AppOptions:
    port: Annotated[int, Opt(click.IntRange(0, 65535))] = 0
    demo: bool = False
    no_browser: bool = False


@command
def app(folder: Path | None = None, *, of: AppOptions) -> None:
    optional("starlette", extra="app", purpose="The page")
    optional("uvicorn", extra="app", purpose="The page")
    optional("tomlkit", extra="app", purpose="The page")
    from narcissus.app.server import serve

    on_interrupt("a run that was started goes on; open its folder again to see it")
    place = folder or Path()
    if of.demo and folder is None:  # it stays, since a run may go on in it
        place = Path(tempfile.mkdtemp(prefix=DEMO))
        click.echo(f"The example table is in {place}, a temporary folder")
    how: dict[str, Any] = {"port": of.port, "demo": of.demo, "show": not of.no_browser}
    serve(place, say=click.echo, **how)
