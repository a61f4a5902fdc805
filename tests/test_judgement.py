"""Judging rows: every status, and what it rests on."""

import pytest

from narcissus.judgement import cases_of, judge
from narcissus.rows import Fact, Findings, Quantity, StudyCriterion, StudyRow, Unaccounted


def row(role, value, low=None, high=None, *, of="success", grade="sampled", name="a", **more):
    at = more.pop("at", {})
    limits = Quantity(value=value, low=low, high=high, grade=grade, **more)
    return StudyRow(role=role, of=of, name=name, quantity=limits, at=at)


def bound(value, **more):
    return row("bound", value, None, value, of="bound", name="T", grade="proved", **more)


ATTACK = row("attack", 0.5, 0.4, 0.6)


def conclude(found, **options):
    return judge(found, cases_of(found, **options))


def judged(rows, *, fails="inconclusive", **limits):
    return conclude(
        Findings((StudyCriterion(of="success", **limits),), tuple(rows), None), fails=fails
    )


@pytest.mark.parametrize(
    ("rows", "limits", "status", "grade"),
    [
        ([ATTACK], {}, "no threshold", "sampled"),
        ([ATTACK], {"at_most": 0.39}, "exceeded", "sampled"),
        ([ATTACK], {"at_most": 0.4}, "too few trials", "sampled"),
        ([ATTACK], {"at_most": 0.5}, "inconclusive", "sampled"),
        ([ATTACK, bound(0.7)], {"at_most": 0.7}, "met", "proved"),
        ([ATTACK, bound(0.7)], {"at_most": 0.6}, "inconclusive", "sampled"),
        ([ATTACK, bound(0.9), bound(0.7)], {"at_most": 0.7}, "met", "proved"),
        ([ATTACK, bound(0.7, takes_as_given=("p",))], {"at_most": 0.7}, "met", "proved"),
        ([ATTACK, bound(0.3)], {}, "contradicted", "sampled"),
        ([ATTACK, bound(0.3)], {"at_most": 0.9}, "contradicted", "sampled"),
        ([ATTACK, bound(0.3)], {"at_most": 0.39}, "exceeded", "sampled"),
        ([row("guess", 0.8, grade="proved"), bound(0.7)], {"at_most": 0.9},
         "contradicted", "not assessed"),
        ([ATTACK, row("guess", 0.8), bound(0.7)], {"at_most": 0.7}, "met", "proved"),
        ([], {"at_most": 0.3}, "not assessed", "not assessed"),
        ([row("measure", 0.5, 0.4, 0.6)], {"at_least": 0.4}, "met", "sampled"),
        ([row("measure", 0.5, 0.4, 0.6)], {"at_least": 0.5}, "inconclusive", "sampled"),
        ([row("measure", 0.5, None, 0.6)], {"at_least": 0.4}, "inconclusive", "sampled"),
        ([row("measure", 0.5, 0.4, 0.6)], {"at_least": 0.61}, "exceeded", "sampled"),
        ([row("measure", 0.5, 0.4, 0.6)], {"at_most": 0.6}, "met", "sampled"),
        ([row("measure", 0.5, 0.4, 0.6)], {"at_most": 0.3}, "exceeded", "sampled"),
    ],
)  # fmt: skip
def test_the_worse_end_decides(rows, limits, status, grade):
    case = judged(rows, **limits)
    assert (case.status, case.grade) == (status, grade)


def test_where_nothing_can_be_proved_a_failure_is_not_shown():
    assert judged([ATTACK], at_most=0.45, fails="not shown").status == "not shown"
    assert judged([ATTACK], at_most=0.3, fails="not shown").status == "exceeded"


def test_nothing_is_concluded_where_nothing_can_be():
    found = Findings(
        (StudyCriterion(of="success", at_most=0.1),), (ATTACK,), None, undecided="not assessed"
    )
    case = conclude(found)
    assert (case.status, case.grade, case.assumptions) == ("not assessed", "not assessed", ())


def test_what_was_refuted_elsewhere_contradicts_every_criterion():
    rows = (row("measure", 0.5, 0.5, 0.5),)
    criterion = StudyCriterion(of="success", at_least=0.9)
    found = Findings((criterion,), rows, None, refuted=("a and b",))
    case = conclude(found)
    assert (case.status, case.contradictions) == ("contradicted", ("a and b",))


def test_the_worst_that_decides_speaks_and_counts_those_like_it():
    rows = [row("attack", 0.5 + i / 10, 0.4, 0.9, at={"epsilon": float(i)}) for i in range(4)]
    criteria = [
        StudyCriterion(
            of="success", label=str(i), at={"epsilon": float(i)}, at_most=most, decides=i < 3
        )
        for i, most in enumerate((0.3, 0.95, 0.3, 0.1))
    ]
    case = conclude(Findings(tuple(criteria), tuple(rows), None))
    assert case.worst.label == "2"  # as bad as the first, and gains more
    assert [one.label for one in case.alike] == ["0", "2"]
    assert [one.label for one in case.deciding] == ["0", "1", "2"]
    assert case.each[3].status == "exceeded"


def test_assumptions_are_those_of_the_rows_it_rests_on():
    found = Findings((StudyCriterion(of="success", at_most=0.7),),
                     (ATTACK, bound(0.7, takes_as_given=("p",))), None,
                     premises=("trials are independent",))  # fmt: skip
    assert conclude(found).assumptions == ("p",)
    lower = Findings((StudyCriterion(of="success", at_most=0.6),), found.rows, None, None,
                     found.premises)  # fmt: skip
    assert conclude(lower).assumptions == ("trials are independent",)


def test_a_contradiction_names_both_sources_and_the_place():
    found = Findings(
        (StudyCriterion(of="success", label="here"),), (ATTACK, bound(0.3)), None, 0.95
    )
    [said] = conclude(found).contradictions
    assert "success of the best attacker, here" in said
    assert "by the attack `a`" in said
    assert "by T" in said
    assert "0.05" in said


@pytest.mark.parametrize(
    "other",
    [
        row("refuted", 5.0, 5.0, of="refuted epsilon"),
        row("gain", 0.9, 0.8, 0.95),
        row("attack", 0.9, 0.8, 0.95, of="risk"),
    ],
    ids=["what is refuted", "a gain", "an attack on something else"],
)
def test_only_attacks_on_what_is_limited_contradict_a_bound(other):
    assert judged([ATTACK, bound(0.7), other]).contradictions == ()
    above = row("attack", 0.9, 0.8, 0.95)
    assert len(judged([ATTACK, bound(0.7), above]).contradictions) == 1


class Understood(Fact):
    unaccounted: tuple[Unaccounted, ...] = ()


NOTE = Unaccounted(
    subject="column `note`",
    reason="It appears in both files and was compared with nothing.",
    declaration='`irrelevant = ["note"]` in `[data]`',
)


@pytest.mark.parametrize("unaccounted", [(), (NOTE,)])
@pytest.mark.parametrize("at_most", [None, 0.3, 0.39, 0.45, 0.55, 0.7])
@pytest.mark.parametrize("rows", [[ATTACK], [ATTACK, bound(0.7)], [ATTACK, bound(0.3)]])
def test_what_is_not_accounted_for_takes_back_a_verdict_in_favour_and_no_other(
    rows, at_most, unaccounted
):
    criteria = (StudyCriterion(of="success", at_most=at_most),)
    before = conclude(Findings(criteria, tuple(rows), Understood()))
    after = conclude(Findings(criteria, tuple(rows), Understood(unaccounted=unaccounted)))
    is_taken_back = before.status == "met" and unaccounted
    assert after.status == ("undeclared" if is_taken_back else before.status)
    assert after.unaccounted == unaccounted
