"""``narcissus examples``: list the shipped studies, or write one to a file to start from."""

from __future__ import annotations

import json
from pathlib import Path

import click

from narcissus.cli import options

HELP = """List the shipped studies: one for each statement and example of the papers.

With NAME, write that study to a file to start from: NAME.toml in this folder, or --out FILE;
`--out -` prints it.

\b
Examples:
  narcissus examples
  narcissus examples mona-lisa-narcissus
  narcissus examples counting-query --out mine.toml
  narcissus examples counting-query --out - | less
"""


@click.command(help=HELP, short_help="List the shipped studies, or write one to a file.")
@click.argument("name", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="File to write, or - to print.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@options.as_json("Print the list as JSON.")
def command(name: str | None, *, out: Path | None, force: bool, as_json: bool) -> None:
    """List or write shipped studies."""
    import textwrap

    from narcissus.errors import InputError
    from narcissus.study.shipped import shipped_studies, shipped_study

    if name is None:
        if out is not None:
            raise InputError("`--out` needs the NAME of a study")
        studies = shipped_studies()
        if as_json:
            rows = [
                {"name": s.name, "about": s.about, "source": s.source, "expected": s.expected}
                for s in studies
            ]
            click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
            return
        for study in studies:
            click.echo(study.name)
            text = f"{study.about} [{study.source}]" if study.source else study.about
            click.echo(textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    "))
        return
    text = shipped_study(name).path.read_text(encoding="utf-8")
    if str(out) == "-":
        click.echo(text, nl=False)
        return
    target = Path(f"{name}.toml") if out is None else out
    if target.exists() and not force:
        raise InputError(f"{target} exists; choose another with --out, or replace it with --force")
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error
    click.echo(f"wrote {target}; play it with: narcissus audit {target}")
