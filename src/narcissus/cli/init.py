"""``narcissus init``: draft a study of a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from narcissus.cli import options
from narcissus.errors import InputError, NarcissusError

if TYPE_CHECKING:
    from narcissus.observer import Observer
    from narcissus.study.table.propose import Proposal
    from narcissus.tables.parts import TableSketch

HELP = """Look at TABLE and write a study of it that can be played as it is: FILE, commented.

TABLE is a CSV (also .gz, .tsv), a Parquet file, or a packaged table such as statsmodels:fair.
Proposed are columns to leave out (identifiers, constants), bins, codes among numbers, what is
unknown, and what is released; each with its reason, for you to correct. On a terminal you are
asked; elsewhere, and with --yes, what is proposed is taken.

\b
Examples:
  narcissus init people.csv
  narcissus init people.csv --unknown income,diagnosis --out people.toml
  narcissus init people.csv --drop note --epsilon 0.5,1,2 --force
  narcissus init statsmodels:fair --unknown affairs --out -
"""

AnswerT = TypeVar("AnswerT")


def _columns(text: str, names: Sequence[str]) -> list[str]:
    """Split names at commas, except one name that contains a comma itself."""
    if text and text in names:
        return [text]
    return list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def _levels(text: str) -> tuple[float, ...]:
    try:
        levels = tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        levels = ()
    if not levels or not all(level > 0 for level in levels):
        raise InputError(f"`--epsilon` takes numbers above 0, separated by commas, got {text!r}")
    return levels


def _asked(question: str, default: str, read: Callable[[str], AnswerT]) -> AnswerT:
    """Prompt until the answer is usable."""
    while True:
        text = click.prompt(question, default=default, show_default=bool(default), err=True)
        try:
            return read(text)
        except NarcissusError as error:
            click.echo(f"{error}", err=True)


def _ask(
    sketch: TableSketch, unknown: list[str] | None, drop: list[str] | None, epsilon: str | None
) -> Proposal:
    """Propose a study, and prompt for all that no option sets."""
    from narcissus.study.table.propose import ASKED, EPSILON, propose, summary

    found = propose(sketch, unknown=unknown, drop=drop or [])
    click.echo("\n".join(["Proposed, by names and values:", *summary(found)]), err=True)

    def without(text: str) -> Proposal:
        return propose(sketch, unknown=unknown, drop=_columns(text, sketch.names))

    if drop is None:
        found = _asked("Further columns to leave out (commas between, Enter: none)", "", without)
    dropped = [name for name in sketch.names if found.drop.get(name) == ASKED]
    after = ",".join(found.unknown)

    def wanted(text: str) -> Proposal:
        if text == after:
            return found
        return propose(sketch, unknown=_columns(text, sketch.names), drop=dropped)

    if unknown is None:
        found = _asked("Columns that the attacker is after", after, wanted)
    shown = ",".join(f"{level:g}" for level in EPSILON)
    levels = _levels(epsilon) if epsilon else _asked("Privacy levels (epsilon)", shown, _levels)
    return replace(found, epsilon=levels)


def _path_from(table: str, out: Path | None) -> str:
    if table.startswith("statsmodels:"):
        return table
    folder = Path.cwd() if out is None else out.parent.resolve()
    place = Path(table)
    return Path(os.path.relpath(place.parent.resolve() / place.name, folder)).as_posix()


def _check(out: Path, proposal: Proposal, observer: Observer) -> None:
    """Load the study and its table as an audit does, unless that takes long."""
    from narcissus.study import load_study

    if proposal.sketch.is_whole:
        try:
            load_study(out, observer=observer)
        except NarcissusError as error:
            raise InputError(f"wrote {out}, but it cannot be played as it is: {error}") from error


@click.command(help=HELP, short_help="Write a study of a table, to start from.")
@click.argument("table", type=click.Path())
@options.take("--unknown", "A,B,...", "Columns to reconstruct.  [proposed]")
@options.take("--drop", "A,B,...", "Further columns to leave out.")
@options.take("--epsilon", "E,E,...", "Privacy levels to compare.  [1,3,10]")
@options.take(
    "--rows", "N", "Rows that are looked at, the first ones.  [1000000]", click.IntRange(min=1)
)
@options.take(
    "--out",
    "FILE",
    "File to write, or - to print.  [name of TABLE.toml, here]",
    click.Path(path_type=Path, dir_okay=False, allow_dash=True),
)
@options.force
@options.flag("--yes", "Take what is proposed, without asking.")
@options.quiet
def command(
    *,
    table: str,
    unknown: str | None,
    drop: str | None,
    epsilon: str | None,
    rows: int | None,
    out: Path | None,
    force: bool,
    yes: bool,
    quiet: bool,
) -> None:
    from narcissus._files import put
    from narcissus.cli.progress import progress
    from narcissus.study.table.propose import EPSILON, draft, propose, summary
    from narcissus.tables.parts import ROWS, column_names, sketch_table

    is_printed = str(out) == "-"
    target = Path(f"{Path(table.rpartition(':')[2]).name.partition('.')[0]}.toml")
    target = target if out is None else out
    if not is_printed and target.exists() and not force:
        raise InputError(f"{target} exists; choose another with --out, or replace it with --force")
    levels = EPSILON if epsilon is None else _levels(epsilon)
    with progress(quiet=quiet) as observer:
        names = column_names(table)
        dropped = None if drop is None else _columns(drop, names)
        sketch = sketch_table(table, drop=dropped or (), rows=rows or ROWS, observer=observer)
    wanted = None if unknown is None else _columns(unknown, names)
    if not yes and not is_printed and sys.stdin.isatty() and sys.stderr.isatty():
        proposal = _ask(sketch, wanted, dropped, epsilon)
    else:
        proposal = propose(sketch, unknown=wanted, epsilon=levels)
    text = draft(proposal, _path_from(table, None if is_printed else target))
    if is_printed:
        click.echo(text, nl=False)
        return
    put(target, text)
    with progress(quiet=quiet) as observer:
        _check(target, proposal, observer)
    click.echo("\n".join(summary(proposal)))
    click.echo(f"wrote {target}; read it, then play it with: narcissus audit {target}")
