"""What came back beside fresh ones: gains follow from counts, groups add up, lines of a page."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import clopper_pearson
from narcissus.kinds.memorization.classifier.layout import LAYOUT
from narcissus.kinds.memorization.engine import (
    count_rows,
    groups_of,
    of_copies,
    shown_gain,
    with_gains,
)
from narcissus.kinds.memorization.layout import CountedLine
from narcissus.report.page import MISSING
from narcissus.rows import Findings, Quantity, StudyCriterion, StudyRow, judge
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
    return judge(Findings(criteria, tuple(with_gains(rows, "recovered", **how)), None))


def test_a_gain_is_the_share_less_that_of_fresh_ones_whatever_a_row_says():
    case = case_of(([], 30, 40, FRESH))
    [count, fresh, gain] = case.findings.rows
    assert (count.value, count.baseline, gain.value) == (0.75, 0.25, 0.5)
    assert gain.quantity.low == gain.facts["low"] == 0.75 - 0.50012
    assert gain.quantity.high == 0.75 - 0.12345
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
    assert case_of(alone, most=0.1).status == "inconclusive"
    assert case_of(alone, most=0.1, alone_may_be_gain=True).status == "too few trials"
    for row in case_of(alone).findings.rows:
        assert (LAYOUT.counted, LAYOUT.unit) == ("recovered", "images")
        assert row.of != "gain" or "low" not in row.facts


@cache
def shown(ours, of, theirs, others):
    fresh = Quantity.of(clopper_pearson(theirs, others, confidence=0.95))
    return shown_gain(ours, of, fresh), ours / of - fresh.high


@pytest.mark.parametrize(
    ("of", "others", "share"), [(8, 168, 0.05), (10, 1000, 0.1), (20, 20, 0.3)]
)
def test_a_model_that_never_saw_any_seldom_seems_to_gain(of, others, share):
    rng = np.random.default_rng(1)
    drawn = zip(rng.binomial(of, share, 3000), rng.binomial(others, share, 3000), strict=True)
    gains = np.array([shown(int(ours), of, int(theirs), others) for ours, theirs in drawn])
    # 1% of 3,000 above 5% would be seen; the limit of fresh ones alone fails as often as a third
    assert (gains[:, 0] > 0).mean() < 0.05
    assert (gains[:, 1] > 0).mean() > 0.05


def test_no_record_makes_reading_it_sum_without_end():
    """A forged number of documents: the test of Fisher is a sum over as many."""
    with pytest.raises(ValueError, match="are compared"):
        shown_gain(10**14, 10**14, Quantity.of(clopper_pearson(0, 100, confidence=0.95)))


def test_a_gain_that_is_no_chance_keeps_its_limit():
    rng = np.random.default_rng(2)
    kept = 0
    for _ in range(300):
        of, others = (int(n) for n in rng.integers(1, 40, 2))
        ours, theirs = int(rng.integers(of + 1)), int(rng.integers(others + 1))
        found, low = shown(ours, of, theirs, others)
        chance = stats.hypergeom.sf(ours - 1, of + others, ours + theirs, of)
        assert found == (min(low, 0.0) if chance > 0.05 else low)
        kept += low > 0
    assert kept > 30


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
    said = "never seen 25.0%; gain +24.9 to +62.7 points"
    assert line(30, 40).headline("words") == ("all", "75.0%", said, "sampled")
    few = f"{said}; chance alone may give as much"  # Fisher's test of 3 of 4: 0.07
    known = line(3, 4)
    assert known.headline("words") == ("all", "75.0%", few, "sampled")
    assert known.cells()[:5] == ["all", 4, 3, 0.75, 0.25]
    assert known.cells()[5].split() == ["12.3%", "to", "50.1%"]
    assert known.cells()[6:] == ["+24.9 to +62.7"]
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
