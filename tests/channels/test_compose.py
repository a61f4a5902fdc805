import numpy as np
import pytest
from scipy import optimize, sparse

from narcissus import channels as ch
from narcissus.errors import InputError, TooLargeError


def rows(seed, n=4, m=3):
    return np.random.default_rng(seed).dirichlet(np.ones(m), n)


@pytest.mark.states("Chatzikokolakis et al. 2023", "section IV-A")
def test_parallel_is_the_product():
    a, b = rows(0), rows(1, m=5)
    both = ch.parallel(ch.channel(a, outputs="xyz"), ch.channel(b, outputs="pqrst"))
    assert both.shape == (4, 15)
    assert both.outputs[6] == "y|q"
    assert np.allclose(both.matrix[2], np.outer(a[2], b[2]).ravel(), rtol=1e-15)


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_repeated_use_by_counts_leaks_what_sequences_leak(times):
    a = rows(2)
    a[1] = [0.5, 0.5, 0]  # an output that one secret never gives
    sequences, counts = ch.parallel(*[a] * times), ch.repeat(a, times)
    assert counts.shape[1] <= sequences.shape[1]
    assert np.allclose(counts.matrix.sum(axis=1), 1, rtol=1e-12)
    prior = np.random.default_rng(3).dirichlet(np.ones(4))
    for measure in (ch.bayes_risk, ch.shannon_leakage):
        assert measure(counts, prior) == pytest.approx(measure(sequences, prior), rel=1e-10)
    assert ch.beta_star(counts).value == pytest.approx(ch.beta_star(sequences).value, rel=1e-11)


def test_explosions_are_refused_with_the_size_and_bounded_by_theorem():
    c = ch.KaryRandomizedResponse(30, 1).channel()
    with pytest.raises(TooLargeError, match="GiB"):
        ch.parallel(*[c] * 6)
    with pytest.raises(TooLargeError, match="entries"):
        ch.repeat(c, 12)
    one = ch.beta_star(c).value
    bound = ch.repeated_security(c, 12)
    assert not bound.exact
    assert bound.beta_star == pytest.approx(one**12)
    assert "Theorem 3" in str(bound)
    assert ch.parallel_security(*[c] * 6).beta_star == pytest.approx(one**6)
    exact = ch.repeated_security(c, 2)
    assert exact.exact
    assert exact.beta_star >= one**2


@pytest.mark.states("Chatzikokolakis et al. 2023", "section IV-B")
def test_cascade():
    a, b = rows(5), rows(6, n=3, m=6)
    made = ch.cascade(a, b)
    assert np.allclose(made.matrix, a @ b)
    thin = ch.cascade(sparse.csr_array(a), sparse.csr_array(b))
    assert thin.is_sparse
    assert np.allclose(thin.dense, a @ b)
    assert np.allclose(ch.cascade(sparse.csr_array(a), b).matrix, a @ b)
    with pytest.raises(InputError, match="3 outputs and the second takes 4"):
        ch.cascade(a, rows(7))
    assert ch.cascade_security([0.2, 0.5], [3.0, 2.0]).beta_star == 0.5


def test_parallel_needs_the_same_secrets():
    with pytest.raises(InputError, match="4 and 3 secrets"):
        ch.parallel(rows(0), rows(0, n=3))
    with pytest.raises(InputError, match="'s1' in one stands where 'a'"):
        ch.parallel(rows(0), ch.channel(rows(0), secrets="abcd"))
    with pytest.raises(InputError, match="at least one"):
        ch.parallel()


def least_overlap_under_dp(records, epsilon):
    """The least overlap of two databases at distance ``records``, by a linear program.

    The best attacker announces one of the two with some probability for each database on the way
    between them; neighbours on the way are epsilon-indistinguishable.
    """
    n = records + 1
    ratio = np.exp(epsilon)
    constraints, limits = [], []
    for i in range(records):
        for x, y in ((i, i + 1), (i + 1, i)):
            # p_x <= e^eps p_y, and 1 - p_x <= e^eps (1 - p_y)
            yes, no = np.zeros(n), np.zeros(n)
            yes[[x, y]], no[[x, y]] = (1, -ratio), (-1, ratio)
            constraints += [yes, no]
            limits += [0, ratio - 1]
    objective = np.zeros(n)
    objective[0], objective[-1] = -1, 1
    found = optimize.linprog(
        objective, A_ub=np.array(constraints), b_ub=limits, bounds=(0, 1), method="highs"
    )
    return 1 + found.fun


@pytest.mark.states("Narcissus theory", "6.1")
@pytest.mark.parametrize("records", range(1, 8))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_databases_by_linear_program(records, epsilon):
    sharp = ch.from_database_dp(epsilon, records)
    assert sharp.value == pytest.approx(least_overlap_under_dp(records, epsilon), rel=1e-6)
    assert sharp.value >= ch.naive_database_bound(epsilon, records).value - 1e-15


@pytest.mark.states("Chatzikokolakis et al. 2023", "Corollary 1")
@pytest.mark.parametrize(("records", "values"), [(1, 3), (2, 2), (2, 3), (3, 2)])
def test_corollary_1_holds_and_is_tight_for_products(records, values):
    # Independent randomized response of each record reaches Theorem 6 for the uniform prior.
    epsilon = 0.8
    one = ch.KaryRandomizedResponse(values, epsilon).channel().matrix
    whole = one
    for _ in range(records - 1):
        whole = np.kron(whole, one)
    bound = ch.from_database_dp(epsilon, records, values, prior="uniform")
    assert "Corollary 1" in bound.theorem
    assert ch.beta(whole) == pytest.approx(bound.value, rel=1e-12)
    rng = np.random.default_rng(0)
    for prior in rng.dirichlet(np.ones(len(whole)), 50):
        found = ch.from_database_dp(epsilon, records, values, prior=float(prior.max()))
        assert ch.beta(whole, prior) >= found.value - 1e-12
    assert ch.beta_star(whole).value >= ch.from_database_dp(epsilon, records).value - 1e-12


def test_guarantees():
    assert ch.from_local_dp(0).value == 1
    assert ch.from_local_dp(1e4).value == 0
    assert ch.from_local_dp(700).value == pytest.approx(2 * np.exp(-700.0), rel=1e-12, abs=0)
    assert ch.from_local_dp(0.7, 0.1).value == pytest.approx(
        1 - (np.exp(0.7) - 1 + 0.2) / (np.exp(0.7) + 1)
    )
    assert ch.to_approximate_dp(0.75) == (0.0, 0.25)
    for epsilon in (0.0, 0.1, 0.5, 0.69, 0.7, 3.0):
        assert ch.yeom_bound(epsilon).value <= ch.from_local_dp(epsilon).value + 1e-15
        assert ch.humphries_bound(epsilon).value == ch.from_local_dp(epsilon).value
    assert "at least" in str(ch.from_local_dp(1))
    assert ch.from_local_dp(1).advantage.value == pytest.approx(np.tanh(0.5))
    assert ch.from_database_dp(1, 10_000).value == 0
    for call, words in (
        (lambda: ch.from_local_dp(-1), "epsilon"),
        (lambda: ch.from_local_dp(1, 2), "delta"),
        (lambda: ch.from_database_dp(1, 0), "records"),
        (lambda: ch.from_database_dp(1, 2, prior="uniform"), "`values` is needed"),
        (lambda: ch.to_approximate_dp(1.5), "beta_star"),
    ):
        with pytest.raises(InputError, match=words):
            call()


@pytest.mark.states("Narcissus theory", "6")
@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_approximate_ldp_bound_is_reached(epsilon, delta):
    # With probability delta the secret itself, otherwise randomized response.
    d = (1 - delta) / (1 + np.exp(epsilon))
    c = [[delta, 0, (1 - delta) - d, d], [0, delta, d, (1 - delta) - d]]
    assert ch.local_dp_delta(c, epsilon) == pytest.approx(delta, abs=1e-12)
    assert ch.beta_star(c).value == pytest.approx(ch.from_local_dp(epsilon, delta).value, rel=1e-12)
