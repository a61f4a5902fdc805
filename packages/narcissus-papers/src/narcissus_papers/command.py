"""``narcissus reproduce``: a paper's figures, tables and statements, our numbers and theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.main import NOT_ASSESSED, OK
from narcissus.cli.options import COUNT, Opt, command_of, some
from narcissus.cli.playing import Run, SynthOptions
from narcissus.cli.questions import numbers
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.observer import Observer
    from narcissus_papers import Item, Reproduced
    from narcissus_papers.base import Kind
    from narcissus_papers.page import Made

_PAGE = Path(__file__).with_name("reproduce.txt").read_text(encoding="utf-8")
Folder = Annotated[Path | None, Opt(click.Path(path_type=Path, file_okay=False))]


@dataclass(frozen=True, kw_only=True)
class OwnOptions:
    k: Annotated[int | None, Opt(COUNT)] = None
    epsilons: str | None = None
    levels: str | None = None
    distances: str | None = None
    people: Annotated[int | None, Opt(COUNT)] = None
    releases: Annotated[int | None, Opt(COUNT)] = None
    read: Annotated[SynthOptions, some("unknown", "drop", "bins", "missing", "read_as")]


@partial(command_of, page=_PAGE.replace(r"\b", "\b"))
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
    own: OwnOptions,
    run: Annotated[Run, some("workers", "engine", "scheduler", "yes", "quiet", "as_json")],
) -> int:
    from narcissus_papers import chosen
    from narcissus_papers import reproduce as again
    from narcissus_papers.job import as_dict

    if out is not None:
        on_interrupt("what is finished is kept; the same command continues")
    if table is not None and figure is not None:
        if statement is not None or listed or everything or data is not None:
            raise click.UsageError("a --figure of your own --table goes with none of the others")
        play = partial(_of_own, paper, figure, Path(table), own, out, workers=run.workers)
    else:
        if any(one not in (None, (), [], {}) for one in _flat(own)):
            raise click.UsageError("--unknown and its like go with --figure N --table FILE")
        kind, number = _asked(
            paper, {"figure": figure, "table": table, "statement": statement}, listed or everything
        )
        if listed and everything:
            raise click.UsageError("--list names what --all makes: give one of them")
        items = chosen(paper, kind, number)
        if listed:
            _list(items, as_json=run.as_json)
            return OK
        play = partial(again, items, out, data=data, workers=run.workers)
    made = run.play(play)
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


def _flat(own: OwnOptions) -> list[Any]:
    read = own.read
    ways = [read.unknown, read.drop, read.bins, read.missing, read.read_as]
    return [*ways, own.k, own.epsilons, own.levels, own.distances, own.people, own.releases]


def _of_own(
    paper: str | None,
    figure: str,
    path: Path,
    own: OwnOptions,
    out: Path | None,
    *,
    hours: float | None,
    observer: Observer,
    **how: Any,
) -> list[Made]:
    """Make a figure of a table of one's own."""
    from narcissus.tables import Bins
    from narcissus_papers import reproduce as again
    from narcissus_papers.own import Asked, own_item, own_source

    if not path.is_file():
        raise InputError(f"`--table` beside `--figure` names a file, and there is no file {path}")
    read = own.read
    source = own_source(
        path,
        drop=tuple(read.drop or ()),
        bins=tuple((name, Bins(**way)) for name, way in read.bins.items()),
        missing=read.missing or "category",
        read_as=tuple(read.read_as.items()),
    )
    asked: dict[str, Any] = {"unknown": tuple(dict.fromkeys(read.unknown or ()))}
    asked |= {name: getattr(own, name) for name in ("k", "people", "releases")}
    for name in ("epsilons", "levels", "distances"):
        text = getattr(own, name)
        asked[name] = None if text is None else tuple(dict.fromkeys(numbers(f"--{name}", text)))
    wanted = Asked(**{name: one for name, one in asked.items() if one is not None})
    folder = path.resolve().parent
    item = own_item(paper, figure, source, wanted, folder, hours=hours, observer=observer)
    return again([item], out, data=folder, hours=hours, observer=observer, **how)


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
