"""Parts as texts, as on the command line."""

from __future__ import annotations

import pytest

from narcissus import channels
from narcissus.errors import InputError
from narcissus.study.part_section import checked
from narcissus.study.part_text import from_text, part_from_text
from narcissus.study.registry import ROOMS

EXAMPLES = (
    "exponential:values=10,epsilon=1",
    "gaussian:sigma=2",
    "gaussian:epsilon=1,delta=1e-6",
    "geometric:values=100,rate=0.1",
    "laplace:span=1,scale=2",
    "laplace:epsilon=0.5",
    "optimized-unary:values=10,epsilon=1",
    "planar-geometric:width=3,height=2,epsilon=0.5",
    "planar-laplace:width=3,height=2,epsilon=0.5,step=2",
    "randomized-response:values=10,epsilon=1",
    "subset:values=10,epsilon=1",
    "subset:values=10,epsilon=1,size=3",
    "unary:values=10,epsilon=1",
)


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
        ("randomized-response:values=2.5,epsilon=1", "integer"),
        ("laplace:span=1", "`scale` or `epsilon`"),
        ("laplace:epsilon=0", "above 0"),
        ("gaussian:epsilon=1", "`sigma`, or"),
        ("subset:values=4,size=4,epsilon=1", "at most 3"),
        ("exponential:values=100000,epsilon=1", "GiB"),
        ("mine:Mechanism", "not KEY=VALUE"),
    ],
)
def test_a_wrong_text_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        part_from_text("channel-mechanism", text)


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_text_gives_a_part_and_the_part_the_text(text):
    part = part_from_text("channel-mechanism", text)
    assert checked("channel-mechanism", from_text(part.to_text())) == part
    made = part.build()
    assert 0 < made.beta_star < 1
    summary = channels.analyse(made)
    assert summary.beta == pytest.approx(made.bayes_risk / made.guessing_error)


def test_every_channel_mechanism_has_an_example():
    named = {text.partition(":")[0] for text in EXAMPLES}
    assert named == set(ROOMS["channel-mechanism"].parts)
    assert part_from_text("channel-mechanism", "laplace:points=2,scale=3").to_text() == (
        "laplace:scale=3"
    )
