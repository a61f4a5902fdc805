"""The people of a trial are worked out once for all settings, and change nothing by that."""

import numpy as np
import pytest

from narcissus.study.table import crowd as module
from narcissus.study.table.crowd import proved

SWEEP = {"mechanism": {"epsilon": [0.5, 2.0]}, "run": {"trials": 3}}
ALL = {"threat": {"people": "all", "targets": None}}


@pytest.fixture
def counted(monkeypatch):
    """Count how often something is proved of people."""
    calls = []

    def count(*args):
        calls.append(args)
        return proved(*args)

    monkeypatch.setattr(module, "proved", count)
    return calls


def test_the_settings_of_a_trial_share_its_people(ready):
    experiment = ready(**SWEEP)
    first = experiment.crowd(0)
    assert experiment.round(0, 0).known[0] is experiment.round(0, 1).known[0] is first.targets
    people = first.deal.draw.data[0].copy()
    assert experiment.crowd(1) is not first
    assert (experiment.crowd(1).deal.draw.data[0] != people).any()
    np.testing.assert_array_equal(experiment.crowd(0).deal.draw.data[0], people)
    queries = experiment.queries
    np.testing.assert_array_equal(first.secrets, queries.joint(people))


@pytest.mark.parametrize("changes", [{}, ALL])
def test_what_is_kept_of_a_trial_does_not_depend_on_those_before(ready, changes):
    keys = [f"{t}/{s}" for t in range(3) for s in range(2)]
    in_order, backwards = ready(**SWEEP, **changes), ready(**SWEEP, **changes)
    one = {key: in_order.play(key) for key in keys}
    other = {key: backwards.play(key) for key in reversed(keys)}
    for key in keys:
        assert one[key].keys() == other[key].keys()
        for name, array in one[key].items():
            np.testing.assert_array_equal(array, other[key][name])


def test_of_the_whole_table_everything_is_proved_once(ready, counted):
    experiment = ready(**SWEEP, **ALL)
    found = [experiment.play(f"{t}/{s}") for t in range(3) for s in range(2)]
    assert len(counted) == 2
    for number in range(2):
        same = [one["bound"].tolist() for one in found[number::2]]
        assert same[0] == same[1] == same[2]
    assert found[0]["bound"][0] < found[1]["bound"][0]
    people = experiment.round(2, 1).draw.data[0]
    np.testing.assert_array_equal(people, experiment.table.codes)


def test_of_people_who_are_drawn_each_is_proved_anew(ready, counted):
    experiment = ready(**SWEEP)
    for key in ("0/0", "0/1", "1/0", "1/1"):
        experiment.play(key)
    assert len(counted) == 4
