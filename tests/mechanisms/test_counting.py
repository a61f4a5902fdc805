"""The counting query: exact shares, a cut that rounding does not move, and the published cut."""

import itertools
import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import CountingQuery, published_cut

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [1, 9, 10, 11])
@pytest.mark.parametrize("tenths", range(6))
def test_it_answers_from_the_cut_on_by_whole_numbers(n, tenths):
    """10 * ones >= tenths * n, from both ends: in integers, where 3/10 is not below .3."""
    data = np.tril(np.ones((n + 1, n), dtype=np.uint8), -1)  # 0, 1, ..., n ones
    found = CountingQuery(tenths / 10).release(data, RNG)
    for ones, share in enumerate(found):
        if 10 * min(ones, n - ones) >= tenths * n:
            assert share == ones / n
        else:
            assert math.isnan(share)


def test_written_out_the_silent_data_sets_share_a_release():
    data = np.array(list(itertools.product((0, 1), repeat=4)))
    written = CountingQuery(0.3).channel(data)
    shares = written.releases[written.matrix.toarray().argmax(axis=1)]
    silent = np.isin(data.sum(axis=1), (0, 1, 3, 4))
    assert np.isnan(shares[silent]).all()
    assert (shares[~silent] == 0.5).all()
    assert len(written.releases) == 2


def test_the_published_cut_follows_the_formula_of_the_paper():
    """At (1, 0.01, 2100), by hand: (1 - .01) e = 2.69110."""
    gamma, tau = published_cut(1, 0.01, 2100)
    assert gamma == pytest.approx((6 * 2.6910990 - 2) / 1.6910990, rel=1e-7)
    assert tau == pytest.approx((gamma**2 + 2 * gamma) * 5.9914645 / 2100, rel=1e-7)


def test_the_least_number_of_records_that_it_names_suffices():
    with pytest.raises(InputError, match=r"at least (\d+)") as caught:
        published_cut(1, 0.01, 500)
    least = int(str(caught.value).rpartition(" ")[2])
    assert published_cut(1, 0.01, least)[1] <= 0.25
    with pytest.raises(InputError, match="at least"):
        published_cut(1, 0.01, least - 1)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((0.001, 0.5, 2100), r"e\^epsilon > 1"),
        ((0.0, 0.1, 2100), "epsilon"),
        ((1.0, 0.0, 2100), "delta"),
        ((1.0, 1.0, 2100), "delta"),
        ((1.0, 0.1, 0), "`n`"),
    ],
)
def test_what_has_no_cut_is_refused(given, says):
    with pytest.raises(InputError, match=says):
        published_cut(*given)
    for wrong in (-0.1, 0.51):
        with pytest.raises(InputError, match="tau"):
            CountingQuery(wrong)


def test_records_of_several_values_are_refused():
    with pytest.raises(InputError, match="one value each"):
        CountingQuery().release(np.zeros((3, 2, 2), dtype=np.uint8), np.random.default_rng(0))
