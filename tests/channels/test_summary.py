"""Numbers about one channel do not contradict each other, and it is seen if they do."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus import channels
from narcissus.channels import analyse
from narcissus.findings import contradictions
from narcissus.study.part_section import part_from_text


@st.composite
def sources(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(2, 6)), draw(st.integers(1, 6)))
    rows = rng.dirichlet(np.full(shape[1], draw(st.sampled_from([0.05, 1.0, 50.0]))), shape[0])
    prior = rng.dirichlet(np.full(shape[0], 0.7)) if draw(st.booleans()) else None
    return rows, prior


@settings(max_examples=150, deadline=None)
@given(sources())
def test_no_channel_contradicts_itself(source):
    rows, prior = source
    if prior is not None and (prior > 0).sum() < 2:
        return
    assert contradictions(channels.analyse(rows, prior).findings()) == []


@pytest.mark.parametrize(
    "name",
    ["randomized-response:values=10,epsilon=1", "laplace:epsilon=0.1",
     "gaussian:epsilon=1,delta=1e-6", "randomized-response:values=1000000,epsilon=10",
     "subset:values=8,epsilon=1"],
)  # fmt: skip
def test_no_closed_form_contradicts_itself(name):
    assert (
        contradictions(
            channels.analyse(part_from_text("channel-mechanism", name).build()).findings()
        )
        == []
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("beta_star", 0.9), ("beta_star", 0.1), ("bayes_risk", 0.6), ("bayes_risk", 0.1),
     ("guessing_error", 0.2), ("epsilon_ldp", 0.1), ("implied_risk", 0.5), ("beta", 0.2)],
)  # fmt: skip
def test_each_wrong_number_is_seen(field, value):
    """Not a tautology: whichever number is wrong, another one contradicts it."""
    right = channels.analyse([[0.75, 0.25], [0.25, 0.75]])  # beta* 1/2, risk 1/4, epsilon ln 3
    assert contradictions(dataclasses.replace(right, **{field: value}).findings())


def test_summary_of_table_and_closed_form_agree():
    from narcissus.channels import KaryRandomizedResponse

    mechanism = KaryRandomizedResponse(9, 1.5)
    closed, table = analyse(mechanism), analyse(mechanism.channel())
    for key, value in closed.to_dict().items():
        assert table.to_dict()[key] == (pytest.approx(value, rel=1e-12) if key != "pair" else value)
    own = analyse(mechanism, [0.5, *[0.5 / 8] * 8])
    assert own.beta_star == pytest.approx(closed.beta_star, rel=1e-13)
    assert "exact" in str(closed)
    assert len(closed.to_frame()) == 1
