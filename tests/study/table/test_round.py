"""Scores: exact expectations beside hits, and decoys."""

from pathlib import Path

import numpy as np
import pytest

from narcissus.study import load_study
from narcissus.study.table.prepare import prepare

ALARM = 1e-6


def played(path, trials, setting=0):
    loaded = load_study(path, allow_code=True)
    with loaded.code.in_use():
        experiment = prepare(loaded.settings, loaded.folder, entropy=11)
    return experiment, [experiment.play(f"{t}/{setting}") for t in range(trials)]


@pytest.mark.parametrize("epsilon", [1.0, 6.0, "=inf"])
def test_the_exact_score_has_the_mean_of_the_hits_and_less_noise(study, epsilon):
    """400 trials; z-test of the paired difference at 1e-6 for every attack, and the control."""
    path = study(
        mechanism={"epsilon": epsilon},
        attacks={"prior": {}, "posterior": {}, "rap": {"steps": 20}, "ceiling": {}},
        run={"trials": 400},
    )
    experiment, trials = played(path, 400)
    for name in ("prior", "posterior", "rap", "ceiling"):
        hits = np.array([t[f"{name}/hits"] for t in trials]) / experiment.targets
        share = np.array([t[f"{name}/share"] for t in trials])
        gap = hits - share
        assert abs(gap.mean()) <= 4.9 * gap.std() / 20 + 1e-12
        assert share.var() <= hits.var() + 1e-12
        # of one unknown column nothing else is asked than of the whole
        assert [t[f"{name}/columns"] for t in trials] == pytest.approx(share[:, None])
    control = np.array([t["control"] for t in trials])
    assert abs(control.mean()) <= 4.9 * control.std() / 20


def test_each_columns_chance_has_the_mean_of_its_hits_and_less_noise(study):
    """50 trials; z-test of the paired difference at 1e-6 for each column."""
    path = study(
        threat={"unknown": ["ill", "town"], "at_least": 1},
        attacks={"posterior": {}},
        mechanism={"epsilon": 4.0},
        run={"trials": 50},
    )
    experiment, trials = played(path, 50)
    right = []
    for t in range(50):
        once = experiment.round(t, 0)
        [attempt] = once.turns["posterior"].attempts.values
        secrets = once.known[0].secrets(once.draw.data[0])
        right.append(experiment.success.columns_right(secrets, attempt).mean(axis=0))
    chance = np.array([t["posterior/columns"] for t in trials])
    gap = np.array(right) - chance
    assert (np.abs(gap.mean(axis=0)) <= 4.9 * gap.std(axis=0) / 50**0.5).all()
    assert (chance.var(axis=0) < np.var(right, axis=0)).all()


def test_no_attack_is_above_the_ceiling_in_any_trial(study):
    _, trials = played(study(mechanism={"epsilon": 5.0}, run={"trials": 30}), 30)
    for trial in trials:
        for name in ("prior", "posterior"):
            assert trial[f"{name}/share"] <= trial["ceiling/share"] + 1e-12


OWN = """
class Copy:
    title, uses, informed = "says what town says", "release", False
    def guess(self, view, *, rng):
        return (view.targets.codes[:, 3] % 2).astype("int64")
"""


def test_a_decoy_tells_nothing_and_a_right_prior_passes(study):
    """An attack that ignores the release scores the same on it; gains are due to the release."""
    Path("own.py").write_text(OWN)
    path = study(
        threat={"people": "rows"},
        mechanism={"epsilon": "=inf"},
        attacks={"prior": {}, "posterior": {}, "copy": {"kind": "own:Copy"}},
        run={"trials": 60},
    )
    experiment, trials = played(path, 60)
    assert not experiment.prior_is_exact
    for trial in trials:
        assert trial["copy/decoy"][0] == trial["copy/share"]
        assert trial["prior/decoy"][0] == trial["prior/share"]
    shares = np.array([t["posterior/share"] for t in trials])
    decoys = np.array([t["posterior/decoy"] for t in trials])
    assert shares.mean() > 0.8  # exact counts give nearly everything away
    assert decoys[:, 0].mean() < 0.75  # and those of others nothing
    off = decoys[:, 0] - decoys[:, 1]
    assert abs(off.mean()) < 0.06


def test_groups_by_secrets_count_hits(study):
    path = study(groups={"columns": ["ill", "sex"], "singled_out": True})
    experiment, trials = played(path, 3)
    told = experiment.groups.by_secret(experiment.queries.unknown)
    names = [by for by, _ in experiment.groups.names]
    assert {n for n, t in zip(names, told, strict=True) if t} == {
        "ill",
        "how unusual the secret is",
    }
    for trial in trials:
        by_hits = trial["posterior/group_share"][told]
        np.testing.assert_array_equal(by_hits, np.round(by_hits))
        # everybody is in one group of each kind: their exact scores add up to the whole
        sex = [i for i, n in enumerate(names) if n == "sex"]
        whole = trial["posterior/share"] * experiment.targets
        assert trial["posterior/group_share"][sex].sum() == pytest.approx(whole)


RARE = """
class Rare:
    title, uses, informed = "names the rarest value of some", "nothing", False
    def guess(self, view, *, rng):
        prior = view.targets.prior
        return np.where(rng.random(len(prior)) < 0.6, prior.argmin(axis=1), prior.argmax(axis=1))
"""


@pytest.mark.parametrize("people", ["prior", "rows"])
def test_who_ignores_the_release_gets_as_much_of_strangers_in_every_group(study, people):
    """300 trials; z-test at 1e-6 for each group that is told by the secrets, on hits per member."""
    Path("own.py").write_text("import numpy as np\n" + RARE)
    path = study(
        threat={"people": people},
        mechanism={"epsilon": "=inf"},
        attacks={"prior": {}, "posterior": {}, "rare": {"kind": "own:Rare"}},
        groups={"columns": ["ill"]},
        run={"trials": 300},
    )
    experiment, trials = played(path, 300)
    found = []
    for g in np.flatnonzero(experiment.groups.by_secret(experiment.queries.unknown)):
        members = np.array([[t["groups"][g], t["strangers"][g]] for t in trials])
        some = (members > 0).all(axis=1)
        if some.sum() < 50:
            continue
        gains = {}
        for name in ("prior", "rare", "posterior"):
            keys = (f"{name}/group_share", f"{name}/group_decoy")
            hits = np.array([[t[key][g] for key in keys] for t in trials])
            gains[name] = -np.diff(hits[some] / members[some], axis=1)
        for name in ("prior", "rare"):
            one = gains[name]
            assert abs(one.mean()) <= 4.9 * one.std() / np.sqrt(one.size) + 1e-12
        found.append(gains["posterior"].mean())
    assert len(found) >= 3
    assert max(found) > 0.4  # exact counts: what rare values are recovered is not chance
