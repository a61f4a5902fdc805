"""A given synthetic file, in words and as a page: one picture for each risk."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import scipy

from narcissus._outwards import lower, upper
from narcissus._validation import some_of
from narcissus.kinds.layout import Headline, Layout, dots
from narcissus.kinds.synthetic.copies import (
    LAW,
    VALUES,
    CopiedDetail,
    CopiesDetail,
    LinkedDetail,
    in_both,
    name_declared,
)
from narcissus.kinds.synthetic.kind import (
    NAME_PEOPLE,
    RiskDetail,
    SyntheticDetail,
    UnlikeControl,
    names_of,
)
from narcissus.kinds.synthetic.measures import measured_section
from narcissus.report.about import Answered, RealFigure, Subject
from narcissus.report.first_screen import (
    NO_GROUP,
    NO_GROUPS,
    Glance,
    holds_if,
    seeks,
    surely_largest,
)
from narcissus.report.format import MISSING, between_points, limits, number, percent, points
from narcissus.report.gives_away import VERDICT, groups_of_people, merged_words
from narcissus.report.page import Block, Cell, Facts, Figure, Grid, Range, Row, Section, Text
from narcissus.report.reach import MORE_OF_100, Reach, of_100
from narcissus.results import Grade, NotAssessed, Status
from narcissus.rows import WORST, JudgedCriterion, Quantity, StudyJudgement, StudyRow
from narcissus.study.record import Record
from narcissus.synthetic.assess import BY_FILE, BY_OTHERS, BY_VALUE, RISKS, RiskName
from narcissus.synthetic.copies import COPIES
from narcissus.synthetic.traces import BY_VALUES, NEARLY

ASKED: dict[RiskName, str] = {
    "inference": "An attacker who knows a person's other columns guesses the unknown ones from "
    "the rows of the file. The same guesses are made about people of the control.",
    BY_VALUE: "A value of one column stands in exactly one row of the file. It singles a person "
    "out if they have it and nobody in a crowd of other people has. That shows that the value was "
    "copied, and links nothing else to the person. Numbers and dates are compared by intervals, "
    "since an exact measurement is hardly anybody else's.",
    "singling out": "A predicate is read off the file: several columns have the values that "
    "exactly one of its rows has. It singles a person out if it holds for them and for nobody in "
    "a crowd of other people. No value does it alone: numbers are compared by intervals, and rare "
    "values are one. Where they are compared to the last digit, the file with shuffled columns "
    "must do less. The same predicates are tried on people of the control.",
    "linkability": "An attacker who holds two parts of a person's record looks for the nearest "
    "rows of the file by each. The parts are linked if both lead to the same row. The same is "
    "tried on people of the control.",
}


@dataclass(frozen=True)
class AboutRisk:
    """What was found of one risk, of everybody or of a group."""

    detail: RiskDetail
    real: StudyRow
    excess: StudyRow | None  # Null without people of the control
    judged: tuple[JudgedCriterion, ...]
    guess: StudyRow | None = None
    taught: StudyRow | None = None

    @property
    def name(self) -> str:
        return self.detail.name

    @property
    def title(self) -> str:
        return f"{self.name[0].upper()}{self.name[1:]}"

    @property
    def group(self) -> str:
        return str(self.real.at["group"])

    @property
    def verdict(self) -> Status:
        """Exceeded if the excess is, or that of a group of which it was asked."""
        if not self.judged:
            return "not assessed"
        return min(self.judged, key=lambda one: WORST.index(one.status)).status

    @property
    def low(self) -> float:
        row = self.excess
        return -1.0 if row is None or row.quantity.low is None else row.quantity.low

    @property
    def high(self) -> float:
        row = self.excess
        return 1.0 if row is None or row.quantity.high is None else row.quantity.high


def about(case: StudyJudgement, *, groups: bool = False) -> list[AboutRisk]:
    """Return what was found of each risk: of everybody, or of each group."""
    risks: list[AboutRisk] = []
    for detail in case.detail.risks:
        rows = {
            (row.of, row.at["group"]): row for row in case.findings.rows if row.name == detail.name
        }
        judged = tuple(
            judgement for judgement in case.each if judgement.criterion.name == detail.name
        )
        risks += [
            AboutRisk(
                detail,
                row,
                rows.get(("excess", group)),
                judged,
                rows.get(("guess", group)),
                rows.get(("taught", group)),
            )
            for (of, group), row in rows.items()
            if of == "risk" and bool(group) == groups
        ]
    return risks


class SyntheticLayout(Layout):
    not_covered = (
        "The mechanism: this is about one file. A mechanism may reveal everybody in some files and "
        "nobody in this one. So one file never shows that a mechanism is safe, however many people "
        "it has.",
        "Other attackers: one who knows more, tries other attacks, or holds other files.",
        "What the file teaches about everybody, in the data or not. It is reported beside the "
        "guess without the release, and counts as no excess.",
        "Groups that the control has nobody of, and households that stand on both sides.",
    )

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "A given synthetic file"

    def subtitle(self, case: StudyJudgement) -> str:
        return "Are people in the data hit more often than people who are not?"

    def verdict(self, case: StudyJudgement) -> str:
        """Describe the verdict in a short paragraph; it never says that a risk is met."""
        said = holds_if(case.status, _declared(case.detail))
        return f"{_verdict(case)} {said}".rstrip()

    def assessed(self, case: StudyJudgement) -> list[str]:
        lines = [f"{risk.name}, by {len(risk.detail.tried)} attacks" for risk in about(case)]
        return ["what stands in the file, row by row", *lines]

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        detail: SyntheticDetail = case.detail
        is_shared = detail.copies.is_shared
        if detail.unlike is None:
            yield NotAssessed(
                "what is due to the release beyond copies",
                "there is no control, and the file was made from the people of the real data",
                "set people aside at random before the file is made, and give them as the control",
            )
        elif detail.copies.refutes_control:
            yield NotAssessed(
                "what is due to the release beyond copies",
                f"people of the control stand in the {'data' if is_shared else 'file'}, so the "
                "control is none",
                "take people whose records nothing was made from",
            )
        elif detail.unlike.is_shown:
            yield NotAssessed(
                "what is due to the release",
                "the control differs from the real data in more than chance allows",
                "take the control at random from the people that the data were taken from; "
                "where people or households have several rows, name their column as the `unit`",
            )
        yield from [
            NotAssessed(
                f"an excess of {risk.name}",
                "with so few people not even a hit on everybody would have shown it",
                "give more people on both sides",
            )
            for risk in about(case)
            if risk.excess is not None and "detectable" not in risk.excess.facts
        ]
        absent = {
            group_risk.group
            for group_risk in about(case, groups=True)
            if group_risk.real.baseline is None
        }
        if absent and detail.unlike is not None:
            yield NotAssessed(
                f"the excess in {', '.join(sorted(absent))}",
                "nobody of them was scored in the control",
                "give more people of these groups in the control",
            )

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any]:
        """Return the verdict on each risk."""
        verdicts = {risk.name: risk.verdict for risk in about(case)}
        if (copied := _of_copies(case)) is not None:
            verdicts[COPIES] = copied.status
        verdict = "" if row.at["group"] else verdicts.get(row.name, "")
        return {"verdict": verdict}

    def glance(self, case: StudyJudgement) -> Glance:
        return _glance(case)

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        return [*_counts(case), *(_headline(risk, case) for risk in about(case))]

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        beyond = [_said(risk) for risk in about(case) if risk.verdict == "exceeded"]
        copied = _of_copies(case)
        if copied is not None and copied.status == "exceeded":
            beyond.insert(0, _standing(case).rstrip("."))
        # an attack that fails proves nothing: there is no evidence for
        return {"evidence_against": beyond}

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        detail: SyntheticDetail = case.detail
        groups: list[Block] = [] if detail.merged is None else [Text([merged_words(detail.merged)])]
        if about(case, groups=True):
            groups.append(_groups(case))
        return [
            Section("Who was asked about", [_people(record, detail)]),
            Section("What stands in the file", list(_facts(case))),
            *(
                Section(name[0].upper() + name[1:], list(_risk(case, name, record.grade)))
                for name in RISKS
                if any(risk.risk == name for risk in detail.risks)
            ),
            *([Section("Groups", groups)] if groups else []),
            *measured_section(detail.measures),
            Section("Method", [_method(detail)]),
        ]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        files = case.detail.files
        return Subject(
            f"A synthetic file of {number(files.synthetic)} rows, made from data about "
            f"{number(files.real_people or files.real)} people.",
            bool(about(case, groups=True)),
        )

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        """Return each risk: of several secrets the one with the largest excess."""
        replies: dict[str, Answered] = {}
        for risk in sorted(about(case), key=lambda risk: risk.low):  # the worst comes last
            text = f"{risk.name}: {percent(risk.real.value)} of people in the data"
            question = risk.detail.risk.removesuffix(" by a value")
            if risk.real.baseline is None:
                replies[question] = Answered(f"{text}, and no control", "not assessed")
                continue
            text += f", {percent(risk.real.baseline)} of others: {risk.verdict}"
            replies[question] = Answered(text, _grade(risk))
        return replies

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        detail: SyntheticDetail = case.detail
        files = detail.files
        counted = ("rows*", "criteria*", "detail.risks*", "detail.cl*", "detail.group_confidence")
        real_figures = [
            RealFigure(
                "Shares, excesses, limits and the verdict",
                f"Counts over {files.real_scored:,} people of the data and "
                f"{files.control_scored:,} of the control. A reader who knows of all but one "
                "whether they were hit learns it of the last.",
                (*VERDICT, *counted),
            ),
            RealFigure("Numbers of rows", "Of all files, exact.", ("detail.files*",)),
            RealFigure("What stands in the file", "Exact counts.", ("detail.copies*",)),
            RealFigure(
                "Names of columns and values", "As the files have them.", ("assessed*", "title")
            ),
        ]
        if detail.measures:
            how = "Counts and shares over all people of the data, exact."
            real_figures.append(
                RealFigure("Measures of disclosure control", how, ("detail.measures*",))
            )
        if detail.unlike is not None:
            how = (
                "The column and value that differ most, and their shares in the data and the "
                "control."
            )
            real_figures.append(RealFigure("Data beside control", how, ("detail.unlike*",)))
        if about(case, groups=True) or detail.merged is not None:
            how = f"Names, sizes and shares over real people. {groups_of_people(detail.merged)}"
            real_figures.append(RealFigure("Groups", how, ("detail.merged*",)))
        return real_figures


LAYOUT = SyntheticLayout()


def _verdict(case: StudyJudgement) -> str:
    """Describe what was found in a short paragraph."""
    risks, unlike = about(case), case.detail.unlike
    detail: SyntheticDetail = case.detail
    if not detail.can_tell:
        return _by_copies(case, detail.copies)
    if unlike is None:
        first = risks[0]
        assert first.guess is not None
        return (
            f"Not assessed: {NO_CONTROL}. From the file, {first.detail.secret} is guessed "
            f"{first.detail.how} for {percent(first.real.value)} of people in the data, and "
            f"without it for {percent(first.guess.value)}."
        )
    if unlike.is_shown:
        return f"Not assessed: {_foreign(unlike)}"
    copied = _of_copies(case)
    is_copied = copied is not None and copied.status == "exceeded"
    if (beyond := [risk for risk in risks if risk.verdict == "exceeded"]) or is_copied:
        sentences = [f"{_beyond(about_risk)}." for about_risk in beyond]
        only = beyond and not is_copied and all(r.detail.risk == BY_VALUE for r in beyond)
        facts = [_standing(case)] if is_copied else []
        return " ".join(
            [
                "Exceeded: people in the data are hit more often than others like them.",
                *facts,
                *sentences,
                *([_BY_ONE_VALUE] if only else []),
            ]
        )
    worst = max(risks, key=lambda risk: risk.high)
    return (
        "Not shown: no attack clearly exceeds what is accepted. One may still do so: "
        f"{worst.name} may exceed the control by up to "
        f"{upper(100 * worst.high, places=1)} points."
    )


def _foreign(unlike: UnlikeControl) -> str:
    """Describe how the control differs from the data."""
    how = (
        f"{unlike.column} is {unlike.value} for {percent(unlike.real)} of the data and "
        f"{percent(unlike.control)} of the control (corrected p-value {unlike.p_value:.2g})."
    )
    if unlike.is_together and unlike.together is not None:
        how = (
            "Each column has about the same values in both, and columns hang together in another "
            f"way, most of all {' and '.join(unlike.together.columns)} (p-value "
            f"{unlike.together.p_value:.2g})."
        )
    return (
        f"the control differs from the real data in more than chance. {how} So an excess may have "
        "other causes than the release."
    )


STANDING = (
    "A unique person stands in the file if one of its rows is true of them and of nobody else in "
    "the data. Coincidences are counted in the data itself: as often as people of the data are "
    "like one another, people of a fresh file would be like them. Decoys are plausible people whom "
    "one half of the data lacks; where the file holds more of them than the other half does, more "
    "coincidences are allowed for. A generator that favours some kind of people may have more "
    "still. The widest limit holds for every such generator: whoever has plausible people in the "
    "file has pairs of them in the data."
)
SIMILAR = (
    "Rows that are near a person are a fact and no verdict: similarity says little about risk "
    "(The DCR Delusion, arXiv 2505.01524)."
)
_BY_ONE_VALUE = (
    "No link between columns is shown: drop that column, or write it in groups, and audit again."
)


def _grade(risk: AboutRisk) -> Grade:
    return "not assessed" if risk.verdict == "not assessed" else "sampled"


def _beyond(risk: AboutRisk) -> str:
    """Describe a risk that is exceeded: of everybody, or in groups."""
    whole, *_ = risk.judged
    if whole.status != "exceeded":
        groups = ", ".join(
            judgement.label for judgement in risk.judged if judgement.status == "exceeded"
        )
        return f"{risk.title} exceeds what is accepted in {groups}"
    limit = whole.at_most
    by = f", by {risk.detail.attack}" if risk.detail.risk == BY_VALUE else ""
    return (
        f"{risk.title}{by}: {percent(risk.real.value)} of people in the data, "
        f"{percent(risk.real.baseline or 0.0)} of the control. The excess is at least "
        f"{lower(100 * risk.low, places=1)} points, and "
        f"{f'{100 * limit:.1f} are' if limit else 'none is'} accepted"
    )


NO_CONTROL = "there is no comparison group of people left out of the data"
_DOES = {
    "inference": "guesses {} {} for",
    BY_VALUE: "singles out, by one value,",
    "singling out": "singles out",
    "linkability": "links the records of",
}


def _glance(case: StudyJudgement) -> Glance:
    """Word the risk, or the copies, that decided."""
    copied = _of_copies(case)
    row = case.decided_by
    if copied is not None and (row is None or row.name == COPIES):
        return _of_copied(case, copied)
    return _of_risk(case, _decided(case, row), row)


def _decided(case: StudyJudgement, row: StudyRow | None) -> AboutRisk:
    """Return the risk of the row that decided, of everybody or of its group."""
    everybody = about(case)
    for risk in (*everybody, *about(case, groups=True)):
        if row is not None and risk.excess == row:
            return risk
    return everybody[0]


def _of_risk(case: StudyJudgement, risk: AboutRisk, row: StudyRow | None) -> Glance:
    does = _DOES[risk.detail.risk].format(risk.detail.secret, risk.detail.how)
    who = f"people with {risk.group}" if risk.group else "people"
    without = Reach(f"We cannot say what is due to the release: {NO_CONTROL}.")
    if risk.real.baseline is not None:
        low, high = (risk.real.facts.get(f"control_{key}") for key in ("low", "high"))
        quantity = risk.real.quantity.model_copy(
            update={"value": risk.real.baseline, "low": low, "high": high}
        )
        without = Reach(
            f"The attack {does} {{}} {who} who are not in the data.", quantity, risk.real
        )
    beyond = f"{{}} than among others{f' in {risk.group}' if risk.group else ''}"
    why = "" if case.detail.unlike is None else "the comparison group differs from the data"
    return Glance(
        unit=who,
        without=without,
        with_it=Reach.of(f"The attack {does} {{}} {who} in the data.", risk.real),
        most=None,
        unlimited=UNLIMITED,
        hardest=_hardest(case),
        unseen=_not_looked_at(case.detail),
        accepted=beyond,
        view=MORE_OF_100,
        interval=f"The excess of {risk.name}",
        added=None if row is not None else NOTHING,
        undecided=f"We cannot say: {why or NO_CONTROL}." if case.status == "not assessed" else "",
        about=_about(case),
        notes=_few_copies(case),
        declared=_declared(case.detail),
    )


def _about(case: StudyJudgement) -> str:
    secrets = list(dict.fromkeys(risk.secret for risk in case.detail.risks if risk.secret))
    named = secrets[0] if secrets else "who is in the data"
    if len(secrets) > 1:  # the last is all of them
        few = ", ".join(secrets[:-1][:3])
        named = f"{few}{' and others' * (len(secrets) > 4)}, each alone and all together"
    rows = number(case.detail.files.synthetic)
    return seeks("a person's other columns", named, f"one synthetic file of {rows} rows")


NOTHING = Quantity(value=None, grade="not assessed")
"""An excess that is not known."""
UNLIMITED = "Another attack might reach all 100: one file sets no limit."
UNSEEN = "the method that made the file, other attacks, other files of the same people"
DISGUISED = (
    "disguised copies, where each row is changed by a rule of its own or stands in other words; "
    "copies in few columns, where these are different columns for each row"
)


def _not_looked_at(detail: SyntheticDetail) -> str:
    """Name what no number of the screen is about, whatever decided."""
    return "; ".join([*detail.not_sought, DISGUISED, UNSEEN])


def _declared(detail: SyntheticDetail) -> tuple[str, ...]:
    """Return what the user declares, as a clause."""
    if not detail.declared:
        return ()
    names = [name_declared(name) for name in detail.declared]
    return (f"nothing about a person follows from {some_of(names, len(names))}",)


def _of_copied(case: StudyJudgement, copied: JudgedCriterion) -> Glance:
    """Return the numbers of people who stand in the file, where these decide."""
    detail: SyntheticDetail = case.detail
    (row,) = case.findings.select(of="copied")
    expected = row.quantity.model_copy(update={"value": row.baseline, "grade": copied.grade})
    unit = f"people who are unique in {_where(row)}{_by(row)}"
    who = f"{unit}{',' if _by(row) else ''}"
    without = f"By coincidence, {{}} {who} would stand in the file."
    if is_beside := _is_beside(row):
        without = "Of the people of the control, {} stand in the file."
    none = ""
    if detail.copies.refutes_control:
        where = "data" if detail.copies.is_shared else "file"
        none = f"the control is none, since its people stand in the {where}"
    if copied.status == "exceeded" and _law_is_assumed(copied):
        none = _favoured(detail, row)
    elif lacking := row.facts.get("lacking"):
        none = f"the control lacks {lacking}"
    beyond = "than of the control" if is_beside else "than coincidence explains"
    hardest = "Hit hardest: people who are unique in the data."
    is_hit = copied.status == "exceeded" and not about(case, groups=True)
    copies = "values of single people" if _how(row) == BY_VALUES else "people"
    subject, broken = "The file", f"holds more {copies} of the data {beyond}{_by(row)}"
    accepted = ""
    if copied.at_most:
        subject, broken, accepted = "Your threshold", "is exceeded", f"{{}} {beyond}"
    reached = (
        Reach(without, expected, row),
        Reach.of(f"{{}} {who}{' nearly' * (_how(row) == NEARLY)} stand in the file.", row),
    )
    if _is_data(case):
        unit = "rows of the file"
        subject, broken, accepted, none = "The file", _data_itself(detail), "", ""
        reached = _rows_reached(case, expected)
    against = _evidence(case) if copied.status != "exceeded" else ()
    glance = Glance(
        unit=unit,
        without=reached[0],
        with_it=reached[1],
        most=None,
        unlimited=UNLIMITED,
        hardest=hardest if is_hit else _hardest(case),
        unseen=_not_looked_at(detail),
        accepted=accepted,
        view=MORE_OF_100,
        interval="The excess of copies"
        + " among the people scored" * ("scored_people" in row.facts),
        asked=subject,
        broken=broken,
        why=none,
        contradicted=_no_control(detail),
        about=_about(case),
        undecided=_no_more(case, row, against) + (f", but {none}." if none else "."),
        notes=_compared(detail),
        declared=_declared(detail),
    )
    guessed = guessed_by_file(case)
    if copied.status == "exceeded" or guessed is None or detail.can_tell:
        return glance
    risk, guess = guessed, guessed.guess
    assert guess is not None
    above = {key: guess.facts[f"above_{key}"] for key in ("value", "low", "high")}
    secret = risk.detail.secret
    return replace(
        glance,
        unit="people in the data",
        without=Reach(
            f"A model that never saw the file guesses {secret} {risk.detail.how} for {{}} people.",
            guess.quantity,
        ),
        with_it=Reach(
            f"From the file, {secret} is guessed {risk.detail.how} for {{}} people.",
            risk.real.quantity,
        ),
        added=guess.quantity.model_copy(update=above),
    )


TOLD = 0.001
"""Error of telling that the file guesses better than records of other people do."""


def _no_control(detail: SyntheticDetail) -> str:
    """Say why the control is none."""
    if detail.copies.is_shared:
        return f"The control decides nothing: {in_both(detail.copies)}."
    if detail.units or detail.agreeing:
        text = _by_unit(detail)
        return f"The control decides nothing yet: {text}."
    return "The control is of other people than the data, so it decides nothing."


def guessed_by_file(case: StudyJudgement) -> AboutRisk | None:
    """Return the secret that rows of the file give away, and as many other people's do not.

    By the exact paired test (McNemar 1947): whom one alone guesses right is as likely whom the
    other alone does, if the file is a fresh sample.
    """
    risks = [risk for risk in about(case) if risk.guess is not None]
    candidates: list[tuple[float, AboutRisk]] = []
    for risk in risks:
        facts = risk.detail.facts
        ours, theirs = (float(facts.get(name, 0)) for name in (BY_FILE, BY_OTHERS))
        p_value = float(scipy.stats.binom.sf(ours - 1, ours + theirs, 0.5))
        if p_value <= TOLD / len(risks):
            candidates.append((p_value, risk))
    return min(candidates, key=lambda pair: pair[0])[1] if candidates else None


def _evidence(case: StudyJudgement) -> tuple[str, ...]:
    """Return what the record holds against the file, and no control decides, each a clause."""
    clauses: list[str] = []
    risk = guessed_by_file(case)
    if risk is not None and risk.guess is not None and not case.detail.can_tell:
        clauses.append(
            f"`{risk.detail.secret}` is guessed {risk.detail.how} for "
            f"{of_100(risk.real.value)} people from "
            f"the file, and for {of_100(risk.guess.value)} without it"
        )
    rows = [row for row in case.findings.select(of="count") if row.name == VALUES]
    if rows:
        row = max(rows, key=lambda count: count.value)
        clauses.append(
            f"the own values of {number(row.value)} of {number(float(row.facts['of']))} people in "
            f"`{row.at['attack']}` stand in the file, where coincidence explains about "
            f"{number(round(row.baseline or 0.0))}"
        )
    return tuple(clauses)


def _is_beside(row: StudyRow) -> bool:
    """Whether the people of the data are compared with those of the control."""
    return "most" not in row.facts and row.baseline is not None and "people" in row.facts


def _is_data(case: StudyJudgement) -> bool:
    return case.detail.copies.is_data is not None


def _rows_reached(case: StudyJudgement, expected: Quantity) -> tuple[Reach, Reach]:
    """Return how many rows of the file would be rows of the data by coincidence, and how many are.

    They are counted where the file is the data itself: then it may be that nobody is unique.
    """
    row = case.findings.select(of="count")[0]
    rows = float(row.facts["of"])
    chance = expected.model_copy(
        update={"value": min(1.0, (row.baseline or 0.0) / rows), "grade": "approximate"}
    )
    there = row.quantity.model_copy(update={"value": row.value / rows})
    return (
        Reach("By coincidence, {} rows of the file would be rows of the data.", chance),
        Reach("{} rows of the file are rows of the data.", there),
    )


def _data_itself(detail: SyntheticDetail) -> str:
    """Say that the file is the data, and how it is written."""
    coarse = detail.copies.coarse
    digits = ("rounded", "cut")
    if any(word in line for line in coarse for word in digits):
        return "is the data itself, rounded"
    return "is the data itself, in coarser values" if coarse else "is the data itself"


def _by(row: StudyRow) -> str:
    """Name the columns by which people stand in the file, where these are not all."""
    _, mark, names = str(row.at["attack"]).partition(": ")
    return _columns(names) if mark else ""


def _how(row: StudyRow) -> str:
    """Return by which kind of sets of columns people stand in the file."""
    return str(row.at["attack"]).partition(": ")[0]


def _no_more(case: StudyJudgement, row: StudyRow, against: Sequence[str] = ()) -> str:
    """Say how many people stand in the file, or how many might unseen.

    Nothing is seen where no more do than are expected and two standard errors, of the count and of
    what is expected: the more rows the file has for each person, the less is known of that.
    """
    detail: SyntheticDetail = case.detail
    if against:
        text = "; ".join(against)
        remedy = "" if detail.files.control else ": a control would decide"
        return f"{text[0].upper()}{text[1:]}{remedy}"
    ratio = 2 * detail.files.synthetic / detail.copies.people.people
    many, people = _scored(row)
    expected = (row.baseline or 0.0) * people
    limit = float(row.facts.get("most", 0.0))
    if not people:
        return "All people have others like them in the data, so a copy looks like coincidence"
    everybody = _unique_people(row)
    if 2 * limit >= people and 2 * people < detail.copies.people.people:
        return "Too few people are unique in the data to tell copies from coincidence"
    if 2 * limit >= people:
        return (
            f"Coincidence may explain up to {number(limit)} of {everybody}, and "
            f"{number(many)} stand in the file: {_why_open(detail, row)}"
        )
    usual = math.ceil(expected + 2 * math.sqrt(expected * (1 + ratio)))
    if many <= usual:
        threshold = usual + 1 - math.floor(expected)
        least = _least_excess(case) if detail.can_tell else float(threshold)
        return f"No copied people are shown{_unseen(least, everybody, detail)}"
    return _some_stand(case, row)


def _some_stand(case: StudyJudgement, row: StudyRow) -> str:
    """Say how many people stand in the file, and what explains some of them."""
    detail: SyntheticDetail = case.detail
    many, people = _scored(row)
    expected = number(round((row.baseline or 0.0) * people))
    who = f"{number(many)} people of the data stand" if many != 1 else "1 person of the data stands"
    text = f"{who} in the file{_by(row)}, where"
    if _is_beside(row):
        rest = _unseen(_least_excess(case), _unique_people(row), detail)
        return f"{text} the control explains about {expected}{rest}"
    would = "" if detail.copies.refutes_control else f": {_why_open(detail, row)}"
    would = would if detail.files.control else ": a control would decide"
    limit = number(float(row.facts.get("most", people)))
    return f"{text} coincidence explains about {expected}, and surely no more than {limit}{would}"


def _least_excess(case: StudyJudgement) -> float | None:
    """Return the fewest people beyond those of the control who would have been shown to be copied.

    None where no number would have been.
    """
    (copied,) = case.findings.select(of="copied")
    excess = next(row for row in case.findings.select(of="excess") if row.name == COPIES)
    share = excess.facts.get("detectable")
    people = _scored(copied)[1]
    if _is_beside(copied):
        return None if share is None else max(1.0, math.ceil(float(share) * people))
    return max(1.0, float(copied.facts["most"]) + 1 - math.floor((copied.baseline or 0.0) * people))


def _scored(row: StudyRow) -> tuple[float, float]:
    """Return how many people stand in the file and how many there are, of those who decide.

    These are half of the people where the other half chose the columns.
    """
    facts = row.facts
    many, people = (facts.get(f"scored_{key}", facts[key]) for key in ("successes", "people"))
    return float(many), float(people)


def _where(row: StudyRow) -> str:
    """Say among whom people are unique: beside a control, on both sides together."""
    return "the data and the control" if _is_beside(row) else "the data"


def _unique_people(row: StudyRow) -> str:
    """Name the people of whom copies are judged, and how many they are."""
    scored = " and were scored" if "scored_people" in row.facts else ""
    return f"the {number(_scored(row)[1])} people who are unique in {_where(row)}{scored}"


def _unseen(least: float | None, everybody: str, detail: SyntheticDetail) -> str:
    """Say how many people could be copied unseen, as a clause that follows another.

    everybody: Of whom, and how many these are.
    least: The fewest who would have been shown; None: no number would.
    """
    some: list[str] = []
    if least is not None and least > 1:
        some.append(f"{number(least)} of {everybody}, whole or rounded")
    if few := detail.copies.least:
        some.append(f"{number(few)}{'' if some else ' people'} in the same two or three columns")
    if least is None:
        return "; with so few people no number of copies would have been"
    return f"; fewer than {', or '.join(some)}, could be copied unseen" if some else ""


def _few_copies(case: StudyJudgement) -> tuple[str, ...]:
    """Say how many people stand in the file where a control does not show these to be too many."""
    copied = _of_copies(case)
    left = _lines_left(case.detail)
    if copied is None or copied.status == "exceeded" or not case.detail.can_tell:
        return left
    people: CopiedDetail = case.detail.copies.people
    ratio = 2 * case.detail.files.synthetic / people.people
    (row,) = case.findings.select(of="copied")
    shown = _unseen(_least_excess(case), _unique_people(row), case.detail)
    if people.standing <= people.expected + 2 * math.sqrt(people.expected * (1 + ratio)):
        return (f"No copied people are shown{shown}.", *left)
    return (
        f"{number(people.standing)} people of the data stand in the file, where coincidence "
        f"explains about {number(round(people.expected))}.",
        *left,
    )


def _compared(detail: SyntheticDetail) -> tuple[str, ...]:
    """Say on which columns people were sought, and how coarsely."""
    copies = detail.copies
    if not copies.columns:
        return ()
    many = "the only column" if copies.columns == 1 else f"all {copies.columns} columns"
    left = _lines_left(detail)
    if copies.aside:
        few = len(copies.aside) == 1
        named = some_of([f"`{name}`" for name in copies.aside])
        numbering = "names or numbers people and is" if few else "name or number people and are"
        many += f" but {named}, which {numbering} sought by {'itself' if few else 'themselves'}"
    if not copies.coarse:
        return (f"Counted to the last digit of {many}.", *left)
    shown = "; ".join(copies.coarse[:3])
    suffix = f"; and {len(copies.coarse) - 3} more" if len(copies.coarse) > 3 else ""
    return (f"Counted on {many}, as coarsely as the file is written: {shown}{suffix}.", *left)


def _lines_left(detail: SyntheticDetail) -> tuple[str, ...]:
    """Say which lines beside the tables are in no count, and in which none of the control."""
    left, lacking = detail.copies.left_out, detail.copies.lacking
    lines = [f"In no count: {some_of(left)}, taken for titles and notes."] if left else []
    if lacking:
        named = some_of([f"`{name}`" for name in lacking])
        lines.append(f"The control lacks {named}: copies by it are compared with coincidence.")
    return tuple(lines)


def _hardest(case: StudyJudgement) -> str:
    """Name the group whose excess is surely above that of all groups by the same column."""
    groups = about(case, groups=True)
    if not case.detail.can_tell or case.status == "not assessed":
        return "Only a comparison group could show who is hit hardest."
    if not groups:
        return NO_GROUPS
    partitions: dict[tuple[str, str], list[AboutRisk]] = {}
    for group in groups:
        by = str(group.real.facts["by"])
        partitions.setdefault((group.name, by), []).append(group)
    candidates: list[AboutRisk] = []
    for parts in partitions.values():
        limits = [None if part.excess is None else (part.low, part.high) for part in parts]
        if (place := surely_largest(limits)) is not None:
            candidates.append(parts[place])
    worst = max(candidates, key=lambda part: part.low, default=None)
    if worst is None or worst.low <= 0:
        return NO_GROUP
    return (
        f"Hit hardest: people with {worst.group}. {worst.title} succeeds for "
        f"{of_100(worst.real.value)} of them, and for {of_100(worst.real.baseline or 0.0)} of "
        "others like them."
    )


def _headline(risk: AboutRisk, case: StudyJudgement) -> Headline:
    value = percent(risk.real.value)
    if risk.excess is None:
        if risk.guess is not None:
            guess = percent(risk.guess.value)
            return risk.title, value, f"{guess} by a model that never saw the file", "approximate"
        return risk.title, value, "no control to compare it with", "not assessed"
    between = f"{between_points(risk.low, risk.high)} points"
    text = f"control {percent(risk.real.baseline)}; excess {between}"
    return risk.title, value, text, _grade(risk)


def _of_copies(case: StudyJudgement) -> JudgedCriterion | None:
    return next((judgement for judgement in case.each if judgement.criterion.name == COPIES), None)


def _rows_said(case: StudyJudgement) -> str:
    row = case.findings.select(of="count")[0]
    many = f"{number(row.value)} of {number(float(row.facts['of']))}"
    return f"{many} rows of the file are rows of the data"


FAVOURED = "a generator that merely favours such people may do the same"


def _favoured(detail: SyntheticDetail, row: StudyRow) -> str:
    """Say that a generator may explain copies, and what of a control tells no more."""
    return f"{FAVOURED}, and {_why_open(detail, row)}"


def _why_open(detail: SyntheticDetail, row: StudyRow) -> str:
    """Say that a control would tell, or why the given one does not."""
    if not detail.files.control:
        why = "only a control tells"
    elif detail.copies.refutes_control:
        where = "data" if detail.copies.is_shared else "file"
        why = f"the control given is none, since its people stand in the {where}"
    elif detail.unlike is not None and detail.unlike.is_shown and (detail.units or detail.agreeing):
        why = f"the control given tells nothing while no unit is named: {_by_unit(detail)}"
    elif detail.unlike is not None and detail.unlike.is_shown:
        why = "the control given is of another population than the data"
    elif lacking := row.facts.get("lacking"):
        why = f"the control given lacks {lacking}"
    elif "control_people" in row.facts:
        many, people = (number(float(row.facts[f"control_{k}"])) for k in ("successes", "people"))
        why = (
            f"the control given does not settle it: {many} of its {people} unique people stand in "
            "the file"
        )
    else:
        why = "people of the control are not compared in this way"
    return why


def _by_unit(detail: SyntheticDetail) -> str:
    """Say that rows depend on one another, and what to name."""
    if not detail.units:
        columns = names_of(detail.agreeing)
        return (
            f"rows that agree in {columns} may be of one person, so {NAME_PEOPLE}, "
            "or `unit = COLUMN` in `[data]`"
        )
    name = detail.units[0]
    return (
        f"rows of one `{name}` are not independent, so name it: `--unit {name}`, or "
        f'`unit = "{name}"` in `[data]`'
    )


def _law_is_assumed(copied: JudgedCriterion) -> bool:
    """Whether copies are beyond coincidence only if the file favours no plausible people."""
    return any(LAW in row.quantity.takes_as_given for row in copied.attacks)


def _standing(case: StudyJudgement) -> str:
    """Describe how many unique people stand in the file, and how many would by chance."""
    (row,) = case.findings.select(of="copied")
    facts, detail = row.facts, case.detail
    text = (
        f"{number(float(facts['successes']))} of {number(float(facts['people']))} people who are "
        f"unique in {_where(row)}{_by(row)} ({percent(row.value)}) stand in the file"
    )
    text = f"The file {_data_itself(detail)}. {text}" if _is_data(case) else text
    if "scored_people" in facts:
        many, people = map(number, _scored(row))
        text = f"{text}. Of the {people} who were scored, {many} do"
    if detail.can_tell and _is_beside(row):
        return f"{text}, and {percent(row.baseline)} of the control's."
    if _is_data(case):
        return f"{text}."
    limit = float(facts.get("most", math.ceil(detail.copies.people.most)))
    return f"{text}. Coincidence explains at most {number(limit)}."


def _by_copies(case: StudyJudgement, copies: CopiesDetail) -> str:
    """Describe the verdict where no control decides, in a short paragraph."""
    copied = _of_copies(case)
    assert copied is not None
    words: list[str] = []
    unlike = case.detail.unlike
    is_foreign = unlike is not None and unlike.is_shown
    if unlike is not None and is_foreign:
        words.append(f"Contradicted: {_foreign(unlike)}")
        if case.detail.units or case.detail.agreeing:
            text = _by_unit(case.detail)
            words.append(f"{text[0].upper()}{text[1:]}.")
    if copies.is_shared:
        words.append(f"The control is none: {in_both(copies)}.")
    if (control := copies.control) is not None and control.is_beyond:
        favours = "" if control.is_beyond_any_law() else ", or its generator favours such people"
        words.append(
            f"The control is none: {number(control.standing)} of its {number(control.unique)} "
            "unique people stand in the file. Coincidence explains at most "
            f"{number(math.ceil(control.most))}, so the file was made from the control as "
            f"well{favours}."
        )
    if copied.status == "exceeded":
        words.append("Exceeded: the file holds copies of people in the data.")
        if _law_is_assumed(copied):
            (row,) = case.findings.select(of="copied")
            favoured = _favoured(case.detail, row)
            remedy = "" if case.detail.files.control else " A control would decide it."
            words.append(f"{favoured[0].upper()}{favoured[1:]}.{remedy}")
    elif not is_foreign:
        (row,) = case.findings.select(of="copied")
        words.append(f"Not shown: {_no_more(case, row, _evidence(case))}.")
    words += [f"{_rows_said(case)}.", _standing(case)]
    if control is None:
        first = next(risk for risk in about(case) if risk.guess is not None)
        assert first.guess is not None
        words.append(
            f"{first.detail.secret} is guessed {first.detail.how} from the file for "
            f"{percent(first.real.value)} of people, and for {percent(first.guess.value)} by a "
            "model that never saw the file."
        )
        if copied.status != "exceeded":
            words.append("To conclude more takes a control.")
    return " ".join(words)


def _counts(case: StudyJudgement) -> Iterator[Headline]:
    """Yield what stands in the file, with the coincidences; of people by all columns."""
    seen: set[str] = set()
    for row in case.findings.select(of="count"):
        if row.name not in seen:
            many, of = (number(value) for value in (row.value, float(row.facts["of"])))
            expected = number(round(row.baseline or 0.0))
            text = f"{many} of {of}; by coincidence about {expected}"
            share = percent(row.value / max(1.0, float(row.facts["of"])))
            yield row.name[0].upper() + row.name[1:], share, text, "counted"
        seen.add(row.name)


def _facts(case: StudyJudgement) -> Iterator[Block]:
    copies: CopiesDetail = case.detail.copies
    people = copies.people
    yield Text([STANDING, SIMILAR])
    rows: list[list[Cell]] = [
        [row.name + _columns(str(row.at["attack"])), row.facts["of"], row.value, row.baseline]
        for row in case.findings.select(of="count")
    ]
    rows.append(["decoys", people.decoys, people.decoys_standing, people.decoys_expected])
    yield Grid(
        "What stands in the file: exact counts, beside what a file of as many other people of the "
        "population would hold",
        ("What", "Of", "In the file", "By coincidence, about"),
        rows,
    )
    yield Facts(
        [
            ("Coincidences at most", number(math.ceil(people.most))),
            (
                "Coincidences at most, whatever people the file favours",
                number(math.ceil(max(people.most, people.most_of_any_law))),
            ),
        ]
    )
    lines = [*_compared(case.detail), *map(_linked_words, copies.linked)]
    if copies.sets:
        lines.append(
            f"People were sought by {number(copies.sets)} sets of columns: all, all but one, those "
            "that are left out, together, by themselves and in pairs. The claims share the error."
        )
    if copies.small_sets:
        lines.append(
            f"Beside these, {number(copies.small_sets)} sets of two, three and more columns were "
            "counted. A set by which more people stand in the file than coincidence explains waits "
            "for a control."
        )
    if lines:
        yield Text(lines)
    if case.detail.not_sought:
        yield Text([f"Not looked at: {'; '.join(case.detail.not_sought)}."])


def _linked_words(linked: LinkedDetail) -> str:
    """Say whether rows with one number are alike in both files."""
    text = f"`{linked.column}` numbers rows: {number(linked.rows)} of its numbers are in both files"
    if linked.p_value is None:
        return f"{text}."
    alike = "are alike" if linked.is_alike else "are no more alike than others"
    return f"{text}, and rows with the same one {alike} (p-value {linked.p_value:.2g})."


def _columns(names: str) -> str:
    each = names.split(", ")
    shown = each if len(each) <= 6 else [*each[:5], f"{len(each) - 5} more columns"]
    *first, last = shown
    listed = f"{', '.join(first)} and {last}" if first else last
    return f", by {listed}" if names else ""


def _said(risk: AboutRisk) -> str:
    text = f"{risk.name}, by {risk.detail.attack}: {percent(risk.real.value)}"
    if risk.excess is None:
        return text
    return f"{text}, and {percent(risk.real.baseline)} of the control ({_p_value(risk.excess)})"


def _p_value(excess: StudyRow) -> str:
    value = float(excess.facts["fisher"])
    return f"p = {value:.2g}" if value > 1e-300 else "p below 1e-300"


def _people_of(rows: int, people: int) -> str:
    """Return how many people rows are about: units, where they are named."""
    return f"{number(people)} (in {number(rows)} rows)" if people else number(rows)


def _people(record: Record, detail: SyntheticDetail) -> Facts:
    files = detail.files
    rows = [
        (
            "People in the data",
            f"{_people_of(files.real, files.real_people)}, of whom {number(files.real_scored)} "
            "scored",
        ),
        ("Rows of the synthetic file", number(files.synthetic)),
        (
            "People of the control",
            f"{_people_of(files.control, files.control_people)}, of whom "
            f"{number(files.control_scored)} scored"
            if files.control
            else "none",
        ),
        ("Columns", number(files.columns)),
        ("Unknown", ", ".join(record.study["threat"]["unknown"])),
    ]
    if (unlike := detail.unlike) is not None:
        if (together := unlike.together) is not None and together.columns:
            rows.append(
                (
                    "Data and control in all columns together",
                    f"p-value {together.p_value:.2g}; most different in "
                    f"{' and '.join(together.columns)}",
                )
            )
        refuted = "refuted that both are alike" if unlike.is_shown else "not shown to differ"
        rows.append(
            (
                "Where the control differs most",
                f"{unlike.column} is {unlike.value}: {percent(unlike.real)} in the data, "
                f"{percent(unlike.control)} in the control (corrected p-value "
                f"{unlike.p_value:.2g}); {refuted}",
            )
        )
    return Facts(rows)


def _risk(case: StudyJudgement, name: RiskName, grade: Grade) -> Iterator[Block]:
    risks = [risk for risk in about(case) if risk.detail.risk == name]
    yield Text([ASKED[name]])
    yield _picture(name, risks, grade)
    if name == "inference":
        yield _beside_the_guess(risks)
    for risk in risks:
        if facts := risk.detail.facts:
            yield Facts([(k[0].upper() + k[1:], number(v)) for k, v in facts.items()])
    yield _tried(risks)


def _picture(name: RiskName, risks: Sequence[AboutRisk], grade: Grade) -> Figure:
    """Draw each secret: people of the data beside people of the control."""
    lines = [
        Row(
            risk.detail.label or name,
            risk.real.baseline,
            Range(risk.real.value, risk.real.quantity.low, risk.real.quantity.high),
            bold=risk.verdict == "exceeded",
        )
        for risk in risks
    ]
    first = max(risks, key=lambda risk: risk.low)
    beside = "there is no control"
    if first.real.baseline is not None:
        beside = f"{percent(first.real.baseline)} of the control"
    return Figure(
        f"{first.title}: {percent(first.real.value)} of people in the data, {beside}",
        "A row for each secret: a circle is the share of people in the data for whom the attack "
        "succeeds, with its confidence limits, an open square the share of the control.",
        dots(lines, without="the same attack on the control", with_it="on people in the data"),
        Grid(
            f"{name[0].upper()}{name[1:]} of people in the data and of the control",
            (
                *("What", "Attack", "In the data", "Limits", "Control", "Limits of the control"),
                *("Excess, points", "Limits of the excess", "Fisher's p-value"),
                *("Would have been shown from, points", "Verdict"),
            ),
            [_cells(risk) for risk in risks],
            grades=[grade for _ in risks],
            percent=("In the data", "Control"),
        ),
        (7.4, 1.3 + 0.36 * len(risks)),
        name.replace(" ", "_"),
    )


def _cells(risk: AboutRisk) -> list[Cell]:
    real, facts = risk.real.quantity, risk.real.facts
    low, high = (facts.get(f"control_{key}") for key in ("low", "high"))
    detectable = None if risk.excess is None else risk.excess.facts.get("detectable")
    return [
        risk.detail.label or risk.detail.risk,
        risk.detail.attack,
        real.value,
        limits(real.low, real.high),
        risk.real.baseline,
        MISSING if low is None or high is None else limits(float(low), float(high)),
        *_excess(risk.excess),
        MISSING if risk.excess is None else _p_value(risk.excess),
        points(None if detectable is None else float(detectable), "up"),
        risk.verdict,
    ]


def _excess(row: StudyRow | None) -> tuple[str, str]:
    if row is None or row.quantity.low is None or row.quantity.high is None:
        return MISSING, MISSING
    return points(row.value), between_points(row.quantity.low, row.quantity.high)


def _beside_the_guess(risks: Sequence[AboutRisk]) -> Grid:
    """Show what the file adds to the best guess without it, on both sides."""
    rows: list[list[Cell]] = []
    for risk in risks:
        guess = risk.guess
        assert guess is not None
        value, low, high = (float(guess.facts[f"above_{k}"]) for k in ("value", "low", "high"))
        rows.append(
            [
                risk.detail.label,
                str(guess.at["attack"]),
                guess.value,
                points(value),
                between_points(low, high),
                guess.facts.get("control_share"),
                *_excess(risk.taught),
            ]
        )
    return Grid(
        "Beside the best guess without the file, from other people's records: how far above it the "
        "attack is on people in the data, and on the control (what it teaches about everybody)",
        (
            *("Secret", "Guess", "Guess, in the data", "Above it, points", "Limits of that"),
            *("Guess, control", "Taught, points", "Limits of what is taught"),
        ),
        rows,
        grades=["sampled" for _ in rows],
        percent=("Guess, in the data", "Guess, control"),
    )


def _tried(risks: Sequence[AboutRisk]) -> Grid:
    rows: list[list[Cell]] = [
        [
            risk.detail.label or risk.detail.risk,
            name,
            tried.real,
            tried.control,
            "chosen" if name == risk.detail.attack else "",
        ]
        for risk in risks
        for name, tried in risk.detail.tried.items()
    ]
    return Grid(
        "Attacks tried on the people that one was chosen on, none of whom is scored",
        ("What", "Attack", "In the data", "Control", "Chosen"),
        rows,
        percent=("In the data", "Control"),
        folded=True,
    )


def _groups(case: StudyJudgement) -> Grid:
    groups = about(case, groups=True)
    rows: list[list[Cell]] = [
        [
            risk.name,
            risk.group,
            risk.real.facts["people"],
            risk.real.value,
            risk.real.baseline,
            *_excess(risk.excess),
        ]
        for risk in groups
    ]
    return Grid(
        f"Groups; limits hold for all of them at once, each at {case.detail.group_confidence:.5g}",
        ("Risk", "Group", "People", "In the data", "Control", "Excess, points", "Limits"),
        rows,
        grades=["not assessed" if risk.excess is None else "sampled" for risk in groups],
        percent=("In the data", "Control"),
    )


def _method(detail: SyntheticDetail) -> Text:
    return Text(
        [
            "The people of the data and of the control are each divided at random in halves: on "
            "one, the attack is chosen that sets both sides apart most; on the other, it is "
            "scored. Limits of an excess are those of the exact unconditional test of two "
            "binomial counts (Berger and Boos 1994). An excess above 0 is claimed only where "
            "Fisher's exact test refuses that there is none. That test only assumes that people "
            "of both sides are exchangeable.",
            f"{detail.claims} claims are decided together at level {detail.confidence:g}: each "
            f"excess is limited at {detail.claim_confidence:.5g} (Bonferroni), half of the error "
            "on either side. Limits of a share by itself are at the level of one.",
            "The verdict is 'exceeded' or 'not shown': one file can show that people in it are "
            "hit more often, and cannot show the opposite.",
        ]
    )
