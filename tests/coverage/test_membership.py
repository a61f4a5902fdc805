"""Membership by shadow models: refutations and limits hold where folds share models.

Beside each stands what is usually done, on the same runs, to see that it does not hold: the runs
can tell. Every test's false-alarm rate is 1e-6, by binomial quantiles.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import clopper_pearson
from narcissus.membership import (
    attack_scores,
    audit_membership,
    coin_design,
    rates_across_models,
    shadow_scores,
)

pytestmark = pytest.mark.coverage_claim

ALPHA = 0.1
FALSE_ALARM = 1e-6
RUNS = pytest.mark.repeats(40, 5000, "runs")


def allowed(runs, level=ALPHA):
    return stats.binom.isf(FALSE_ALARM, runs, level)


def silent(models, records, rng, shift=0.0, prior=0.5, number=None):
    """Scores that no membership has changed; each model may have a level of its own.

    Records are put into models by coins, or dealt into a fixed ``number`` of them.
    """
    members = rng.random((models, records)) < prior
    if number is not None:
        members = rng.permuted(np.arange(models)[:, None] < number + np.zeros(records), axis=0)
    scores = rng.normal(size=records) + rng.normal(size=(models, records))
    scores += shift * rng.normal(size=(models, 1))
    return shadow_scores(scores, members, np.full(records, prior))


@pytest.mark.parametrize(
    ("asked", "drawn", "runs"),
    [
        ({"targets": 3}, {}, 40),
        ({"folds": 4}, {}, 40),
        *(
            pytest.param(asked, drawn, 2000, marks=pytest.mark.nightly)
            for asked, drawn in (
                ({"targets": 3}, {}),
                ({"folds": 4}, {}),
                ({"folds": 8}, {}),
                ({"targets": 3}, {"prior": 0.3}),
                ({}, {"number": 4}),
                ({"folds": 3}, {"number": 4}),
            )
        ),
    ],
    ids=str,
)
def test_silent_models_are_refuted_as_seldom_as_promised(runs, drawn, asked):
    refuted = 0
    for seed in range(runs):
        data = silent(8, 40, np.random.default_rng(seed), shift=1.0, **drawn)
        found = audit_membership(
            data, attack="lira-fixed", confidence=1 - ALPHA, delta=1e-6, rng=seed, **asked
        )
        refuted += found.epsilon > 0
        assert (found.p_value <= ALPHA) >= (found.epsilon > 0)
    assert refuted <= allowed(runs)


def test_guesses_of_a_jackknife_counted_together_refute_silent_models():
    """One-sided at .01, as if all guesses were independent: many times too often.

    LiRA looks at the coins of the other models, and all models say of a record what its coins
    happened to say: their guesses are right or wrong together.
    """
    runs, models, records, level = 400, 24, 40, 0.01
    refuted = 0
    for seed in range(runs):
        data = silent(models, records, np.random.default_rng(seed))
        right = guesses = 0
        for one in range(models):
            rest = data.of([m for m in range(models) if m != one])
            found = attack_scores("lira-fixed", data.scores[[one]], rest)[0]
            guessed = found != 0
            right += int(((found > 0) == data.members[one])[guessed].sum())
            guesses += int(guessed.sum())
        refuted += stats.binom.sf(right - 1, guesses, 0.5) <= level
    assert refuted > allowed(runs, level) + 5


@pytest.mark.nightly
def test_a_guarantee_that_holds_is_refuted_as_seldom_as_promised():
    """Each coin is told rightly with e / (1 + e): epsilon is 1, and no more than that is said."""
    runs, beyond, found_any = 400, 0, 0
    kept = np.e / (1 + np.e)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        members = rng.random((4, 300)) < 0.5
        scores = np.where(rng.random(members.shape) < kept, members, ~members)
        found = audit_membership(
            shadow_scores(scores, members),
            attack="score",
            targets=2,
            confidence=1 - ALPHA,
            delta=1e-4,
            rng=seed,
        )
        beyond += found.epsilon > 1
        found_any += found.epsilon > 0.3
    assert beyond <= allowed(runs)
    assert found_any > runs / 2


@RUNS
def test_rates_over_models_hold_where_a_model_moves_all_its_scores(runs):
    """And pooled binomial limits do not: a target is one trial, its 60 records are not sixty."""
    missed = naive = 0
    threshold, truth = 1.0, stats.norm.sf(1.0 / np.sqrt(2))
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        members = rng.random((20, 60)) < 0.5
        scores = rng.normal(size=(20, 1)) + rng.normal(size=(20, 60))
        scores[:4] = np.where(rng.random((4, 60)) < 0.5, 0.0, threshold)  # fix the threshold
        data = shadow_scores(scores, members)
        (rate,) = rates_across_models(
            data,
            range(4, 20),
            coin_design(data),
            attack="score",
            rates=(0.1,),
            confidence=1 - ALPHA,
        )
        assert rate.threshold == threshold
        missed += not rate.true_positives.low <= truth <= rate.true_positives.high
        inside = members[4:]
        pooled = clopper_pearson(
            int((scores[4:] > threshold)[inside].sum()), int(inside.sum()), confidence=1 - ALPHA
        )
        naive += not pooled.low <= truth <= pooled.high
    assert missed <= allowed(runs)
    assert naive > allowed(runs) + 0.1 * runs
