"""What holds between rates: against the exact profile at many rates."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from narcissus import Game
from narcissus.errors import InputError
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import (
    Constant,
    CountingQuery,
    Identity,
    RandomizedResponse,
    through_channel,
)
from narcissus.profiles import cover, why_not_covered, write_out
from narcissus.profiles.cover import _Between
from narcissus.success.relations import Isolates, Member, Own, Pinned, Prefix, RandomRow
from narcissus.worlds import Bits, MonaLisa, Uniform


class Labels:
    """Releases a random label of the data set, by a channel of its own."""

    def __init__(self, seed, labels=3, n=3):
        self.rows = np.random.default_rng(seed).dirichlet(np.full(labels, 0.3), 2**n)
        self.n = n

    def channel(self, data):
        number = data @ (2 ** np.arange(self.n))
        return through_channel(self.rows.tolist()).channel(number[:, None])


def number(data):
    return int(data @ [1, 2, 4])


GAMES = {
    "count": Game(Bits(30), CountingQuery(), Pinned(1)),
    "count with a cut, two places": Game(Bits(12), CountingQuery(0.25), Pinned(2)),
    "whole data set": Game(Bits(3), RandomizedResponse(1.0), Prefix()),
    "everything is told": Game(Bits(2), Identity(), Prefix()),
    "nothing is told": Game(Bits(3), Constant(), Prefix()),
    "membership": Game(Bits(3), CountingQuery(), RandomRow()),
    "two criteria": Game(
        Bits(3),
        RandomizedResponse(0.7),
        Own(lambda data, z: number(data) == z, attempts=list(range(8))),
        looser=Own(lambda data, z: number(data) % 4 == z % 4, attempts=list(range(8))),
    ),
    "Mona Lisa": Game(MonaLisa(2, 2), Identity(), Member()),
    **{f"labels {seed}": Game(Bits(3), Labels(seed), Prefix()) for seed in range(4)},
}


def exact_at(game, rate, epsilon, *, abstain=True):
    return write_out(replace(game, world=replace(game.world, rate=rate)), abstain=abstain).delta(
        epsilon
    )


@pytest.mark.states("Narcissus theory", "2.2")
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("abstain", [True, False])
@pytest.mark.one_in(4)
def test_no_rate_of_an_interval_exceeds_either_limit(name, abstain):
    game = GAMES[name]
    rng = np.random.default_rng(7)
    for epsilon in (0.0, 0.4, 2.0):
        between = _Between(write_out(game, abstain=abstain), epsilon)
        for width in (0.5, 0.05, 0.002):
            low = rng.choice([0.0, 1 - width, rng.uniform(0, 1 - width)])
            high = low + width
            rates = [low, high, *rng.uniform(low, high, 6)]
            found = [exact_at(game, rate, epsilon, abstain=abstain) for rate in rates]
            assert max(found) <= between.enclosed(low, high) + 1e-13
            assert max(found) - min(found) <= between.moved(low, high) + 1e-13
            assert max(found) <= between.limit(low, (low + high) / 2, high) + 1e-13
            assert between.least(low) == pytest.approx(found[0], rel=1e-9, abs=1e-13)


@pytest.mark.states("Cohen et al. 2024", "Definition 1.6")
@pytest.mark.parametrize("name", GAMES)
def test_the_worst_rate_of_a_dense_grid_is_within_the_tolerance(name):
    game = GAMES[name]
    found = cover(write_out(game), 0.0, 1.0, 0.3, tolerance=0.03, budget=4000)
    assert found.complete
    grid = [exact_at(game, rate, 0.3) for rate in np.linspace(0, 1, 81)]
    assert max(grid) <= found.at_most + 1e-13
    assert found.at_most <= found.least + 0.03
    assert exact_at(game, found.rate, 0.3) == pytest.approx(found.least, rel=1e-9, abs=1e-13)
    own = "labels" in name or "criteria" in name
    assert found.grade == ("proved if" if own else "proved")


def test_both_limits_are_needed_and_get_small_with_the_interval():
    """The enclosure is sharper where few releases gain, the distance where all do."""
    few = _Between(write_out(Game(Bits(100), CountingQuery(), Pinned(1))), 1.0)
    assert few.enclosed(0.5, 0.51) < 1e-3 < few.moved(0.5, 0.51)
    all_of = _Between(write_out(Game(Bits(4), Constant(), RandomRow())), 0.0)
    assert all_of.limit(0.45, 0.455, 0.46) < 0.8 * all_of.enclosed(0.45, 0.46)
    for game in GAMES.values():
        between = _Between(write_out(game), 0.3)
        at = between.least(0.3)
        wide, narrow = between.limit(0.3, 0.31, 0.32) - at, between.limit(0.3, 0.3001, 0.3002) - at
        assert narrow <= max(wide / 10, 1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_worst_rate_of_the_count_is_found_at_both_ends(epsilon):
    """By the sum over counts: for small rates p (1 - e^epsilon (1 - (1 - p)^n)) and more."""
    n = 100
    share, factor = np.arange(n + 1) / n, math.exp(epsilon)

    def by_hand(p):
        ways = stats.binom.pmf(np.arange(n + 1), n, p)
        gains = np.maximum(np.maximum(share - factor * p, 1 - share - factor * (1 - p)), 0)
        return float(ways @ gains)

    game = write_out(Game(Bits(n), CountingQuery(), Pinned(1)))
    found = cover(game, 0.0, 1.0, epsilon, tolerance=4e-4, budget=4000)
    worst = max(map(by_hand, np.geomspace(1e-5, 0.5, 2000)))
    assert found.least <= worst + 1e-12
    assert worst <= found.at_most <= worst + 4e-4
    assert by_hand(found.rate) == pytest.approx(found.least, rel=1e-9)


def test_the_budget_ends_the_search_and_what_is_proved_is_still_true():
    game = write_out(GAMES["count"])
    wide = cover(game, 0.0, 1.0, 1.0, tolerance=1e-9, budget=9)
    tight = cover(game, 0.0, 1.0, 1.0, tolerance=1e-3)
    assert not wide.complete
    assert wide.looked_at == 9
    assert wide.at_most > tight.at_most >= tight.least
    assert "at every rate from 0 to 1" in str(wide)


def test_a_target_ends_the_search_once_it_is_decided():
    game = write_out(GAMES["count"])
    full = cover(game, 0.0, 1.0, 1.0, tolerance=2e-4, budget=20_000)
    enough = cover(game, 0.0, 1.0, 1.0, tolerance=0.0, target=2 * full.at_most)
    short = cover(game, 0.0, 1.0, 1.0, tolerance=0.0, target=full.least / 2)
    assert enough.at_most <= 2 * full.at_most
    assert short.least > full.least / 2
    assert max(enough.looked_at, short.looked_at) < full.looked_at


def test_time_is_said_before_and_progress_on_the_way():
    class Heard:
        def __init__(self):
            self.steps, self.total, self.ended = 0, 0, False

        def start(self, what, total, done=0):
            self.total = total

        def advance(self, steps=1):
            self.steps += steps

        def finish(self):
            self.ended = True

        def note(self, message):
            raise AssertionError(message)

    heard, said = Heard(), []
    game = write_out(GAMES["count"])
    found = cover(game, 0.0, 1.0, 1.0, agreed=said.append, observer=heard, budget=500)
    assert len(said) == 1
    assert said[0] > 0
    assert (heard.steps, heard.total, heard.ended) == (found.looked_at, 500, True)

    def refuse(seconds):
        raise InputError("too long")

    heard = Heard()
    with pytest.raises(InputError, match="too long"):
        cover(game, 0.0, 1.0, 1.0, agreed=refuse, observer=heard)
    assert heard.total == 0


def test_what_nothing_is_known_of_is_named():
    bits = Bits(3)
    cases = {
        "the world Uniform does not say": Game(Uniform(2, 1), Identity(), Prefix()),
        "the world Bits does not say": Game(Bits(2, [0.1, 0.2]), Identity(), Prefix()),
        "depends on the rate": Game(bits, Identity(), Prefix(), side=KnownRows(1)),
    }
    for said, game in cases.items():
        exact = write_out(game)
        assert said in why_not_covered(exact)
        with pytest.raises(InputError, match="nothing is known between the points"):
            cover(exact, 0.0, 1.0, 1.0)
    assert why_not_covered(write_out(Game(bits, Identity(), Isolates()))) == ""


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"low": 0.5, "high": 0.5}, "an interval of rates"),
        ({"high": 1.5}, "an interval of rates"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"points": (0.2, 0.4), "budget": 2}, "`budget` must be at least 3"),
    ],
)
def test_wrong_arguments_are_refused(changes, match):
    given = {"low": 0.0, "high": 1.0, "epsilon": 1.0, **changes}
    with pytest.raises(InputError, match=match):
        cover(write_out(GAMES["nothing is told"]), **given)


@pytest.mark.states("Narcissus theory", "2.2")
@pytest.mark.parametrize("seed", range(3))
def test_random_games_are_covered_at_random_rates(seed):
    rng = np.random.default_rng(seed)
    epsilon = float(rng.uniform(0, 2))
    table = rng.random((8, 8)) < 0.4
    relation = Own(lambda data, z: table[number(data), z], attempts=list(range(8)))
    game = Game(Bits(3), Labels(seed), relation)
    found = cover(write_out(game), 0.0, 1.0, epsilon, tolerance=0.05, budget=2000)
    for rate in rng.random(12):
        assert exact_at(game, rate, epsilon) <= found.at_most + 1e-13


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3, 300))
def test_many_random_games_are_covered_at_random_rates(seed):
    test_random_games_are_covered_at_random_rates(seed)


def test_what_a_release_costs_whoever_must_attempt_counts_at_its_least():
    """At some releases every attempt loses: the less likely they are, the more is gained."""
    rows = np.array([[1.0, 0.0], [0.092, 0.908], [0.948, 0.052], [1.0, 0.0]])
    holds = np.array([[0, 1], [1, 1], [0, 1], [1, 1]], dtype=bool)

    class Told:
        def channel(self, data):
            return through_channel(rows.tolist()).channel((data @ [1, 2])[:, None])

    relation = Own(lambda data, z: holds[int(data @ [1, 2]), z], attempts=[0, 1])
    game = Game(Bits(2), Told(), relation)
    between = _Between(write_out(game, abstain=False), 0.1)
    low, high = 0.5441953, 0.5641953
    worst = max(exact_at(game, rate, 0.1, abstain=False) for rate in np.linspace(low, high, 7))
    assert 0.001 < worst <= between.enclosed(low, high) + 1e-13
