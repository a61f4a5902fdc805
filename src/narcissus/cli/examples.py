"""``narcissus examples``: list the shipped studies, or write one to a file to start from."""

from __future__ import annotations

import json
from pathlib import Path

import click

from narcissus.cli import options

HELP = """List the shipped studies: a table and a language model to audit, and games of the papers.

With NAME, write that study to a file to start from: NAME.toml in this folder, or --out FILE, and
beside it the files that it reads; `--out -` prints the study alone.

\b
Examples:
  narcissus examples
  narcissus examples audit-a-table
  narcissus examples mona-lisa-narcissus
  narcissus examples counting-query --out mine.toml
  narcissus examples counting-query --out - | less
"""


@click.command(help=HELP, short_help="List the shipped studies, or write one to a file.")
@click.argument("name", required=False)
@options.take(
    "--out",
    "FILE",
    "File to write, or - to print.",
    click.Path(path_type=Path, dir_okay=False, allow_dash=True),
)
@options.flag("--force", "Replace files that exist.")
@options.as_json("Print the list as JSON.")
def command(name: str | None, *, out: Path | None, force: bool, as_json: bool) -> None:
    import textwrap

    from narcissus.errors import InputError
    from narcissus.study.shipped import shipped_studies, shipped_study

    if name is None:
        if out is not None:
            raise InputError("`--out` needs the NAME of a study")
        studies = shipped_studies()
        if as_json:
            rows = [
                {
                    **{key: getattr(s, key) for key in ("name", "kind", "about", "source")},
                    "expected": s.expected,
                    "tables": [table.name for table in s.tables],
                }
                for s in studies
            ]
            click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
            return
        for study in studies:
            click.echo(study.name)
            text = f"{study.about} [{study.source}]" if study.source else study.about
            click.echo(textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    "))
        return
    study = shipped_study(name)
    if str(out) == "-":
        click.echo(study.path.read_text(encoding="utf-8"), nl=False)
        return
    target = Path(f"{name}.toml") if out is None else out
    copies = {study.path: target, **{table: target.parent / table.name for table in study.tables}}
    for source, copy in copies.items():
        if copy.exists() and not force and (source is study.path or not _is_same(source, copy)):
            another = f"choose another {'file' if copy == target else 'folder'} with --out"
            raise InputError(f"{copy} exists; {another}, or replace it with --force")
    for source, copy in reversed(copies.items()):  # the study last: where it is, its table is
        try:
            copy.write_bytes(source.read_bytes())
        except OSError as error:
            raise InputError(f"cannot write {copy}: {error.strerror or error}") from error
    wrote = " and ".join(map(str, copies.values()))
    click.echo(f"wrote {wrote}; play it with: narcissus audit {target}")


def _is_same(one: Path, other: Path) -> bool:
    return other.is_file() and other.read_bytes() == one.read_bytes()
