"""What is proved at a setting: of the people played, of all like them, and for comparison."""

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import population_mean_upper
from narcissus.study.results.table import CountBound, ShareBound
from narcissus.study.table import proofs
from narcissus.study.table.bound_summary import bound_results
from narcissus.study.table.population import tail_of_population

STUDY = {
    "threat": {"unknown": ["ill"], "targets": 8},
    "mechanism": {"epsilon": [0.5, 2.0]},
    "bounds": {"confidence": [0.7, 0.9]},
    "run": {"trials": 20, "confidence": 0.9},
}
PURE = {"mechanism": {"noise": "laplace", "epsilon": [0.5, 2.0]}}
MU = {"mechanism": {"epsilon": None, "mu": 1.0}}
NEARLY_NOTHING = {"mechanism": {"epsilon": None, "mu": 1e-6}}  # delta is never as large as 1e-5


@pytest.fixture
def bounds(ready, made_up):
    def make(**changes):
        made = made_up(ready(**{**STUDY, **changes}), 20)
        number = len(made.experiment.settings) - 1
        return made, bound_results(made.experiment, number, made.trials)

    return make


def kept(tails, level):
    """Give the least v of which more is reached with a chance of at most 1 - level."""
    return min(v for v in range(len(tails) - 1) if tails[v + 1] <= 1 - level)


@pytest.mark.parametrize("more", [{}, PURE, MU], ids=["approximate", "pure", "mu"])
def test_the_people_played_have_the_mean_of_what_is_proved_of_each(bounds, more):
    made, found = bounds(**more)
    counts = [b for b in found if isinstance(b, CountBound) and not b.for_comparison]
    assert [b.confidence for b in counts] == [0.9, 0.7]
    setting = made.experiment.settings[-1]
    for place, bound in enumerate(counts):
        tails = made.tails[:, place].mean(axis=0)
        assert (bound.at_most, bound.of) == (kept(tails, bound.confidence), 8)
        whole = tail_of_population(
            made.experiment, len(made.experiment.settings) - 1, made.trials, place
        )
        assert bound.at_most_of_population == kept(whole, bound.confidence)
        assert bound.name == ("domination" if more is PURE else "interpolation")
        theorem = proofs.tail_theorem(made.experiment.success, 8, setting.guarantee)
        assert bound.theorem == theorem.statement
    [share] = [b for b in found if isinstance(b, ShareBound) and not b.for_comparison]
    assert share.share_at_most == pytest.approx(made.proved.mean())
    squares = (made.proved**2).sum(axis=1)
    upper = population_mean_upper(made.proved.sum(axis=1), squares, 8, confidence=0.95)
    assert share.share_of_population == pytest.approx(upper.high)
    assert share.share_of_population > share.share_at_most
    for bound in found:
        assert bound.grade == "proved"
        assert bound.takes_as_given == ()
        assert bound.assumptions[0] == f"the release is {setting.guarantee.describe()}"
    assert [b.for_comparison for b in found] == sorted(b.for_comparison for b in found)
    assert {b.guarantee for b in found if not b.for_comparison} == {setting.guarantee.describe()}


def test_where_the_prior_may_be_wrong_it_is_proved_if_it_is_right(bounds):
    made, found = bounds(threat={**STUDY["threat"], "people": "rows"})
    for bound in found:
        assert bound.grade == "proved if"
        assert bound.takes_as_given == made.experiment.takes_as_given
        assert bound.counts == (not bound.for_comparison)


def test_exact_counts_keep_nobody_from_anything(bounds):
    _, found = bounds(mechanism={"epsilon": "=inf"})
    count, share = found
    assert (count.at_most, count.of, count.confidence) == (8, 8, 0.9)
    assert share.share_at_most == 1
    assert count.at_most_of_population is None
    assert share.share_of_population is None
    for bound in found:
        assert bound.grade == "not assessed"
        assert not bound.counts
        assert not bound.for_comparison
        assert bound.guarantee == "none"
        assert (bound.assumptions, bound.takes_as_given) == ((), ())


def test_from_one_point_alone_averaged_over_releases(bounds):
    """(epsilon, delta): what is published holds on average over the sets of people played."""
    made, found = bounds()
    shown = [b for b in found if b.for_comparison]
    single, *published = shown
    assert isinstance(single, ShareBound)
    assert single.share_at_most == pytest.approx(((1 + made.proved) / 2).mean())
    assert single.share_of_population is None
    guarantee = made.experiment.settings[-1].single
    assert {b.guarantee for b in shown} == {guarantee.describe()}
    for bound, level in zip(published, (0.9, 0.7), strict=True):
        assert bound.at_most == kept(made.tails[:, -1].mean(axis=0), level)
        assert (bound.confidence, bound.of) == (level, 8)
        assert bound.at_most_of_population is None
        assert bound.theorem == proofs.published_theorem(guarantee).statement
        assert bound.name == "published"


def test_under_pure_privacy_what_is_published_holds_for_each_set_of_people(bounds):
    """Given any release: the largest over the sets, and no point besides the guarantee itself."""
    made, found = bounds(**PURE)
    assert kept(made.tails[:, -1].mean(axis=0), 0.7) < 8  # on average fewer
    published = [b for b in found if b.for_comparison]
    assert all(isinstance(b, CountBound) for b in published)
    for bound, level in zip(published, (0.9, 0.7), strict=True):
        assert bound.at_most == max(kept(tails, level) for tails in made.tails[:, -1])


def test_a_guarantee_without_a_point_has_nothing_to_compare(bounds):
    assert all(not b.for_comparison for b in bounds(**NEARLY_NOTHING)[1])
    assert any(b.for_comparison for b in bounds(**MU)[1])


def test_a_count_of_independent_people_is_that_of_their_chances(bounds, ready, made_up):
    """Everybody falls with chance .4 and nothing is spent: a binomial count."""
    made = made_up(ready(**{**STUDY, **PURE}), 3)
    made.tails[:, :] = np.append(stats.binom.sf(np.arange(-1, 8), 8, 0.4), 0)
    found = bound_results(made.experiment, 1, made.trials)
    for bound in found:
        if isinstance(bound, CountBound):
            assert bound.at_most == stats.binom.ppf(bound.confidence, 8, 0.4)
