"""Success at two candidates, small worlds in rational numbers, and parities."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError, TooLargeError
from narcissus.profiles.closed_forms.candidates import bayes_success, candidates_success
from narcissus.profiles.closed_forms.hidden_nature import (
    SmallSuperset,
    SmallTardos,
    data_sets,
    exact_average_delta,
    small_delta,
)
from narcissus.profiles.closed_forms.parities import ParityRelease


def listed(n, d):
    """Success of the raw and the centred inner product of d columns, by convolving them."""
    one = defaultdict(float)
    for first, second, c in itertools.product((0, 1), (0, 1), range(n + 1)):
        others = c - first
        if not 0 <= others <= n - 1:
            continue
        ones = first + second + others
        beta = math.factorial(ones) * math.factorial(n + 1 - ones) / math.factorial(n + 2)
        chance = math.comb(n - 1, others) * beta
        one[(first - second) * c, (first - second) * (2 * c - n)] += chance
    law = {(0, 0): 1.0}
    for _ in range(d):
        grown = defaultdict(float)
        for (a, b), p in law.items():
            for (x, y), q in one.items():
                grown[a + x, b + y] += p * q
        law = grown
    return [sum(p * (1 + np.sign(key[place])) / 2 for key, p in law.items()) for place in range(2)]


@pytest.mark.states("Kaplan et al. 2025", "section 4.2")
@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 4), (3, 5), (4, 4)])
def test_inner_products_without_noise_by_listing(n, d):
    raw, centred = listed(n, d)
    assert candidates_success(n, d, math.inf) == pytest.approx(raw, abs=1e-12)
    assert candidates_success(n, d, math.inf, "centred") == pytest.approx(centred, abs=1e-12)


def test_the_best_attacker_without_noise_by_convolution():
    """Three rows: the ratios are steps of log(4 / 3), so many columns can be convolved."""
    d = 60
    # sums 1 and 2 where the candidates differ: 3/60 and 4/60 where the first is in; sum 3 decides
    column = np.array([2 * 3 / 60, 2 / 3, 2 * 4 / 60])
    law = np.array([1.0])
    for _ in range(d):
        law = np.convolve(law, column)
    wrong = law[:d].sum() + law[d] / 2
    assert wrong > 1e-5
    assert bayes_success(3, d, math.inf) == pytest.approx(1 - wrong, abs=2e-8)


@pytest.mark.states("Kaplan et al. 2025", "section 4.2")
@pytest.mark.parametrize(
    ("n", "d", "expected"),
    [(20, 5000, (0.872381, 0.914711, 0.943246)), (100, 1000, (0.563958, 0.634016, 0.637949))],
)
def test_values_of_the_theory_with_noise(n, d, expected):
    found = (
        candidates_success(n, d, 0.1),
        candidates_success(n, d, 0.1, "centred"),
        bayes_success(n, d, 0.1),
    )
    assert found == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        (1000, (0.566025, 0.656910, 0.747415)),
        (5000, (0.645057, 0.816972, 0.951462)),
        (10_000, (0.700605, 0.899439, 0.992239)),
    ],
)
def test_values_of_the_theory_without_noise(d, expected):
    found = (
        candidates_success(100, d, math.inf),
        candidates_success(100, d, math.inf, "centred"),
        bayes_success(100, d, math.inf),
    )
    assert found == pytest.approx(expected, abs=6e-7)


@pytest.mark.states("Kaplan et al. 2025", "section 4.2")
@pytest.mark.parametrize(("n", "d", "epsilon"), [(20, 5000, 0.1), (100, 10_000, math.inf)])
def test_laws_are_nearly_normal(n, d, epsilon):
    """``Phi(sqrt(d) / 6 / sqrt(E X^2 - 1 / 36))`` of the theory, whose moments are listed here."""
    noise = 0.0 if math.isinf(epsilon) else 2 / (3 * epsilon**2)
    c = np.arange(1, n + 1)
    weight = c * (n + 1 - c) / (n * (n + 1) * (n + 2))
    moments = {"centred": (n**2 + 2 * n + 2) / 60, "raw": (3 * n**2 + n + 1) / 30}
    exact = {
        "centred": 2 * (weight * (c - n / 2) ** 2).sum(),
        "raw": (weight * (c**2 + (n - c) ** 2)).sum(),
    }
    for attack, square in moments.items():
        assert square == pytest.approx(exact[attack], rel=1e-12)
        normal = stats.norm.cdf(math.sqrt(d) / 6 / math.sqrt(exact[attack] + noise - 1 / 36))
        assert candidates_success(n, d, epsilon, attack) == pytest.approx(normal, abs=2e-3)


@pytest.mark.parametrize(("d", "step"), [(1000, 1e-4), (5000, 1e-4)])
def test_the_best_attacker_of_exact_averages_on_a_grid_of_ratios(d, step):
    n = 100
    c = np.arange(1, n)
    weight = 2 * c * (n + 1 - c) / (n * (n + 1) * (n + 2))
    place = np.log(c * (n + 1 - c) / ((c + 1) * (n - c))) / step
    low = np.floor(place).astype(int)
    law = np.zeros(1 << 21)
    np.add.at(law, low % law.size, weight * (1 - place + low))
    np.add.at(law, (low + 1) % law.size, weight * (place - low))
    law[0] += 2 / 3
    total = np.fft.irfft(np.fft.rfft(law) ** d, law.size)
    success = 1 - total[law.size // 2 :].sum() - total[0] / 2
    assert bayes_success(n, d, math.inf) == pytest.approx(success, abs=1e-6)


@pytest.mark.nightly
def test_few_columns_with_noise_by_sampling_and_what_is_too_long():
    rng = np.random.default_rng(8)
    n, d, epsilon, size = 4, 6, 1.0, 200_000
    p = rng.random((size, d))
    first, second = rng.random((size, d)) < p, rng.random((size, d)) < p
    y = first + rng.binomial(n - 1, p) + rng.laplace(scale=1 / epsilon, size=(size, d))
    for attack, middle in (("raw", 0.0), ("centred", n / 2)):
        score = ((first.astype(float) - second) * (y - middle)).sum(axis=1)
        won = float((score > 0).mean() + (score == 0).mean() / 2)
        assert candidates_success(n, d, epsilon, attack) == pytest.approx(won, abs=5e-3)
    with pytest.raises(TooLargeError, match="more attributes"):
        bayes_success(2, 2, math.inf)


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


@pytest.mark.states("Kaplan et al. 2025", "Example 1.3")
@pytest.mark.parametrize(("n", "d"), [(1, 4), (2, 4), (3, 4), (4, 2), (3, 6)])
def test_the_largest_load_by_listing_all_parities(n, d):
    bins = range(2 ** (d // 2))
    loads = Counter(max(Counter(one).values()) for one in itertools.product(bins, repeat=n))
    release = ParityRelease(n, d)
    at_most = release.largest_load()
    for k in range(n + 1):
        assert at_most[k] == Fraction(sum(loads[j] for j in range(k + 1)), len(bins) ** n)
    miss = 1 - release.fit
    whole = Fraction(0)
    for k, count in loads.items():
        whole += Fraction(count, len(bins) ** n) * (1 - miss**k)
    assert release.best_success == whole <= n * release.fit


@pytest.mark.states("Kaplan et al. 2025", "Example 1.3")
def test_parities_of_the_theory():
    assert ParityRelease(2, 4).best_success == Fraction(19, 64)
    assert ParityRelease(3, 4).best_success == Fraction(385, 1024)
    assert float(ParityRelease(5, 20).best_success) == pytest.approx(9.860666968553e-4, rel=1e-12)
    assert float(ParityRelease(20, 50).best_success) == pytest.approx(2.980249114118e-8, rel=1e-12)
    assert float(ParityRelease(3, 6).baseline) == pytest.approx(1 - (1 - 2**-6) ** 3, rel=1e-14)
    with pytest.raises(InputError, match="even"):
        ParityRelease(2, 3)
