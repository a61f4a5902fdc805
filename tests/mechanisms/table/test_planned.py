"""Planned marginals: the level of the file is the level of the release."""

from __future__ import annotations

import math

import pytest

from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.mechanisms import Marginals, PlannedCounts
from narcissus.mechanisms.noise import GaussianNoise, LaplaceNoise, NoNoise
from narcissus.mechanisms.table.base import DEFAULT_DELTA, epsilon_at


@pytest.mark.parametrize("tables", [1, 7])
def test_the_noise_has_the_level_whatever_the_number_of_tables(tables):
    pure = Marginals(epsilon=0.5, noise="laplace").noise_of(tables)
    assert pure.guarantee(tables).epsilon == pytest.approx(0.5)
    gaussian = Marginals(mu=0.7).noise_of(tables)
    assert gaussian.guarantee(tables).mu == pytest.approx(0.7)
    both = Marginals(epsilon=1.5, delta=1e-4).noise_of(tables)
    assert float(both.guarantee(tables).profile(1.5)) == pytest.approx(1e-4, rel=1e-6)
    assert Marginals(scale=3.0).noise_of(tables) == GaussianNoise(3.0)
    assert Marginals(scale=3.0, noise="laplace").noise_of(tables) == LaplaceNoise(3.0)


@pytest.mark.parametrize("exact", [{"epsilon": math.inf}, {"mu": math.inf}, {"scale": 0.0}])
def test_no_noise_is_called_so(exact):
    planned = Marginals(**exact)
    assert (planned.label, planned.noise_of(3)) == ("no noise", NoNoise())


def test_labels_name_the_level():
    made = [Marginals(epsilon=0.5), Marginals(mu=2.0), Marginals(scale=10.0)]
    assert [one.label for one in made] == ["ε = 0.5", "μ = 2", "scale = 10"]


def test_the_point_is_on_the_profile():
    guarantee = GaussianDP(1.0)
    epsilon, delta = Marginals(mu=1.0, delta=1e-3).point(guarantee)
    assert delta == 1e-3
    assert float(guarantee.profile(epsilon)) == pytest.approx(1e-3, rel=1e-6)
    assert Marginals(epsilon=2.0).point(guarantee) == (2.0, DEFAULT_DELTA)
    assert epsilon_at(GaussianDP(1e-9), 0.5) is None


def test_a_plan_of_ones_own_has_a_point_too():
    class Own(PlannedCounts):
        k = 2
        label = "mine"

        def noise_of(self, tables):
            return LaplaceNoise(2.0 * tables)

    epsilon, delta = Own().point(PureDP(1.0))
    assert delta == DEFAULT_DELTA
    assert float(PureDP(1.0).profile(epsilon)) == pytest.approx(DEFAULT_DELTA, rel=1e-6)
    assert Own().strength == 2.0
    with pytest.raises(TypeError, match="abstract"):
        PlannedCounts()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "exactly one"),
        ({"epsilon": 1.0, "mu": 1.0}, "exactly one"),
        ({"epsilon": 1e-12}, "`epsilon` must be in"),
        ({"epsilon": math.nan}, "above 0"),
        ({"scale": math.inf}, "finite"),
        ({"scale": -1.0}, "at least 0"),
        ({"epsilon": 1.0, "k": 0}, "`k` must be at least 1"),
        ({"mu": 1.0, "noise": "laplace"}, "Gaussian"),
        ({"epsilon": 1.0, "delta": 0.0}, "laplace"),
        ({"epsilon": 1.0, "delta": 1.0}, r"\[0, 1\)"),
        ({"epsilon": 1.0, "delta": 1e-5, "noise": "laplace"}, "pure DP"),
    ],
)
def test_what_is_not_one_level_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        Marginals(**options)
