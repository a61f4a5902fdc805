"""Hidden populations and lists: how often rows are shared, surprisal, and written out."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, profile
from narcissus.errors import InputError, TooLargeError
from narcissus.knowledge import Hidden, KnownRows
from narcissus.mechanisms import Constant, ExactAverage, Parity
from narcissus.profiles import Bayes, write_out
from narcissus.profiles.closed_forms.hidden_nature import SmallSuperset, small_delta
from narcissus.success.relations import Member
from narcissus.worlds import Superset, Tardos
from narcissus.worlds.tardos import multisets, orders


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.3")
def test_tardos_shares_rows_as_often_as_it_should(within):
    world = Tardos(40, 200, 10)  # 200 bits: equal rows are the same people
    rng = np.random.default_rng(6)
    draw = world.draw(3000, rng)
    fresh = world.fresh(draw, rng)
    shared = (draw.data[:, :, None] == fresh[:, None]).all(axis=3).sum(axis=(1, 2))
    law = stats.hypergeom(40, 10, 10)
    for count in range(7):
        assert within(int((shared == count).sum()), 3000, float(law.pmf(count)))
    # Column counts of a data set are uniform on 0 .. n, under Laplace's rule.
    ones = draw.data[:, :, 0].sum(axis=1)
    for count in range(11):
        assert within(int((ones == count).sum()), 3000, 1 / 11)
    # Columns of the fresh rows that are not shared follow the same hidden rates.
    left = np.corrcoef(draw.data.mean(axis=1)[:, 0], fresh.mean(axis=1)[:, 0])[0, 1]
    assert left > 0.7


@pytest.mark.states("Kaplan et al. 2025", "Observation 4.2")
def test_tardos_given_rows_keeps_them_and_mixes_the_last(within):
    world = Tardos(20, 100, 5)
    rng = np.random.default_rng(7)
    draw = world.draw(4000, rng)
    side = KnownRows(4)
    known = side.reveal(world, draw, rng)
    fresh = side.fresh(world, draw, known, rng)
    assert (fresh[:, :4] == draw.data[:, :4]).all()
    same = (fresh[:, 4] == draw.data[:, 4]).all(axis=1)
    assert within(int(same.sum()), 4000, 1 / (20 - 5 + 1))  # Observation 4.2, corrected


def test_tardos_surprisal_is_the_rule_of_succession():
    world = Tardos(10, 3, 4)
    draw = world.draw(50, np.random.default_rng(10))
    bits = world.surprisal(draw, np.full(50, 1))
    for trial in range(50):
        others = np.delete(draw.data[trial], 1, axis=0).sum(axis=0)
        one = (others + 1) / 5
        chance = np.where(draw.data[trial, 1] == 1, one, 1 - one)
        assert bits[trial] == pytest.approx(-np.log2(chance).sum())


def test_multisets_by_listing():
    found = multisets(3, 4)
    listed = Counter(
        tuple(one.count(k) for k in range(3)) for one in itertools.product(range(3), repeat=4)
    )
    assert {tuple(one) for one in found.tolist()} == set(listed)
    for one, ways in zip(found.tolist(), orders(found), strict=True):
        assert ways == listed[tuple(one)]


def pairs_of(enumeration):
    """Chance of each pair of data sets, the released and the fresh one, in their order."""
    chance = np.einsum("v,vs,vt->st", enumeration.weight, enumeration.sample, enumeration.fresh)
    data = [tuple(map(tuple, one)) for one in enumeration.data.tolist()]
    return {(a, b): chance[i, j] for i, a in enumerate(data) for j, b in enumerate(data)}


def rows_of(d):
    return list(itertools.product((0, 1), repeat=d))


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.3")
@pytest.mark.parametrize(("total", "d", "n"), [(3, 2, 2), (4, 1, 3), (2, 2, 1), (2, 1, 2)])
def test_the_tardos_prior_by_every_population(total, d, n):
    law = Counter()
    for people in itertools.product(rows_of(d), repeat=total):
        ones = [sum(column) for column in zip(*people, strict=True)]
        chance = math.prod(Fraction(1, (total + 1) * math.comb(total, c)) for c in ones)
        samples = list(itertools.permutations(people, n))
        for pair in itertools.product(samples, repeat=2):
            law[pair] += chance / len(samples) ** 2
    found = pairs_of(Tardos(total, d, n).enumerate())
    for pair, chance in found.items():
        assert chance == pytest.approx(float(law[pair]), abs=1e-14)


@pytest.mark.states("Kaplan et al. 2025", "Example 1.5", "Example 1.6")
@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("trivial", [0.0, 0.25])
def test_a_hidden_list_by_every_list(distinct, trivial):
    world = Superset(2, 2, 3, trivial, distinct)
    lists = [one for one in itertools.product(rows_of(2), repeat=3)
             if not distinct or len(set(one)) == 3]  # fmt: skip
    law = Counter()
    for one in lists:
        chance = Counter()
        for row in one:
            chance[row] += (1 - trivial) / 3
        chance[0, 0] += trivial
        for a, b, c, e in itertools.product(rows_of(2), repeat=4):
            law[(a, b), (c, e)] += chance[a] * chance[b] * chance[c] * chance[e] / len(lists)
    found = pairs_of(world.enumerate())
    assert len(found) == 4**4
    for pair, value in found.items():
        assert value == pytest.approx(law[pair], abs=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_list_with_repeats_by_partitions_of_the_rows(n):
    """Rows fall on D places of the list: ``perm(M, D) M^-n 2^(-dD)`` for each way to."""
    places, d = 4, 2
    law = Counter()
    for index in itertools.product(range(places), repeat=n):
        drawn = sorted(set(index))
        for rows in itertools.product(rows_of(d), repeat=len(drawn)):
            data = tuple(rows[drawn.index(i)] for i in index)
            law[data] += Fraction(1, places**n * 2 ** (d * len(drawn)))
    listed = Superset(n, d, places).enumerate()
    chance = listed.weight @ listed.sample
    for data, found in zip(listed.data.tolist(), chance, strict=True):
        assert found == pytest.approx(float(law[tuple(map(tuple, data))]), abs=1e-14)


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.1", "Example 1.5")
def test_exact_profiles_of_the_theory():
    for size, value in (((3, 2, 2), 7 / 72), ((4, 2, 2), 4 / 27), ((4, 2, 3), 67 / 600)):
        found = profile(Game(Tardos(*size), ExactAverage(), Member()), 0.0).delta[0]
        assert found == pytest.approx(value, abs=1e-14)
    hidden = Game(Superset(2, 2, 3, distinct=True), Parity(), Member())
    cases = pytest.importorskip("narcissus_papers.kaplan.cases")
    exact = float(small_delta(SmallSuperset(3, 2, 2), cases.parities))
    assert profile(hidden, 0.0).delta[0] == pytest.approx(exact, abs=1e-14)


def test_who_knows_nature_or_rows_is_told_apart():
    """Of a population of two, whose rows are known, a release of nothing tells nothing."""
    told = write_out(Game(Tardos(2, 2, 1), Constant(), Member(), side=Hidden()))
    assert told.delta(0.0) == pytest.approx(0, abs=1e-15)
    # all rows but one: the last one by subtraction, and fresh data hold it by chance
    game = Game(Tardos(3, 2, 2), ExactAverage(), Member(), side=KnownRows(1))
    exact = profile(game, 0.0)
    assert exact.delta[0] > profile(Game(Tardos(3, 2, 2), ExactAverage(), Member()), 0.0).delta[0]
    with pytest.raises(InputError, match="told `nature` cannot be played"):
        Bayes().prepare(Game(Tardos(2, 2, 1), Constant(), Member(), side=Hidden()))


def test_a_set_has_no_row_twice(within):
    draw = Superset(2, 3, 7, distinct=True).draw(2000, np.random.default_rng(1))
    assert all(len({row.tobytes() for row in one}) == 7 for one in draw.nature)
    missing = [
        (~(one[:, None] == rows_of(3)).all(axis=2).any(axis=0)).argmax() for one in draw.nature
    ]
    for row in range(8):
        assert within(missing.count(row), 2000, 1 / 8)
    with pytest.raises(InputError, match=r"at most 2\^3 where rows are `distinct`"):
        Superset(2, 3, 9, distinct=True)


def test_too_many_populations():
    for world in (Tardos(40, 3, 2), Superset(2, 4, 30), Superset(2, 5, 16, distinct=True)):
        with pytest.raises(TooLargeError, match="populations with"):
            world.enumerate()
