"""``narcissus compose``: joint leakage of several outputs about one secret."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from narcissus.cli import options
from narcissus.cli.sheets import asked, write

if TYPE_CHECKING:
    from narcissus.channels import Channel, ClosedForm, ComposedSecurity

EPILOG = """
\b
Examples:
  narcissus compose channel.csv=20
  narcissus compose weekly.csv=52 yearly.csv
  narcissus compose randomized-response:values=10,epsilon=1=200
  narcissus compose randomized-response:values=10,epsilon=1 --shuffled 1000
  narcissus compose laplace:span=1,scale=4=30 gaussian:span=1,sigma=5=12
  narcissus compose weekly.csv=52 --report year.html

\b
USE is a file (CSV, Parquet, npy or npz; see `narcissus channel --help`) or a mechanism as
`narcissus channel --mechanism` takes it; =TIMES says how often its output is seen, once if left
out. All uses are about the same secret and independent given it. Noise on numbers (laplace,
gaussian) goes with its like only.

\b
Keys of --json: beta_star, beta_star_at_most, gap, capacity, exact, theorem.
"""


@click.command(epilog=EPILOG, short_help="What many outputs about one secret leak together.")
@click.argument("uses", metavar="USE...", nargs=-1, required=True)
@options.take(
    "--tolerance",
    None,
    "How near the two limits are to lie, as a share; they hold anyway.",
    click.FloatRange(0, 1, min_open=True, max_open=True),
    shown=1e-6,
)
@options.take(
    "--shuffled",
    "PEOPLE",
    "So many people report by USE, a randomized-response, and the reports are shuffled.",
    click.IntRange(1, 1_000_000_000),
)
@options.report
@options.as_json("Full precision, on standard output.")
def command(
    *,
    uses: tuple[str, ...],
    tolerance: float,
    shuffled: int | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Limit the Bayes security of repeated and mixed uses from both sides."""
    from narcissus import channels

    given: list[tuple[Channel | ClosedForm, int]] = []
    if shuffled is not None:
        if report is not None:
            raise click.UsageError("--report draws uses; it does not go with --shuffled")
        found = _shuffled(uses, shuffled)
    else:
        given = [_use(text) for text in uses]
        found = channels.mixed_security(given, tolerance=tolerance)
    if as_json:
        click.echo(json.dumps({**asdict(found), "gap": found.gap}))
    else:
        click.echo(str(found))
    if report is not None:
        from narcissus.report.leakage import compose_page

        curve = channels.security_over_uses(given)
        write(report, compose_page(found, curve, asked({})), silent=as_json)


def _shuffled(uses: tuple[str, ...], people: int) -> ComposedSecurity:
    from narcissus import channels
    from narcissus.study.part_section import part_from_text

    if len(uses) == 1 and uses[0].startswith("randomized-response:"):
        made = part_from_text("channel-mechanism", uses[0]).build()
        return channels.shuffled_security(made, people)
    raise click.UsageError(
        "--shuffled takes one USE, once: randomized-response:values=10,epsilon=1"
    )


def _use(text: str) -> tuple[Channel | ClosedForm, int]:
    """Parse ``SOURCE=TIMES``; a mechanism's own options contain an equals sign as well."""
    from narcissus import channels
    from narcissus.errors import InputError
    from narcissus.study.part_section import part_from_text

    source, _, tail = text.rpartition("=")
    is_counted = bool(source) and tail.isdecimal() and _is_whole(source)
    times = int(tail) if is_counted else 1
    source = source if is_counted else text
    if Path(source).is_file():
        return channels.read_channel(source), times
    if ":" not in source and (Path(source).suffix or "/" in source):
        raise InputError(f"there is no file {source}; USE is a file or a mechanism, then =TIMES")
    made = part_from_text("channel-mechanism", source).build()
    is_noise = isinstance(made, channels.Laplace | channels.Gaussian)
    return (made if is_noise else made.channel()), times


def _is_whole(source: str) -> bool:
    """Whether the text before ``=TIMES`` is a file or a mechanism with all its values."""
    last = source.partition(":")[2].rsplit(",", 1)[-1]
    return ":" not in source or "=" in last or not last
