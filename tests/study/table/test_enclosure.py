"""What no attack is beyond: held by every attack in every trial, and people agree on average."""

import numpy as np
import pytest

from narcissus.study.table.enclosure import (
    FALL,
    GAINED,
    LEAST,
    LEFT,
    LIKELIEST,
    MOST,
    RISE,
    UNLIKELIEST,
    Enclosure,
)

TRIALS = 150
STUDY = {
    "threat": {"unknown": ["ill", "town"], "targets": 12},
    "attacks": {"prior": {}, "posterior": {}, "rap": {"steps": 15}, "ceiling": {}},
    "groups": {"columns": ["sex"], "unusual": False, "singled_out": False},
    "run": {"trials": TRIALS},
}


PLAYED = {}


@pytest.fixture
def played(ready):
    def play(epsilon, **changes):
        key = (epsilon, *changes)
        if key not in PLAYED:
            experiment = ready(**{**STUDY, "mechanism": {"epsilon": epsilon}, **changes})
            PLAYED[key] = experiment, [experiment.play(f"{t}/0") for t in range(TRIALS)]
        return PLAYED[key]

    return play


@pytest.mark.parametrize("epsilon", [1.0, 6.0, "=inf"])
def test_every_attack_stays_within_and_people_alone_agree_on_average(played, epsilon):
    """Releases shared and of one's own: the means of all ends agree, z-tests at 1e-6 each."""
    experiment, trials = played(epsilon)
    around = Enclosure.of(trials, experiment.targets)
    ends = around.ends
    for name, _, _ in experiment.attacks:
        share, fresh = (np.array([float(t[f"{name}/{k}"]) for t in trials]) for k in SCORES)
        for low, value, high in (
            (ends[:, LEAST], share, ends[:, MOST]),
            (ends[:, UNLIKELIEST], fresh, ends[:, LIKELIEST]),
            (-ends[:, FALL], share - fresh, ends[:, RISE]),
        ):
            assert (low <= value + 1e-12).all()
            assert (value <= high + 1e-12).all()
    alone = around.alone[:, :, 0] / around.counts[:, None]
    gap = alone - ends
    assert (np.abs(gap.mean(axis=0)) <= 4.9 * gap.std(axis=0) / TRIALS**0.5 + 1e-9).all()


SCORES = ("share", "fresh")


def far(gaps):
    """Say whether a mean of numbers, one a trial, is off 0 by a z-test at 1e-6."""
    return np.abs(gaps.mean(axis=0)) > 4.9 * gaps.std(axis=0) / len(gaps) ** 0.5 + 1e-9


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_so_do_members_of_a_group_and_each_column(played, epsilon):
    experiment, trials = played(epsilon)
    for g in range(len(experiment.groups.names)):
        around = Enclosure.of_group(trials, g)
        members = np.array([t["groups"][g] for t in trials])
        some = members > 0
        assert len(around.ends) == some.sum() > 50
        assert around.counts.sum() > 5 * members.sum()  # others, of whom there are more
        for name, _, _ in experiment.attacks:
            share = np.array([t[f"{name}/group_share"][g] for t in trials])[some] / members[some]
            assert (around.ends[:, LEAST] <= share + 1e-12).all()
            assert (share <= around.ends[:, MOST] + 1e-12).all()
        guess = np.array([t["group_guess"][g] for t in trials])[some] / members[some]
        assert around.guesses == pytest.approx(guess)
        # a ratio of sums: off by the mean of what is left of each trial's sum
        left = around.alone[some, :, 0] - around.counts[some, None] * around.ends.mean(axis=0)
        gaps = left / around.counts.mean() - (around.ends - around.ends.mean(axis=0))
        assert not far(gaps).any()
    for c in range(2):
        around = Enclosure.of_column(trials, c)
        for name, _, _ in experiment.attacks:
            right = np.array([t[f"{name}/columns"][c] for t in trials])
            assert (around.ends[:, LEAST] <= right + 1e-12).all()
            assert (right <= around.ends[:, MOST] + 1e-12).all()
        assert (around.ends[:, LEAST] < around.ends[:, MOST]).all()
        assert not far(around.alone[:, :, 0] / around.counts[:, None] - around.ends).any()


def test_groups_without_members_have_none(played):
    _, trials = played(1.0)
    bare = [{**t, "group_alone_people": np.zeros(len(t["groups"]))} for t in trials]
    assert Enclosure.of_group(bare, 0) is None


def test_the_ceiling_and_the_guess_are_always_at_their_ends(played):
    experiment, trials = played(6.0)
    around = Enclosure.of(trials, experiment.targets)
    share, fresh = (np.array([float(t[f"ceiling/{k}"]) for t in trials]) for k in SCORES)
    assert share == pytest.approx(around.ends[:, MOST])
    assert fresh == pytest.approx(around.ends[:, LEFT])
    assert share - fresh == pytest.approx(around.ends[:, GAINED])
    fresh = np.array([float(t["prior/fresh"]) for t in trials])
    assert fresh == pytest.approx(around.ends[:, LIKELIEST])


def test_an_envelope_is_the_end_less_what_is_allowed(played):
    experiment, trials = played(6.0)
    around = Enclosure.of(trials, experiment.targets)
    found = around.envelope(MOST, less=0.9, allowed=0.1)
    assert found.trials == pytest.approx(around.ends[:, MOST] - 0.9 * around.guesses - 0.1)
    x, g = around.alone[:, MOST, 0], around.alone[:, MOST, 2]
    assert found.people.totals == pytest.approx(x - 0.9 * g - 0.1 * around.counts)
    turned = around.envelope(FALL, sign=-1, allowed=0.2)
    assert turned.trials == pytest.approx(-around.ends[:, FALL] - 0.2)
    assert turned.people.mean == pytest.approx(turned.trials.mean(), abs=0.05)
    assert (turned.people.low, turned.people.high) == (-1.2, -0.2)


def test_where_chances_are_not_known_there_is_none(played):
    experiment, trials = played(1.0, threat={**STUDY["threat"], "people": "rows"})
    assert Enclosure.of(trials, experiment.targets) is None
    assert Enclosure.of_group(trials, 0) is None
    assert Enclosure.of_column(trials, 0) is None
