"""The whole audit: who is a target, what counts, what each design of coins allows."""

from dataclasses import replace

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.evidence import refute_prior_scores, refute_scores
from narcissus.membership import (
    attack_scores,
    audit_membership,
    coin_design,
    rates_across_models,
    shadow_scores,
)
from narcissus.membership.audit import canaries_of


def test_leaking_models_are_refuted_and_others_are_not(drawn):
    leaking = audit_membership(drawn(16, 200, leak=3.0), rng=1)
    silent = audit_membership(drawn(16, 200), rng=1)
    assert leaking.epsilon > 1.5
    assert leaking.p_value < 1e-10
    assert leaking.rates[2].value > 0.5
    assert silent.epsilon == 0
    assert silent.p_value > 0.05
    assert leaking.grade == "sampled"
    assert {one.grade for one in leaking.rates} == {"approximate"}
    assert {one.grade for one in leaking.across} == {"sampled"}
    assert "REFUTED" in str(leaking)
    assert "NOTHING REFUTED" in str(silent)


def test_held_out_targets_are_one_audit(drawn):
    data = drawn(16, 60, leak=3.0)
    found = audit_membership(data, targets=5, rng=np.random.default_rng(3))
    canaries = found.canaries
    assert (found.targets, found.folds) == (5, 1)
    assert canaries.targets == (11, 12, 13, 14, 15)
    assert canaries.shadows == tuple(range(11))
    assert canaries.scores.size == 300
    again = refute_scores(canaries.scores, canaries.members, coins=True)
    assert found.refutations == (again,)
    assert (found.epsilon, found.mu, found.p_value) == (again.epsilon, again.mu, again.p_value)
    assert audit_membership(drawn(16, 20), rng=1).targets == 4


def test_the_targets_own_coins_are_not_looked_at(drawn):
    """Coins of the targets that fall otherwise change no score of a canary."""
    data = drawn(12, 100, leak=1.0, outsiders=20)
    other = data.members.copy()
    other[9:, :100] = ~other[9:, :100]
    changed = shadow_scores(data.scores, other, data.priors)
    design = coin_design(data)
    for attack in ("lira", "lira-offline-fixed", "score"):
        one = canaries_of(data, [9, 10, 11], design, attack=attack, rng=1)
        two = canaries_of(changed, [9, 10, 11], design, attack=attack, rng=1)
        assert (one.scores == two.scores).all()
        assert (one.members != two.members).all()
        assert (one.outside == two.outside).all()


def test_half_of_the_folds_must_refute(drawn):
    data = drawn(16, 25, leak=4.0)
    found = audit_membership(data, folds=5, attack="lira-fixed", rng=1)
    assert (found.targets, found.folds, len(found.refutations)) == (16, 5, 5)
    assert all(one.confidence == pytest.approx(1 - 0.05 * 3 / 5) for one in found.refutations)
    assert found.epsilon == sorted(one.epsilon for one in found.refutations)[2]
    assert found.p_value == pytest.approx(
        min(1, 5 / 3 * sorted(one.p_value for one in found.refutations)[2])
    )
    assert found.across == ()
    assert "every model was a shadow" in found.not_assessed[0].reason
    assert found.roc.grade == "approximate"


def test_the_jackknife_takes_every_model(drawn):
    found = audit_membership(drawn(8, 60, leak=1.0), folds=8, attack="lira-fixed", rng=1)
    assert found.targets == 8
    assert {one.canaries for one in found.refutations} == {60}


def test_unequal_coins(drawn):
    data = drawn(16, 300, leak=3.0, priors=np.linspace(0.2, 0.9, 300))
    found = audit_membership(data, rng=np.random.default_rng(4))
    canaries = found.canaries
    again = refute_prior_scores(canaries.scores, canaries.members, canaries.priors)
    assert found.epsilon == again.epsilon > 0.5
    assert canaries.priors[:300] == pytest.approx(np.linspace(0.2, 0.9, 300))


def test_pairs_of_opposites_give_one_target_each(drawn):
    half = drawn(8, 200, leak=3.0)
    rng = np.random.default_rng(1)
    members = np.concatenate([half.members, ~half.members])
    data = shadow_scores(rng.normal(size=members.shape) + 3 * members, members)
    found = audit_membership(data, rng=1)
    assert found.coins == "pairs of opposites"
    assert found.canaries.targets == (14, 15)
    assert set(found.canaries.shadows) == set(range(14)) - {6, 7}
    assert found.epsilon > 1
    with pytest.raises(InputError, match="at most 8"):
        audit_membership(data, folds=9)


def test_a_mirrored_model_is_no_shadow_of_the_threshold(drawn, monkeypatch):
    """Each shadow is attacked by the others, never by the one that holds what it lacks."""
    half = drawn(6, 80, leak=2.0)
    members = np.concatenate([half.members, ~half.members])
    rng = np.random.default_rng(1)
    data = shadow_scores(rng.normal(size=members.shape) + 2 * members, members)
    asked = []

    def noted(attack, scores, shadows):
        asked.append((scores, shadows.members))
        return attack_scores(attack, scores, shadows)

    monkeypatch.setattr("narcissus.membership.audit.attack_scores", noted)
    rates_across_models(data, [10, 11], coin_design(data), attack="lira", rates=(0.1,))
    assert len(asked) == 9  # eight shadows in four pairs, then the targets
    for scores, shadows in asked[:-1]:
        own = data.members[[int(np.flatnonzero((data.scores == scores[0]).all(axis=1))[0])]]
        assert len(shadows) == 6
        assert not (shadows == ~own).all(axis=1).any()
        assert not (shadows == own).all(axis=1).any()


def test_dealt_records_give_one_target_and_the_chances_left():
    """A score that only counts the shadows' members tells nothing that the priors do not say."""
    rng = np.random.default_rng(1)
    members = rng.permuted(np.arange(12)[:, None] < 6 + np.zeros(2000), axis=0)
    data = shadow_scores(rng.normal(size=members.shape), members)
    found = audit_membership(data, rng=1)
    assert found.coins == "fixed number"
    assert found.canaries.targets == (11,)
    assert found.canaries.shadows == (0, 2, 4, 6, 8, 10)
    told = -members[[0, 2, 4, 6, 8, 10]].sum(axis=0)
    inside = members[11]
    naive = refute_scores(told, inside, coins=True)
    chances = coin_design(data).chances(data, found.canaries.shadows)
    open_ = (chances > 0) & (chances < 1)
    right = refute_prior_scores(told[open_], inside[open_], chances[open_])
    assert naive.epsilon > 0.3
    assert right.epsilon == 0
    with pytest.raises(InputError, match="use `folds`"):
        audit_membership(data, targets=2)
    assert audit_membership(data, folds=3, rng=1).targets == 3


def test_scores_on_outsiders_limit_the_false_positives(drawn):
    """Only for an attack that looks at no shadows: to others they are records of another kind."""
    data = drawn(8, 60, leak=1.0, outsiders=300)
    own = audit_membership(data, attack="score", rng=1)
    assert own.roc.grade == "sampled"
    assert (own.roc.outside, own.roc.inside) == (300, own.canaries.members.sum())
    assert (own.roc.tpr_low == own.roc.tpr_high).all()
    assert audit_membership(data, attack="lira", rng=1).roc.grade == "approximate"
    assert audit_membership(data, attack="score", folds=2, rng=1).roc.grade == "approximate"


def test_to_dict_is_plain(drawn):
    found = audit_membership(drawn(8, 60), rng=1).to_dict()
    assert found["grade"] == "sampled"
    assert not {"roc", "canaries"} & set(found)
    assert [one["grade"] for one in found["rates"]] == ["approximate"] * 3


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"targets": 8}, "at most 7, got 8"),
        ({"targets": 0}, "at least 1"),
        ({"folds": 9}, "at most 8"),
        ({"folds": 2, "targets": 2}, "goes with one fold"),
        ({"attack": "lra"}, "did you mean `lira`"),
        ({"confidence": 1.0}, "confidence"),
        ({"rates": (1.5,)}, "fpr"),
        ({"attack": "rmia"}, "scale"),
    ],
)
def test_one_error_for_each_mistake(drawn, asked, said):
    with pytest.raises(InputError, match=said):
        audit_membership(drawn(8, 60), rng=1, **asked)


def test_rates_and_limits(drawn):
    data = drawn(40, 400, leak=2.0, seed=2)
    targets = list(range(20, 40))
    found = rates_across_models(
        data, targets, coin_design(data), attack="lira-fixed", rates=(0.01, 0.1)
    )
    for one, aimed in zip(found, (0.01, 0.1), strict=True):
        assert one.grade == "sampled"
        assert one.false_positives.value == pytest.approx(aimed, rel=0.5)
        assert one.true_positives.value > 4 * one.false_positives.value
        assert one.true_positives.trials == 20
        assert one.true_positives.confidence == pytest.approx(1 - 0.05 / 4)
        assert one.true_positives.low <= one.true_positives.value <= one.true_positives.high


def test_thresholds_do_not_look_at_the_targets(drawn):
    data = drawn(20, 200, leak=2.0, seed=2)
    design = coin_design(data)
    before = rates_across_models(data, [18, 19], design)
    louder = data.scores.copy()
    louder[18:] *= 100
    after = rates_across_models(replace(data, scores=louder), [18, 19], design)
    assert [one.threshold for one in before] == [one.threshold for one in after]
    assert before != after


def test_the_threshold_has_at_most_the_rate_aimed_at_on_the_shadows(drawn):
    """By the scores themselves: every shadow's others together."""
    data = drawn(6, 100, seed=3)
    found = rates_across_models(data, [4, 5], coin_design(data), attack="score", rates=(0.02, 0.5))
    others = data.scores[:4][~data.members[:4]]
    for one in found:
        called = (others > one.threshold).sum()
        assert called == np.floor(one.aimed * others.size)


def test_a_rate_of_one_calls_everybody_in(drawn):
    data = drawn(6, 100, seed=3)
    (one,) = rates_across_models(data, [4, 5], coin_design(data), rates=(1.0,))
    assert one.threshold == -np.inf
    assert one.true_positives.value == 1


def test_a_score_at_the_threshold_is_not_called_in(drawn):
    """Where many scores are equal, calling them in would exceed the rate that was aimed at."""
    data = drawn(6, 100, seed=3)
    design = coin_design(data)
    (one,) = rates_across_models(data, [4, 5], design, attack="score", rates=(0.1,))
    scores = data.scores.copy()
    scores[4:] = one.threshold
    equal = replace(data, scores=scores)
    (other,) = rates_across_models(equal, [4, 5], design, attack="score", rates=(0.1,))
    assert other.false_positives.value == other.true_positives.value == 0
