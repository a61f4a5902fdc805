"""``narcissus-papers reproduce``: a paper's figures and statements, our numbers and theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.main import NOT_ASSESSED, OK
from narcissus.cli.options import Opt, command_of, given_options, some
from narcissus.cli.playing import Run
from narcissus_papers.base import OwnModel, OwnTable

if TYPE_CHECKING:
    from narcissus_papers import Item, Reproduced
    from narcissus_papers.base import Kind
    from narcissus_papers.page import Made

_PAGE = Path(__file__).with_name("reproduce.txt").read_text(encoding="utf-8")
OWN = {*(one.name for one in fields(OwnTable)), "unknown", "drop", "bins", "missing", "read_as"}
OF_MODEL = [one.name for one in fields(OwnModel) if one.name not in ("model", "epsilons")]
NAMING = {"statement", "listed", "everything", "data"}
Folder = Annotated[Path | None, Opt(click.Path(path_type=Path, file_okay=False))]


@dataclass(frozen=True, kw_only=True)
class OwnOptions:
    """What is one's own: a table, named by an option that the papers have, too, or a model."""

    model: Folder = None
    of_model: Annotated[OwnModel, some(*OF_MODEL)]
    of_table: OwnTable


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
    from narcissus_papers import reproduce as again
    from narcissus_papers.job import as_dict

    if out is not None:
        on_interrupt("what is finished is kept; the same command continues")
    whose = None if figure is None else "model" if own.model else "table" if table else None
    _require_fitting(whose)
    if figure is not None and whose is not None:
        asked: OwnTable | OwnModel = own.of_table
        if own.model is not None:
            asked = replace(own.of_model, model=own.model, epsilons=asked.epsilons)
        play = partial(_of_own, f"{paper}/{figure}", table, asked, out, run.workers)
    else:
        named: dict[Kind, str | None] = {"figure": figure, "table": table, "statement": statement}
        items = _items(paper, named, listed=listed, everything=everything)
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


def _require_fitting(whose: str | None) -> None:
    """Refuse options that change nothing in what is asked for: of a paper, a table or a model."""
    others = {
        None: {*OWN, *OF_MODEL, "model"},
        "table": {*OF_MODEL, *NAMING},
        "model": {*OWN, *NAMING, "table"} - {"epsilons"},
    }
    given = given_options(click.get_current_context())
    if idle := [one.opts[0] for one in given if one.name in others[whose]]:
        fitting = f"not for --figure N of your own --{whose}"
        only = "for --figure N of your own --table FILE or --model FOLDER only"
        raise click.UsageError(f"{', '.join(idle)}: {fitting if whose else only}")


def _of_own(
    name: str,
    table: str | None,
    asked: OwnTable | OwnModel,
    out: Path | None,
    workers: int | None,
    **how: Any,
) -> list[Made]:
    """Make a figure of one's own; ``how`` is the time agreed to, observer and engine."""
    from narcissus_papers import reproduce as again

    told = {"hours": how["hours"], "observer": how["observer"]}
    if isinstance(asked, OwnModel):
        from narcissus_papers.own_model import own_model_item

        item, data = own_model_item(name, asked, out=out, **told), asked.model
        how["engine"] = how["engine"] or (None if workers else "serial")  # PyTorch has its threads
    else:
        from narcissus_papers.own import own_item

        data = Path(str(table)).resolve().parent
        item = own_item(name, Path(str(table)), asked, **told)
    return again([item], out, data=data, workers=workers, **how)


def _items(
    paper: str | None, named: dict[Kind, str | None], *, listed: bool, everything: bool
) -> Sequence[Item]:
    from narcissus_papers import chosen

    kind, number = _asked(paper, named, listed or everything)
    if listed and everything:
        raise click.UsageError("--list names what --all makes: give one of them")
    return chosen(paper, kind, number)


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
    return asked[0]


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
