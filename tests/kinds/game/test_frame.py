"""The frame and the headline of a game."""

import pytest

import narcissus
from narcissus.study.shipped import shipped_study

from .conftest import case_of


@pytest.fixture(scope="module")
def audit():
    return narcissus.run(narcissus.load_study(shipped_study("counting-query-uncut").path), rng=1)


def test_the_frame_holds_attackers_and_the_exact_profile(audit):
    frame = audit.to_frame()
    [one] = case_of(audit).attackers
    success = frame[(frame["quantity"] == "success") & (frame["name"] == one.name)].iloc[0]
    found = one.success
    assert success["value"] == found.value
    assert (success["low"], success["high"]) == (found.low, found.high)
    assert success["baseline"] == one.fresh.value
    assert (success["grade"], success["trials"]) == ("sampled", found.trials)
    profile = frame[frame["quantity"] == "delta"]
    points = case_of(audit).exact.profile
    assert profile["epsilon"].tolist() == [point.epsilon for point in points]
    assert profile["value"].tolist() == [point.delta for point in points]
    assert set(profile["grade"]) == {"proved"}


def test_a_delta_that_rounding_may_have_lost_is_no_proved_zero():
    study = narcissus.load_study(shipped_study("singling-out-exact").path)
    frame = narcissus.run(study, rng=1).to_frame()
    profile = frame[frame["quantity"] == "delta"]
    assert (profile["value"] == 0).any()
    assert (profile["high"] > 0).all()


def test_the_headline_names_outcome_attack_and_baseline(audit):
    assert repr(audit).startswith("Audit(game: exceeded, proved; of 100 attempts without ")
