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
    """Of both orders of the pair: the larger one is what a guarantee is."""
    p, q, losses = drawn(seed)
    curve = from_losses(losses, p)

    def truth(epsilons) -> np.ndarray:
        return np.array([max(stick(p, q, e), stick(q, p, e)) for e in epsilons])

    assert np.allclose(curve.deltas, truth(curve.points), atol=1e-12, rtol=0)
    # between the losses it is a chord, in which nothing is lost
    assert np.allclose(curve.profile(E), truth(E), atol=1e-12, rtol=0)
    finite = np.isfinite(losses)
    given = from_losses(losses[finite], p[finite], at_infinity=float(p[3]))
    assert np.allclose(given.profile(E), curve.profile(E), rtol=1e-12, atol=0)
    # the other order of the pair is the same guarantee, and so is what is told of both
    with np.errstate(divide="ignore"):
        back = np.log(q / p)
    seen = q > 0
    other = from_losses(back[seen], q[seen])
    assert np.allclose(other.profile(E), truth(E), atol=1e-12, rtol=0)
    both = np.concatenate([losses, back[seen]]), np.zeros(seen.sum()), np.zeros(p.size)
    told = from_losses(
        both[0], np.append(p, both[1]), reverse=np.append(both[2], q[seen]),
    )  # fmt: skip
    assert np.allclose(told.profile(E), truth(E), atol=1e-12, rtol=0)


def stick(p, q, epsilon: float) -> float:
    return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())


def test_one_order_of_an_uneven_pair_proves_no_less_than_is_attained():
    """The input of a stranger: .642858 was said where .70 is attained."""
    p, q = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    for one, other in ((p, q), (q, p)):
        curve = from_losses(np.log(one / other), one)
        right = (1 + float(curve.profile(0.0))) / 2  # of a fair coin
        assert right == pytest.approx(np.maximum(p, q).sum() / 2, abs=1e-12)
        for rate in (0.1, 0.5):  # the tests "says the first", "says the second" of either order
            assert float(curve.power(rate)) >= {0.1: 0.5, 0.5: 0.9}[rate] - 1e-12


def test_rounding_far_below_is_no_second_order():
    losses, masses = np.array([1.0, -1.0, -60.0]), np.array([0.7310586, 0.2689414, 1e-19])
    with pytest.raises(InputError, match=r"one order only.*probability_reversed"):
        from_losses(losses, masses)
    assert float(from_losses(losses, masses, reverse=masses).profile(0.0)) > 0.46
    with pytest.raises(InputError, match="`reverse` must sum to 1"):
        from_losses(losses, masses, reverse=[0.5, 0.2, 0.0])


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
    curve = from_losses(losses, masses, reverse=masses)  # either order, each rounded up
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
    masses = [0.7310586, 0.2689414, -1e-17]
    assert from_losses([1.0, -1.0, 5.0], masses, reverse=masses).profile(10.0) == 0
    # what the other order lacks, by the same rounding, is an infinite loss there
    lacks = 1 - 0.7310586 / np.e - 0.2689414 * np.e
    assert from_losses([1.0, -1.0], masses[:2]).profile(10.0) == pytest.approx(lacks, rel=1e-6)
