"""``narcissus refine``: which of two channels tells more, with a witness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from narcissus.cli import options
from narcissus.cli.sheets import asked, write

if TYPE_CHECKING:
    from narcissus.channels import ChannelComparison, OneWay
    from narcissus.report.leakage import Direction

EPILOG = """
\b
Examples:
  narcissus refine old.csv new.csv
  narcissus refine old.csv new.csv --out to-new.csv --back to-old.csv
  narcissus refine thirds.csv halves.csv --exact --json
  narcissus refine old.csv new.csv --report compared.html

\b
A and B are CSV, Parquet, npy or npz files of channels over the same secrets (see
`narcissus channel --help`). A tells at least as much as B, to every attacker with any prior and
any gain, exactly if B is A, post-processed: A R = B. The witness is R (a channel from the outputs
of A to those of B), or, where there is none, a gain (a row per guess, a column per secret) of which
an attacker with a uniform prior gets more with B.

\b
Keys of --json: names, relation (equivalent, first, second, incomparable, not assessed: which tells
more), grade, forwards and backwards (holds, grade, gap, by, gain, first, second).
"""


@click.command(epilog=EPILOG, short_help="Which of two channels tells more, with a witness.")
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@options.take("--out", None, "Write the witness from A to B, CSV.", click.Path(path_type=Path))
@options.take("--back", None, "Write the one from B to A, CSV.", click.Path(path_type=Path))
@options.flag("--exact", "Check the witnesses in fractions.")
@options.report
@options.as_json("Full precision, on standard output.")
def command(
    *,
    first: Path,
    second: Path,
    out: Path | None,
    back: Path | None,
    exact: bool,
    report: Path | None,
    as_json: bool,
) -> None:
    """Tell which of two channels tells more, to every attacker, with a witness that shows it."""
    from narcissus import channels

    read = channels.read_rational if exact else channels.read_channel
    a, b = read(first), read(second)
    names = (first.name, second.name) if first.name != second.name else (str(first), str(second))
    found = channels.compare_channels(a, b, names=names, exact=exact)
    for path, option, one in ((out, "--out", found.forwards), (back, "--back", found.backwards)):
        if path is not None:
            _write(path, option, one, a.secrets)
    click.echo(json.dumps(found.to_dict()) if as_json else str(found))
    if report is not None:
        from narcissus.report.leakage import refinement_page

        ways = _directions(found)
        page = refinement_page(ways, a.secrets, asked({names[0]: first, names[1]: second}))
        write(report, page, silent=as_json)


def _directions(found: ChannelComparison) -> list[Direction]:
    """Return both directions for a page; a post-processing in fractions is not drawn."""
    from narcissus.channels import Channel
    from narcissus.report.leakage import Direction
    from narcissus.results import NotAssessed

    a, b = found.names
    ways: list[Direction] = []
    for first, second, one in ((a, b, found.forwards), (b, a, found.backwards)):
        by = None if isinstance(one, NotAssessed) else one.by
        ways.append(Direction(first, second, one, by if isinstance(by, Channel) else None))
    return ways


def _write(path: Path, option: str, found: OneWay, secrets: tuple[str, ...]) -> None:
    from narcissus import channels
    from narcissus.errors import InputError
    from narcissus.results import NotAssessed

    if isinstance(found, NotAssessed):
        raise InputError(f"{option}: there is no witness to write, since {found.reason}")
    if found.holds and found.by is not None:
        channels.write_channel(path, found.by)
    else:
        channels.write_gain(path, found.gain, secrets)
