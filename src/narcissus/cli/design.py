"""``narcissus design``: the most secure mechanism at a given loss."""

from __future__ import annotations

import json
from pathlib import Path

import click

from narcissus.cli import options

EPILOG = """
\b
Examples:
  narcissus design loss.csv --most-loss 0.5
  narcissus design loss.csv --beta-star 0.8 --epsilon 1 --out mechanism.csv
  narcissus design loss.csv --curve trade-off.svg

\b
LOSS is CSV, npy or npz: a row per secret, a column per answer, what the answer costs when it is
the secret.
  secret,here,near,far
  home,0,1,5
  work,1,0,4

\b
Keys of --json: beta_star, loss, limit (what no mechanism does better than), wanted, secrets,
answers, channel (rows of probabilities).
"""


@click.command(epilog=EPILOG, short_help="The most secure mechanism at a given loss.")
@click.argument("loss", type=click.Path(path_type=Path))
@click.option("--most-loss", type=float, metavar="D", help="Largest expected loss.")
@click.option("--beta-star", type=float, metavar="B", help="Least Bayes security, in [0, 1].")
@click.option("--epsilon", type=float, help="Local differential privacy as well.")
@click.option("--prior", type=click.Path(path_type=Path), help="CSV of secret, probability.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the mechanism: a channel, CSV.")
@click.option("--curve", type=click.Path(path_type=Path), help="Draw the trade-off, to a file.")
@options.as_json("Full precision, on standard output.")
def command(
    *,
    loss: Path,
    most_loss: float | None,
    beta_star: float | None,
    epsilon: float | None,
    prior: Path | None,
    out: Path | None,
    curve: Path | None,
    as_json: bool,
) -> None:
    """Find the mechanism with the largest Bayes security at a loss, or the least loss at one."""
    from narcissus import channels

    if (most_loss is None) == (beta_star is None) and (curve is None or most_loss is not None):
        raise click.UsageError("give one of --most-loss and --beta-star, or --curve alone")
    costs, secrets, answers = channels.read_losses(loss)
    given = None if prior is None else channels.read_prior(prior)
    if curve is not None:
        _draw(curve, channels.trade_off(costs, prior=given, epsilon=epsilon))
    if most_loss is not None:
        found = channels.most_secure(
            costs, most_loss, prior=given, epsilon=epsilon, secrets=secrets, answers=answers
        )
    elif beta_star is not None:
        found = channels.least_loss(
            costs, beta_star, prior=given, epsilon=epsilon, secrets=secrets, answers=answers
        )
    else:
        return
    if out is not None:
        channels.write_channel(out, found.channel)
    if as_json:
        keys = ("beta_star", "loss", "limit", "wanted")
        made = {key: getattr(found, key) for key in keys}
        rows = found.channel.dense.tolist()
        click.echo(json.dumps({**made, "secrets": secrets, "answers": answers, "channel": rows}))
        return
    click.echo(str(found))


def _draw(path: Path, curve: tuple[object, object]) -> None:
    """Draw the trade-off without a display, to the file's format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from narcissus.errors import InputError

    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(*curve)  # pyright: ignore[reportArgumentType]
    axes.set_xlabel("expected loss")
    axes.set_ylabel("largest Bayes security")
    axes.set_ylim(0, 1.02)
    axes.grid(visible=True)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"--curve: cannot write {path}: {error}") from error
