"""Games as a page: what speaks for the release and against it, and with which grade."""

from pathlib import Path

import pytest

from narcissus.kinds.game.judgement import game_of
from narcissus.kinds.game.kind import KIND
from narcissus.kinds.game.layout import LAYOUT
from narcissus.report import Figure, page_of
from narcissus.report.page import Grid
from narcissus.study.reading import read_record

RECORDS = Path(__file__).parents[2] / "study" / "records" / "last"


@pytest.fixture
def record_of():
    """Give the function that reads a record, and changes its result."""

    def read(name, edit=lambda result: {}, **statement):
        record = read_record(RECORDS / f"{name}.json")
        said = record.result.statement.model_copy(update=statement)
        changes = {"statement": said, **edit(record.result)}
        most = statement.get("delta", record.criteria[0].at_most)
        criteria = [one.model_copy(update={"at_most": most}) for one in record.criteria]
        result = record.result.model_copy(update=changes)
        return record.model_copy(update={"criteria": tuple(criteria), "result": result})

    return read


def changed(node, **changes):
    """Change fields of a node; those of a part of it are given as a dict."""
    parts = {
        key: changed(getattr(node, key), **value) if isinstance(value, dict) else value
        for key, value in changes.items()
    }
    return node.model_copy(update=parts)


def played(result, **changes):
    """Change every attacker."""
    attackers = tuple(changed(attacker, **changes) for attacker in result.play.attackers)
    return {"play": changed(result.play, attackers=attackers)}


@pytest.fixture
def blocks():
    """Give the function that finds the blocks of a kind in a page."""
    return lambda page, kind: [
        block for section in page.sections for block in section.blocks if isinstance(block, kind)
    ]


def quiet(result, **changes):
    """Leave the attackers alone to speak, with changes of each."""
    return {**played(result, **changes), "exact": None, "bounds": ()}


ZERO = {"value": 0.0, "low": 0.0}
GAIN = "gain beyond e^epsilon x baseline"


def gains_of(record, blocks):
    """Return what the table of attackers says that each gains at most."""
    [table] = [t for t in blocks(page_of(record), Grid) if t.columns[0] == "attacker"]
    place = list(table.columns).index(GAIN) if GAIN in table.columns else None
    return [None if place is None else row[place] for row in table.rows]


def test_what_is_proved_is_in_a_table_with_its_theorem(record_of, blocks):
    page = page_of(record_of("game"))
    [bounds] = [t for t in blocks(page, Grid) if t.columns == ("Of", "At most", "By")]
    assert "Cohen et al. 2024, Theorem A.4" in bounds.rows[0][2]
    assert bounds.grades == ["proved"]
    [exact] = [t for t in blocks(page, Grid) if t.caption == "What is exact of every attacker"]
    assert exact.grades == ["proved"] * len(exact.rows)


def test_a_limit_on_what_an_attacker_gains_is_rounded_up(record_of, blocks):
    record = record_of("game", lambda result: quiet(result, gap={"high": 0.30041}), delta=0.4)
    assert gains_of(record, blocks) == ["at most 0.301"]


@pytest.mark.parametrize(
    "changes",
    [
        {"gap": {"high": None}},
        {"gap": None},
        {"attempts": 0},
        {"failed": 1},
        {"success": ZERO, "fresh": ZERO},
    ],
)
def test_no_limit_stands_beside_an_attacker_who_showed_nothing(record_of, changes, blocks):
    record = record_of("game", lambda result: quiet(result, **changes), delta=0.4)
    assert gains_of(record, blocks) == [None]


def test_a_profile_that_is_lost_to_rounding_is_not_zero(record_of, blocks):
    [picture] = blocks(page_of(record_of("game")), Figure)
    deltas = [row[1] for row in picture.table.rows]
    assert deltas[0] == pytest.approx(0.46211715726)  # tanh(1/2)
    assert deltas[-1] == "<1e-12"
    assert picture.title == "The best attacker gains 0.4621 at epsilon 0"


def test_of_a_family_the_distribution_that_is_hit_most_is_named_with_its_grade(record_of):
    case = game_of(KIND.judged(record_of("family")))
    member = case.exact.member
    assert f"that of {member}." in page_of(record_of("family")).first.hardest
    assert not page_of(record_of("singling-out")).first.hardest  # people are drawn in one way


def test_a_game_is_no_ground_and_vacuous_theorems_are_left_out(record_of):
    for value, count in ((1.0, 0), (0.5, 1)):

        def edit(result, value=value):
            facts = {"what": "success of all", "limits": "success", "limit": {"value": value}}
            return {"exact": None, "bounds": (changed(result.bounds[0], **facts),)}

        record = record_of("game", edit)
        said = LAYOUT.subject(record, KIND.judged(record))
        assert "not a release about people" in said.no_ground
        assert len(said.limits) == count


@pytest.mark.parametrize(
    ("most", "limits"), [(1.0, []), (0.6123, ["At most 61.3% of attempts fit the data."])]
)
def test_what_any_attacker_of_a_game_reaches_is_a_limit(record_of, most, limits):
    def edit(result):
        return {"exact": changed(result.exact, largest=most, members=1), "bounds": ()}

    record = record_of("game", edit).model_copy(update={"status": "exceeded"})
    said = LAYOUT.subject(record, KIND.judged(record))
    assert [one.text for one in said.limits] == limits


@pytest.mark.parametrize("name", ["game", "family"])
def test_squares_of_a_game_are_of_fresh_and_of_released_data(record_of, name):
    """An attempt on fresh data is made from a release, too: it is no guess without one."""
    first = page_of(record_of(name)).first
    assert "more on the released data" in first.key
    assert "without the release" not in first.key
