"""What one column gives away, and delta for all side information: numbers computed apart."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from narcissus.errors import InputError
from narcissus.profiles.closed_forms.average import Column, log2_delta


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
    for places in range(0, 40, 7):
        direct = sum(
            math.comb(300, i) * smaller**i * larger ** (300 - i) for i in range(places + 1)
        )
        assert log2_delta(6, 300, 0.3, 1.0, places=places) == pytest.approx(
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
