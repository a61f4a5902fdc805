"""``narcissus init`` and ``canaries``: what studies start from, and what they may say."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import click

from narcissus._validation import integer
from narcissus.cli.heart import rest
from narcissus.cli.options import COUNT, AsJson, Count, Opt, command, refuse_others
from narcissus.cli.questions import numbers, option_names
from narcissus.cli.rooms import propose, studies
from narcissus.errors import InputError, NarcissusError

if TYPE_CHECKING:
    from narcissus.kinds.table.propose import Proposal
    from narcissus.tables.parts import TableSketch

AnswerT = TypeVar("AnswerT")
PRINTED = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    unknown: str | None = None
    drop: str | None = None
    epsilon: str | None = None
    rows: Count = None
    out: Annotated[Path | None, Opt(PRINTED)] = None
    force: bool = False
    yes: bool = False
    example: Annotated[str | None, Opt(alone="")] = None
    schema: Annotated[str | None, Opt(alone="table")] = None
    parts: Annotated[str | None, Opt(alone="")] = None
    as_json: AsJson = False
    quiet: bool = False


TAKES = {
    "TABLE": ("table", "unknown", "drop", "epsilon", "rows", "out", "force", "yes", "quiet"),
    "--example": ("example", "out", "force", "as_json"),
    "--schema": ("schema",),
    "--parts": ("parts",),
}
"""What ``init`` may be asked for, with the parameters that go with it."""


@command
def init(table: Annotated[str | None, Opt(click.Path())] = None, *, of: InitOptions) -> None:
    asked = {"TABLE": table, "--example": of.example, "--schema": of.schema, "--parts": of.parts}
    wishes = [name for name, value in asked.items() if value is not None]
    if len(wishes) != 1:
        raise click.UsageError("give one of TABLE, --example, --schema and --parts")
    [wish] = wishes
    refuse_others(wish, *TAKES[wish])
    if table is not None:
        _write_of_table(table, of)
    elif of.example is not None:
        _write_example(of.example, of)
    elif of.schema is not None:
        print_schema(study_schema(of.schema))
    else:
        _list_parts(of.parts)


def _write_of_table(table: str, of: InitOptions) -> None:
    from narcissus._files import put
    from narcissus.cli.progress import progress
    from narcissus.kinds.table.examination import examine_proposal
    from narcissus.tables.parts import ROWS, column_names, sketch_table

    is_printed = str(of.out) == "-"
    target = Path(f"{Path(table.rpartition(':')[2]).name.partition('.')[0]}.toml")
    target = target if of.out is None else of.out
    if not is_printed and os.path.lexists(target) and not of.force:
        raise InputError(f"{target} exists; choose another with --out, or replace it with --force")
    levels = propose.EPSILON if of.epsilon is None else _levels(of.epsilon)
    with progress(quiet=of.quiet) as observer:
        names = column_names(table)
        dropped = None if of.drop is None else _columns(of.drop, names)
        sketch = sketch_table(table, drop=dropped or (), rows=of.rows or ROWS, observer=observer)
    wanted = None if of.unknown is None else _columns(of.unknown, names)
    if not of.yes and not is_printed and sys.stdin.isatty() and sys.stderr.isatty():
        proposal = _ask(sketch, wanted, dropped, of.epsilon)
    else:
        proposal = propose.propose(sketch, unknown=wanted, epsilon=levels, stand_in=False)
    with progress(quiet=of.quiet) as observer:
        proposal = examine_proposal(proposal, table, observer)
    text = propose.draft(proposal, _path_from(table, None if is_printed else target))
    if is_printed:
        click.echo(text, nl=False)
        return
    put(target, text)
    with progress(quiet=of.quiet) as observer:
        try:  # as an audit does, unless that takes long
            if proposal.sketch.is_whole:
                studies.load_study(target, observer=observer)
        except NarcissusError as error:
            why = f"wrote {target}, but it cannot be played as it is: {error}"
            raise InputError(why) from error
    click.echo("\n".join(propose.summary(proposal)))
    click.echo(f"wrote {target}; read it, then play it with: narcissus audit {quote(str(target))}")


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
    rest()
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
    proposal = propose.propose(sketch, unknown=unknown, drop=drop or [])
    click.echo("\n".join(["Proposed, by names and values:", *propose.summary(proposal)]), err=True)

    def without(text: str) -> Proposal:
        return propose.propose(sketch, unknown=unknown, drop=_columns(text, sketch.names))

    if drop is None:
        proposal = _asked("Further columns to leave out (commas between, Enter: none)", "", without)
    dropped = [name for name in sketch.names if proposal.drop.get(name) == propose.ASKED]
    after = ",".join(proposal.unknown)
    try:
        propose.propose(sketch, unknown=unknown, drop=dropped, stand_in=False)
    except propose.UnsureError as error:  # nothing stands in for an answer
        click.echo(f"{error}", err=True)
        after = ""

    def wanted(text: str) -> Proposal:
        if text == after:
            return proposal
        return propose.propose(sketch, unknown=_columns(text, sketch.names), drop=dropped)

    if unknown is None:
        proposal = _asked("Columns that the attacker is after", after, wanted)
    shown = ",".join(f"{level:g}" for level in propose.EPSILON)
    levels = _levels(epsilon) if epsilon else _asked("Privacy levels (epsilon)", shown, _levels)
    return replace(proposal, epsilon=levels)


def _path_from(table: str, out: Path | None) -> str:
    if table.startswith("statsmodels:"):
        return table
    folder = Path.cwd() if out is None else out.parent.resolve()
    place = Path(table)
    return Path(os.path.relpath(place.parent.resolve() / place.name, folder)).as_posix()


def _write_example(name: str, of: InitOptions) -> None:
    """Write the shipped study of this name; list all for an empty one."""
    from narcissus.study.shipped import shipped_studies, shipped_study

    if name:
        if of.as_json:
            raise InputError("`--json` is for the list: `--example` without a NAME")
        study = shipped_study(name)
        if str(of.out) == "-":
            click.echo(study.path.read_text(encoding="utf-8"), nl=False)
        else:
            _copy(study, Path(f"{name}.toml") if of.out is None else of.out, force=of.force)
        return
    if of.out is not None or of.force:
        raise InputError("`--out` and `--force` need the NAME of a study: `--example NAME`")
    if of.as_json:
        rows = [
            {
                **{key: getattr(s, key) for key in ("name", "kind", "about", "source")},
                "expected": s.expected,
                "tables": [table.name for table in s.tables],
            }
            for s in shipped_studies()
        ]
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for study in shipped_studies():
        click.echo(study.name)
        text = f"{study.about} [{study.source}]" if study.source else study.about
        click.echo(textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    "))


def _copy(study: Any, target: Path, *, force: bool) -> None:
    """Write a shipped study, and the files that it reads next to it."""
    from narcissus._files import put

    copies = {study.path: target, **{table: target.parent / table.name for table in study.tables}}
    for source, copy in copies.items():
        same = source is not study.path and copy.is_file()
        if (
            os.path.lexists(copy)
            and not force
            and not (same and copy.read_bytes() == source.read_bytes())
        ):
            another = f"choose another {'file' if copy == target else 'folder'} with --out"
            raise InputError(f"{copy} exists; {another}, or replace it with --force")
    for source, copy in reversed(copies.items()):  # the study last: where it is, its table is
        put(copy, source.read_bytes())
    wrote = " and ".join(map(str, copies.values()))
    click.echo(f"wrote {wrote}; play it with: narcissus audit {quote(str(target))}")


def _list_parts(room: str | None) -> None:
    """Print the parts that sections can name, those of one room or, without a name, all."""
    from narcissus._validation import one_of
    from narcissus.study.part_section import as_text
    from narcissus.study.registry import ROOMS

    rooms = [one_of("ROOM", room, ROOMS)] if room else list(ROOMS)
    click.echo("\n\n".join(map(as_text, rooms)))


def print_schema(schema: dict[str, Any]) -> None:
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))


@dataclass(frozen=True, kw_only=True)
class CanaryOptions:
    each: Annotated[int, Opt(COUNT)] = 20
    copies: str = "1,4,16"
    digits: int = 8
    text: str = "The code of safe {number} is {secret}."


@command
def canaries(
    action: Annotated[str, Opt(click.Choice(["write"]))],
    folder: Annotated[Path, Opt(click.Path(path_type=Path, file_okay=False))],
    *,
    of: CanaryOptions,
) -> None:
    from narcissus._files import put, require_own_folder, write_atomically
    from narcissus.extraction import canaries as made
    from narcissus.study.keyed import kept_key, new_key

    copies = tuple(
        integer("--copies", number, low=1, high=made.MOST_COPIES)
        for number in numbers("--copies", of.copies)
    )
    total = of.each * sum(copies)
    if total > MOST_PLANTED:
        raise InputError(
            f"{total:,} documents to plant are too many: at most {MOST_PLANTED:,}, with copies"
        )
    if len(of.text.splitlines()) > 1:
        raise InputError("`--text` must be one line, since a document is a line")
    with option_names(**{name: f"--{name}" for name in ("copies", "digits", "text")}):
        plan = made.CanaryPlan(of.each, copies, of.digits, of.text)
    table, planted, key_file = (folder / name for name in CANARY_FILES)
    require_own_folder(table)
    if os.path.lexists(table) or os.path.lexists(planted):
        raise InputError(
            f"{folder} holds canaries already, which an audit may still need: choose another folder"
        )
    key = kept_key(folder, key_file.name)
    if os.path.lexists(key_file) and key is None:
        raise InputError(
            f"{key_file} is no key that only you can read: 64 hexadecimal digits, in a file of "
            "mode 600; remove it to draw a new one"
        )
    key = key or new_key(folder, key_file.name)
    drawn = plan.keyed(key)
    put(planted, made.to_plant(drawn, key))
    write_atomically(table, made.canary_table(drawn), private=True)
    click.echo(
        f"{planted}: {total:,} documents, a line each, to add to the training text\n"
        f"{table}: the {len(drawn):,} canaries ({of.each:,} for each number of copies), for the "
        'audit afterwards: `file` in [canaries] of a study of kind "language-model"\n'
        f"{key_file}: the key that drew them; keep it and the table from an attacker"
    )


CANARY_FILES = "canaries.csv", "plant.txt", "canaries.key"
MOST_PLANTED = 10**6
"""Documents that are written to be planted, all copies counted."""
DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


def study_schema(kind: str) -> dict[str, Any]:
    from narcissus.study.kinds import study_kind

    schema = study_kind(kind).model.model_json_schema(by_alias=True)
    entry: dict[str, Any] = {"const": kind, "description": "The kind of study."}
    required = list(schema.get("required", []))
    if kind == "table":
        entry["default"] = kind
    else:
        required.append("kind")
    schema["properties"] = {"kind": entry, **schema.get("properties", {})}
    if required:
        schema["required"] = required
    return {**DIALECT, **schema, "title": f"Narcissus study of kind {kind}"}


def record_schema(kind: str | None) -> dict[str, Any]:
    """Return the JSON Schema of records of a kind; None: what all kinds share."""
    from narcissus.study.kinds import study_kind
    from narcissus.study.record import Record

    schema = Record.model_json_schema(by_alias=True)
    title = "Narcissus record"
    if kind is not None:
        typed = study_kind(kind).result.model_json_schema()
        # references in it are to its own root, which moves
        schema.setdefault("$defs", {}).update(typed.pop("$defs", {}))
        schema["properties"] |= {"result": typed, "kind": {"const": kind}}
        title += f" of kind {kind}"
    # every record is sealed, though the model can hold one that is not yet
    schema["required"] = list(schema["properties"])
    return {**DIALECT, **schema, "title": title}
