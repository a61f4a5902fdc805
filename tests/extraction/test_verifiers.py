"""Verifiers: random strings are left alone, weak generators caught, strong ones not."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction import CompressionVerifier, StatisticalVerifier
from narcissus.mechanisms import Stretched

BITS = np.array([0, 1] * 300)
RNG = np.random.default_rng(0)


def told(attack, generator, seed_bits, length=1024):
    """Give how often it says 1 to random and to stretched strings."""
    strings = Stretched(seed_bits, length, generator).release(
        BITS[:, None], np.random.default_rng(4)
    )
    said = attack.attempt(strings, None, RNG)
    return said[BITS == 0].mean(), said[BITS == 1].mean()


@pytest.mark.parametrize("attack", [CompressionVerifier(), StatisticalVerifier()])
def test_a_strong_generator_passes_as_random(attack):
    for share in told(attack, "chacha20", 128):
        assert share <= 0.01 + 4.9 * np.sqrt(0.01 * 0.99 / 300)


def test_linear_complexity_sees_a_shift_register_and_others_do_not():
    rest = [name for name in StatisticalVerifier().tests if name != "linear-complexity"]
    assert told(StatisticalVerifier(["linear-complexity"]), "shift-register", 24)[1] == 1
    assert told(StatisticalVerifier(rest), "shift-register", 24)[1] < 0.1
    assert told(CompressionVerifier(), "shift-register", 24)[1] == 0


def test_a_congruential_generator_is_seen_while_its_state_is_short():
    short, long = (told(StatisticalVerifier(), "congruential", bits)[1] for bits in (12, 48))
    assert short > 0.95
    assert long < 0.1


def test_compressors_see_a_short_period():
    assert told(CompressionVerifier(), "shift-register", 5)[1] > 0.9


def test_the_level_is_shared_out():
    """A test alone rejects at the level, beside seven others at an eighth of it."""
    ones = np.zeros((1, 1000), np.uint8)
    ones[0, : 500 - 42] = 1  # two-sided p-value .0086
    ones = np.random.default_rng(1).permuted(ones, axis=1)
    assert StatisticalVerifier(["frequency"]).attempt(ones, None, RNG).tolist() == [1]
    assert StatisticalVerifier(["frequency", "runs"]).attempt(ones, None, RNG).tolist() == [0]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: CompressionVerifier(["zip"]), "`methods` must name some of zlib.*got 'zip'"),
        (lambda: CompressionVerifier(["lzmaa"]), "did you mean `lzma`"),
        (lambda: CompressionVerifier([]), "list of different names"),
        (lambda: CompressionVerifier("zlib"), "list of different names"),
        (lambda: StatisticalVerifier(["runs", "runs"]), "list of different names"),
        (lambda: StatisticalVerifier(level=0), "level"),
    ],
)
def test_what_makes_no_verifier_is_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_only_strings_of_bits_are_judged():
    with pytest.raises(InputError, match="128 bits at least"):
        CompressionVerifier().attempt(np.zeros((3, 64)), None, RNG)
    with pytest.raises(InputError, match="zeros and ones"):
        StatisticalVerifier().attempt(np.full((3, 256), 2), None, RNG)
