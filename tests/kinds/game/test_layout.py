"""Games as a page: what speaks for the release and against it, and with which grade."""

from pathlib import Path

import pytest

from narcissus.kinds.game.judgement import game_of
from narcissus.kinds.game.kind import KIND
from narcissus.kinds.game.layout import LAYOUT
from narcissus.report import Figure, page_of
from narcissus.study.reading import read_record

RECORDS = Path(__file__).parents[2] / "study" / "records" / "last"


@pytest.fixture
def record_of():
    """Give the function that reads a record, and changes its rows."""

    def read(name, edit=lambda rows: rows, **statement):
        record = read_record(RECORDS / f"{name}.json")
        said = record.detail.statement.model_copy(update=statement)
        detail = record.detail.model_copy(update={"statement": said})
        most = statement.get("delta", record.criteria[0].at_most)
        criteria = [one.model_copy(update={"at_most": most}) for one in record.criteria]
        found = KIND.found(criteria, edit(record.rows), detail)
        parts = {"criteria": found.criteria, "rows": found.rows, "detail": found.detail}
        return record.model_copy(update=parts)

    return read


def changed(rows, *, of=None, role=None, name=None, facts=None, **quantity):
    """Change the quantity and the facts of rows."""

    def own(row):
        return of in (None, row.of) and role in (None, row.role) and name in (None, row.name)

    return [
        row.model_copy(update={
            "quantity": row.quantity.model_copy(update=quantity),
            "facts": {k: v for k, v in {**row.facts, **(facts or {})}.items() if v is not None},
        }) if own(row) else row
        for row in rows
    ]  # fmt: skip


EXACT = "any attacker"
NEEDED = "least delta at epsilon 1"


@pytest.fixture
def blocks():
    """Give the function that finds the blocks of a kind in a page."""
    return lambda page, kind: [
        block for section in page.sections for block in section.blocks if isinstance(block, kind)
    ]


def verdict_of(record):
    return page_of(record).verdict


def test_what_is_proved_speaks_for_it_and_says_by_what(record_of):
    verdict = verdict_of(record_of("game"))
    start = "Proved exactly: The least delta at epsilon 1 is 0 up to rounding, and 0 is allowed."
    assert verdict.evidence_for[0].startswith(start)
    assert "by Cohen et al. 2024, Theorem A.4" in verdict.evidence_for[1]
    # the attacker gains in the game that was played, as it may under the statement
    assert (
        "the attack bayes succeeds in 75.4% of 833 trials, at least" in verdict.evidence_against[0]
    )
    grades = {label.partition(":")[0]: grade for label, _, _, grade in verdict.numbers}
    assert grades["Proved"] == "proved"
    assert grades["Success of the attack bayes"] == "sampled"


def test_a_violation_that_is_certain_speaks_against_it(record_of):
    against = verdict_of(record_of("family")).evidence_against
    assert against[0].startswith("Proved exactly: The least delta at epsilon 1 is 1, and 0.3")
    assert "certain after 62 trials, with 95.0% confidence. Every epsilon up to 1.54" in against[1]
    assert "at least 86.4%. On fresh data, the same attempts succeed in 0%, at most" in against[2]
    assert list(verdict_of(record_of("family")).evidence_for) == []


def test_numbers_at_odds_speak_for_nothing(record_of):
    """The attack gains what the exact answer denies."""
    edit = {"value": 0.6, "low": 0.5, "high": 0.7}
    verdict = verdict_of(record_of("game", lambda rows: changed(rows, of="gap", **edit)))
    assert list(verdict.evidence_for) == []
    assert verdict.evidence_against


def quiet(rows, **gap):
    """Leave the attackers alone to speak, with a gap of these limits."""
    alone = [row for row in rows if row.name == "bayes"]
    return changed(alone, of="gap", **gap)


def test_a_limit_below_what_is_allowed_speaks_for_it_and_is_rounded_up(record_of):
    record = record_of("game", lambda rows: quiet(rows, high=0.30041), delta=0.4)
    said = verdict_of(record).evidence_for
    assert len(said) == 1
    assert (
        "gains at most 0.301 over e^1 times its own baseline, with 99.5833% confidence." in said[0]
    )
    assert "Allowed are 0.4. Other attackers may gain more." in said[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: changed(rows, of="gap", high=0.41),
        lambda rows: changed(rows, of="gap", high=None),
        lambda rows: [row for row in rows if row.of != "gap"],
        lambda rows: changed(rows, role="attack", facts={"attempts": 0}),
        lambda rows: changed(rows, role="attack", facts={"failed": 1}),
        lambda rows: changed(
            changed(rows, role="attack", value=0.0, low=0.0), role="fresh", value=0.0, low=0.0
        ),
    ],
)
def test_an_attacker_who_showed_nothing_speaks_for_nothing(record_of, change):
    record = record_of("game", lambda rows: change(quiet(rows)), delta=0.4)
    assert list(verdict_of(record).evidence_for) == []


def test_a_gain_that_is_striking_but_unsure_is_told_as_such(record_of):
    record = record_of("game", lambda rows: changed(quiet(rows), role="fresh", high=0.7), delta=0.4)
    [said] = verdict_of(record).evidence_against
    assert said.endswith("There are too few trials to be sure of a gain.")


def test_a_profile_that_is_lost_to_rounding_is_not_zero(record_of, blocks):
    [picture] = blocks(page_of(record_of("game")), Figure)
    deltas = [row[1] for row in picture.table.rows]
    assert deltas[0] == pytest.approx(0.46211715726)  # tanh(1/2)
    assert deltas[-1] == "<1e-12"
    exact = record_of(
        "game",
        lambda rows: changed(
            changed(rows, name=NEEDED, value=0.0, low=0.0, high=0.0, facts={"rounding": None}),
            of="delta", high=0.0,
        ),
    )  # fmt: skip
    [picture] = blocks(page_of(exact), Figure)
    assert picture.table.rows[-1][1] == "0"
    assert picture.title == "The best attacker gains 0.4621 at epsilon 0"


def test_of_a_family_the_distribution_that_is_hit_most_is_named_with_its_grade(record_of):
    case = game_of(KIND.judged(record_of("family")))
    member = case.needed.facts["member"]
    assert f"those of {member}." in page_of(record_of("family")).first.hardest
    assert "drawn in one way" in page_of(record_of("singling-out")).first.hardest


def test_a_game_is_no_ground_and_vacuous_theorems_are_left_out(record_of):
    for value, count in ((1.0, 0), (0.5, 1)):

        def edit(rows, value=value):
            facts = {"what": "success of all", "limits": "success"}
            own = [row for row in rows if row.name == "bayes" or row.role == "bound"]
            return changed(own, role="bound", value=value, facts=facts)

        record = record_of("game", edit)
        said = LAYOUT.subject(record, KIND.judged(record))
        assert "not a release about people" in said.no_ground
        assert len(said.limits) == count


@pytest.mark.parametrize(
    ("most", "limits"), [(1.0, []), (0.6123, ["At most 61.3% of attempts fit the data."])]
)
def test_what_any_attacker_of_a_game_reaches_is_a_limit(record_of, most, limits):
    def edit(rows):
        own = [row for row in rows if row.role != "bound"]
        return changed(own, of="success", name=EXACT, facts={"largest": most, "members": 1})

    record = record_of("game", edit).model_copy(update={"status": "exceeded"})
    said = LAYOUT.subject(record, KIND.judged(record))
    assert [one.text for one in said.limits] == limits
