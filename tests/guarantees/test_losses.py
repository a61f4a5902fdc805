"""Privacy loss distributions that are written out, against closed forms and dp-accounting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.guarantees import (
    GaussianDP,
    PureDP,
    from_losses,
    from_losses_of_orders,
    from_orders,
)

E = np.linspace(0.0, 3.0, 61)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two random distributions, and the losses of the first against the second."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(12))
    q[3] = 0.0
    q /= q.sum()
    with np.errstate(divide="ignore"):
        return p, q, np.log(p / q)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_hockey_stick_at_every_epsilon(seed):
    p, q, losses = drawn(seed)
    curve = from_losses(losses, p)
    truth = [np.maximum(p - np.exp(e) * q, 0).sum() for e in curve.points]
    assert np.allclose(curve.deltas, truth, atol=1e-12, rtol=0)
    assert len(curve.points) == 1 + (np.isfinite(losses) & (losses > 0)).sum()
    # between the losses it is a chord, and both orders are claimed: never above this one
    here = np.array([np.maximum(p - np.exp(e) * q, 0).sum() for e in E])
    assert (curve.profile(E) <= here + 1e-12).all()
    finite = np.isfinite(losses)
    given = from_losses(losses[finite], p[finite], at_infinity=float(p[3]))
    assert np.allclose(given.profile(E), curve.profile(E), rtol=1e-12, atol=0)


def test_randomized_response_and_gaussian_noise():
    keep = 1 / (1 + np.exp(-1.5))
    coin = from_losses([1.5, -1.5], [keep, 1 - keep])
    assert np.allclose(coin.profile(E), PureDP(1.5).profile(E), atol=1e-12, rtol=0)
    # the loss of N(1, 1) against N(0, 1) is N(1/2, 1): in steps, rounded up
    edges = np.linspace(-9.0, 10.0, 20_001)
    masses = np.diff(stats.norm.cdf(edges - 0.5))
    curve = from_losses(edges[1:], masses / masses.sum())
    truth = GaussianDP(1.0).profile(E)
    assert (curve.profile(E) >= truth - 1e-12).all()
    assert (curve.profile(E) <= truth + 1e-3).all()


@pytest.mark.parametrize("seed", range(3))
def test_two_orders_are_the_profiles_of_both_and_cover_a_replaced_record(seed):
    """Laws with a record, without it, and with the other one, who is its mirror image."""
    rng = np.random.default_rng(seed)
    side = rng.dirichlet(np.full(4, 5.0)) / 2
    without = np.concatenate([side, side[::-1]])
    here = 0.7 * without + 0.3 * rng.dirichlet(np.ones(8))
    there = here[::-1]

    def stick(p, q, e):
        return np.maximum(p - np.exp(e) * q, 0).sum()

    losses = np.log(here / without)
    nothing = np.zeros(8)
    found = from_losses_of_orders(
        np.concatenate([losses, -losses]),
        np.concatenate([nothing, without]),
        np.concatenate([here, nothing]),
    )
    knots = np.unique(np.append(np.abs(losses), 0.0))
    add, remove = ([stick(*pair, e) for e in knots] for pair in ((without, here), (here, without)))
    by_profiles = from_orders(knots, add, remove)
    for e in E:
        assert float(found.profile(e)) >= stick(here, there, e) - 1e-9
        assert float(found.profile(e)) == pytest.approx(float(by_profiles.profile(e)), abs=1e-12)
    assert "add-remove" in found.converted_from


def test_it_is_what_dp_accounting_says():
    pld = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution",
        reason="the extra `accounting` is not installed",
    )
    whole = pld.from_laplace_mechanism(1.0, value_discretization_interval=1e-2).self_compose(3)
    found = whole._pmf_remove.to_dense_pmf()
    masses = np.append(found._probs, found._infinity_mass)
    losses = np.append((found._lower_loss + np.arange(found.size)) * found._discretization, np.inf)
    curve = from_losses(losses, masses)
    said = whole.get_delta_for_epsilon(E.tolist())
    assert np.allclose(curve.profile(E), said, atol=1e-10, rtol=0)


def test_a_million_losses_keep_a_valid_part_of_their_corners():
    edges = np.linspace(-8.0, 9.0, 200_001)
    masses = np.diff(stats.norm.cdf(edges - 0.5))
    curve = from_losses(edges[1:], masses / masses.sum())
    assert len(curve.points) <= 20_000
    truth = GaussianDP(1.0).profile(E)
    assert (curve.profile(E) >= truth - 1e-12).all()
    assert (curve.profile(E) <= truth + 1e-4).all()


@pytest.mark.parametrize(
    ("losses", "masses", "said"),
    [
        ([], [], "at least one"),
        ([1.0], [0.5, 0.5], "as many"),
        ([1.0, -1.0], [0.7, 0.2], "infinite loss"),
        ([1.0, -1.0], [0.9, 0.2], "sum to 1"),
        ([1.0, np.nan], [0.9, 0.1], "NaN"),
        ([1.0, -1.0], [1.2, -0.2], "masses"),
        # the sign exchanged: delta would be far too small
        ([-1.0, 1.0], [0.731, 0.269], "sign exchanged"),
        ([-10.0], [1.0], "sign exchanged"),
    ],
)
def test_what_is_no_distribution_of_losses_is_refused(losses, masses, said):
    with pytest.raises(InputError, match=said):
        from_losses(losses, masses)


def test_rounded_masses_are_made_up_for_by_an_infinite_loss():
    short = from_losses([1.0, -1.0], [0.7310585, 0.2689414])
    assert short.profile(10.0) == pytest.approx(1e-7, rel=1e-3)
    assert from_losses([1.0, -1.0, 5.0], [0.7310586, 0.2689414, -1e-17]).profile(10.0) == 0
