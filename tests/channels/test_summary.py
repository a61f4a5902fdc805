"""Numbers about one channel do not contradict each other, and it is seen if they do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus import channels
from narcissus import channels as ch
from narcissus.channels import analyse
from narcissus.findings import contradictions
from narcissus.study.part_section import part_from_text

from .conftest import refused


@st.composite
def sources(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(2, 6)), draw(st.integers(1, 6)))
    rows = rng.dirichlet(np.full(shape[1], draw(st.sampled_from([0.05, 1.0, 50.0]))), shape[0])
    prior = rng.dirichlet(np.full(shape[0], 0.7)) if draw(st.booleans()) else None
    return rows, prior


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


ROWS = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]


def test_a_channel_by_groups_of_its_secrets():
    c = ch.channel(ROWS, secrets=list("abcd"))
    found = ch.analyse_groups(c, {"a": "old", "b": "old", "c": "young", "d": "young"})
    assert found.limits("beta_star")["old"].value == pytest.approx(0.3)
    assert found.limits("beta_star")["young"].value == pytest.approx(0.9)
    assert found.worst() == ("old", True)
    (apart,) = found.differences("beta_star")
    assert (apart.value, apart.low, apart.high) == pytest.approx((-0.6, -0.6, -0.6))
    assert apart.shown
    assert found.grade == "proved"
    assert "exact" in str(found)
    prior = ch.analyse_groups(
        c, dict.fromkeys("ab", "x") | dict.fromkeys("cd", "y"), [0.6, 0.2, 0.1, 0.1]
    )
    assert prior.groups["x"].guessing_error == pytest.approx(0.25)
    assert prior.groups["y"].guessing_error == pytest.approx(0.5)


def test_a_group_of_one_secret_is_named_and_makes_no_worst_group_sure():
    c = ch.channel(ROWS, secrets=list("abcd"))
    found = ch.analyse_groups(c, {"a": "old", "b": "old", "c": "old", "d": "young"})
    assert [one.quantity for one in found.not_assessed] == ["the group 'young'"]
    assert found.worst() == ("old", False)
    assert "NOT ASSESSED" in str(found)


def drawn(rng, each, rates):
    group = np.repeat(np.arange(len(rates)), each)
    secret = rng.integers(2, size=group.size)
    right = rng.random(group.size) < np.array(rates)[group]
    return secret, np.where(right, secret, 1 - secret), group


def test_samples_by_group_name_the_worst():
    secret, output, group = drawn(np.random.default_rng(2), 3000, [0.6, 0.9, 0.62])
    found = ch.estimate_groups(secret, output, group, rng=1)
    assert found.worst() == ("1", True)
    assert found.worst("bayes_risk") == ("1", True)
    for name, truth in (("0", 0.8), ("1", 0.2), ("2", 0.76)):
        e = found.limits("beta_star")[name]
        assert e.low <= truth <= e.high
        assert e.confidence == pytest.approx(1 - 0.05 / 3)
    apart = {(d.first, d.second): d for d in found.differences("beta_star")}
    assert apart["0", "1"].low <= 0.6 <= apart["0", "1"].high
    assert apart["0", "1"].shown
    assert not apart["0", "2"].shown
    frame = found.to_frame()
    assert list(frame["group"]) == ["0", "1", "2"]
    assert found.to_dict()["worst"]["beta_star"] == {"group": "1", "sure": True}
    again = ch.estimate_groups(secret, output, group, rng=1)
    assert again.to_dict() == found.to_dict()


def test_small_groups_are_left_out_by_name():
    secret, output, group = drawn(np.random.default_rng(3), 1000, [0.7, 0.9])
    names = np.where(group == 0, "many", "few").astype(object)
    kept = np.r_[np.flatnonzero(names == "many"), np.flatnonzero(names == "few")[:12]]
    found = ch.estimate_groups(secret[kept], output[kept], names[kept], rng=1)
    assert list(found.groups) == ["many"]
    assert "the group 'few'" in found.not_assessed[0].quantity
    assert found.worst() == ("many", False)
    assert found.limits("beta_star")["many"].confidence == pytest.approx(0.975)


def test_continuous_outputs_have_no_lower_limit_and_no_difference_is_shown():
    rng = np.random.default_rng(4)
    group, secret = np.repeat([0, 1], 500), rng.integers(2, size=1000)
    found = ch.estimate_groups(secret, rng.normal(size=1000) + 3 * secret * group, group, rng=1)
    (apart,) = found.differences("beta_star")
    assert apart.low is None
    assert apart.high is None
    assert not apart.shown
    assert found.worst() == ("1", False)
    assert "no limit" in str(found)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (["a"] * 40, "2 to 200 groups"),
        (["a", "b"] * 19, "38 groups"),
        (["a", None] * 20, "missing"),
        (list(range(40)), "no group can be assessed"),
    ],
)
def test_bad_groups_of_samples(groups, words):
    secret = np.arange(40) % 2
    refused(words, ch.estimate_groups, secret, secret, np.array(groups, dtype=object))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"s1": "a", "s2": "b"}, "no group for the secret 's3'"),
        ({"s1": "a", "s2": "a", "s3": "b", "s9": "b"}, "'s9', which is no secret"),
        ({"s1": "a", "s2": "a", "s3": "a"}, "2 to 200 groups"),
    ],
)
def test_bad_groups_of_secrets(groups, words):
    refused(words, ch.analyse_groups, ROWS[:3], groups)
