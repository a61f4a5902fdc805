"""``narcissus estimate``: leakage of a channel that is known only by samples."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from narcissus.cli import options

EPILOG = """
\b
Examples:
  narcissus estimate samples.csv
  narcissus estimate traces.parquet --secret website --confidence 0.99 --json
  narcissus estimate traces.csv --secret website --estimator forest --estimator nearest-log

\b
SAMPLES is CSV or Parquet with a header: one column holds the secret, all others the output.
  secret,time,bytes
  login,0.31,1200
  logout,0.28,800

\b
Each interval holds with the given confidence, whatever the estimators did. `low` is null where
outputs are continuous: no finite sample gives a lower limit then, without assumptions.

\b
Assumptions make lower limits nearer, and conditional: they hold if what is assumed is so.
  narcissus estimate answers.csv --symmetric
  narcissus estimate times.csv --monotone
  narcissus estimate traces.csv --pair login logout
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
@click.option(
    "--symmetric",
    is_flag=True,
    help="Assume that all secrets are treated alike, as in randomised response.",
)
@click.option(
    "--monotone",
    is_flag=True,
    help="Assume that larger secrets make larger outputs likelier throughout (or smaller ones).",
)
@click.option(
    "--among",
    multiple=True,
    metavar="SECRET",
    help="Assume that two of these are the easiest to tell apart (repeat for each).",
)
@click.option(
    "--pair",
    nargs=2,
    default=None,
    metavar="SECRET SECRET",
    help="Assume that these two are the easiest to tell apart.",
)
@options.as_json("Full precision, on standard output.")
def command(
    *,
    samples: Path,
    secret: str | None,
    confidence: float,
    estimators: tuple[str, ...],
    kind: str,
    seed: int,
    as_json: bool,
    **assumptions: Any,
) -> None:
    """Estimate Bayes security and Bayes risk from samples, with limits that hold."""
    from narcissus import channels
    from narcissus.cli.bound_options import option_names
    from narcissus.cli.progress import progress

    assumptions["among"] = assumptions["among"] or None  # none given, not none meant
    secrets, outputs, column = channels.read_samples(samples, secret=secret)
    with option_names(), progress(quiet=not sys.stderr.isatty()) as observer:
        found = channels.estimate(
            secrets,
            outputs,
            confidence=confidence,
            estimators=list(estimators) or None,
            kind=kind,
            rng=seed,
            observer=observer,
            **assumptions,
        )
    if as_json:
        click.echo(json.dumps(found.to_dict()))
        return
    click.echo(
        f"{samples.name}: secrets in the column {column!r}, {outputs.shape[1]} output columns"
    )
    click.echo(str(found))
