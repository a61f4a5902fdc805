"""``narcissus design``: the most secure mechanism at a given loss."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus.cli import options
from narcissus.cli.sheets import asked, save_figure, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from narcissus.channels import Design

EPILOG = """
\b
Examples:
  narcissus design loss.csv --most-loss 0.5
  narcissus design loss.csv --beta-star 0.8 --epsilon 1 --out mechanism.csv
  narcissus design loss.csv --curve trade-off.svg
  narcissus design loss.csv --most-loss 0.5 --report design.html

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
@options.take("--most-loss", "D", "Largest expected loss.", float)
@options.take("--beta-star", "B", "Least Bayes security, in [0, 1].", float)
@options.take("--epsilon", None, "Local differential privacy as well.", float)
@options.take("--prior", None, "CSV of secret, probability.", click.Path(path_type=Path))
@options.take("--out", None, "Write the mechanism: a channel, CSV.", click.Path(path_type=Path))
@options.take("--curve", None, "Draw the trade-off, to a file.", click.Path(path_type=Path))
@options.report
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
    report: Path | None,
    as_json: bool,
) -> None:
    """Find the mechanism with the largest Bayes security at a loss, or the least loss at one."""
    from narcissus import channels

    drawn = curve or report
    if (most_loss is None) == (beta_star is None) and (drawn is None or most_loss is not None):
        raise click.UsageError(
            "give one of --most-loss and --beta-star, or --curve or --report alone"
        )
    costs, secrets, answers = channels.read_losses(loss)
    given = None if prior is None else channels.read_prior(prior)
    points = None
    if drawn is not None:
        fine = 11 if curve is None else 21
        points = channels.trade_off(costs, fine, prior=given, epsilon=epsilon)
    if curve is not None and points is not None:
        save_figure("--curve", curve, partial(_draw, curve=points))
    how: dict[str, Any] = {"prior": given, "epsilon": epsilon}
    how |= {"secrets": secrets, "answers": answers}
    found = None
    if most_loss is not None:
        found = channels.most_secure(costs, most_loss, **how)
    elif beta_star is not None:
        found = channels.least_loss(costs, beta_star, **how)
    if found is not None:
        if out is not None:
            channels.write_channel(out, found.channel)
        _say(found, as_json=as_json)
    if report is not None and points is not None:
        from narcissus.report.leakage import design_page

        nothing = channels.loss_of_nothing(costs, given)
        page = design_page(found, points, nothing, asked({"the losses": loss, "the prior": prior}))
        write(report, page, silent=as_json)


def _say(found: Design, *, as_json: bool) -> None:
    if not as_json:
        click.echo(str(found))
        return
    made = {key: getattr(found, key) for key in ("beta_star", "loss", "limit", "wanted")}
    c = found.channel
    names = {"secrets": list(c.secrets), "answers": list(c.outputs)}
    click.echo(json.dumps({**made, **names, "channel": c.dense.tolist()}))


def _draw(axes: Axes, curve: tuple[Any, Any]) -> None:
    axes.plot(*curve)
    axes.set_xlabel("expected loss")
    axes.set_ylabel("largest Bayes security")
    axes.set_ylim(0, 1.02)
    axes.grid(visible=True)
