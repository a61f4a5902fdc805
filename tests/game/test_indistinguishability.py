"""IND games: the sampled rate beside the exact best attacker, and what neither may be."""

import numpy as np
import pytest
from scipy import sparse, stats

import narcissus
from narcissus import channels as ch
from narcissus.attacks import BayesGuess
from narcissus.errors import InputError
from narcissus.game import (
    Game,
    epsilon_of_success,
    play,
    play_ind_bay,
    play_ind_ldp,
    play_ind_minbay,
)
from narcissus.mechanisms import ThroughChannel
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret

ALARM = 1e-6  # false-alarm rate of each sampled claim
RNG = np.random.default_rng(9)
C = ch.channel(RNG.dirichlet(np.ones(6), 5))
PRIOR = RNG.dirichlet(np.ones(5))


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 2", "Game 1")
def test_games_agree_with_the_exact_numbers():
    sure = {"trials": 50_000, "confidence": 1 - ALARM}
    for game in (
        play_ind_bay(C, PRIOR, rng=1, **sure),
        play_ind_bay(sparse.csr_array(C.matrix), PRIOR, rng=1, **sure),
        play_ind_minbay(C, rng=2, **sure),
        play_ind_minbay(C, (1, 3), rng=3, **sure),
        play_ind_ldp(C, rng=4, **sure),
        play_ind_ldp(C, (0, 1), 2, rng=5, **sure),
    ):
        assert game.wins.low <= game.best <= game.wins.high, game
        assert (game.wins.trials, game.wins.confidence) == (50_000, 1 - ALARM)
    assert play_ind_minbay(C, rng=0).best == pytest.approx(1 - ch.beta_star(C).value / 2, rel=1e-12)
    assert play_ind_bay(C, PRIOR, rng=0).best == pytest.approx(1 - ch.bayes_risk(C, PRIOR))
    ldp = play_ind_ldp(C, rng=0)
    assert epsilon_of_success(ldp.best) == pytest.approx(ch.local_dp_epsilon(C), rel=1e-12)
    assert play_ind_bay(C, PRIOR, rng=7) == play_ind_bay(C, PRIOR, rng=7)
    assert "IND-LDP" in str(ldp)


def test_limits_cover_as_often_as_they_say():
    """Of 200 runs at 80%, at most so many miss as chance allows at the declared rate."""
    best = play_ind_bay(C, PRIOR, trials=1, rng=0).best
    runs = [play_ind_bay(C, PRIOR, trials=100, confidence=0.8, rng=s).wins for s in range(200)]
    missed = sum(not w.low <= best <= w.high for w in runs)
    assert missed <= stats.binom.isf(ALARM, 200, 0.2)
    assert missed > 0  # limits at 80% that never miss are not limits at 80%


def test_an_attacker_of_ones_own():
    c = ch.channel([[0.9, 0.1], [0.2, 0.8]])
    blind = play_ind_bay(c, attacker=lambda output: 0, rng=1, trials=20_000, confidence=1 - ALARM)
    assert blind.wins.low < 0.5 < blind.wins.high < blind.best
    with pytest.raises(InputError, match="number of a secret"):
        play_ind_bay(c, attacker=lambda output: 7, trials=10, rng=0)
    broken = play_ind_bay(c, attacker=lambda output: [][output], trials=10, rng=0)
    assert broken.wins.value == 0
    assert "IndexError" in str(broken)


def test_games_that_cannot_be_played():
    with pytest.raises(InputError, match="two different"):
        play_ind_minbay(C, (1, 1))
    certain = play_ind_ldp([[1.0, 0.0], [0.5, 0.5]], rng=0)
    assert certain.best == 1
    assert epsilon_of_success(1.0) == np.inf
    with pytest.raises(InputError, match="never happens"):
        play_ind_ldp([[1.0, 0.0, 0], [1, 0, 0], [0, 0, 1]], (0, 1), 2)


def test_the_same_game_written_out_has_the_same_best_attacker():
    """Its exact profile: each output's best guess by what it wins over its own baseline."""
    found = narcissus.profile(Game(Secret(PRIOR), ThroughChannel(C), NamesSecret(5)))
    joint = PRIOR[:, None] * C.matrix
    gain = (joint - PRIOR[:, None] * joint.sum(axis=0)).max(axis=0).clip(0).sum()
    assert found.delta_at(0.0) == pytest.approx(gain, rel=1e-12)


def test_the_exact_baseline_is_that_of_fresh_secrets():
    class Sampled(NamesSecret):
        def baseline(self, world, attempt):
            return None

    game = {
        kind: Game(Secret(PRIOR), ThroughChannel(C), kind(5)) for kind in (NamesSecret, Sampled)
    }
    exact, sampled = (
        play(one, BayesGuess(), trials=20_000, stop=False, rng=3).attackers[0].baseline
        for one in game.values()
    )
    # 4.9 standard deviations: a false alarm once in a million
    assert abs(exact.value - sampled.value) < 4.9 * 0.5 / np.sqrt(20_000)


@pytest.mark.parametrize("pair", [(0, 5), (5, 0), (-1, 2), (2, -1), (3, 3)])
def test_a_pair_is_two_secrets_that_there_are(pair):
    with pytest.raises(InputError, match="two different secrets"):
        play_ind_minbay(C, pair)
    for good in ((0, 4), (4, 0)):
        assert play_ind_minbay(C, good, trials=1, rng=0).best > 0.5


def test_the_best_output_is_one_that_happens():
    """Of three outputs the last never happens; the middle one tells the secrets apart."""
    found = play_ind_ldp([[0.6, 0.4, 0.0], [0.9, 0.1, 0.0]], rng=0, trials=1)
    assert found.best == pytest.approx(0.8)


def test_secrets_that_no_output_tells_apart_are_guessed():
    found = play_ind_ldp([[0.5, 0.5], [0.5, 0.5]], rng=0, trials=400, confidence=1 - ALARM)
    assert found.best == 0.5
    assert found.wins.low < 0.5 < found.wins.high
    alone = play_ind_ldp([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], output=1, rng=0, trials=1)
    assert alone.best == 0.5


def test_the_epsilon_of_a_success():
    for epsilon in (0.0, 0.3, 5.0):
        assert epsilon_of_success(1 / (1 + np.exp(-epsilon))) == pytest.approx(epsilon)


def test_a_game_may_be_played_without_saying_how():
    for game in (play_ind_bay(C, rng=1), play_ind_minbay(C, rng=1), play_ind_ldp(C, rng=1)):
        assert (game.wins.trials, game.wins.confidence) == (10_000, 0.95)
        assert game.wins.low <= game.best <= game.wins.high
        assert game.grade == "sampled"
        assert f"{game.best:.6g}" in str(game)
