"""``narcissus audit``: play a study, save its record and report, print the verdict."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus.cli import options
from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.main import EXCEEDED, NOT_ASSESSED, OK
from narcissus.cli.playing import Run, shared
from narcissus.errors import InputError, StoreError

if TYPE_CHECKING:
    from narcissus.audits import Audit
    from narcissus.study import Study

# what each status of a record exits with
EXITS = {
    "met": OK,
    "no threshold": OK,
    "exceeded": EXCEEDED,
    "contradicted": NOT_ASSESSED,
    "too few trials": NOT_ASSESSED,
    "inconclusive": NOT_ASSESSED,
    "not shown": NOT_ASSESSED,
    "not assessed": NOT_ASSESSED,
}

HELP = """Play STUDY: what an attacker recovers, and what no attacker can.

Leaves record.json (every number, in full precision) and report.html in the results folder, and
prints the verdict. Interrupted, the same command continues where it stopped.

\b
Examples:
  narcissus audit examples/affairs.toml
  narcissus audit examples/affairs.toml --out results/try --seed 7 --workers 2
  narcissus audit examples/affairs.toml --policy policy.toml
  narcissus audit examples/affairs.toml --json > record.json
  narcissus audit examples/affairs.toml --scheduler tls://10.0.0.5:8786

\b
Exit codes:
  0  assessed; the threshold is met, or none was set
  1  the threshold is exceeded
  2  the study or an option is wrong (nothing was run)
  3  inconclusive, or it could not be assessed
"""


def _require_writable(folder: Path, name: str, option: str) -> None:
    """Refuse a folder that cannot be created or written to; leave nothing behind."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise StoreError(
            f"{name} {folder} cannot be written to ({error.strerror or error}); "
            f"choose another with {option}"
        ) from error


def prepare_folder(folder: Path, study: Study, *, restart: bool) -> None:
    """Refuse an unusable results folder before any work.

    A folder with stored trials is checked by the kind of study, since a run may be extended. A
    folder with a record alone must hold a record of this very study.
    """
    from narcissus.study.reading import read_record
    from narcissus.study.store import FILE

    _require_writable(folder, "the results folder", "--out")
    record = folder / "record.json"
    if restart or not record.exists() or (folder / FILE).exists():
        return
    try:
        digest = read_record(record).provenance.digests.get("study")
    except InputError:
        return  # damaged: the new record takes its place
    if digest is not None and digest != f"sha256:{study.digest}":
        raise StoreError(
            f"the results folder {folder} belongs to another study (or to this one before it was "
            "changed); choose another with --out, or replace what is there with --restart"
        )


def _again(study: Path, options: Mapping[str, object]) -> str:
    words = ["narcissus", "audit", str(study)]
    for name, value in options.items():
        if value is True:
            words.append(f"--{name}")
        elif value is not None and value is not False:
            words += [f"--{name}", str(value)]
    return shlex.join(words)


@click.command(help=HELP, short_help="Play a study.")
@click.argument("study", type=click.Path(path_type=Path))
@options.out_folder("study file")
@options.seed("Seed of all chance; the study's own if not given.")
@options.workers("Worker processes; the numbers do not depend on it.")
@options.engine
@options.allow_code
@options.yes
@options.restart("Throw away what an earlier run left in FOLDER.")
@options.file(
    "--policy",
    "FILE",
    "Thresholds of whoever approves the release, each with its reason.",
    exists=True,
)
@options.records(
    "Write what is about single records to FILE, for internal use; the record never holds it."
)
@options.file(
    "--sign",
    "KEY",
    "Sign the record with this Ed25519 private key (PEM); `narcissus verify` checks it.",
)
@options.as_json("Print the record on standard output.")
@options.quiet
@shared
def command(
    *, study: Path, policy: Path | None, records: Path | None, sign: Path | None, run: Run
) -> int:
    from narcissus.audits import run as play
    from narcissus.cli.progress import progress
    from narcissus.study import load_study
    from narcissus.study.signing import read_private_key
    from narcissus.study.signing import sign as sign_record

    with progress(quiet=run.quiet) as observer:
        loaded = load_study(study, allow_code=run.allow_code, observer=observer)
    folder = run.out or Path("results") / study.stem
    key = None if sign is None else read_private_key(sign)
    prepare_folder(folder, loaded, restart=run.restart)
    if records is not None:
        _require_writable(records.absolute().parent, "the folder of --records", "--records")
    given = {"out": folder, "seed": run.seed, "workers": run.workers, "allow-code": run.allow_code}
    given |= {"engine": run.engine, "scheduler": run.scheduler, "yes": run.yes, "sign": sign}
    given |= {"policy": policy, "records": records, "json": run.as_json, "quiet": run.quiet}
    on_interrupt(f"continue with: {_again(study, given)}")
    how: dict[str, Any] = {"rng": run.seed, "workers": run.workers, "restart": run.restart}
    how |= {"folder": folder, "policy": policy, "internal": records}
    audit = run.play(partial(play, loaded, **how))
    audit.save(folder)
    (folder / "record.json.sig").unlink(missing_ok=True)  # of an earlier record
    if key is not None:
        sign_record(folder / "record.json", key)
    return show(audit, folder, as_json=run.as_json)


def show(audit: Audit, folder: Path, *, as_json: bool) -> int:
    """Print the record or the verdict; return the exit code."""
    from narcissus.report import page_of
    from narcissus.report.text import verdict_text

    if as_json:
        click.echo(audit.record.to_json(), nl=False)
    else:
        click.echo(verdict_text(page_of(audit.record)))
        click.echo(f"Report: {folder / 'report.html'}")
        click.echo(f"Record: {folder / 'record.json'}")
    return EXITS[audit.status]
