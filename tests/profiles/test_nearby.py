"""Every prior near one: the worst found and the limit, against linear programs and enumeration."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from narcissus import Game
from narcissus.bounds.threat import Nearby
from narcissus.mechanisms import AdaptiveComposition, CountingQuery, RandomizedResponse
from narcissus.mechanisms.base import ReleaseChannel
from narcissus.profiles import write_out
from narcissus.profiles.nearby import NearPriors, why_not_near
from narcissus.success.relations import FirstBit, Pinned
from narcissus.worlds import Bits, Finite, Pairs

NEAR = [Nearby(factor=1.15), Nearby(factor=1.6), Nearby(distance=0.04), Nearby(distance=0.2)]


class Listed:
    """A mechanism, or a relation, by its table of the numbers of the data sets."""

    def __init__(self, table):
        self.table = np.asarray(table)

    def release(self, data, rng):
        raise NotImplementedError

    def channel(self, data):
        rows = self.table[np.asarray(data).reshape(-1)]
        return ReleaseChannel(list(range(rows.shape[1])), sparse.csr_array(rows))

    def guesses(self, data):
        return np.arange(len(self.table))

    def holds(self, data, attempt, rng=None):
        return self.table[np.asarray(attempt), np.asarray(data).reshape(-1)] > 0


def drawn(seed, values=3, releases=2, guesses=3, *, looser=False, abstain=True):
    """Draw a small game: prior, channel, relations, and all of it written out."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(values, rng.choice([0.5, 2.0])))
    channel = rng.dirichlet(np.full(releases, rng.choice([0.4, 2.0])), size=values)
    holds = (np.eye(guesses, values) if seed % 2 else rng.random((guesses, values)) < 0.5) * 1.0
    holds[0, 0] = 1.0
    again = np.maximum(holds, rng.random(holds.shape) < 0.3) if looser else holds
    world = Finite([[x] for x in range(values)], prior.tolist())
    game = Game(world, Listed(channel), Listed(holds), looser=Listed(again) if looser else None)
    return prior, channel, holds, again, write_out(game, abstain=abstain)


def polytope(nearby, prior):
    """Return constraints of near priors in ``(P, E)`` for `linprog`; ``E`` is what rises."""
    n = len(prior)
    if nearby.factor is not None:
        bounds = [(p / nearby.factor, p * nearby.factor) for p in prior] + [(0, 0)] * n
        return {"bounds": bounds, "A_eq": [[1] * n + [0] * n], "b_eq": [1]}
    rises = np.hstack([np.eye(n), -np.eye(n)])
    return {
        "bounds": [(0, 1)] * (2 * n), "A_eq": [[1] * n + [0] * n], "b_eq": [1],
        "A_ub": np.vstack([rises, [0] * n + [1] * n]), "b_ub": [*prior, nearby.distance],
    }  # fmt: skip


def largest(nearby, prior, values):
    """Return the near prior with the largest mean of some values, by a linear program."""
    found = linprog(np.concatenate([-values, np.zeros(len(prior))]), **polytope(nearby, prior))
    return found.x[: len(prior)]


def is_near(nearby, prior, found):
    if abs(found.sum() - 1) > 1e-9 or found.min() < 0:
        return False
    if nearby.factor is None:
        return np.abs(found - prior).sum() / 2 <= nearby.distance + 1e-9
    return (found <= nearby.factor * prior + 1e-9).all() and (
        found >= prior / nearby.factor - 1e-9
    ).all()


def attackers(releases, guesses, *, abstain=True):
    """List every attacker: the guess after each release, or none."""
    return list(product([*[None] * abstain, *range(guesses)], repeat=releases))


def gain(attacker, prior, channel, holds, again, factor):
    """Return the gain of an attacker at a prior, release by release; and the slope of success."""
    won, lost = np.zeros(len(prior)), 0.0
    for release, guess in enumerate(attacker):
        if guess is not None:
            won += channel[:, release] * holds[guess]
            lost += (prior @ channel[:, release]) * (prior @ again[guess])
    return float(prior @ won) - factor * lost, won


@pytest.mark.repeats(40, 400)
def test_the_largest_mean_is_that_of_a_linear_program(repeats):
    rng = np.random.default_rng(3)
    for number in range(repeats):
        nearby, prior = NEAR[number % 4], rng.dirichlet(np.full(5, 0.7))
        values = rng.integers(-2, 3, 5) * 1.0 if number % 3 else rng.normal(size=5)
        found = nearby.towards(prior, values)
        assert is_near(nearby, prior, found)
        most = largest(nearby, prior, values) @ values
        assert found @ values == pytest.approx(most, abs=1e-9)


@pytest.mark.repeats(6, 200)
@pytest.mark.parametrize("epsilon", [0.0, 0.7])
def test_no_near_prior_needs_more_than_the_limit(repeats, epsilon):
    """Own baseline: all attackers, at the priors of linear programs and at random near ones."""
    factor, tight, reached = math.exp(epsilon), 0, 0
    for seed in range(repeats):
        nearby = NEAR[seed // 2 % 4]
        abstain = seed % 4 > 0
        who = attackers(2, 3, abstain=abstain)
        prior, channel, holds, again, exact = drawn(seed, looser=seed % 3 == 0, abstain=abstain)
        found = NearPriors(exact, nearby, epsilon)
        tried = [found.worst[1], prior]
        for attacker in who:
            _, slope = gain(attacker, prior, channel, holds, again, factor)
            base = sum(again[z] for z in attacker if z is not None) - np.zeros(3)
            tried += [largest(nearby, prior, slope - w * base) for w in (0.0, factor / 2, factor)]
        every = [max(gain(a, p, channel, holds, again, factor)[0] for a in who) for p in tried]
        assert max(every) <= found.at_most + 1e-9
        assert is_near(nearby, prior, found.worst[1])
        assert max(found.worst[0], 0.0) == pytest.approx(max(every[0], 0.0), abs=1e-12)
        assert found.member.delta(epsilon) == pytest.approx(max(found.worst[0], 0.0), abs=1e-12)
        assert found.worst[0] >= every[1] - 1e-12
        reached += found.worst[0] >= max(every) - 1e-3
        tight += found.at_most <= 1.25 * found.worst[0] + 0.02
    assert reached >= 0.8 * repeats
    assert tight >= repeats / 4


@pytest.mark.repeats(8, 200)
def test_the_fixed_baseline_is_between_both_limits(repeats):
    """All attackers, for each the linear program over all near priors: exact, not a sample."""
    for seed in range(repeats):
        nearby, epsilon = NEAR[seed // 2 % 4], 0.3 * (seed % 2)
        prior, channel, holds, again, exact = drawn(seed)
        n, most = len(prior), -math.inf
        fences = polytope(nearby, prior)
        guesses = np.hstack([again, np.zeros((len(again), n)), -np.ones((len(again), 1))])
        rows, ends = fences.get("A_ub", np.zeros((0, 2 * n))), fences.get("b_ub", [])
        for attacker in attackers(2, 3):
            _, won = gain(attacker, prior, channel, holds, again, 0.0)
            program = linprog(
                np.concatenate([-won, np.zeros(n), [math.exp(epsilon)]]),
                A_ub=np.vstack([guesses, np.hstack([rows, np.zeros((len(rows), 1))])]),
                b_ub=[*np.zeros(len(again)), *ends],
                A_eq=[[*fences["A_eq"][0], 0]], b_eq=[1], bounds=[*fences["bounds"], (0, 1)],
            )  # fmt: skip
            most = max(most, -program.fun)
        found = NearPriors(exact, nearby, epsilon, fixed=True)
        assert found.worst[0] <= max(most, 0.0) + 1e-9
        assert found.at_most >= max(most, 0.0) - 1e-9
        assert found.member.robust(epsilon)[0] == pytest.approx(max(found.worst[0], 0.0), abs=1e-12)


@pytest.mark.parametrize("nearby", [Nearby(factor=1.0), Nearby(distance=0.0)])
@pytest.mark.parametrize("seed", range(4))
def test_the_given_prior_alone_is_the_exact_profile(nearby, seed):
    exact = drawn(seed)[-1]
    for epsilon in (0.0, 0.5):
        found = NearPriors(exact, nearby, epsilon)
        assert found.worst[1] is found.prior
        assert found.at_most == pytest.approx(exact.delta(epsilon), abs=1e-12)
        fixed = NearPriors(exact, nearby, epsilon, fixed=True)
        assert fixed.at_most == pytest.approx(exact.robust(epsilon)[0], abs=1e-12)


@pytest.mark.parametrize("nearby", [Nearby(factor=1.2), Nearby(distance=0.1)])
@pytest.mark.parametrize("values", [3, 4])
def test_the_worst_found_is_no_better_than_a_vertex(values, nearby):
    """Vertices by linear programs in random directions: none of them needs more."""
    chance = math.e / (math.e + values - 1)
    channel = np.full((values, values), (1 - chance) / (values - 1))
    np.fill_diagonal(channel, chance)
    prior = np.arange(values, 0, -1) / sum(range(values + 1))
    world = Finite([[x] for x in range(values)], prior.tolist())
    exact = write_out(Game(world, Listed(channel), Listed(np.eye(values))))
    rng = np.random.default_rng(1)
    found = NearPriors(exact, nearby, 0.5)
    for _ in range(60):
        at = largest(nearby, prior, rng.normal(size=values))
        gains = np.diag(at) @ channel - math.exp(0.5) * np.outer(at, at @ channel)
        assert found.worst[0] >= np.maximum(gains.max(axis=0), 0).sum() - 1e-9


def test_a_prior_that_depends_on_the_order_of_records_needs_more_than_one_that_does_not():
    """Up to order, guesses name the first record; of a near prior another may be the worst."""
    world = Bits(3, 0.3)
    every = world.enumerate()
    listed = Finite(every.data, every.sample[0].tolist())
    short, whole = (write_out(Game(w, CountingQuery(), Pinned(1))) for w in (world, listed))
    assert "up to the order" in why_not_near(short)
    assert not why_not_near(whole)
    blind, found = (NearPriors(exact, Nearby(distance=0.04), 0.2) for exact in (short, whole))
    assert found.worst[0] > blind.worst[0] + 0.001


@pytest.mark.parametrize(
    ("game", "why"),
    [
        (Game(Pairs([[[0], [1]]]), RandomizedResponse(1.0), FirstBit()), "no single prior"),
        (
            Game(Finite([[0], [1]], [[0.2, 0.8], [0.7, 0.3]]), RandomizedResponse(1.0), FirstBit()),
            "no single prior",
        ),
        (
            Game(Bits(1), AdaptiveComposition([RandomizedResponse(1.0)], 1), FirstBit()),
            "talked with",
        ),
    ],
)
def test_a_game_that_cannot_have_it_says_why(game, why):
    assert why in why_not_near(write_out(game))
