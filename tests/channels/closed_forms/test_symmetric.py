"""Mechanisms that treat all values alike: their profile is that of their matrix."""

import pytest

from narcissus.channels import KaryRandomizedResponse, Subset, UnaryEncoding, local_dp_delta

FORMS = [KaryRandomizedResponse(5, 1.2), Subset(5, 2, 0.7), UnaryEncoding(4, 2.0, optimized=True)]


@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_the_profile_is_that_of_the_matrix(form):
    made = form.channel()
    for epsilon in (0.0, 0.3, 0.6, form.epsilon, 5.0):
        assert form.delta(epsilon) == pytest.approx(local_dp_delta(made, epsilon), abs=1e-14)
    assert form.delta(0) == pytest.approx(1 - form.beta_star, abs=1e-14)
    assert (form.pair, form.local_epsilon) == (("1", "2"), form.epsilon)
