"""Fingerprints, matching and singling out: exact success, and where they are refused."""

import itertools

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, play
from narcissus.attacks import (
    BucketHashing,
    Fingerprint,
    ParityGuess,
    ParityMembership,
    Subtraction,
    SupersetMatching,
    TwoCandidates,
    TwoCandidatesCentred,
)
from narcissus.attacks.rows import fits
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, Hidden, Hiding, KnownRows, Rates
from narcissus.mechanisms import (
    ExactAverage,
    Identity,
    KAnonymity,
    NoisyAverage,
    Parity,
)
from narcissus.success.relations import (
    Isolates,
    Member,
    RandomRow,
)
from narcissus.worlds import Finite, Tardos, Uniform


@pytest.mark.states("Kaplan et al. 2025", "footnote 3")
@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    ("n", "d", "trials", "raw", "centred"),
    [(20, 5000, 4000, 0.872381, 0.914711), (100, 1000, 4000, 0.563958, 0.634016)],
)
@pytest.mark.one_in(2)
def test_both_attackers_of_two_candidates_have_their_exact_success(n, d, trials, raw, centred):
    """Narcissus theory, additions B, noise .1: false alarm rate 1e-6 for all eight counts.

    The values hold for a second candidate outside the data set; in the game he is inside with
    chance n / N, and then any guess is right.
    """
    total = 100 * n
    game = Game(Tardos(total, d, n), NoisyAverage(0.1), Member(), side=Candidates())
    attacks = {"raw": TwoCandidates(), "centred": TwoCandidatesCentred()}
    run = play(game, attacks, trials=trials, stop=False, rng=2)
    for one, outside in zip(run.attackers, (raw, centred), strict=True):
        inside = n / total
        for hits, rate in (
            (one.scores.success, (1 - inside) * outside + inside),
            (one.scores.baseline, 0.5 + inside / 2),
        ):
            low, high = (
                stats.binom.ppf(1e-6 / 16, trials, rate),
                stats.binom.isf(1e-6 / 16, trials, rate),
            )
            assert low <= hits.sum() <= high, one.name


@pytest.mark.parametrize("attack", [TwoCandidates(), TwoCandidatesCentred()], ids=repr)
def test_attackers_of_candidates_need_candidates(attack):
    for side in (None, KnownRows(1), Hidden()):
        with pytest.raises(InputError, match="needs the side information `candidates`"):
            attack.prepare(Game(Tardos(5, 4, 2), Identity(), Member(), side=side))


def test_raw_and_centred_inner_products_by_hand():
    pair = np.array([[[1, 1, 1, 1], [1, 0, 0, 0]]], dtype=np.uint8)
    release, rng = np.array([[0.9, 0.4, 0.4, 0.4]]), np.random.default_rng(0)
    assert (TwoCandidates().attempt(release, pair, rng) == pair[:, 0]).all()
    assert (TwoCandidatesCentred().attempt(release, pair, rng) == pair[:, 1]).all()


def test_fingerprints_hold_their_false_positive_rate():
    """Members are called more often than strangers, strangers near the rate that was asked for."""
    game = Game(Tardos(1000, 500, 20), ExactAverage(), RandomRow())
    run = play(game, Fingerprint(0.05), trials=2000, stop=False, rng=3).attackers[0]
    # Fresh data share 2% of their rows, nearly all of which are called.
    assert 0.03 < run.baseline.value < 0.10
    assert run.success.value > 0.5


def test_superset_matching_needs_a_list_of_rows():
    finite = Finite([[0, 1], [1, 1]], [[1.0, 0.0], [0.0, 1.0]])
    for world, side in ((Tardos(5, 4, 2), Rates()), (finite, Hidden())):
        with pytest.raises(InputError, match="needs a list of rows"):
            SupersetMatching().prepare(Game(world, Parity(), Member(), side=side))
    whole = Game(Tardos(30, 40, 3), Parity(), Member(), side=Hidden())
    found = play(whole, SupersetMatching(), trials=100, stop=False, rng=1).attackers[0]
    assert found.success.value == 1  # who knows the population finds the rows by their parities
    assert found.baseline.value < 0.4


@pytest.mark.states("Kaplan et al. 2025", "Example 1.4")
def test_rows_of_the_list_are_known_by_their_parities_and_others_fit_by_chance(within):
    """A row that was not released fits one of n others' parities by chance: 1 - (1 - 2^-d/2)^n."""
    world, rng, trials = Uniform(3, 8), np.random.default_rng(12), 20_000
    draw = world.draw(trials, rng)
    parities = Parity().release(draw.data, rng)
    assert fits(draw.data, parities).all()
    strangers = world.draw(trials, rng).data[:, :1]
    assert within(int(fits(strangers, parities).sum()), trials, 1 - (1 - 2**-4) ** 3)


def test_a_row_with_the_parities_of_the_first_is_that_row_once_in_as_many_as_there_are(within):
    """Of a row of 6 bits 3 are told: one in 8 guesses is right, and every guess fits."""
    world, rng, trials = Uniform(2, 6), np.random.default_rng(8), 8000
    data = world.draw(trials, rng).data
    released = Parity().release(data, rng)
    guess = ParityGuess().attempt(released, None, rng)
    assert (Parity().release(guess[:, None], rng)[:, 0] == released[:, 0]).all()
    assert within(int((guess == data[:, 0]).all(axis=1).sum()), trials, 1 / 8)
    assert within(int(guess[:, 0::2].sum()), 3 * trials, 1 / 2)


@pytest.mark.states("Kaplan et al. 2025", "Example 1.3")
def test_every_member_is_called_in_by_its_parities_and_few_strangers(within):
    """A stranger of 6 bits has the parities of one of two rows: 1 - (1 - 1 / 8)^2."""
    world, rng, trials = Uniform(2, 6), np.random.default_rng(9), 8000
    data = world.draw(trials, rng).data
    called = ParityMembership().attempt(Parity().release(data, rng), None, rng)
    assert called(data).all()
    strangers = world.draw(trials, rng).data[:, :1]
    assert within(int(called(strangers).sum()), trials, 1 - (7 / 8) ** 2)


@pytest.mark.states("Kaplan et al. 2025", "Example 1.4")
def test_who_knows_a_list_that_holds_the_rows_finds_one_of_them():
    """Of 200 rows of 60 bits, 3 released: 2^-30 for a false one. Fresh draws of the list: 3/200."""
    game = Game(Uniform(3, 60), Parity(), Member(), side=Hiding(200))
    found = play(game, SupersetMatching(), trials=2000, stop=False, rng=3).attackers[0]
    assert found.success.value == 1
    assert found.baseline.low <= 3 / 200 <= found.baseline.high
    assert found.baseline.high < 0.05


def test_subtraction_needs_all_rows_but_one():
    """With fewer rows it would divide by a wrong number, and say nothing of it."""
    for side in (KnownRows(2), Hidden(), Candidates()):
        with pytest.raises(InputError, match="all rows but one"):
            Subtraction().prepare(Game(Tardos(9, 4, 4), ExactAverage(), Member(), side=side))
    game = Game(Tardos(9, 4, 4), ExactAverage(), Member(), side=KnownRows(3))
    assert Subtraction().prepare(game) == Subtraction()


def test_bucket_weights_are_upper_limits():
    world = Uniform(30, 3, 10)
    game = Game(world, KAnonymity(5), Isolates())
    rng = np.random.default_rng(7)
    attack = BucketHashing().prepare(game)
    release = game.mechanism.release(world.draw(20, rng).data, rng)
    predicates = attack.attempt(release, None, rng)
    weights = predicates.weight(world)
    everyone = np.asarray(list(itertools.product(range(10), repeat=3)))
    true = predicates(np.tile(everyone, (20, 1, 1))).mean(axis=1)
    assert (true <= weights + 1e-12).all()
    assert true.mean() == pytest.approx((weights / 5).mean(), rel=0.5)


def test_the_lightest_group_makes_the_predicate():
    wide, narrow, flat = [[0, 9], [0, 9]], [[2, 3], [4, 4]], [[0, 9], [5, 5]]
    release = np.array([[wide, narrow, flat], [narrow, flat, wide], [flat, wide, wide]])
    found = BucketHashing(buckets=3, levels=10).attempt(release, None, np.random.default_rng(1))
    assert found.low.tolist() == [[2, 4], [2, 4], [0, 5]]
    assert found.high.tolist() == [[3, 4], [3, 4], [9, 5]]
    assert np.allclose(found.weight(None), [0.2 * 0.1, 0.2 * 0.1, 1 * 0.1])
    outside = np.array([[[1, 4], [2, 5]]] * 2 + [[[0, 4], [9, 6]]])
    assert not found(outside).any()


def test_a_fingerprint_allows_for_the_error_of_an_average_of_its_rows():
    """Of n rows the square of an average is too large by var / (n - 1); of one row by var."""
    average, quantile = np.array([[0.2, 0.7]]), stats.norm.ppf(0.9)
    weights, variance = average - 0.5, average * (1 - average)
    for rows, less in ((5, 4), (2, 1), (1, 1)):
        attack = Fingerprint(0.1, rows, 0.01)
        predicates = attack.attempt(average, None, np.random.default_rng(0))
        centre = (weights**2 - variance / less - 0.01).sum()
        spread = np.sqrt((weights**2 * variance).sum())
        assert predicates.thresholds == pytest.approx([centre + quantile * spread])
