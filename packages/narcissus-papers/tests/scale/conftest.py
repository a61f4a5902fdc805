"""Small studies and sweeps of them."""

import pytest

from narcissus_papers.scale import AtValue, Parameter, Sweep, scale
from narcissus_papers.scale.fit import Known

HALVES = {
    "kind": "game",
    "title": "Halves",
    "world": {"name": "bits", "n": 4},
    "mechanism": {
        "name": "parallel",
        "parts": [{"name": "xor-half", "part": "second"}, {"name": "xor-half", "part": "xor"}],
    },
    "success": {"name": "prefix", "length": 2},
    "statement": {"name": "narcissus", "epsilon": 0.0, "delta": 0.0},
}
"""The best attacker gains 1 - 2^-(n/2)."""

ROWS = {
    "kind": "game",
    "title": "Bits in a response",
    "about": "Randomized response.",
    "world": {"name": "bits", "n": 4},
    "mechanism": {"name": "randomized-response", "epsilon": 0.5},
    "success": {"name": "pinned", "k": 1},
    "attack": [{"name": "released-places", "k": 1}, {"name": "bayes"}],
    "statement": {"name": "narcissus", "epsilon": 0.0, "delta": 0.0},
    "run": {"trials": 400},
}


@pytest.fixture
def changed():
    """Give the function that changes what a value's run found."""

    def make(one, **changes):
        result = one.record.result.model_copy(update=changes)
        return AtValue(one.value, one.record.model_copy(update={"result": result}))

    return make


@pytest.fixture
def halves():
    return HALVES


@pytest.fixture
def rows():
    return ROWS


@pytest.fixture
def exact():
    """Give exact values of a formula."""

    def make(formula, sizes):
        values = [(size, formula(size)) for size in sizes]
        return [Known(s, v, max(0.0, v - 1e-12), v + 1e-12, exact=True) for s, v in values]

    return make


@pytest.fixture(scope="session")
def drawn():
    """A sweep with an exact answer and attacks, played once."""
    sweep = Sweep(
        Parameter("success.k", (1, 2, 3)), (Parameter("attack.released-places.k", (1, 2, 3)),), 300
    )
    return scale(ROWS, sweep, rng=1)
