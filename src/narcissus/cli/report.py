"""``narcissus report``: redraw a record, whole or in brief, or export it to output checkers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from narcissus.cli import options
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.study.record import Record

HELP = """Draw RECORD again, as one HTML file or as text.

RECORD is a record.json, or the results folder that it lies in. The same record gives the same
report, byte for byte. In place of the whole report: one page for those who decide (--brief), the
findings beside the items of five frameworks (--mapping), or a folder for output checkers
(--export acro).

What is drawn may be shown (--shareable): digests of data, the seed, pictures of training data and
folders of this machine are left out, and the page lists what it gives away. record.json, the
other files beside it and --internal are for whoever may see the data.

\b
Examples:
  narcissus report results/affairs
  narcissus report results/affairs/record.json --out affairs.html
  narcissus report results/affairs --text | less
  narcissus report results/affairs --brief
  narcissus report results/affairs --mapping --text
  narcissus report results/affairs --export acro --out outputs
  narcissus report results/affairs --record shown.json    # the record, as it may be shown
  narcissus report results/affairs --internal --out internal.html
"""


@click.command(help=HELP, short_help="Draw a record again.")
@click.argument("record", type=click.Path(path_type=Path))
@options.take(
    "--out",
    "FILE",
    "Where to write.  [default: report.html, brief.html, mapping.html or the folder acro "
    "beside the record; with --text, standard output]",
    click.Path(path_type=Path),
)
@options.flag("--text", "Text for a terminal instead of HTML.", name="as_text")
@options.flag("--brief", "One page in plain words, for those who decide.")
@options.flag(
    "--mapping", "Findings by framework: WP216, NIST SP 800-226, ISO/IEC 27559, Five Safes, SATRE."
)
@options.take(
    "--export",
    None,
    "A folder of evidence that ACRO and the SACRO viewer take in.",
    click.Choice(["acro"]),
)
@options.take(
    "--shareable/--internal",
    None,
    "What may be shown, or all that the steward may see.  [shareable]",
    default=True,
)
@options.take(
    "--record",
    "FILE",
    "Write the record without what must not be shown.",
    click.Path(path_type=Path),
    name="shown",
)
def command(
    record: Path,
    out: Path | None,
    as_text: bool,
    brief: bool,
    mapping: bool,
    export: str | None,
    shareable: bool,
    shown: Path | None,
) -> None:
    from narcissus._files import parsing, write_atomically
    from narcissus.study.reading import read_record

    name = _form(
        {"--brief": brief, "--mapping": mapping, "--export": export, "--record": shown},
        {
            "--text": as_text and (export or shown),
            "--internal": shown and not shareable,
            "--out": shown and out,
        },
    )
    path = record / "record.json" if record.is_dir() else record
    loaded = read_record(path)
    if shown is not None:
        from narcissus._files import put
        from narcissus.study.shareable import shareable as without

        put(shown, without(loaded).to_json())
        click.echo(f"Record: {shown}")
        return
    target = out or path.with_name("acro" if export else f"{name}.html")
    try:
        # A record that others wrote may hold what its schema allows and no study ever gives.
        with parsing(path, f"a record of kind {loaded.kind!r} that can be drawn"):
            drawn = "" if export else _drawn(loaded, name, as_text=as_text, internal=not shareable)
        if export:
            from narcissus.report.acro import export_acro

            export_acro(loaded, path, target)
        elif out is None and as_text:
            click.echo(drawn, nl=False)
            return
        elif target.is_dir():
            raise InputError(f"`--out`: {target} is a folder; name a file")
        else:
            write_atomically(target, drawn)
    except OSError as error:
        raise InputError(
            f"`--out`: cannot write {target} ({error.strerror or error}); "
            "choose a file in a folder that exists and can be written to"
        ) from error
    click.echo(f"{'Outputs for ACRO' if export else name.capitalize()}: {target}")


def _form(forms: Mapping[str, object], also: Mapping[str, object]) -> str:
    """Return the chosen form; refuse two forms, and options that the form does not take."""
    asked = [name for name, on in forms.items() if on]
    asked += [name for name, on in also.items() if on and asked]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} do not go together; choose one")
    return asked[0].removeprefix("--") if asked else "report"


def _drawn(record: Record, name: str, *, as_text: bool, internal: bool) -> str:
    from narcissus.report import render_html, render_text

    if name == "report":
        draw = render_text if as_text else render_html
        return draw(record, internal=internal)
    from narcissus.report.brief import brief_of, render_brief
    from narcissus.report.html import page_html
    from narcissus.report.mapping import mapping_of
    from narcissus.report.text import page_text

    if as_text:
        page = brief_of if name == "brief" else mapping_of
        return page_text(page(record, internal=internal))
    if name == "brief":
        return render_brief(record, internal=internal)
    return page_html(mapping_of(record, internal=internal), digest=record.digest)
