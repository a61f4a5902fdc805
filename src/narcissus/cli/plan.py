"""``narcissus plan``: a page to plan a release with."""

from __future__ import annotations

from pathlib import Path

import click

from narcissus.cli import options
from narcissus.cli.bound_options import questions_of
from narcissus.errors import InputError

HELP = """Write a page to plan with: one HTML file that computes what no attacker can exceed.

Open it in any browser, from the file. Say what the attacker asks, what value a record has or if
it is in the data (--secret presets it). Move epsilon (pure DP) or mu (Gaussian DP), the chance of
the best guess beforehand and the number of values, the number of people and the confidence; it
says the odds, how many people fall at most with the floor that some mechanism reaches, whether a
threshold is met and how large epsilon or mu may be. A guess is right if it names the very value.

The page fetches and sends nothing and stores nothing; its address holds the settings, so that a
link to it does. Its numbers are those of `narcissus bound` to six decimals, each with its theorem;
for Gaussian DP its count is that of one theorem, where `narcissus bound` takes the best of all.

\b
Examples:
  narcissus plan
  narcissus plan --out plan.html --secret membership
"""


@click.command(help=HELP, short_help="A page to plan a release with.")
@options.take(
    "--out",
    "FILE.html",
    "Where to write.  [default: plan.html]",
    click.Path(path_type=Path, dir_okay=False),
    default=Path("plan.html"),
)
@options.secret
def command(out: Path, secret: str | None) -> None:
    from narcissus import __version__
    from narcissus._files import write_atomically
    from narcissus.report.plan import plan_html

    try:
        write_atomically(out, plan_html(__version__, questions_of(secret, None)[0]))
    except OSError as error:
        raise InputError(
            f"`--out`: cannot write {out} ({error.strerror or error}); "
            "choose a file in a folder that exists and can be written to"
        ) from error
    click.echo(f"Page: {out}")
