"""``narcissus privacy``: two neighbours and an event that violate privacy the most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus.cli import options
from narcissus.cli.main import OK
from narcissus.cli.playing import refuse_existing, written_to
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.profiles import WorstNeighbours

HELP = """Find where the mechanism of STUDY is least private, and what that breaks.

Exact, over all pairs of data sets of the study's world that differ in one record (a world of pairs
has them listed): the pair, the event, and the least delta of differential privacy at --epsilon.
What is not private breaks resilience for some relation (Cohen et al. 2024, Theorems A.4 and E.1);
--out writes the study in which an attacker shows it: over the pair, or with --uniform for a data
set that is one of the two by a fair coin.

\b
Examples:
  narcissus examples neighbours-each --out count.toml
  narcissus privacy count.toml --epsilon 1
  narcissus privacy count.toml --epsilon 1 --out broken.toml
  narcissus audit broken.toml
  narcissus privacy count.toml --epsilon 1 --uniform --out uniform.toml
"""


@click.command(help=HELP, short_help="Where a small game's mechanism is least private.")
@click.argument("study", type=click.Path(path_type=Path))
@options.take(
    "--epsilon",
    "E",
    "Of the privacy.  [default: that of the study's statement]",
    click.FloatRange(0, 100),
)
@options.file("--out", "FILE", "Write the study over the pair to FILE.")
@options.flag("--uniform", "With --out: draw one of the two by a fair coin.")
@options.force
@options.allow_code
@options.as_json("Print JSON, in full precision.")
def command(
    *,
    study: Path,
    epsilon: float | None,
    out: Path | None,
    uniform: bool,
    force: bool,
    allow_code: bool,
    as_json: bool,
) -> int:
    from narcissus.profiles import worst_neighbours
    from narcissus.study import load_study

    if uniform and out is None:
        raise InputError("`--uniform` is for `--out FILE`: both losses are printed anyway")
    refuse_existing(out, force=force)
    loaded = load_study(study, allow_code=allow_code)
    if loaded.kind != "game":
        raise InputError(f"{study} is a study of kind {loaded.kind!r}; this needs the kind 'game'")
    settings: Any = loaded.settings
    at = settings.statement.options.get("epsilon", 0.0) if epsilon is None else epsilon
    with loaded.code.in_use():
        found = worst_neighbours(settings.build().game, at)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        click.echo(str(found))
    if out is not None and not found.private:
        names = (_shown(found, 0), _shown(found, 1))
        written_to(out, found.event.study(uniform=uniform, names=names), quiet=as_json)
    elif out is not None:
        raise InputError(f"there is nothing to show: the mechanism is ({at:g}, 0)-private here")
    return OK


def _shown(found: WorstNeighbours, which: int) -> str:
    """Format a data set for a one-line comment."""
    text = str(found.data[which].tolist())
    return text if len(text) <= 200 else f"{text[:197]}..."
