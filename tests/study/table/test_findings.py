"""What a record states, ready to be compared: quantities, sides, grades, levels."""

import pytest

from narcissus.evidence import clopper_pearson
from narcissus.findings import contradictions
from narcissus.study.results.table import CountBound, SettingNumbers, ShareBound
from narcissus.study.results.table_attacks import (
    AttackResult,
    DecoyResult,
    GroupAttack,
    GroupResult,
    GuessResult,
    HitCounts,
    PriorTest,
)
from narcissus.study.table.findings import findings_of

GIVEN = ("the prior is right",)
SAME = {
    "theorem": "T 1", "guarantee": "g", "grade": "proved if", "for_comparison": False,
    "assumptions": (), "takes_as_given": GIVEN,
}  # fmt: skip
TEST = {"by_the_prior": 0.4, "confidence": 0.99, "off": 0.05, "off_low": 0.02, "off_high": 0.1}


def share(most=0.5, whole=0.6, theorem="T 1"):
    return ShareBound(
        **{**SAME, "theorem": theorem}, limits="share", name="mean share", share_at_most=most,
        share_of_population=whole,
    )  # fmt: skip


def count(most=2, whole=3, theorem="T 2", confidence=0.9):
    return CountBound(
        **{**SAME, "theorem": theorem}, limits="count", name="domination", confidence=confidence,
        at_most=most, of=5, at_most_of_population=whole,
    )  # fmt: skip


def attack(
    low_joint=0.3, decoy=None, counts=((1, 3, 4, 5), (4, 3, 2, 1)), low=0.2, high=0.7, gain=None
):
    return AttackResult.model_construct(
        share=0.5, low=low, high=high, low_joint=low_joint, decoy=decoy, trials=10,
        gain_low_joint=gain,
        distribution=HitCounts(targets=counts[0], trials=counts[1]),
    )  # fmt: skip


def numbers(**changes):
    none = {"attacks": {}, "ceiling": None, "bounds": (), "groups": ()}
    guess = GuessResult(share=0.4, low=0.3, high=0.5, by_the_prior=None)
    return SettingNumbers.model_construct(
        **{**none, "label": "ε = 1", "confidence": 0.95, "guess": guess, **changes}
    )


def told(found):
    """Give each finding without the words of its quantity beyond what tells it from others."""
    return {
        (one.quantity.replace(" at ε = 1", ""), one.source): (
            one.low, one.high, one.kind, one.assumptions, one.confidence
        )
        for one in found
    }  # fmt: skip


def test_nothing_measured_and_nothing_proved_states_nothing():
    assert findings_of(numbers(), GIVEN, 0.99) == []


def test_the_mean_share_is_limited_from_both_sides():
    """A bound of the people played is proved; of all people it is sampled, at the study's level."""
    found = findings_of(
        numbers(
            bounds=(share(0.5, 0.6), share(0.7, None, "T 3"), count(whole=None)),
            ceiling=attack(low=0.35, high=0.55),
            attacks={"a": attack(low_joint=0.3), "b": attack(low_joint=None)},
        ),
        GIVEN,
        0.99,
    )
    quantity = "mean share recovered"
    assert told(found) == {
        (f"{quantity}, of the people played", "the bound T 1"): (None, 0.5, "proved", GIVEN, None),
        (quantity, "the bound T 1"): (None, 0.6, "sampled", GIVEN, 0.95),
        (quantity, "the ceiling"): (0.35, 0.55, "sampled", GIVEN, 0.95),
        (quantity, "the attack `a`"): (0.3, None, "sampled", (), 0.99),
        (quantity, "the attack `b`"): (None, None, "sampled", (), 0.99),
    }
    assert all("ε = 1" in one.quantity for one in found)


@pytest.mark.parametrize(("low", "refuted"), [(0.61, GIVEN), (0.59, None)])
def test_an_attack_above_what_is_proved_refutes_what_it_takes_as_given(low, refuted):
    found = findings_of(
        numbers(bounds=(share(0.5, 0.6),), attacks={"a": attack(low_joint=low)}), GIVEN, 0.99
    )
    clashes = contradictions(found)
    assert [one.refuted for one in clashes] == ([refuted] if refuted else [])


@pytest.mark.parametrize(("low", "refuted"), [(0.21, GIVEN), (0.19, None)])
def test_a_release_that_adds_more_than_was_declared_refutes_the_word(low, refuted):
    """The share is no more than is proved: where most is guessed, only the gain tells."""
    attacks = {"a": attack(gain=low), "b": attack(gain=None)}
    found = findings_of(numbers(bounds=(share(0.5, 0.6),), attacks=attacks), GIVEN, 0.99, 0.2)
    gains = {key: value for key, value in told(found).items() if "gain" in key[0]}
    quantity = "mean gain over fresh people"
    assert gains == {
        (quantity, "the total variation that was declared"): (None, 0.2, "sampled", GIVEN, 0.95),
        (quantity, "the attack `a`"): (low, None, "sampled", (), 0.99),
        (quantity, "the attack `b`"): (None, None, "sampled", (), 0.99),
    }
    assert [one.refuted for one in contradictions(found)] == ([refuted] if refuted else [])


def test_what_guesses_score_without_the_release_tests_the_prior():
    """By the prior it is .4; on the real people between .02 and .1 more."""
    decoy = DecoyResult(share=0.45, low=0.4, high=0.5, **TEST)
    guess = GuessResult(share=0.4, low=0.3, high=0.5, by_the_prior=PriorTest(**TEST))
    found = findings_of(
        numbers(attacks={"a": attack(decoy=decoy), "b": attack()}, guess=guess), GIVEN, 0.98
    )
    without = {key: value for key, value in told(found).items() if "without the release" in key[0]}
    for who in ("the attack `a`", "the best guess"):
        quantity = f"what {who} scores without the release"
        said = without.pop((quantity, "the prior"))
        assert said == (0.4, 0.4, "proved", GIVEN, None)
        low, high, *rest = without.pop((quantity, "the real people"))
        assert (low, high) == pytest.approx((0.42, 0.5))
        assert rest == ["sampled", (), 0.99]
    assert not without
    clashes = contradictions(found)
    assert len(clashes) == 2
    assert all(one.refuted == GIVEN for one in clashes)


def test_counts_are_compared_by_how_often_they_are_passed():
    """More than 3 in 3 of 10 trials, where at most one in ten is proved."""
    found = findings_of(
        numbers(bounds=(count(2, 3), count(2, None)), attacks={"a": attack()}), GIVEN, 0.98
    )
    quantity = "chance that more than 3 targets fall"
    limits = told(found)
    bound = limits[quantity, "the bound T 2"]
    assert bound == (None, pytest.approx(0.1), "sampled", GIVEN, 0.95)
    low = clopper_pearson(3, 10, confidence=0.98).low
    assert limits[quantity, "the attack `a`"] == (low, None, "sampled", (), 0.98)
    assert sum("targets fall" in one for one, _ in limits) == 2


def test_groups_are_held_against_the_ceiling_where_anybody_can_tell_their_members():
    member = GroupAttack(
        share=0.5, low=0.4, high=0.6, baseline=0.3, over_guess=0.1, over_guess_low=0.0, people=9
    )

    def group(label, by_secret, ceiling):
        return GroupResult.model_construct(
            by="sex", group=label, by_secret=by_secret, attacks={"a": member}, ceiling=ceiling
        )

    above = member.model_copy(update={"high": 0.35})
    groups = (
        group("m", False, above), group("f", True, above), group("x", None, above),
        group("y", False, None),
    )  # fmt: skip
    found = findings_of(numbers(groups=groups), GIVEN, 0.98)
    quantity = "mean share recovered of the group sex: m"
    assert told(found) == {
        (quantity, "the ceiling"): (None, 0.35, "sampled", GIVEN, 0.95),
        (quantity, "the attack `a`"): (0.4, None, "sampled", (), 0.95),
    }
    assert len(contradictions(found)) == 1
