"""Verifiers: random strings are left alone, weak generators caught, strong ones not."""

import bz2
import lzma
import subprocess
import sys
import zlib

import numpy as np
import pytest
from scipy import optimize

from narcissus.errors import InputError, MissingExtraError
from narcissus.extraction import CompressionVerifier, LearnedVerifier, StatisticalVerifier
from narcissus.extraction.verifiers import (
    _LZMA,
    COMPRESS,
    approximate_prg_example,
    compression_p_value,
    features,
    fit_logistic,
    prg_example,
    share_as_short,
)
from narcissus.game import Game
from narcissus.mechanisms import Stretched
from narcissus.success.relations import FirstBit
from narcissus.worlds import Pairs

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


TEXT = b"to be or not to be, that is the question; " * 6
NOISE = np.random.default_rng(2).bytes(256)
UNDO = {
    "zlib": lambda data: zlib.decompress(data, -15),
    "bz2": bz2.decompress,
    "lzma": lambda data: lzma.decompress(data, lzma.FORMAT_RAW, filters=_LZMA),
}


@pytest.mark.parametrize("name", UNDO)
def test_compressed_strings_are_told_apart_since_each_can_be_undone(name):
    for data in (TEXT, NOISE, b"", b"\0" * 900):
        assert UNDO[name](COMPRESS[name](data)) == data


@pytest.mark.parametrize("name", COMPRESS)
def test_text_shrinks_and_noise_does_not(name):
    if name in ("zstd", "brotli", "ppm"):
        pytest.importorskip({"zstd": "zstandard", "ppm": "pyppmd"}.get(name, name))
    assert compression_p_value(TEXT, 8 * len(TEXT), [name]) < 1e-100
    assert compression_p_value(NOISE, 2048, [name]) == 1


def test_the_share_is_that_of_a_count():
    """Of all strings of 24 bits, those that a numbering brings to at most one byte: 257."""
    assert share_as_short(1, 24) == pytest.approx(256**2 / 255 / 2**24)
    assert share_as_short(1, 24) >= (1 + 256) / 2**24
    assert share_as_short(0, 24) >= 1 / 2**24
    assert share_as_short(3, 24) == 1


def test_several_compressors_are_paid_for():
    alone = compression_p_value(TEXT, 8 * len(TEXT), ["zlib"])
    both = compression_p_value(TEXT, 8 * len(TEXT), ["zlib", "bz2"])
    assert both == pytest.approx(2 * alone)  # bz2 is longer here


def test_a_missing_compressor_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyppmd", None)
    with pytest.raises(MissingExtraError, match="brotli"):
        COMPRESS["ppm"](TEXT)


LEARNED_BITS = np.array([0, 1] * 200)


def gain(generator, seed_bits, **options):
    mechanism = Stretched(seed_bits, 1024, generator)
    attack = LearnedVerifier(**options).prepare(Game(Pairs([[[0], [1]]]), mechanism, FirstBit()))
    strings = mechanism.release(LEARNED_BITS[:, None], np.random.default_rng(4))
    said = attack.attempt(strings, None, np.random.default_rng(0))
    return said[LEARNED_BITS == 1].mean() - said[LEARNED_BITS == 0].mean()


def test_it_learns_a_weak_generator_and_not_a_strong_one():
    assert gain("congruential", 16) > 0.95
    assert abs(gain("sha-256", 64)) < 4.9 * np.sqrt(2 * 0.25 / 200)


def test_more_training_tells_more():
    assert gain("congruential", 24, training=2000) > gain("congruential", 24, training=60) + 0.1


def test_the_fit_is_the_minimum_of_the_loss():
    rng = np.random.default_rng(8)
    table = np.hstack([np.ones((200, 1)), rng.normal(size=(200, 4))])
    labels = (table @ [0.5, 1, -2, 0, 0.3] + rng.logistic(size=200) > 0).astype(float)

    def loss(weights):
        score = table @ weights
        return np.logaddexp(0, score).sum() - labels @ score + 3 * (weights[1:] ** 2).sum() / 2

    found = fit_logistic(table, labels, 3.0)
    best = optimize.minimize(loss, np.zeros(5), tol=1e-12)
    assert found == pytest.approx(best.x, abs=1e-4)
    assert loss(found) <= best.fun + 1e-8


def test_labels_that_are_all_told_apart_do_not_run_away():
    table = np.array([[1.0, -1.0], [1.0, 1.0]] * 20)
    weights = fit_logistic(table, np.array([0.0, 1.0] * 20), 1.0)
    assert abs(weights[0]) < 1e-9
    assert 0 < weights[1] < 10


def test_features_of_random_strings_are_of_mean_0_and_variance_1():
    table = features(np.random.default_rng(6).integers(0, 2, (4000, 512), dtype=np.uint8))
    assert (table[:, 0] == 1).all()
    assert table.shape[1] == 1 + 128 + 121
    assert np.abs(table[:, 1:].mean(axis=0)).max() < 5.5 / np.sqrt(4000)
    assert np.abs(table[:, 1:].var(axis=0) - 1).max() < 5.5 * np.sqrt(2 / 4000)


def test_what_cannot_be_learned_from_is_refused():
    with pytest.raises(InputError, match="prepare"):
        LearnedVerifier().attempt(np.zeros((2, 256)), None, np.random.default_rng(0))
    with pytest.raises(InputError, match="training"):
        LearnedVerifier(training=3)
    with pytest.raises(InputError, match="penalty"):
        LearnedVerifier(penalty=0)


def printed(program, release=b""):
    done = subprocess.run([sys.executable, "-c", program.decode()], input=release,
                          capture_output=True, check=True)  # fmt: skip
    return done.stdout.strip()


@pytest.mark.parametrize("pseudo_random", [False, True])
def test_the_program_prints_the_data_from_the_release(pseudo_random):
    made = prg_example(pseudo_random=pseudo_random, length=128, by_heart=48, rng=1)
    assert printed(made.program, made.release) == made.data
    assert made.data.startswith(made.release)
    assert (made.short_program is None) != pseudo_random
    if made.short_program is not None:
        assert printed(made.short_program) == made.data


def test_the_approximate_example_agrees_as_far_as_it_says():
    made = approximate_prg_example(pseudo_random=True, rng=2)
    assert made.short_program is not None
    assert printed(made.short_program) == made.data
    output = printed(made.program, made.release)
    same = sum(a == b for a, b in zip(output, made.data, strict=True)) / len(made.data)
    # 1,126 bits released, 1,024 by heart, half of the other 6,042 guessed, by fresh coins of the
    # program: six standard deviations, a false alarm in 5e8 runs.
    assert abs(same - 0.6312) < 6 * 6042**0.5 / 2 / 8192
    assert same > 0.6
    with pytest.raises(InputError, match="advantage"):
        approximate_prg_example(pseudo_random=True, advantage=0.5)
