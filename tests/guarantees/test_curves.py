"""Guarantees of several points of a profile: both orders, losses, files, accounting."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from scipy import special, stats

from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    GaussianDP,
    ProfileCurve,
    PureDP,
    Secret,
    as_replace_one,
    dp_sgd,
    from_event,
    from_losses,
    from_losses_of_orders,
    from_orders,
    from_privacy_loss,
    optimal_composition,
    read_losses,
    read_profile,
)
from narcissus.guarantees.curves import _lost, _lower_hull, one_after_another


def test_a_curve_through_a_gaussian_profile_is_above_it_and_near():
    truth = GaussianDP(1.0)
    curve = ProfileCurve.from_profile(lambda e: float(truth.profile(e)), np.linspace(0, 8, 1000))
    epsilon = np.linspace(-3, 8, 999)
    ratio = curve.profile(epsilon) / truth.profile(epsilon)
    assert (ratio >= 1 - 1e-12).all()
    assert (ratio <= 1 + 1e-3).all()
    assert curve.profile(1e4) == curve.profile(8.0)


def test_one_point_gives_approximate_dp():
    epsilon = np.linspace(-4, 4, 81)
    for e, d in [(1.0, 0.1), (0.0, 0.3), (2.0, 0.0)]:
        curve = ProfileCurve((e,), (d,))
        assert np.allclose(
            curve.profile(epsilon), ApproximateDP(e, d).profile(epsilon), atol=1e-12, rtol=0
        )
    rates = np.linspace(0, 1, 41)
    curve = ProfileCurve((1.0,), (0.1,))
    assert np.allclose(curve.power(rates), ApproximateDP(1, 0.1).power(rates), atol=1e-9, rtol=0)


E = np.linspace(0.0, 4.0, 41)


def sampled(rate: float, epsilon: np.ndarray, *, remove: bool) -> np.ndarray:
    """Hockey stick of (1 - q) N(0, 1) + q N(1, 1) and N(0, 1), by brute force on a fine grid."""
    x = np.linspace(-9.0, 10.0, 40_001)
    without = np.exp(-(x**2) / 2)
    with_it = (1 - rate) * without + rate * np.exp(-((x - 1) ** 2) / 2)
    without, with_it = without / without.sum(), with_it / with_it.sum()
    p, q = (with_it, without) if remove else (without, with_it)
    return np.array([np.maximum(p - np.exp(e) * q, 0.0).sum() for e in epsilon])


def replaced(rate: float, epsilon: np.ndarray) -> np.ndarray:
    """The same of a record at 1 exchanged for one at -1."""
    x = np.linspace(-10.0, 10.0, 40_001)
    base = (1 - rate) * np.exp(-(x**2) / 2)
    p, q = (base + rate * np.exp(-((x - m) ** 2) / 2) for m in (1, -1))
    p, q = p / p.sum(), q / q.sum()
    return np.array([np.maximum(p - np.exp(e) * q, 0.0).sum() for e in epsilon])


@pytest.mark.states("Dwork and Roth 2014", "Theorem 2.2")
@pytest.mark.parametrize("rate", [0.05, 0.4, 1.0])
def test_two_steps_limit_what_a_replaced_record_shows(rate):
    points = np.linspace(0.0, 6.0, 200)
    add, remove = (sampled(rate, points, remove=r) for r in (False, True))
    both = from_orders(points, add, remove)
    found = both.profile(E)
    assert (found >= replaced(rate, E) - 1e-9).all()
    # the two orders apart say more than the worse of them twice
    worse = ProfileCurve(tuple(points), tuple(np.maximum(add, remove)), adjacency="add-remove")
    twice = as_replace_one(worse).profile(E)
    assert (found <= twice * (1 + 1e-9)).all()
    if rate < 1:
        assert found[10] < 0.95 * twice[10]
    # by brute force over the splits, either order first
    e = 1.0
    parts = np.linspace(0, e, 2001)
    own = {r: sampled(rate, parts, remove=r) for r in (False, True)}
    best = min((own[r] + np.exp(parts) * own[not r][::-1]).min() for r in (False, True))
    assert best <= float(both.profile(e)) + 1e-9
    assert float(both.profile(e)) == pytest.approx(best, abs=2e-3)


def test_two_gaussian_steps_are_near_their_own_composition():
    half = GaussianDP(0.5).profile
    found = one_after_another(half, half, 6.0).profile(E)
    truth = GaussianDP(1.0).profile(E)
    assert (found >= truth - 1e-12).all()
    assert (found[E > 0.2] <= 1.02 * truth[E > 0.2]).all()


def test_only_points_that_were_given_are_used():
    """One point (e, d) of both orders: the sum of both is all that follows at twice e."""
    both = from_orders([1.0], [0.01], [0.02])
    first, second = 0.01 + np.e * 0.02, 0.02 + np.e * 0.01
    assert float(both.profile(2.0)) == pytest.approx(min(first, second), rel=1e-12)
    assert float(both.profile(50.0)) == pytest.approx(min(first, second), rel=1e-12)
    assert both.adjacency == "replace-one"
    assert "of adding and of removing a record (add-remove" in both.describe()


def test_an_order_is_limited_by_the_mirrored_other_one():
    """delta of the one at -e is 1 - exp(-e) (1 - delta of the other at e): no point lies below."""
    gauss = GaussianDP(1.0)
    points = np.array([0.5, 1.0, 2.0])
    both = from_orders(points, gauss.profile(points), gauss.profile(points))
    assert float(both.profile(0.0)) >= float(GaussianDP(2.0).profile(0.0))
    # without the mirror the chord from (0, 1) is all there is at 0
    chord = 1 - (1 - gauss.profile(0.5)) / np.exp(0.5)
    assert float(both.profile(0.0)) < 2 * float(chord)


def test_far_epsilons_neither_overflow_nor_claim_too_much():
    both = from_orders([0.0, 400.0, 900.0], [0.5, 0.2, 0.0], [0.5, 0.1, 0.0])
    found = both.profile([0.0, 300.0, 500.0, 2000.0])
    assert ((found >= 0) & (found <= 1)).all()
    assert special.expit(0) <= found[0]


@pytest.mark.parametrize(
    "wrong",
    [
        ([], [], []),
        ([1.0], [0.1], [0.1, 0.2]),
        ([-1.0], [0.1], [0.1]),
        ([np.inf], [0.1], [0.1]),
        ([1.0], [1.1], [0.1]),
    ],
)
def test_what_is_no_pair_of_profiles_is_refused(wrong):
    with pytest.raises(InputError):
        from_orders(*wrong)


def test_of_membership_the_worse_order_holds_and_no_more():
    """A pair of coins of which neither order dominates the other, its curve written out."""
    p, q = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    epsilon = np.linspace(0, 2, 401)

    def stick(a, b):
        return np.maximum(a[:, None] - np.exp(epsilon) * b[:, None], 0).sum(axis=0)

    add, remove = stick(q, p), stick(p, q)
    found = from_orders(epsilon, add, remove, secret="membership")
    assert (found.adjacency, found.secret) == ("add-remove", "membership")
    assert np.allclose(found.profile(epsilon), np.maximum(add, remove), atol=1e-12)
    between = epsilon[:-1] + 0.0021
    worse = np.maximum(
        *(np.maximum(a[:, None] - np.exp(between) * b[:, None], 0).sum(axis=0)
          for a, b in ((p, q), (q, p)))
    )  # fmt: skip
    assert (found.profile(between) >= worse - 1e-15).all()
    value = from_orders(epsilon, add, remove)
    assert (found.profile(epsilon) <= value.profile(epsilon) + 1e-12).all()
    # where one order says more at 0 than the other, both have it: it is one total variation
    assert float(
        from_orders([0.0, 1.0], [0.1, 0.0], [0.2, 0.0], secret="membership").profile(0.0)
    ) == pytest.approx(0.1)


E_LOSSES = np.linspace(0.0, 3.0, 61)


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
    assert np.allclose(curve.profile(E_LOSSES), truth(E_LOSSES), atol=1e-12, rtol=0)
    finite = np.isfinite(losses)
    given = from_losses(losses[finite], p[finite], at_infinity=float(p[3]))
    assert np.allclose(given.profile(E_LOSSES), curve.profile(E_LOSSES), rtol=1e-12, atol=0)
    # the other order of the pair is the same guarantee, and so is what is told of both
    with np.errstate(divide="ignore"):
        back = np.log(q / p)
    seen = q > 0
    other = from_losses(back[seen], q[seen])
    assert np.allclose(other.profile(E_LOSSES), truth(E_LOSSES), atol=1e-12, rtol=0)
    both = np.concatenate([losses, back[seen]]), np.zeros(seen.sum()), np.zeros(p.size)
    told = from_losses(
        both[0], np.append(p, both[1]), reverse=np.append(both[2], q[seen]),
    )  # fmt: skip
    assert np.allclose(told.profile(E_LOSSES), truth(E_LOSSES), atol=1e-12, rtol=0)


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
    assert np.allclose(coin.profile(E_LOSSES), PureDP(1.5).profile(E_LOSSES), atol=1e-12, rtol=0)
    # the loss of N(1, 1) against N(0, 1) is N(1/2, 1): in steps, rounded up
    edges = np.linspace(-9.0, 10.0, 20_001)
    masses = np.diff(stats.norm.cdf(edges - 0.5))
    curve = from_losses(edges[1:], masses / masses.sum())
    truth = GaussianDP(1.0).profile(E_LOSSES)
    assert (curve.profile(E_LOSSES) >= truth - 1e-12).all()
    assert (curve.profile(E_LOSSES) <= truth + 1e-3).all()


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
    for e in E_LOSSES:
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
    said = whole.get_delta_for_epsilon(E_LOSSES.tolist())
    assert np.allclose(curve.profile(E_LOSSES), said, atol=1e-10, rtol=0)


def test_a_million_losses_keep_a_valid_part_of_their_corners():
    edges = np.linspace(-8.0, 9.0, 200_001)
    masses = np.diff(stats.norm.cdf(edges - 0.5))
    curve = from_losses(edges[1:], masses / masses.sum())
    assert len(curve.points) <= 20_000
    truth = GaussianDP(1.0).profile(E_LOSSES)
    assert (curve.profile(E_LOSSES) >= truth - 1e-12).all()
    assert (curve.profile(E_LOSSES) <= truth + 1e-4).all()


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


EPSILONS = np.array([0.0, 0.3, 0.5, 1.0, 1.7, 2.0, 3.0])


def brute_force(epsilon, times, delta):
    """Sum over every outcome of so many randomized responses that all is lost with ``delta``."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    one = {"lost": (delta, 0.0), 1: ((1 - delta) * keep, (1 - delta) * (1 - keep)),
           0: ((1 - delta) * (1 - keep), (1 - delta) * keep), "other": (0.0, delta)}  # fmt: skip
    pairs = [
        (math.prod(one[o][0] for o in outcome), math.prod(one[o][1] for o in outcome))
        for outcome in itertools.product(one, repeat=times)
    ]
    return [math.fsum(max(0.0, p - math.exp(e) * q) for p, q in pairs) for e in EPSILONS]


@pytest.mark.states("Kairouz, Oh and Viswanath 2015", "Theorem 3.3")
@pytest.mark.parametrize(("epsilon", "times"), [(1.0, 1), (1.0, 2), (0.5, 4), (0.2, 5)])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_it_is_what_randomized_responses_lose_together(epsilon, times, delta):
    found = optimal_composition(epsilon, times, delta).profile(EPSILONS)
    np.testing.assert_allclose(found, brute_force(epsilon, times, delta), atol=1e-12)


def test_it_is_between_one_answer_and_basic_and_advanced_composition():
    epsilon, times = 0.1, 50
    found = optimal_composition(epsilon, times)
    assert (found.profile(EPSILONS) <= PureDP(epsilon * times).profile(EPSILONS) + 1e-12).all()
    assert (found.profile(EPSILONS) >= PureDP(epsilon).profile(EPSILONS) - 1e-12).all()
    for slack in (1e-3, 1e-6):
        advanced = epsilon * math.sqrt(2 * times * math.log(1 / slack))
        advanced += times * epsilon * math.expm1(epsilon)
        assert found.profile(advanced) <= slack
    assert found.profile(epsilon * times) < 1e-12


def test_what_is_no_guarantee_is_refused():
    for wrong in ((-1.0, 2), (1.0, 0), (math.inf, 2), (1.0, 2, 1.5)):
        with pytest.raises(InputError):
            optimal_composition(*wrong)


E_FILES = np.linspace(0, 5, 101)


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "file.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def rows(*columns):
    return "\n".join(",".join(repr(float(x)) for x in row) for row in zip(*columns, strict=True))


def test_a_curve_limits_what_it_was_read_off(written):
    """Between the points the chord holds, beyond the last its delta."""
    truth, points = GaussianDP(1.0), np.linspace(0, 4, 9)
    found = read_profile(written("epsilon,delta\n" + rows(points, truth.profile(points))))
    assert np.allclose(found.profile(points), truth.profile(points), rtol=1e-12, atol=0)
    assert (found.profile(E_FILES) >= truth.profile(E_FILES) * (1 - 1e-12)).all()
    middle = 0.25
    share = np.expm1(middle) / np.expm1(0.5)
    chord = (1 - share) * truth.profile(0.0) + share * truth.profile(0.5)
    assert float(found.profile(middle)) == pytest.approx(float(chord), rel=1e-12)
    assert float(found.profile(9.0)) == pytest.approx(float(truth.profile(4.0)), rel=1e-12)
    assert not found.implied().size
    # in any order, as JSON, and about other neighbours
    table = {"delta": truth.profile(points)[::-1].tolist(), "epsilon": points[::-1].tolist()}
    same = read_profile(written(json.dumps(table), "f.json"), adjacency="add-remove")
    assert np.array_equal(same.profile(E_FILES), found.profile(E_FILES))
    assert same.adjacency == "add-remove"
    assert "from a privacy profile of 9 points" in as_replace_one(same).describe()


def test_points_above_the_chord_of_others_are_valid_and_told(written):
    found = read_profile(written("epsilon,delta\n0,0.5\n1,0.45\n2,0.01\n"))
    chord = 0.5 + (0.01 - 0.5) * np.expm1(1) / np.expm1(2)
    assert float(found.profile(1.0)) == pytest.approx(chord, rel=1e-12)
    assert found.implied().tolist() == [1.0]


def test_both_orders_are_converted(written):
    points = np.linspace(0, 3, 7)
    add = PureDP(1.0).profile(points)
    remove = GaussianDP(0.5).profile(points)
    text = "epsilon,delta_remove,delta_add\n" + rows(points, remove, add)
    found = read_profile(written(text))
    assert found == from_orders(points, add, remove)
    assert found.converted_from
    found = read_losses(
        written("loss,probability_add,probability_remove\n-1,0.25,0.2\n1,0.75,0.8\n")
    )
    assert found == from_losses_of_orders([-1, 1], [0.25, 0.75], [0.2, 0.8])


def test_both_orders_are_for_the_question_that_is_asked(written):
    points = np.linspace(0, 3, 7)
    add, remove = PureDP(1.0).profile(points), GaussianDP(0.5).profile(points)
    text = "epsilon,delta_remove,delta_add\n" + rows(points, remove, add)
    inside = read_profile(written(text), secret="membership")
    assert inside == from_orders(points, add, remove, secret="membership")
    assert (inside.adjacency, inside.secret) == ("add-remove", "membership")
    assert (inside.profile(E_FILES) <= read_profile(written(text)).profile(E_FILES) + 1e-12).all()
    orders = [0.25, 0.75], [0.2, 0.8]
    found = read_losses(
        written("loss,probability_add,probability_remove\n-1,0.25,0.2\n1,0.75,0.8\n"),
        secret="membership",
    )
    assert found == from_losses_of_orders([-1, 1], *orders, secret="membership")
    one = read_profile(
        written("epsilon,delta\n0,0.3\n1,0\n"), adjacency="add-remove", secret="membership"
    )
    assert one.describe().endswith("(add-remove neighbours: the record is in or out)")
    assert one.profile(0.0) == pytest.approx(0.3)


def test_losses_as_text_and_as_json(written):
    keep = float(1 / (1 + np.exp(-1.0)))
    text = f"loss,probability\n1,{0.9 * keep!r}\n-1,{0.9 * (1 - keep)!r}\ninf,0.1\n"
    found = read_losses(written(text))
    assert found == from_losses([1, -1, np.inf], [0.9 * keep, 0.9 * (1 - keep), 0.1])
    truth = 0.1 + 0.9 * PureDP(1.0).profile(E_FILES)
    assert np.allclose(found.profile(E_FILES), truth, atol=1e-12, rtol=0)
    table = {"loss": [1, -1, "inf"], "probability": [0.9 * keep, 0.9 * (1 - keep), 0.1]}
    assert read_losses(written(json.dumps(table), "f.json")) == found
    # the other order, where it is known by itself
    given = read_losses(written("probability_reversed,loss,probability\n0.75,1,0.8\n0.25,-1,0.2\n"))
    assert given == from_losses([1, -1], [0.8, 0.2], reverse=[0.75, 0.25])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilon,dleta\n1,0.1\n", "did you mean `delta`"),
        ("epsilon,delta\n-1,0.1\n", r"row 1 \(line 2\), column `epsilon`, must be at least 0"),
        ("epsilon,delta\ninf,0.1\n", "must be at least 0 and finite"),
        ("epsilon,delta\n0,0.1\n1,1.5\n", r"row 2 \(line 3\), column `delta`, must be in \[0, 1\]"),
        ("epsilon,delta\n0,-0.1\n", "must be in"),
        ("epsilon,delta\n2,0.1\n1,0.05\n", r"row 1 .*rise.* 0.05 at epsilon 1, 0.1 at 2"),
        ("epsilon,delta_add,delta_remove\n1,0.1,0.1\n2,0.1,0.2\n", "`delta_remove`, must not rise"),
        ("epsilon,delta\n1,\n", "is empty"),
        ("", "is empty"),
    ],
)
def test_what_is_no_curve_is_refused_by_its_place(written, text, said):
    with pytest.raises(InputError, match=said):
        read_profile(written(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("loss,prob\n1,1\n", "did you mean `probability`"),
        ("loss,probability\n1,0.7\n-1,0.2\n", "must sum to 1, got 0.9; what is missing.*inf"),
        ("loss,probability\n1,0.7\n-1,0.7\n", "sum to 1, got 1.4; are these densities"),
        ("loss,probability\n1,1.7\n-1,-0.7\n", r"row 1 \(line 2\), column `probability`"),
        ("loss,probability\n-1,0.731\n1,0.269\n", "sign exchanged"),
        (
            "loss,probability_add,probability_remove\n-1,0.6,0.3\n1,0.4,0.6\n",
            "`probability_remove`",
        ),
    ],
)
def test_a_file_that_is_no_distribution_of_losses_is_refused(written, text, said):
    with pytest.raises(InputError, match=said):
        read_losses(written(text))


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


@pytest.mark.parametrize("points", [[-1.0, 0.0], [0.0, -1.0], [0.0, np.inf]])
def test_every_point_of_a_curve_is_finite_and_at_least_0(points):
    with pytest.raises(InputError, match="at least 0"):
        ProfileCurve(points, [0.2, 0.1])
