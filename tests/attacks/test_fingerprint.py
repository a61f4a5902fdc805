"""Fingerprints and candidates: exact success, false positives, and where they are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, play
from narcissus.attacks import (
    Fingerprint,
    TwoCandidates,
    TwoCandidatesCentred,
)
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, Hidden, KnownRows
from narcissus.mechanisms import (
    ExactAverage,
    Identity,
    NoisyAverage,
)
from narcissus.success.relations import (
    Member,
    RandomRow,
)
from narcissus.worlds import Tardos


@pytest.mark.states("Kaplan et al. 2025", "footnote 3")
@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    ("n", "d", "trials", "raw", "centred"),
    [(20, 5000, 4000, 0.872381, 0.914711), (100, 1000, 4000, 0.563958, 0.634016)],
)
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
