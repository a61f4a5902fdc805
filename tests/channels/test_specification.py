"""Closed forms named in text."""

import pytest

from narcissus import channels as ch
from narcissus.errors import InputError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("randomised-response:values=3,epsilon=1", "did you mean `randomized-response`"),
        ("randomized-response:value=3,epsilon=1", "did you mean `values`"),
        ("randomized-response:values=3", "`epsilon` is missing"),
        ("randomized-response:values=1,epsilon=1", "at least 2"),
        ("randomized-response:values=3,epsilon=-1", "at least 0"),
        ("randomized-response:values=3,epsilon=nan", "NaN"),
        ("randomized-response:values=3,epsilon=oh", "must be a number, got 'oh'"),
        ("randomized-response:values=3,values=3", "twice"),
        ("randomized-response:values", "not KEY=VALUE"),
        ("laplace:span=1", "`scale` or `epsilon`"),
        ("laplace:epsilon=0", "above 0"),
        ("gaussian:epsilon=1", "`sigma`, or"),
        ("subset:values=4,size=4,epsilon=1", "at most 3"),
        ("exponential:values=100000,epsilon=1", "GiB"),
    ],
)
def test_bad_specifications(text, words):
    with pytest.raises(InputError, match=words):
        ch.mechanism(text)


def test_every_named_mechanism_works_by_its_own_example():
    assert set(ch.EXAMPLES) == set(ch.MECHANISMS)
    for example in ch.EXAMPLES.values():
        for text in example.split(" (")[0].split(" or "):
            made = ch.mechanism(text)
            assert 0 < made.beta_star < 1
            summary = ch.analyse(made)
            assert summary.beta == pytest.approx(made.bayes_risk / made.guessing_error)
            assert "secrets" in str(summary)
