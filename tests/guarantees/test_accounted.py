"""Guarantees by accounting: DP-SGD and compositions."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from scipy import special

from narcissus.errors import InputError
from narcissus.guarantees import (
    GaussianDP,
    PureDP,
    Secret,
    dp_sgd,
    from_event,
    from_privacy_loss,
)
from narcissus.guarantees.curves import _lost, _lower_hull


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


ROUNDING = 1e-9
PEER = {0.001: 0.003362672498143038, 0.01: 0.025364156570907626, 0.1: 0.1791760941857824}
"""True positive rates at false ones: ``1 - riskcal.calibration.dpsgd.get_beta_for_dpsgd(1.1, 0.01,
1000, alpha, grid_step=1e-3)``, riskcal 1.5.1 with dp-accounting 0.6.0; its advantage below is
``get_advantage_for_dpsgd(1.1, 0.01, 1000, 1e-3)``."""


@pytest.fixture(scope="module")
def asked():
    """DP-SGD of a thousand steps, by what is asked."""
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    return {s: dp_sgd(1.1, 0.01, 1000, secret=s, interval=1e-3) for s in get_args(Secret)}


def test_membership_under_dp_sgd_is_of_an_added_record_as_peers_have_it(asked):
    inside, value = asked["membership"], asked["value"]
    assert (inside.adjacency, inside.secret) == ("add-remove", "membership")
    assert (value.adjacency, value.secret) == ("replace-one", "value")
    # ours adds what rounding can take off a delta
    assert 0 < float(inside.profile(0.0)) - 0.14041346227565965 < ROUNDING
    assert float(value.profile(0.0)) == pytest.approx(0.236487, abs=1e-6)
    for rate, peer in PEER.items():
        found = float(inside.power(rate))
        assert peer <= found <= peer * (1 + 2e-4)  # riskcal's comes from a lower tail that is noise
    # dp-accounting's own distributions, each order by itself: at no epsilon is either above ours
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    both = pld.from_gaussian_mechanism(
        1.1, sampling_prob=0.01, value_discretization_interval=1e-3
    ).self_compose(1000)
    epsilon = np.linspace(0, 3, 50)
    orders = [
        np.array(order.get_delta_for_epsilon(epsilon.tolist()))
        for order in (both._pmf_remove, both._pmf_add)
    ]
    worse = np.maximum(*orders)
    found = inside.profile(epsilon)
    assert (found >= worse).all()
    assert np.allclose(found, worse, rtol=1e-4, atol=ROUNDING)
    assert (orders[0] > 1.005 * orders[1])[1:].all()  # so one order alone would not do


def test_an_attacker_who_sees_every_step_reaches_what_is_said_of_membership(asked):
    """A trap: the likelihood ratio of real runs, which the answer to another question misses."""
    noise, rate, steps, runs = 1.1, 0.01, 1000, 4000
    rng = np.random.default_rng(5)

    def log_ratio(*, inside):
        total = np.zeros(runs)
        for _ in range(steps):
            drawn = (rng.random(runs) < rate) if inside else False
            shown = rng.normal(0.0, noise, runs) + drawn
            total += np.log1p(rate * np.expm1((2 * shown - 1) / (2 * noise**2)))
        return total

    gap = np.mean(log_ratio(inside=True) > 0) - np.mean(log_ratio(inside=False) > 0)
    limits = 5 * np.sqrt(0.5 / runs)  # false alarm below 1e-6
    said = float(asked["membership"].profile(0.0))
    assert said - limits < gap < said + limits
    assert gap + limits < float(asked["value"].profile(0.0))


@pytest.mark.states("Dong, Roth and Su 2022", "Theorem 4.2")
@pytest.mark.parametrize(("noise", "rate"), [(0.7, 0.3), (1.5, 0.05), (2.0, 1.0)])
def test_one_step_is_the_pair_in_both_orders(noise, rate):
    """Of one step the best tests are thresholds on what is shown: their rates in closed form."""
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    found = dp_sgd(noise, rate, 1, secret="membership", interval=1e-3)
    at = np.linspace(-8 * noise, 1 + 8 * noise, 4001)
    out = special.ndtr(-at / noise)  # above the threshold without the record
    inside = (1 - rate) * out + rate * special.ndtr((1 - at) / noise)
    for false, true in ((out, inside), (1 - inside, 1 - out)):
        assert (found.power(false.clip(0, 1)) >= true - 1e-9).all()
    # and no more than a mixture of such tests: the upper hull of both curves
    rates = np.linspace(0.001, 0.999, 60)
    each = [np.interp(rates, out[::-1], inside[::-1]), np.interp(rates, 1 - inside, 1 - out)]
    x = np.concatenate([[0.0], rates, [1.0]])
    y = np.concatenate([[0.0], np.maximum(*each), [1.0]])
    kept = _lower_hull(x, -y)
    hull = np.interp(rates, x[kept], y[kept])
    assert np.allclose(found.power(rates), hull, atol=1e-3)
    if rate == 1:
        gaussian = GaussianDP(1 / noise)
        assert np.allclose(found.power(rates), gaussian.power(rates), atol=2e-4)


@pytest.mark.parametrize(("rate", "steps"), [(0.1, 20), (1.0, 3), (0.02, 100)])
def test_membership_is_never_easier_than_a_value_and_falls_with_noise(rate, steps):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    rates, last = np.array([1e-4, 0.01, 0.3, 0.9]), None
    for noise in (0.6, 1.0, 2.0, 5.0):
        found = {
            secret: dp_sgd(noise, rate, steps, secret=secret, interval=1e-2)
            for secret in get_args(Secret)
        }
        power = {secret: one.power(rates) for secret, one in found.items()}
        assert (power["membership"] <= power["value"] + 1e-9).all()
        assert (power["membership"] >= rates).all()
        if last is not None:
            assert (power["membership"] < last).all()
        last = power["membership"]
