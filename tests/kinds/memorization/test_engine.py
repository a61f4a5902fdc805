"""What came back beside fresh ones: gains follow from counts, groups add up, lines of a page."""

from bisect import bisect_left

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from narcissus.evidence import clopper_pearson
from narcissus.evidence.intervals import TwoSamples
from narcissus.extraction.sandbox import without_isolation
from narcissus.judgement import cases_of, judge
from narcissus.kinds.memorization.classifier.layout import LAYOUT
from narcissus.kinds.memorization.columns import between, count_columns, gain_cell
from narcissus.kinds.memorization.engine import (
    CountedGroup,
    GroupOfCopies,
    limits_of,
    model_not_assessed,
    require_whole,
)
from narcissus.kinds.memorization.image.kind import ImageGroup
from narcissus.report.page import MISSING
from narcissus.rows import Findings, Quantity, StudyCriterion
from narcissus.study.kinds import study_kind

FRESH = Quantity(value=0.25, low=0.12345, high=0.50012, grade="sampled", confidence=0.95, trials=40)


def case_of(*groups, most=None):
    """Judge groups."""
    rows = tuple(row for group in groups for row in group.rows("recovered", "a"))
    found = Findings((StudyCriterion(of="gain", at_most=most),), rows, None)
    return judge(found, cases_of(found))


def group_of(recovered, total, fresh=FRESH, copies=(), model=GroupOfCopies):
    return model(recovered=recovered, total=total, fresh=fresh, copies=copies)


def test_a_gain_is_the_share_less_that_of_fresh_ones():
    group = group_of(30, 40)
    [count, fresh, gain] = group.rows("recovered", "a")
    assert (count.value, count.baseline, gain.value) == (0.75, 0.25, 0.5)
    assert (fresh.quantity, gain.quantity, gain.about) == (FRESH, group.gain, group)
    # the limits over fresh ones, and those in which both sides vary
    alone, both = clopper_pearson(10, 40), TwoSamples(30, 40, 10, 40).excess()
    assert group.limits_of_gain == (
        min(0.75 - alone.high, both.low),
        max(0.75 - alone.low, both.high),
    )


def test_no_more_come_back_than_there_are():
    with pytest.raises(ValidationError, match="5 came back of 4"):
        group_of(5, 4)


def test_the_first_group_is_the_whole_of_the_others():
    def groups(*counts):
        return require_whole(tuple(group_of(k, n, copies=copies) for copies, k, n in counts))

    assert [group.copies for group in groups(((), 5, 9))] == [()]
    found = groups(((), 5, 9), ((1,), 2, 6), ((4, 5), 3, 3))
    assert [group.words("words") for group in found] == ["all words", "1 copy", "4 or 5 copies"]
    assert [group.at for group in found] == [
        {"copies": 0}, {"copies": 1}, {"copies": 4, "group": "4 or 5 copies"},
    ]  # fmt: skip
    for wrong in (
        [((1,), 5, 9)], [((), 5, 9), ((), 5, 9)], [((), 5, 9), ((1,), 5, 8)],
        [((), 5, 9), ((1,), 4, 9)],
    ):  # fmt: skip
        with pytest.raises(ValueError, match="add up to all"):
            groups(*wrong)
    with pytest.raises(ValueError, match="unpack"):
        groups()


@pytest.mark.parametrize(
    ("ours", "most", "status"),
    [
        (30, 0.1, "exceeded"),
        (30, 0.4, "too few trials"),
        (10, 0.1, "inconclusive"),
        (30, None, "no threshold"),
    ],
)
def test_an_attack_that_fails_proves_nothing(ours, most, status):
    case = case_of(group_of(ours, 40), group_of(ours, 40, None, (2,)), most=most)
    assert (case.status, case.grade) == (status, "sampled")


def test_a_share_without_fresh_ones_shows_no_gain_and_may_be_some():
    alone = group_of(30, 40, None)
    assert case_of(alone, most=0.1).status == "not assessed"
    assert (alone.gain.value, alone.gain.low, alone.gain.grade) == (None, None, "not assessed")
    assert alone.limits_of_gain is None
    may_be = group_of(30, 40, None, model=ImageGroup)
    assert case_of(may_be, most=0.1).status == "too few trials"


@pytest.mark.parametrize(
    ("of", "others", "share", "gain"),
    [
        (8, 168, 0.05, 0.0),
        (10, 120, 0.1, 0.0),
        (20, 20, 0.3, 0.0),
        pytest.param(20, 60, 0.2, 0.1, marks=pytest.mark.nightly),
    ],
)
def test_a_gain_is_seldom_seen_beyond_what_there_is(of, others, share, gain):
    """Exactly, over all counts, at a level of .025; the limit of fresh ones alone fails."""
    theirs = np.arange(others + 1)
    theirs = theirs[stats.binom.pmf(theirs, others, share) > 2e-3]
    wrong = alone = 0.0
    for some in map(int, theirs):

        def shown(ours, some=some):
            return limits_of(ours, of, some, others, 0.95)[0] > gain

        high = clopper_pearson(some, others).high
        chance = stats.binom.pmf(some, others, share)
        least = bisect_left(range(of + 1), True, key=shown)
        wrong += chance * stats.binom.sf(least - 1, of, share + gain)
        alone += chance * stats.binom.sf(np.floor((gain + high) * of + 1e-9), of, share + gain)
    assert wrong <= 0.025
    assert alone > 0.05


def test_no_record_makes_reading_it_sum_without_end():
    """A forged number of documents: both sides are limited apart."""
    low, high = limits_of(10**14, 10**14, 0, 100, 0.95)
    assert 0.95 < low < 0.96
    assert high == 1


@pytest.mark.parametrize("kind", ["language-model", "image-model", "classifier"])
def test_what_others_trained_on_is_taken_on_trust(kept_audit, kind):
    result, premises = kept_audit(kind).record.result, study_kind(kind).premises
    given = result.model_copy(update={"by_chance": False})
    assert len(premises(result)) == 1
    assert "was not trained on them" in premises(given)[1]
    # shadow networks that somebody else trained
    assert len(premises(given)) == 2 + (kind == "classifier")


def test_a_share_stands_beside_that_of_fresh_ones_with_its_limits_rounded_outwards():
    assert gain_cell(group_of(30, 40)) == "+27.8 to +68.3"
    few = group_of(3, 4)
    cells = [column(few) for column in count_columns("Back").values()]
    assert cells[:4] == [4, 3, 0.75, 0.25]
    assert cells[4].split() == between(FRESH).split() == ["12.3%", "to", "50.1%"]
    # of 4, three may come back by chance
    assert gain_cell(few) == "\N{MINUS SIGN}5.0 to +93.5"


def test_without_fresh_ones_there_is_no_gain_on_a_page():
    alone, known = (
        CountedGroup(recovered=1, total=4),
        CountedGroup(recovered=3, total=4, fresh=FRESH),
    )
    columns = {
        "Words": lambda group: group.words("words"),
        **count_columns("Back"),
        "Gain": gain_cell,
    }
    figure = LAYOUT.shares_figure("t", "d", "c", "words", [known, alone], columns)
    assert figure.table.rows[1] == ["all words", 4, 1, 0.25, None, MISSING, MISSING]
    assert list(figure.table.grades) == ["sampled", "not assessed"]
    assert figure.table.percent == ("Share", "Never seen")


def test_what_is_accepted_is_rounded_down_and_has_its_reason(kept_audit):
    record = kept_audit("classifier").record
    why = record.model_copy(update={"study": {"threshold": {"reason": "so few"}}})
    wanted = [("a", "b"), ("Accepted", "a gain of 12.3% of images"), ("Why", "so few")]
    accepted = case_of(group_of(3, 4), most=0.12399)
    assert LAYOUT.facts([("a", "b")], why, accepted).rows == wanted
    plain = record.model_copy(update={"study": {}})
    assert LAYOUT.facts([("a", "b")], plain, case_of(group_of(3, 4))).rows == [("a", "b")]


def test_what_holds_a_model_of_others_back_nowhere_is_told():
    """No sandbox reaches a GPU, and no system but Linux limits the memory of a process."""
    with without_isolation():
        found = model_not_assessed(trains=False, limits_memory=False)
        assert [one.quantity for one in found] == [
            "what reading the model did besides",
            "how much memory the model took",
        ]
        assert found[1].reason.startswith("the limit on it (`memory`) holds on Linux")
        assert len(model_not_assessed(trains=False, limits_memory=True)) == 1
        assert model_not_assessed(trains=True, limits_memory=False) == []
