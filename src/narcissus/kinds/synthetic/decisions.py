"""What was judged of each risk and of copies, and what decides without a control."""

from __future__ import annotations

import scipy

from narcissus.judgement import WORST, JudgedCriterion, StudyJudgement
from narcissus.kinds.synthetic.result import AssessedRisk, RiskOfPeople, SyntheticResult
from narcissus.results import Grade, Status
from narcissus.synthetic.assessment import BY_FILE, BY_OTHERS
from narcissus.synthetic.copies import COPIES

NONE: Status = "not assessed"
TOLD = 0.001
"""Error of telling that the file guesses better than records of other people do."""


def judged_of(case: StudyJudgement, name: str) -> list[JudgedCriterion]:
    """Return the criteria of a risk or of copies: of everybody first, then of groups."""
    return [judged for judged in case.each if judged.criterion.name == name]


def copies_of(case: StudyJudgement) -> JudgedCriterion | None:
    """Return the criterion of copies."""
    return next(iter(judged_of(case, COPIES)), None)


def is_copied(case: StudyJudgement) -> bool:
    """Check whether more people appear in the file than is accepted."""
    copied = copies_of(case)
    return copied is not None and copied.status == "exceeded"


def verdict_of(case: StudyJudgement, risk: AssessedRisk) -> Status:
    """Return "exceeded" if the excess is, or that of a group of which it was asked."""
    judged = judged_of(case, risk.name)
    return min(judged, key=lambda each: WORST.index(each.status)).status if judged else NONE


def beyond(case: StudyJudgement) -> list[AssessedRisk]:
    """Return the risks that are exceeded."""
    result: SyntheticResult = case.result
    return [risk for risk in result.risks if verdict_of(case, risk) == "exceeded"]


def grade_of(case: StudyJudgement, risk: AssessedRisk) -> Grade:
    return "not assessed" if verdict_of(case, risk) == "not assessed" else "sampled"


def decided(case: StudyJudgement) -> tuple[AssessedRisk, RiskOfPeople]:
    """Return the risk of the row that decided, and the people, everybody or a group."""
    result: SyntheticResult = case.result
    row = case.decided_by
    for risk in result.risks:
        for people in (risk.everybody, *risk.groups):
            if row is not None and row.name == risk.name and row.about == people:
                return risk, people
    return result.risks[0], result.risks[0].everybody


def guessed_by_file(case: StudyJudgement) -> AssessedRisk | None:
    """Return the secret that rows of the file give away, and as many other people's do not.

    By the exact paired test (McNemar 1947): whom one alone guesses right is as likely whom the
    other alone does, if the file is a fresh sample.
    """
    risks = [risk for risk in case.result.risks if risk.guess is not None]
    candidates: list[tuple[float, AssessedRisk]] = []
    for risk in risks:
        ours, theirs = (risk.attack_counts.get(name, 0) for name in (BY_FILE, BY_OTHERS))
        p_value = float(scipy.stats.binom.sf(ours - 1, ours + theirs, 0.5))
        if p_value <= TOLD / len(risks):
            candidates.append((p_value, risk))
    return min(candidates, key=lambda pair: pair[0])[1] if candidates else None
