import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from narcissus import channels
from narcissus.channels import beta, channel, prior_for
from narcissus.errors import InputError

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
    with pytest.raises(InputError, match=words):
        channel(matrix)


def test_sparse_faults_are_named_too():
    bad = sparse.csr_array(np.array([[1.0, 0.0], [1.5, -0.5]]))
    with pytest.raises(InputError, match=r"secret 's2'.*'o1'\) is 1.5"):
        channel(bad)


def test_nothing_is_renormalised():
    almost = [[0.9, 0.1 + 5e-10], [0.2, 0.8]]
    assert channel(almost).matrix[0, 1] == 0.1 + 5e-10
    with pytest.raises(InputError, match="off by"):
        channel(almost, tolerance=1e-12)
    with pytest.raises(InputError, match="`tolerance` must be a number"):
        channel(almost, tolerance=float("nan"))


def test_names():
    assert channel(pd.DataFrame(GOOD, index=["x", "y"], columns=["a", "b"])).secrets == ("x", "y")
    with pytest.raises(InputError, match="'x' stands there twice"):
        channel(GOOD, secrets=["x", "x"])
    with pytest.raises(InputError, match="all 2 outputs, got 1"):
        channel(GOOD, outputs=["a"])


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
        with pytest.raises(InputError, match=words):
            prior_for(c, bad)
    with pytest.raises(InputError, match="all mass on one secret \\('x'\\)"):
        beta(c, [1.0, 0.0])


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
