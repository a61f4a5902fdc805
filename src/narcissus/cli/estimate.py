"""``narcissus estimate``: leakage of a channel that is known only by samples."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from narcissus.cli import options
from narcissus.cli.by_group import taken, write_sampled
from narcissus.cli.sheets import check_report

EPILOG = """
\b
Examples:
  narcissus estimate samples.csv
  narcissus estimate traces.parquet --secret website --confidence 0.99 --json
  narcissus estimate traces.csv --secret website --estimator forest --estimator nearest-log
  narcissus estimate visits.csv --group region --report visits.html

\b
SAMPLES is CSV or Parquet with a header: one column holds the secret, all others the output.
  secret,time,bytes
  login,0.31,1200
  logout,0.28,800

\b
Each interval holds with the given confidence, whatever the estimators did. `low` is null where
outputs are continuous: no finite sample gives a lower limit then, without assumptions.

\b
With --group the limits of all groups hold together, and so do those of their differences. Keys of
--json are then groups (the numbers of each), worst (group, sure), differences, not_assessed.
"""


@click.command(epilog=EPILOG)
@click.argument("samples", type=click.Path(path_type=Path))
@click.option("--secret", metavar="COLUMN", help="Default: the column `secret`, or the first.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of each interval.")
@click.option("--estimator", "estimators", multiple=True, help="Try this one (may be repeated).")
@click.option(
    "--outputs",
    "kind",
    type=click.Choice(["auto", "discrete", "continuous"]),
    default="auto",
    show_default=True,
    help="Whether a lower limit is worth stating; auto looks how often outputs repeat.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of the split of the samples.",
)
@click.option("--group", metavar="COLUMN", help="Compare groups of people: who gives more away?")
@options.report
@options.as_json("Full precision, on standard output.")
def command(
    *,
    samples: Path,
    secret: str | None,
    confidence: float,
    estimators: tuple[str, ...],
    kind: str,
    seed: int,
    group: str | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Estimate Bayes security and Bayes risk from samples, with limits that hold."""
    from narcissus import channels
    from narcissus.cli.bound_options import option_names
    from narcissus.cli.progress import progress

    check_report(report)
    secrets, outputs, column = channels.read_samples(samples, secret=secret)
    groups = () if group is None else (taken(outputs, group, column),)
    estimate = channels.estimate if group is None else channels.estimate_groups
    with option_names(), progress(quiet=not sys.stderr.isatty()) as observer:
        found: Any = estimate(
            secrets,
            outputs,
            *groups,
            confidence=confidence,
            estimators=list(estimators) or None,
            kind=kind,
            rng=seed,
            observer=observer,
        )
    if as_json:
        click.echo(json.dumps(found.to_dict()))
    else:
        click.echo(
            f"{samples.name}: secrets in the column {column!r}, {outputs.shape[1]} output columns"
        )
        click.echo(str(found))
    if report is not None:
        write_sampled(report, found, samples, seed, silent=as_json)
