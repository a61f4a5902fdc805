"""Each prior at each epsilon, as a game."""

import pytest

import narcissus
from narcissus.errors import InputError
from narcissus.study.secrets.kind import settings_of


def test_every_prior_meets_every_epsilon(study):
    priors = [{"name": "zipf", "n": 4}, {"name": "pii"}]
    settings = narcissus.load_study(study(prior=priors)).settings
    found = settings_of(settings)
    assert [one.label for one in found] == [
        "Zipf over 4, s = 1.1, epsilon 1", "Zipf over 4, s = 1.1, epsilon 8",
        "PII-like over 10, assumed, epsilon 1", "PII-like over 10, assumed, epsilon 8",
    ]  # fmt: skip
    assert [one.asked.epsilon for one in found] == [1.0, 8.0, 1.0, 8.0]
    assert [one.trained.values for one in found] == [4, 4, 10, 10]
    seat = found[2].seat(settings)
    assert (seat.name, list(seat.attacks)) == (found[2].label, ["argmax", "posterior"])
    assert seat.attacks["posterior"].likelihood is not None  # prepared
    assert seat.game.world.chances.tolist() == list(found[2].prior.chances)


def test_no_prior_twice(study):
    priors = [{"name": "zipf", "n": 4}, {"name": "zipf", "n": 4, "s": 1.1}]
    with pytest.raises(InputError, match="twice"):
        settings_of(narcissus.load_study(study(prior=priors)).settings)
