"""Every inequality of Chatzikokolakis et al. 2023, sections III to VII, on arbitrary channels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus import channels as ch

ROOM = 1e-9


@st.composite
def distributions(draw, rows, columns):
    """Rows with zeros, ties and entries of very different size."""
    entry = st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-12, 1), st.floats(0.5, 1))
    weights = np.array(
        draw(
            st.lists(
                st.lists(entry, min_size=columns, max_size=columns), min_size=rows, max_size=rows
            )
        )
    )
    weights[weights.sum(axis=1) == 0, 0] = 1
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def channels(draw, secrets=None):
    n = secrets or draw(st.integers(2, 5))
    return draw(distributions(n, draw(st.integers(1, 5))))


@st.composite
def systems(draw):
    """A channel and a prior that leaves something to guess."""
    c = draw(channels())
    prior = draw(distributions(1, len(c)))[0]
    if prior.max() > 1 - 1e-9:
        prior = np.full(len(c), 1 / len(c))
    return c, prior


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 1", "section II")
@given(systems())
def test_ranges_and_theorem_1(system):
    c, prior = system
    risk, guess = ch.bayes_risk(c, prior), ch.guessing_error(prior)
    assert 0 <= risk <= guess + ROOM
    worst = ch.beta_star(c).value
    assert -ROOM <= worst <= ch.beta(c, prior) + ROOM
    assert 1 <= ch.multiplicative_leakage(c, prior) <= ch.capacity(c) + ROOM
    assert 1 - ROOM <= ch.capacity(c) <= min(c.shape) + ROOM
    assert ch.shannon_leakage(c, prior) >= 0


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 2", "Equation 4")
@given(systems())
def test_theorem_2_and_equation_4(system):
    c, prior = system
    tv = max(np.abs(a - b).sum() / 2 for a in c for b in c)
    assert math.isclose(ch.beta_star(c).value, 1 - tv, abs_tol=1e-12)
    top = prior.max()
    by_leakage = (1 - top * ch.multiplicative_leakage(c, prior)) / (1 - top)
    assert math.isclose(ch.beta(c, prior), by_leakage, abs_tol=1e-6)


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 3", "section IV")
@given(st.data())
def test_theorem_3_parallel(data):
    a = data.draw(channels())
    b = data.draw(channels(secrets=len(a)))
    both = ch.parallel(a, b)
    assert ch.beta_star(both).value >= ch.beta_star(a).value * ch.beta_star(b).value - ROOM
    assert ch.beta_star(both).value <= min(ch.beta_star(a).value, ch.beta_star(b).value) + ROOM
    assert ch.capacity(both) <= ch.capacity(a) * ch.capacity(b) + ROOM


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 4", "section IV")
@given(st.data())
def test_theorem_4_cascade(data):
    a = data.draw(channels())
    if a.shape[1] < 2:
        return
    b = data.draw(channels(secrets=a.shape[1]))
    chain = ch.cascade(a, b)
    assert ch.beta_star(chain).value >= max(ch.beta_star(a).value, ch.beta_star(b).value) - ROOM
    assert ch.capacity(chain) <= min(ch.capacity(a), ch.capacity(b)) + ROOM
    prior = data.draw(distributions(1, len(a)))[0]
    assert ch.bayes_risk(chain, prior) >= ch.bayes_risk(a, prior) - ROOM


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 5", "Proposition 2")
@given(channels(), st.floats(0, 5))
def test_theorem_5_and_proposition_2(c, epsilon):
    worst = ch.beta_star(c).value
    level = ch.local_dp_epsilon(c)
    if math.isfinite(level):
        assert worst >= ch.from_local_dp(level).value - ROOM
    delta = ch.local_dp_delta(c, epsilon)
    assert worst >= ch.from_local_dp(epsilon, delta).value - ROOM
    assert math.isclose(ch.local_dp_delta(c, 0), 1 - worst, abs_tol=1e-12)
    profile = ch.local_dp_profile(c, [0, epsilon / 2, epsilon])
    assert list(profile.delta) == sorted(profile.delta, reverse=True)


@pytest.mark.states("Chatzikokolakis et al. 2023", "section V-E")
@given(systems())
def test_section_5e_implied_risk(system):
    c, prior = system
    implied = ch.implied_bayes_risk(ch.beta_star(c).value, ch.capacity(c), prior)
    assert implied.value <= ch.bayes_risk(c, prior) + ROOM


@pytest.mark.states("Chatzikokolakis et al. 2023", "section V-E")
@given(st.data())
def test_miracle_theorem(data):
    c, prior = data.draw(systems())
    gain = np.array(
        data.draw(
            st.lists(
                st.lists(st.floats(0, 10), min_size=len(c), max_size=len(c)), min_size=1, max_size=4
            )
        )
    )
    before = ch.prior_g_vulnerability(gain, prior)
    if before < 1e-6:
        return
    assert ch.g_leakage(c, gain, prior) <= ch.miracle_bound(c).value * (1 + ROOM)
    assert ch.g_leakage(c, gain, prior) >= 1 - ROOM


@pytest.mark.states("Chatzikokolakis et al. 2023", "Proposition 5", "section VII-C")
@given(channels(), st.data())
def test_proposition_5_quick_bounds(c, data):
    worst = ch.beta_star(c).value
    for reference in ("centroid", "uniform", c[0]):
        found = ch.quick_bounds(c, reference)
        assert found.low <= worst + ROOM
        assert found.high is None or found.high >= worst - ROOM
    l2 = ch.l2_bounds(c)
    assert l2.low <= worst + ROOM
    assert l2.high >= worst - ROOM


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 7")
@given(st.data())
def test_theorem_7(data):
    # Any channel that tells k secrets apart for certain.
    k = data.draw(st.integers(2, 4))
    n = data.draw(st.integers(k, 6))
    rows = np.vstack([np.eye(k), data.draw(distributions(n - k, k))]) if n > k else np.eye(k)
    assert ch.beta(rows) <= (1 - k / n) / (1 - 1 / n) + ROOM


@given(st.integers(2, 50), st.floats(0, 30), st.floats(0, 30))
def test_mechanisms_are_as_private_as_they_say(n, epsilon, other):
    for m in (
        ch.KaryRandomizedResponse(n, epsilon),
        ch.Subset(n, 1 + n // 3 if n > 2 else 1, epsilon),
        ch.UnaryEncoding(n, epsilon),
        ch.UnaryEncoding(n, epsilon, optimized=True),
    ):
        assert m.beta_star >= ch.from_local_dp(epsilon).value * (1 - 1e-12)
        assert m.delta(epsilon) <= 1e-12
        assert m.beta_star >= ch.from_local_dp(other, m.delta(other)).value * (1 - 1e-9) - 1e-15
        assert 0 <= m.bayes_risk <= m.guessing_error + 1e-12
        assert 1 - 1e-12 <= m.capacity <= n * (1 + 1e-12)
