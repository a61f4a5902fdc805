"""RMIA against the formula, term by term."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.membership import rmia, shadow_scores


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    members = rng.random((12, 60)) < 0.5
    members[:, 40:] = False
    scores = 1 / (1 + np.exp(-rng.normal(size=(12, 60)) - members))
    return shadow_scores(scores, members, np.repeat([0.5, 0.0], [40, 20]))


def by_hand(target, shadows, others, *, offline, gamma, a):
    def ratio(i):
        out = shadows.scores[~shadows.members[:, i], i].mean()
        if shadows.priors[i] == 0:
            expected = out
        elif offline:
            expected = 0.5 * ((1 + a) * out + (1 - a))
        else:
            expected = 0.5 * (out + shadows.scores[shadows.members[:, i], i].mean())
        return target[i] / expected

    return [
        np.mean([ratio(x) / ratio(z) >= gamma for z in others if z != x])
        for x in range(target.size)
    ]


@pytest.mark.parametrize("offline", [False, True])
@pytest.mark.parametrize(("gamma", "a"), [(2.0, 0.3), (1.0, 0.5), (0.7, 0.0)])
def test_the_published_formula(data, offline, gamma, a):
    shadows = data.of(range(10))
    found = rmia(data.scores[10:], shadows, offline=offline, gamma=gamma, a=a)
    for row, target in zip(found, data.scores[10:], strict=True):
        by = by_hand(target, shadows, range(40, 60), offline=offline, gamma=gamma, a=a)
        assert row == pytest.approx(by)


@pytest.mark.parametrize("gamma", [0.7, 1.0, 2.0])
def test_without_outsiders_all_other_records_are_compared(data, gamma):
    data = shadow_scores(data.scores[:, :40], data.members[:, :40])
    shadows = data.of(range(10))
    found = rmia(data.scores[10:11], shadows, gamma=gamma)[0]
    by = by_hand(data.scores[10], shadows, range(40), offline=False, gamma=gamma, a=0.3)
    assert found == pytest.approx(by)


def test_a_record_with_shadows_of_one_kind_takes_what_there_is():
    shadows = shadow_scores([[0.5, 0.2], [0.3, 0.4]], [[1, 0], [1, 1]])
    assert np.isfinite(rmia(np.array([[0.9, 0.1]]), shadows)).all()
    assert np.isfinite(rmia(np.array([[0.9, 0.1]]), shadows, offline=True)).all()


def test_what_is_no_probability_is_refused(data, drawn):
    with pytest.raises(InputError, match="scale"):
        rmia(np.zeros((1, 3)), drawn(4, 3))
    with pytest.raises(InputError, match="gamma"):
        rmia(data.scores[10:], data.of(range(10)), gamma=0)
