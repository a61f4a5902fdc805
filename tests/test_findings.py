"""Grades, their weakest, and contradictions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.findings import Finding, contradictions, weakest
from narcissus.results import GRADES

LIMITS = st.none() | st.floats(0, 1)


def test_weakest_is_the_last_of_the_order() -> None:
    assert weakest(GRADES) == "not assessed"
    assert weakest(["proved"]) == "proved"
    assert weakest(["proved if", "proved"]) == "proved if"
    assert weakest(["sampled", "proved if"]) == "sampled"
    assert weakest(["approximate", "sampled"]) == "approximate"
    assert weakest([]) == "not assessed"


def test_unknown_grades_are_refused() -> None:
    with pytest.raises(InputError, match="no such grade"):
        weakest(["certain"])  # pyright: ignore[reportArgumentType]


def test_a_theorem_with_an_assumption_is_proved_if() -> None:
    assert Finding("x", "a theorem", high=0.5).grade == "proved"
    assert Finding("x", "a theorem", high=0.5, assumptions=("a",)).grade == "proved if"
    assert Finding("x", "a run", low=0.5, kind="sampled", assumptions=("a",)).grade == "sampled"


@given(st.lists(st.tuples(LIMITS, LIMITS, st.sampled_from(["a", "b"])), max_size=6))
def test_contradictions_are_exactly_the_pairs_that_cannot_hold(
    given_limits: list[tuple[float | None, float | None, str]],
) -> None:
    findings = [
        Finding(q, f"s{i}", low=low, high=high) for i, (low, high, q) in enumerate(given_limits)
    ]
    pairs = {(c.above.source, c.below.source) for c in contradictions(findings)}
    for one in findings:
        for other in findings:
            if one is other or one.quantity != other.quantity:
                continue
            clash = one.low is not None and other.high is not None and one.low > other.high + 1e-9
            assert clash == ((one.source, other.source) in pairs)


def test_a_contradiction_names_what_it_refutes() -> None:
    bound = Finding("share", "a theorem", high=0.5, assumptions=("the prior is right",))
    attack = Finding("share", "the attack `copy`", low=0.9, kind="sampled", confidence=0.95)
    (found,) = contradictions([attack, bound])
    assert found.refuted == ("the prior is right",)
    assert found.grade == "sampled"
    assert str(found) == (
        "Refuted: that the prior is right (share: at least 90% by the attack `copy`, but at most "
        "50% by a theorem)."
    )
    bare = Finding("share", "a theorem", high=0.5)
    (found,) = contradictions([attack, bare])
    assert "false alarm (chance at most 0.05) or an error" in str(found)


def test_the_widest_gap_comes_first() -> None:
    """The gap counts, not where it lies: .3 to .2 is narrower than .5 to .1, and than .95 to .6."""
    pairs = [(0.3, 0.2), (0.5, 0.1), (0.95, 0.6)]
    findings = [
        Finding(f"share {i}", "x", low=low, high=high) for i, (low, high) in enumerate(pairs)
    ]
    both = [
        Finding(f.quantity, side, low=f.low if side == "a" else None,
                high=f.high if side == "b" else None)
        for f in findings
        for side in "ab"
    ]  # fmt: skip
    assert [c.quantity for c in contradictions(both)] == ["share 1", "share 2", "share 0"]


def test_rounding_is_no_contradiction() -> None:
    def pair(gap: float) -> list[Finding]:
        return [Finding("x", "a", low=0.5 + gap), Finding("x", "b", high=0.5)]

    assert not contradictions(pair(0.9e-9))
    assert len(contradictions(pair(1.1e-9))) == 1


def test_two_proofs_that_contradict_each_other_are_an_error() -> None:
    (found,) = contradictions([Finding("x", "a", low=0.9), Finding("x", "b", high=0.5)])
    assert "Two numbers contradict each other, an error in this software (x: " in str(found)
    assert "false alarm" not in str(found)
    assert found.grade == "proved"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"low": 0.25}, "PROVED: share at least 0.25, by a theorem"),
        ({"high": 0.5}, "PROVED: share at most 0.5, by a theorem"),
        ({"low": 0.25, "high": 0.5}, "PROVED: share at least 0.25 and at most 0.5, by a theorem"),
        (
            {"high": 0.5, "assumptions": ("a holds", "b holds")},
            "PROVED IF: share at most 0.5, by a theorem\n  if a holds\n  if b holds",
        ),
    ],
)
def test_a_finding_says_its_limits_and_what_it_assumes(limits: dict, text: str) -> None:
    assert str(Finding("share", "a theorem", **limits)) == text
