"""Each p-value against the law of all strings, or of all that is counted; and what it catches."""

from itertools import pairwise, product
from math import comb

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.evidence import randomness
from narcissus.evidence.randomness import (
    TESTS,
    disagreements,
    fair_sum,
    holm,
    law_of_linear_complexity,
    linear_complexity,
    randomness_tests,
    window_sums,
    word_length,
)

ALL = np.array(list(product((0, 1), repeat=12)), dtype=np.uint8)
LEVELS = (0.001, 0.01, 0.05, 0.2, 0.5)


def tails(values):
    """Two-sided p-values of values that are all equally likely, by their counts."""
    values = np.asarray(values)
    below = (values[None] <= values[:, None]).mean(axis=1)
    above = (values[None] >= values[:, None]).mean(axis=1)
    return np.minimum(1, 2 * np.minimum(below, above))


def longest(string):
    places = [0, *(i for i in range(1, len(string)) if string[i] != string[i - 1]), len(string)]
    return max(b - a for a, b in pairwise(places))


def test_p_values_are_those_of_all_strings(monkeypatch):
    monkeypatch.setattr(randomness, "word_length", lambda n: 2)
    counted = {
        "frequency": ALL.sum(axis=1),
        "runs": (ALL[:, 1:] != ALL[:, :-1]).sum(axis=1),
        "longest-run": [longest(row) for row in ALL],
        "birthdays": [len({tuple(row[i : i + 2]) for i in range(0, 12, 2)}) for row in ALL],
    }
    for name, values in counted.items():
        # rounding is allowed for upwards
        assert TESTS[name](ALL) == pytest.approx(tails(values), abs=1e-11), name


def test_blocks_are_those_of_all_strings(monkeypatch):
    monkeypatch.setattr(randomness, "BLOCK", 4)
    randomness._law_of_blocks.cache_clear()
    try:
        values = ((ALL.reshape(-1, 3, 4).sum(axis=2) - 2) ** 2).sum(axis=1)
        assert TESTS["block-frequency"](ALL) == pytest.approx(tails(values), abs=1e-11)
    finally:
        randomness._law_of_blocks.cache_clear()


def test_sums_of_windows_are_fair_and_counted():
    odd, windows = window_sums(ALL, 4)
    assert windows == 9
    assert odd.shape == (len(ALL), 8)
    fair = np.bincount(ALL[:, :9].sum(axis=1, dtype=np.int64), minlength=10)
    for place, mask in enumerate(range(1, 16, 2)):
        chosen = [i for i in range(4) if mask >> i & 1]
        by_hand = sum(ALL[:, [t + i for i in chosen]].sum(axis=1) % 2 for t in range(9))
        assert (odd[:, place] == by_hand).all()
        assert (np.bincount(odd[:, place], minlength=10) == fair).all()


def test_distant_bits_are_compared():
    lags = np.array([1, 3, 6])
    by_hand = [(ALL[:, lag:] != ALL[:, :-lag]).sum(axis=1) for lag in lags]
    assert (disagreements(ALL, lags) == np.transpose(by_hand)).all()


def test_a_string_that_is_said_twice_is_seen():
    once = np.random.default_rng(0).integers(0, 2, 128, dtype=np.uint8)
    assert TESTS["autocorrelation"](np.tile(once, 2)[None]) < 1e-20


def test_fair_sums():
    assert fair_sum(0, 10) == pytest.approx(2 / 1024)
    assert fair_sum(9, 10) == pytest.approx(22 / 1024)
    assert fair_sum(5, 10) == 1


@pytest.mark.parametrize("name", TESTS)
def test_random_strings_are_rejected_no_more_often_than_the_level(name, within):
    strings = np.random.default_rng(7).integers(0, 2, (3000, 512), dtype=np.uint8)
    p_values = TESTS[name](strings)
    assert ((p_values > 0) & (p_values <= 1)).all()
    for level in LEVELS:
        rejected = int((p_values <= level).sum())
        assert rejected <= 3000 * level or within(rejected, 3000, level)
    assert (p_values <= 0.5).mean() > 0.1  # and it does reject


ODD = {
    "frequency": lambda rng: rng.random(1024) < 0.65,
    "runs": lambda rng: np.cumsum(rng.random(1024) < 0.35) % 2,
    "serial": lambda rng: np.convolve(rng.integers(0, 2, 1024), [1, 0, 0, 1, 0, 1])[:1024] % 2,
    "autocorrelation": lambda rng: np.tile(rng.integers(0, 2, 100), 11)[:1024],
    "block-frequency": lambda rng: rng.random(1024) < np.repeat([0.2, 0.8], 512),
    "longest-run": lambda rng: np.r_[rng.integers(0, 2, 984), np.ones(40)],
    "birthdays": lambda rng: np.tile(rng.integers(0, 2, 11 * 40), 3)[:1024],
    "linear-complexity": lambda rng: np.tile(rng.integers(0, 2, 300), 4)[:1024],
}


@pytest.mark.parametrize("name", ODD)
def test_each_test_sees_what_it_is_for(name):
    rng = np.random.default_rng(3)
    if name == "serial":  # every window of six sums to an even number
        string = list(rng.integers(0, 2, 5))
        while len(string) < 1024:
            string.append((string[-2] + string[-5]) % 2)
    else:
        string = ODD[name](rng)
    found = randomness_tests(np.asarray(string).astype(int))
    assert found.p_values[name] < 1e-6
    assert found.p_value <= found.adjusted[name] <= 8 * found.p_values[name]
    assert "PROVED: 1,024 random bits look as odd" in str(found)
    assert found.grade == "proved"


def test_holm_adjusts_in_steps():
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx(
        {"a": 0.06, "b": 0.03, "c": 0.06}
    )
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


def test_words_leave_some_pairs_alike():
    for n in (*range(128, 2000, 7), 4096):
        size = word_length(n)
        least = next(s for s in range(3, 40) if comb(n // s, 2) / 2**s < 4)
        assert size == least - 1
        words = n // size
        assert words * (words - 1) / 2 / 2**size >= 4 or size == 2
        assert (n // (size + 1)) * (n // (size + 1) - 1) / 2 / 2 ** (size + 1) < 4


@pytest.mark.parametrize("given", [[0, 1] * 63, [0, 2] * 100, [[0, 1] * 100]])
def test_what_is_no_string_of_bits_is_refused(given):
    with pytest.raises(InputError, match="tests of randomness"):
        randomness_tests(given)


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
    string = np.zeros((2, 240), np.uint8)
    string[0, 180] = 1
    string[1, ::70] = 1  # of period 70
    assert linear_complexity(string).tolist() == [181, 70]
