"""Guarantees by accounting: DP-SGD and compositions."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.guarantees import (
    GaussianDP,
    PureDP,
    dp_sgd,
    from_event,
    from_privacy_loss,
)


def test_dp_sgd_by_accounting():
    one_step = dp_sgd(
        2.0, 1.0, 1, interval=1e-3
    )  # a replaced record moves a full batch by two clipping norms
    epsilon = np.linspace(0, 4, 9)
    found = one_step.profile(epsilon)
    truth = GaussianDP(1.0).profile(epsilon)
    assert (found >= truth - 1e-9).all()
    assert np.allclose(found, truth, atol=2e-4, rtol=0)
    added = dp_sgd(2.0, 1.0, 1, adjacency="add-remove", interval=1e-3)
    assert added.adjacency == "add-remove"
    assert np.allclose(added.profile(epsilon), GaussianDP(0.5).profile(epsilon), atol=2e-4, rtol=0)
    rates = np.logspace(-9, 0, 20)
    assert (one_step.power(rates) >= rates).all()  # never below the diagonal
    less, more = dp_sgd(1.0, 0.1, 9, interval=1e-3), dp_sgd(0.8, 0.1, 9, interval=1e-3)
    assert (less.profile(epsilon) <= more.profile(epsilon)).all()


def test_dp_sgd_with_hardly_any_noise_is_told_by_how_often_a_record_is_sampled():
    """Losses beyond 600 give NaN in dp-accounting and are not asked for."""
    found = dp_sgd(0.05, 0.01, 2, interval=1e-2)
    assert max(found.points) == 600
    # delta is at most the chance to be sampled at all, and nearly that
    assert float(found.profile(0.0)) == pytest.approx(1 - 0.99**2, abs=1e-4)
    assert float(found.profile(1e4)) >= 0


def test_accounting_refuses_what_it_cannot_do():
    events = pytest.importorskip(
        "dp_accounting", reason="the extra `accounting` is not installed"
    ).dp_event
    with pytest.raises(InputError, match="event"):
        from_event(events.LaplaceDpEvent(1.0))
    with pytest.raises(InputError, match="noise"):
        dp_sgd(0, 0.1, 10)
    with pytest.raises(InputError, match="steps"):
        dp_sgd(1, 0.1, 0)

    class Pure:
        def get_delta_for_epsilon(self, epsilon):
            return PureDP(1.0).profile(epsilon)

    found = from_privacy_loss(Pure(), adjacency="replace-one")
    assert np.allclose(found.profile([0, 0.5, 2]), PureDP(1.0).profile([0, 0.5, 2]), atol=1e-6)
