"""DP-SGD by its epsilon: what noise is made for, the smaller mu that holds, starts, rates."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from narcissus.errors import InputError
from narcissus.extraction.asked_training import RATES
from narcissus.extraction.ngram_dp_sgd import NgramDpSgd
from narcissus.extraction.secret_training import train_models
from narcissus.priors.secrets import pii_secret, uniform_secret, zipf_secret

ZIPF = zipf_secret().weights


def guarantee(asked):
    return replace(asked, learning_rate=0.1).trained_on(ZIPF).training.guarantee


@pytest.mark.parametrize("clip", [0.3, 1.0, 3.0])
@pytest.mark.states("Swanberg et al. 2025", "section 5.2")
def test_the_mu_that_holds_is_the_smaller_one(clip):
    """About another canary: two clipping norms, or the root of two if that is less."""
    apart = min(2 * clip, math.sqrt(2))
    replaced = NgramDpSgd(2.0, clip=clip)
    assert guarantee(replaced).mu == pytest.approx(replaced.accounted.mu * apart / (2 * clip))
    added = NgramDpSgd(2.0, clip=clip, neighbours="add-remove")
    assert guarantee(added).mu == pytest.approx(added.accounted.mu * apart / clip)
    exact = NgramDpSgd(2.0, clip=clip, sensitivity="softmax")
    assert guarantee(exact).mu == pytest.approx(exact.accounted.mu)
    assert exact.noise <= replaced.noise
    one = NgramDpSgd(2.0, clip=clip, neighbours="add-remove", sensitivity="softmax")
    # the norm of one softmax gradient is at most the root of two, too
    noise_of_step = one.noise * clip
    largest = min(clip, math.sqrt(2))
    assert math.sqrt(one.steps) * largest / noise_of_step == pytest.approx(one.accounted.mu)


def test_without_noise():
    asked = NgramDpSgd(math.inf, steps=3, learning_rate=0.5)
    assert (asked.noise, asked.accounted) == (0.0, None)
    secrets = np.arange(10)
    logits = asked.trained_on(uniform_secret().weights).release(secrets, np.random.default_rng(0))
    assert (logits.argmax(axis=1) == secrets).all()


def test_what_models_start_from():
    assert NgramDpSgd(1.0, start="zero").start_of(ZIPF) is None
    assert special.softmax(NgramDpSgd(1.0).start_of(ZIPF)) == pytest.approx(ZIPF)
    counted = special.softmax(NgramDpSgd(1.0, start="public", public=90).start_of(ZIPF))
    counts = counted * 100 - 1  # one more of each of ten, as Laplace's rule has it
    assert counts == pytest.approx(np.rint(counts))
    assert counts.sum() == pytest.approx(90)
    assert np.abs(counts / 90 - ZIPF).max() < 0.2
    some = np.array([0.0, 1.0])
    assert np.isfinite(NgramDpSgd(1.0).start_of(some)).all()


def test_the_learning_rate_is_the_one_of_least_loss():
    """Held against models of other seeds: the neighbours on the grid are no better."""
    asked = NgramDpSgd(5.0, steps=20)
    training = asked.trained_on(ZIPF).training
    chosen = training.learning_rate
    grid = [10 * rate / 20 for rate in RATES]
    assert chosen in grid
    rng = np.random.default_rng(5)
    secrets = rng.choice(10, 6000, p=ZIPF)
    start = np.log(ZIPF)

    def loss(rate):
        logits = train_models(
            secrets, 10, replace(training, learning_rate=rate), start=start, rng=7
        )
        return -special.log_softmax(logits, axis=1)[np.arange(secrets.size), secrets].mean()

    losses = [loss(rate) for rate in grid]
    best = int(np.argmin(losses))
    assert abs(grid.index(chosen) - best) <= 1
    assert loss(chosen) < loss(grid[0])
    assert loss(chosen) < loss(grid[-1])
    # less noise bears a larger rate
    assert NgramDpSgd(10.0, steps=20).trained_on(ZIPF).training.learning_rate > chosen


class Permuted(np.random.Generator):
    """Draws noise whose columns are in another order."""

    order = None

    def normal(self, *arguments):
        return super().normal(*arguments)[:, self.order]


@pytest.mark.states("Swanberg et al. 2025", "Figure 3")
def test_from_zero_all_characters_are_alike():
    """The lemma: renaming characters renames the logits, so argmax is as good for every prior."""
    order = np.random.default_rng(3).permutation(10)
    renamed = np.argsort(order)  # secret s is called renamed[s] in the other world
    secrets = np.random.default_rng(4).choice(10, 300, p=pii_secret().weights)
    asked = NgramDpSgd(8.0, steps=20, learning_rate=0.05, clip=0.6)
    training = asked.trained_on(ZIPF).training

    def both(start):
        there = Permuted(np.random.PCG64(1))
        there.order = order
        one = train_models(secrets, 10, training, start=start, rng=np.random.default_rng(1))
        other = train_models(renamed[secrets], 10, training, start=start, rng=there)
        return one[:, order], other

    one, other = both(None)
    assert np.allclose(one, other, atol=1e-12)
    one, other = both(np.log(ZIPF))  # a start that knows the prior is another thing
    assert not np.allclose(one, other, atol=0.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"steps": 0}, "steps"),
        ({"start": "zeros"}, "start.*did you mean"),
        ({"sensitivity": "two"}, "sensitivity"),
        ({"public": 0}, "public"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        NgramDpSgd(**{"epsilon": 1.0, **options})
