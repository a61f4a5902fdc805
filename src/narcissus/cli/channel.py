"""``narcissus channel``: what an explicit channel or a mechanism leaks, exactly."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from narcissus.cli import options

if TYPE_CHECKING:
    from narcissus.channels import Channel, ClosedForm

EPILOG = """
\b
Examples:
  narcissus channel channel.csv
  narcissus channel channel.csv --prior prior.csv --json
  narcissus channel --mechanism randomized-response:values=10,epsilon=1
  narcissus channel --mechanism laplace:epsilon=0.1
  narcissus channel --mechanism gaussian:epsilon=1,delta=1e-6
  narcissus channel channel.csv --exact
  narcissus channel --mechanism planar-laplace:width=5,height=5,epsilon=0.5
  narcissus channel channel.csv --repeat 3 --plot pairs.svg

\b
FILE is CSV, Parquet, npy or npz (sparse ones of SciPy as well): a row per secret, a column per
output, each row summing to 1. A cell may be a fraction, such as 1/3.
  secret,short,long
  login,0.9,0.1
  logout,0.2,0.8

\b
Mechanisms: exponential, gaussian, geometric, laplace, planar-geometric, planar-laplace,
randomized-response, subset, unary, optimized-unary; a wrong parameter is answered with an example.
"""


@click.command(epilog=EPILOG)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--mechanism", metavar="NAME:KEY=VALUE,...", help="A mechanism in closed form.")
@click.option("--prior", type=click.Path(path_type=Path), help="CSV of secret, probability.")
@click.option(
    "--repeat",
    "times",
    type=click.IntRange(1, 1_000_000),
    help="The attacker sees this many outputs.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 0.01),
    default=1e-9,
    show_default=True,
    help="Of a row's sum.",
)
@click.option("--all-pairs", is_flag=True, help="Name every pair of secrets that is worst.")
@click.option("--all", "more", is_flag=True, help="With --json: every measure, under `more`.")
@click.option("--exact", is_flag=True, help="In fractions, without any rounding: FILE alone.")
@click.option("--plot", type=click.Path(path_type=Path), help="Heat map of all pairs, to a file.")
@options.as_json("Full precision, on standard output.")
def command(
    *,
    file: Path | None,
    mechanism: str | None,
    prior: Path | None,
    times: int | None,
    tolerance: float,
    all_pairs: bool,
    more: bool,
    exact: bool,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Compute what a channel leaks about which secrets: Bayes security, risk, leakage, capacity.

    Exact: from a table of output probabilities, or a mechanism in closed form.
    """
    from narcissus import channels
    from narcissus.cli.progress import progress
    from narcissus.errors import InputError

    if exact:
        needless = any((mechanism, times, all_pairs, more, plot))
        click.echo(_in_fractions(None if needless else file, prior, as_json=as_json))
        return
    source, name = _source(file, mechanism, tolerance)
    given = None if prior is None else channels.read_prior(prior)
    if times is not None:
        made = source.channel() if isinstance(source, channels.ClosedForm) else source
        source, name = channels.repeat(made, times), f"{name}, {times} outputs"
    with progress(quiet=not sys.stderr.isatty()) as observer:
        summary = channels.analyse(source, given, name=name, observer=observer)
    result = summary.to_dict()
    if all_pairs or plot is not None:
        if summary.channel is None:
            raise InputError(
                "--all-pairs and --plot need a channel as a matrix; this mechanism is too large "
                "or continuous (in a symmetric mechanism all pairs are alike)"
            )
        if all_pairs:
            result["pairs"] = [list(p) for p in channels.tied_pairs(summary.channel)]
        if plot is not None:
            _save(plot, summary)
    if as_json:
        if more:
            result["more"] = summary.more()
        click.echo(json.dumps(result))
        return
    click.echo(str(summary))
    if all_pairs:
        click.echo("  worst pairs: " + "; ".join(" and ".join(p) for p in result["pairs"]))


def _in_fractions(file: Path | None, prior: Path | None, *, as_json: bool) -> str:
    """Say what a file's channel leaks, in fractions."""
    from narcissus import channels

    if file is None:
        raise click.UsageError("--exact takes FILE, --prior and --json alone")
    given = None if prior is None else channels.read_rational_prior(prior)
    found = channels.exact_summary(channels.read_rational(file), given)
    return json.dumps(found.to_dict()) if as_json else str(found)


def _source(
    file: Path | None, mechanism: str | None, tolerance: float
) -> tuple[Channel | ClosedForm, str]:
    """Read the channel or make the mechanism, and name it."""
    from narcissus import channels
    from narcissus.study.part_text import part_from_text

    if mechanism is not None and file is None:
        return part_from_text("channel-mechanism", mechanism).build(), mechanism
    if file is not None and mechanism is None:
        return channels.read_channel(file, tolerance=tolerance), file.name
    raise click.UsageError("give a FILE or --mechanism, one of them")


def _save(path: Path, summary: object) -> None:
    """Draw without a display, to the file's format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from narcissus.channels import ChannelSummary
    from narcissus.errors import InputError

    assert isinstance(summary, ChannelSummary)
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    summary.plot(ax=figure.add_subplot())
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"--plot: cannot write {path}: {error}") from error
