"""Membership: scores tell what a model learnt, and false alarms are as few as is said."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.extraction.membership import membership_scores, told_apart, told_at
from narcissus.extraction.ngram import CharacterNgram


def test_every_score_is_larger_for_documents_that_were_learnt():
    rng = np.random.default_rng(4)
    texts = ["".join(rng.choice(list("ABcdefgh "), 60)) for _ in range(40)]
    trained, fresh, others = texts[:15], texts[15:30], texts[30:]
    model, reference = CharacterNgram(trained, order=5), CharacterNgram(others, order=5)
    for side in (None, reference):
        learnt, new = (membership_scores(model, part, side) for part in (trained, fresh))
        assert len(learnt) == 3 + (side is not None)
        for name in learnt:
            assert learnt[name].min() > new[name].max(), name
    same = membership_scores(model, trained, model)["reference"]
    assert same == pytest.approx(np.zeros(15))


def test_thresholds_need_enough_fresh_documents():
    few = told_at(np.ones(5), np.zeros(28), 0.1)
    assert (few.told, few.threshold, few.needed) == (None, None, 29)
    enough = told_at(np.ones(5), np.zeros(29), 0.1)
    assert (enough.told, enough.threshold) == (1.0, 0.0)
    assert told_at(np.zeros(5), np.zeros(29), 0.1).told == 0  # a tie is no evidence


@pytest.mark.coverage_claim
@pytest.mark.parametrize(("fresh", "rate"), [(40, 0.1), (100, 0.05), (300, 0.2)])
def test_false_alarms_are_no_more_than_said(fresh, rate):
    """At level 95%, at a declared false-alarm rate of 1e-6."""
    rng = np.random.default_rng(fresh)
    runs = 3000
    found = [told_at(np.zeros(1), rng.random(fresh), rate) for _ in range(runs)]
    over = sum(1 - one.threshold > rate for one in found)
    assert over <= stats.binom.isf(1e-6, runs, 0.05)


def test_the_area_is_the_share_of_pairs():
    trained, fresh = np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 5.0, 2.5])
    pairs = [(a > b) + (a == b) / 2 for a in trained for b in fresh]
    assert told_apart(trained, fresh).value == pytest.approx(np.mean(pairs))
    with pytest.raises(InputError, match="at least one"):
        told_apart(trained, np.zeros(0))
