"""What an average says: bits, and errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from narcissus.errors import InputError
from narcissus.profiles.closed_forms.average import (
    LEAST,
    Column,
    average_bits,
    dimensions,
    disagreement,
    least_surprisal,
    limit_given_rows,
    log2_delta,
    log2_few_lukewarm,
    looser_gamma,
    noise_error,
    places,
    two_criteria_limit,
)
from narcissus.success.relations import Hamming


@pytest.mark.states("Kaplan et al. 2025", "Definition 1.1")
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_bits_by_integration_over_the_rate(n):
    def entropy(p):
        return stats.binom(n, p).entropy()

    mean = integrate.quad(entropy, 0, 1, epsabs=1e-9)[0] / math.log(2)
    assert average_bits(n, 3) == pytest.approx(3 * float(mean), abs=1e-6)


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.2", "Theorem 4.7")
def test_the_error_by_the_law_of_the_largest_of_many():
    for n, d, epsilon, beta in ((20, 5000, 0.1, 0.05), (100, 1, 1.0, 0.5), (3, 10, 2.0, 1e-9)):
        alpha = noise_error(n, d, epsilon, beta)
        one = stats.laplace(scale=1 / (epsilon * n)).sf(alpha) * 2
        assert -np.expm1(d * np.log1p(-one)) == pytest.approx(beta, rel=1e-6)


def test_floors_are_those_of_the_number_that_is_meant():
    assert [places(0.29, 100), places(Fraction(1, 3), 3), places(0.07, 100)] == [29, 1, 7]


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5")
def test_disagreement_by_its_sum():
    for n in range(1, 40):
        direct = Fraction(sum(min(c, n - c) for c in range(n + 1)), n * (n + 1))
        assert disagreement(n) == direct


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5", "Definition 4.1")
def test_the_tail_by_its_sum_and_known_rows_leave_fewer():
    for n, d, gamma in ((10, 100, 0.04), (7, 60, 0.1), (2, 5, 0.0), (40, 80, Fraction(1, 8))):
        for known in range(n - 1):
            q = disagreement(n - known)
            tail = sum(
                math.comb(d, i) * q**i * (1 - q) ** (d - i) for i in range(places(gamma, d) + 1)
            )
            exact = min(1, (n - known) * float(tail))
            assert limit_given_rows(n, d, gamma, known) == pytest.approx(exact, rel=1e-10)
        assert limit_given_rows(n, d, gamma, n - 1) == 1.0
    assert limit_given_rows(1, 5, 0.0) == 1.0
    assert limit_given_rows(100, 40_000, 0.04) == 100 * LEAST  # no tail is 0


TABLE = {
    0.04: {10: (95, 104), 20: (93, 102), 100: (96, 104), 1000: (112, 112), 10_000: (121, 129)},
    0.1: {10: (246, 253), 20: (226, 232), 100: (219, 231), 1000: (248, 254), 10_000: (278, 284)},
    0.2: {
        10: (6184, 6236), 20: (3399, 3441), 100: (2469, 2501), 1000: (2589, 2616),
        10_000: (2884, 2916),
    },
}  # fmt: skip
"""The first, and all later, attributes at which delta is 1e-6: by gamma and rows."""


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5")
@pytest.mark.parametrize(("gamma", "n"), [(g, n) for g, row in TABLE.items() for n in row])
def test_first_and_all_later_attributes(n, gamma):
    assert dimensions(n, gamma, 1e-6) == TABLE[gamma][n]
    if gamma < 0.2:  # one by one, beyond what the search looked at
        good = [limit_given_rows(n, d, gamma) <= 1e-6 for d in range(1, 700)]
        first, later = good.index(True) + 1, len(good) - good[::-1].index(False) + 1
        assert (first, later) == TABLE[gamma][n]


def test_a_share_that_no_float_holds_is_meant_as_the_fraction():
    """One sixth of 6 places is one, as the relation counts."""
    for d in (6, 12, 300):
        same = Fraction(1, 6)
        assert limit_given_rows(9, d, 1 / 6) == limit_given_rows(9, d, same)
    assert dimensions(9, 1 / 6, 1e-3) == dimensions(9, Fraction(1, 6), 1e-3)
    rng = np.random.default_rng(0)
    for gamma, d in ((0.29, 100), (1 / 6, 6), (0.07, 100), (35 / 2959, 2959)):
        k = places(gamma, d)
        data, z = np.zeros((1, 1, d), dtype=np.uint8), np.zeros((1, d), dtype=np.uint8)
        for off in (k, k + 1):
            z[0, :off] = 1
            assert Hamming(gamma).holds(data, z, rng)[0] == (off == k)


def test_no_place_may_differ_and_too_many_may():
    first, later = dimensions(5, 0.0, 1e-9)
    assert first == later
    assert limit_given_rows(5, first, 0.0) <= 1e-9 < limit_given_rows(5, first - 1, 0.0)
    with pytest.raises(InputError, match=r"below 0\.2 for n = 5"):
        dimensions(5, 0.2, 1e-6)


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.7")
@pytest.mark.parametrize(
    ("case", "value", "within"),
    [
        ((10, 5000, 0.23), 0.3148, 5e-5),
        ((20, 5000, 0.24), 0.306, 5e-5),
        ((100, 10**4, 0.25), 0.2876, 5e-5),
        ((100, 10**5, 0.25), 0.26514, 1e-4),  # the theory's grid was coarser
        ((1000, 10**4, 0.3), 0.3377, 5e-5),
    ],
)
def test_the_looser_share_at_the_sizes_of_the_theory(case, value, within):
    assert float(looser_gamma(*case, 1e-6)) == pytest.approx(value, abs=within)


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.7")
@pytest.mark.parametrize(
    ("n", "d", "gamma", "looser"), [(10, 800, 0.23, 0.33), (40, 500, 0.3, 0.4)]
)
def test_no_mean_disagreement_is_worse_than_the_bound(n, d, gamma, looser):
    """All columns alike, of which the binomials are the exact chances: a fine grid of means."""
    near, far = places(gamma, d), places(looser, d)
    mean = np.linspace(0.001, 0.999, 20_001)
    hit = np.where(near <= d * mean - 1, n * stats.binom.cdf(near, d, mean), 1.0)
    fresh = (n * mean + 1) / (n + 2)
    missed = np.where(far >= d * fresh, stats.binom.sf(far, d, fresh), 1.0)
    top = float((np.minimum(1.0, hit) * missed).max())
    bound = two_criteria_limit(n, d, near, far)
    assert min(top, limit_given_rows(n, d, gamma)) <= bound <= top * 1.01


def test_more_room_for_fresh_data_never_hurts():
    found = [two_criteria_limit(10, 600, 140, k) for k in range(140, 260, 12)]
    assert all(a >= b for a, b in itertools.pairwise(found))
    assert two_criteria_limit(10, 600, 12, 12) <= limit_given_rows(10, 600, 0.02)
    with pytest.raises(InputError, match="`looser`"):
        two_criteria_limit(10, 600, 140, 139)


@pytest.mark.states("Kaplan et al. 2025", "Claim 4.9")
@pytest.mark.parametrize(
    ("n", "d", "value"), [(20, 200, -80.2483), (100, 1000, -302.330), (20, 5000, -1868.97657)]
)
def test_few_lukewarm_columns_by_exact_rationals(n, d, value):
    inside = Fraction(sum(Fraction(n, 4) <= m <= Fraction(3 * n, 4) for m in range(n)), n)
    top, whole = inside.numerator, inside.denominator
    total = sum(math.comb(d, k) * top**k * (whole - top) ** (d - k) for k in range(d // 5))
    exact = math.log2(total) - d * math.log2(whole)
    assert log2_few_lukewarm(n, d, d // 5) == pytest.approx(exact, abs=1e-6)
    assert exact == pytest.approx(value, abs=5e-4)


@pytest.mark.states("Kaplan et al. 2025", "Claim 4.9")
def test_least_surprisal_is_that_of_the_likeliest_bits():
    for n in range(2, 30):
        bits = [-math.log2(max(m + 1, n - m) / (n + 1)) for m in range(n)]
        warm = [b for m, b in enumerate(bits) if n <= 4 * m <= 3 * n]
        assert least_surprisal(n, 1, 0) == pytest.approx(min(bits), abs=1e-12)
        if warm:
            assert least_surprisal(n, 3, 2) == pytest.approx(2 * min(warm) + min(bits), abs=1e-12)
    assert log2_few_lukewarm(20, 10, 0) == -math.inf


def column_by_integration(n, epsilon, share):
    """G and H - G by adaptive integration between the kinks of both densities."""
    larger = smaller = 0.0
    for m in range(n):
        a = (m + 1) / (n + 1)

        def density(y, weight, at):
            return weight * epsilon / 2 * math.exp(-epsilon * abs(y - at))

        def both(y, which, a=a):
            return which(density(y, a**share, 1), density(y, (1 - a) ** share, 0))

        cut = np.clip(
            0.5 - share * math.log(a / (1 - a)) / (2 * epsilon), -40 / epsilon, 40 / epsilon
        )
        edges = sorted({-40 / epsilon, 0.0, 1.0, float(cut), 1 + 40 / epsilon})
        for low, high in itertools.pairwise(edges):
            larger += integrate.quad(both, low, high, args=(max,), epsabs=1e-13)[0]
            smaller += integrate.quad(both, low, high, args=(min,), epsabs=1e-13)[0]
    return larger / n, smaller / n


@pytest.mark.states("Kaplan et al. 2025", "Lemma 4.8")
@pytest.mark.parametrize(("n", "epsilon", "share"), [(5, 0.1, 0.5), (4, 1.5, 1.0), (3, 0.4, 0.0)])
def test_a_column_by_integration(n, epsilon, share):
    assert Column(n, epsilon).parts(share) == pytest.approx(
        column_by_integration(n, epsilon, share), abs=1e-9
    )


@pytest.mark.states("Kaplan et al. 2025", "Lemma 4.8")
@pytest.mark.parametrize(
    ("case", "value"),
    [
        ((20, 5000, 0.1, 0.5), -1107.6089),
        ((20, 200, 0.1, 0.5), -40.1553),
        ((100, 1000, 0.1, 0.5), -207.1189),
        ((20, 5000, 0.5, 0.5), -813.3828),
        ((20, 5000, 0.1, 1.0), -2185.1937),
    ],
)
def test_delta_at_the_sizes_of_the_theory(case, value):
    assert log2_delta(*case) == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    ("case", "printed"), [((100, 1000, 0.01, 0.05), -19.6276), ((20, 5000, 0.01, 0.05), -134.0986)]
)
def test_the_split_wins_at_small_shares(case, printed):
    """The theory's split has a Chernoff bound of a dominating law: ours is at most that."""
    n, d, epsilon, share = case
    plain = math.log2(n) + d * math.log2(Column(n, epsilon).reach(share))
    assert printed - 0.1 < log2_delta(*case) <= printed + 5e-5 < plain


def test_the_split_is_a_bound_on_the_surprisal_and_on_what_is_left():
    """Both of its terms against all 27 rows of 3 columns, whatever the cut."""
    n, d, share, column = 4, 3, 0.3, Column(4, 0.05)
    law = {-math.log2(k / (n + 1)): 2 * k / (n * (n + 1)) for k in range(1, n + 1)}
    best = math.inf
    for t in np.linspace(0, 8, 81):
        few = sum(
            math.prod(law[h] for h in hs) for hs in itertools.product(law, repeat=d) if sum(hs) < t
        )
        for u in np.linspace(0, share, 31):
            best = min(best, few + 2 ** (-u * t) * column.reach(share - u) ** d)
    plain = n * column.reach(share) ** d
    assert math.log2(n * best) <= log2_delta(n, d, 0.05, share) + 1e-12 or plain <= n * best + 1e-12
    assert log2_delta(n, d, 0.05, 0.0) == 0.0


NEAR = [
    ((20, 5000, 0.1, 0.5, 200), -63.3849),
    ((20, 5000, 0.1, 1.0, 200), -1277.7909),
    ((20, 5000, 0.1, 1.0, 1000), -75.5481),
    ((20, 5000, 1.0, 1.0, 500), -346.8433),
    ((20, 200, 0.1, 0.5, 8), -0.8895),
]
"""Sizes, places, and the base 2 logarithm of ``n`` times the sum, without a split."""


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.11")
@pytest.mark.parametrize(("case", "value"), NEAR)
def test_delta_near_a_row(case, value):
    """The sum is as in the theory; the split is better where the share is below one."""
    *size, places = case
    n, d, epsilon, share = size
    larger, smaller = Column(n, epsilon).parts(share)
    logs = [
        math.lgamma(d + 1) - math.lgamma(i + 1) - math.lgamma(d - i + 1)
        + i * math.log(smaller) + (d - i) * math.log(larger)
        for i in range(places + 1)
    ]  # fmt: skip
    top = max(logs)
    plain = math.log2(n) + (top + math.log(math.fsum(math.exp(x - top) for x in logs))) / math.log(
        2
    )
    assert plain == pytest.approx(value, abs=5e-5)
    found = log2_delta(*size, places=places)
    assert found <= plain + 1e-9
    assert (found < plain - 1) == (share < 1)


def test_the_split_near_a_row_is_a_bound_on_what_is_left():
    """Any split is one: the law of the surprisal by its three values, on a grid of cuts."""
    n, d, share, places, column = 3, 120, 0.3, 2, Column(3, 0.05)
    values = [(-math.log2(k / (n + 1)), 2 * k / (n * (n + 1))) for k in range(1, n + 1)]
    law = []
    for i, j in itertools.product(range(d + 1), repeat=2):
        if i + j <= d:
            counts = (i, j, d - i - j)
            ways = math.comb(d, i) * math.comb(d - i, j)
            chance = ways * math.prod(p**c for (_, p), c in zip(values, counts, strict=True))
            law.append((sum(h * c for (h, _), c in zip(values, counts, strict=True)), chance))
    best = math.inf
    for t in np.linspace(0, 140, 71):
        few = sum(p for h, p in law if h < t)
        for u in np.linspace(0, share, 16):
            larger, smaller = column.parts(share - u)
            ball = sum(math.comb(d, i) * smaller**i * larger ** (d - i) for i in range(places + 1))
            best = min(best, few + 2 ** (-u * t) * ball)
    found = log2_delta(n, d, 0.05, share, places=places)
    plain = sum(
        math.comb(d, i) * b**i * a ** (d - i)
        for i, (a, b) in enumerate([column.parts(share)] * (places + 1))
    )
    assert math.log2(n * best) <= found + 1e-12 < min(0.0, math.log2(n * plain))


@pytest.mark.states("Kaplan et al. 2025", "Remark 4.5")
def test_bits_that_must_be_left_divide_delta():
    """``n 2^(-bits) (2 - e^(-epsilon / 2))^d``, the smaller of it and the share's bound."""
    n, d, epsilon = 20, 5000, 0.1
    alone = math.log2(n) - 1000 + d * math.log2(2 - math.exp(-epsilon / 2))
    assert log2_delta(n, d, epsilon, 0.0, bits=1000) == pytest.approx(alone, abs=1e-9)
    both = log2_delta(n, d, epsilon, 0.5, bits=1000)
    assert both == log2_delta(n, d, epsilon, 0.5)
    assert log2_delta(n, d, epsilon, 0.5, bits=3000) == pytest.approx(alone - 2000, abs=1e-9)
    ball = math.log2(1 + 50 * math.exp(-0.2) / (2 - math.exp(-0.2)))
    near = log2_delta(3, 50, 0.4, 0.0, bits=40, places=1)
    assert near == pytest.approx(
        math.log2(3) - 40 + 50 * math.log2(2 - math.exp(-0.2)) + ball, abs=1e-9
    )
    with pytest.raises(InputError, match="`bits`"):
        log2_delta(3, 50, 0.4, 0.0, bits=-1)


def test_places_by_the_sum_itself():
    """Where all of the surprisal must be left nothing is gained by a split."""
    larger, smaller = Column(6, 0.3).parts(1.0)
    for most in range(0, 40, 7):
        direct = sum(math.comb(300, i) * smaller**i * larger ** (300 - i) for i in range(most + 1))
        assert log2_delta(6, 300, 0.3, 1.0, places=most) == pytest.approx(
            min(0.0, math.log2(6 * direct)), abs=1e-9
        )
    assert log2_delta(6, 300, math.inf, 1.0, places=3) == 0.0


@pytest.mark.parametrize(
    ("n", "d", "epsilon", "reach", "stranger", "shown"),
    [(20, 5000, 0.1, 0.7382065, 0.7359358055, 15.4053), (100, 1000, 0.1, None, 0.7466821417, None)],
)
def test_values_of_who_knows_the_other_rows(n, d, epsilon, reach, stranger, shown):
    """By integration column by column; the printed digits are the theory's."""
    kept = fits = 0.0
    for m in range(n):
        a = (m + 1) / (n + 1)
        both = (m + 1) * (m + 2) / ((n + 1) * (n + 2))
        cut = 0.5 - math.log(a / (1 - a)) / (2 * epsilon)  # a one is guessed above it
        one = stats.laplace(loc=1, scale=1 / epsilon).sf(cut) if 0 < cut < 1 else float(cut <= 0)
        zero = stats.laplace(scale=1 / epsilon).sf(cut) if 0 < cut < 1 else float(cut <= 0)
        kept += (a * one + (1 - a) * (1 - zero)) / n
        mixed = (a - both) * (1 - one + zero)
        fits += (both * one + mixed + (1 - 2 * a + both) * (1 - zero)) / n
    column = Column(n, epsilon)
    assert column.reach(1.0) == pytest.approx(kept, abs=1e-12)
    assert column.stranger() == pytest.approx(fits, abs=1e-12)
    assert fits == pytest.approx(stranger, abs=5e-11)
    if shown is not None:
        assert kept == pytest.approx(reach, abs=1e-6)
        assert d * math.log(kept / fits) == pytest.approx(shown, abs=5e-5)
    assert Column(20, 0.1).reach(0.5) == pytest.approx(0.8571465726, abs=5e-11)


def test_how_tight_it_is_against_a_stranger():
    """G and F of the attacker who knows the other rows, by sampling columns."""
    rng = np.random.default_rng(5)
    n, epsilon, size = 6, 0.8, 2_000_000
    p = rng.random(size)
    others = rng.binomial(n - 1, p)
    last, stranger = rng.random(size) < p, rng.random(size) < p
    y = last + rng.laplace(scale=1 / epsilon, size=size)
    lean = np.log((others + 1) / (n - others))
    guess = lean + epsilon * (np.abs(y) - np.abs(y - 1)) > 0
    column = Column(n, epsilon)
    assert (guess == last).mean() == pytest.approx(column.reach(1.0), abs=2e-3)
    assert (guess == stranger).mean() == pytest.approx(column.stranger(), abs=2e-3)
    assert column.stranger() < column.reach(1.0)
