"""DP-SGD by its epsilon: what noise is made for, and the learning rate that is chosen."""

import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.asked_training import RATES, AskedTraining


@pytest.mark.parametrize(("neighbours", "apart"), [("replace-one", 2.0), ("add-remove", 1.0)])
def test_noise_is_made_for_what_clipping_allows(neighbours, apart):
    from dp_accounting.pld import privacy_loss_distribution as pld

    asked = AskedTraining(2.0, 1e-5, steps=50, clip=0.3, neighbours=neighbours)
    losses = pld.from_gaussian_mechanism(asked.noise, sensitivity=apart).self_compose(50)
    assert math.isclose(losses.get_delta_for_epsilon(2.0), 1e-5, rel_tol=1e-3)
    assert asked.accounted.adjacency == neighbours
    without = AskedTraining(math.inf)
    assert (without.noise, without.accounted) == (0.0, None)


class Constant:
    """Gives logits that are best at one learning rate."""

    def __init__(self, rate):
        self.rate = rate

    def release(self, data, rng):
        away = abs(math.log10(self.rate / 0.02))
        logits = np.zeros((len(data), 3))
        logits[np.arange(len(data)), data] = -away
        return logits


def test_the_rate_of_least_loss_is_chosen():
    asked = AskedTraining(1.0, steps=10)
    chances = np.full(3, 1 / 3)
    grid = [10 * rate / 10 for rate in RATES]
    best = min(grid, key=lambda rate: abs(math.log10(rate / 0.02)))
    assert asked.chosen(Constant, chances).rate == best
    assert AskedTraining(1.0, learning_rate=0.7).chosen(Constant, chances).rate == 0.7


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"steps": 0}, "steps"),
        ({"clip": 0.0}, "clip"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"neighbours": "replace"}, "neighbours"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        AskedTraining(**{"epsilon": 1.0, **options})
