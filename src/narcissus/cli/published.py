"""``narcissus tables``: what published tables tell with certainty."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import click

from narcissus._visible import visible
from narcissus.cli.main import EXCEEDED, NOT_ASSESSED, OK
from narcissus.cli.options import (
    COUNT,
    EXISTING,
    SEED,
    AsJson,
    CountFrom,
    Existing,
    Opt,
    command,
    print_json,
    some,
)
from narcissus.cli.playing import Run, bins_of, names_of, play_given, ways_of
from narcissus.cli.progress import progress
from narcissus.cli.rooms import counts, studies
from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus.results import Grade, Status
from narcissus.rows import Unaccounted

SHOWN = 40
"""Most cells and people that the terminal shows."""
OF_TOTALS = ("contributions", "contributor", "p_percent", "dominance", "minimum", "protect")
PERCENT = click.FloatRange(min=0, min_open=True)
SECONDS = click.FloatRange(0, 10**8, min_open=True)  # as `narcissus._validation.MOST_SECONDS`
FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)


@dataclass(frozen=True, kw_only=True)
class TablesOptions:
    below: Annotated[int | None, Opt(COUNT)] = None
    no_zeros: bool = False
    no_marks: bool = False
    mark: tuple[str, ...] = ()
    rounded: Annotated[str | None, Opt(name="--round")] = None
    cell_key: Existing = None
    total: tuple[str, ...] = ()
    across: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    hierarchy: tuple[str, ...] = ()
    variable: str | None = None
    decimals: Annotated[int | None, Opt(click.IntRange(0, 12))] = None
    magnitude: str | None = None
    count: tuple[str, ...] = ()
    dimension: tuple[str, ...] = ()
    percent: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    irrelevant: tuple[str, ...] = ()
    part: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    texts_tell_nothing: bool = False
    order: tuple[str, ...] = ()
    sheet: tuple[str, ...] = ()
    contributions: Existing = None
    contributor: str | None = None
    p_percent: Annotated[float | None, Opt(PERCENT)] = None
    dominance: tuple[str, ...] = ()
    minimum: Annotated[int | None, Opt(COUNT)] = None
    protect: Annotated[float | None, Opt(PERCENT)] = None
    limit: Annotated[int, Opt(click.IntRange(1, 1_000_000))] = 1000
    seconds: Annotated[float, Opt(SECONDS)] = 600.0
    against: Annotated[Path | None, Opt(FOLDER)] = None
    width: Annotated[int | None, Opt(COUNT)] = None
    people: Existing = None
    secret: str | None = None
    known: Annotated[str | None, Opt(check=names_of)] = None
    trials: Annotated[int, Opt(click.IntRange(2, 10**6))] = 200
    run: Annotated[
        Run, some("out", "seed", "workers", "yes", "restart", "as_json", "quiet", "verbose")
    ]

    def declared(self, publication: counts.Publication) -> tuple[str, ...]:
        """Return what is declared of the data, in words."""
        premises = publication.takes_as_given
        if self.contributions is not None:
            by = f"`{visible(self.contributor)}` names" if self.contributor else "each row is"
            who = "who contributes" if self.contributor else "another contributor"
            name = visible(self.contributions.name)
            premises += (f"{name} holds all contributions", f"{by} {who}")
        return premises

    def command(self, files: Sequence[Path]) -> str:
        """Return the command line of files and options, as it can be pasted."""
        words = ["narcissus", "tables", *map(str, files)]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("run", "rounded") or value in (None, (), False, field.default):
                continue
            option = f"--{field.name.replace('_', '-')}"
            each = value if isinstance(value, tuple) else (value,)
            for text in each:
                words += [option] if text is True else [option, f"{text}"]
        words += [] if self.rounded is None else ["--round", self.rounded]
        return shlex.join(words)

    def study(self, files: Sequence[Path]) -> studies.Study:
        """Return the study of whose secret the tables tell."""
        if self.secret is None or self.known is None:
            raise InputError("name what the attacker wants and knows: --secret and --known")
        for name in ("against", "width", "magnitude", *OF_TOTALS):
            if getattr(self, name) not in (None, ()):
                option = name.replace("_", "-")
                raise InputError(f"`--{option}` does not go with `--secret`; drop one of them")
        names = [field.name for field in fields(counts.Publication) if field.name != "magnitude"]
        made = {name: getattr(self, name) for name in names}
        return studies.load_study(
            {
                "kind": "published-tables",
                "title": ", ".join(path.name for path in files),
                "data": {"tables": files, "people": self.people},
                "made": made,
                "threat": {"secret": self.secret, "known": self.known},
                "run": {"trials": self.trials, "data_sets": self.limit, "seconds": self.seconds},
            }
        )


@command
def tables(files: Annotated[tuple[Path, ...], Opt(EXISTING)], *, of: TablesOptions) -> int:
    if not files:
        raise InputError("name one table or more: narcissus tables a.csv b.csv")
    if of.people is not None or of.secret is not None or of.known is not None:
        folder = of.run.out or Path("results") / files[0].name.partition(".")[0]
        return play_given(of.study(files), folder, of.run)
    names = [field.name for field in fields(counts.Publication)]
    publication = counts.Publication(**{name: getattr(of, name) for name in names})
    audited = _audited(of, files, publication, monotonic() + of.seconds)
    if of.run.as_json:
        print_json(audited.shown())
    else:
        click.echo("\n".join(audited.text()))
    if audited.is_exceeded:
        return EXCEEDED
    return NOT_ASSESSED if audited.is_open else OK


@dataclass(frozen=True)
class _Size:
    """Small groups that are known, and whether their threshold was declared."""

    rule: counts.SizeRule
    known: Sequence[counts.CellLimits]
    is_sought: bool
    is_declared: bool

    @property
    def broken(self) -> int:
        """How many groups break the threshold that was declared."""
        return len(self.known) if self.is_declared else 0

    @property
    def is_open(self) -> bool:
        """Whether the threshold decides, and was not declared."""
        return bool(self.known) and not self.is_declared


@dataclass(frozen=True)
class _Audited:
    """What was derived of tables, and what their thresholds say of it."""

    read: counts.PublishedTables
    audit: counts.TablesAudit
    narrowed: Sequence[tuple[counts.CellLimits, counts.CellLimits]] | None  # with --against
    sensitive: tuple[tuple[counts.SensitiveCell, ...], str] | None  # with --contributions
    size: _Size
    width: float | None
    asked: int | None  # --width
    given: Sequence[str]  # what is declared of the data
    command: str  # as it was typed, but for options that say how it is shown

    @property
    def premises(self) -> tuple[str, ...]:
        """What a verdict in favour rests on, declared or not, in words."""
        return (*self.given, *self.read.takes_as_given)

    @property
    def grade(self) -> Grade:
        """How sure the limits are."""
        return "proved if" if self.premises else "proved"

    @property
    def narrow(self) -> list[counts.CellLimits]:
        """Hidden cells that are known too well."""
        if self.width is None:
            return []
        return [cell for cell in self.audit.hidden if cell.width < self.width]

    @property
    def is_exceeded(self) -> bool:
        exposed = self.sensitive is not None and any(cell.is_exposed for cell in self.sensitive[0])
        if self.read.are_labels_open:
            return exposed or bool(self.narrow)
        is_known = self.width is not None and self.size.broken > 0
        return exposed or is_known or bool(self.narrow)

    @property
    def is_open(self) -> bool:
        if self.read.unaccounted:
            return True
        if self.sensitive is not None and self.sensitive[1]:
            return True
        if self.width is None:
            return False
        has_more = self.size.is_open or bool(self.audit.groups_left)
        return has_more or bool(_open(self.audit, self.width))

    def shown(self) -> dict[str, Any]:
        """Return what --json prints."""
        shown = self.audit.to_dict() | {"groups": [cell.to_dict() for cell in self.size.known]}
        if self.sensitive is not None:
            cells, left_out = self.sensitive
            shown["sensitive"] = [cell.to_dict() for cell in cells]
            shown["notes"] += [left_out] if left_out else []
        if self.narrowed is not None:
            shown["narrowed"] = [
                {**after.to_dict(), "before": [before.low, before.high]}
                for before, after in self.narrowed
            ]
        given = list(self.premises)
        shown |= {"grade": self.grade, "narrowest": self.audit.narrowest, "takes_as_given": given}
        return {**shown, **_layout_json(self.read)}

    def text(self) -> Iterator[str]:
        """Yield the lines that are printed."""
        left = self.read.unaccounted
        yield from _layout(self.read)
        yield from _text(self.audit, self.size, self.read, self.grade)
        yield from _against(self.narrowed)
        yield from _sensitive(self.sensitive, bool(left))
        is_open = bool(left) and not self.is_exceeded
        yield from _verdict(self.width, self.narrow, self.audit, self.size, left if is_open else ())
        if is_open and (options := first_options(left)):
            yield f"If the first declaration of each is true, write: {self.command} {options}"
        from narcissus.report.first_screen import holds_if

        status: Status = "exceeded" if self.is_exceeded else "met"
        premises = (((*self.given,), ()), ((), self.read.takes_as_given))
        yield from filter(None, (holds_if(status, *clauses) for clauses in premises))
        if self.is_exceeded and self.read.supposes:
            yield f"This follows if {'; '.join(self.read.supposes)}."


def _audited(
    of: TablesOptions, files: Sequence[Path], publication: counts.Publication, deadline: float
) -> _Audited:
    """Read the tables, and derive what they tell."""
    before: Sequence[Path] = () if of.against is None else _earlier(of.against, files)
    with progress(quiet=of.run.quiet or of.run.as_json) as observer:
        observer.start("reading the tables", 0)
        read = publication.understand([*files, *before])
    named = counts.name_files([*files, *before])
    names = {named[path] for path in files}
    all_cells, structure = read.sure
    cells = [cell for cell in all_cells if _file_of(cell) in names]
    earlier = [cell for cell in all_cells if _file_of(cell) not in names]
    below = of.below or counts.threshold([*cells, *earlier])
    width = of.width
    unit = cells[0].unit
    if width is None and of.contributions is None:
        # no hidden cell is to be recomputed, and no small group to be known
        width = 1 if unit is None else float(2 * unit)
    rule = counts.SizeRule(below or counts.LARGEST_SMALL, int(width or 1) or 1)
    is_asked = unit is None and width is not None
    with progress(quiet=of.run.quiet or of.run.as_json) as observer:
        how: dict[str, Any] = {
            "limit": of.limit,
            "seconds": deadline - monotonic(),
            "observer": observer,
            "sizes": rule if is_asked and not read.are_labels_open else None,
        }
        if of.against is None:
            audit, narrowed = counts.audit_tables(cells, structure, **how), None
        else:
            audit, narrowed = counts.audit_next(cells, earlier, structure, **how)
        if read.are_labels_open and of.contributions is not None:  # whose labels are those of cells
            own = counts.audit_tables(read.cells, read.structure, **how)
            sensitive = _judged(of, read.cells, read.structure, own, observer, deadline)
        else:
            sensitive = _judged(of, cells, structure, audit, observer, deadline)
    if read.are_labels_open:
        audit = audit.without_people().renamed(counts.with_own_labels)
        narrowed = narrowed and [(_named(before), _named(after)) for before, after in narrowed]
    elif read.unaccounted:
        audit = audit.without_exact()
    known = list[counts.CellLimits]()
    if is_asked and not read.are_labels_open:
        are_printed = below is not None or not _hides(cells)
        known = counts.small_groups(audit, structure, rule, printed=are_printed)
    size = _Size(rule, known, is_asked, below is not None)
    return _Audited(
        read,
        audit,
        narrowed,
        sensitive,
        size,
        width,
        of.width,
        of.declared(publication),
        of.command(files),
    )


def first_options(questions: Sequence[Unaccounted]) -> str:
    """Return the first options that answer each question; empty: one asks for something else."""
    options: list[str] = []
    for question in questions:
        match = re.match(r"`(--[^`]+)`", question.declaration)
        if match is None:
            return ""
        options.append(match[1])
    return " ".join(dict.fromkeys(options))


def _file_of(cell: counts.Cell) -> str:
    """Return the name of a cell's file, of which it may be one of several sheets."""
    name, _, sheet = cell.file.partition("#")
    return name if sheet and name.lower().endswith((".xlsx", ".xlsm")) else cell.file


def _named(limits: counts.CellLimits) -> counts.CellLimits:
    return replace(limits, cell=counts.with_own_labels(limits.cell))


def _hides(cells: Sequence[counts.Cell]) -> bool:
    return any(cell.count.kind == "suppressed" for cell in cells)


def _judged(
    of: TablesOptions,
    cells: Sequence[counts.Cell],
    structure: counts.Structure,
    found: counts.TablesAudit,
    observer: Observer,
    deadline: float,
) -> tuple[tuple[counts.SensitiveCell, ...], str] | None:
    """Judge cells by the contributions, if they are given."""
    if of.contributions is None or of.magnitude is None:
        if any(getattr(of, name) not in (None, ()) for name in OF_TOTALS):
            raise InputError(
                "rules for totals need both `--magnitude`, their column, and `--contributions`, "
                "the file of contributions"
            )
        return None
    if of.against is not None:
        raise InputError("`--contributions` judges one release: leave `--against` out")
    rules = counts.SensitivityRules(
        p=of.p_percent,
        dominance=tuple(map(_pair, of.dominance)),
        minimum=of.minimum,
        protect=of.protect,
    )
    parts = counts.read_contributions(
        of.contributions, of.magnitude, cells, structure, of.contributor
    )
    return counts.audit_contributions(
        found, structure, parts, rules, seconds=deadline - monotonic(), observer=observer
    )


def _pair(text: str) -> tuple[int, float]:
    match = re.fullmatch(r"([1-9]\d{0,3}):(\d{1,2}(?:\.\d{1,6})?)", text.strip())
    if match is None:
        raise InputError(f"`--dominance` is N:K with K below 100, such as 1:75; got {text!r}")
    return int(match[1]), float(match[2])


def _sensitive(
    judged: tuple[tuple[counts.SensitiveCell, ...], str] | None, is_open: bool
) -> Iterator[str]:
    if judged is None:
        return
    cells, left_out = judged
    exposed = [cell for cell in cells if cell.is_exposed]
    by = Counter(rule for cell in cells for rule in cell.rules)
    each = ", ".join(f"{rule}: {n:,}" for rule, n in sorted(by.items()))
    yield f"\n{_many(len(cells), 'cell')} sensitive{f' ({each})' if each else ''}:"
    for cell in cells[:SHOWN]:
        closest = (
            ""
            if cell.closest is None
            else (f"; {cell.insider} gets the largest contribution within {cell.closest:.3g}%")
        )
        yield f"{_cell(cell.limits)}{closest}{'  EXPOSED' * cell.is_exposed}"
    if len(cells) > SHOWN:
        yield f"  and {len(cells) - SHOWN:,} more (--json has all)"
    if left_out:
        yield left_out
    if exposed:
        many = _many(len(exposed), "sensitive cell is", "sensitive cells are")
        yield f"Threshold exceeded: {many} exposed."
    elif left_out or is_open:
        yield "Not decided: no sensitive cell was found to be exposed."
    else:
        yield "Threshold met: no sensitive cell is exposed."


@dataclass(frozen=True, kw_only=True)
class RulesOptions:
    by: tuple[str, ...] = ()
    secret: str = ""
    bins: Annotated[tuple[str, ...], Opt(check=bins_of)] = ()
    read_as: Annotated[tuple[str, ...], Opt(check=ways_of)] = ()
    small: Annotated[int, Opt(CountFrom(min=2))] = 3
    cell_key: Existing = None
    epsilon: Annotated[tuple[float, ...], Opt(PERCENT)] = ()
    trials: Annotated[int, Opt(click.IntRange(0, 100_000))] = 5
    seconds: Annotated[float, Opt(SECONDS)] = 120.0
    seed: Annotated[int, Opt(SEED)] = 0
    out: Path | None = None
    as_json: AsJson = False


@command
def rules(people: Annotated[Path, Opt(EXISTING)], *, of: RulesOptions) -> None:
    from narcissus._files import put
    from narcissus._pandas import pd
    from narcissus.counts.compare import EPSILONS
    from narcissus.report.html import page_html
    from narcissus.report.publishing import compared_rules
    from narcissus.report.text import page_text
    from narcissus.tables import Bins
    from narcissus.tables.read import read_labels

    deadline = monotonic() + of.seconds
    if not of.by or not of.secret:
        raise InputError(
            "name the columns of a table and the secret: narcissus rules people.csv --by sex,age "
            "--secret income"
        )
    tables = [[name.strip() for name in text.split(",")] for text in of.by]
    names = list(dict.fromkeys([*(name for table in tables for name in table), of.secret]))
    ways: Any = of.bins or {}  # made of texts where they are checked
    read_as: Any = of.read_as or {}
    bins = {name: Bins(**way) for name, way in ways.items()}
    table = read_labels(people, names, bins=bins, read_as=read_as)
    labels = {
        name: [table.labels[at][k] for k in table.in_order[:, at].tolist()]
        for at, name in enumerate(table.names)
    }
    key = None if of.cell_key is None else counts.read_cell_key(of.cell_key)
    with progress(quiet=of.as_json) as observer:
        comparison = counts.compare_rules(
            pd.DataFrame(labels).astype(str),
            of.secret,
            tables,
            small=of.small,
            key=key,
            epsilons=of.epsilon or EPSILONS,
            trials=of.trials,
            rng=of.seed,
            observer=observer,
            seconds=deadline - monotonic(),
        )
    page = compared_rules(comparison)
    if of.out is not None:
        put(of.out, page_html(page))
    if of.as_json:
        print_json(comparison.to_dict())
    else:
        click.echo(page_text(page), nl=False)


def _earlier(folder: Path, files: Sequence[Path]) -> list[Path]:
    """List the tables in a folder, but for those that are new.

    Raises `InputError` for anything else that it holds, since nobody would know that it was left
    out.
    """
    new = {path.resolve() for path in files}
    paths = [path for path in sorted(folder.iterdir()) if path.resolve() not in new]
    suffixes = {".csv", ".tsv", ".txt", ".xlsx"}
    for path in paths:
        if path.is_dir() or path.suffix.lower() not in suffixes:
            raise InputError(
                f"`--against`: {folder} holds {visible(path.name)!r}, and only tables are read "
                "(.csv, .tsv, .txt, .xlsx): name a folder of these alone"
            )
    if not paths:
        raise InputError(f"`--against`: {folder} holds no tables (.csv, .tsv, .txt, .xlsx)")
    return paths


def _text(
    found: counts.TablesAudit, size: _Size, read: counts.PublishedTables, grade: Grade
) -> Iterator[str]:
    hidden = found.hidden
    files = len({row.cell.file for row in found.cells})
    yield (
        f"{_many(files, 'table')}, {_many(len(found.cells), 'cell')}; {len(hidden):,} hidden"
        f"{_how_many_determined(hidden, read, grade)}."
    )
    if found.cells[0].cell.unit is None:
        yield from _people(found)
    if hidden:
        yield "\nHidden cells, by all tables together (? : the true limits may be narrower):"
        narrow = sorted(hidden, key=lambda row: row.width)
        yield from map(_cell, narrow[:SHOWN])
        if len(hidden) > SHOWN:
            yield f"  and {len(hidden) - SHOWN:,} wider ones (--json has all)"
    if found.disclosed:
        yield "\nAll people of these rows are in one category:"
        yield from (
            f"  {visible(row.file)}: {_labels(row.labels) or 'all'}: {visible(row.dimension)} = "
            f"{visible(row.label)} ({_many(row.people, 'person', 'people')} or more)"
            for row in found.disclosed[:SHOWN]
        )
    if size.known:
        yield f"\nGroups of fewer than {size.rule.below} people that are known, and not hidden:"
        yield from map(_group, size.known[:SHOWN])
        if len(size.known) > SHOWN:
            yield f"  and {len(size.known) - SHOWN:,} more (--json has all)"
    yield from (f"\n{note}" for note in found.notes)


def _how_many_determined(
    hidden: Sequence[counts.CellLimits], read: counts.PublishedTables, grade: Grade
) -> str:
    """Word how many hidden cells are known; without a fact in favour while something is open."""
    many = sum(cell.determined for cell in hidden)
    is_open = bool(read.unaccounted) or any(cell.may_be_within(1) for cell in hidden)
    if is_open and not many:
        return "; whether they are determined is not decided" * bool(hidden)
    verb = "is" if many == 1 else "are"
    return f", of which {'at least ' * is_open}{many:,} {verb} determined ({grade})"


def _group(group: counts.CellLimits) -> str:
    how = f":{group.cell.line} is printed" if group.cell.line else ""
    about = _labels(group.cell.labels) or "all"
    return f"  {visible(group.cell.file)}{how}: {about}: {_span(*group.ends)}"


def _people(found: counts.TablesAudit) -> Iterator[str]:
    yield _data_sets(found)
    if found.determined_people is not None:
        prefix = "At least " * (not found.is_all_determined)
        people = _many(found.determined_people, "person", "people")
        yield f"{prefix}{people} determined with all values."
    else:
        yield "People who are determined with all values were not looked for."
    alike = Counter(_labels(person) for person in found.people)
    if len(alike) <= SHOWN and found.determined_people == len(found.people):
        yield from (f"  {about}{f' ({n:,} people)' * (n > 1)}" for about, n in alike.items())


def _data_sets(found: counts.TablesAudit) -> str:
    if found.data_sets is None:
        return (
            "Consistent data sets were not counted: the tables are too large, a key printed them, "
            "or time ran out."
        )
    if not found.all_counted:
        return f"At least {_many(found.data_sets, 'data set is', 'data sets are')} consistent."
    if found.data_sets == 1:
        return "One data set is consistent, and no other: the people are fully reconstructed."
    return f"{found.data_sets:,} data sets are consistent, and no others."


def _against(
    narrowed: Sequence[tuple[counts.CellLimits, counts.CellLimits]] | None,
) -> Iterator[str]:
    if narrowed is None:
        return
    if not narrowed:
        yield "\nTogether with the earlier tables, no hidden cell is limited further."
        return
    yield "\nHidden cells that the new and the earlier tables limit only together:"
    for before, after in narrowed[:SHOWN]:
        yield f"{_cell(after)}, before {_span(*before.ends)}"
    if len(narrowed) > SHOWN:
        yield f"  and {len(narrowed) - SHOWN:,} more (--json has all)"


def _open(found: counts.TablesAudit, width: float) -> int:
    """Count hidden cells whose true limits may be narrower than ``width``, and are not shown so."""
    return sum(cell.may_be_within(width) for cell in found.hidden)


def _layout(read: counts.PublishedTables) -> Iterator[str]:
    """Yield how the tables were understood, and what was not."""
    for layout in read.layouts:
        yield from layout.lines()
    for question in read.unaccounted:
        yield f"Not accounted for: {question.subject}. {question.reason}"
        yield f"  To decide, write {question.declaration}."
    yield ""


def _layout_json(read: counts.PublishedTables) -> dict[str, Any]:
    return {
        "layout": [layout.to_dict() for layout in read.layouts],
        "unaccounted": [question.model_dump() for question in read.unaccounted],
    }


def _verdict(
    width: float | None,
    narrow: Sequence[counts.CellLimits],
    found: counts.TablesAudit,
    size: _Size,
    unaccounted: Sequence[Unaccounted],
) -> Iterator[str]:
    if unaccounted:
        subjects = _many(len(unaccounted), "thing is", "things are")
        yield f"\nNot decided: {subjects} not accounted for, such as {unaccounted[0].subject}."
        yield f"To decide, write {unaccounted[0].declaration}."
        return
    if width is None:
        return
    below = size.rule.below
    if narrow:
        cells = _many(len(narrow), "hidden cell has", "hidden cells have")
        yield f"\nThreshold exceeded: {cells} limits less than {width:g} apart."
    if size.broken:
        groups = _many(size.broken, "group", "groups")
        verb = "is" if size.broken == 1 else "are"
        near = "exactly" if width == 1 else f"to fewer than {width:g}"
        yield f"\nThreshold exceeded: {groups} of fewer than {below} people {verb} known {near}."
    if narrow or size.broken:
        return
    if many := _open(found, width):
        cells = _many(many, "hidden cell")
        yield f"\nNot decided: {cells} may have limits less than {width:g} apart."
    elif size.is_open:
        few = f"of fewer than {below} people"
        groups = _many(len(size.known), f"group {few} is", f"groups {few} are")
        yield f"\nNot decided: {groups} known. Declare the threshold: --below 5"
    elif found.groups_left:
        yield f"\nNot decided: {found.groups_left}"
    else:
        groups = f", and groups of fewer than {below} people that no cell prints are unknown"
        yield (
            f"\nThreshold met: the limits of hidden cells are at least {width:g} apart"
            f"{groups if size.is_sought else ''}."
        )


def _cell(one: counts.CellLimits) -> str:
    about = _labels(one.cell.labels) or "all"
    mark = "" if one.exact else " ?"
    remark = "  determined" if one.determined else ""
    return (
        f"  {visible(one.cell.file)}:{one.cell.line} {about}: "
        f"{visible(one.cell.printed) or '(empty)'} is {_span(*one.ends)}{mark}{remark}"
    )


def _labels(labels: Any) -> str:
    return ", ".join(f"{visible(str(k))} = {visible(str(v))}" for k, v in labels.items())


def _span(low: float, high: float | None) -> str:
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"
