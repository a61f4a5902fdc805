"""``narcissus extract``: evidence that a program is an extractor."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

from narcissus.cli import options
from narcissus.cli.audit import prepare_folder, show
from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.main import NOT_ASSESSED
from narcissus.cli.playing import Run, shared
from narcissus.observer import SILENT

HELP = """Weigh the evidence that a program extracts data from a release.

EVIDENCE is a TOML file that names the data, the release, the program (Python; it finds the release
on standard input and as the file `release`) and when its output counts:

\b
  data = "training.txt"
  release = "model.txt"
  program = "extract.py"
  relation = "exact"            # or a table: strings, near, close, hamming
  runs = 20
  shadows = ["other.txt"]       # data of the same kind that was not released

The program runs in a sandbox with the release, with stand-ins for it, and its outputs are held
against the shadow data. Leaves record.json and report.html in the results folder.

\b
Examples:
  narcissus extract examples/extraction/copy.toml
  narcissus extract evidence.toml --out results/try --seed 7 --workers 2
  narcissus extract evidence.toml --json > record.json

\b
Exit codes:
  0  assessed; the threshold is met, or none was set
  1  the threshold on the quality is exceeded
  2  the file, the program or the release is unusable
  3  inconclusive, or this machine cannot isolate the program
"""


@click.command(help=HELP, short_help="Weigh the evidence that a program extracts data.")
@click.argument("evidence", type=click.Path(path_type=Path))
@options.out_folder("evidence file")
@options.seed("Seed of the stand-in for the release.")
@options.workers("Runs at the same time.")
@options.yes
@options.restart("Replace what another study left in FOLDER.")
@options.flag(
    "--no-isolation",
    "Run the program unprotected: only for one that you wrote or read. The record says so.",
)
@options.records("Write the evidence in full to FILE, for internal use.")
@options.as_json("Print the record on standard output.")
@options.quiet
@shared
def command(*, evidence: Path, no_isolation: bool, records: Path | None, run: Run) -> int:
    from narcissus.audits import run as play
    from narcissus.extraction.sandbox import IsolationError, without_isolation
    from narcissus.study import Study
    from narcissus.study.extraction import KIND
    from narcissus.study.toml import read_document, validate

    document = read_document(evidence)
    kind = document.data.pop("kind", "extraction")
    if kind != "extraction":
        raise click.UsageError(
            f"{evidence} is a study of kind '{kind}': play it with `narcissus audit {evidence}`"
        )
    study = Study("extraction", validate(KIND.model, document), evidence.resolve().parent)
    KIND.check(study.settings, study.folder, SILENT)
    folder = run.out or Path("results") / evidence.stem
    prepare_folder(folder, study, restart=run.restart)
    on_interrupt("nothing was kept; run the same command again")
    how: dict[str, Any] = {"rng": run.seed, "workers": run.workers, "internal": records}
    try:
        with without_isolation() if no_isolation else nullcontext():
            audit = run.play(partial(play, study, **how))
    except IsolationError as error:
        click.echo(f"not assessed: {error}", err=True)
        return NOT_ASSESSED
    audit.save(folder)
    return show(audit, folder, as_json=run.as_json)
