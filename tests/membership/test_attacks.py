"""The attacks by name: all tell more than guessing where there is something to tell."""

import numpy as np
import pytest
from scipy import special, stats

from narcissus.errors import InputError
from narcissus.membership import ATTACKS, attack_scores, lira, rmia, shadow_scores


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_tells_members_apart(drawn, name):
    data = drawn(24, 300, leak=2.0, seed=1)
    data = shadow_scores(special.expit(data.scores), data.members)
    found = attack_scores(name, data.scores[:1], data.of(range(1, 24)))[0]
    inside = data.members[0]
    assert np.mean(found[inside][:, None] > found[~inside]) > 0.7


def test_the_scores_themselves(drawn):
    data = drawn(9, 50)
    assert (attack_scores("score", data.scores[8:], data.of(range(8))) == data.scores[8:]).all()


def test_a_name_that_is_not_known(drawn):
    data = drawn(3, 5)
    with pytest.raises(InputError, match="did you mean `lira`"):
        attack_scores("lyra", data.scores[:1], data.of([1, 2]))


def by_hand(target, shadows, *, offline, fixed):
    """Write Algorithm 1 out, one record at a time."""
    scores, inside = shadows.scores, shadows.members
    groups = {
        one: [scores[inside[:, i] == one, i] for i in range(scores.shape[1])]
        for one in (False, True)
    }

    def deviation(one, i):
        if not fixed:
            return np.std(groups[one][i], ddof=1)
        left = sum(((g - g.mean()) ** 2).sum() for g in groups[one])
        return np.sqrt(left / sum(len(g) - 1 for g in groups[one]))

    found = []
    for i, score in enumerate(target):
        law = {one: stats.norm(groups[one][i].mean(), deviation(one, i)) for one in groups}
        if offline:
            found.append(stats.norm.ppf(1 - law[False].sf(score)))
        else:
            found.append(law[True].logpdf(score) - law[False].logpdf(score))
    return np.array(found)


@pytest.mark.parametrize("offline", [False, True])
@pytest.mark.parametrize("fixed", [False, True])
def test_the_published_algorithm(drawn, offline, fixed):
    data = drawn(24, 40, leak=1.0, seed=3)
    shadows = data.of(range(22))
    found = lira(
        data.scores[22:], shadows, offline=offline, variance="fixed" if fixed else "per-record"
    )
    for row, target in zip(found, data.scores[22:], strict=True):
        assert row == pytest.approx(by_hand(target, shadows, offline=offline, fixed=fixed))


def test_with_many_shadows_it_is_the_exact_likelihood_ratio():
    """Scores N(1, 1) with and N(0, 4) without: the log ratio is known in closed form."""
    rng = np.random.default_rng(5)
    members = rng.random((20_000, 3)) < 0.5
    scores = np.where(members, rng.normal(1, 1, members.shape), rng.normal(0, 2, members.shape))
    targets = np.array([[-2.0, 0.5, 3.0]])
    exact = stats.norm(1, 1).logpdf(targets) - stats.norm(0, 2).logpdf(targets)
    for variance in ("per-record", "fixed"):
        found = lira(targets, shadow_scores(scores, members), variance=variance)
        assert found == pytest.approx(exact, abs=0.1)
    assert lira(targets, shadow_scores(scores, members), offline=True) == pytest.approx(
        targets / 2, abs=0.05
    )


def test_too_few_shadows_are_no_evidence():
    shadows = shadow_scores([[1.0, 2, 3], [2, 3, 5]], [[0, 1, 1], [1, 1, 0]])
    assert lira(np.ones((1, 3)), shadows).tolist() == [[0, 0, 0]]
    assert lira(np.ones((1, 3)), shadows, offline=True).tolist() == [[0, 0, 0]]


def test_shadows_that_all_agree_do_not_divide_by_zero():
    shadows = shadow_scores(np.ones((4, 2)), [[0, 1], [0, 1], [1, 0], [1, 0]])
    assert np.isfinite(lira(np.array([[1.0, 2.0]]), shadows)).all()


def test_another_variance_is_refused(drawn):
    with pytest.raises(InputError, match="did you mean"):
        lira(np.zeros((1, 3)), drawn(4, 3), variance="fixd")


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    members = rng.random((12, 60)) < 0.5
    members[:, 40:] = False
    scores = 1 / (1 + np.exp(-rng.normal(size=(12, 60)) - members))
    return shadow_scores(scores, members, np.repeat([0.5, 0.0], [40, 20]))


def rmia_by_hand(target, shadows, others, *, offline, gamma, a):
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
        by = rmia_by_hand(target, shadows, range(40, 60), offline=offline, gamma=gamma, a=a)
        assert row == pytest.approx(by)


@pytest.mark.parametrize("gamma", [0.7, 1.0, 2.0])
def test_without_outsiders_all_other_records_are_compared(data, gamma):
    data = shadow_scores(data.scores[:, :40], data.members[:, :40])
    shadows = data.of(range(10))
    found = rmia(data.scores[10:11], shadows, gamma=gamma)[0]
    by = rmia_by_hand(data.scores[10], shadows, range(40), offline=False, gamma=gamma, a=0.3)
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
