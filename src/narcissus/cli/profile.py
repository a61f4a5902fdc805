"""``narcissus profile``: exact resilience of a small game against every attacker."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from narcissus._outwards import lower
from narcissus.cli import options
from narcissus.cli.main import EXCEEDED, OK
from narcissus.cli.playing import Run, refuse_existing, shared, written_to
from narcissus.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from narcissus.game.executor import Executor
    from narcissus.profiles import Cover, Profile, Smallest
    from narcissus.results import Estimate
    from narcissus.study import Study
    from narcissus.study.game.schema import RatesFamily

HELP = """Compute delta(epsilon) of STUDY: the least delta with which its mechanism is resilient.

Exact, and against every attacker at once: the study (of kind "game") is written out, with all
data sets, releases and attempts. The best attacker comes with it. Where the world is a family of
distributions, delta is the largest over them, and the one that attains it is named; --worst writes
it to a file, as a study to play. Where the study has a [family] of rates, what holds between them
is computed too, at --epsilon or the statement's. A study that is too large gets an error that says
how large it would be; --sample estimates it from below instead.

--smallest finds the first of the --values of a parameter of the mechanism (or of another section,
as in world.rate) with which delta(epsilon) is at most --delta. Exit code 1: none of them is enough.
Where --smallest or --sample take long, --workers or --engine share them out.

\b
Examples:
  narcissus examples counting-query --out counting.toml
  narcissus profile counting.toml
  narcissus profile counting.toml --epsilon 1 --epsilon 2
  narcissus profile counting.toml --epsilon 1 --json
  narcissus examples counting-query-every-rate --out rates.toml
  narcissus profile rates.toml --epsilon 1 --worst worst.toml
  narcissus profile large.toml --sample 5000 --seed 1
  narcissus examples counting-query-uncut --out uncut.toml
  narcissus profile uncut.toml --smallest tau --values 0:0.1:0.01 --epsilon 1 --delta 1e-6
"""


@click.command(help=HELP, short_help="Exact resilience of a small game.")
@click.argument("study", type=click.Path(path_type=Path))
@options.take(
    "--epsilon",
    "E",
    "Where to compute delta; may be given more than once.  [default: 0 to 5]",
    float,
    name="epsilons",
    multiple=True,
)
@options.take(
    "--limit",
    None,
    "Largest number of (data set, release) pairs to write out.",
    click.IntRange(min=1),
)
@options.take(
    "--sample",
    "N",
    "Estimate from below instead: learn the best attacker from N sampled data sets, play it.",
    click.IntRange(2, 1_000_000),
)
@options.seed("Seed for --sample.")
@options.take(
    "--smallest",
    "PARAMETER",
    "Find the smallest value of a parameter of the mechanism that meets --epsilon, --delta.",
    name="parameter",
)
@options.take(
    "--values",
    "VALUES",
    "Values for --smallest, tried in order: FROM:TO:STEP, or a list with commas.",
)
@options.take(
    "--delta", "D", "Largest delta for --smallest.  [default: that of the study's statement]", float
)
@options.file("--worst", "FILE", "Write the worst distribution of the family to FILE, as a study.")
@options.force
@options.workers("Worker processes for --smallest and --sample.  [default: the study's, or 1]")
@options.engine
@options.allow_code
@options.as_json("Print JSON, in full precision.")
@shared
def command(
    *,
    study: Path,
    epsilons: tuple[float, ...],
    limit: int | None,
    sample: int | None,
    parameter: str | None,
    values: str | None,
    delta: float | None,
    worst: Path | None,
    force: bool,
    run: Run,
) -> int:
    from narcissus.profiles import EPSILONS, LIMIT, sampled_profile
    from narcissus.study import load_study

    if worst is not None and (parameter is not None or sample is not None):
        raise InputError("`--worst` is for the exact profile: leave out `--smallest`, `--sample`")
    refuse_existing(worst, force=force)

    if any(not 0 <= epsilon <= 100 for epsilon in epsilons):
        raise InputError(f"`--epsilon` must be in [0, 100], got {min(epsilons):g}")
    loaded = load_study(study, allow_code=run.allow_code)
    if loaded.kind != "game":
        raise InputError(
            f"{study} is a study of kind {loaded.kind!r}; a profile needs the kind 'game'"
        )
    most = LIMIT if limit is None else limit
    if parameter is not None:
        if sample is not None:
            raise InputError("`--smallest` is exact: leave out `--sample`")
        with _others(loaded, run) as executor:
            how: dict[str, Any] = {"epsilons": epsilons, "delta": delta, "limit": most}
            how |= {"executor": executor, "as_json": run.as_json}
            return _smallest(loaded, parameter, values, **how)
    if values is not None or delta is not None:
        raise InputError(
            f"`{'--delta' if values is None else '--values'}` is for `--smallest PARAMETER`"
        )
    points = epsilons or EPSILONS
    if sample is not None:
        with _others(loaded, run) as executor:
            estimates = sampled_profile(
                loaded, points, draws=sample, limit=most, rng=run.seed, executor=executor
            )
        _show_sampled(estimates, points, as_json=run.as_json)
        return OK
    if (run.engine, run.scheduler, run.workers) != (None, None, None):
        raise InputError(
            "an exact profile is computed here: `--workers` and `--engine` are for "
            "`--smallest` and `--sample`"
        )
    return _exactly(loaded, epsilons, limit=most, worst=worst, as_json=run.as_json)


def _exactly(
    study: Study, epsilons: tuple[float, ...], *, limit: int, worst: Path | None, as_json: bool
) -> int:
    """Compute and print the exact profile; write the study of the worst distribution."""
    from narcissus.profiles import EPSILONS, profile
    from narcissus.study.game.covered import text_of

    points = epsilons or EPSILONS
    result = profile(study, points, limit=limit)
    covers, reason = _between_rates(study, result, epsilons)
    name, world = result.member[0], result.exact.game.world
    if covers:
        name, world = f"rate = {covers[0].rate!r}", replace(world, rate=covers[0].rate)
    if as_json:
        more = {"cover": [one.to_dict() for one in covers]} if covers else {}
        click.echo(json.dumps({**result.to_dict(), **more}, indent=1))
    else:
        _show(result, points[0])
        for one in covers:
            click.echo(
                f"\n{one.grade.upper()} between the rates as well, at epsilon {one.epsilon:g}: "
                f"{one}; rate {one.rate!r} needs {one.least:.6g}"
            )
        if reason:
            click.echo(f"\nNOT ASSESSED: rates between these, since {reason}")
    if worst is not None:
        if not name:
            raise InputError("`--worst` is for a family, and the study has one distribution")
        written_to(worst, text_of(cast("Any", study.settings), world, name), quiet=as_json)
    return OK


def _between_rates(
    study: Study, result: Profile, epsilons: tuple[float, ...]
) -> tuple[list[Cover], str]:
    """Return the covers between the rates of a family, one per epsilon, or why there is none."""
    from narcissus.cli.progress import progress
    from narcissus.profiles import why_not_covered
    from narcissus.study.game.covered import between_rates
    from narcissus.study.game.schema import RatesFamily

    settings: Any = study.settings
    if not isinstance(settings.family, RatesFamily):
        return [], ""
    if reason := why_not_covered(result.exact):
        return [], reason
    said = settings.statement.options
    with progress(quiet=not sys.stderr.isatty()) as observer:
        return [
            between_rates(
                settings.family, result.exact, at, said.get("delta") or 0.0, observer=observer
            )
            for at in epsilons or [said.get("epsilon") or 0.0]
        ], ""


@contextmanager
def _others(study: Study, run: Run) -> Generator[Executor]:
    """Yield the executor of long work: as the options say, else as the study does."""
    from narcissus.observer import SILENT
    from narcissus.study.engines import executor_of
    from narcissus.study.kinds import RunOptions

    settings: Any = study.settings
    with run.player() as player, study.code.in_use():
        options = RunOptions(entropy=0, observer=SILENT, engine=player, workers=run.workers)
        with executor_of(options, settings.run, workers=1) as executor:
            yield executor


def _show_sampled(estimates: Sequence[Estimate], points: Sequence[float], *, as_json: bool) -> None:
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
        click.echo(f"epsilon {point:8.4g}: delta >= {lower(estimate.low or 0.0)}")


def _show(result: Profile, epsilon: float) -> None:
    """Print a profile, and the best attacker at one epsilon."""
    click.echo(str(result))
    table = result.table(epsilon, rows=8)
    if table:
        where = f" for {result.member[0]}" if result.member[0] else ""
        click.echo(
            f"\nWhat the best attacker does at epsilon {epsilon:g}{where}, by what it gains:"
        )
        for row in table:
            told = f"told {row['told']}, " if "told" in row else ""
            attempt = "no attempt" if row["attempt"] is None else f"attempt {row['attempt']}"
            click.echo(f"  {told}release {row['release']}: {attempt}, gains {row['gain']:.6g}")


def _smallest(
    study: Study,
    parameter: str,
    values: str | None,
    *,
    epsilons: tuple[float, ...],
    delta: float | None,
    limit: int,
    executor: Executor,
    as_json: bool,
) -> int:
    from narcissus.cli.progress import progress
    from narcissus.profiles import smallest
    from narcissus.study.game.covered import smallest_for_every_rate, varied
    from narcissus.study.game.schema import RatesFamily
    from narcissus.study.ranges import spread

    settings: Any = study.settings
    if values is None:
        raise InputError(
            "`--smallest` needs `--values`, such as --values 0:0.5:0.01 or --values 1,2,4"
        )
    if len(epsilons) > 1:
        raise InputError("`--smallest` takes one `--epsilon`")
    epsilon = epsilons[0] if epsilons else settings.statement.options.get("epsilon", 0.0)
    target = settings.statement.options.get("delta") if delta is None else delta
    if target is None:
        raise InputError("`--smallest` needs `--delta`: the study's statement has none")
    if not 0 <= target <= 1:
        raise InputError(f"`--delta` must be in [0, 1], got {target:g}")
    tried = spread(values)
    family = settings.family if isinstance(settings.family, RatesFamily) else None
    with study.code.in_use(), progress(quiet=not family or not sys.stderr.isatty()) as observer:
        how: dict[str, Any] = {"epsilon": epsilon, "delta": target}
        how |= {"limit": limit, "executor": executor}
        if family:
            found = smallest_for_every_rate(
                settings, study.folder, parameter, tried, observer=observer, **how
            )
        else:
            one = partial(varied, settings, study.folder, parameter)
            found = smallest(one, tried, **how)
    if as_json:
        answer = {
            "parameter": parameter,
            "value": found.value,
            "epsilon": epsilon,
            "delta": found.delta,
            "target": target,
            "tried": found.tried,
            "proved": not found.assumptions,
            "assumptions": list(found.assumptions),
            **({"undecided": found.undecided} if family else {}),
        }
        click.echo(json.dumps(answer, indent=1))
    else:
        _say(found, parameter, tried, epsilon=epsilon, target=target, family=family)
    return OK if found.value is not None else EXCEEDED


def _say(
    found: Smallest,
    parameter: str,
    tried: Sequence[float],
    *,
    epsilon: float,
    target: float,
    family: RatesFamily | None,
) -> None:
    """Print the smallest value; for a family of rates, limits hold for every rate."""
    from narcissus.profiles.write_out import number

    delta = f"delta({epsilon:g})"
    if found.value is None:
        click.echo(
            f"{found.grade.upper()}: no {parameter} of the {found.tried} from {tried[0]:g} to "
            f"{tried[-1]:g} is {'shown to be ' if family else ''}enough: at the last, "
            f"{delta} {'>=' if family else '='} {number(found.delta)}, "
            + (f"above {target:g}" if found.delta > target else "and more is not excluded")
        )
    else:
        every = f", for every rate from {family.low:g} to {family.high:g}" if family else ""
        click.echo(
            f"{found.grade.upper()}, against every attacker: {parameter} = {found.value:g} is "
            f"enough, the first of {found.tried} tried: {delta} {'<=' if family else '='} "
            f"{number(found.delta)}, at most {target:g}{every}"
        )
    if found.undecided:
        click.echo(
            f"not known of {found.undecided} of the values before: take a larger `family.budget`"
        )
    for text in found.assumptions:
        click.echo(f"proved if {text}")
