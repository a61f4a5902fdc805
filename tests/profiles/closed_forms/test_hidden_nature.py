"""Small worlds with a hidden distribution, against populations that are listed."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest

from narcissus.errors import TooLargeError
from narcissus.profiles.closed_forms.hidden_nature import (
    SmallSuperset,
    SmallTardos,
    data_sets,
    exact_average_delta,
    small_delta,
)


def sums(rows):
    return tuple(map(sum, zip(*rows, strict=True)))


def pairs_of(natures, draw):
    """Chance of each pair (data set, fresh row set) by listing every Nature."""
    found = Counter()
    for nature, chance in natures:
        samples = draw(nature)
        for a, b in itertools.product(samples, repeat=2):
            found[tuple(sorted(a)), frozenset(b)] += Fraction(chance) / len(samples) ** 2
    return found


def tardos(population, d):
    for rows in itertools.product(itertools.product((0, 1), repeat=d), repeat=population):
        columns = [sum(c) for c in zip(*rows, strict=True)]
        yield (
            rows,
            math.prod(Fraction(1, (population + 1) * math.comb(population, c)) for c in columns),
        )


def agrees(world, listed):
    law, hits = Counter(), Counter()
    for (rows, fresh), chance in listed.items():
        law[rows] += chance
        for row in itertools.product((0, 1), repeat=world.d):
            hits[rows, row] += chance * (row in fresh)
    for rows in data_sets(world):
        assert world.chance(rows) == law[rows]
        for row in itertools.product((0, 1), repeat=world.d):
            if law[rows]:
                assert world.fresh(row, rows) == hits[rows, row] / law[rows]
    gained = Counter()
    for y in {sums(rows) for rows in law}:
        group = [rows for rows in law if sums(rows) == y]
        gained[y] = max(
            sum(law[r] * (z in r) - hits[r, z] for r in group)
            for z in itertools.product((0, 1), repeat=world.d)
        )
    assert small_delta(world, sums) == sum(max(Fraction(0), x) for x in gained.values())


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.3", "Definition 3.1")
@pytest.mark.parametrize(("population", "d", "n"), [(3, 2, 2), (4, 1, 2), (4, 2, 2), (4, 2, 3)])
def test_the_tardos_prior_by_listing_populations(population, d, n):
    def draw(nature):
        return list(itertools.permutations(nature, n))

    agrees(SmallTardos(population, d, n), pairs_of(tardos(population, d), draw))


@pytest.mark.states("Kaplan et al. 2025", "Example 1.5")
@pytest.mark.parametrize(("size", "d", "n"), [(3, 2, 2), (2, 2, 3), (4, 3, 2)])
def test_a_hidden_set_by_listing_sets(size, d, n):
    rows = list(itertools.product((0, 1), repeat=d))
    sets = list(itertools.combinations(rows, size))

    def draw(nature):
        return list(itertools.product(nature, repeat=n))

    agrees(SmallSuperset(size, d, n), pairs_of(((s, Fraction(1, len(sets))) for s in sets), draw))


def test_values_of_the_theory_and_what_is_too_large():
    found = [small_delta(SmallTardos(*s), sums) for s in ((3, 2, 2), (4, 2, 2), (4, 2, 3))]
    assert found == [Fraction(7, 72), Fraction(4, 27), Fraction(67, 600)]
    with pytest.raises(TooLargeError, match="fewer rows or bits"):
        small_delta(SmallTardos(9, 10, 4), sums)


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.1")
@pytest.mark.parametrize(
    "size", [(2, 2, 2), (3, 2, 2), (6, 3, 2), (3, 2, 3), (5, 3, 3), (9, 2, 4), (4, 3, 1)]
)
@pytest.mark.parametrize("epsilon", [0.0, 0.7])
def test_kinds_of_columns_against_all_data_sets(size, epsilon):
    listed = small_delta(
        SmallTardos(*size), lambda rows: tuple(map(sum, zip(*rows, strict=True))), epsilon
    )
    found = exact_average_delta(*size, epsilon)
    assert found == (pytest.approx(float(listed), abs=1e-14) if epsilon else listed)


@pytest.mark.parametrize(
    ("size", "value"),
    [((100, 20, 2), 0.05023638823), ((20, 20, 3), 0.06363201786), ((20, 12, 4), 0.15736458261)],
)
def test_values_of_the_theory(size, value):
    assert float(exact_average_delta(*size)) == pytest.approx(value, abs=5e-12)


def test_too_many_kinds():
    with pytest.raises(TooLargeError, match="kinds of averages"):
        exact_average_delta(20, 200, 12)
