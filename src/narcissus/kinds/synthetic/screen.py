"""The first screen on a given file: of the risk, or of the copies, that decided."""

from __future__ import annotations

from dataclasses import replace

from narcissus._validation import some_of
from narcissus.judgement import JudgedCriterion, StudyJudgement
from narcissus.kinds.synthetic.copies import (
    CopiedPeople,
    CountedQuestion,
    FileCount,
    in_both,
    name_declared,
)
from narcissus.kinds.synthetic.copy_sentences import (
    by_unit,
    by_what,
    compared,
    counted_of,
    data_itself,
    evidence,
    favoured,
    is_law_assumed,
    lines_left,
    names_lacking,
    no_more,
    population_of,
    rows_not_people,
    some_beyond,
    unseen,
    usual_count,
)
from narcissus.kinds.synthetic.decisions import copies_of, decided, guessed_by_file, is_copied
from narcissus.kinds.synthetic.result import AssessedRisk, RiskOfPeople, SyntheticResult
from narcissus.report.first_screen import NO_GROUP, NO_GROUPS, Glance, seeks, surely_largest
from narcissus.report.format import list_names, number
from narcissus.report.reach import MORE_OF_100, Reach, of_100
from narcissus.rows import Quantity
from narcissus.synthetic.assessment import BY_VALUE
from narcissus.synthetic.copies import COPIES
from narcissus.synthetic.full_files import MOST_CODED
from narcissus.synthetic.traces import BY_VALUES, NEARLY

EXCESS_OF_COPIES = "The excess of copies"
WHOLE_COPIES = "Whole copies, as the file is written,"
NO_CONTROL = "there is no comparison group of people left out of the data"
_DOES = {
    "inference": "guesses {} {} for",
    BY_VALUE: "singles out, by one value,",
    "singling out": "singles out",
    "linkability": "links the records of",
}


def glance_of(case: StudyJudgement) -> Glance:
    """Word the risk, or the copies, that decided."""
    copied, row = copies_of(case), case.decided_by
    if copied is not None and (row is None or row.name == COPIES):
        glance = _of_copied(case, copied)
    else:
        glance = _of_risk(case, *decided(case))
    questions = [each for each in case.unaccounted if isinstance(each, CountedQuestion)]
    if case.status == "undeclared" and questions:
        return _of_question(case.result, glance, questions[0])
    return glance


def _of_question(result: SyntheticResult, glance: Glance, question: CountedQuestion) -> Glance:
    """Show the people whom the open question is about, in the place of what is not open.

    Limits and counts of other people stay, and say whose they are.
    """
    row = question.row()
    expected = Quantity(value=question.baseline, grade="approximate")
    beyond = Quantity(value=question.share - question.baseline, grade="approximate")
    return replace(
        _named_apart(result, glance),
        unit=question.who,
        without=Reach(f"By coincidence, {{}} {question.who} would {question.does}.", expected, row),
        with_it=Reach.of(f"{{}} {question.who} {question.does}.", row),
        added=beyond,
        is_open=True,
    )


def _named_apart(result: SyntheticResult, glance: Glance) -> Glance:
    """Let limits and notes say whose they are, where the figures are of others."""
    of_copies = compared(result)
    in_full = compared(result, f"{WHOLE_COPIES} are counted")
    full = dict(zip(of_copies, in_full, strict=True))
    interval = glance.interval
    if interval.startswith(EXCESS_OF_COPIES):
        interval = interval.replace(EXCESS_OF_COPIES, _excess_of(result.copied), 1)
    notes = tuple(full.get(note, note) for note in glance.notes)
    return replace(glance, notes=notes, interval=interval)


def _excess_of(copied: CopiedPeople) -> str:
    """Name the excess of copies by how people were sought, as a subject."""
    by = by_what(copied)
    copies = f"copies{by}," if by else f"{WHOLE_COPIES[0].lower()}{WHOLE_COPIES[1:]}"
    return f"The excess of {copies}"


def _of_risk(case: StudyJudgement, risk: AssessedRisk, people: RiskOfPeople) -> Glance:
    result: SyntheticResult = case.result
    does = _DOES[risk.risk].format(risk.secret, risk.how)
    who = f"people with {people.group}" if people.group else "people"
    row = next(people.rows(risk.name, risk.attack))
    without = Reach(f"We cannot say what is due to the release: {NO_CONTROL}.")
    if people.control is not None:
        text = f"The attack {does} {{}} {who} who are not in the data."
        without = Reach(text, people.control, row)
    why = "" if result.unlike is None else "the comparison group differs from the data"
    return Glance(
        unit=who,
        without=without,
        with_it=Reach.of(f"The attack {does} {{}} {who} in the data.", row),
        most=None,
        unlimited=UNLIMITED,
        hardest=_hardest(case),
        unseen=_not_looked_at(result),
        accepted=f"{{}} than among others{f' in {people.group}' if people.group else ''}",
        view=MORE_OF_100,
        interval=f"The excess of {risk.name}",
        added=None if case.decided_by is not None else NOTHING,
        undecided=f"We cannot say: {why or NO_CONTROL}." if case.status == "not assessed" else "",
        about=_about(result, risk),
        notes=_few_copies(case),
        declared=declared(result),
    )


_SEEKS = {
    BY_VALUE: ("single values of a person", "that person"),
    "singling out": ("some columns of a person", "that person"),
    "linkability": ("two parts of a person's record", "what links these"),
}


def _about(result: SyntheticResult, risk: AssessedRisk) -> str:
    """Name what the attacker of a risk knows and seeks: of secrets, all that are tried."""
    rows = f"one synthetic file of {number(result.files.synthetic)} rows"
    if risk.risk in _SEEKS:
        return seeks(*_SEEKS[risk.risk], rows)
    secrets = list(dict.fromkeys(risk.secret for risk in result.risks if risk.secret))
    named = secrets[0]
    if len(secrets) > 1:  # the last is all of them
        named = f"{list_names(secrets[:-1])}, each alone and all together"
    return seeks("a person's other columns", named, rows)


NOTHING = Quantity(value=None, grade="not assessed")
"""An excess that is not known."""
UNLIMITED = "Another attack might reach all 100: one file sets no limit."
UNSEEN = "how the file was made, other attacks and other files"
DISGUISED = (
    "disguised copies, by several code tables, a factor or shift of each row's own, errors, rules "
    "for some rows, means of rows or other words; "
    f"codes of over {MOST_CODED} values; "
    "copies by other columns in each row"
)


def _not_looked_at(result: SyntheticResult) -> str:
    """Name what no number of the screen is about, whatever decided."""
    return "; ".join([*result.not_sought, DISGUISED, UNSEEN])


def declared(result: SyntheticResult) -> tuple[str, ...]:
    """Return what the user declares, as a clause."""
    if not result.declared:
        return ()
    names = [name_declared(name) for name in result.declared]
    return (f"nothing about a person follows from {some_of(names, len(names))}",)


def _of_copied(case: StudyJudgement, judged: JudgedCriterion) -> Glance:
    """Return the numbers of people who appear in the file, where these decide."""
    result: SyntheticResult = case.result
    copied, is_exceeded = result.copied, judged.status == "exceeded"
    by = by_what(copied)
    row = next(copied.rows())
    expected = Quantity(value=copied.baseline, grade=judged.grade)
    unit = f"{counted_of(result)} in {population_of(copied)}{by}"
    who = f"{unit}{',' if by else ''}"
    without, beyond = (
        f"By coincidence, {{}} {who} would appear in the file.",
        "coincidence explains",
    )
    if copied.is_beside:
        without, beyond = "{} people of the control appear in the file.", "of the control"
    copies = "values of single people" if copied.how == BY_VALUES else "people"
    subject, broken, accepted = "The file", f"holds more {copies} of the data than {beyond}{by}", ""
    if judged.at_most:
        subject, broken, accepted = "Your threshold", "is exceeded", f"{{}} than {beyond}"
    why = _why_none(result, judged)
    reached = (
        Reach(without, expected, row),
        Reach.of(f"{{}} {who}{' nearly' * (copied.how == NEARLY)} appear in the file.", row),
    )
    if result.copies.is_data is not None:
        unit, subject, broken, accepted, why = "rows of the file", "The file", "", "", ""
        broken = data_itself(result)
        reached = _rows_reached(result.counts[0])
    is_hit = is_exceeded and not result.groups
    open_text = no_more(result, () if is_exceeded else evidence(case))
    among = "" if copied.scored is None else " among the people scored"
    is_open = not is_exceeded and result.copies.is_data is None and some_beyond(result)
    share = copied.deciding[0] / max(1, copied.deciding[1])
    beyond_chance = Quantity(value=share - copied.baseline, grade="approximate")
    glance = Glance(
        unit=unit,
        without=reached[0],
        with_it=reached[1],
        most=None,
        unlimited=UNLIMITED,
        hardest=f"Hit hardest: {counted_of(result)} in the data." if is_hit else _hardest(case),
        unseen=_not_looked_at(result),
        accepted=accepted,
        view=MORE_OF_100,
        interval=f"{EXCESS_OF_COPIES}{among}",
        asked=subject,
        broken=broken,
        why=why,
        contradicted=_no_control(result) or Glance.contradicted,
        about=seeks("a person's values", "that person", f"{number(result.files.synthetic)} rows"),
        undecided=f"{open_text}, but {why}." if why else f"{open_text}.",
        added=beyond_chance if is_open else None,
        is_open=is_open,
        notes=(*compared(result), *rows_not_people(result)),
        declared=declared(result),
    )
    risk = guessed_by_file(case)
    if is_exceeded or risk is None or risk.guess is None or result.can_tell:
        return glance
    guessing = f"A model that never saw the file guesses {risk.secret} {risk.how} for {{}} people."
    attacking = f"From the file, {risk.secret} is guessed {risk.how} for {{}} people."
    return replace(
        _named_apart(result, glance),
        about=_about(result, risk),
        unit="people in the data",
        without=Reach(guessing, risk.guess.real),
        with_it=Reach(attacking, risk.everybody.real),
        added=risk.guess.above,
    )


def _why_none(result: SyntheticResult, judged: JudgedCriterion) -> str:
    """Say why the control decides nothing of copies, as a clause; nothing where it does."""
    if judged.status == "exceeded" and is_law_assumed(judged):
        return favoured(result)
    if result.copied.lacking:
        return f"the control lacks {names_lacking(result.copied)}"
    if result.may_be_grouped:
        return f"the control decides nothing yet: {by_unit(result)}"
    if result.copies.refutes_control:
        where = "data" if result.copies.is_shared else "file"
        return f"the control is none, since its people appear in the {where}"
    return ""


def _no_control(result: SyntheticResult) -> str:
    """Say why the control is none; nothing where that is not what is contradicted."""
    if result.copies.is_shared:
        return f"The control decides nothing: {in_both(result.copies)}."
    if result.unlike is None or not result.unlike.is_shown:
        return ""
    if result.units or result.agreeing:
        return f"The control decides nothing yet: {by_unit(result)}."
    return "The control is of other people than the data, so it decides nothing."


def _rows_reached(rows: FileCount) -> tuple[Reach, Reach]:
    """Return how many rows of the file would be rows of the data by coincidence, and how many are.

    They are counted where the file is the data itself: then it may be that nobody is unique.
    """
    expected = min(1.0, (rows.expected or 0.0) / rows.of)
    return (
        Reach(
            "By coincidence, {} rows of the file would be rows of the data.",
            Quantity(value=expected, grade="approximate"),
        ),
        Reach(
            "{} rows of the file are rows of the data.",
            Quantity(value=rows.standing / rows.of, grade="counted"),
        ),
    )


def _few_copies(case: StudyJudgement) -> tuple[str, ...]:
    """Say how many people appear in the file where a control does not show these to be too many."""
    result: SyntheticResult = case.result
    left, people = lines_left(result), result.copies.people
    if copies_of(case) is None or is_copied(case) or not result.can_tell:
        return left
    if people.standing <= usual_count(result, people.expected):
        return (f"No copied people are shown{unseen(result)}.", *left)
    return (
        f"{number(people.standing)} people of the data appear in the file, where coincidence "
        f"explains about {number(round(people.expected))}.",
        *left,
    )


def _hardest(case: StudyJudgement) -> str:
    """Name the group whose excess is surely above that of all groups by the same column."""
    result: SyntheticResult = case.result
    if not result.can_tell or case.status == "not assessed":
        return "Only a comparison group could show who is hit hardest."
    if not result.groups:
        return NO_GROUPS
    largest: list[tuple[AssessedRisk, RiskOfPeople]] = []
    for risk in result.risks:
        for column in dict.fromkeys(group.column for group in risk.groups):
            parts = [group for group in risk.groups if group.column == column]
            limits = [None if part.excess is None else (part.low, part.high) for part in parts]
            if (place := surely_largest(limits)) is not None:
                largest.append((risk, parts[place]))
    if not largest:
        return NO_GROUP
    risk, worst = max(largest, key=lambda pair: pair[1].low)
    if worst.low <= 0 or worst.control is None:
        return NO_GROUP
    return (
        f"Hit hardest: people with {worst.group}. {risk.title} succeeds for "
        f"{of_100(worst.real.value or 0.0)} of them, and for "
        f"{of_100(worst.control.value or 0.0)} of others like them."
    )
