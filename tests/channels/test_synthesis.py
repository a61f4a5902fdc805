"""The most secure mechanism at a loss: reference values, theorem, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError, TooLargeError

LINE = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(float)


@pytest.mark.states("Narcissus theory", "6.5")
def test_reference_values():
    private = ch.least_loss(LINE, epsilon=1.0)
    assert private.loss == pytest.approx(0.9934363613, abs=1e-9)
    assert private.beta_star == pytest.approx(0.6358246729, abs=1e-8)
    assert ch.local_dp_epsilon(private.channel) <= 1 + 1e-7
    free = ch.most_secure(LINE, private.loss)
    assert free.beta_star == pytest.approx(0.8278636344, abs=1e-8)
    both = ch.most_secure(LINE, 1.1 * private.loss, epsilon=1.0)
    assert both.beta_star == pytest.approx(0.8109692502, abs=1e-8)
    assert abs(both.beta_star - both.limit) < 1e-7
    metric = ch.most_secure(LINE, private.loss, epsilon=1.0, distance=LINE)
    assert metric.beta_star >= private.beta_star - 1e-7  # near secrets are held closer, far less


@pytest.mark.states("Narcissus theory", "6.5")
def test_least_loss_under_d_privacy():
    line = LINE[:4, :4]
    found = ch.least_loss(line, epsilon=0.5, distance=line)
    assert found.loss == pytest.approx(0.8032653298563168, abs=1e-7)
    qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")
    uniform = np.full(4, 0.25)
    theirs = qif.mechanism.d_privacy.min_loss_given_d(
        uniform, 4, lambda i, j: 0.5 * abs(i - j), lambda i, j: float(abs(i - j))
    )
    assert float((uniform[:, None] * theirs * line).sum()) == pytest.approx(found.loss, abs=1e-7)


@pytest.mark.states("Narcissus theory", "6.5")
@pytest.mark.parametrize("seed", range(4))
def test_the_theorem_holds_with_equality_on_lines_and_for_0_1_loss(seed):
    rng = np.random.default_rng(seed)
    prior, places = rng.dirichlet(np.ones(5)), np.sort(rng.random(5))
    for loss in (1 - np.eye(5), np.abs(np.subtract.outer(places, places))):
        nothing = ch.loss_of_nothing(loss, prior)
        found = ch.most_secure(loss, 0.37 * nothing, prior=prior)
        assert found.beta_star == pytest.approx(0.37, abs=1e-7)
        assert found.loss <= 0.37 * nothing + 1e-7
        back = ch.least_loss(loss, found.beta_star, prior=prior)
        assert back.loss == pytest.approx(0.37 * nothing, abs=1e-6)
    odd = [[0, 1, 0], [0, 0, 3], [1, 0, 0]]
    better = ch.most_secure(odd, ch.loss_of_nothing(odd) / 2)
    assert better.beta_star == pytest.approx(0.75, abs=1e-7)


def test_no_mechanism_of_many_is_better():
    """Random mechanisms at no larger loss are never above the program's limit."""
    rng = np.random.default_rng(9)
    loss = rng.random((4, 3))
    cheap = ch.least_loss(loss)
    found = ch.most_secure(loss, 0.6 * ch.loss_of_nothing(loss) + 0.4 * cheap.loss)
    near = 0
    for _ in range(400):
        mixed = 0.8 * found.channel.dense + 0.1 * cheap.channel.dense
        mixed += 0.1 * rng.dirichlet(np.full(3, 0.3), 4)
        if (mixed * loss).sum() / 4 <= found.loss:
            near += 1
            assert ch.beta_star(mixed).value <= found.limit + 1e-9
    assert near > 20


def test_the_curve_rises_and_is_concave():
    losses, values = ch.trade_off(LINE, 6, epsilon=1.0)
    assert losses[0] == pytest.approx(0.9934363613, abs=1e-6)
    assert values[-1] == pytest.approx(1, abs=1e-6)
    assert (np.diff(values) > 0).all()
    assert (np.diff(values, 2) < 1e-5).all()  # the first loss is met within 1e-6


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match=r"no mechanism has a loss below 0\.99343"):
        ch.most_secure(LINE, 0.5, epsilon=1.0)
    with pytest.raises(InputError, match="at least 0"):
        ch.most_secure(-LINE, 0.5)
    with pytest.raises(InputError, match="shape"):
        ch.least_loss([1.0, 2.0])
    with pytest.raises(InputError, match="give both"):
        ch.least_loss(LINE, distance=LINE)
    with pytest.raises(InputError, match="5 x 5"):
        ch.least_loss(LINE, epsilon=1.0, distance=np.eye(3))
    with pytest.raises(TooLargeError, match="fewer answers"):
        ch.least_loss(np.ones((200, 200)))
