"""Who appears in the file, and who may unseen, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from narcissus._validation import some_of
from narcissus.judgement import JudgedCriterion, StudyJudgement
from narcissus.kinds.synthetic.copies import LAW, VALUES, CopiedPeople, has_groups_left
from narcissus.kinds.synthetic.decisions import guessed_by_file
from narcissus.kinds.synthetic.kind import NAME_PEOPLE, names_of
from narcissus.kinds.synthetic.result import SyntheticResult
from narcissus.report.format import number, percent
from narcissus.report.reach import of_100
from narcissus.synthetic.traces import GROUPS

FAVOURED = "a generator that merely favours such people may do the same"


def by_columns(names: Sequence[str]) -> str:
    """Name the columns by which people appear in the file, where these are not all."""
    shown = names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more columns"]
    if not shown:
        return ""
    *first, last = shown
    return f", by {', '.join(first)} and {last}" if first else f", by {last}"


def by_what(copied: CopiedPeople) -> str:
    """Name the columns that decide, and what was done to them."""
    return by_columns(copied.columns) + (f", {copied.change}" if copied.change else "")


def data_itself(result: SyntheticResult) -> str:
    """Say that the file is the data, and how it is written."""
    coarse = result.copies.coarse
    if any(word in line for line in coarse for word in ("rounded", "cut")):
        return "is the data itself, rounded"
    return "is the data itself, in coarser values" if coarse else "is the data itself"


def population_of(copied: CopiedPeople) -> str:
    """Say among whom people are unique: next to a control, on both sides together."""
    return "the data and the control" if copied.is_beside else "the data"


def counted_of(result: SyntheticResult) -> str:
    """Name what is counted: people, groups of rows, or rows where no unit is named."""
    if result.copied.how == GROUPS:
        return "groups of rows that are unique"
    if not result.numbering:
        return "people who are unique"
    return f"rows (several of each `{result.numbering}`) that are unique"


def rows_not_people(result: SyntheticResult) -> tuple[str, ...]:
    """Say how people are counted where rows are."""
    if not result.numbering:
        return ()
    name = result.numbering
    return (
        f"Several rows have one `{name}`, so rows are counted, and no people. To count people, "
        f'name it: `--unit {name}`, or `unit = "{name}"` in `[data]`.',
    )


def standing(result: SyntheticResult) -> str:
    """Describe how many unique people appear in the file, and how many would by chance."""
    copied, is_data = result.copied, result.copies.is_data is not None
    (many, people), value = copied.counted, copied.people.value
    rest = rows_not_people(result)
    text = (
        f"{number(many)} of {number(people)} {counted_of(result)} in "
        f"{population_of(copied)}{by_what(copied)} ({percent(value)}) appear in the file"
    )
    text = f"The file {data_itself(result)}. {text}" if is_data else text
    if copied.scored is not None:
        scored, everybody = copied.scored
        text = f"{text}. Of the {number(everybody)} who were scored, {number(scored)} do"
    if result.can_tell and copied.is_beside:
        return " ".join([f"{text}, and {percent(copied.baseline)} of the control's.", *rest])
    if is_data:
        return " ".join([f"{text}.", *rest])
    chance = copied.coincidences
    limit = math.ceil(result.copies.people.most) if chance is None else chance.most
    return " ".join([f"{text}. Coincidence explains at most {number(limit)}.", *rest])


def rows_standing(result: SyntheticResult) -> str:
    """Describe how many rows of the file are rows of the data."""
    rows = result.counts[0]
    return f"{number(rows.standing)} of {number(rows.of)} rows of the file are rows of the data"


def usual_count(result: SyntheticResult, expected: float) -> float:
    """Return how many people are in a file where no copies are shown.

    These are no more than are expected and two standard errors, of the count and of what is
    expected: the more rows the file has for each person, the less is known of that.
    """
    ratio = 2 * result.files.synthetic / result.copies.people.people
    return expected + 2 * math.sqrt(expected * (1 + ratio))


def no_more(result: SyntheticResult, against: Sequence[str] = ()) -> str:
    """Say how many people appear in the file, or how many might unseen.

    against: What the record holds against the file, and no control decides, each a clause.
    """
    if against:
        text = "; ".join(against)
        remedy = "" if result.files.control else ": a control would decide"
        return f"{text[0].upper()}{text[1:]}{remedy}"
    copied = result.copied
    many, people = copied.deciding
    expected = copied.baseline * people
    limit = 0 if copied.coincidences is None else copied.coincidences.most
    if not people:
        return "All people have others like them in the data, so a copy looks like coincidence"
    if result.one_of_each and result.counts[0].standing > max(many, usual_count(result, expected)):
        return (
            f"{rows_standing(result)}; of each `{result.one_of_each}` one row was tried, so how "
            "many are copied is open"
        )
    if 2 * limit >= people and 2 * people < result.copies.people.people:
        return "Too few people are unique in the data to tell copies from coincidence"
    return _few(result, many, people, limit, expected)


def _few(result: SyntheticResult, many: int, people: int, limit: int, expected: float) -> str:
    """Say how many people appear in the file where these may be coincidences, or unseen."""
    if 2 * limit >= people:
        return (
            f"Coincidence may explain up to {number(limit)} of {_unique_people(result)}, and "
            f"{number(many)} appear in the file: {_why_open(result)}"
        )
    usual = math.ceil(usual_count(result, expected))
    if many <= usual:
        threshold = float(usual + 1 - math.floor(expected))
        return f"No copied people are shown{unseen(result, None if result.can_tell else threshold)}"
    return _some_stand(result)


def some_beyond(result: SyntheticResult) -> bool:
    """Check whether more people appear in the file than coincidence usually explains."""
    many, people = result.copied.deciding
    return many > math.ceil(usual_count(result, result.copied.baseline * people))


def _some_stand(result: SyntheticResult) -> str:
    """Say how many people appear in the file, and what explains some of them."""
    copied = result.copied
    many, people = copied.deciding
    expected = number(round(copied.baseline * people))
    does = "appears" if many == 1 else "appear"
    who = f"{number(many)} {'person' if many == 1 else 'people'} of the data {does}"
    if result.numbering:
        who = (
            f"{number(many)} rows of the data appear" if many != 1 else "1 row of the data appears"
        )
    text = f"{who} in the file{by_what(copied)}, where"
    if copied.coincidences is None:
        return f"{text} the control explains about {expected}{unseen(result)}"
    would = "" if result.copies.refutes_control else f": {_why_open(result)}"
    would = would if result.files.control else ": a control would decide"
    limit = number(copied.coincidences.most)
    return f"{text} coincidence explains about {expected}, and surely no more than {limit}{would}"


def _least_excess(copied: CopiedPeople) -> float | None:
    """Return the fewest people beyond those of the control who would have been shown to be copied.

    None where no number would have been.
    """
    people, share = copied.deciding[1], copied.excess.detectable
    if copied.coincidences is None:
        return None if share is None else max(1.0, math.ceil(share * people))
    return max(1.0, copied.coincidences.most + 1 - math.floor(copied.baseline * people))


def _unique_people(result: SyntheticResult) -> str:
    """Name the people of whom copies are judged, and how many they are."""
    copied = result.copied
    scored = "" if copied.scored is None else " and were scored"
    people = number(copied.deciding[1])
    return f"the {people} {counted_of(result)} in {population_of(copied)}{scored}"


def unseen(result: SyntheticResult, least: float | None = None) -> str:
    """Say how many people could be copied unseen, as a clause that follows another.

    least: The fewest who would have been shown; None: as many as the claim would have shown.
    """
    least = _least_excess(result.copied) if least is None else least
    if least is None:
        return "; with so few people no number of copies would have been"
    some = f"fewer than {number(least)}" if least > 1 else "none"
    people = f"{some} of {_unique_people(result)}"
    # codes are sought, and their table may not be told by columns that are independent
    whole = "whole"
    if has_groups_left(result.not_sought):  # of a person's rows together nothing is known
        whole = "with single rows as they are written"
    if result.one_of_each:
        whole = f"by the one row of each `{result.one_of_each}` that was tried"
    text = f"; {people} could be copied unseen {whole}, or rounded by one rule for all rows"
    if few := result.copies.least:
        text = f"{text}, and fewer than {number(few)} in the same two or three columns"
    return text


def favoured(result: SyntheticResult) -> str:
    """Say that a generator may explain copies, and what of a control tells no more."""
    return f"{FAVOURED}, and {_why_open(result)}"


def _why_open(result: SyntheticResult) -> str:
    """Say that a control would tell, or why the given one does not."""
    copied, unlike = result.copied, result.unlike
    if not result.files.control:
        why = "only a control tells"
    elif result.copies.refutes_control:
        where = "data" if result.copies.is_shared else "file"
        why = f"the control given is none, since its people appear in the {where}"
    elif is_unlike_by_groups(result):
        why = f"the control given tells nothing while no unit is named: {by_unit(result)}"
    elif unlike is not None and unlike.is_shown:
        why = "the control given is of another population than the data"
    elif copied.lacking:
        why = f"the control given lacks {names_lacking(copied)}"
    elif copied.control is not None:
        many, people = map(number, copied.control)
        why = (
            f"the control given does not settle it: {many} of its {people} unique people appear in "
            "the file"
        )
    else:
        why = "people of the control are not compared in this way"
    return why


def names_lacking(copied: CopiedPeople) -> str:
    """Name the columns that decide and the control lacks."""
    return some_of([f"`{name}`" for name in copied.lacking])


def is_unlike_by_groups(result: SyntheticResult) -> bool:
    """Check whether a control differs, and rows of one person or household may be the cause."""
    named = result.units or result.agreeing or result.may_be_grouped
    return result.unlike is not None and result.unlike.is_shown and bool(named)


def by_unit(result: SyntheticResult) -> str:
    """Say that rows depend on one another, and what to name."""
    if result.may_be_grouped:
        return (
            "rows that follow one another are alike, as those of one household are, and so the "
            "control may differ: give each household a number in a column of both files, and name "
            "it, `--unit COLUMN` or `unit = COLUMN` in `[data]`"
        )
    if not result.units:
        columns = names_of(result.agreeing)
        return (
            f"rows that agree in {columns} may be of one person, so {NAME_PEOPLE}, "
            "or `unit = COLUMN` in `[data]`"
        )
    name = result.units[0]
    return (
        f"rows of one `{name}` are not independent, so name it: `--unit {name}`, or "
        f'`unit = "{name}"` in `[data]`'
    )


def is_law_assumed(copied: JudgedCriterion) -> bool:
    """Check whether copies are beyond coincidence only if the file favours no plausible people."""
    return any(LAW in row.quantity.takes_as_given for row in copied.attacks)


def evidence(case: StudyJudgement) -> tuple[str, ...]:
    """Return what the record holds against the file, and no control decides, each a clause."""
    clauses: list[str] = []
    result: SyntheticResult = case.result
    risk = guessed_by_file(case)
    if risk is not None and risk.guess is not None and not result.can_tell:
        clauses.append(
            f"`{risk.secret}` is guessed {risk.how} for "
            f"{of_100(risk.everybody.real.value or 0.0)} people from "
            f"the file, and for {of_100(risk.guess.real.value or 0.0)} without it"
        )
    values = [count for count in result.counts if count.what == VALUES]
    if values:
        worst = max(values, key=lambda count: count.standing)
        clauses.append(
            f"the own values of {number(worst.standing)} of {number(worst.of)} people in "
            f"`{worst.columns[0]}` appear in the file, where coincidence explains about "
            f"{number(round(worst.expected or 0.0))}"
        )
    return tuple(clauses)


def compared(result: SyntheticResult, counted: str = "Counted") -> tuple[str, ...]:
    """Say on which columns people were sought, and how coarsely.

    counted: Subject and verb, where other people are shown: "Whole copies are counted".
    """
    copies = result.copies
    if not copies.columns:
        return ()
    many = "the only column" if copies.columns == 1 else f"all {copies.columns} columns"
    left = lines_left(result)
    if copies.aside:
        few = len(copies.aside) == 1
        named = some_of([f"`{name}`" for name in copies.aside])
        numbering = "names or numbers people and is" if few else "name or number people and are"
        many += f" but {named}, which {numbering} sought by {'itself' if few else 'themselves'}"
    if not copies.coarse:
        return (f"{counted} to the last digit of {many}.", *left)
    shown = "; ".join(copies.coarse[:3])
    suffix = f"; and {len(copies.coarse) - 3} more" if len(copies.coarse) > 3 else ""
    return (f"{counted} on {many}, as coarsely as the file is written: {shown}{suffix}.", *left)


def lines_left(result: SyntheticResult) -> tuple[str, ...]:
    """Say which lines beside the tables are in no count, and in which none of the control."""
    left, lacking = result.copies.left_out, result.copies.lacking
    lines = [f"In no count: {some_of(left)}, taken for titles and notes."] if left else []
    if lacking:
        named = some_of([f"`{name}`" for name in lacking])
        lines.append(f"The control lacks {named}: copies by it are compared with coincidence.")
    return tuple(lines)
