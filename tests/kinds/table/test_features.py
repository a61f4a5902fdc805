"""What can be read off a value: letters, digits, parts and remainders, of any place."""

import numpy as np
import pytest

from narcissus.kinds.table.features import features_of
from narcissus.tables.tally import RawColumn

ROWS = 600


def features_of_texts(texts):
    distinct = list(dict.fromkeys(texts))
    place = {text: number for number, text in enumerate(distinct)}
    column = RawColumn("code", distinct, np.array([place[text] for text in texts]))
    return features_of(column, np.arange(len(texts)))


def tells(features, secret):
    """Whether the secret is a function of one feature."""
    return any(
        len(set(zip(feature.tolist(), secret, strict=True))) == len(set(feature.tolist()))
        for feature in features
        if len(set(feature.tolist())) < 100
    )


CODES = {
    "a letter in the middle": lambda n, s: f"{n:05}-{'KAQ'[s]}{n % 97:02}",
    "a digit in the middle": lambda n, s: f"{n // 100:04}{s}{n % 100:02}",
    "a digit from the right": lambda n, s: f"{'9' * (n % 3)}7{s}{n:05}",
    "a part of the code": lambda n, s: f"{n}-{('wa', 'west', 'wi')[s]}-{n % 7}",
    "a number modulo 3": lambda n, s: str(3 * n + s),
    "a number modulo 19": lambda n, s: str(19 * n + s),
    "a number in a code, modulo 7": lambda n, s: f"K{'L' * (n % 4)}-{7 * n + s}",
}


@pytest.mark.parametrize("make", CODES.values(), ids=CODES)
def test_a_secret_in_a_code_is_a_feature(make):
    rng = np.random.default_rng(3)
    numbers, secret = rng.permutation(99_999)[:ROWS].tolist(), rng.integers(0, 3, ROWS).tolist()
    texts = [make(n, s) for n, s in zip(numbers, secret, strict=True)]
    assert tells(features_of_texts(texts), secret)
    assert not tells(features_of_texts(texts), rng.permutation(secret).tolist())


def test_a_weekday_is_a_feature():
    rng = np.random.default_rng(4)
    days = np.datetime64("2020-01-06") + rng.permutation(3000)[:ROWS]
    assert tells(features_of_texts(days.astype(str).tolist()), (days.astype(int) % 7).tolist())


def test_features_differ_and_none_is_the_same_in_all_rows():
    features = features_of_texts([f"AB{n:04}" for n in range(300)])
    assert all(feature.min() < feature.max() for feature in features)
    assert len({feature.tobytes() for feature in features}) == len(features)
