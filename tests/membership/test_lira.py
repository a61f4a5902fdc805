"""LiRA against Gaussian densities, record by record, and against the best test there is."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.membership import lira, shadow_scores


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
