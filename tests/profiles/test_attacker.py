"""The Bayes attacker plays as the exact profile says."""

import numpy as np
import pytest

from narcissus import play, profile
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import CountingQuery
from narcissus.profiles.profile import Bayes
from narcissus.success.relations import Pinned
from narcissus.worlds import Bits

GAME = Game(Bits(4, 0.3), CountingQuery(), Pinned(1))


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_it_gains_what_no_attacker_exceeds(epsilon):
    """Success less e^epsilon times the baseline, by play: false alarm below 1e-6."""
    trials = 20_000
    scores = play(GAME, Bayes(epsilon), trials=trials, stop=False, rng=3).attackers[0].scores
    gain = scores.success - np.exp(epsilon) * scores.baseline
    best = profile(GAME, [epsilon]).delta[0]
    assert gain.mean() == pytest.approx(best, abs=5 * gain.std() / np.sqrt(trials))


def test_it_must_be_prepared_and_its_options_are_checked():
    with pytest.raises(TypeError, match="prepare"):
        Bayes().attempt(np.zeros((1, 1)), None, np.random.default_rng(0))
    for options in ({"epsilon": -1}, {"limit": 0}):
        with pytest.raises(InputError, match=next(iter(options))):
            Bayes(**options)
