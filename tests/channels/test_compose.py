import numpy as np
import pytest
from scipy import sparse

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


def test_explosions_are_refused_with_the_size_and_limited_from_both_sides():
    c = ch.KaryRandomizedResponse(30, 1).channel()
    with pytest.raises(TooLargeError, match="GiB"):
        ch.parallel(*[c] * 6)
    with pytest.raises(TooLargeError, match="entries"):
        ch.repeat(c, 12)
    one = ch.beta_star(c).value
    bound = ch.repeated_security(c, 12)
    assert not bound.exact
    assert one**12 < bound.beta_star <= bound.beta_star_at_most
    assert bound.gap < 1e-10
    assert "at most" in str(bound)
    assert ch.parallel_security(*[c] * 12).beta_star == pytest.approx(bound.beta_star, rel=1e-9)
    exact = ch.repeated_security(c, 2)
    assert exact.exact
    assert exact.beta_star == exact.beta_star_at_most >= one**2
    assert exact.gap == 0
    assert ch.repeated_security(c, 2, most=1).beta_star == pytest.approx(exact.beta_star, rel=1e-9)


def test_noise_on_the_same_numbers():
    together = ch.mixed_security([(ch.Gaussian(1, 2.0), 16), (ch.Gaussian(1, 4.0), 4)])
    assert together.beta_star == pytest.approx(ch.Gaussian(4.25**0.5, 1).beta_star, rel=1e-14)
    with_laplace = ch.mixed_security([(ch.Gaussian(1, 2.0), 16), (ch.Laplace(1, 4.0), 4)])
    assert with_laplace.beta_star_at_most < ch.Gaussian(2.0, 1.0).beta_star
    assert with_laplace.gap < 2e-6
    with pytest.raises(InputError, match="composes with its like only"):
        ch.mixed_security([(ch.Laplace(1, 4.0), 1), (rows(1), 2)])
    with pytest.raises(InputError, match="as many `points`"):
        ch.mixed_security([(ch.Laplace(1, 4.0), 1), (ch.Laplace(1, 4.0, 3), 2)])
    with pytest.raises(InputError, match="at least one"):
        ch.mixed_security([])


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
