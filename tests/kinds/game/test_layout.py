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
    """Give the function that reads a record, and changes its result."""

    def read(name, edit=lambda detail: {}, **statement):
        record = read_record(RECORDS / f"{name}.json")
        said = record.detail.statement.model_copy(update=statement)
        changes = {"statement": said, **edit(record.detail)}
        most = statement.get("delta", record.criteria[0].at_most)
        criteria = [one.model_copy(update={"at_most": most}) for one in record.criteria]
        detail = record.detail.model_copy(update=changes)
        return record.model_copy(update={"criteria": tuple(criteria), "detail": detail})

    return read


def changed(node, **changes):
    """Change fields of a node; those of a part of it are given as a dict."""
    parts = {
        key: changed(getattr(node, key), **value) if isinstance(value, dict) else value
        for key, value in changes.items()
    }
    return node.model_copy(update=parts)


def played(detail, **changes):
    """Change every attacker."""
    attackers = tuple(changed(attacker, **changes) for attacker in detail.play.attackers)
    return {"play": changed(detail.play, attackers=attackers)}


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
    assert "certain after 62 trials, with 95% confidence. Every epsilon up to 1.54" in against[1]
    assert "at least 86.4%. On fresh data, the same attempts succeed in 0%, at most" in against[2]
    assert list(verdict_of(record_of("family")).evidence_for) == []


def test_numbers_at_odds_speak_for_nothing(record_of):
    """The attack gains what the exact answer denies."""
    gap = {"value": 0.6, "low": 0.5, "high": 0.7}
    verdict = verdict_of(record_of("game", lambda detail: played(detail, gap=gap)))
    assert list(verdict.evidence_for) == []
    assert verdict.evidence_against


def quiet(detail, **changes):
    """Leave the attackers alone to speak, with changes of each."""
    return {**played(detail, **changes), "exact": None, "bounds": ()}


def test_a_limit_below_what_is_allowed_speaks_for_it_and_is_rounded_up(record_of):
    record = record_of("game", lambda detail: quiet(detail, gap={"high": 0.30041}), delta=0.4)
    said = verdict_of(record).evidence_for
    assert len(said) == 1
    assert (
        "gains at most 0.301 over e^1 times its own baseline, with 99.5833% confidence." in said[0]
    )
    assert "Allowed are 0.4. Other attackers may gain more." in said[0]


ZERO = {"value": 0.0, "low": 0.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"gap": {"high": 0.41}},
        {"gap": {"high": None}},
        {"gap": None},
        {"attempts": 0},
        {"failed": 1},
        {"success": ZERO, "fresh": ZERO},
    ],
)
def test_an_attacker_who_showed_nothing_speaks_for_nothing(record_of, changes):
    record = record_of("game", lambda detail: quiet(detail, **changes), delta=0.4)
    assert list(verdict_of(record).evidence_for) == []


def test_a_gain_that_is_striking_but_unsure_is_told_as_such(record_of):
    record = record_of("game", lambda detail: quiet(detail, fresh={"high": 0.7}), delta=0.4)
    [said] = verdict_of(record).evidence_against
    assert said.endswith("There are too few trials to be sure of a gain.")


def test_a_profile_that_is_lost_to_rounding_is_not_zero(record_of, blocks):
    [picture] = blocks(page_of(record_of("game")), Figure)
    deltas = [row[1] for row in picture.table.rows]
    assert deltas[0] == pytest.approx(0.46211715726)  # tanh(1/2)
    assert deltas[-1] == "<1e-12"
    assert picture.title == "The best attacker gains 0.4621 at epsilon 0"


def test_of_a_family_the_distribution_that_is_hit_most_is_named_with_its_grade(record_of):
    case = game_of(KIND.judged(record_of("family")))
    member = case.exact.member
    assert f"those of {member}." in page_of(record_of("family")).first.hardest
    assert "drawn in one way" in page_of(record_of("singling-out")).first.hardest


def test_a_game_is_no_ground_and_vacuous_theorems_are_left_out(record_of):
    for value, count in ((1.0, 0), (0.5, 1)):

        def edit(detail, value=value):
            facts = {"what": "success of all", "limits": "success", "limit": {"value": value}}
            return {"exact": None, "bounds": (changed(detail.bounds[0], **facts),)}

        record = record_of("game", edit)
        said = LAYOUT.subject(record, KIND.judged(record))
        assert "not a release about people" in said.no_ground
        assert len(said.limits) == count


@pytest.mark.parametrize(
    ("most", "limits"), [(1.0, []), (0.6123, ["At most 61.3% of attempts fit the data."])]
)
def test_what_any_attacker_of_a_game_reaches_is_a_limit(record_of, most, limits):
    def edit(detail):
        return {"exact": changed(detail.exact, largest=most, members=1), "bounds": ()}

    record = record_of("game", edit).model_copy(update={"status": "exceeded"})
    said = LAYOUT.subject(record, KIND.judged(record))
    assert [one.text for one in said.limits] == limits
