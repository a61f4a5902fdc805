"""``narcissus profile``: exact resilience of a small game, against every attacker at once."""

from __future__ import annotations

import json
from pathlib import Path

import click

HELP = """Compute delta(epsilon) of STUDY: the least delta with which its mechanism is resilient.

Exact, and against every attacker at once: the study (of kind "game") is written out, with all
data sets, releases and attempts. The best attacker comes with it. A study that is too large gets
an error that says how large it would be; --sample estimates it from below instead.

\b
Examples:
  narcissus examples counting-query --out counting.toml
  narcissus profile counting.toml
  narcissus profile counting.toml --epsilon 1 --epsilon 2
  narcissus profile counting.toml --epsilon 1 --json
  narcissus profile large.toml --sample 5000 --seed 1
"""


@click.command(help=HELP, short_help="Exact resilience of a small game.")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--epsilon",
    "epsilons",
    type=float,
    multiple=True,
    metavar="E",
    help="Where to compute delta; may be given more than once.  [default: 0 to 5]",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Largest number of (data set, release) pairs to write out.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=2),
    metavar="N",
    help="Estimate from below instead: learn the best attacker from N sampled data sets, play it.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed for --sample.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, in full precision.")
def command(
    *,
    study: Path,
    epsilons: tuple[float, ...],
    limit: int | None,
    sample: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Compute a profile."""
    from narcissus.audit import load_study
    from narcissus.errors import InputError
    from narcissus.profiles import EPSILONS, LIMIT, profile, sampled_profile

    if any(not 0 <= epsilon <= 100 for epsilon in epsilons):
        raise InputError(f"`--epsilon` must be in [0, 100], got {min(epsilons):g}")
    loaded = load_study(study)
    if loaded.kind != "game":
        raise InputError(
            f"{study} is a study of kind {loaded.kind!r}; a profile needs the kind 'game'"
        )
    points = epsilons or EPSILONS
    most = LIMIT if limit is None else limit
    if sample is not None:
        estimates = sampled_profile(loaded, points, draws=sample, limit=most, rng=seed)
        if as_json:
            answer = {
                "epsilon": list(points),
                "delta": [estimate.low for estimate in estimates],
                "attacker": {"gain": [estimate.value for estimate in estimates]},
                "method": "sampled from below",
                "proved": False,
                "confidence": estimates[0].confidence,
            }
            click.echo(json.dumps(answer, indent=1))
            return
        click.echo("SAMPLED from below: delta is at least this, with 95% confidence each")
        for point, estimate in zip(points, estimates, strict=True):
            click.echo(f"epsilon {point:8.4g}: delta >= {estimate.low:.6g}")
        return
    result = profile(loaded, points, limit=most)
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
        return
    click.echo(str(result))
    table = result.table(points[0], rows=8)
    if table:
        click.echo(f"\nWhat the best attacker does at epsilon {points[0]:g}, by what it gains:")
        for row in table:
            told = f"told {row['told']}, " if "told" in row else ""
            attempt = "no attempt" if row["attempt"] is None else f"attempt {row['attempt']}"
            click.echo(f"  {told}release {row['release']}: {attempt}, gains {row['gain']:.6g}")
