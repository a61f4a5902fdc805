"""Random channels, samples of them, and both kinds of loops."""

import numpy as np
import pytest

from narcissus.channels import _search as kernels
from narcissus.errors import InputError


def draw(c, size, rng, prior=None):
    """Draw secrets and outputs of a channel matrix."""
    n = len(c)
    secret = rng.choice(n, size=size, p=prior)
    cumulative = np.cumsum(c, axis=1)
    output = (rng.random(size)[:, None] * cumulative[:, -1:][secret] > cumulative[secret]).sum(1)
    return secret, output


def refused(words, call, *given, error=InputError, **more):
    """Check that a call is refused with these words."""
    with pytest.raises(error, match=words):
        call(*given, **more)


def random_channel(rng, n, m, concentration=1.0):
    return rng.dirichlet(np.full(m, concentration), n)


@pytest.fixture(params=["compiled", "plain"])
def loops(request, monkeypatch):
    """Run with compiled loops and with NumPy's."""
    if request.param == "plain":
        monkeypatch.setenv("NARCISSUS_NO_NUMBA", "1")
    else:
        pytest.importorskip("numba", reason="the extra `fast` is not installed")
    kernels.loops.cache_clear()
    yield request.param
    kernels.loops.cache_clear()


@pytest.fixture(params=range(12))
def world(request):
    rng = np.random.default_rng(request.param)
    n, m = int(rng.integers(2, 9)), int(rng.integers(1, 12))
    rows = rng.dirichlet(np.full(m, rng.choice([0.2, 1, 5])), n)
    prior = rng.dirichlet(np.ones(n))
    return rows, prior, rng


@pytest.fixture
def qif():
    """The peer that is compared with."""
    return pytest.importorskip("qif", reason="qif is not installed")
