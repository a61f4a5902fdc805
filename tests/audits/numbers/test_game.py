"""The frame and the headline of a game."""

import pytest

import narcissus
from narcissus.study.shipped import shipped_study


@pytest.fixture(scope="module")
def audit():
    return narcissus.run(narcissus.load_study(shipped_study("counting-query-uncut").path), rng=1)


def test_the_frame_holds_attackers_and_the_exact_profile(audit):
    frame, results = audit.to_frame(), audit.results
    [one] = results["attackers"]
    success = frame[(frame["quantity"] == "success") & (frame["name"] == one["name"])].iloc[0]
    assert success["value"] == one["success"]["value"]
    assert (success["low"], success["high"]) == (one["success"]["low"], one["success"]["high"])
    assert success["baseline"] == one["baseline"]["value"]
    assert (success["grade"], success["trials"]) == ("sampled", one["success"]["trials"])
    profile = frame[frame["quantity"] == "delta"]
    assert profile["epsilon"].tolist() == results["exact"]["epsilon"]
    assert profile["value"].tolist() == results["exact"]["delta"]
    assert set(profile["grade"]) == {"proved"}


def test_a_delta_that_rounding_may_have_lost_is_no_proved_zero():
    study = narcissus.load_study(shipped_study("singling-out-exact").path)
    frame = narcissus.run(study, rng=1).to_frame()
    profile = frame[frame["quantity"] == "delta"]
    assert (profile["value"] == 0).any()
    assert (profile["high"] > 0).all()


def test_the_headline_names_outcome_attack_and_baseline(audit):
    [one] = audit.results["attackers"]
    assert repr(audit).startswith(
        f"Audit(game: exceeded, proved; violates, proved, {one['name']} succeeds in 0.2%, against "
        "fresh data in 0.041%"
    )
