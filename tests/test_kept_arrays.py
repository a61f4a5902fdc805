"""What was checked is not the caller's to change: no public object shares an array with its input.

Every constructor that takes arrays is called with arrays that the caller keeps. Nothing that is
reachable from the object may share memory with them.
"""

from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from narcissus import bounds, channels, guarantees, membership
from narcissus.bounds.threat import ListedPriors
from narcissus.mechanisms.plain import through_channel
from narcissus.priors.empirical import EmpiricalRows, IndependentColumns
from narcissus.priors.secrets import SecretPrior


def matrix():
    return np.array([[0.9, 0.1], [0.2, 0.8]])


def half():
    return np.array([0.5, 0.5])


def signs():
    return np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])


NAMES = ("a",)
CASES = {
    "channel": (channels.channel, matrix),
    "Channel": (lambda m: channels.Channel(m, ("s", "t"), ("o", "p")), matrix),
    "channel of a sparse matrix": (channels.channel, lambda: sparse.csr_array(matrix())),
    "channel of a frame": (channels.channel, lambda: pd.DataFrame(matrix())),
    "through_channel": (through_channel, matrix),
    "shadow_scores": (
        membership.shadow_scores,
        lambda: (signs(), signs(), np.full(3, 0.5)),
    ),
    "ShadowScores": (
        membership.ShadowScores,
        lambda: (signs(), signs().astype(bool), np.full(3, 0.5)),
    ),
    "PoissonBinomial": (bounds.PoissonBinomial, half),
    "ListedPriors": (ListedPriors, lambda: (np.array([[0.5, 0.5]]), np.zeros(1))),
    "EmpiricalRows": (
        lambda r, w: EmpiricalRows(NAMES, (2,), r, w),
        lambda: (np.array([[0], [1]], np.int32), half()),
    ),
    "IndependentColumns": (lambda m: IndependentColumns(NAMES, (m,)), half),
    "SecretPrior": (lambda c: SecretPrior(tuple(c)), half),
    "ProfileCurve": (
        guarantees.ProfileCurve,
        lambda: (np.array([0.5, 1.0]), np.array([0.1, 0.01])),
    ),
    "Samples": (
        channels.samples,
        lambda: (np.arange(100) % 2, np.arange(100) % 4),
    ),
}


def arrays_of(thing, seen=None):
    """Every array that is reachable from an object."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
    elif sparse.issparse(thing):
        yield from (thing.data, thing.indices, thing.indptr)
    elif isinstance(thing, pd.DataFrame):
        yield from (thing[name].to_numpy() for name in thing)
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from arrays_of(value, seen)
    elif isinstance(thing, list | tuple | set | frozenset):
        for value in thing:
            yield from arrays_of(value, seen)
    elif hasattr(thing, "__dict__") or is_dataclass(thing):
        names = {*getattr(thing, "__dict__", {})} | {
            field.name for field in (fields(thing) if is_dataclass(thing) else ())
        }
        for name in names:
            yield from arrays_of(getattr(thing, name, None), seen)


@pytest.mark.parametrize("name", CASES)
def test_no_object_shares_an_array_with_its_input(name):
    make, given = CASES[name]
    inputs = given()
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    made = make(*inputs)
    for kept in arrays_of(made):
        for one in inputs:
            assert not any(np.shares_memory(kept, array) for array in arrays_of(one))


def test_a_channel_stays_what_was_checked():
    m = matrix()
    made = channels.channel(m)
    before = channels.beta_star(made).value
    m[:] = 0.5
    assert channels.beta_star(made).value == before < 0.5
    with pytest.raises(ValueError, match="read-only"):
        made.matrix[:] = 0.5
