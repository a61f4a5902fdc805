"""A study ready to play: one family of games, whose attacks take part as the study says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.study import load_study
from narcissus.study.table import experiment as experiments
from narcissus.study.table.prepare import prepare


def ready(path):
    loaded = load_study(path, allow_code=True)
    with loaded.code.in_use():
        return prepare(loaded.settings, loaded.folder, 7)


def test_the_settings_are_games_that_differ_in_the_noise_alone(study):
    experiment = ready(study(mechanism={"epsilon": [1.0, 4.0]}))
    low, high = (seat.game for seat in experiment.seats)
    assert (low.world, low.relation, low.side) == (high.world, high.relation, high.side)
    assert low.mechanism.queries == high.mechanism.queries
    assert low.mechanism.noise.scale > high.mechanism.noise.scale
    one, other = experiment.round(2, 0), experiment.round(2, 1)
    np.testing.assert_array_equal(one.draw.data, other.draw.data)
    np.testing.assert_array_equal(experiment.known(2).codes, one.known[0].codes)
    assert experiment.keys()[:4] == ["0/0", "0/1", "1/0", "1/1"]


def test_what_is_kept_does_not_depend_on_which_others_play(study):
    path = study(attacks={"prior": {}, "rap": {"steps": 20, "trials": 2}, "ceiling": {}})
    experiment = ready(path)
    alone = replace(experiment, attacks=experiment.attacks[1:2])
    for trial in range(3):
        every, one = experiment.play(f"{trial}/0"), alone.play(f"{trial}/0")
        assert ("rap/share" in every) == ("rap/share" in one) == (trial < 2)
        for name, array in one.items():
            np.testing.assert_array_equal(array, every[name])


def test_an_error_in_an_attack_of_ours_is_not_taken_for_a_failure(study):
    class Broken:
        informed = False
        title = uses = "broken"

        def attempt(self, release, known, rng):
            raise ZeroDivisionError

    experiment = replace(ready(study()), attacks=(("broken", Broken(), 6),))
    with pytest.raises(ZeroDivisionError):
        experiment.play("0/0")


def test_a_prior_that_cannot_draw_is_one_error(study):
    experiment = ready(study())

    class Prior:
        sizes = experiment.prior.sizes

        def sample(self, n, *, rng=None):
            raise KeyError("lost")

    with pytest.raises(InputError, match="the world People raised KeyError"):
        replace(experiment, prior=Prior()).play("0/0")


@pytest.mark.parametrize(
    "threat",
    [
        {"unknown": ["ill", "job"]},
        {"unknown": ["ill", "job", "income"], "at_least": 2},
        {"unknown": ["ill", "age"], "within": {"age": 1}},
    ],
)
def test_without_a_list_of_joint_values_a_study_says_the_same(study, monkeypatch, threat):
    """The same people; everything that is exact in both ways is equal."""
    path = study(threat={"targets": 15, **threat}, groups={"columns": ["sex", "ill"]})
    listed = ready(path)
    one = listed.play("0/0")
    assert listed.knows_chances
    monkeypatch.setattr(experiments, "MAX_JOINT", 1)
    factored = ready(path)
    other = factored.play("0/0")
    assert factored.factored
    assert not factored.knows_chances
    for name in ("groups", "prior/group_fresh"):
        assert other[name].shape == one[name].shape
    np.testing.assert_array_equal(other["groups"], one["groups"])
    if listed.success.exact:
        np.testing.assert_allclose(other["guess"], one["guess"])
        np.testing.assert_allclose(other["group_guess"], one["group_guess"])
        np.testing.assert_allclose(other["bound"], one["bound"], atol=1e-4)
        np.testing.assert_allclose(other["gain_bound"], one["gain_bound"], atol=1e-4)
        np.testing.assert_allclose(other["prior/fresh"], one["prior/fresh"])
    assert other["guess"][0] <= one["guess"][0] + 1e-9
    assert other["guess"][0] > one["guess"][0] - 0.3
    assert other["bound"][0] >= one["bound"][0] - 1e-4


def test_real_rows_of_many_columns_are_shown_decoys(study, monkeypatch):
    """A decoy has the secrets of others: what is scored there owes nothing to the release."""
    monkeypatch.setattr(experiments, "MAX_JOINT", 1)
    path = study(
        threat={"unknown": ["ill", "job"], "people": "rows"}, mechanism={"epsilon": "=inf"}
    )
    experiment = ready(path)
    assert not experiment.prior_is_exact
    trials = [experiment.play(f"{t}/0") for t in range(6)]
    shares = np.mean([t["posterior/share"] for t in trials])
    decoys = np.mean([t["posterior/decoy"] for t in trials], axis=0)
    assert shares > decoys[0] + 0.1
    assert abs(decoys[0] - decoys[1]) < 0.25  # 90 people: nearly five standard errors


OWN = """
import numpy as np

class Modes:
    title, uses, informed = "likeliest values", "prior", False
    def guess(self, view, *, rng):
        return np.stack([m.argmax(axis=1) for m in view.targets.marginals], axis=1)
"""


def test_an_own_attack_on_many_columns_guesses_each(study, monkeypatch):
    """The likeliest values of columns are right as often as the prior says of each."""
    monkeypatch.setattr(experiments, "MAX_JOINT", 1)
    Path("own.py").write_text(OWN)
    path = study(threat={"unknown": ["ill", "job"]}, attacks={"own": {"name": "own:Modes"}})
    loaded = load_study(path, allow_code=True)
    with loaded.code.in_use():
        found = prepare(loaded.settings, loaded.folder, entropy=1).play("0/0")
    np.testing.assert_allclose(found["own/columns_fresh"], found["guess_columns"])
    assert found["own/columns"].shape == (2,)
