"""The parities of uniform rows, by listing."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import pytest

from narcissus.errors import InputError
from narcissus.profiles.closed_forms.parities import ParityRelease


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
def test_values_of_the_theory():
    assert ParityRelease(2, 4).best_success == Fraction(19, 64)
    assert ParityRelease(3, 4).best_success == Fraction(385, 1024)
    assert float(ParityRelease(5, 20).best_success) == pytest.approx(9.860666968553e-4, rel=1e-12)
    assert float(ParityRelease(20, 50).best_success) == pytest.approx(2.980249114118e-8, rel=1e-12)
    assert float(ParityRelease(3, 6).baseline) == pytest.approx(1 - (1 - 2**-6) ** 3, rel=1e-14)
    with pytest.raises(InputError, match="even"):
        ParityRelease(2, 3)
