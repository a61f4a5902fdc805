"""Judging rows: every status, and what it rests on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.findings import weakest
from narcissus.judgement import cases_of, judge
from narcissus.rows import (
    Conflict,
    Fact,
    Findings,
    Quantity,
    StudyCriterion,
    StudyRow,
    Unaccounted,
)


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
         "contradicted", "proved"),
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
    found = Findings((criterion,), rows, None, refuted=(Conflict("a and b"),))
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


ELSEWHERE = [
    row("attack", 0.5, 0.4, 0.6, at={"epsilon": 1.0}),
    bound(0.7, at={"epsilon": 1.0}, takes_as_given=("p",)),
    row("attack", 0.9, 0.8, 0.95, at={"epsilon": 2.0}),
    bound(0.7, at={"epsilon": 2.0}, takes_as_given=("p",)),
]


def at_two_places(at_most, *, rows=ELSEWHERE, **more):
    criteria = tuple(
        StudyCriterion(
            of="success",
            label=f"epsilon {epsilon}",
            at={"epsilon": epsilon},
            at_most=at_most if epsilon == 1 else None,
            decides=epsilon == 1,
        )
        for epsilon in (1.0, 2.0)
    )
    return conclude(Findings(criteria, tuple(rows), None, 0.95, **more))


def test_a_contradiction_where_nothing_decides_takes_back_what_is_in_favour():
    """The same theorem is relied on at the place that decides."""
    case = at_two_places(0.7)
    assert case.status == "contradicted"
    [text] = case.contradictions
    assert "epsilon 2" in text
    assert case.decided_by in ELSEWHERE[2:]
    assert [judgement.label for judgement in case.alike] == ["epsilon 2.0"]
    assert (case.grade, case.assumptions) == ("sampled", ())


def test_a_violation_that_is_seen_stays_one_and_the_contradiction_is_listed():
    case = at_two_places(0.3)
    assert (case.status, len(case.contradictions)) == ("exceeded", 1)
    assert case.decided_by == ELSEWHERE[0]


@pytest.mark.parametrize(("decided", "status"), [(("epsilon",), "exceeded"), ((), "contradicted")])
def test_what_an_attack_was_seen_to_refute_comes_before_what_it_contradicts(decided, status):
    """An epsilon above both the one declared and the one accepted; not a measure at odds."""
    rows = (row("measure", 3.0, 2.5, 4.0, of="epsilon"),)
    criteria = (StudyCriterion(of="epsilon", at_most=1.0),)
    texts = (Conflict("declared is epsilon 2"),)
    found = Findings(criteria, rows, None, 0.95, refuted=texts, decided=decided)
    case = conclude(found)
    assert (case.status, case.grade) == (status, "sampled")
    assert case.contradictions == ("declared is epsilon 2",)


LEVELS = st.integers(0, 10).map(lambda tenth: tenth / 10)
GIVEN = st.sampled_from([(), ("p",), ("q",)])
CLAIMS = st.one_of(
    st.builds(lambda x, g: bound(x, takes_as_given=g), LEVELS, GIVEN),
    st.builds(lambda x, y: row("attack", max(x, y), min(x, y), 1.0), LEVELS, LEVELS),
    st.builds(lambda x: row("guess", x, grade="proved"), LEVELS),
)
PLACED = st.tuples(CLAIMS, st.sampled_from([1.0, 2.0])).map(
    lambda pair: pair[0].model_copy(update={"at": {"epsilon": pair[1]}})
)


@given(
    rows=st.lists(PLACED, max_size=8),
    at_most=st.none() | LEVELS,
    undecided=st.sampled_from([None, "not assessed", "inconclusive"]),
    texts=st.sampled_from([(), (Conflict("a and b"),), (Conflict("a and b", "proved"),)]),
    fails=st.sampled_from(["inconclusive", "not shown"]),
)
def test_no_contradiction_counts_in_favour_or_is_graded_above_what_contradicts(
    rows, at_most, undecided, texts, fails
):
    criteria = tuple(
        StudyCriterion(of="success", at={"epsilon": e}, at_most=at_most, decides=e == 1)
        for e in (1.0, 2.0)
    )
    found = Findings(criteria, tuple(rows), None, 0.95, (), texts, undecided)
    case = conclude(found, fails=fails)
    every = {text for judgement in case.each for text in judgement.contradictions}
    assert set(case.contradictions) == every
    if not every:
        assert case.status != "contradicted"
        return
    assert case.status in ("contradicted", "exceeded")
    if case.status == "exceeded":
        assert undecided is None
        assert case.decided_by.quantity.low > at_most
    for judgement in case.alike:
        grades = [clash.grade for clash in judgement.clashes]
        grades += [text.grade for text in judgement.refutations]
        assert weakest([case.grade, *grades]) == case.grade
    if case.status == "contradicted":
        assert not case.assumptions
        assert all(judgement.contradictions for judgement in case.alike)
