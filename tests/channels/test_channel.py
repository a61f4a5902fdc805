"""Tests of it."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from narcissus import channels
from narcissus import channels as ch
from narcissus.channels import beta, channel, prior_for, shannon_leakage
from narcissus.errors import InputError

from .conftest import refused

GOOD = [[0.9, 0.1], [0.2, 0.8]]


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.9, 0.2], [0.2, 0.8]], r"row 1 \(secret 's1'\) sums to 1.1, off by \+0.1"),
        ([[0.9, 0.1], [np.nan, 0.8]], r"secret 's2'.*'o1'\) is missing \(NaN\)"),
        ([[0.9, 0.1], [-0.2, 1.2]], r"secret 's2'.*'o1'\) is -0.2"),
        ([[1.0, 0.0], [1.5, -0.5]], r"secret 's2'.*'o1'\) is 1.5"),
        ([0.9, 0.1], "shape"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        (np.zeros((0, 3)), "shape"),
        ([[np.inf, 0], [0, 1]], "is inf"),
    ],
)
def test_bad_matrices_are_refused_with_their_place(matrix, words):
    refused(words, channel, matrix)


def test_sparse_faults_are_named_too():
    bad = sparse.csr_array(np.array([[1.0, 0.0], [1.5, -0.5]]))
    refused(r"secret 's2'.*'o1'\) is 1.5", channel, bad)


def test_nothing_is_renormalised():
    almost = [[0.9, 0.1 + 5e-10], [0.2, 0.8]]
    assert channel(almost).matrix[0, 1] == 0.1 + 5e-10
    refused("off by", channel, almost, tolerance=1e-12)
    refused("`tolerance` must be a number", channel, almost, tolerance=float("nan"))


def test_names():
    assert channel(pd.DataFrame(GOOD, index=["x", "y"], columns=["a", "b"])).secrets == ("x", "y")
    refused("'x' appears there twice", channel, GOOD, secrets=["x", "x"])
    refused("all 2 outputs, got 1", channel, GOOD, outputs=["a"])


def test_priors():
    c = channel(GOOD, secrets=["x", "y"])
    assert prior_for(c, {"y": 0.25, "x": 0.75}).tolist() == [0.75, 0.25]
    assert prior_for(c, pd.Series([0.25, 0.75], index=["y", "x"])).tolist() == [0.75, 0.25]
    for bad, words in (
        ({"x": 1.0}, "no probability for the secret 'y'"),
        ({"x": 0.5, "y": 0.5, "z": 0.0}, "names 'z'"),
        ([0.5, 0.4], "sum to 1"),
        ([1.0], "2 secrets, got 1"),
        ([0.5, np.nan], "probabilities"),
    ):
        refused(words, prior_for, c, bad)
    refused("all mass on one secret \\('x'\\)", beta, c, [1.0, 0.0])


def test_one_secret_leaks_nothing():
    alone = channel([[0.9, 0.1]], secrets=["only"])
    found = channels.beta_star(alone)
    assert (found.value, found.pair, found.advantage) == (1, (), 0)
    assert "nothing to tell apart" in str(found)
    assert beta(alone) == 1
    assert channels.tied_pairs(alone) == []
    assert channels.pairwise(alone).tolist() == [[1]]
    assert channels.local_dp_epsilon(alone) == channels.metric_epsilon(alone, [[0.0]]) == 0
    assert channels.quick_bounds(alone).low == channels.capacity(alone) == 1
    assert channels.refines(alone, channel([[1.0]], secrets=["only"])).holds
    summary = channels.analyse(alone)
    assert (summary.beta_star, summary.bayes_risk, summary.beta, summary.leakage) == (1, 0, 1, 1)
    assert "one secret" in str(summary)
    many = channels.repeated_security(alone, 1_000)
    assert (many.beta_star, many.capacity) == (1, pytest.approx(1))
    design = channels.most_secure([[0.5, 0.25]], 0.4)
    assert (design.beta_star, channels.least_loss([[0.5, 0.25]]).loss) == (1, 0.25)


def numbers(found):
    """What a result says, as nested lists of numbers and words."""
    if isinstance(found, channels.Channel):
        return [found.dense.tolist(), *found.secrets, *found.outputs]
    if dataclasses.is_dataclass(found):
        return [numbers(one) for one in vars(found).values()]
    if isinstance(found, dict):
        return [numbers(one) for one in found.values()]
    if isinstance(found, np.ndarray):
        return found.tolist()
    return [numbers(one) for one in found] if isinstance(found, list | tuple) else found


def flat(found):
    return [x for one in found for x in flat(one)] if isinstance(found, list) else [found]


NAMED = ("matrix", "first", "second", "matrices", "source")
TAKERS = [
    name
    for name in channels.__all__
    if inspect.isfunction(getattr(channels, name))
    and set(inspect.signature(getattr(channels, name)).parameters) & set(NAMED)
]
OTHERS = {
    "gain": np.eye(3), "loss": 1 - np.eye(3), "epsilon": 0.5, "times": 2, "counts": [5, 3, 2],
    "groups": {}, "distance": 1 - np.eye(3),
}  # fmt: skip
REST = {
    "estimate": "its source is a `Program`, or samples",
    "exact_summary": "in fractions: takes what `rational_channel` takes",
    "kantorovich": "its first and second are priors",
    "plot_pairwise": "draws `pairwise`",
    "prior_of": "says a prior",
    "rational_channel": "in fractions: those of floats do not sum to one",
    "refines_exactly": "in fractions: takes what `rational_channel` takes",
}


@pytest.mark.parametrize("name", sorted(set(TAKERS) - set(REST)))
def test_whatever_has_a_channel_is_taken_for_it(name):
    """A mechanism by its formulas, a channel of fractions, a design: by every public function."""
    function = getattr(channels, name)
    parameters = inspect.signature(function).parameters
    rational = channels.rational_channel([["1/2", "1/4", "1/4"]] * 2 + [["1/8", "3/8", "1/2"]])
    design = channels.most_secure(1 - np.eye(3), 0.4)
    for one in (channels.KaryRandomizedResponse(3, 1), rational, design):
        made = one.channel if one is design else one.channel()
        keys = {key: value for key, value in OTHERS.items() if key in parameters}
        if "groups" in keys:
            keys["groups"] = dict(zip(made.secrets, "aab", strict=True))

        def call(source):
            given = [source for key in parameters if key in NAMED]
            return flat(numbers(function(*given, **keys)))

        assert len(call(one)) == len(call(made))
        for mine, theirs in zip(call(one), call(made), strict=True):
            if isinstance(mine, float):
                assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12)
            elif name != "analyse":  # whose name is another
                assert mine == theirs


@pytest.mark.parametrize("form", [channels.Gaussian(1, 5), channels.Laplace(1, 4)])
def test_what_has_no_table_is_asked_by_its_formulas(form):
    found = channels.beta_star(form)
    assert (found.value, found.pair, found.indices) == (form.beta_star, form.pair, (0, 1))
    assert float(found) == form.beta_star
    assert channels.capacity(form) == form.capacity
    assert channels.bayes_risk(form) == form.bayes_risk
    assert channels.local_dp_epsilon(form) == form.local_epsilon
    assert channels.local_dp_delta(form, 0.1) == form.delta(0.1)
    assert channels.local_dp_profile(form, [0, 0.1]).delta == (form.delta(0), form.delta(0.1))
    assert channels.repeated_security(form, 3).value < form.beta_star
    refused("repeated_security", channels.repeat, form, 3)


def test_a_program_s_channel():
    made = ch.of_program(lambda pin: pin % 3 == 0, range(5))
    assert made.secrets == ("0", "1", "2", "3", "4")
    assert made.outputs == ("True", "False")
    assert made.dense[:, 0].tolist() == [1, 0, 0, 1, 0]
    refused("empty", ch.of_program, len, [])


A4 = [[0.9, 0.1, 0], [0.8, 0.2, 0], [0.5, 0.5, 0], [0.5, 0.1, 0.4]]


@pytest.mark.states("Narcissus theory", "6.6")
def test_the_posteriors_average_to_the_prior():
    found = ch.hyper(A4)
    assert found.outer == pytest.approx([0.675, 0.225, 0.1])
    assert found.outer @ found.inner == pytest.approx([0.25] * 4)
    prior = [0.4, 0.3, 0.2, 0.1]
    found = ch.hyper(A4, prior)
    assert found.outer @ found.inner == pytest.approx(prior)
    assert found.outer @ found.inner.max(axis=1) == pytest.approx(ch.bayes_vulnerability(A4, prior))


def test_outputs_that_tell_the_same_are_joined():
    doubled = np.column_stack([np.array(A4) * 0.5, np.zeros(4), np.array(A4)[:, ::-1] * 0.5])
    thin = ch.reduced(doubled)
    assert thin.shape == (4, 3)
    assert thin.dense == pytest.approx(np.array(A4))
    assert thin.outputs[0] == "o1+o7"
    assert ch.hyper(doubled).outer == pytest.approx(ch.hyper(A4).outer)


def test_qif_has_the_same_posteriors(qif):
    rows = np.column_stack([np.array(A4) * 0.5, np.array(A4) * 0.5])
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    outer, inner = qif.channel.hyper(rows, prior)
    found = ch.hyper(rows, prior)
    order = np.argsort(-outer)
    assert found.outer == pytest.approx(outer[order])
    assert found.inner == pytest.approx(inner.T[order])
    theirs = qif.channel.reduced(rows)
    assert ch.reduced(rows).shape == theirs.shape
    for one, two in ((rows, theirs), (theirs, rows)):
        assert ch.refines(one, two).holds


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (np.ma.masked_array([0.5, 0.5], mask=[False, True]), "masked entries"),
        (np.array([0.5, 0.5j]), "complex ones"),
    ],
)
def test_what_a_conversion_would_drop_is_refused(values, says):
    with pytest.raises(InputError, match=says):
        channel(values[None])
    with pytest.raises(InputError, match=says):
        shannon_leakage([[0.5, 0.5], [0.1, 0.9]], values)


@pytest.mark.usefixtures("loops")
def test_rounded_rows_are_refused_with_numba_and_without():
    rows = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    with pytest.raises(InputError, match=r"sums to 0\.9|sums to 1\.0"):
        shannon_leakage(rows.astype("f4"), np.array([0.5, 0.5]))
    with pytest.raises(InputError, match="`prior` must sum to 1"):
        shannon_leakage(rows, np.array([0.4, 0.6]).astype("f4"))
