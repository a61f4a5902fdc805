"""``narcissus reproduce``: a paper's figures, tables and statements, our numbers and theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.main import NOT_ASSESSED, OK
from narcissus.cli.options import Opt, command_of, some
from narcissus.cli.playing import Run

if TYPE_CHECKING:
    from narcissus_papers import Item, Reproduced
    from narcissus_papers.base import Kind

HELP = """Make a figure, table or statement of the papers again: the data, a picture, and each
number that is printed beside ours.

PAPER is a number: 000 and 003 Narcissus resiliency, 001 Beyond the worst case, 002 Bayes security,
004 Bayesian extraction-safety. Figure 2 is all of its parts, 2a and 2b.

\b
Examples:
  narcissus reproduce --list
  narcissus reproduce 001 --figure 1
  narcissus reproduce 001 --figure 2b --out figures
  narcissus reproduce --all --out papers --workers 4
  narcissus reproduce 001 --all --data downloads --out papers

FOLDER gets a folder for each, with data.csv, data.json and picture.svg, and index.html for all.
What is finished is kept there: interrupted, the same command continues, and what was made by other
code, versions or data is made anew. One that fails does not stop the others (exit code 3).

Each number that is printed agrees (to its last digit), differs, or is fitted (a constant of ours
was chosen so that it agrees); where the paper prints a curve only there is no number in print.

Some take data that do not come with Narcissus: put the files into a folder and name it by --data.
A note says which file is missing, and where it is from; what needs it is then left out.

\b
Keys of --list --json, a list: paper, kind, number, title, seconds (on one core).
Keys of --json, a list: paper, kind, number, title, verdict (agrees, differs, fitted, no number in
print, failed), because, shown (proved, checked, played), printed (what, paper, ours, word, because,
within, quote, place), held (what, holds, shown, because, quote, place), notes, data (rows, names
first).
---
--figure N
    A figure by its number.
--table N
    A table by its number.
--statement S
    A theorem, lemma or example by its number.
--list
    Name all that can be made again.
--all
    Make all of them (of PAPER, if given).
--out FOLDER
    Folder to write to; without it only the numbers are printed.
--data FOLDER
    Folder with data that are not in Narcissus; their checksums are looked at.
--json
    Print JSON in full precision.
---
"""
Folder = Annotated[Path | None, Opt(click.Path(path_type=Path, file_okay=False))]


@partial(command_of, page=HELP)
def reproduce(
    paper: str | None = None,
    *,
    figure: str | None = None,
    table: str | None = None,
    statement: str | None = None,
    listed: Annotated[bool, Opt(name="--list")] = False,
    everything: Annotated[bool, Opt(name="--all")] = False,
    out: Folder = None,
    data: Folder = None,
    run: Annotated[Run, some("workers", "engine", "scheduler", "yes", "quiet", "as_json")],
) -> int:
    from narcissus_papers import chosen
    from narcissus_papers import reproduce as again
    from narcissus_papers.job import as_dict

    kind, number = _asked(
        paper, {"figure": figure, "table": table, "statement": statement}, listed or everything
    )
    if listed and everything:
        raise click.UsageError("--list names what --all makes: give one of them")
    items = chosen(paper, kind, number)
    if listed:
        _list(items, as_json=run.as_json)
        return OK
    if out is not None:
        on_interrupt("what is finished is kept; the same command continues")
    made = run.play(partial(again, items, out, data=data, workers=run.workers))
    failed = [item.name for item, one in made if one.failed]
    if run.as_json:
        found = [as_dict(item, one) for item, one in made]
        click.echo(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        for item, one in made:
            _say(item, one)
        if out is not None:
            click.echo(f"wrote {out / 'index.html'}")
    if failed:
        click.echo(f"failed: {', '.join(failed)}", err=True)
    return NOT_ASSESSED if failed else OK


def _asked(
    paper: str | None, named: dict[Kind, str | None], several: bool
) -> tuple[Kind | None, str | None]:
    asked: list[tuple[Kind, str]] = [(k, n) for k, n in named.items() if n is not None]
    if len(asked) + several != 1:
        raise click.UsageError("give one of --figure N, --table N, --statement S, --all and --list")
    if not asked:
        return None, None
    if paper is None:
        raise click.UsageError(f"--{asked[0][0]} needs the number of a PAPER, such as 001")
    kind, number = asked[0]
    return kind, number


def _list(items: Sequence[Item], *, as_json: bool) -> None:
    if as_json:
        names = ("paper", "kind", "number", "title", "seconds")
        rows = [{name: getattr(item, name) for name in names} for item in items]
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    width = max(len(item.number) for item in items)
    for item in items:
        seconds = f"{item.seconds:,.3g} s"
        click.echo(f"{item.paper} {item.kind:<9} {item.number:<{width}} {seconds:>8}  {item.title}")


def _say(item: Item, made: Reproduced) -> None:
    click.echo(f"{item.paper} {item.kind} {item.number}: {item.title}")
    for one in made.printed:
        paper = "none in print" if one.quote is None else f"paper {one.quote.number}"
        sign = "DIFFERS" if one.word == "differs" else one.word.partition(" ")[0]
        sign = "-" if one.quote is None else sign
        place = "" if one.quote is None else f" ({one.quote.place})"
        click.echo(f"  {sign:<7}  {paper:<17} ours {one.ours:<11.6g} {one.what}{place}")
    for one in made.held:
        sign = "holds  " if one.holds else "FAILS  "
        click.echo(f"  {sign}  {one.what} ({one.shown})")
    click.echo(f"  {made.verdict}: {made.because}")
    for note in made.notes:
        click.echo(f"  note: {note}")
