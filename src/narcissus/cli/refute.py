"""``narcissus refute``: the guarantee that an audit's counts contradict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus.cli.bound_options import option_names, print_json
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.evidence import Refutation

HELP = """Find the largest epsilon that the counts of an audit refute.

Each canary had a secret value, drawn uniformly and independently (membership: in or out by a fair
coin). An attack saw one release, guessed R of the M canaries, and V guesses were right.

\b
Examples:
  narcissus refute --canaries 1000 --guesses 100 --correct 75 --delta 1e-4
  narcissus refute --canaries 1000 --guesses 1000 --correct 240 --values 10
  narcissus refute --canaries 500 --guesses 500 --correct 330 --claim 1
  narcissus refute --scores canaries.csv --delta 1e-5

The file of --scores is a CSV with the columns `score` (larger: more likely in) and `member` (1 in,
0 out), one row a canary. A third of the canaries chooses the thresholds, the others are counted.

\b
Keys of --json: epsilon, mu, noise, p_value, confidence, delta, claim, canaries, guesses, correct,
values, methods (name, epsilon, p_value, valid), chosen_on. The p-values are about the epsilon of
--claim.
"""


@click.command(help=HELP, short_help="Which guarantee an audit's counts contradict.")
@click.option("--canaries", type=int, metavar="M", help="How many canaries there were.")
@click.option("--guesses", type=int, metavar="R", help="How many were guessed.")
@click.option("--correct", type=int, metavar="V", help="How many guesses were right.")
@click.option("--values", type=int, metavar="K", help="How many values a secret has.  [2]")
@click.option(
    "--scores",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Scores with membership, in place of the counts.",
)
@click.option("--delta", type=float, default=0.0, metavar="D", help="Delta of the claim.  [0]")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="C", help="Level."
)
@click.option(
    "--claim", type=float, default=0.0, metavar="E", help="Epsilon that p-values are about.  [0]"
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in full precision.")
def command(
    *,
    canaries: int | None,
    guesses: int | None,
    correct: int | None,
    values: int | None,
    scores: Path | None,
    delta: float,
    confidence: float,
    claim: float,
    as_json: bool,
) -> None:
    """Find the largest epsilon that the counts of an audit refute."""
    from narcissus.evidence import refute, refute_scores

    counts = {"--canaries": canaries, "--guesses": guesses, "--correct": correct}
    used = [name for name, value in {**counts, "--values": values}.items() if value is not None]
    if scores is not None and used:
        raise InputError(f"`--scores` takes the place of `{used[0]}`; give one of the two")
    with option_names():
        if scores is not None:
            score, member = _read(scores)
            found = refute_scores(score, member, delta=delta, confidence=confidence, claimed=claim)
        else:
            missing = [name for name, value in counts.items() if value is None]
            if canaries is None or guesses is None or correct is None:
                raise InputError(
                    f"`{missing[0]}` is missing: give --canaries, --guesses and --correct, "
                    "or --scores"
                )
            found = refute(
                canaries,
                guesses,
                correct,
                values=2 if values is None else values,
                delta=delta,
                confidence=confidence,
                claimed=claim,
            )
    if as_json:
        payload = found.to_dict()
        payload["claim"] = payload.pop("claimed")
        print_json(payload)
        return
    click.echo("\n".join(_text(found)))


def _read(path: Path) -> tuple[Any, Any]:
    """Read the columns ``score`` and ``member`` of a CSV file."""
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise InputError(f"`--scores`: {path} is not a CSV table ({error})") from error
    lacking = [name for name in ("score", "member") if name not in table.columns]
    if lacking:
        raise InputError(
            f"`--scores`: {path} lacks the column `{lacking[0]}`; it needs `score` and `member`, "
            f"and has {', '.join(map(str, table.columns))}"
        )
    if table.empty:
        raise InputError(f"`--scores`: {path} has no rows")
    member = table["member"]
    return table["score"].to_numpy(), member.to_numpy()


def _text(found: Refutation) -> list[str]:
    """Say it in words."""
    lines = [str(found)]
    if found.chosen_on:
        lines.append(
            f"The thresholds were chosen on {found.chosen_on} further canaries, which are not "
            "counted."
        )
    lines.append(
        f"If it is Gaussian DP, its mu is not below {found.mu:.6g}"
        + (
            f": a noise multiplier of at most {found.noise:.6g} (replaced records)."
            if found.mu > 0
            else ": nothing is refuted."
        )
    )
    lines += [
        "",
        "By method: the largest epsilon refuted, and the p-value against "
        f"({found.claimed:g}, {found.delta:g})-DP, the largest",
        "chance of so many right guesses under it (--claim E asks about another epsilon):",
    ]
    lines.append(f"  {'refuted':<12} {f'p at {found.claimed:g}':<12} method")
    for method in found.methods:
        mark = "" if method.valid else "  (NOT VALID everywhere: for comparison)"
        lines.append(f"  {method.epsilon:<12.6g} {method.p_value:<12.4g} {method.name}{mark}")
    return lines
