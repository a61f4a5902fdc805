"""``narcissus audit``, ``synth``, ``measure``, ``extract``, and what they share."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import click

from narcissus._validation import one_of, repeated
from narcissus.cli.heart import rest
from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.main import EXCEEDED, NOT_ASSESSED, OK
from narcissus.cli.options import (
    AsJson,
    Count,
    Existing,
    Opt,
    Records,
    SeedGiven,
    command,
    print_json,
    some,
    words_given,
)
from narcissus.cli.rooms import audits, disclosure, studies
from narcissus.errors import AnotherStudyError, InputError, LongWorkError, StoreError

if TYPE_CHECKING:
    from narcissus.game.executor import Executor

HOURS = 1 / 6
"""Longest time that work takes without being agreed to."""

# what each status of a record exits with
EXITS = {
    "met": OK,
    "no threshold": OK,
    "exceeded": EXCEEDED,
    "contradicted": NOT_ASSESSED,
    "too few trials": NOT_ASSESSED,
    "inconclusive": NOT_ASSESSED,
    "not shown": NOT_ASSESSED,
    "undeclared": NOT_ASSESSED,
    "not assessed": NOT_ASSESSED,
}

PlayedT = TypeVar("PlayedT")


@contextmanager
def engine_of(
    name: str | None, scheduler: str | None, workers: int | None
) -> Generator[str | Executor | None]:
    """Yield the engine as `narcissus.run` takes it; raise InputError for an impossible pair."""
    from narcissus.study.engines import ENGINES, Dask

    if name is not None:
        one_of("--engine", name, ENGINES)
    if scheduler is None:
        yield name
        return
    if name not in {None, "dask"}:
        raise InputError(f"`--scheduler` is for the engine dask, and `--engine` is {name}")
    with closing(Dask(scheduler, workers=workers)) as executor:
        yield executor


def agreed(play: Callable[[float | None], PlayedT], *, yes: bool) -> PlayedT:
    """Call ``play`` with the longest time agreed to, in hours (None: any); ask if it takes longer.

    ``yes`` agrees beforehand. LongWorkError is raised where nobody is there or agrees.
    """
    if yes:
        return play(None)
    try:
        return play(HOURS)
    except LongWorkError as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        rest()
        click.echo(f"narcissus: {error}", err=True)
        if not click.confirm("Start it now?", default=False, err=True):
            raise
        return play(None)


@dataclass(frozen=True)
class Run:
    """The shared options of commands that play; a command takes some of them."""

    out: Annotated[Path | None, Opt(click.Path(path_type=Path, file_okay=False))] = None
    seed: SeedGiven = None
    workers: Count = None
    engine: str | None = None
    scheduler: str | None = None
    allow_code: bool = False
    yes: bool = False
    restart: bool = False
    as_json: AsJson = False
    quiet: bool = False
    verbose: bool = False

    @contextmanager
    def player(self) -> Generator[str | Executor | None]:
        with engine_of(self.engine, self.scheduler, self.workers) as player:
            yield player

    def play(self, play: Callable[..., PlayedT]) -> PlayedT:
        """Call ``play`` with ``hours``, ``observer`` and ``engine``; ask before long work."""
        from narcissus.cli.progress import progress

        def once(hours: float | None) -> PlayedT:
            with progress(quiet=self.quiet) as observer, self.player() as engine:
                return play(hours=hours, observer=observer, engine=engine)

        return agreed(once, yes=self.yes)


def refuse_existing(out: Path | None, *, force: bool) -> None:
    if out is not None and os.path.lexists(out) and not force:
        raise InputError(f"{out} exists; choose another, or replace it with --force")


def written_to(out: Path, text: str, *, quiet: bool = False) -> None:
    """Write a study, and print how to play it."""
    from narcissus._files import put

    put(out, text)
    if not quiet:
        click.echo(f"wrote {out}; play it with: narcissus audit {shlex.quote(str(out))}")


def _require_writable(folder: Path, name: str, option: str) -> None:
    """Refuse a folder that cannot be created or written to; leave nothing behind."""
    from narcissus._folders import require_no_links

    require_no_links(folder, name, option)
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise StoreError(
            f"{name} {folder} cannot be written to ({error.strerror or error}); "
            f"choose another with {option}"
        ) from error


def _prepare_folder(folder: Path, study: studies.Study, run: Run) -> None:
    """Refuse an unusable results folder before any work.

    Only what this installation wrote is replaced. A folder with stored trials is checked by the
    kind of study, since a run may be extended. A folder with a record alone must hold a record of
    this very study.
    """
    from narcissus.study.marks import require_marked
    from narcissus.study.reading import read_record
    from narcissus.study.store import FILE as STORE

    _require_writable(folder, "the results folder", "--out")
    require_marked(folder, restart=run.restart)
    record = folder / "record.json"
    if run.restart:
        if not run.quiet:
            _name_replaced(folder)
        return
    if not record.exists() or (folder / STORE).exists():
        return
    digest = read_record(record).provenance.digests.get("study")
    if digest is not None and digest != f"sha256:{study.digest}":
        raise AnotherStudyError(
            f"the results folder {folder} belongs to another study (or to this one before it was "
            "changed); choose another with --out, or replace what is there with --restart"
        )


SIGNATURE = "record.json.sig"
"""Where `ssh-keygen -Y sign` puts the signature of a record."""
REPLACED = ("record.json", SIGNATURE, "report.html", "trials.store", "entropy.txt")
"""What a run writes anew or removes in its folder; it touches nothing else there."""


def _name_replaced(folder: Path) -> None:
    """Print what --restart replaces: the folder may be somebody else's."""
    from narcissus.study.marks import unmarked

    names = [name for name in REPLACED if os.path.lexists(folder / name)]
    names += [name for name in unmarked(folder) if name not in REPLACED]
    if names:
        click.echo(f"--restart replaces in {folder}: {', '.join(names)}", err=True)


def _show(audit: audits.Audit, folder: Path, run: Run) -> int:
    """Save an audit, and print record, report or first screen; return the exit code."""
    from narcissus._folders import opened_folder
    from narcissus.cli.progress import progress
    from narcissus.report import page_of, render_text
    from narcissus.report.text import first_text

    with progress(quiet=run.quiet) as observer:
        observer.start("writing the report", 0)
        audit.save(folder, restart=run.restart)
    with opened_folder(folder) as place:
        was_signed = place.remove(SIGNATURE)  # of the record before
    if was_signed and not run.quiet:
        click.echo(f"removed {folder / SIGNATURE}: it signed the record of before", err=True)
    if run.as_json:
        click.echo(audit.record.to_json(), nl=False)
    else:
        draw = render_text if run.verbose else lambda record: first_text(page_of(record))
        click.echo(draw(audit.record))
        click.echo(f"Report: {folder / 'report.html'}")
        click.echo(f"Record: {folder / 'record.json'}")
    return EXITS[audit.status]


def play_given(study: studies.Study, folder: Path, run: Run) -> int:
    """Play a study that a command made of its options, and show it; return the exit code."""
    _prepare_folder(folder, study, run)
    outcome = run.play(partial(audits.run, study, rng=run.seed, workers=run.workers))
    return _show(outcome, folder, run)


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    run: Run
    quick: bool = False
    budget: str | None = None
    policy: Existing = None
    records: Records = None


@command
def audit(study: Path, *, of: AuditOptions) -> int:
    from narcissus.cli.progress import progress

    with progress(quiet=of.run.quiet) as observer:
        loaded = studies.load_study(study, allow_code=of.run.allow_code, observer=observer)
    if of.budget is not None:
        loaded = with_run(loaded, "--budget", budget=_budget(of.budget))
    if of.quick:
        loaded = with_run(loaded, "--quick", quick=True)
    folder = of.run.out or Path("results") / f"{study.stem}{'-quick' if of.quick else ''}"
    _prepare_folder(folder, loaded, of.run)
    if of.records is not None:
        _require_writable(of.records.absolute().parent, "the folder of --records", "--records")
    words = words_given(click.get_current_context(), without=("out", "restart"))
    again = shlex.join(["narcissus", "audit", words[0], "--out", str(folder), *words[1:]])
    on_interrupt(f"continue with: {again}")
    how: dict[str, Any] = {"rng": of.run.seed, "workers": of.run.workers, "restart": of.run.restart}
    how |= {"folder": folder, "policy": of.policy, "internal": of.records}
    outcome = of.run.play(partial(audits.run, loaded, **how))
    return _show(outcome, folder, of.run)


def _budget(text: str) -> float:
    from narcissus.study.sections import seconds

    try:
        return seconds(text)
    except ValueError as error:
        raise InputError(f"`--budget`: {error}") from error


def with_run(study: studies.Study, option: str, **how: Any) -> studies.Study:
    """Return a study of a table with other keys of ``run``; refuse other kinds."""
    run: Any = getattr(study.settings, "run", None)
    if not hasattr(run, option.removeprefix("--")):
        of = "tables and games" if "budget" in how else "tables"
        raise InputError(
            f"`{option}` is for studies of {of}, and this one is of kind '{study.kind}'; drop it"
        )
    if "budget" in how and run.trials != "auto":
        raise InputError(f'`{option}` needs `trials = "auto"` in [run]; set it, or drop the option')
    run = run.model_copy(update=how)
    return replace(study, settings=study.settings.model_copy(update={"run": run}))


def names_of(_: click.Context, option: click.Parameter, text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if not all(names) and (text.strip() or option.name != "drop"):  # a column without a name
        raise click.BadParameter("names must be separated by single commas", param=option)
    return names


_NUMBER = r"-?\d*\.?\d+(?:e-?\d+)?"
_BINNED = re.compile(
    rf"(.+?)=(?:edges=({_NUMBER}(?:,{_NUMBER})*)|(quantiles|common)=(\d+)|(above=)?({_NUMBER}))"
)


def bins_of(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``COLUMN=WIDTH`` and the other ways, one for each --bins."""
    bins: dict[str, Any] = {}
    for text in given:
        match = _BINNED.fullmatch(text)
        if match is None:
            ways = "COLUMN=WIDTH, or COLUMN=common=20 (quantiles=5, above=0, edges=18,65)"
            raise click.BadParameter(f"write {ways}, got {text!r}", param=option)
        name, cuts, count, many, above, number = match.groups()
        _require_first(name, bins, option)
        if count:
            bins[name] = {count: int(many)}
        elif cuts:
            bins[name] = {"edges": [float(cut) for cut in cuts.split(",")]}
        else:
            bins[name] = {"above" if above else "width": float(number)}
    return bins


def ways_of(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Parse ``COLUMN=WAY``, one for each --read-as."""
    pairs = [text.rpartition("=") for text in given]
    if not all(name for name, _equals, _way in pairs):
        raise click.BadParameter("write COLUMN=WAY, such as zip=text", param=option)
    ways: dict[str, str] = {}
    for name, _equals, way in pairs:
        _require_first(name, ways, option)
        ways[name] = way
    return ways


def same_of(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Parse ``COLUMN=NAME``, one for each --same."""
    same: dict[str, str] = {}
    for text in given:
        name, _equals, other = text.partition("=")
        if not name or not other:
            raise click.BadParameter("write COLUMN=NAME, such as income=pay", param=option)
        _require_first(name, same, option)
        same[name] = other
    return same


def _require_first(name: str, found: Mapping[str, Any], option: click.Parameter) -> None:
    """Refuse a column that an option has named before: one of the two would be left out."""
    if name in found:
        raise click.BadParameter(f"the column {name} is named twice; keep one", param=option)


@dataclass(frozen=True, kw_only=True)
class SynthOptions:
    control: Annotated[str | None, Opt(click.Path())] = None
    unknown: Annotated[str | None, Opt(check=names_of)] = None
    known: Annotated[str | None, Opt(check=names_of)] = None
    groups: Annotated[str | None, Opt(check=names_of)] = None
    columns: Annotated[str | None, Opt(check=names_of)] = None
    drop: Annotated[str | None, Opt(check=names_of)] = None
    irrelevant: Annotated[str | None, Opt(check=names_of)] = None
    same: Annotated[tuple[str, ...], Opt(check=same_of)] = ()
    unit: str | None = None
    bins: Annotated[tuple[str, ...], Opt(check=bins_of)] = ()
    missing: Annotated[str | None, Opt(click.Choice(["refuse", "drop", "category"]))] = None
    read_as: Annotated[tuple[str, ...], Opt(check=ways_of)] = ()
    at_most: float | None = None
    copies: float | None = None
    policy: Existing = None
    confidence: float | None = None

    def study(self, real: str, synthetic: str) -> tuple[studies.Study, list[str]]:
        """Return the study of a file, completed by what its columns suggest, and lines on that."""
        from narcissus.kinds.synthetic.propose import completed

        data = {"real": real, "synthetic": synthetic, "control": self.control}
        data |= {name: getattr(self, name) for name in ("columns", "drop", "irrelevant")}
        data |= {name: getattr(self, name) for name in ("bins", "missing")}
        accepted = {"at_most": self.at_most, "copies": self.copies}
        accepted = {name: limit for name, limit in accepted.items() if limit is not None}
        settings, lines = completed(
            {
                "kind": "synthetic",
                "title": f"{Path(synthetic).name}, made from {Path(real).name}",
                "data": {
                    **data,
                    **{name: getattr(self, name) for name in ("read_as", "same", "unit")},
                },
                "threat": {"unknown": self.unknown, "known": self.known},
                "threshold": accepted or None,
                "groups": {"columns": self.groups},
                "run": {"confidence": self.confidence},
            }
        )
        return studies.load_study(settings), lines


@command
def synth(
    real: Annotated[str, Opt(click.Path())],
    synthetic: Annotated[tuple[str, ...], Opt(click.Path())],
    *,
    of: SynthOptions,
    run: Annotated[Run, some("out", "seed", "yes", "restart", "as_json", "quiet", "verbose")],
) -> int:
    names = _file_names(synthetic)
    folder = run.out or Path("results") / (
        names[0] if len(names) == 1 else f"{Path(real).stem}-files"
    )
    folders = [folder] if len(names) == 1 else [folder / name for name in names]
    prepared: list[studies.Study] = []
    for file, file_folder in zip(synthetic, folders, strict=True):
        study, lines = of.study(real, file)
        if not run.quiet:
            click.echo("\n".join([f"{file}:"] * (len(names) > 1) + lines), err=True)
        _prepare_folder(file_folder, study, run)
        prepared.append(study)
    outcomes = [
        run.play(partial(audits.run, file_study, rng=run.seed, policy=of.policy))
        for file_study in prepared
    ]
    if len(outcomes) == 1:
        return _show(outcomes[0], folder, run)
    return _show_several(dict(zip(names, outcomes, strict=True)), folder, real, run)


def _file_names(files: tuple[str, ...]) -> list[str]:
    """Return the names of files without what follows a point; refuse two that are alike."""
    names = [Path(file).name.partition(".")[0] for file in files]
    if twice := repeated(names):
        raise InputError(
            f"two files are called {twice[0]}: rename one, their results have that name"
        )
    return names


def _show_several(found: Mapping[str, audits.Audit], folder: Path, real: str, run: Run) -> int:
    """Save audits of several files and the page that compares them; return the worst exit code."""
    from narcissus.audits import published_files as compare
    from narcissus.report.text import page_text

    ordered = compare.ordered(found)
    for name, audit in ordered.items():
        audit.save(folder / name, restart=run.restart)
    title = f"Files made from {Path(real).name}"
    page = compare.write(ordered, folder, title, restart=run.restart)
    if run.as_json:
        click.echo(
            json.dumps({n: audit.record.to_dict() for n, audit in ordered.items()}, indent=1)
        )
    else:
        click.echo(page_text(page))
        click.echo(f"wrote {folder / 'index.html'} and {folder / 'data.csv'}")
    return EXCEEDED if any(audit.status == "exceeded" for audit in found.values()) else NOT_ASSESSED


@dataclass(frozen=True, kw_only=True)
class ExtractOptions:
    run: Annotated[
        Run, some("out", "seed", "workers", "yes", "restart", "as_json", "quiet", "verbose")
    ]
    no_isolation: bool = False
    records: Records = None


@command
def extract(evidence: Path, *, of: ExtractOptions) -> int:
    from narcissus.extraction.sandbox import IsolationError, without_isolation
    from narcissus.kinds.extraction.kind import KIND
    from narcissus.observer import SILENT
    from narcissus.study.toml import read_document, validate

    document = read_document(evidence)
    kind = document.data.pop("kind", "extraction")
    if kind != "extraction":
        raise click.UsageError(
            f"{evidence} is a study of kind '{kind}': play it with `narcissus audit "
            f"{shlex.quote(str(evidence))}`"
        )
    settings = validate(KIND.model, document)
    study = studies.Study("extraction", settings, evidence.resolve().parent)
    KIND.check(settings, study.folder, SILENT)
    folder = of.run.out or Path("results") / evidence.stem
    _prepare_folder(folder, study, of.run)
    on_interrupt("nothing was kept; run the same command again")
    how: dict[str, Any] = {"rng": of.run.seed, "workers": of.run.workers, "internal": of.records}
    try:
        with without_isolation() if of.no_isolation else nullcontext():
            outcome = of.run.play(partial(audits.run, study, **how))
    except IsolationError as error:
        click.echo(f"not assessed: {error}", err=True)
        return NOT_ASSESSED
    return _show(outcome, folder, of.run)


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    known: Annotated[str | None, Opt(check=names_of)] = None
    secret: Annotated[str | None, Opt(check=names_of)] = None
    weights: str | None = None
    population: float | None = None
    unit: str | None = None
    bins: Annotated[tuple[str, ...], Opt(check=bins_of)] = ()
    read_as: Annotated[tuple[str, ...], Opt(check=ways_of)] = ()
    missing: Annotated[str, Opt(click.Choice(["any", "value"]))] = "any"
    as_json: AsJson = False


@command
def measure(files: Annotated[tuple[str, ...], Opt(click.Path())], *, of: MeasureOptions) -> None:
    from narcissus.tables import Bins

    how: dict[str, Any] = {"known": of.known, "secrets": of.secret, "weights": of.weights}
    how |= {"population": of.population, "unit": of.unit, "missing": of.missing}
    bins: Any = of.bins
    how["bins"] = {name: Bins(**way) for name, way in bins.items()} if bins else None
    how["read_as"] = of.read_as or None
    outcomes: list[Any] = []
    for file in files:
        try:
            outcomes.append(disclosure.measure_disclosure(file, **how))
        except InputError as error:
            message = str(error) if file in str(error) else f"{Path(file).name}: {error}"
            raise type(error)(message) from error
    if of.as_json:
        print_json(
            {
                "files": [
                    {"file": Path(f).name, **measures.to_dict()}
                    for f, measures in zip(files, outcomes, strict=True)
                ]
            }
        )
        return
    for file, measures in zip(files, outcomes, strict=True):
        click.echo(f"{Path(file).name}\n{measures}\n")
