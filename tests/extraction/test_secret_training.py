"""Training on a secret: exact accounting, clipping, seeds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from narcissus.bounds import optimum
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction.secret_training import (
    RATES,
    AskedTraining,
    FineTune,
    NgramDpSgd,
    PublicNetwork,
    SecretTraining,
    TrainedOnSecret,
    clipped_sums,
    train_models,
    trained_on_secret,
)
from narcissus.extraction.secrets import PosteriorGuess, PublishedGuess
from narcissus.game import Game
from narcissus.priors.secrets import pii_secret, uniform_secret, zipf_secret
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret


def test_accounting_against_privacy_loss_distributions():
    from dp_accounting.pld import privacy_loss_distribution as pld

    training = SecretTraining(noise=8.0, clip=0.3, steps=50)
    # sensitivity 2 clip, noise of standard deviation 8 clip, fifty times
    losses = pld.from_gaussian_mechanism(8.0, sensitivity=2.0).self_compose(50)
    for epsilon in (0.5, 2.0, 6.0):
        delta = losses.get_delta_for_epsilon(epsilon)
        assert math.isclose(float(training.guarantee.profile(epsilon)), delta, rel_tol=1e-3)
    private = SecretTraining.private(2.0, 1e-5, clip=0.3, steps=50)
    assert math.isclose(float(private.guarantee.profile(2.0)), 1e-5, rel_tol=1e-6)


@pytest.mark.parametrize("clip", [0.1, 0.6, 0.9, 1.2, 2.0])
def test_no_pair_of_gradients_is_farther_apart_than_accounted(clip):
    """Random logits and the worst case of the text: two likely characters."""
    rng = np.random.default_rng(8)
    logits = np.concatenate([rng.normal(size=(4000, 5)) * 6, [[50, 50, 0, 0, 0.0]]])
    chances = special.softmax(logits, axis=1)

    def gradient(secret):
        g = chances - np.eye(5)[secret]
        return g * np.minimum(1, clip / np.linalg.norm(g, axis=1))[:, None]

    apart = np.linalg.norm(gradient(0) - gradient(1), axis=1)
    accounted = clip * SecretTraining(1.0, clip, 1).guarantee.mu
    assert apart.max() <= accounted + 1e-9
    assert math.isclose(apart[-1], accounted, rel_tol=1e-9) or clip > 0.7


def test_training_without_noise_gives_the_secret_away():
    secrets = np.array([0, 3, 9, 3])
    logits = train_models(secrets, 10, SecretTraining(0.0))
    assert logits.argmax(axis=1).tolist() == secrets.tolist()
    with pytest.raises(InputError, match="for a guarantee"):
        _ = SecretTraining(0.0).guarantee


def test_clipping_bounds_every_step():
    training = SecretTraining(0.0, clip=0.01, steps=7, learning_rate=0.5)
    logits = train_models(np.array([2]), 4, training)
    assert np.linalg.norm(logits) <= 7 * 0.5 * 0.01 + 1e-12


def test_same_seed_same_models():
    training = SecretTraining(1.0)
    first, again = (train_models(np.array([1, 2]), 4, training, rng=3) for _ in range(2))
    assert (first == again).all()
    played = TrainedOnSecret(training, 4).release(np.array([1, 2]), np.random.default_rng(3))
    assert (first == played).all()


def test_a_study_names_the_training_by_its_numbers():
    """Without noise a step is the clipped gradient by hand: the secret's logit alone rises."""
    released = trained_on_secret(4, 0.0, clip=0.1, steps=1, learning_rate=0.5)
    (logits,) = released.release(np.array([2]), np.random.default_rng(1))
    push = np.array([-1, -1, 3, -1]) / math.sqrt(12)  # one-hot less 1/4 each, of length 1
    assert logits == pytest.approx(0.5 * 0.1 * push)
    assert trained_on_secret(10, 3.0, clip=0.3, steps=50).training == SecretTraining(3.0, 0.3, 50)
    with pytest.raises(InputError, match="values"):
        trained_on_secret(1, 1.0)


@pytest.mark.parametrize("secrets", [[], [4], [-1], [0.5], [[0]]])
def test_bad_secrets(secrets):
    with pytest.raises(InputError, match="secrets"):
        train_models(np.array(secrets), 4, SecretTraining(1.0))


def test_models_start_where_they_are_told():
    start = np.array([2.0, 0.0, -1.0])
    still = SecretTraining(0.0, steps=1, learning_rate=1e-9)
    assert np.allclose(train_models(np.array([1]), 3, still, start=start), start)
    mechanism = TrainedOnSecret(SecretTraining(1.0, steps=2), 3, start)
    played = mechanism.release(np.array([1]), np.random.default_rng(3))
    trained = train_models(np.array([1]), 3, SecretTraining(1.0, steps=2), start=start, rng=3)
    assert (played == trained).all()
    for wrong in ([0.0, 0.0], [0.0, np.inf, 0.0]):
        with pytest.raises(InputError, match="`start` must hold 3"):
            TrainedOnSecret(SecretTraining(1.0), 3, np.array(wrong))


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


PRIOR = np.array([0.5, 0.3, 0.2])


def loss(context, follows, weights):
    inner, outer, bias = weights
    logits = np.tanh(context @ inner) @ outer + bias
    return special.logsumexp(logits) - logits[follows]


def by_differences(context, follows, weights):
    """Give the gradient of one document, each weight moved by itself."""
    found = []
    for place, part in enumerate(weights):
        gradient = np.zeros_like(part)
        for index in np.ndindex(part.shape):
            moved = [[w.copy() for w in weights] for _ in range(2)]
            moved[0][place][index] += 1e-6
            moved[1][place][index] -= 1e-6
            gradient[index] = (
                loss(context, follows, moved[0]) - loss(context, follows, moved[1])
            ) / 2e-6
        found.append(gradient)
    return found


@pytest.mark.parametrize("clip", [0.3, 100.0])
def test_sums_are_those_of_gradients_clipped_one_by_one(clip):
    rng = np.random.default_rng(1)
    contexts, follows = rng.normal(size=(4, 3)), rng.integers(0, 3, size=(2, 4))
    weights = [rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 1, 3))]
    found = clipped_sums(contexts, follows, weights, clip)
    norms = []
    for model in range(2):
        own = [weights[0][model], weights[1][model], weights[2][model, 0]]
        total = [np.zeros_like(part) for part in own]
        for context, what in zip(contexts, follows[model], strict=True):
            gradient = by_differences(context, what, own)
            norm = math.sqrt(sum((part**2).sum() for part in gradient))
            norms.append(norm)
            for place, part in enumerate(gradient):
                total[place] += part * min(1, clip / norm)
        for ours, theirs in zip(found, total, strict=True):
            assert np.allclose(ours[model].reshape(theirs.shape), theirs, atol=1e-7)
    assert min(norms) < 0.3 < max(norms) < 100


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_what_holds_is_two_norms_a_step(neighbours):
    asked = FineTune(4.0, steps=20, learning_rate=0.1, neighbours=neighbours)
    mechanism = asked.trained_on(PRIOR)
    factor = 1 if neighbours == "replace-one" else 2
    assert mechanism.training.guarantee.mu == pytest.approx(factor * asked.accounted.mu)
    assert mechanism.training.guarantee.adjacency == "replace-one"


def test_networks_start_from_the_prior_and_learn_the_secret():
    mechanism = FineTune(math.inf, steps=40, learning_rate=0.2).trained_on(PRIOR)
    assert np.abs(special.softmax(mechanism.start) - PRIOR).max() < 0.1
    secrets = np.arange(3)
    logits = mechanism.release(secrets, np.random.default_rng(0))
    assert (logits.argmax(axis=1) == secrets).all()
    assert mechanism.values == 3
    noisy = FineTune(1.0, steps=3, learning_rate=0.2).trained_on(PRIOR)
    assert noisy.training.noise > 0 == noisy.without_noise().training.noise
    still = FineTune(math.inf, steps=1, learning_rate=1e-12).trained_on(PRIOR)
    assert np.allclose(still.release(secrets, np.random.default_rng(0)), still.start)


def test_many_networks_are_trained_in_parts_each_by_itself():
    """The secret of one network moves no other, and all parts are there."""
    mechanism = FineTune(math.inf, steps=3, learning_rate=0.1).trained_on(PRIOR)
    secrets = np.random.default_rng(2).integers(0, 3, 501)
    logits = mechanism.release(secrets, np.random.default_rng(0))
    alone = mechanism.release(np.arange(3), np.random.default_rng(0))
    assert np.allclose(logits, alone[secrets])


def test_attacks_stay_below_the_bound_and_beat_the_guess():
    """False-alarm rate 1e-6 for each limit."""
    mechanism = FineTune(12.0, steps=15, learning_rate=0.05, documents=4).trained_on(PRIOR)
    game = Game(Secret(PRIOR), mechanism, NamesSecret(3))
    rng = np.random.default_rng(4)
    secrets = game.world.draw(2000, rng).data
    release = mechanism.release(secrets, rng)
    limit = float(optimum(PRIOR, mechanism.training.guarantee)[0])
    for attack in (PublishedGuess(), PosteriorGuess(1000).prepare(game)):
        hits = int((attack.attempt(release, None, rng) == secrets).sum())
        found = clopper_pearson(hits, 2000, confidence=1 - 2e-6)
        assert found.low <= limit
    assert found.low > 0.5  # the last one knows the training
    assert limit < 0.999


def test_the_network_is_the_same_for_the_same_question():
    one, other = (PublicNetwork.drawn(PRIOR, 5, 4) for _ in range(2))
    assert (one.contexts == other.contexts).all()
    assert one.contexts.shape == (5, 4)
    assert one.follows.shape == (4,)


@pytest.mark.parametrize("options", [{"documents": 0}, {"hidden": 0}, {"steps": 0}])
def test_what_no_network_is_tuned_by_is_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        FineTune(1.0, **options)


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
def test_what_no_ngrams_are_trained_by_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        NgramDpSgd(**{"epsilon": 1.0, **options})
