"""How evidence reads."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.evidence import clopper_pearson
from narcissus.extraction.evidence import (
    CAVEAT,
    MARGIN,
    NEEDED,
    ExtractionEvidence,
    Found,
    Rival,
    rule_on,
    trials_to_settle,
    would_change,
)
from narcissus.results import NotAssessed


def test_it_says_its_caveat_and_has_the_grade_of_its_verdict():
    given = {field.name: None for field in fields(ExtractionEvidence)}
    given |= {"verdict": "no extraction", "reasons": ("one", "two"), "verdict_grade": "sampled"}
    found = ExtractionEvidence(**given | {"caveat": CAVEAT})
    assert str(found).splitlines() == ["NO EXTRACTION: one", "two", CAVEAT]
    assert found.grade == "sampled"


def found(success, without, rivals=(), shadow=None, *, best=2000, needed=0.0, compressor="lzma"):
    """Give what was found: (successes, runs) each; rivals as (successes, runs, bytes)."""
    itself = Rival("this program without the release", clopper_pearson(*without), 20)
    tried = [itself] + [
        Rival(f"rival {i}", clopper_pearson(hits, runs), size)
        for i, (hits, runs, size) in enumerate(rivals)
    ]
    sizes = {compressor: best} | {r.name: r.program_bytes for r in tried if r.shown}
    method = min(sizes, key=lambda name: sizes[name])
    on_shadow = NotAssessed("shadows", "none") if shadow is None else clopper_pearson(*shadow)
    return Found(
        clopper_pearson(*success), itself.success, 20, sizes[method], method, needed, on_shadow,
        None, tuple(tried),
    )  # fmt: skip


def test_three_runs_without_success_decide_nothing():
    """The upper limit of 0 of 3 is 0.708: it may be an extractor, and may do without."""
    judgement = rule_on(found((0, 3), (0, 3)))
    assert judgement.verdict == "inconclusive"
    assert judgement.grade == "sampled"
    assert judgement.more == "4 runs"
    assert "0.00 to 0.71" in judgement.reasons[0]
    assert "no longer" not in " ".join(judgement.reasons)
    assert rule_on(found((0, 4), (0, 4))).verdict == "no extraction"


@pytest.mark.parametrize(
    ("case", "verdict", "grade", "more"),
    [
        (found((10, 10), (0, 10)), "extraction", "approximate", ""),
        (found((9, 9), (0, 9)), "inconclusive", "sampled", "10 runs"),
        # It does as well without: shown, or left open.
        (found((10, 10), (10, 10)), "no extraction", "sampled", ""),
        (found((10, 10), (6, 10)), "inconclusive", "sampled", "218 runs"),
        # A compressor's program needs no limits.
        (found((10, 10), (0, 10), best=15), "no extraction", "proved", ""),
        (found((10, 10), (0, 10), best=21, needed=0.5), "no extraction", "proved", ""),
        # Rivals: shown, left open, too long to matter, refuted.
        (found((10, 10), (0, 10), [(10, 10, 18)]), "no extraction", "sampled", ""),
        (found((10, 10), (0, 10), [(5, 10, 18)]), "inconclusive", "sampled", "38 runs"),
        (found((10, 10), (0, 10), [(5, 10, 400)]), "extraction", "approximate", ""),
        (found((10, 10), (0, 10), [(0, 10, 18)]), "extraction", "approximate", ""),
        # Shadows: all of ten, all of three.
        (found((10, 10), (0, 10), shadow=(10, 10)), "no extraction", "sampled", ""),
        (found((10, 10), (0, 10), shadow=(3, 3)), "inconclusive", "sampled", "10 shadow data sets"),
    ],
)
def test_each_ground(case, verdict, grade, more):
    judgement = rule_on(case)
    assert (judgement.verdict, judgement.grade, judgement.more) == (verdict, grade, more)
    if more:
        assert any(judgement.more in change for change in would_change(case, judgement))


shares = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.states("Cohen et al. 2024", "Definition D.8")
@given(
    shares,
    shares,
    st.lists(st.tuples(shares, st.integers(10, 60)), max_size=2),
    st.none() | shares,
    st.sampled_from([15, 30, 2000]),
)
def test_a_verdict_is_never_left_open_by_its_own_limits(success, without, rivals, shadow, best):
    """Whoever draws the limits of a decided verdict must find two in three outside them."""
    case = found(success, without, [(*s, size) for s, size in rivals], shadow, best=best)
    judgement = rule_on(case)
    low, high = case.success.low, case.success.high
    shown = {r.name for r in case.rivals if (r.success.low or 0) >= NEEDED}
    if judgement.verdict == "extraction":
        assert low >= NEEDED
        assert case.without.high < NEEDED
        assert case.quality > 0
        assert not any(r.program_bytes <= 20 and r.success.high >= NEEDED for r in case.rivals)
        assert shadow is None or case.on_shadow.value < NEEDED
    if judgement.verdict == "no extraction":
        assert (
            high < NEEDED
            or (case.quality <= 0 and (case.method == "lzma" or case.method in shown))
            or (shadow is not None and case.on_shadow.low >= NEEDED)
        )
    if judgement.grade == "proved":
        assert case.method == "lzma"


@given(shares)
def test_so_many_trials_settle_it(share):
    made = clopper_pearson(*share)
    count = trials_to_settle(made)
    if count is not None:
        again = clopper_pearson(round(made.value * count), count)
        assert again.high < NEEDED or again.low >= NEEDED
    else:
        assert made.value == pytest.approx(NEEDED, abs=0.01)


@pytest.mark.states("Cohen et al. 2024", "Definition D.8")
def test_two_in_three_runs_are_needed():
    """Exact limits of 1,000 runs, at both sides of two in three."""
    for hits, verdict in ((700, "extraction"), (690, "inconclusive"), (640, "inconclusive"),
                          (630, "no extraction")):  # fmt: skip
        assert rule_on(found((hits, 1000), (0, 1000))).verdict == verdict


def test_a_rival_must_be_longer_by_the_margin_declared():
    """By the 128 bytes that programs in other words differ by, where nothing else is declared."""
    plain = replace(found((10, 10), (0, 10)), program_bytes=1000, quality_needed=0.0, margin=MARGIN)
    assert plain.suffices(1128)
    assert not plain.suffices(1127)


def test_no_more_than_a_hundred_thousand_runs_are_asked_for():
    """At .67 some 80,000 runs separate it from two in three, at .6695 some 108,000."""
    assert 70_000 < trials_to_settle(clopper_pearson(67, 100)) < 90_000
    assert trials_to_settle(clopper_pearson(1339, 2000)) is None


@pytest.mark.parametrize(("rank", "bears_witness"), [(0.05, True), (0.051, False), (None, False)])
def test_shadows_bear_witness_at_the_five_percent_level(rank, bears_witness):
    case = replace(found((10, 10), (0, 10)), rank=rank)
    ruling = rule_on(case)
    assert any("ahead of their shadows" in reason for reason in ruling.reasons) == bears_witness
    asked = any("19 or more can bear witness" in change for change in would_change(case, ruling))
    assert asked != bears_witness
