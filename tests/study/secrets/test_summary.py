"""From what was named to limits, bounds and what is refuted: each against its own source."""

import numpy as np
import pytest

import narcissus
from narcissus.bounds import optimum
from narcissus.evidence import clopper_pearson
from narcissus.evidence.refutation import refuted_by_runs
from narcissus.game.loop import BlockScores
from narcissus.guarantees import GaussianDP
from narcissus.study.secrets.kind import settings_of, summarised
from narcissus.study.secrets.schema import SecretThreshold
from narcissus.success.statements import Scores


def blocks(hits, models=600, *, failed=0):
    won = np.arange(models) < hits
    scores = Scores(won, np.full(models, 0.25), 0, np.zeros(models), np.ones(models, dtype=bool))
    return [BlockScores(scores, failed, [])]


@pytest.fixture
def judged(study):
    """Give the results where each attack named so many, at epsilon 1 and at 8."""
    settings = narcissus.load_study(study()).settings
    made = settings_of(settings)

    def judge(first, second, threshold=None):
        scored = [
            {name: blocks(hits) for name, hits in zip(("argmax", "posterior"), one, strict=True)}
            for one in (first, second)
        ]
        return summarised(settings, made, scored, threshold)

    return judge


def test_limits_hold_for_all_attacks_and_settings_at_once(judged):
    results = judged((250, 260), (350, 310))
    assert (results.claims, results.models) == (4, 600)
    assert results.claim_confidence == pytest.approx(1 - 0.05 / 4)
    one = results.settings[1].attacks[0]
    limits = clopper_pearson(350, 600, confidence=1 - 0.05 / 4)
    assert (one.success.low, one.success.high) == (limits.low, limits.high)
    assert one.baseline == pytest.approx(0.25)
    prior = np.arange(1, 5.0) ** -1.1
    refuted = refuted_by_runs(prior / prior.sum(), 600, 350, delta=1e-5, confidence=1 - 0.05 / 8)
    assert refuted.epsilon > 0
    assert (one.refuted_epsilon, one.refuted_mu) == (refuted.epsilon, refuted.mu)


def test_the_bound_is_that_of_the_mu_that_holds(judged):
    one = judged((250, 260), (300, 310)).settings[0]
    training, prior = one.training, np.arange(1, 5.0) ** -1.1
    assert training.mu == pytest.approx(training.accounted_mu / np.sqrt(2))
    assert training.kept_epsilon < training.epsilon
    assert float(GaussianDP(training.mu).profile(training.kept_epsilon)) == pytest.approx(1e-5)
    assert one.bound.value == optimum(prior / prior.sum(), GaussianDP(training.mu))[0]
    assert one.bound.id == "one-target-optimum"
    assert one.guess == pytest.approx(1 / prior.sum())


def test_verdicts_follow_from_the_worse_end(judged):
    free = judged((250, 260), (300, 310))
    first, second = (one.bound.value for one in free.settings)
    assert {one.status for one in free.settings} == {"no threshold"}
    met = judged((250, 260), (300, 310), SecretThreshold(success=min(1.0, second + 1e-6)))
    assert [one.status for one in met.settings] == ["met", "met"]
    assert {one.grade for one in met.settings} == {"proved"}
    some = judged((250, 260), (300, 400), SecretThreshold(success=(first + second) / 2))
    assert some.settings[0].status == "met"
    assert some.settings[1].status in ("too few trials", "exceeded")
    low = judged((250, 260), (250, 260), SecretThreshold(success=0.5))
    assert low.settings[1].status == "inconclusive"
    near = judged((250, 260), (250, 305), SecretThreshold(success=0.5))
    assert near.settings[1].status == "too few trials"
    at = judged((250, 260), (250, 260), SecretThreshold(success=0.5, at=1.0))
    assert [one.decides for one in at.settings] == [True, False]
    assert at.headline.label == at.settings[0].label


def test_an_attack_beyond_the_bound_is_a_contradiction(judged):
    results = judged((590, 260), (300, 310))
    one = results.settings[0]
    assert one.status == "contradicted"
    assert "attack `argmax`" in one.contradictions[0]
    assert one.contradictions[0] in one.verdict
    assert judged((590, 260), (300, 310), SecretThreshold(success=0.9)).settings[0].status == (
        "exceeded"
    )


def test_failures_are_counted(study):
    settings = narcissus.load_study(study(mechanism={"epsilon": 1.0})).settings
    scored = [{"argmax": blocks(10, failed=3), "posterior": blocks(20)}]
    results = summarised(settings, settings_of(settings), scored, None)
    assert [one.failed for one in results.settings[0].attacks] == [3, 0]
