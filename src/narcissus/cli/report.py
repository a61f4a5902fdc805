"""``narcissus report``: draw a record again."""

from __future__ import annotations

from pathlib import Path

import click

from narcissus.errors import InputError

HELP = """Draw RECORD again, as one HTML file or as text.

RECORD is a record.json, or the results folder that it lies in. The same record gives the same
report, byte for byte.

\b
Examples:
  narcissus report results/affairs
  narcissus report results/affairs/record.json --out affairs.html
  narcissus report results/affairs --text | less
"""


@click.command(help=HELP, short_help="Draw a record again.")
@click.argument("record", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to write.  [default: report.html beside the record; with --text, standard output]",
)
@click.option("--text", "as_text", is_flag=True, help="Text for a terminal instead of HTML.")
def command(record: Path, out: Path | None, as_text: bool) -> None:
    """Draw a record again."""
    from narcissus._files import parsing, write_atomically
    from narcissus.report import render_html, render_text
    from narcissus.study.record import read_record

    path = record / "record.json" if record.is_dir() else record
    loaded = read_record(path)
    # A record that others wrote may hold what its schema allows and no study ever gives.
    with parsing(path, f"a record of kind {loaded.kind!r} that can be drawn"):
        drawn = render_text(loaded) if as_text else render_html(loaded)
    if out is None and as_text:
        click.echo(drawn, nl=False)
        return
    target = path.with_name("report.html") if out is None else out
    try:
        write_atomically(target, drawn)
    except OSError as error:
        raise InputError(
            f"`--out`: cannot write {target} ({error.strerror or error}); "
            "choose a file in a folder that exists and can be written to"
        ) from error
    click.echo(f"Report: {target}")
