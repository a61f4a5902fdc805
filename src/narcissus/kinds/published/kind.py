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
    name_files,
    small_groups,
    threshold,
    with_own_labels,
)
from narcissus.counts.game import PosteriorReader, ReadingAttack, TablesPlayed, concluded
from narcissus.counts.posterior import PRIORS
from narcissus.errors import InputError
from narcissus.kinds.engine import Done, Kind, PreparedWork, Tasks
from narcissus.kinds.published.result import (
    CERTAIN,
    DETERMINED,
    FOR_SURE,
    GAIN,
    GAME,
    GROUPS,
    SHARE,
    THESE,
    ExpectedShare,
    HiddenCells,
    LimitedGroup,
    PlayedTables,
    SmallGroups,
    TablesAttack,
    TablesResult,
)
from narcissus.kinds.published.schema import PublishedTablesStudy, TablesPolicy, TablesThreshold
from narcissus.results import Grade, NotAssessed
from narcissus.rows import Findings, Quantity, StudyCriterion, Unaccounted
from narcissus.study.kinds import RunOptions
from narcissus.study.toml import read_policy
from narcissus.tables import Table
from narcissus.tables.read import read_labels

ASSUMED = {
    "uniform": "every data set that is consistent with the tables is as likely as any other",
    "people": "every person is in any cell with the same chance, independently of others",
}
"""What the attacker believes, by prior."""
FITTED = "the tables were fitted, not enumerated or sampled, and fitted chances are too sure"
IGNORED = "means, medians and totals are not used: an attacker who uses them may do better"
_LISTED = 50  # hidden cells, the narrowest
_MOST_LABELS = 5_000  # of a column


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
    result = TablesResult
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
        named = name_files(files)
        digests = {f"table {name}": file_digest(file) for file, name in named.items()} | digests
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
        parts: dict[str, Any] = {}
        if work.game is not None and work.reader is not None:
            shares, how = (np.array([part[k] for part in done.values()]) for k in ("shares", "how"))
            played = concluded(work.game, shares, how, work.reader, run.confidence)
            parts["game"] = _played(played, work.takes_as_given)
        elif work.reader is not None:
            parts["expected"] = tuple(_believed(work.reader))
            work.not_assessed.append(
                NotAssessed(
                    "what the tables tell beyond a guess",
                    "the people's records are not at hand",
                    "name `people` in [data]",
                )
            )
        result = _result(work, audit, groups, **parts)
        return self.found(_criteria(result, work.threshold), result)

    def confidence(self, result: TablesResult) -> float | None:
        return None if result.game is None else result.game.confidence

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


def _criteria(
    result: TablesResult, threshold: TablesThreshold | None
) -> tuple[StudyCriterion, ...]:
    game = result.game
    questions = [(DETERMINED, "people determined", FOR_SURE, threshold and threshold.people)]
    if result.small_groups is not None:
        questions.append(
            (GROUPS, "small groups known", FOR_SURE, threshold and threshold.known_groups)
        )
    if game is not None:
        questions += [
            (GAIN, "gain over people left out", GAME, threshold and threshold.gain),
            (SHARE, "share of these tables' people", THESE, threshold and threshold.share),
        ]
        if threshold is not None and threshold.people is not None:
            limit = min(1.0, threshold.people / game.people)
            questions.append((CERTAIN, "people whose secret is certain", THESE, limit))
    return tuple(
        StudyCriterion(
            of=of, label=label, at=at, at_most=limit, decides=threshold is None or limit is not None
        )
        for of, label, at, limit in questions
    )


def _result(
    work: TablesWork, audit: TablesAudit, groups: Sequence[CellLimits], **parts: Any
) -> TablesResult:
    """Put together what follows with certainty, and the ``game`` or what is ``expected``."""
    hidden, threat, given = audit.hidden, work.study.threat, work.takes_as_given
    if threat is not None:
        parts |= {"secret": threat.secret, "known": tuple(threat.known)}
    narrowest = sorted(hidden, key=lambda limits: limits.width)[:_LISTED]
    return TablesResult(
        tables=len({cell.file for cell in work.cells}),
        cells=len(work.cells),
        determined=_determined(audit, given),
        hidden=HiddenCells(
            total=len(hidden),
            determined=sum(limits.determined for limits in hidden),
            undecided=sum(limits.may_be_within(1) for limits in hidden),
            narrowest=tuple(_limited(limits, _hidden(limits, given)) for limits in narrowest),
        ),
        small_groups=_small_groups(work, audit, groups),
        groups=tuple(_limited(group, _known(group, given)) for group in groups[:_LISTED]),
        data_sets=audit.data_sets,
        all_counted=audit.all_counted,
        notes=audit.notes,
        layout=tuple(line for layout in work.tables.layouts for line in layout.lines()),
        unaccounted=(*map(_as_key, work.tables.unaccounted), *_undeclared(work, groups)),
        declared=work.declared.takes_as_given,
        implied=work.tables.takes_as_given,
        **parts,
    )


def _determined(audit: TablesAudit, given: tuple[str, ...]) -> Quantity:
    many = audit.determined_people
    grade: Grade = "not assessed" if many is None else "proved if" if given else "proved"
    return Quantity(
        value=many,
        low=many,
        high=many if audit.is_all_determined else None,
        grade=grade,
        takes_as_given=given if many is not None else (),
        why="" if audit.is_all_determined else "whether there are others was not settled",
    )


def _limited(limits: CellLimits, people: Quantity) -> LimitedGroup:
    return LimitedGroup(
        table=visible(limits.cell.file),
        labels={visible(name): visible(label) for name, label in limits.cell.labels.items()},
        printed=visible(limits.cell.printed),
        people=people,
    )


def _hidden(limits: CellLimits, given: tuple[str, ...]) -> Quantity:
    return Quantity(
        value=limits.low if limits.determined else None,
        low=limits.low,
        high=limits.high,
        grade="proved if" if given else "proved",
        takes_as_given=given,
        why="" if limits.exact else "the limits may be wider than necessary",
    )


def _known(limits: CellLimits, given: tuple[str, ...]) -> Quantity:
    return Quantity(
        value=limits.low,
        low=limits.low,
        high=limits.high,
        grade="proved if" if given else "proved",
        takes_as_given=given,
    )


def _small_groups(
    work: TablesWork, audit: TablesAudit, groups: Sequence[CellLimits]
) -> SmallGroups | None:
    """Count the groups of few people that are known: hidden cells, and all that no cell hides."""
    if work.below is None:
        return None
    hidden = sum(cell.determined and 1 <= cell.low < work.below for cell in audit.hidden)
    many = len(groups) + hidden
    is_open = any(cell.may_be_within(1) for cell in audit.hidden)
    is_open |= work.tables.are_labels_open
    assumptions = work.takes_as_given
    known = Quantity(
        value=many,
        low=many,
        high=None if audit.groups_left or is_open else many,
        why=audit.groups_left or "limits of hidden cells may be narrower than shown" * is_open,
        grade="proved if" if assumptions else "proved",
        takes_as_given=assumptions,
    )
    return SmallGroups(below=work.below, known=known)


def _played(played: TablesPlayed, given: tuple[str, ...]) -> PlayedTables:
    low, high = played.certain
    return PlayedTables.taken(
        played,
        attacks=tuple(map(_attacked, played.attacks)),
        guess=Quantity(value=played.guess, grade="counted"),
        ceiling=Quantity(value=played.ceiling, high=played.ceiling, grade="proved"),
        certain=Quantity(
            value=low,
            low=low,
            high=high,
            grade="proved if" if given else "proved",
            takes_as_given=given,
        ),
    )


def _attacked(attack: ReadingAttack) -> TablesAttack:
    published = Quantity(value=attack.these, grade="counted")
    if attack.read == "counts alone":
        published = Quantity(
            value=attack.these, low=attack.these, grade="approximate", takes_as_given=(IGNORED,)
        )
    return TablesAttack(
        prior=attack.name,
        read=attack.read,
        published=published,
        members=Quantity.of(attack.inside),
        left_out=Quantity.of(attack.outside),
        gain=Quantity.of(attack.gain),
        readings=attack.how,
    )


def _believed(reader: PosteriorReader) -> Iterator[ExpectedShare]:
    """Yield what an attacker expects; nothing is expected of tables that were only fitted."""
    for prior in PRIORS:
        how, assumptions = reader.how[prior], [ASSUMED[prior]]
        assumptions += [IGNORED] * (how == "counts alone")
        named = Quantity(
            value=reader.believed(prior), grade="approximate", takes_as_given=tuple(assumptions)
        )
        if how == "fitted":
            named = Quantity(value=None, grade="not assessed", why=FITTED)
        yield ExpectedShare(prior=prior, read=how, named=named)


def _undeclared(work: TablesWork, groups: Sequence[CellLimits]) -> tuple[Unaccounted, ...]:
    """Ask for the threshold of small groups where some are known and nothing says it."""
    if work.below is not None or not groups:
        return ()
    group = _limited(groups[0], _known(groups[0], work.takes_as_given))
    many = "One group is" if len(groups) == 1 else f"{len(groups):,} groups are"
    return (
        Unaccounted(
            subject="the threshold of small groups",
            reason=f"{many} known that no cell prints, such as {group.name}: {groups[0].low}.",
            declaration="`below = 5` in `[made]`",
        ),
    )


def _as_key(question: Unaccounted) -> Unaccounted:
    """Return a question whose answer is a key of the study file."""
    keys = re.sub(r"`(--[\w-]+ [^`]+? --[^`]+)`", _keys_of, question.declaration)
    keys = re.sub(r"`--([\w-]+) (.+?)`", _key_of, keys)
    keys = re.sub(r"`--([\w-]+)`", lambda one: f"`{one[1].replace('-', '_')} = true`", keys)
    return question.model_copy(update={"declaration": f"{keys} in `[made]`"})


def _keys_of(options: re.Match[str]) -> str:
    """Return the keys of a study file behind several options."""
    values: dict[str, list[str]] = {}
    for name, value in re.findall(r"--([\w-]+)((?: (?!--)(?:\"[^\"]*\"|\S+))*)", options[1]):
        values.setdefault(name.replace("-", "_"), []).extend([value.strip()] if value else [])
    shown = (
        f"{key} = [{', '.join(_quoted(value) for value in some)}]" if some else f"{key} = true"
        for key, some in values.items()
    )
    return f"`{', '.join(shown)}`"


def _quoted(value: str) -> str:
    return f'"{value.strip(chr(34))}"'


def _key_of(option: re.Match[str]) -> str:
    """Return the key of a study file behind an option and its value."""
    key = {"round": "rounded"}.get(option[1], option[1].replace("-", "_"))
    value = option[2].strip('"')
    if key == "below":
        return f"`{key} = {value}`"
    return f'`{key} = "{value}"`' if key in ("rounded", "cell_key") else f'`{key} = ["{value}"]`'
