"""``narcissus synth``: audit a synthetic file without its generator."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from narcissus.cli import options
from narcissus.cli.audit import prepare_folder, show
from narcissus.cli.playing import Run, shared

HELP = """Audit the file SYNTHETIC that was made from the people in REAL, without its generator.

Three risks: an unknown column is inferred, a person is singled out, two parts of a record are
linked. Each is tried on people in REAL and on people of the control, who are not in the data.

\b
Examples:
  narcissus synth real.csv synthetic.csv --control control.csv --unknown income
  narcissus synth real.csv synthetic.csv --control control.csv --unknown income,ill \\
      --groups sex --at-most 0.05 --bins age=10
  narcissus synth real.csv synthetic.csv --unknown income      # says what cannot be concluded

A study file of kind "synthetic" says the same and more (`narcissus schema study synthetic`);
`narcissus audit` plays it, and `narcissus verify` plays it again.

\b
Exit codes:
  0  never: one file cannot show that people in it are safe
  1  exceeded: people in the data are hit more often than is accepted
  2  a file or an option is wrong (nothing was run)
  3  not shown, or it could not be assessed
"""


def _names(_: click.Context, option: click.Parameter, text: str | None) -> list[str] | None:
    if text is None:
        return None
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise click.BadParameter("names must be separated by single commas", param=option)
    return found


def _widths(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``COLUMN=WIDTH``, one for each --bins."""
    found: dict[str, Any] = {}
    for text in given:
        name, _equals, width = text.rpartition("=")
        try:
            found[name] = {"width": float(width)}
        except ValueError:
            name = ""
        if not name:
            raise click.BadParameter(f"write COLUMN=WIDTH, got {text!r}", param=option)
    return found


def _ways(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Parse ``COLUMN=WAY``, one for each --read-as."""
    pairs = [text.rpartition("=") for text in given]
    if not all(name for name, _equals, _way in pairs):
        raise click.BadParameter("write COLUMN=WAY, such as zip=text", param=option)
    return {name: way for name, _equals, way in pairs}


@click.command(help=HELP, short_help="Audit a given synthetic file.")
@click.argument("real", type=click.Path())
@click.argument("synthetic", type=click.Path())
@options.take("--control", "FILE", "People who are not in REAL.", click.Path())
@options.take(
    "--unknown",
    "A,B,...",
    "Columns to guess, one by one and together; all others are known.",
    callback=_names,
    required=True,
)
@options.take("--groups", "A,B,...", "Columns whose values make groups.", callback=_names)
@options.take("--drop", "A,B,...", "Columns to leave out.", callback=_names)
@options.take(
    "--bins",
    "COLUMN=WIDTH",
    "Bin a column of numbers; may be repeated.",
    callback=_widths,
    multiple=True,
)
@options.take(
    "--missing",
    None,
    "What to do about missing values.  [refuse]",
    click.Choice(["refuse", "drop", "category"]),
)
@options.take(
    "--read-as",
    "COLUMN=WAY",
    "Read a column as text, numbers, decimal-comma, day-first or month-first, also where its "
    "values hardly overlap between the files; may be repeated.",
    callback=_ways,
    multiple=True,
)
@options.take("--at-most", "E", "Excess over the control that is accepted.  [0]", float)
@options.file("--policy", "FILE", "Instead: a file with a threshold.", exists=True)
@options.take("--confidence", "C", "Of all claims together.  [0.95]", float)
@options.out_folder("synthetic file")
@options.seed("Seed of all chance.  [drawn, and kept in the record]")
@options.yes
@options.restart("Replace the record of another audit in FOLDER.")
@options.as_json("Print the record on standard output.")
@options.quiet
@shared
def command(
    *,
    real: str,
    synthetic: str,
    control: str | None,
    unknown: list[str],
    groups: list[str] | None,
    drop: list[str] | None,
    bins: dict[str, Any],
    missing: str | None,
    read_as: dict[str, str],
    at_most: float | None,
    policy: Path | None,
    confidence: float | None,
    run: Run,
) -> int:
    from narcissus.audits import run as play
    from narcissus.study import load_study

    study = load_study(
        {
            "kind": "synthetic",
            "title": f"{Path(synthetic).name}, made from {Path(real).name}",
            "data": {
                "real": real,
                "synthetic": synthetic,
                "control": control,
                "drop": drop,
                "bins": bins,
                "missing": missing,
                "read_as": read_as,
            },
            "threat": {"unknown": unknown},
            "threshold": None if at_most is None else {"at_most": at_most},
            "groups": {"columns": groups},
            "run": {"confidence": confidence},
        }
    )
    folder = run.out or Path("results") / Path(synthetic).name.partition(".")[0]
    prepare_folder(folder, study, restart=run.restart)
    audit = run.play(partial(play, study, rng=run.seed, policy=policy))
    audit.save(folder)
    return show(audit, folder, as_json=run.as_json)
