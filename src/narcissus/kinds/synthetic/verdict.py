"""The verdict on a given file, in a short paragraph."""

from __future__ import annotations

import math
from collections.abc import Iterator

from narcissus._outwards import lower, upper
from narcissus.judgement import StudyJudgement
from narcissus.kinds.synthetic.copies import in_both
from narcissus.kinds.synthetic.copy_sentences import (
    by_unit,
    evidence,
    favoured,
    is_law_assumed,
    is_unlike_by_groups,
    no_more,
    rows_standing,
    standing,
)
from narcissus.kinds.synthetic.decisions import beyond, copies_of, is_copied, judged_of
from narcissus.kinds.synthetic.result import AssessedRisk, SyntheticResult, UnlikeControl
from narcissus.report.format import number, percent
from narcissus.synthetic.assessment import BY_VALUE

_BY_ONE_VALUE = (
    "No link between columns is shown: drop that column, or write it in groups, and audit again."
)


def verdict_text(case: StudyJudgement) -> str:
    """Describe what was found in a short paragraph."""
    result: SyntheticResult = case.result
    if not result.can_tell:
        return _by_copies(case)
    exceeded = beyond(case)
    if exceeded or is_copied(case):
        facts = [standing(result)] if is_copied(case) else []
        by_value = all(risk.risk == BY_VALUE for risk in exceeded) and not facts
        return " ".join(
            [
                "Exceeded: people in the data are hit more often than others like them.",
                *facts,
                *(f"{_beyond(case, risk)}." for risk in exceeded),
                *([_BY_ONE_VALUE] if by_value else []),
            ]
        )
    worst = max(result.risks, key=lambda risk: risk.everybody.high)
    return (
        "Not shown: no attack clearly exceeds what is accepted. One may still do so: "
        f"{worst.name} may exceed the control by up to "
        f"{upper(100 * worst.everybody.high, places=1)} points."
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


def _beyond(case: StudyJudgement, risk: AssessedRisk) -> str:
    """Describe a risk that is exceeded: of everybody, or in groups."""
    whole, *groups = judged_of(case, risk.name)
    if whole.status != "exceeded":
        names = ", ".join(judged.label for judged in groups if judged.status == "exceeded")
        return f"{risk.title} exceeds what is accepted in {names}"
    limit, people = whole.at_most, risk.everybody
    control = None if people.control is None else people.control.value
    by = f", by {risk.attack}" if risk.risk == BY_VALUE else ""
    return (
        f"{risk.title}{by}: {percent(people.real.value)} of people in the data, "
        f"{percent(control or 0.0)} of the control. The excess is at least "
        f"{lower(100 * people.low, places=1)} points, and "
        f"{f'{100 * limit:.1f} are' if limit else 'none is'} accepted"
    )


def _unlike_control(result: SyntheticResult) -> Iterator[str]:
    """Yield how the control differs from the data, and that groups of rows may be why."""
    if result.unlike is None or not result.unlike.is_shown:
        return
    if not result.may_be_grouped:
        yield f"Contradicted: {_foreign(result.unlike)}"
    if is_unlike_by_groups(result):
        text = by_unit(result)
        yield f"{text[0].upper()}{text[1:]}."


def _by_copies(case: StudyJudgement) -> str:
    """Describe the verdict where no control decides, in a short paragraph."""
    copied, result = copies_of(case), case.result
    assert copied is not None
    assert isinstance(result, SyntheticResult)
    sentences = [*_unlike_control(result)]
    copies, unlike = result.copies, result.unlike
    is_foreign = unlike is not None and unlike.is_shown and not result.may_be_grouped
    if copies.is_shared:
        sentences.append(f"The control is none: {in_both(copies)}.")
    if (control := copies.control) is not None and control.is_beyond:
        favours = "" if control.is_beyond_any_law() else ", or its generator favours such people"
        sentences.append(
            f"The control is none: {number(control.standing)} of its {number(control.unique)} "
            "unique people appear in the file. Coincidence explains at most "
            f"{number(math.ceil(control.most))}, so the file was made from the control as "
            f"well{favours}."
        )
    if copied.status == "exceeded":
        sentences.append("Exceeded: the file holds copies of people in the data.")
        if is_law_assumed(copied):
            text = favoured(result)
            remedy = "" if result.files.control else " A control would decide it."
            sentences.append(f"{text[0].upper()}{text[1:]}.{remedy}")
    elif not is_foreign:
        sentences.append(f"Not shown: {no_more(result, evidence(case))}.")
    sentences += [f"{rows_standing(result)}.", standing(result)]
    if control is None:
        risk, guess = next((risk, risk.guess) for risk in result.risks if risk.guess is not None)
        sentences.append(
            f"{risk.secret} is guessed {risk.how} from the file for "
            f"{percent(risk.everybody.real.value)} of people, and for "
            f"{percent(guess.real.value)} by a model that never saw the file."
        )
        if copied.status != "exceeded":
            sentences.append("To conclude more takes a control.")
    return " ".join(sentences)
