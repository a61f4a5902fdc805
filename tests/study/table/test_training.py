"""Attacks learn from people who were made up, by the seed and the setting alone."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from narcissus.attacks.table import OwnLearner, PriorGuess, TableAttack, factored_attack
from narcissus.knowledge import FactoredTargets
from narcissus.observer import SILENT
from narcissus.priors import IndependentColumns
from narcissus.study.table import experiment as experiments
from narcissus.study.table.training import simulations, trained


@dataclass(frozen=True)
class Pupil:
    """Keeps what it was taught, and a coin; guesses what the prior says."""

    taught: list = field(default_factory=list)
    coin: float | None = None
    title, uses, informed, reads, learns_from = "learns", "prior", False, (object,), (object,)

    def train(self, simulated, rng):
        return replace(self, taught=simulated, coin=rng.random())

    def attempt(self, release, known, rng):
        return PriorGuess().attempt(release, known, rng)


@dataclass(frozen=True)
class Says:
    """Guesses what it was told."""

    values: np.ndarray
    title, uses, informed = "says", "prior", False

    def guess(self, view, *, rng):
        return self.values


def with_pupils(experiment, *names, training=3):
    attacks = tuple((name, Pupil(), experiment.trials) for name in names)
    return replace(experiment, attacks=(*experiment.attacks, *attacks), training=training)


def everything(simulated):
    """Give all numbers of a simulated release of counts."""
    parts = (simulated.targets.codes, simulated.targets.prior, simulated.secrets)
    return np.concatenate([np.ravel(part) for part in (*parts, simulated.release.cells)])


def all_columns(simulated):
    """Give the people with their secrets, shape (n, d)."""
    codes = simulated.targets.codes.copy()
    queries = simulated.targets.queries
    codes[:, list(queries.unknown)] = queries.split(simulated.secrets)
    return codes


@pytest.mark.parametrize("people", ["prior", "rows"])
def test_people_are_drawn_from_the_prior_also_where_those_played_are_real(ready, people):
    """The prior here knows of men alone, who are half of the table."""
    experiment = with_pupils(ready(threat={"people": people}), "pupil", training=20)
    table = experiment.table
    shares = [np.full(size, 1 / size) for size in table.sizes]
    shares[table.index("sex")] = np.array([0.0, 1.0])
    experiment = replace(experiment, prior=IndependentColumns(table.names, tuple(shares)))
    found = np.concatenate([all_columns(one) for one in simulations(experiment, 0)])
    assert found.shape == (20 * experiment.targets, table.columns)
    for column, share in enumerate(shares):
        seen = np.bincount(found[:, column], minlength=len(share)) / len(found)
        np.testing.assert_allclose(seen, share, atol=0.14)  # four sigma for the widest
        assert (seen[share == 0] == 0).all()
    played = np.concatenate([experiment.round(t, 0).draw.data[0] for t in range(5)])
    sexes = set(played[:, table.index("sex")])
    assert sexes == ({1} if people == "prior" else {0, 1})


def test_the_release_is_about_the_people_whose_secrets_are_told(ready):
    experiment = with_pupils(ready(mechanism={"epsilon": None, "scale": 0}), "pupil")
    for one in simulations(experiment, 0):
        [again] = experiment.settings[0].mechanism.release(
            all_columns(one)[None], np.random.default_rng(0)
        )
        np.testing.assert_array_equal(one.release.cells, again.cells)
        assert not one.targets.codes[:, list(experiment.queries.unknown)].any()


def test_each_is_another_and_none_is_played(ready):
    experiment = with_pupils(ready(), "pupil", training=4)
    found = [all_columns(one).tolist() for one in simulations(experiment, 0)]
    played = [experiment.round(t, 0).draw.data[0].tolist() for t in range(experiment.trials)]
    every = found + played
    assert len(every) == 4 + 6
    assert all(one != other for i, one in enumerate(every) for other in every[:i])
    noise = [
        one.release.cells - experiment.queries.counts(all_columns(one))
        for one in simulations(experiment, 0)
    ]
    assert len({float(one[0]) for one in noise}) == 4


def test_they_depend_on_the_seed_and_the_setting_alone(ready):
    """Not on how many trials are played, by which attacks, or what else is in the sweep."""
    both = with_pupils(ready(mechanism={"epsilon": [1.0, 4.0]}), "pupil")
    other = ready(mechanism={"epsilon": 4.0}, run={"trials": 2}, attacks={"prior": {}})
    other = with_pupils(other, "someone", "else", training=5)
    for one, same in zip(simulations(both, 1), simulations(other, 0), strict=False):
        np.testing.assert_array_equal(everything(one), everything(same))
    [first, *_], [low, *_] = simulations(other, 0), simulations(both, 0)
    np.testing.assert_array_equal(all_columns(first), all_columns(low))
    assert (first.release.cells != low.release.cells).all()
    [reseeded, *_] = simulations(replace(other, entropy=4), 0)
    assert (all_columns(first) != all_columns(reseeded)).any()


def test_noise_has_a_generator_of_its_own(ready):
    """Whatever was drawn to have the people, it is the same."""
    experiment = with_pupils(ready(), "pupil")
    noises = [
        [one.release.cells - one.targets.queries.counts(all_columns(one)) for one in found]
        for found in (simulations(replace(experiment, targets=n), 0) for n in (7, 15))
    ]
    np.testing.assert_allclose(*noises, atol=1e-9)


def test_who_learns_is_taught_at_each_setting_and_the_others_stay(ready, hears):
    experiment = ready(mechanism={"epsilon": [1.0, 4.0]}, attacks={"prior": {}})
    experiment = with_pupils(experiment, "ann", "bob")
    done = trained(experiment, hears)
    assert hears.notes == ["6 simulated releases, from which ann, bob learn"]
    for place in (0, 1):
        attacks = done.attacks_at(place)
        assert list(attacks) == ["prior", "ann", "bob"]
        assert attacks["prior"] is experiment.attacks[0][1]
        for name in ("ann", "bob"):
            expected = simulations(experiment, place)
            for one, same in zip(attacks[name].taught, expected, strict=True):
                np.testing.assert_array_equal(everything(one), everything(same))
        assert done.seats[place].attacks["ann"] is attacks["ann"]
    assert [attack for _, attack, _ in done.attacks][1].taught == []  # only what is played knows
    assert set(done.play("0/1")) == set(experiment.play("0/1"))


def test_an_attack_learns_by_coins_of_its_own(ready, hears):
    """They depend on its name and the setting, not on who else learns."""
    sweep = {"mechanism": {"epsilon": [1.0, 4.0]}, "attacks": {"prior": {}}}
    every = trained(with_pupils(ready(**sweep), "ann", "bob"), hears)
    alone = trained(with_pupils(ready(**sweep), "bob"), hears)
    assert every.attacks_at(1)["bob"].coin == alone.attacks_at(1)["bob"].coin
    coins = [every.attacks_at(place)[name].coin for place in (0, 1) for name in ("ann", "bob")]
    assert len(set(coins)) == 4


def test_where_nobody_learns_nothing_is_simulated(ready, hears):
    experiment = ready(attacks={"prior": {}, "ceiling": {}})
    assert trained(experiment, hears) is experiment
    assert hears.notes == []


def test_a_learned_attack_can_be_played_once_it_has_learned(ready, hears):
    experiment = ready(attacks={"learned": {}}, run={"training": 5})
    learned = trained(experiment, hears)
    before, after = experiment.attacks_at(0)["learned"], learned.attacks_at(0)["learned"]
    assert isinstance(after, TableAttack)
    assert before.logit is None
    assert after.logit is not None
    assert learned.play("0/0")["learned/hits"] >= 0


MINE = """
from dataclasses import dataclass, replace

@dataclass(frozen=True)
class Plain:
    lessons: int = 0
    title, uses, informed = "mine", "prior", False

    def guess(self, view, *, rng):
        return view.targets.success.decide(view.targets.prior)

class Learning(Plain):
    def train(self, simulated, rng):
        return replace(self, lessons=len(simulated))
"""


def test_a_class_of_ones_own_learns_if_it_can(ready, hears, tmp_path):
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    attacks = {name.lower(): {"name": f"mine:{name}"} for name in ("Plain", "Learning")}
    experiment = trained(ready(attacks=attacks, run={"training": 4}), hears)
    assert {n: attack.own.lessons for n, attack in experiment.attacks_at(0).items()} == {
        "plain": 0,
        "learning": 4,
    }
    assert hears.notes == ["4 simulated releases, from which learning learn"]


def test_without_a_list_of_joint_values_secrets_are_those_of_columns(ready, monkeypatch):
    """The same people either way, and what was learned is played."""
    study = {"threat": {"unknown": ["ill", "job"]}}
    listed = list(simulations(with_pupils(ready(**study)), 0))
    monkeypatch.setattr(experiments, "MAX_JOINT", 1)
    experiment = with_pupils(ready(**study))
    found = list(simulations(experiment, 0))
    for one, other in zip(listed, found, strict=True):
        assert isinstance(other.targets, FactoredTargets)
        secrets = other.targets.queries.split(one.secrets)
        np.testing.assert_array_equal(other.secrets, secrets)
        np.testing.assert_array_equal(other.release.cells, one.release.cells)

    class Copies:
        """Says of everybody what the first made-up people were."""

        title, uses, informed = "copies", "prior", False

        def train(self, simulated, rng):
            return Says(simulated[0].secrets)

    attacks = (("own", factored_attack(OwnLearner("own", Copies())), 1),)
    learned = trained(replace(experiment, attacks=attacks), SILENT)
    played = learned.round(0, 0).turns["own"].attempts.values
    np.testing.assert_array_equal(played, found[0].secrets[None])
