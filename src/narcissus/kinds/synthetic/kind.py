"""Read the files, try the three risks, limit how much more often people in the data are hit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._unchanged import state_of, unchanged_files
from narcissus._validation import some_of
from narcissus.disclosure import FileMeasures
from narcissus.errors import ColumnError, InputError, each_problem
from narcissus.evidence import clopper_pearson, difference_limits, each_confidence
from narcissus.kinds.engine import Done, Kind, PreparedWork
from narcissus.kinds.synthetic.copies import (
    CopiesDetail,
    CountedQuestion,
    copied_people,
    counts_of,
    deciding_trace,
    in_both,
    not_sought,
    unaccounted,
)
from narcissus.kinds.synthetic.excess import ExcessShare, estimated
from narcissus.kinds.synthetic.measures import measured_files
from narcissus.kinds.synthetic.result import (
    AssessedRisk,
    FileSizes,
    RiskOfPeople,
    SecretGuess,
    SyntheticResult,
    TriedAttack,
    UnlikeControl,
    can_tell,
)
from narcissus.kinds.synthetic.schema import ExcessThreshold, SyntheticPolicy, SyntheticStudy
from narcissus.kinds.table.propose import BY_VALUES
from narcissus.kinds.table.twins import cautions, guessed
from narcissus.observer import Observer
from narcissus.results import FOR_COPIES, LEFT_OUT, NotAssessed
from narcissus.rows import Findings, Place, Quantity, StudyCriterion, Unaccounted
from narcissus.study.kinds import RunOptions
from narcissus.study.merging import SMALLER, MergedGroups, merge_sides, numbered, tells_of_fewer
from narcissus.study.plugins import GIVEN, load_attribute
from narcissus.study.toml import read_policy
from narcissus.synthetic import Assessment, FileThreat, GivenFiles, Risk, assess_file, read_files
from narcissus.synthetic.assessment import compared_cells
from narcissus.synthetic.copies import COPIES
from narcissus.synthetic.files import Source
from narcissus.synthetic.full_files import LARGE, WholeFiles, plain_words, read_whole
from narcissus.synthetic.traces import MOST_PAIRED, Traces, trace_of_all
from narcissus.tables import Bins, Table
from narcissus.tables.formats import is_part_beside
from narcissus.tables.spelling import ReadAs

Mask = NDArray[np.bool_]
Labels = NDArray[np.int64]

ASSUMPTIONS = (
    "the people of the control are of the same population as those of the real data, set aside at "
    "random, and nothing of them went into the synthetic file",
    "the people of both are independent of one another: no household or person is in both",
)
NAME_PEOPLE = "give each person a number in a column of both files, and name it: `--unit COLUMN`"
_FEWEST_COMMON = 2  # columns that rows of one person have in common
_SECONDS = 3e-9  # a person and a cell of the file
_SECONDS_A_SET = 2e-8  # a cell of all files and a set of columns by which people are sought
_SETS = 4  # of each column, in files of many rows
_SEARCHES = 60  # that seek people by all columns, as long as so many sets


@dataclass(frozen=True)
class Group:
    """People who have one value of a column."""

    by: str
    label: str
    real: Mask
    control: Mask


@dataclass(frozen=True)
class Levels:
    """Confidence of each number, by how many are decided at the same time."""

    share: float  # Of a share shown by itself, which decides nothing
    claim: float  # Of the excess of each risk
    group: float  # Of the excess of each group and risk
    claims: int  # How many decide

    @classmethod
    def of(
        cls, confidence: float, risks: int, groups: int, *, groups_decide: bool, copies: int = 0
    ) -> Levels:
        """Divide the error among the claims (Bonferroni), which depend on one another.

        Groups that decide nothing are a separate family: they take nothing from the verdict.
        """
        claims = (risks * (1 + groups) if groups_decide else risks) + copies
        each = each_confidence(confidence, claims)
        group_level = each if groups_decide else each_confidence(confidence, max(1, risks * groups))
        return cls(confidence, each, group_level, claims)

    @classmethod
    def of_copies(cls, confidence: float) -> Levels:
        """Return the levels where the copies alone decide, since there is no control."""
        return cls(confidence, confidence, confidence, 1)


@dataclass(frozen=True, eq=False)
class SyntheticWork(PreparedWork[SyntheticStudy]):
    """The files and what is tried on them."""

    files: GivenFiles = field(kw_only=True)
    threat: FileThreat = field(kw_only=True)
    threshold: ExcessThreshold = field(kw_only=True)
    whole: WholeFiles = field(kw_only=True)


class SyntheticKind(Kind[SyntheticStudy, SyntheticWork]):
    model = SyntheticStudy
    result = SyntheticResult
    layout = "narcissus.kinds.synthetic.layout:LAYOUT"
    fails = "not shown"
    gravest = COPIES  # whoever stands in the file whole loses more than by any risk

    def check(self, study: SyntheticStudy, folder: Path, observer: Observer) -> None:
        """Refuse files that cannot be used together, and columns that they do not have."""
        work = self.prepare(study, folder, RunOptions(0, observer))
        work.threat.secrets(work.files)
        work.threat.division(work.files)
        for name in (*study.groups.columns, *(study.threat.known or ())):
            work.files.table.index(name)

    def prepare(self, study: SyntheticStudy, folder: Path, options: RunOptions) -> SyntheticWork:
        read, digests = read_policy(study, folder, options.policy, SyntheticPolicy)
        policy_threshold = study.threshold if read is None else read.threshold
        threshold = policy_threshold or ExcessThreshold.model_validate({})
        if threshold.worst_group is not None and not study.groups.columns:
            raise InputError("the policy's `worst_group` needs groups: name their columns")
        whole, files = _read_once(study, folder)
        parts = ("real", "synthetic", *(["control"] if files.control else []))
        notes = files.table.notes.items()
        return SyntheticWork(
            study,
            folder,
            options.entropy,
            {**{name: _digest(files, name) for name in parts}, **digests},
            tuple(files.reading),
            [
                # how columns were read that a reader may take for something else
                NotAssessed(f"distances in the column {name}", text, "clean the column, or drop it")
                for name, text in notes
            ]
            + [*_left_open(study, files, whole.names)],
            files=files,
            threat=threat_of(study),
            threshold=threshold,
            whole=whole,
        )

    def cost(self, work: SyntheticWork, options: RunOptions) -> tuple[float, str]:
        files, threat = work.files, work.threat
        for line in files.reading:
            options.observer.note(line)
        tried = threat.tried(files)
        people = min(files.real, tried) + min(files.control, tried)
        width = len(work.whole.columns)
        rows = files.real + files.synthetic + files.control
        sets = _SETS * width if rows > LARGE else min(width, MOST_PAIRED) ** 2
        return (
            _SECONDS * compared_cells(files, threat)
            + _SECONDS_A_SET * rows * width * (_SEARCHES + sets),
            f"{people:,} people compared with {files.synthetic:,} rows",
        )

    def measure(self, work: SyntheticWork, done: Done, options: RunOptions) -> Findings:
        assessment = assess_file(
            work.files,
            work.threat,
            entropy=work.entropy,
            observer=options.observer,
            whole=work.whole,
        )
        groups = work.study.groups
        return self.measured(
            work.files,
            assessment,
            work.threshold,
            confidence=work.study.run.confidence,
            columns=groups.columns,
            least=groups.least_group,
            measures=measured_files(work.files, work.study.threat.known, work.study.threat.unknown),
            whole=work.whole,
            study=work.study,
        )

    def measured(
        self,
        files: GivenFiles,
        found: Assessment,
        threshold: ExcessThreshold,
        *,
        confidence: float,
        columns: Sequence[str] = (),
        least: int = 10,
        measures: Mapping[str, FileMeasures] | None = None,
        whole: WholeFiles | None = None,
        study: SyntheticStudy | None = None,
    ) -> Findings:
        """Limit the outcome of an assessment.

        confidence: of all claims together.
        columns: columns whose values make groups.
        least: fewest people of a group that is shown.
        measures: what disclosure control measures of the files.
        whole: the files as they are published.
        study: what is declared and binned, and which columns look like the number of a household.
        """
        groups, merged = _groups(files, found, columns, least)
        decide = threshold.worst_group is not None
        unlike, halves, facts = found.unlike, found.halves, found.facts
        bins = {} if study is None else _bins_of(study)
        levels = (
            Levels.of_copies(confidence)
            if unlike is None
            else Levels.of(
                confidence, len(found.risks), len(groups), groups_decide=decide, copies=1
            )
        )
        error, at_most = (1 - levels.claim) / 2, threshold.accepts(COPIES)
        traces = found.traces or Traces(facts, (trace_of_all(facts),), (), None)
        lacking = () if whole is None else whole.lacking
        control = None if unlike is None else UnlikeControl.of(unlike)
        copies = CopiesDetail.of(
            facts,
            error * traces.each[0].share,
            found.traces,
            coarse=() if whole is None else tuple(plain_words(whole.columns)),
            columns=0 if whole is None else len(whole.columns),
            aside=() if whole is None else tuple(whole.aside),
            left_out=() if whole is None else whole.left_out,
            lacking=lacking,
        )
        is_told = can_tell(control, copies)
        tested = traces.each[0].beside
        trace = deciding_trace(traces, error, at_most, can_tell=is_told)
        level = levels.claim
        if found.lacking is not None:  # claims of their own, as where there is no control
            other, error_alone = found.lacking, (1 - confidence) / 2
            by_others = other.deciding(error_alone, beside=False)
            low = by_others.excess(error_alone, beside=False)[1]
            if low > max(at_most, trace.excess(error, beside=is_told)[1]):
                trace, level = by_others, confidence
            traces = replace(traces, each=(*traces.each, *other.each))
        result = SyntheticResult(
            files=FileSizes.taken(
                files,
                columns=files.table.columns,
                real_scored=len(halves.scored),
                control_scored=len(halves.control_scored),
                real_people=files.people("real"),
                control_people=files.people("control"),
            ),
            confidence=confidence,
            claims=levels.claims,
            claim_confidence=levels.claim,
            group_confidence=levels.group,
            unlike=control,
            risks=tuple(
                _assessed(
                    risk,
                    threshold.accepts(risk.risk),
                    levels,
                    groups,
                    how=_how_right(risk.secret, bins),
                    can_tell=is_told,
                )
                for risk in found.risks
            ),
            merged=merged if columns else None,
            copied=copied_people(
                trace,
                facts.is_data,
                at_most,
                level,
                can_tell=is_told,
                lacking=lacking,
                tested=tested,
            ),
            counts=tuple(counts_of(facts, None if found.traces is None else traces, error)),
            copies=copies,
            measures=measures or {},
            not_sought=() if whole is None else tuple(not_sought(whole, traces)),
            units=() if study is None else tuple(_units_of(study, whole)),
            declared=() if study is None else tuple(study.data.irrelevant),
            agreeing=() if whole is None else whole.agreeing,
            numbering="" if whole is None else whole.counts_rows,
            one_of_each="" if whole is None else whole.unit_of_several,
            is_by_order=_is_by_order(whole),
        )
        criteria = _criteria(result, threshold)
        status = self.conclude(self.found(criteria, result)).status
        left = unaccounted(
            whole, traces, at_most, can_tell=is_told, is_exceeded=status == "exceeded"
        )
        # the gravest first: it is what the first screen shows
        gravest = sorted(left, key=_people_beyond, reverse=True)
        result = result.model_copy(update={"unaccounted": tuple(gravest)})
        return self.found(criteria, result)

    def premises(self, result: SyntheticResult) -> tuple[str, ...]:
        return ASSUMPTIONS if result.can_tell else ()

    def refuted(self, result: SyntheticResult) -> tuple[str, ...]:
        """Return why the control is none, where that is shown."""
        if result.copies.is_shared:
            return (
                f"The control is of people who are not in the data ({in_both(result.copies)}).",
            )
        unlike = result.unlike
        if unlike is None or not unlike.is_shown or result.may_be_grouped:
            return ()
        if unlike.is_together and unlike.together is not None:
            how = (
                f"columns hang together in another way, most of all "
                f"{' and '.join(unlike.together.columns)}; p-value {unlike.together.p_value:.2g}"
            )
        else:
            how = (
                f"{unlike.column} is {unlike.value} for {unlike.real:.1%} of the data and "
                f"{unlike.control:.1%} of the control; corrected p-value {unlike.p_value:.2g}"
            )
        if result.units:
            name = result.units[0]
            return (
                f"Rows of one `{name}` are not independent, so the control is not compared: name "
                f"it, `--unit {name}` ({how}).",
            )
        if result.agreeing:
            return (
                f"The rows that agree in {names_of(result.agreeing)} may be of one person, so the "
                f"control is not compared: {NAME_PEOPLE} ({how}).",
            )
        return (f"The people of the control are of another population than the data ({how}).",)

    def is_of_people(self, study: Mapping[str, Any]) -> bool:
        return True


KIND = SyntheticKind()


def _people_beyond(question: Unaccounted) -> float:
    """Return the share of people beyond coincidence whom a question is about."""
    return question.share - question.baseline if isinstance(question, CountedQuestion) else 0.0


def names_of(columns: Sequence[str]) -> str:
    """Name a few columns."""
    return some_of([f"`{name}`" for name in columns], 4)


def _criteria(result: SyntheticResult, threshold: ExcessThreshold) -> tuple[StudyCriterion, ...]:
    """Hold each risk to what is accepted of it, and each group, where that is asked."""
    at_most, worst_group = threshold.accepts(COPIES), threshold.worst_group
    everybody: dict[str, Place] = {"group": ""}
    criteria = [StudyCriterion(of="excess", name=COPIES, at=everybody, at_most=at_most)]
    for risk in result.risks if result.unlike is not None else ():
        places: dict[str, float] = {"": threshold.accepts(risk.risk)}
        if worst_group is not None:
            compared = [group for group in risk.groups if group.excess is not None]
            places |= {group.group: worst_group for group in compared}
        criteria += [
            StudyCriterion(
                of="excess", name=risk.name, label=group, at={"group": group}, at_most=limit
            )
            for group, limit in places.items()
        ]
    return tuple(criteria)


_LAST: dict[Any, tuple[WholeFiles, GivenFiles]] = {}
"""What was read last: a study is checked before it runs, and reading takes as long as that."""


def _read_once(study: SyntheticStudy, folder: Path) -> tuple[WholeFiles, GivenFiles]:
    """Read all files as they are published, and what the study uses of them.

    Files that were read for the same study, and have not changed since, are not read again.
    """
    sources = [study.data.real, study.data.synthetic, study.data.control]
    paths = [source for source in sources if source is not None]
    key: Any = None
    if all((folder / source).is_file() for source in paths):
        states = [state_of((folder / source).stat()) for source in paths]
        key = (str(folder), study.data.model_dump_json(), *states)
    if (last := _LAST.get(key)) is not None:
        return last
    with unchanged_files():  # each is read twice
        whole = read_published(study, folder)
        try:
            read = whole, read_given(study, folder, whole)
        except InputError as error:
            read = _read_unlike(study, folder, whole, error)
    _LAST.clear()
    if key is not None:
        _LAST[key] = read
    return read


def _read_unlike(
    study: SyntheticStudy, folder: Path, whole: WholeFiles, error: InputError
) -> tuple[WholeFiles, GivenFiles]:
    """Read files of which columns of the synthetic one have hardly a value of the data.

    It may write other words, or codes: people are sought by such codes, and what is left is asked
    about these columns. To leave them out would ask the same again. Anything else is refused.
    """
    reasons: dict[str, str] = {}
    for problem in each_problem(error):
        is_unlike = isinstance(problem, ColumnError) and problem.is_unlike("synthetic")
        if not (isinstance(problem, ColumnError) and is_unlike):
            raise error
        reasons[problem.column] = problem.reason
    data = study.data
    ways: dict[str, ReadAs] = {
        name: "numbers" if why.count("numbers") == 2 and "text" not in why else "text"
        for name, why in reasons.items()
    }
    texts = [name for name, way in ways.items() if way == "text"]
    bins = {name: spec for name, spec in data.bins.items() if name not in texts}
    changed = data.model_copy(update={"read_as": {**data.read_as, **ways}, "bins": bins})
    try:
        files = read_given(study.model_copy(update={"data": changed}), folder, whole)
    except InputError:
        raise error from None
    told = {
        name: f"{why.removeprefix('values: ')}, and their values hardly overlap: the file may "
        "write other words"
        for name, why in reasons.items()
    }
    return replace(whole, unread={**told, **whole.unread}), files


def read_given(study: SyntheticStudy, folder: Path, whole: WholeFiles | None = None) -> GivenFiles:
    """Read what the study uses; equal rows that ``whole`` takes for one person, once."""
    data = study.data
    repeated = None if whole is None else whole.repeated
    return read_files(
        _source(data.real, folder),
        _source(data.synthetic, folder),
        None if data.control is None else _source(data.control, folder),
        columns=data.columns,
        drop=[*data.drop, *data.left_out, *data.irrelevant],
        bins={name: Bins(**spec.model_dump(exclude_none=True)) for name, spec in data.bins.items()},
        missing=data.missing,
        read_as=data.read_as,
        unit=data.unit,
        same=data.same,
        kept=None if repeated is None else repeated.kept,
    )


def read_published(study: SyntheticStudy, folder: Path) -> WholeFiles:
    """Read the files as they are published: what the study leaves out or bins, too."""
    data = study.data
    return read_whole(
        _source(data.real, folder),
        _source(data.synthetic, folder),
        None if data.control is None else _source(data.control, folder),
        irrelevant=data.irrelevant,
        read_as=data.read_as,
        unit=data.unit,
        same=data.same,
    )


def _left_open(
    study: SyntheticStudy, files: GivenFiles, compared: Sequence[str]
) -> Iterator[NotAssessed]:
    """Yield why little can be shown, and which columns were left out.

    compared: Columns by which copies are sought, whatever else is made of them.
    """
    table, rows = files.table, files.table.codes[files.rows("real")]
    real = Table(table.names, table.labels, table.ordered, rows, table.values)
    yield from cautions(real, study.threat.unknown, _bins_of(study))
    if left_out := study.data.left_out:
        how = {"" if is_part_beside(name) else name: f"{FOR_COPIES}, " for name in compared}
        shown = [
            f"{name or 'any column without a name'} ({how.get(name, '')}{why})"
            for name, why in left_out.items()
        ]
        yield NotAssessed(
            LEFT_OUT,
            "; ".join(shown),
            "a column that `--unknown`, `--groups` or `--bins` names is kept if it can be",
        )


def _bins_of(study: SyntheticStudy) -> dict[str, dict[str, Any]]:
    """Return the bins of the columns that are guessed."""
    bins = study.data.bins
    return {name: bins[name].model_dump() for name in study.threat.unknown if name in bins}


def _how_right(secret: str, bins: Mapping[str, Mapping[str, Any]]) -> str:
    """Say how right a guess of a secret is: of several columns, each that is binned."""
    if secret in bins:
        return guessed(bins[secret])
    parts = f" and {secret} and "
    each = [
        f"{name} {guessed(some)}" for name, some in bins.items() if f" and {name} and " in parts
    ]
    return f"right ({'; '.join(each)})" if each else "right"


def _units_of(study: SyntheticStudy, whole: WholeFiles | None) -> list[str]:
    """Return columns that look like the number of a household, where no unit is named.

    The file need not have it: its rows are nobody's.
    """
    if study.data.unit is not None:
        return []
    numbering = None if whole is None else whole.numbering
    if whole is not None and (bound := whole.bound) is not None and numbering is None:
        # one column in common is as likely that of a town and its region
        numbering = bound.by[0] if len(bound.common) >= _FEWEST_COMMON else None
    units = [
        name
        for name, why in study.data.left_out.items()
        if why == BY_VALUES["group"] or "rows a person" in why
    ]
    return units if numbering is None or numbering in units else [numbering, *units]


def _is_by_order(whole: WholeFiles | None) -> bool:
    """Check whether rows that follow one another are alike, and no unit says whose they are."""
    if whole is None or whole.bound is None or whole.unit is not None:
        return False
    return whole.bound.is_by_order


def _source(name: str, folder: Path) -> Source:
    """Return what a file of the study stands for."""
    if name.startswith(GIVEN):
        return load_attribute(name, folder)
    return name if name.startswith("statsmodels:") else folder / name


def threat_of(study: SyntheticStudy) -> FileThreat:
    linked = study.threat.linked
    return FileThreat(
        tuple(study.threat.unknown),
        None if linked is None else (tuple(linked[0]), tuple(linked[1])),
        study.threat.people,
    )


def _digest(files: GivenFiles, name: str) -> str:
    table = files.table
    part = Table(table.names, table.labels, table.ordered, table.codes[files.rows(name)])
    return f"sha256:{part.digest}"


def _groups(
    files: GivenFiles, found: Assessment, columns: Sequence[str], least: int
) -> tuple[list[Group], MergedGroups]:
    """Return the groups of people who were scored, those of few merged, and what was merged."""
    groups: list[Group] = []
    merged: dict[str, int] = {}
    left_out: list[str] = []
    beside: list[tuple[Labels, Labels]] = []
    scored = (found.halves.scored, found.halves.control_scored)
    for name in columns:
        codes = files.coarse[:, files.table.index(name)]
        sides = tuple(codes[people] for people in scored)
        size = int(codes.max()) + 1
        real, control = (np.bincount(side, minlength=size) for side in sides)
        parts = merge_sides([real, control], least)
        shown = tuple(numbered(parts, size)[side] for side in sides)
        near = any(
            tells_of_fewer(members, [other[side] for other in beside if members.size], least)
            for side, members in enumerate(shown)
        )
        if not parts or near:
            left_out.append(name)
            continue
        beside.append((shown[0], shown[1]))
        if few := sum(len(part) for part in parts if len(part) > 1):
            merged[name] = few
        for number, part in enumerate(parts):
            label = SMALLER if len(part) > 1 else files.label(name, min(part))
            members, others = (side == number for side in shown)
            if members.any():
                groups.append(Group(name, label, members, others))
    people = len(scored[0]) + len(scored[1])
    return groups, MergedGroups(least=least, merged=merged, left_out=tuple(left_out), people=people)


def _assessed(
    risk: Risk,
    accepted: float,
    levels: Levels,
    groups: Sequence[Group],
    *,
    how: str,
    can_tell: bool,
) -> AssessedRisk:
    """Limit a risk on people of the data, next to the control and the guess, and on each group.

    There is no excess where nothing can be told of it.
    """
    level, counts, excess = levels.claim, risk.counts(), None
    if counts is not None and can_tell:
        share = estimated(counts.excess(confidence=level), level)
        excess = ExcessShare.of(counts, share, accepted, (1 - level) / 2)
    return AssessedRisk.taken(
        risk,
        tried={
            name: TriedAttack(real=real, control=control)
            for name, (real, control) in risk.tried.items()
        },
        attack_counts=risk.facts,
        how=how,
        everybody=RiskOfPeople(
            real=_counted(risk.real, levels.share),
            control=_counted_some(risk.control, levels.share),
            excess=excess,
        ),
        groups=tuple(_of_group(risk, group, levels, can_tell=can_tell) for group in groups),
        guess=_guess(risk, levels.share),
    )


def _of_group(risk: Risk, group: Group, levels: Levels, *, can_tell: bool) -> RiskOfPeople:
    counts, excess = risk.counts(group.real, group.control), None
    if counts is not None and can_tell:
        share = estimated(counts.excess(confidence=levels.group), levels.group)
        excess = ExcessShare(share=share)
    control = None if risk.control is None else risk.control[group.control]
    return RiskOfPeople(
        column=group.by,
        value=group.label,
        real=_counted(risk.real[group.real], levels.share),
        control=_counted_some(control, levels.share),
        excess=excess,
    )


def _guess(risk: Risk, level: float) -> SecretGuess | None:
    """Return the best guess without the file, and what the file teaches beyond it."""
    if risk.guessed_real is None:
        return None
    taught, above = None, difference_limits(risk.real, risk.guessed_real, confidence=level)
    if risk.control is not None and risk.guessed_control is not None:
        taught = difference_limits(risk.control, risk.guessed_control, confidence=level)
    return SecretGuess(
        name=risk.guess,
        real=_counted(risk.guessed_real, level),
        control=_counted_some(risk.guessed_control, level),
        above=estimated(above, level),
        taught=None if taught is None else estimated(taught, level),
    )


def _counted(right: Mask, confidence: float) -> Quantity:
    """Count people of whom something is right, with limits."""
    counted = int(right.sum()), right.size
    share = estimated(clopper_pearson(*counted, confidence=confidence), confidence)
    return share.model_copy(update={"counted": counted})


def _counted_some(right: Mask | None, confidence: float) -> Quantity | None:
    """Count people, if there are any."""
    return None if right is None or not right.size else _counted(right, confidence)
