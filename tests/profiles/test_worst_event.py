"""The pair and the event where privacy fails, held against all events and against games."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest

from narcissus import load_study
from narcissus.errors import InputError
from narcissus.game import play
from narcissus.profiles import profile, worst_event
from narcissus.success.statements import Resilience


def rows_of(seed, secrets=3):
    return np.random.default_rng(seed).dirichlet(np.full(4, 0.6), secrets)


@pytest.mark.states("Cohen et al. 2024", "Definition A.1")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_no_pair_and_event_is_worse(seed, epsilon):
    rows = rows_of(seed)
    events = [list(e) for size in range(5) for e in combinations(range(4), size)]
    all_of = {
        (pair, tuple(event)): rows[pair[0], event].sum()
        - math.exp(epsilon) * rows[pair[1], event].sum()
        for pair, event in product(permutations(range(3), 2), events)
    }
    found = worst_event(rows, epsilon)
    assert found.delta == pytest.approx(max(all_of.values()), abs=1e-14)
    assert all_of[found.pair, found.event] == pytest.approx(found.delta, abs=1e-14)


@pytest.mark.states("Cohen et al. 2024", "Theorem A.4", "Theorem E.1")
@pytest.mark.states("Narcissus theory", "2.1")
@pytest.mark.parametrize("seed", range(3))
def test_its_games_are_won_by_what_it_says(seed):
    found = worst_event(rows_of(seed), 0.5)
    assert profile(found.game(), 0.5).delta[0] == pytest.approx(found.over_pair, abs=1e-13)
    uniform = profile(found.game(uniform=True), found.uniform_epsilon).delta[0]
    assert uniform == pytest.approx(found.over_uniform_pair, abs=1e-13)
    assert found.over_pair >= found.delta / 2
    assert found.over_uniform_pair >= found.delta / (2 * (1 + math.exp(0.5)))


def test_it_is_written_out_as_a_study_that_violates(tmp_path):
    found = worst_event(rows_of(1), 0.5)
    (tmp_path / "broken.toml").write_text(found.study(), encoding="utf-8")
    study = load_study(tmp_path / "broken.toml")
    assert profile(study, 0.5).delta[0] == pytest.approx(found.over_pair, abs=1e-13)
    statement = Resilience(0.5, found.delta / 2 * (1 - 1e-9))
    game = found.game()
    attacker = profile(game, 0.5).attacker(0.5)
    done = play(game, attacker, statement, trials=20_000, rng=1)
    assert done.outcome == "violates"


def test_only_neighbours_count():
    rows = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    assert worst_event(rows, 0.0).delta == 1.0
    near = worst_event(rows, 0.0, neighbours=[(1, 0), (1, 2)])
    assert (near.delta, set(near.pair) in ({0, 1}, {1, 2})) == (0.5, True)


def test_neighbours_are_looked_at_in_both_orders():
    """The second data set alone gives output 1: by hand, .5 against nothing."""
    rows = [[1.0, 0.0], [0.5, 0.5]]
    for neighbours in ([(0, 1)], [(1, 0)]):
        found = worst_event(rows, 1.0, neighbours=neighbours)
        assert (found.pair, found.event, found.delta) == ((1, 0), (1,), 0.5)


def test_a_private_mechanism_has_no_event():
    found = worst_event([[0.6, 0.4], [0.4, 0.6]], 1.0)
    assert (found.delta, found.event, found.over_pair) == (0.0, (), 0.0)


@pytest.mark.parametrize("neighbours", [[], [(0, 0)], [(0, 2)]])
def test_pairs_that_are_none_are_refused(neighbours):
    with pytest.raises(InputError, match="two different rows, 0 to 1"):
        worst_event([[0.6, 0.4], [0.4, 0.6]], 1.0, neighbours=neighbours)
