"""``narcissus scale``: success, baseline and bound of a game against one of its parameters."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from narcissus.cli import options
from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.main import NOT_ASSESSED, OK
from narcissus.cli.playing import Run, shared

HELP = """Draw success, baseline and bound of STUDY against one of its parameters.

STUDY is a study file of kind "game", or the name of a shipped one (`narcissus examples`). It is
played at each value of the parameter; where the game is small enough, every attacker is covered
exactly. What is gained, success less the baseline, is fitted by 2^(-a n) and n^(-a): the verdict
says whether it falls, by which law, and the exponent with its limits, for the values drawn.

A parameter is SECTION.key, such as world.n, mechanism.parts.0.epsilon or success.function.bits;
attack.budget where there is one attack, attack.NAME.budget of several. Values are FROM:TO:STEP,
FROM:TO:xFACTOR or a list with commas. --with sets others along with it: as many values, or one.

\b
Examples:
  narcissus scale xor-halves-together --over world.n=2:12:2 --with success.length=1:6:1
  narcissus scale pinned-bits --over success.k=1:6:1 --with attack.k=1:6:1 \\
      --with statement.epsilon=0 --out pinned
  narcissus scale average-is-safe --over world.d=50:800:x2 --trials 2000

FOLDER gets data.csv, data.json, picture.svg, index.html, and values/ with the record of each value
(`narcissus report` draws it). Interrupted, the same command continues; values that were played
already are not played again.

\b
Keys of --json: title, parameter, values, with, confidence, verdict, grade, told, assumptions,
curves and further (whose, quantity, limits, grade, direction, words, exponents, points), failed,
records. Exit code 3: it cannot be told, or a value could not be played, or not by every attack.
"""


@click.command(help=HELP, short_help="Success and bound against a parameter.")
@click.argument("study", type=click.Path(path_type=Path))
@options.take("--over", "SECTION.key=VALUES", "What is drawn against: its values.", required=True)
@options.take(
    "--with",
    "SECTION.key=VALUES",
    "Another parameter that moves with it, or has one value for all; may be repeated.",
    name="together",
    multiple=True,
)
@options.take("--trials", None, "Trials at each value.", click.IntRange(min=1))
@options.take(
    "--confidence",
    None,
    "Of all limits of all values together.",
    click.FloatRange(0, 1, min_open=True, max_open=True),
    shown=0.95,
)
@options.out_folder("study", "-scale")
@options.seed("Seed of all chance; the study's own if not given.")
@options.workers("Worker processes; the numbers do not depend on it.")
@options.engine
@options.allow_code
@options.yes
@options.restart("Play all values anew, whatever is in FOLDER.")
@options.as_json("Print the data as JSON, in full precision.")
@options.quiet
@shared
def command(
    *,
    study: Path,
    over: str,
    together: tuple[str, ...],
    trials: int | None,
    confidence: float,
    run: Run,
) -> int:
    from narcissus.scale import Sweep, read_parameter, scale, write
    from narcissus.scale.texts import as_dict, text_of, verdict_of

    place = _file_of(study)
    folder = run.out or Path("results") / f"{place.stem}-scale"
    sweep = Sweep(
        read_parameter(over, "--over"),
        tuple(read_parameter(text, "--with") for text in together),
        trials,
        confidence,
    )
    on_interrupt(f"what is finished is kept in {folder}; the same command continues")

    how: dict[str, Any] = {"rng": run.seed, "workers": run.workers, "restart": run.restart}
    how |= {"folder": folder, "allow_code": run.allow_code}
    scaled = run.play(partial(scale, place, sweep, **how))
    write(scaled, folder)
    if run.as_json:
        click.echo(json.dumps(as_dict(scaled), indent=1, ensure_ascii=False))
    else:
        click.echo(text_of(scaled))
        click.echo(f"wrote {folder / 'index.html'}")
    is_whole = all(one.is_whole for one in scaled.each)
    return OK if is_whole and verdict_of(scaled)[2] else NOT_ASSESSED


def _file_of(study: Path) -> Path:
    """Return the file of a study; a bare name that is no file here is a shipped study."""
    if study.is_file() or study.suffix or len(study.parts) != 1:
        return study
    from narcissus.study.shipped import shipped_study

    return shipped_study(study.name).path
