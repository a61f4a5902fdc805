"""Derive what published tables tell with certainty, and play whose secret they tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from pydantic import Field

from narcissus._files import file_digest
from narcissus._pandas import pd
from narcissus._random import child
from narcissus._version import __version__
from narcissus._visible import visible
from narcissus.counts import (
    LARGEST_SMALL,
    AsPublished,
    Cell,
    CellLimits,
    Publication,
    PublishedTables,
    SizeRule,
    Structure,
    TablesAudit,
    TablesGame,
    Variable,
    audit_tables,
    small_groups,
    threshold,
    with_own_labels,
)
from narcissus.counts.game import PosteriorReader, ReadingAttack, TablesPlayed, concluded
from narcissus.counts.posterior import PRIORS
from narcissus.errors import InputError
from narcissus.kinds.engine import Done, Kind, PreparedWork, Tasks
from narcissus.kinds.published.schema import PublishedTablesStudy, TablesPolicy, TablesThreshold
from narcissus.results import Grade, NotAssessed
from narcissus.rows import (
    Count,
    Fact,
    Findings,
    Level,
    Positive,
    Quantity,
    StudyCriterion,
    StudyRow,
    Unaccounted,
)
from narcissus.study.kinds import RunOptions
from narcissus.study.toml import read_policy
from narcissus.tables import Table
from narcissus.tables.read import read_labels

DETERMINED, GAIN, SHARE, CERTAIN = "people determined", "gain", "secrets named", "secrets certain"
EXPECTED, HIDDEN = "secrets named, expected", "people of a hidden cell"
GROUPS, GROUP = "small groups known", "people of a known group"
FOR_SURE = {"question": "certainty"}
THESE = {"question": "these tables"}
GAME = {"question": "people left out"}
ASSUMED = {
    "uniform": "every data set that is consistent with the tables is as likely as any other",
    "people": "every person is in any cell with the same chance, independently of others",
}
"""What the attacker believes, by prior."""
FITTED = "the tables were fitted, not enumerated or sampled, and fitted chances are too sure"
IGNORED = "means, medians and totals are not used: an attacker who uses them may do better"
_LISTED = 50  # hidden cells, the narrowest
_MOST_LABELS = 5_000  # of a column


class TablesDetail(Fact):
    """The tables, and how they were attacked."""

    tables: Positive
    cells: Positive
    hidden: Count
    hidden_determined: Count
    hidden_open: Count = Field(
        default=0, description="Hidden cells of which it was not settled whether they are."
    )
    data_sets: Count | None = Field(description="Consistent ones, as far as counted.")
    all_counted: bool
    notes: tuple[str, ...]
    secret: str = ""
    known: tuple[str, ...] = ()
    people: Count = Field(default=0, description="In all; 0: no records are at hand.")
    left_out: Count = Field(default=0, description="Of each table of the game.")
    trials: Count = 0
    confidence: Level = 0.95
    layout: tuple[str, ...] = Field(default=(), description="How the tables were understood.")
    small: Count = Field(default=0, description="Groups of fewer people are small; 0: not known.")
    unaccounted: tuple[Unaccounted, ...] = Field(
        default=(), description="What was not understood, and what the user may declare."
    )


def _trial(game: TablesGame, entropy: int, key: str) -> dict[str, Any]:
    shares, how = game.trial(entropy, int(key))
    return {"shares": shares, "how": how}


@dataclass(frozen=True, eq=False)
class TablesWork(PreparedWork[PublishedTablesStudy]):
    """Cells that were read, and the game on them where there are people."""

    declared: Publication = field(kw_only=True)
    tables: PublishedTables = field(kw_only=True)
    threshold: TablesThreshold | None = field(kw_only=True)
    game: TablesGame | None = field(kw_only=True)

    @property
    def cells(self) -> Sequence[Cell]:
        """The cells of all tables."""
        return self.tables.cells

    @property
    def structure(self) -> Structure:
        """What the tables are about."""
        return self.tables.structure

    @property
    def takes_as_given(self) -> tuple[str, ...]:
        """What no number can show to be true."""
        return (*self.declared.takes_as_given, *self.tables.takes_as_given)

    @cached_property
    def below(self) -> int | None:
        """How many people a group must have to be published; None: nothing says it."""
        return self.declared.below or threshold(self.cells)

    @property
    def sizes(self) -> SizeRule:
        """Which groups must not be known."""
        return SizeRule(self.below or LARGEST_SMALL)

    @cached_property
    def reader(self) -> PosteriorReader | None:
        """What the attacker reads from these very tables."""
        if self.study.threat is None:
            return None
        size = None if self.game is None else len(self.game.people)
        are_printed = any(cell.statistics for cell in self.cells)
        return PosteriorReader(
            self.cells,
            self.structure,
            self.study.threat.wanted(),
            size,
            steps=self.study.run.steps,
            rng=child(self.entropy, 0),
            values=are_printed if self.game is None else self.game.has_values,
        )


class PublishedTablesKind(Kind[PublishedTablesStudy, TablesWork]):
    """The kind "published-tables"."""

    model = PublishedTablesStudy
    detail = TablesDetail
    layout = "narcissus.kinds.published.layout:LAYOUT"
    quantity = "share of secrets named by the best attacker"
    fails = "not shown"

    def prepare(self, study: PublishedTablesStudy, folder: Path, options: RunOptions) -> TablesWork:
        if options.internal is not None:
            raise InputError("`--records` is for audits of tables: this one names no records")
        policy, digests = read_policy(study, folder, options.policy, TablesPolicy)
        threshold = study.threshold if policy is None else policy.threshold
        declared = study.declared(folder)
        files = [folder / name for name in study.data.tables]
        read = declared.understand(files)
        cells, structure = read.cells, read.structure
        digests = {f"table {file.name}": file_digest(file) for file in files} | digests
        game = None
        if study.data.people is not None and study.threat is not None:
            rule = AsPublished(cells, structure, declared.rules)
            task = study.threat.wanted()
            columns = list(dict.fromkeys([*rule.columns, task.secret, *task.known]))
            table = _people(folder / study.data.people, columns, rule.variable)
            people = pd.DataFrame(
                {
                    name: np.array(labels, object)[table.codes[:, at]]
                    for at, (name, labels) in enumerate(zip(table.names, table.labels, strict=True))
                }
            )
            rule.check(people)
            game = TablesGame(people, rule, task, structure, study.run.left_out, study.run.steps)
            digests["people"] = file_digest(folder / study.data.people)
        elif threshold is not None and (threshold.gain, threshold.share) != (None, None):
            raise InputError(
                "`gain` and `share` of the threshold need the people's records: name `people` in "
                "[data]"
            )
        return TablesWork(
            study,
            folder,
            options.entropy,
            digests,
            declared=declared,
            tables=read,
            threshold=threshold,
            game=game,
        )

    def cost(self, work: TablesWork, options: RunOptions) -> tuple[float, str] | None:
        if work.game is None:
            return None
        start, trials = monotonic(), work.study.run.trials
        work.game.trial(work.entropy, 0)
        each = (monotonic() - start) / (options.workers or work.study.run.workers or 1)
        return each * trials, f"{trials:,} tables of the game"

    def tasks(self, work: TablesWork) -> Tasks | None:
        if work.game is None:
            return None
        study, trials = work.study, work.study.run.trials
        settings = study.model_dump(mode="json")
        identity = {
            **{part: settings[part] for part in ("data", "made", "threat")},
            "seed": str(work.entropy),
            "digests": {k: v for k, v in work.digests.items() if k != "policy"},
            "left out": study.run.left_out,
            "steps": study.run.steps,
            "version": __version__,
        }
        keys = [str(number) for number in range(trials)]
        return Tasks(partial(_trial, work.game, work.entropy), keys, identity, "tables of the game")

    def measure(self, work: TablesWork, done: Done, options: RunOptions) -> Findings:
        run = work.study.run
        audit = audit_tables(
            *work.tables.sure,
            limit=run.data_sets,
            seconds=run.seconds,
            observer=options.observer,
            sizes=work.sizes,
        )
        if work.tables.are_labels_open:
            audit = audit.without_people().renamed(with_own_labels)
        elif work.tables.unaccounted:
            audit = replace(audit, cells=audit.without_exact().cells)
        groups: list[CellLimits] = []
        if not work.tables.are_labels_open:
            groups = small_groups(audit, work.structure, work.sizes, printed=work.below is not None)
        narrow = sorted(audit.hidden, key=lambda part: part.width)[:_LISTED]
        rows, played = (
            [_determined(audit, work.takes_as_given), *map(_hidden, narrow)],
            None,
        )
        rows += [*_known_groups(work, audit, groups), *map(_group, groups[:_LISTED])]
        if work.game is not None and work.reader is not None:
            shares, how = (np.array([part[k] for part in done.values()]) for k in ("shares", "how"))
            played = concluded(work.game, shares, how, work.reader, run.confidence)
            rows += [row for part in played.attacks for row in _attacked(part)]
            rows += _about_these(played)
        elif work.reader is not None:
            rows += _believed(work.reader)
            work.not_assessed.append(
                NotAssessed(
                    "what the tables tell beyond a guess",
                    "the people's records are not at hand",
                    "name `people` in [data]",
                )
            )
        return self.found(
            _criteria(work, played), tuple(rows), _detail(work, audit, played, groups)
        )

    def confidence(self, detail: TablesDetail) -> float | None:
        return detail.confidence if detail.trials else None

    def is_of_people(self, study: Mapping[str, Any]) -> bool:
        return True


KIND = PublishedTablesKind()


def _people(path: Path, columns: Sequence[str], variable: Variable | None) -> Table:
    """Read the people; the variable of statistics is left out where they have no such column."""
    numbers = [] if variable is None else list(filter(variable.is_named, columns))
    variables = [variable.name] if variable is not None and not numbers else []
    read_as: Any = {name: "text" for name in columns if name not in numbers}
    try:
        return read_labels(path, [*columns, *variables], read_as=read_as, max_values=_MOST_LABELS)
    except InputError:
        if not variables:
            raise
        return _people(path, columns, None)


def _criteria(work: TablesWork, played: TablesPlayed | None) -> tuple[StudyCriterion, ...]:
    threshold = work.threshold
    questions = [(DETERMINED, "people determined", FOR_SURE, threshold and threshold.people)]
    if work.below is not None:
        questions.append(
            (GROUPS, "small groups known", FOR_SURE, threshold and threshold.known_groups)
        )
    if played is not None:
        questions += [
            (GAIN, "gain over people left out", GAME, threshold and threshold.gain),
            (SHARE, "share of these tables' people", THESE, threshold and threshold.share),
        ]
        if threshold is not None and threshold.people is not None:
            limit = min(1.0, threshold.people / played.people)
            questions.append((CERTAIN, "people whose secret is certain", THESE, limit))
    return tuple(
        StudyCriterion(
            of=of, label=label, at=at, at_most=limit, decides=threshold is None or limit is not None
        )
        for of, label, at, limit in questions
    )


def _determined(audit: TablesAudit, given: tuple[str, ...]) -> StudyRow:
    many = audit.determined_people
    grade: Grade = "not assessed" if many is None else "proved if" if given else "proved"
    quantity = Quantity(
        value=many,
        low=many,
        high=many if audit.is_all_determined else None,
        grade=grade,
        takes_as_given=given if many is not None else (),
        why="" if audit.is_all_determined else "whether there are others was not settled",
    )
    return StudyRow(role="measure", of=DETERMINED, name="", quantity=quantity, at=FOR_SURE)


def _known_groups(
    work: TablesWork, audit: TablesAudit, groups: Sequence[CellLimits]
) -> Iterator[StudyRow]:
    """Yield how many groups of few people are known: hidden cells, and all that no cell hides."""
    if work.below is None:
        return
    hidden = sum(cell.determined and 1 <= cell.low < work.below for cell in audit.hidden)
    many = len(groups) + hidden
    is_open = any(cell.may_be_within(1) for cell in audit.hidden)
    is_open |= work.tables.are_labels_open
    high = None if audit.groups_left or is_open else many
    why = audit.groups_left or "limits of hidden cells may be narrower than shown" * is_open
    assumptions = work.takes_as_given
    quantity = Quantity(
        value=many,
        low=many,
        high=high,
        why=why,
        grade="proved if" if assumptions else "proved",
        takes_as_given=assumptions,
    )
    yield StudyRow(role="measure", of=GROUPS, name="", quantity=quantity, at=FOR_SURE)


def _group(group: CellLimits) -> StudyRow:
    labels = ", ".join(f"{name} = {label}" for name, label in group.cell.labels.items()) or "all"
    return StudyRow(
        role="measure",
        of=GROUP,
        name=visible(labels),
        at={"table": visible(group.cell.file)},
        quantity=Quantity(value=group.low, low=group.low, high=group.high, grade="proved"),
    )


def _undeclared(work: TablesWork, groups: Sequence[CellLimits]) -> tuple[Unaccounted, ...]:
    """Ask for the threshold of small groups where some are known and nothing says it."""
    if work.below is not None or not groups:
        return ()
    labels = ", ".join(f"{k} = {v}" for k, v in groups[0].cell.labels.items()) or "all"
    many = "One group is" if len(groups) == 1 else f"{len(groups):,} groups are"
    return (
        Unaccounted(
            subject="the threshold of small groups",
            reason=f"{many} known that no cell prints, such as {visible(labels)}: {groups[0].low}.",
            declaration="`below = 5` in `[made]`",
        ),
    )


def _attacked(one: ReadingAttack) -> Iterator[StudyRow]:
    """Yield what an attack reaches from these tables, in the game, and beyond people left out."""
    exact = Quantity(value=one.these, grade="counted")
    ignored: dict[str, Any] = {}
    if one.read == "counts alone":
        exact = Quantity(
            value=one.these, low=one.these, grade="approximate", takes_as_given=(IGNORED,)
        )
        ignored = {f"read {one.read}": 1}
    how: dict[str, Any] = {f"read {word}": many for word, many in one.how.items()}
    yield StudyRow(role="attack", of=SHARE, name=one.name, quantity=exact, at=THESE, facts=ignored)
    inside, outside = Quantity.of(one.inside), Quantity.of(one.outside)
    yield StudyRow(
        role="attack",
        of=SHARE,
        name=one.name,
        quantity=inside,
        baseline=outside.value,
        at=GAME,
        facts=how,
    )
    yield StudyRow(role="fresh", of=SHARE, name=one.name, quantity=outside, at=GAME)
    yield StudyRow(role="excess", of=GAIN, name=one.name, quantity=Quantity.of(one.gain), at=GAME)


def _about_these(played: TablesPlayed) -> list[StudyRow]:
    ceiling = Quantity(value=played.ceiling, high=played.ceiling, grade="proved")
    guess = Quantity(value=played.guess, grade="counted")
    low, high = played.certain
    sure = Quantity(value=low, low=low, high=high, grade="proved")
    return [
        StudyRow(role="guess", of="guess", name="most frequent secret", quantity=guess, at=THESE),
        StudyRow(role="bound", of=SHARE, name="same known columns", quantity=ceiling, at=THESE),
        StudyRow(role="measure", of=CERTAIN, quantity=sure, at=THESE),
    ]


def _believed(reader: PosteriorReader) -> Iterator[StudyRow]:
    """Yield what an attacker expects; nothing is expected of tables that were only fitted."""
    for prior in PRIORS:
        how, assumptions = reader.how[prior], [ASSUMED[prior]]
        assumptions += [IGNORED] * (how == "counts alone")
        quantity = Quantity(
            value=reader.believed(prior), grade="approximate", takes_as_given=tuple(assumptions)
        )
        if how == "fitted":
            quantity = Quantity(value=None, grade="not assessed", why=FITTED)
        yield StudyRow(
            role="measure",
            of=EXPECTED,
            name=prior,
            at=THESE,
            facts={f"read {how}": 1},
            quantity=quantity,
        )


def _detail(
    work: TablesWork,
    audit: TablesAudit,
    played: TablesPlayed | None,
    groups: Sequence[CellLimits],
) -> TablesDetail:
    hidden, threat = audit.hidden, work.study.threat
    details: dict[str, Any] = {}
    if threat is not None:
        details = {"secret": threat.secret, "known": tuple(threat.known)}
    if played is not None:
        names = ("people", "left_out", "trials", "confidence")
        details |= {name: getattr(played, name) for name in names}
    return TablesDetail(
        tables=len({cell.file for cell in work.cells}),
        cells=len(work.cells),
        hidden=len(hidden),
        hidden_determined=sum(limits.determined for limits in hidden),
        hidden_open=sum(limits.may_be_within(1) for limits in hidden),
        data_sets=audit.data_sets,
        all_counted=audit.all_counted,
        notes=audit.notes,
        layout=tuple(line for layout in work.tables.layouts for line in layout.lines()),
        small=work.below or 0,
        unaccounted=(*map(_as_key, work.tables.unaccounted), *_undeclared(work, groups)),
        **details,
    )


def _as_key(question: Unaccounted) -> Unaccounted:
    """Return a question whose answer is a key of the study file."""
    keys = re.sub(r"`--([\w-]+) (.+?)`", _key_of, question.declaration)
    keys = re.sub(r"`--([\w-]+)`", lambda one: f"`{one[1].replace('-', '_')} = true`", keys)
    return question.model_copy(update={"declaration": f"{keys} in `[made]`"})


def _key_of(option: re.Match[str]) -> str:
    """Return the key of a study file behind an option and its value."""
    key = {"round": "rounded"}.get(option[1], option[1].replace("-", "_"))
    value = option[2].strip('"')
    if key == "below":
        return f"`{key} = {value}`"
    return f'`{key} = "{value}"`' if key in ("rounded", "cell_key") else f'`{key} = ["{value}"]`'


def _hidden(one: CellLimits) -> StudyRow:
    labels = ", ".join(f"{k} = {v}" for k, v in one.cell.labels.items()) or "all"
    return StudyRow(
        role="measure",
        of=HIDDEN,
        name=visible(labels),
        at={"table": one.cell.file},
        facts={"printed": visible(one.cell.printed)},
        quantity=Quantity(
            value=one.low if one.determined else None,
            low=one.low,
            high=one.high,
            grade="proved",
            why="" if one.exact else "the limits may be wider than necessary",
        ),
    )
