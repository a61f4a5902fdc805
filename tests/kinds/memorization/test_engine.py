"""What came back beside fresh ones: gains follow from counts, groups add up, lines of a page."""

from bisect import bisect_left

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import clopper_pearson
from narcissus.evidence.intervals import TwoSamples
from narcissus.extraction.sandbox import without_isolation
from narcissus.kinds.memorization.classifier.layout import LAYOUT
from narcissus.kinds.memorization.engine import (
    count_rows,
    groups_of,
    limits_of,
    model_not_assessed,
    of_copies,
    with_gains,
)
from narcissus.kinds.memorization.layout import CountedLine
from narcissus.report.page import MISSING
from narcissus.rows import Findings, Quantity, StudyCriterion, StudyRow, cases_of, judge
from narcissus.study.kinds import study_kind

FRESH = Quantity(value=0.25, low=0.12345, high=0.50012, grade="sampled", confidence=0.95, trials=40)


def case_of(*groups, most=None, **how):
    """Judge groups (copies, recovered, of, fresh)."""
    rows = [
        row
        for copies, ours, of, fresh in groups
        for row in count_rows("recovered", "a", (ours, of), {"fresh": fresh}, of_copies(copies))
    ]
    criteria = (StudyCriterion(of="gain", at_most=most),)
    found = Findings(criteria, tuple(with_gains(rows, "recovered", **how)), None)
    return judge(found, cases_of(found))


def test_a_gain_is_the_share_less_that_of_fresh_ones_whatever_a_row_says():
    case = case_of(([], 30, 40, FRESH))
    [count, fresh, gain] = case.findings.rows
    assert (count.value, count.baseline, gain.value) == (0.75, 0.25, 0.5)
    # the limits over fresh ones, and those in which both sides vary
    alone, both = clopper_pearson(10, 40), TwoSamples(30, 40, 10, 40).excess()
    assert gain.quantity.low == min(0.75 - alone.high, both.low)
    assert gain.quantity.high == max(0.75 - alone.low, both.high)
    wrong = Quantity(value=0.9, low=0.8, grade="proved")
    forged = [count.model_copy(update={"quantity": wrong, "baseline": 0.0}), fresh,
              gain.model_copy(update={"quantity": wrong})]  # fmt: skip
    assert tuple(with_gains(forged, "recovered")) == (count, fresh, gain)
    one = StudyRow(role="attack", of="told", quantity=wrong)
    assert tuple(with_gains([count, fresh, one, count], "recovered"))[:4] == (
        count, fresh, gain, one,
    )  # fmt: skip


def test_the_first_group_is_the_whole_of_the_others():
    def groups(*counts):
        return groups_of(case_of(*((c, k, n, FRESH) for c, k, n in counts)), "recovered")["a"]

    assert [one.copies for one in groups(([], 5, 9))] == [0]
    found = groups(([], 5, 9), ([1], 2, 6), ([4, 5], 3, 3))
    assert [one.words("words") for one in found] == ["all words", "1 copy", "4 or 5 copies"]
    for wrong in (
        [([1], 5, 9)], [([], 5, 9), ([], 5, 9)], [([], 5, 9), ([1], 5, 8)],
        [([], 5, 9), ([1], 4, 9)],
    ):  # fmt: skip
        with pytest.raises(ValueError, match="add up to all"):
            groups(*wrong)


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
    case = case_of(([], ours, 40, FRESH), ([2], ours, 40, None), most=most)
    assert (case.status, case.grade) == (status, "sampled")


def test_a_share_without_fresh_ones_shows_no_gain_and_may_be_some():
    alone = ([], 30, 40, None)
    assert case_of(alone, most=0.1).status == "not assessed"
    [gain] = [row for row in case_of(alone).findings.rows if row.of == "gain"]
    assert (gain.quantity.value, gain.quantity.low, gain.quantity.grade) == (
        None, None, "not assessed"
    )  # fmt: skip
    assert case_of(alone, most=0.1, alone_may_be_gain=True).status == "too few trials"
    for row in case_of(alone).findings.rows:
        assert (LAYOUT.counted, LAYOUT.unit) == ("recovered", "images")
        assert row.of != "gain" or "low" not in row.facts


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
    detail, premises = kept_audit(kind).record.detail, study_kind(kind).premises
    given = detail.model_copy(update={"by_chance": False})
    assert len(premises(detail)) == 1
    assert "was not trained on them" in premises(given)[1]
    # shadow networks that somebody else trained
    assert len(premises(given)) == 2 + (kind == "classifier")


def line(ours, of, fresh=FRESH, **more):
    [group] = groups_of(case_of(([], ours, of, fresh)), "recovered")["a"]
    return CountedLine("all", group, **more)


def test_a_share_stands_beside_that_of_fresh_ones_with_its_limits_rounded_outwards():
    said = "never seen 25.0%; gain +27.8 to +68.3 points"
    assert line(30, 40).headline("words") == ("all", "75.0%", said, "sampled")
    known = line(3, 4)
    assert known.cells()[:5] == ["all", 4, 3, 0.75, 0.25]
    assert known.cells()[5].split() == ["12.3%", "to", "50.1%"]
    # of 4, three may come back by chance
    assert known.headline("words")[2] == "never seen 25.0%; gain \N{MINUS SIGN}5.0 to +93.5 points"
    assert known.cells()[6:] == ["\N{MINUS SIGN}5.0 to +93.5"]
    beside = line(3, 4, beside=(FRESH,), more=["x"])
    assert beside.cells() == [*known.cells()[:6], *known.cells()[4:], "x"]


def test_without_fresh_ones_there_is_no_gain_on_a_page():
    alone, known = line(1, 4, None), line(3, 4)
    assert alone.headline("words") == ("all", "25.0%", "no fresh words", "not assessed")
    assert alone.cells() == ["all", 4, 1, 0.25, None, MISSING, MISSING]
    columns = ("Words", "All", "Back", "Share", "Never seen", "Limits", "Gain")
    figure = LAYOUT.shares_figure("t", "d", "c", columns, [known, alone], "words")
    assert list(figure.table.grades) == ["sampled", "not assessed"]
    assert figure.table.percent == ("Share", "Never seen")


def test_what_is_accepted_is_rounded_down_and_has_its_reason(kept_audit):
    record = kept_audit("classifier").record
    why = record.model_copy(update={"study": {"threshold": {"reason": "so few"}}})
    wanted = [("a", "b"), ("Accepted", "a gain of 12.3% of images"), ("Why", "so few")]
    accepted = case_of(([], 3, 4, FRESH), most=0.12399)
    assert LAYOUT.facts([("a", "b")], why, accepted).rows == wanted
    plain = record.model_copy(update={"study": {}})
    assert LAYOUT.facts([("a", "b")], plain, case_of(([], 3, 4, FRESH))).rows == [("a", "b")]


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
