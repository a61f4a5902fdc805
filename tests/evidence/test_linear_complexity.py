"""Linear complexity, by trying all registers, and its law, by all strings."""

from itertools import product

import numpy as np
import pytest

from narcissus.evidence.randomness import law_of_linear_complexity, linear_complexity


def by_trying(string):
    """The shortest register: taps c with s[t] = sum of c[i] s[t - i] from the start on."""
    n = len(string)
    for size in range(n + 1):
        for taps in product((0, 1), repeat=size):
            if all(
                string[t] == sum(c & string[t - 1 - i] for i, c in enumerate(taps)) % 2
                for t in range(size, n)
            ):
                return size
    raise AssertionError


@pytest.mark.parametrize("n", [1, 5, 8])
def test_all_short_strings(n):
    strings = list(product((0, 1), repeat=n))
    found = linear_complexity(np.array(strings, dtype=np.uint8))
    assert found.tolist() == [by_trying(string) for string in strings]
    assert (np.bincount(found, minlength=n + 1) / 2**n).tolist() == pytest.approx(
        law_of_linear_complexity(n)
    )


def test_words_carry():
    """A register longer than a word of 64 bits: a one after 180 noughts."""
    string = np.zeros((2, 240), np.uint8)
    string[0, 180] = 1
    string[1, ::70] = 1  # of period 70
    assert linear_complexity(string).tolist() == [181, 70]


def test_the_law_is_one_of_long_strings_too():
    law = law_of_linear_complexity(1500)
    assert law.sum() == pytest.approx(1)
    assert law.argmax() == 750
