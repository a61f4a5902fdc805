"""``--report`` of the channel commands: the page of one result, as a file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from narcissus.report import Page
    from narcissus.report.leakage import Asked


def asked(files: Mapping[str, Path | None], seed: int | None = None) -> Asked:
    """Return the origin of the numbers of a page: the command as given, and its files.

    There are no digests: with nearly all of a file known, guesses of the rest could be tested.
    """
    from narcissus.report.leakage import Asked

    named = {name: path.name for name, path in files.items() if path is not None}
    return Asked(_command(click.get_current_context()), named, seed)


def _command(context: click.Context) -> str:
    """Rebuild the command with the options that were given."""
    words = [context.info_name or ""]
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is not click.core.ParameterSource.COMMANDLINE or name in ("report", "as_json"):
            continue
        value: Any = context.params[name]
        values: list[Any] = list(value) if isinstance(value, tuple) else [value]
        for one in values:
            if isinstance(parameter, click.Option):
                words.append(parameter.opts[0])
            words += [] if one is True else [_without_folders(str(one))]
    return "narcissus " + shlex.join(words)


def _without_folders(word: str) -> str:
    """Remove folders of this machine; the page is made to be shown."""
    return re.sub(r"(?:^|(?<==))(?:[A-Za-z]:)?[/\\][^=]*[/\\]", "", word)


def write(path: Path, page: Page, *, silent: bool) -> None:
    """Write a page, and print its path unless standard output is for JSON."""
    from narcissus._files import write_atomically
    from narcissus.report.html import page_html

    try:
        write_atomically(path, page_html(page))
    except OSError as error:
        raise InputError(f"`--report`: cannot write {path}: {error.strerror or error}") from error
    if not silent:
        click.echo(f"Report: {path}")


def save_figure(option: str, path: Path, draw: Callable[[Axes], object]) -> None:
    """Draw without a display, to the format of the file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure.add_subplot())
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{option}: cannot write {path}: {error}") from error
