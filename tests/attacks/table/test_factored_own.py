"""A user's attack guesses column by column where no joint values are listed."""

import numpy as np
import pytest

from narcissus.attacks.table import OwnLearner, OwnTableAttack, Simulated, TableAttack, Trainable
from narcissus.attacks.table.factored_own import FactoredOwn, factored_own
from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import GaussianNoise, Microdata

from .conftest import factored_of


class Mine:
    title, uses, informed = "mine", "prior", False

    def __init__(self, answer):
        self.answer = answer

    def guess(self, view, *, rng):
        return self.answer(view, rng)


class Pupil(Mine):
    def train(self, simulated, rng):
        return Mine(lambda view, rng: simulated[0].secrets)


def modes(view, rng):
    return np.stack([m.argmax(axis=1) for m in view.targets.marginals], axis=1)


@pytest.fixture
def small(worlds):
    rng = np.random.default_rng(1)
    targets, secrets = worlds.world(rng, people=9, sizes=(2, 3, 4), unknown=(1, 2), k=2)
    return factored_of(targets), worlds.release(targets, GaussianNoise(1.5), secrets, rng)


def test_each_release_is_guessed_column_by_column(small):
    told, counts = small
    seen = []

    def answer(view, rng):
        seen.append(view)
        return modes(view, rng)

    attack = factored_own(OwnTableAttack("own", Mine(answer)))
    assert isinstance(attack, TableAttack)
    assert not isinstance(attack, Trainable)
    assert (attack.title, attack.uses, attack.reads) == ("mine", "prior", (object,))
    found = attack.attempt([counts, counts], [told, told], np.random.default_rng(1))
    assert found.shape == (2, 9, 2)
    np.testing.assert_array_equal(found[0], told.success.modes(told.marginals))
    assert [view.targets for view in seen] == [told, told]
    assert seen[0].noise == GaussianNoise(1.5)
    assert seen[0].release is counts.cells


def test_of_other_releases_the_release_itself_is_seen(small):
    told, _ = small
    rows = Microdata(told.codes)

    def answer(view, rng):
        assert view.release is rows
        assert view.noise is None
        return modes(view, rng)

    [found] = FactoredOwn(OwnTableAttack("own", Mine(answer))).attempt([rows], [told], None)
    assert found.shape == (9, 2)


@pytest.mark.parametrize(
    "answer",
    [
        np.zeros(9, dtype=int),
        np.zeros((9, 3), dtype=int),
        np.zeros((9, 2)),
        np.full((9, 2), -1),
        np.tile([2, 4], (9, 1)),  # of columns with 3 and 4 values
    ],
)
def test_other_answers_are_refused_with_what_is_asked_for(small, answer):
    told, counts = small
    attack = FactoredOwn(OwnTableAttack("own", Mine(lambda view, rng: answer)))
    with pytest.raises(InputError, match=r"`own`.*each of the 2 unknown columns of 9.*below 3 x 4"):
        attack.attempt([counts], [told], None)
    best = np.tile([2, 3], (9, 1))
    attack = FactoredOwn(OwnTableAttack("own", Mine(lambda view, rng: best)))
    assert attack.attempt([counts], [told], None).tolist() == [best.tolist()]


def test_a_class_that_asks_for_the_list_is_told_that_there_is_none(small):
    told, counts = small
    attack = FactoredOwn(OwnTableAttack("own", Mine(lambda view, rng: view.targets.prior)))
    with pytest.raises(InputError, match=r"`own` failed.*`FactoredTargets`, see docs/extending"):
        attack.attempt([counts], [told], None)

    def own_words(view, rng):
        raise TooLargeError("too many")

    with pytest.raises(TooLargeError, match=r"^too many$"):
        FactoredOwn(OwnTableAttack("own", Mine(own_words))).attempt([counts], [told], None)


def test_one_that_learns_is_shown_everybodys_columns(small):
    told, counts = small
    attack = factored_own(OwnLearner("own", Pupil(modes)))
    assert isinstance(attack, Trainable)
    assert attack.learns_from == (object,)
    secrets = np.tile([1, 2], (9, 1))
    learned = attack.train([Simulated(told, counts, secrets)], np.random.default_rng(1))
    assert learned.attempt([counts], [told], None).tolist() == [secrets.tolist()]
