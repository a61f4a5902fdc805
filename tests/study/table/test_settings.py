"""Settings of a sweep: what the noise guarantees, and the point it is compared at."""

import math

import pytest
from scipy import stats

from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus.mechanisms import Columns, Marginals
from narcissus.study.table.settings import settings_of


def columns(tables):
    """Give columns of which so many pairs hold the unknown one."""
    names = tuple(f"c{i}" for i in range(tables + 1))
    return Columns(names, (("a", "b"),) * len(names), (False,) * len(names), (0,))


def one(**options):
    [setting] = settings_of([Marginals(k=2, **options)], columns(6))
    return setting


def delta_of(mu, epsilon):
    """Give the profile of Gaussian DP: Dong et al. 2022, Corollary 1."""
    cdf = stats.norm.cdf
    return cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * cdf(-mu / 2 - epsilon / mu)


def test_laplace_noise_is_pure_and_its_own_point():
    setting = one(noise="laplace", epsilon=1.5)
    assert isinstance(setting.guarantee, PureDP)
    assert setting.guarantee.epsilon == pytest.approx(1.5)
    assert setting.single == setting.guarantee
    assert (setting.epsilon, setting.delta, setting.mu) == (pytest.approx(1.5), 0.0, None)


def test_gaussian_noise_reaches_the_delta_that_it_was_made_for():
    setting = one(epsilon=1.5, delta=1e-3)
    assert isinstance(setting.guarantee, GaussianDP)
    assert setting.mu == setting.guarantee.mu
    assert delta_of(setting.mu, 1.5) == pytest.approx(1e-3, rel=1e-6)
    assert setting.single == ApproximateDP(1.5, 1e-3)
    assert (setting.epsilon, setting.delta) == (1.5, 1e-3)


def test_gaussian_noise_by_mu_is_compared_where_its_profile_reaches_delta():
    setting = one(mu=0.8, delta=1e-4)
    assert setting.mu == pytest.approx(0.8)
    assert delta_of(0.8, setting.epsilon) == pytest.approx(1e-4, rel=1e-6)
    assert setting.single == ApproximateDP(setting.epsilon, 1e-4)
    tiny = one(mu=1e-6)  # delta is nowhere as large as 1e-5
    assert (tiny.epsilon, tiny.single) == (None, None)
    assert tiny.guarantee is not None


@pytest.mark.parametrize("options", [{"epsilon": math.inf}, {"mu": math.inf}, {"scale": 0.0}])
def test_without_noise_nothing_is_guaranteed(options):
    setting = one(**options)
    assert setting.mechanism.noise.scale == 0
    assert setting.guarantee is None
    assert (setting.epsilon, setting.delta, setting.mu, setting.single) == (None,) * 4


def test_more_tables_take_more_noise_for_the_same_guarantee():
    few, many = (settings_of([Marginals(k=2, epsilon=1.0)], columns(n))[0] for n in (4, 16))
    assert many.mechanism.noise.scale == pytest.approx(2 * few.mechanism.noise.scale)
    assert few.guarantee.mu == pytest.approx(many.guarantee.mu)
    pure = [
        settings_of([Marginals(k=2, noise="laplace", epsilon=1.0)], columns(n))[0] for n in (4, 16)
    ]
    assert pure[1].mechanism.noise.scale == pytest.approx(4 * pure[0].mechanism.noise.scale)
