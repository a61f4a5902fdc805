"""``narcissus profile`` and ``privacy``: exact answers about small games, for every attacker."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from narcissus._outwards import lower
from narcissus.cli.main import EXCEEDED, OK
from narcissus.cli.options import AsJson, Count, InFile, Opt, SeedGiven, command, some
from narcissus.cli.playing import Run, refuse_existing, written_to
from narcissus.cli.progress import progress
from narcissus.cli.rooms import covered, profiles, results, studies
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.game.executor import Executor
    from narcissus.kinds.game.schema import RatesFamily


@dataclass(frozen=True, kw_only=True)
class ProfileOptions:
    epsilons: Annotated[tuple[float, ...], Opt(name="--epsilon")] = ()
    limit: Count = None
    sample: Annotated[int | None, Opt(click.IntRange(2, 1_000_000))] = None
    seed: SeedGiven = None
    parameter: Annotated[str | None, Opt(name="--smallest")] = None
    values: str | None = None
    delta: float | None = None
    rational: bool = False
    worst_told: Annotated[int | None, Opt(click.IntRange(1, 1000))] = None
    sees: Annotated[str | None, Opt(click.Choice(["bag", "data", "nature"]))] = None
    coins: Annotated[int | None, Opt(click.IntRange(1, 100))] = None
    worst: InFile = None
    force: bool = False
    run: Annotated[Run, some("workers", "engine", "scheduler", "allow_code", "as_json")]


@command
def profile(study: Path, *, of: ProfileOptions) -> int:
    run = of.run
    if of.worst is not None and (of.parameter is not None or of.sample is not None):
        raise InputError("`--worst` is for the exact profile: leave out `--smallest`, `--sample`")
    refuse_existing(of.worst, force=of.force)
    if any(not 0 <= epsilon <= 100 for epsilon in of.epsilons):
        raise InputError(f"`--epsilon` must be in [0, 100], got {min(of.epsilons):g}")
    in_rationals = of.rational or of.worst_told is not None
    if in_rationals and any(x is not None for x in (of.sample, of.parameter, of.worst, of.limit)):
        raise InputError(
            "`--rational` and `--worst-told` are exact: leave out `--sample`, `--smallest`, "
            "`--worst` and `--limit`"
        )
    if of.worst_told is None and not (of.sees is None and of.coins is None):
        raise InputError("`--sees` and `--coins` are for `--worst-told SIZE`")
    loaded = _game(study, "a profile", allow_code=run.allow_code)
    _one_prior(loaded)
    if of.parameter is not None:
        if of.sample is not None:
            raise InputError("`--smallest` is exact: leave out `--sample`")
        return _smallest(loaded, of.parameter, of)
    if of.values is not None or of.delta is not None:
        raise InputError(
            f"`{'--delta' if of.values is None else '--values'}` is for `--smallest PARAMETER`"
        )
    if of.sample is not None:
        return _sampled(loaded, of.sample, of)
    if (run.engine, run.scheduler, run.workers) != (None, None, None):
        raise InputError(
            "an exact profile is computed here: `--workers` and `--engine` are for "
            "`--smallest` and `--sample`"
        )
    return (_rationally if in_rationals else _exactly)(loaded, of)


def _one_prior(study: studies.Study) -> None:
    family: Any = getattr(study.settings, "family", None)
    if family is not None and family.kind == "near":
        raise InputError(
            'a profile is of one prior, and [family] kind = "near" means many: leave it out here; '
            "`narcissus audit` judges all of them"
        )


def _rationally(study: studies.Study, of: ProfileOptions) -> int:
    """Print delta in rational numbers, or the worst side information of a size."""
    points = of.epsilons or (0.0,)
    if of.worst_told is not None:
        how: Any = {"sees": of.sees or "data", "coins": of.coins or 1}
        worst = [profiles.worst_told(study, of.worst_told, epsilon=e, **how) for e in points]
        payload, text = [case.to_dict() for case in worst], "\n".join(map(str, worst))
    else:
        exact = profiles.rational_game(study)
        deltas = [(e, exact.delta(e)) for e in points]
        payload = [{"epsilon": e, "delta": str(d), "value": float(d)} for e, d in deltas]
        lines = [f"{e:9.4g}  {float(d):12.6g}  {d}" for e, d in deltas]
        head = "PROVED, against every attacker, in rational numbers\n  epsilon         delta"
        text = "\n".join([head, *lines])
    click.echo(json.dumps(payload, indent=1) if of.run.as_json else text)
    return OK


def _game(study: Path, what: str, *, allow_code: bool) -> studies.Study:
    loaded = studies.load_study(study, allow_code=allow_code)
    if loaded.kind != "game":
        raise InputError(
            f"{study} is a study of kind {loaded.kind!r}; {what} needs the kind 'game'"
        )
    return loaded


def _exactly(study: studies.Study, of: ProfileOptions) -> int:
    """Compute and print the exact profile; write the study of the worst distribution."""
    points = of.epsilons or profiles.EPSILONS
    result = profiles.profile(study, points, limit=of.limit or profiles.LIMIT)
    covers, reason = _between_rates(study, result, of.epsilons)
    name, world = result.member[0], result.exact.game.world
    if covers:
        name, world = f"rate = {covers[0].rate!r}", replace(world, rate=covers[0].rate)
    if of.run.as_json:
        additions = {"cover": [cover.to_dict() for cover in covers]} if covers else {}
        click.echo(json.dumps({**result.to_dict(), **additions}, indent=1))
    else:
        _show(result, points[0])
        for cover in covers:
            click.echo(
                f"\n{cover.grade.upper()} between the rates as well, at epsilon {cover.epsilon:g}: "
                f"{cover}; rate {cover.rate!r} needs {cover.least:.6g}"
            )
        if reason:
            click.echo(f"\nNOT ASSESSED: rates between these, since {reason}")
    if of.worst is not None:
        if not name:
            raise InputError("`--worst` is for a family, and the study has one distribution")
        settings: Any = study.settings
        written_to(of.worst, covered.text_of(settings, world, name), quiet=of.run.as_json)
    return OK


def _between_rates(
    study: studies.Study, result: profiles.Profile, epsilons: tuple[float, ...]
) -> tuple[list[profiles.Cover], str]:
    """Return the covers between the rates of a family, one per epsilon, or why there is none."""
    family = _rates(study)
    if family is None:
        return [], ""
    if reason := profiles.why_not_covered(result.exact):
        return [], reason
    settings: Any = study.settings
    options = settings.statement.options
    delta = options.get("delta") or 0.0
    with progress() as observer:
        return [
            covered.between_rates(family, result.exact, at, delta, observer=observer)
            for at in epsilons or [options.get("epsilon") or 0.0]
        ], ""


def _rates(study: studies.Study) -> RatesFamily | None:
    from narcissus.kinds.game.schema import RatesFamily

    settings: Any = study.settings
    return settings.family if isinstance(settings.family, RatesFamily) else None


@contextmanager
def _others(study: studies.Study, run: Run) -> Generator[Executor]:
    """Yield the executor of long work: as the options say, else as the study does."""
    from narcissus.observer import SILENT
    from narcissus.study.engines import executor_of
    from narcissus.study.kinds import RunOptions

    settings: Any = study.settings
    with run.player() as player, study.code.in_use():
        options = RunOptions(entropy=0, observer=SILENT, engine=player, workers=run.workers)
        with executor_of(options, settings.run, workers=1) as executor:
            yield executor


def _sampled(study: studies.Study, draws: int, of: ProfileOptions) -> int:
    points, limit = of.epsilons or profiles.EPSILONS, of.limit or profiles.LIMIT
    with _others(study, of.run) as executor:
        estimates: Sequence[results.Estimate] = profiles.sampled_profile(
            study, points, draws=draws, limit=limit, rng=of.seed, executor=executor
        )
    if of.run.as_json:
        answer = {
            "epsilon": list(points),
            "delta": [estimate.low for estimate in estimates],
            "attacker": {"gain": [estimate.value for estimate in estimates]},
            "method": "estimated from below",
            "proved": False,
            "confidence": estimates[0].confidence,
        }
        click.echo(json.dumps(answer, indent=1))
        return OK
    click.echo("ESTIMATED from below: delta is at least this, with 95% confidence each")
    for point, estimate in zip(points, estimates, strict=True):
        click.echo(f"epsilon {point:8.4g}: delta >= {lower(estimate.low or 0.0)}")
    return OK


def _show(result: profiles.Profile, epsilon: float) -> None:
    """Print a profile, and the best attacker at one epsilon."""
    click.echo(str(result))
    table = result.table(epsilon, rows=8)
    if table:
        where = f" for {result.member[0]}" if result.member[0] else ""
        click.echo(
            f"\nWhat the best attacker does at epsilon {epsilon:g}{where}, by what it gains:"
        )
        for row in table:
            side_information = f"told {row['told']}, " if "told" in row else ""
            attempt = "no attempt" if row["attempt"] is None else f"attempt {row['attempt']}"
            click.echo(
                f"  {side_information}release {row['release']}: {attempt}, gains {row['gain']:.6g}"
            )


def _smallest(study: studies.Study, parameter: str, of: ProfileOptions) -> int:
    from narcissus.study.ranges import spread

    settings: Any = study.settings
    with _others(study, of.run) as executor:
        if of.values is None:
            raise InputError(
                "`--smallest` needs `--values`, such as --values 0:0.5:0.01 or --values 1,2,4"
            )
        if len(of.epsilons) > 1:
            raise InputError("`--smallest` takes one `--epsilon`")
        options = settings.statement.options
        epsilon = of.epsilons[0] if of.epsilons else options.get("epsilon", 0.0)
        target = options.get("delta") if of.delta is None else of.delta
        if target is None:
            raise InputError("`--smallest` needs `--delta`: the study's statement has none")
        if not 0 <= target <= 1:
            raise InputError(f"`--delta` must be in [0, 1], got {target:g}")
        tried = spread(of.values)
        family = _rates(study)
        how: dict[str, Any] = {"epsilon": epsilon, "delta": target, "executor": executor}
        how |= {"limit": of.limit or profiles.LIMIT}
        if family is None:
            member = partial(covered.varied, settings, study.folder, parameter)
            search = profiles.smallest(member, tried, **how)
        else:
            with progress() as observer:
                search = covered.smallest_for_every_rate(
                    settings, study.folder, parameter, tried, observer=observer, **how
                )
    if of.run.as_json:
        answer = {
            "parameter": parameter,
            "value": search.value,
            "epsilon": epsilon,
            "delta": search.delta,
            "target": target,
            "tried": search.tried,
            "proved": not search.assumptions,
            "assumptions": list(search.assumptions),
            **({"undecided": search.undecided} if family else {}),
        }
        click.echo(json.dumps(answer, indent=1))
    else:
        _say(search, parameter, tried, epsilon=epsilon, target=target, family=family)
    return OK if search.value is not None else EXCEEDED


def _say(
    found: profiles.Smallest,
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


@dataclass(frozen=True, kw_only=True)
class PrivacyOptions:
    epsilon: Annotated[float | None, Opt(click.FloatRange(0, 100))] = None
    out: InFile = None
    uniform: bool = False
    force: bool = False
    allow_code: bool = False
    as_json: AsJson = False


@command
def privacy(study: Path, *, of: PrivacyOptions) -> int:
    if of.uniform and of.out is None:
        raise InputError("`--uniform` is for `--out FILE`: both losses are printed anyway")
    refuse_existing(of.out, force=of.force)
    loaded = _game(study, "this", allow_code=of.allow_code)
    settings: Any = loaded.settings
    at = settings.statement.options.get("epsilon", 0.0) if of.epsilon is None else of.epsilon
    with loaded.code.in_use():
        neighbours = profiles.worst_neighbours(settings.build().game, at)
    click.echo(json.dumps(neighbours.to_dict(), indent=1) if of.as_json else str(neighbours))
    if of.out is not None:
        if neighbours.private:
            raise InputError(f"there is nothing to show: the mechanism is ({at:g}, 0)-private here")
        first, second = (str(data.tolist()) for data in neighbours.data)
        names = (_short(first), _short(second))
        written_to(
            of.out, neighbours.event.study(uniform=of.uniform, names=names), quiet=of.as_json
        )
    return OK


def _short(text: str) -> str:
    """Cut a text for a one-line comment."""
    return text if len(text) <= 200 else f"{text[:197]}..."
