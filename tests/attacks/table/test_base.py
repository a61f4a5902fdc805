"""Guesses become attempts; a user's class is wrapped, and what is wrong with it is said."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from narcissus.attacks import Attack
from narcissus.attacks.base import NeedsSideInformation
from narcissus.attacks.table import (
    Ceiling,
    GibbsSampling,
    Learned,
    MeanField,
    NearestRecord,
    OwnLearner,
    OwnTableAttack,
    PriorGuess,
    RelaxedProjection,
    Simulated,
    Stack,
    TableAttack,
    Trainable,
    View,
)
from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import GaussianNoise
from narcissus.success import ColumnsRight

from .conftest import Mine


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
        assert attack.informed == isinstance(attack, NeedsSideInformation) == (attack == Ceiling())
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


def view_of(worlds, release, success=None):
    rng = np.random.default_rng(1)
    targets, _ = worlds.world(
        rng, people=40, sizes=(2, 3), unknown=(1,), k=2, success=success, concentration=0.7
    )
    cells = worlds.release(targets, GaussianNoise(1.0), np.full(40, release), rng).cells
    return View(targets, GaussianNoise(1.0), cells)


def test_it_names_the_likeliest_value_whatever_is_released(worlds):
    first, second = view_of(worlds, 0), view_of(worlds, 2)
    assert (first.release != second.release).any()
    named = PriorGuess().guess(first, rng=np.random.default_rng(0))
    assert (named == [max(range(3), key=lambda v: row[v]) for row in first.targets.prior]).all()
    assert (named == PriorGuess().guess(second, rng=np.random.default_rng(9))).all()
    assert len(set(named)) == 3


def test_it_names_what_counts_most_often_where_near_misses_count(worlds):
    """Of {0, 1, 2}, one place off: the guess 1 covers all three."""
    view = view_of(worlds, 0, ColumnsRight((3,), (1,)))
    assert (PriorGuess().guess(view, rng=np.random.default_rng(0)) == 1).all()


@pytest.mark.parametrize("kind", [MeanField, Learned, Stack])
def test_some_learn_and_become_attacks(worlds, kind):
    rng = np.random.default_rng(1)
    targets, secrets = worlds.world(rng, people=20, sizes=(2, 3, 2), unknown=(0,), k=2)
    release = worlds.protect(targets, worlds.rules["rounded"], secrets, rng)
    attack = kind()
    assert isinstance(attack, Trainable)
    trained = attack.train([Simulated(targets, release, secrets)], rng)
    assert isinstance(trained, TableAttack)
    assert attack == kind()  # what is learned is in the new one
    guesses = trained.attempt([release, release], [targets, targets], rng)
    assert guesses.shape == (2, 20)


@pytest.mark.parametrize("kind", [PriorGuess, NearestRecord, GibbsSampling])
def test_others_have_nothing_to_learn(kind):
    assert not isinstance(kind(), Trainable)


@dataclass(frozen=True)
class Copies:
    """Says for everybody what most of those had whom it learned from."""

    value: int = 0
    title, uses, informed = "mine", "release", False

    def train(self, simulated, rng):
        rng.random()
        secrets = np.concatenate([one.secrets for one in simulated])
        return replace(self, value=int(np.bincount(secrets).argmax()))

    def guess(self, view, *, rng):
        return np.full(view.targets.people, self.value)


def lesson(worlds, secrets):
    rng = np.random.default_rng(1)
    targets, _ = worlds.world(rng, people=len(secrets), sizes=(2, 3), unknown=(1,), k=2)
    return Simulated(targets, "anything at all", np.array(secrets))


def test_a_class_of_ones_own_learns_and_its_guesses_are_checked(worlds):
    attack = OwnLearner("mine", Copies())
    assert isinstance(attack, Trainable)
    assert not isinstance(OwnTableAttack("mine", Copies()), Trainable)
    lessons = [lesson(worlds, [1, 2, 1]), lesson(worlds, [2, 0, 2])]
    rng, same = np.random.default_rng(5), np.random.default_rng(5)
    learned = attack.train(lessons, rng)
    assert rng.random() == same.random(2)[1]  # it was given the generator
    assert learned == OwnTableAttack("mine", Copies(2))
    assert attack.own == Copies()
    known = lessons[0].targets
    assert learned.attempt(["a release"], [known], rng).tolist() == [[2, 2, 2]]
    beyond = attack.train([lesson(worlds, [3, 3, 3])], rng)
    with pytest.raises(InputError, match=r"attack `mine` must give 3 guesses in \[0, 3\)"):
        beyond.attempt(["a release"], [known], rng)


def test_what_is_wrong_with_learning_is_said_with_the_name():
    class Wrong(Copies):
        def __init__(self, answer):
            object.__setattr__(self, "answer", answer)

        def train(self, simulated, rng):
            return self.answer()

    def refused():
        raise TooLargeError("of its own")

    for answer, error, said in [
        (lambda: 1 // 0, InputError, "attack `w` did not learn: ZeroDivisionError"),
        (lambda: None, InputError, "attack `w`: `train` must give what is to `guess`.*NoneType"),
        (refused, TooLargeError, "^of its own$"),
    ]:
        with pytest.raises(error, match=said):
            OwnLearner("w", Wrong(answer)).train([], np.random.default_rng(0))
