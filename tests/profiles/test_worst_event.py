"""The pair and the event where privacy fails, held against all events and against games."""

from __future__ import annotations

import itertools
import json
import math
from itertools import combinations, permutations, product

import numpy as np
import pytest

from narcissus import Game, load_study, profile
from narcissus.errors import InputError, TooLargeError
from narcissus.game import play
from narcissus.mechanisms import CountingQuery, RandomizedResponse, through_channel
from narcissus.profiles import worst_event, worst_neighbours
from narcissus.success.relations import Prefix
from narcissus.success.statements import Resilience
from narcissus.worlds import Bits, Family, Neighbours, Pairs, RandomNeighbours


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


class Labels:
    def __init__(self, seed):
        self.rows = np.random.default_rng(seed).dirichlet(np.full(3, 0.5), 8)

    def channel(self, data):
        number = data.reshape(len(data), -1) @ [1, 2, 4]
        return through_channel(self.rows.tolist()).channel(number[:, None])


@pytest.mark.states("Cohen et al. 2024", "Definition A.1", "Theorem A.4")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("world", [Bits(3), Neighbours(3), RandomNeighbours(3)])
def test_no_neighbours_and_event_are_worse(seed, world):
    rows, epsilon = Labels(seed).rows, 0.4
    worst = 0.0
    for a, b in itertools.permutations(itertools.product((0, 1), repeat=3), 2):
        if sum(x != y for x, y in zip(a, b, strict=True)) != 1:
            continue
        p, q = (rows[int(np.dot(one, [1, 2, 4]))] for one in (a, b))
        for event in itertools.product((0, 1), repeat=3):
            worst = max(worst, float(np.dot(event, p) - math.exp(epsilon) * np.dot(event, q)))
    found = worst_neighbours(Game(world, Labels(seed), Prefix()), epsilon)
    assert found.event.delta == pytest.approx(worst, abs=1e-14)
    assert found.pairs == 12
    zero, one = (np.ravel(data) for data in found.data)
    assert (zero != one).sum() == 1
    p, q = (rows[int(np.dot(data, [1, 2, 4]))] for data in (zero, one))
    assert np.maximum(p - math.exp(epsilon) * q, 0).sum() == pytest.approx(worst, abs=1e-14)
    assert found.grade == "proved if"


@pytest.mark.states("Cohen et al. 2024", "Theorem A.4", "Theorem E.1")
@pytest.mark.parametrize("uniform", [False, True])
def test_the_study_that_is_written_breaks_by_as_much_as_is_said(tmp_path, uniform):
    found = worst_neighbours(Game(Bits(3), RandomizedResponse(1.0), Prefix()), 0.5)
    path = tmp_path / "broken.toml"
    path.write_text(found.event.study(uniform=uniform, names=("[0]", "[1]")), encoding="utf-8")
    study = load_study(path)
    epsilon = study.settings.statement.options["epsilon"]
    said = found.to_dict()
    gained = said["over_uniform_pair"] if uniform else said["over_pair"]
    least = said["over_uniform_pair_at_least"] if uniform else said["over_pair_at_least"]
    delta = math.exp(1) / (1 + math.exp(1)) - math.exp(0.5) / (1 + math.exp(1))
    assert said["delta"] == pytest.approx(delta)
    assert least == pytest.approx(delta / (2 * (1 + math.exp(0.5)) if uniform else 2))
    assert profile(study, epsilon).delta[0] == pytest.approx(gained, rel=1e-12)
    assert gained >= least > study.settings.statement.options["delta"]
    assert "0 stands for [0]" in path.read_text(encoding="utf-8")


def test_what_is_private_is_said_to_be():
    found = worst_neighbours(Game(Neighbours(2), RandomizedResponse(1.0), Prefix()), 1.0)
    assert found.private
    assert "PROVED: (1, 0)-differentially private over 4 pairs" in str(found)
    less = worst_neighbours(Game(Neighbours(2), RandomizedResponse(1.0), Prefix()), 0.99)
    assert not less.private
    assert "not (0.99, delta)-differentially private" in str(less)


def test_a_list_of_pairs_and_a_family_are_looked_at_as_they_are():
    pairs = Pairs([[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[0, 0], [1, 1]]])
    found = worst_neighbours(Game(pairs, CountingQuery(0.5), Prefix()), 1.0)
    assert found.pairs == 2  # the third pair differs in both records
    family = Family([Bits(2, 0.1), Bits(2, 0.7)])
    assert worst_neighbours(Game(family, CountingQuery(), Prefix()), 1.0).pairs == 4
    json.dumps(found.to_dict(), allow_nan=False)


def test_what_cannot_be_looked_at_is_refused():
    for game, error, match in [
        (Game(Bits(13), CountingQuery(), Prefix()), TooLargeError, "8,192 data sets"),
        (Game(object(), CountingQuery(), Prefix()), InputError, "object cannot be written"),
        (Game(Pairs([[[0, 0], [1, 1]]]), CountingQuery(), Prefix()), InputError, "exactly one"),
        (Game(Bits(2), object(), Prefix()), InputError, "mechanism object cannot be written"),
    ]:
        with pytest.raises(error, match=match):
            worst_neighbours(game, 1.0)
    with pytest.raises(TooLargeError, match="at most 10"):
        worst_neighbours(Game(Bits(3), CountingQuery(), Prefix()), 1.0, limit=10)
