"""What is assumed is checked, named, and moves lower limits only."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels.assumed import NOTHING, Assumed, assumed, may_be_monotone, without_lower
from narcissus.channels.samples import samples
from narcissus.errors import InputError


def data_of(names, size=1_200, seed=0):
    rng = np.random.default_rng(seed)
    secret = rng.integers(len(names), size=size)
    output = np.where(rng.random(size) < 0.5, secret, rng.integers(len(names), size=size))
    return np.array(names)[secret], np.array(names)[output]


def test_a_known_pair_has_a_nearer_lower_limit_and_says_on_what():
    secret, output = data_of([f"v{k}" for k in range(12)], 6_000)
    plain = ch.estimate(secret, output, rng=1)
    pair = ch.estimate(secret, output, rng=1, pair=("v3", "v7"))
    among = ch.estimate(secret, output, rng=1, among=["v3", "v7", "v5"])
    assert plain.beta_star.low < among.beta_star.low
    assert plain.beta_star.low < pair.beta_star.low
    assert pair.pair == ("v3", "v7")
    assert set(among.pair) <= {"v3", "v5", "v7"}
    assert "no other two secrets are easier" in str(pair)
    assert "'v3', 'v7'" in pair.assumptions[0]
    assert pair.bayes_risk == plain.bayes_risk
    assert pair.secrets == 12
    assert pair.beta_star.high >= plain.beta_star.low


def test_nothing_assumed_is_the_default():
    assert assumed() == NOTHING == Assumed()
    assert not NOTHING.texts()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"symmetric": True, "monotone": True}, "leave the other assumptions out"),
        ({"symmetric": True, "pair": ("v0", "v1")}, "leave the other assumptions out"),
        ({"among": ["v0", "v1"], "pair": ("v0", "v1")}, "not both"),
        ({"pair": ("v0", "v0")}, "two different secrets"),
        ({"pair": ("v0", "v1", "v2")}, "two different secrets, got 3"),
        ({"among": "v0"}, "must be a list"),
        ({"among": ["v0", "w1"]}, "'w1'; did you mean `v1`"),
        ({"monotone": True}, "secrets that are numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        ch.estimate(*data_of(["v0", "v1", "v2"]), rng=1, **given)


def test_outputs_that_fit_no_assumption_are_refused():
    secret = np.arange(60) % 3
    with pytest.raises(InputError, match="some outputs are none of them"):
        ch.estimate(secret, np.arange(60) % 4, symmetric=True)
    with pytest.raises(InputError, match="some outputs are none of them"):
        ch.estimate([f"a{s}" for s in secret], np.arange(60) % 3, symmetric=True)
    with pytest.raises(InputError, match="one column of numbers"):
        ch.estimate(secret, np.c_[secret, secret], monotone=True)


def test_numbers_are_ordered_as_numbers():
    secret, output = data_of([str(k) for k in (2, 10, 9)])
    found = ch.estimate(secret, output.astype(float), rng=1, monotone=True)
    assert set(found.pair) == {"2", "10"}


def test_the_reason_names_what_would_help_where_it_fits():
    rng = np.random.default_rng(1)
    numbers = samples(rng.integers(2, size=80), rng.normal(size=80))
    assert may_be_monotone(numbers)
    assert "monotone" in without_lower(numbers)
    words = samples(["a", "b"] * 40, rng.normal(size=80))
    assert not may_be_monotone(words)
    assert "monotone" not in without_lower(words)
