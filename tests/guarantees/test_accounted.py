"""Guarantees by accounting: DP-SGD and compositions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.guarantees import (
    GaussianDP,
    PureDP,
    dp_sgd,
    from_event,
    from_privacy_loss,
)
from narcissus.guarantees.accounted import _lost


def test_dp_sgd_by_accounting():
    one_step = dp_sgd(
        2.0, 1.0, 1, interval=1e-3
    )  # a replaced record moves a full batch by two clipping norms
    epsilon = np.linspace(0, 4, 9)
    found = one_step.profile(epsilon)
    truth = GaussianDP(1.0).profile(epsilon)
    assert (found >= truth - 1e-9).all()
    assert np.allclose(found, truth, atol=2e-4, rtol=0)
    added = dp_sgd(2.0, 1.0, 1, adjacency="add-remove", interval=1e-3)
    assert added.adjacency == "add-remove"
    assert np.allclose(added.profile(epsilon), GaussianDP(0.5).profile(epsilon), atol=2e-4, rtol=0)
    rates = np.logspace(-9, 0, 20)
    assert (one_step.power(rates) >= rates).all()  # never below the diagonal
    less, more = dp_sgd(1.0, 0.1, 9, interval=1e-3), dp_sgd(0.8, 0.1, 9, interval=1e-3)
    assert (less.profile(epsilon) <= more.profile(epsilon)).all()


def test_dp_sgd_with_hardly_any_noise_is_told_by_how_often_a_record_is_sampled():
    """Losses beyond 600 give NaN in dp-accounting and are not asked for."""
    found = dp_sgd(0.05, 0.01, 2, interval=1e-2)
    assert max(found.points) == 600
    # delta is at most the chance to be sampled at all, and nearly that
    assert float(found.profile(0.0)) == pytest.approx(1 - 0.99**2, abs=1e-4)
    assert float(found.profile(1e4)) >= 0


def test_accounting_refuses_what_it_cannot_do():
    events = pytest.importorskip(
        "dp_accounting", reason="the extra `accounting` is not installed"
    ).dp_event
    with pytest.raises(InputError, match="event"):
        from_event(events.LaplaceDpEvent(1.0))
    with pytest.raises(InputError, match="noise"):
        dp_sgd(0, 0.1, 10)
    with pytest.raises(InputError, match="steps"):
        dp_sgd(1, 0.1, 0)

    class Pure:
        def get_delta_for_epsilon(self, epsilon):
            return PureDP(1.0).profile(epsilon)

    found = from_privacy_loss(Pure(), adjacency="replace-one")
    assert np.allclose(found.profile([0, 0.5, 2]), PureDP(1.0).profile([0, 0.5, 2]), atol=1e-6)


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_no_delta_of_subsampled_noise_is_nothing(adjacency):
    """Transforms round: what comes out as 0, or as any number so small, is rounding."""
    found = dp_sgd(1.1, 0.01, 1000, adjacency=adjacency, interval=1e-3)
    assert min(found.deltas) > 0
    assert float(found.profile(found.points[-1] * 100)) > 0
    more = dp_sgd(1.1, 0.01, 2000, adjacency=adjacency, interval=1e-3)
    assert min(more.deltas) > min(found.deltas)
    assert min(more.deltas) < 1e-8


@pytest.mark.parametrize(
    ("noise", "rate", "times"), [(1.0, 0.1, 2), (1.0, 0.1, 8), (0.7, 0.5, 8), (3.0, 0.01, 16)]
)
def test_what_transforms_lose_is_within_its_limit_and_no_profile_is_below_exact_sums(
    noise, rate, times
):
    """Against the same masses convolved in whole numbers, where nothing is rounded."""
    pld = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution", reason="the extra `accounting` is missing"
    )
    one = pld.from_gaussian_mechanism(
        noise, sampling_prob=rate, value_discretization_interval=0.1, log_mass_truncation_bound=-30
    )
    step, whole = one._pmf_remove.to_dense_pmf(), one.self_compose(times)
    scale = 1 << 1074
    exact = np.array([int(Fraction(float(m)) * scale) for m in step._probs], dtype=object)
    law = exact
    for _ in range(times - 1):
        law = np.convolve(law, exact)
    losses = (np.arange(law.size) + step._lower_loss * times) * step._discretization
    never = 1 - (1 - Fraction(step._infinity_mass)) ** times
    lost = _lost(step, times, whole, whole._pmf_remove.size)
    assert 0 < lost < 1e-10
    curve = from_privacy_loss(whole, adjacency="add-remove", points=50, rounding=lost)
    for epsilon in np.linspace(0, losses[-1], 30):
        above = losses > epsilon
        weights = [Fraction(-float(np.expm1(epsilon - x))) for x in losses[above]]
        sums = sum(
            w * Fraction(int(m), scale**times) for w, m in zip(weights, law[above], strict=True)
        )
        truth = float(never + sums)
        made = whole._pmf_remove.get_delta_for_epsilon(float(epsilon))
        assert abs(made - truth) <= lost + 2e-15  # and the tail that is given up
        assert float(curve.profile(epsilon)) >= truth


def test_an_event_without_privacy_limits_nothing():
    events = pytest.importorskip(
        "dp_accounting", reason="the extra `accounting` is not installed"
    ).dp_event
    both = events.ComposedDpEvent([events.GaussianDpEvent(1.0), events.NonPrivateDpEvent()])
    assert float(from_event(both).profile(3.0)) == 1
    with pytest.raises(InputError, match="rounding"):
        from_privacy_loss(None, adjacency="replace-one", rounding=-1)
