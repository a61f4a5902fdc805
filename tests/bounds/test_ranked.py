"""The optimum of a secret whose masses are a formula, against the listed one."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import optimum, ranked_optimum
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, PureDP
from narcissus.priors import Zipf

HERE = pytest.mark.states("Narcissus theory", "4.11")


@HERE
@pytest.mark.parametrize("s", [0.0, 0.6, 1.0, 1.1, 2.5])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 997])
def test_it_is_the_optimum_of_the_listed_masses(n, s):
    mass = np.arange(1, n + 1, dtype=float) ** -s
    mass /= mass.sum()
    for epsilon in (0.0, 0.3, 1.0, 4.0, 800.0):
        for guarantee in (PureDP(epsilon), ApproximateDP(epsilon, 0.01)):
            found = ranked_optimum(Zipf(s, n), guarantee)
            assert found == pytest.approx(float(optimum(mass, guarantee)[0]), rel=1e-11)


@HERE
@pytest.mark.parametrize(
    ("s", "values"),
    [
        (1.2, (0.1903575179, 0.3143734043, 0.4655825961, 0.7537626232)),
        (1.1, (0.1149739262, 0.1997231331, 0.3129060511, 0.5809093074)),
    ],
)
def test_a_billion_passwords(s, values):
    found = [ranked_optimum(Zipf(s, 10**9), ApproximateDP(e, 1e-5)) for e in (1.0, 3.0, 5.0, 10.0)]
    assert found == pytest.approx(values, abs=6e-11)


def test_other_neighbours_are_refused():
    with pytest.raises(InputError, match="replace-one"):
        ranked_optimum(Zipf(1.0, 5), PureDP(1.0, adjacency="add-remove"))
