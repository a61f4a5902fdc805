"""Zipf's law over very many values, against plain sums and printed references."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.priors import Zipf
from narcissus.priors.secrets import harmonic

HERE = pytest.mark.states("Narcissus theory", "4.11")


@HERE
@pytest.mark.parametrize("s", [0.0, 0.5, 0.999999, 1.0, 1.000001, 1.1, 2.0, 3.5])
@pytest.mark.parametrize("n", [0, 1, 5, 23, 24, 25, 1000, 20_000])
def test_harmonic_numbers_are_the_sums(n, s):
    plain = math.fsum(float(k) ** -s for k in range(1, n + 1))
    assert harmonic(n, s) == pytest.approx(plain, rel=4e-15)


@HERE
def test_harmonic_numbers_at_a_billion():
    assert harmonic(10**9, 1.1) == pytest.approx(9.32552305321959, rel=2e-15)
    assert harmonic(10**9, 1.2) == pytest.approx(5.51233778156262, rel=2e-15)
    gamma = 0.5772156649015329
    exact = math.log(10**9) + gamma + 0.5e-9 - 1e-18 / 12
    assert harmonic(10**9, 1.0) == pytest.approx(exact, rel=1e-15)
    thirds = sum(Fraction(1, k * k) for k in range(1, 60))
    assert harmonic(59, 2.0) == pytest.approx(float(thirds), rel=1e-15)


@HERE
def test_ranks_and_shares_of_passwords():
    law = Zipf(1.2, 10**9)
    assert law.probability(1) == pytest.approx(0.181411234149102, rel=1e-13)
    assert law.probability(law.percentile(0.5)) == pytest.approx(6.60541598e-12, rel=1e-8)
    assert law.rank_at(0.5) == 17
    assert law.probability(17) == pytest.approx(0.00605516, rel=1e-6)
    assert law.percentile(0.0) == 10**9
    assert law.percentile(1.0) == 1
    assert law.head(10**9) == 1.0
    assert law.head(0) == 0.0


@HERE
def test_small_laws_are_what_they_list():
    mass = np.arange(1, 51) ** -1.3
    mass /= mass.sum()
    law = Zipf(1.3, 50)
    assert [law.probability(k) for k in range(1, 51)] == pytest.approx(mass.tolist(), rel=1e-12)
    heads = np.cumsum(mass)
    assert [law.head(k) for k in range(1, 51)] == pytest.approx(heads.tolist(), rel=1e-12)
    for share in (0.05, 0.3, 0.9, 1.0):
        assert law.rank_at(share) == int(np.argmax(heads >= share - 1e-12)) + 1


def test_what_is_no_law_is_refused():
    with pytest.raises(InputError, match="`s`"):
        Zipf(-1.0, 10)
    with pytest.raises(InputError, match="`n`"):
        Zipf(1.0, 0)
    with pytest.raises(InputError, match="`n`"):
        Zipf(1.0, 10**16)
    with pytest.raises(InputError, match="`rank`"):
        Zipf(1.0, 5).probability(6)


@pytest.mark.parametrize("s", [0.0, 0.7, 1.0, 2.5])
@pytest.mark.parametrize("n", [1, 7, 500])
def test_two_draws_collide_as_often_as_the_masses_say(s, n):
    law = Zipf(s, n)
    exact = math.fsum(law.probability(k) ** 2 for k in range(1, n + 1))
    assert law.collision() == pytest.approx(exact, rel=1e-12)


def test_a_number_of_values_may_be_written_as_a_float():
    assert Zipf.of(1.1, 1e9) == Zipf(1.1, 10**9)
    assert Zipf.of(1.1, 1e9).describe() == "Zipf's law with exponent 1.1 over 1,000,000,000 values"
    with pytest.raises(InputError, match="whole"):
        Zipf.of(1.1, 2.5)
    with pytest.raises(InputError, match="`n`"):
        Zipf.of(1.1, float("inf"))
