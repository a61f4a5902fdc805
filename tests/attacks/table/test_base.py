"""Guesses become attempts; a user's class is wrapped, and what is wrong with it is said."""

import numpy as np
import pytest

from narcissus.attacks import Attack
from narcissus.attacks.base import ToldMore
from narcissus.attacks.table import (
    Ceiling,
    GibbsSampling,
    MeanField,
    OwnTableAttack,
    PriorGuess,
    RelaxedProjection,
)
from narcissus.errors import InputError
from narcissus.mechanisms import GaussianNoise


class Mine:
    title, uses, informed = "mine", "prior", False

    def __init__(self, answer):
        self.answer = answer

    def guess(self, view, *, rng):
        return self.answer(view, rng)


def played(worlds, answer, trials=2):
    rng = np.random.default_rng(1)
    targets, secrets = worlds.world(rng, people=9, sizes=(2, 3), unknown=(1,), k=2)
    releases = [worlds.release(targets, GaussianNoise(1.0), secrets, rng) for _ in range(trials)]
    attack = OwnTableAttack("own", Mine(answer))
    return attack.attempt(releases, [targets] * trials, np.random.default_rng(5)), releases, targets


def test_every_attack_speaks_one_dialect():
    shipped = (PriorGuess(), MeanField(), GibbsSampling(), RelaxedProjection(), Ceiling())
    for attack in (*shipped, OwnTableAttack("own", Mine(None))):
        assert isinstance(attack, Attack)
        assert attack.informed == isinstance(attack, ToldMore) == (attack == Ceiling())
        assert attack.title
        assert attack.uses


def test_each_release_is_guessed_with_its_own_view(worlds):
    seen = []

    def answer(view, rng):
        seen.append(view)
        return rng.integers(0, 3, 9).astype(np.uint8)

    attempts, releases, targets = played(worlds, answer)
    assert attempts.shape == (2, 9)
    assert attempts.dtype == np.int64
    own = np.random.default_rng(5)
    for view, release, attempt in zip(seen, releases, attempts, strict=True):
        assert view.release is release.cells
        assert view.noise == GaussianNoise(1.0)
        assert view.targets is targets
        np.testing.assert_array_equal(attempt, own.integers(0, 3, 9))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda view, rng: np.zeros(8, dtype=int), r"must give 9 guesses .* shape \(8,\)"),
        (lambda view, rng: np.zeros(9), "type float64"),
        (lambda view, rng: np.full(9, 3), r"\[0, 3\)"),
        (lambda view, rng: np.full(9, -1), r"\[0, 3\)"),
        (lambda view, rng: 1 // 0, r"failed: ZeroDivisionError.*test_base.py, line"),
        (lambda view, rng: view.release.fill(0), "failed: ValueError.*read-only"),
    ],
)
def test_what_is_no_guess_is_refused_by_name(worlds, answer, says):
    with pytest.raises(InputError, match=f"attack `own` {says}" if "must" in says else says):
        played(worlds, answer)
