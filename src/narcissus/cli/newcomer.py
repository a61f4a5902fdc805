"""``narcissus FILE``: what somebody starts with who has files and no study."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import Annotated

import click

from narcissus._toml import read_toml
from narcissus._visible import visible
from narcissus.cli.options import Opt, SeedGiven, command
from narcissus.cli.playing import names_of
from narcissus.cli.rooms import propose
from narcissus.errors import AnotherStudyError, InputError

STUDY, RECORD = ".toml", ".json"
PAGES = "index.html", "report.html"
"""Pages that a command leaves in its results folder, of several files and of one."""


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    unknown: Annotated[str | None, Opt(check=names_of)] = None
    unit: str | None = None
    control: Annotated[Path | None, Opt(click.Path(path_type=Path))] = None
    seed: SeedGiven = None
    no_browser: bool = False
    yes: bool = False
    quiet: bool = False

    def refuse(self, what: str, *names: str) -> None:
        """Refuse options that would do nothing."""
        for name in names:
            if getattr(self, name) is not None:
                raise InputError(f"`--{name}` is not for {what}; leave it out")

    @property
    def words(self) -> list[str]:
        """The options that every command that plays takes, as words."""
        seed = [] if self.seed is None else ["--seed", str(self.seed)]
        return seed + ["--yes"] * self.yes + ["--quiet"] * self.quiet


@command
def start(
    files: Annotated[tuple[Path, ...], Opt(click.Path(path_type=Path))], *, of: StartOptions
) -> int:
    from narcissus.counts.recognition import holds_counts

    first, *others = map(_path, files)
    if (suffix := first.suffix.lower()) in (STUDY, RECORD):
        if others:
            raise InputError(f"{first} is a study or a record; leave out {others[0]}")
        of.refuse("a study or a record", "unknown", "unit", "control")
        if suffix == RECORD:
            of.refuse("a record", "seed")
            return _run("report", [_word(first), "--text"])
        return _play(first, of, whole=True)
    if all(map(holds_counts, (first, *others))):
        of.refuse("published counts", "unknown", "unit", "control", "seed")
        _say("taken for published counts of people, because of the labels", of)
        return _run("tables", [_word(file) for file in (first, *others)], of)
    if others:
        return _compare(first, others, of)
    of.refuse("one table of people, without a file made from it", "unit", "control")
    return _audit(first, of)


def _path(given: Path) -> Path:
    """Return a file that is there; of a results folder, its record."""
    path = given / "record.json" if given.is_dir() else given
    if path.is_file():
        return path
    if given.is_dir():
        raise InputError(f"{given} is a folder without a record; name a file, or a results folder")
    raise InputError(f"no such file: {path}")


def _word(path: Path) -> str:
    """Return a path that no command takes for an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def _say(text: str, of: StartOptions) -> None:
    if not of.quiet:
        click.echo(visible(text), err=True)


def _run(name: str, words: Sequence[str], of: StartOptions | None = None) -> int:
    """Run a command, and print it first: it is the one to type for more."""
    from narcissus.cli.main import COMMANDS, cli

    assert name in COMMANDS
    if of is not None:
        _say(f"this is: {join(['narcissus', name, *words])}", of)
    chosen = cli.get_command(click.get_current_context(), name)
    assert chosen is not None
    with chosen.make_context(name, list(words)) as context:
        code = chosen.invoke(context)
    return code or 0


def _compare(real: Path, others: Sequence[Path], of: StartOptions) -> int:
    """Audit files that were made from a table of people."""
    name = f"{real.stem}-files" if len(others) > 1 else others[0].name.partition(".")[0]
    folder = Path("results") / name
    words = [_word(file) for file in (real, *others)]
    words += [] if of.control is None else ["--control", _word(of.control)]
    words += [] if of.unit is None else ["--unit", of.unit]
    words += [] if of.unknown is None else ["--unknown", ",".join(of.unknown)]
    _say("taken for a table of people, and files that were made from it", of)
    code = _run("synth", [*words, "--out", str(folder), *of.words], of)
    _open(folder, of)
    return code


def _audit(table: Path, of: StartOptions) -> int:
    """Write a study of a table of people here, and play a quick look of it."""
    study = Path(f"{table.name.partition('.')[0]}{STUDY}")
    if os.path.lexists(study):
        _require_study_of(table, study)
        of.refuse(f"a table whose study {study} is there: change `unknown` in it", "unknown")
        _say(f"{study} is there, and is played as it stands; without it, one is proposed anew", of)
    else:
        _propose(table, study, of)
    return _play(study, of, whole=False)


def _require_study_of(table: Path, study: Path) -> None:
    data = read_toml(study.read_text(encoding="utf-8")).get("data")
    path = data.get("path") if isinstance(data, dict) else None
    if not isinstance(path, str) or (study.parent / path).resolve() != table.resolve():
        raise InputError(
            f"{study} is there, and is no study of {table}: play it with `narcissus audit`, or "
            "write another with `narcissus init --out`"
        )


def _propose(table: Path, study: Path, of: StartOptions) -> None:
    """Write the study that names and values suggest, with a preset threshold."""
    from narcissus._files import put
    from narcissus.cli.progress import progress
    from narcissus.kinds.table.examination import examine_proposal
    from narcissus.study.sections import PRESET
    from narcissus.tables.parts import sketch_table

    with progress(quiet=of.quiet) as observer:
        sketch = sketch_table(str(table), observer=observer)
        proposal = propose.propose(sketch, unknown=of.unknown, stand_in=False)
        proposal = examine_proposal(proposal, str(table), observer)
    path = Path(os.path.relpath(table.parent.resolve() / table.name)).as_posix()
    put(study, propose.draft(proposal, path, preset=PRESET))
    for line in propose.brief(proposal):
        _say(line, of)
    _say(f"wrote {study}: correct what is wrong, and run the same command again", of)


def _play(study: Path, of: StartOptions, *, whole: bool) -> int:
    folder = Path("results") / f"{study.stem}{'' if whole else '-quick'}"
    words = [_word(study), *["--quick"] * (not whole)]
    words += ["--out", str(folder), *of.words]
    try:
        code = _run("audit", words, of)
    except AnotherStudyError:
        if whole:
            raise
        _say(f"{study} was changed: the quick look of before is replaced", of)
        code = _run("audit", [*words, "--restart"], of)
    _open(folder, of)
    return code


def _open(folder: Path, of: StartOptions) -> None:
    """Open the page of a folder in a browser, where somebody sits before one."""
    is_seen = sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if of.no_browser or of.quiet or not is_seen or not sys.stdout.isatty():
        return
    page = next((folder / name for name in PAGES if (folder / name).is_file()), None)
    if page is not None:
        webbrowser.open(page.resolve().as_uri())
