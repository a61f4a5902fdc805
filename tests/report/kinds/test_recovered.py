"""What came back beside fresh ones, on a page: limits outwards, and no gain where none is known."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from narcissus.report.kinds.recovered import Counted, copies_words, facts, shares_figure
from narcissus.report.page import MISSING
from narcissus.results import Estimate
from narcissus.study.results.base import SampledShare
from narcissus.study.results.recovered import GainOverFresh

FRESH = SampledShare.of(Estimate(0.25, 0.12345, 0.50012, 0.95, 40, "a share", "by hand"))
KNOWN = Counted("all", 4, 3, 0.75, FRESH, GainOverFresh.of((0.5, 0.24988, 0.62655)))
ALONE = Counted("1 copy", 4, 1, 0.25, None, None)


def test_a_share_stands_beside_that_of_fresh_ones_with_its_limits_rounded_outwards():
    said = "never seen 25.0%; gain +24.9 to +62.7 points"
    more = replace(KNOWN, total=40, recovered=30)
    assert more.headline("words") == ("all", "75.0%", said, "sampled")
    few = f"{said}; chance alone may give as much"  # Fisher's test of 3 of 4: 0.07
    assert KNOWN.headline("words") == ("all", "75.0%", few, "sampled")
    assert KNOWN.cells()[:5] == ["all", 4, 3, 0.75, 0.25]
    assert KNOWN.cells()[5].split() == ["12.3%", "to", "50.1%"]
    assert KNOWN.cells()[6:] == ["+24.9 to +62.7"]
    beside = replace(KNOWN, beside=(FRESH,), more=["x"])
    assert beside.cells() == [*KNOWN.cells()[:6], *KNOWN.cells()[4:], "x"]


def test_without_fresh_ones_there_is_no_gain():
    assert ALONE.headline("words") == ("1 copy", "25.0%", "no fresh words", "not assessed")
    assert ALONE.cells() == ["1 copy", 4, 1, 0.25, None, MISSING, MISSING]
    columns = ("Words", "All", "Back", "Share", "Never seen", "Limits", "Gain")
    figure = shares_figure("t", "d", "c", columns, [KNOWN, ALONE], "words", "words")
    assert list(figure.table.grades) == ["sampled", "not assessed"]
    assert figure.table.percent == ("Share", "Never seen")


@pytest.mark.parametrize(
    ("copies", "more", "words"),
    [
        (0, None, "all images"),
        (1, None, "1 copy"),
        (2000, None, "2,000 copies"),
        (1, (3, 9), "1, 3 or 9 copies"),
    ],
)
def test_copies_in_words(copies, more, words):
    assert copies_words(SimpleNamespace(copies=copies, and_copies=more), "images") == words


def test_what_is_accepted_is_rounded_down_and_has_its_reason(kept_audit):
    record = kept_audit("classifier").record
    why = record.model_copy(update={"study": {"threshold": {"reason": "so few"}}})
    wanted = [("a", "b"), ("Accepted", "a gain of 12.3% of words"), ("Why", "so few")]
    assert facts([("a", "b")], why, 0.12399, "words").rows == wanted
    plain = record.model_copy(update={"study": {}})
    assert facts([("a", "b")], plain, None, "words").rows == [("a", "b")]
