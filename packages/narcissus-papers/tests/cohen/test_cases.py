"""The small things that statements are computed on, compared with counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.study.shipped import shipped_study
from narcissus_papers.cohen import ALL, cases


def test_partitions_are_counted_by_bell():
    assert [len(list(cases.partitions(n))) for n in range(1, 6)] == [1, 2, 5, 15, 52]
    assert len(set(cases.partitions(5))) == 52


def test_relations_on_two_data_sets_are_all_sets_of_types_but_the_one_that_never_holds():
    assert len(cases.RELATIONS) == 2**4 - 2
    both = cases.AttemptTypes((0, 1, 2, 3))
    sets, rng = np.array([[0], [1]]), np.random.default_rng(0)
    found = [tuple(both.holds(sets, np.array([t, t]), rng).tolist()) for t in range(4)]
    assert found == [(False, False), (True, False), (False, True), (True, True)]


def test_a_labelled_function_looks_data_sets_up_in_the_order_of_tuples():
    mechanism = cases.Labelled((5, 6, 7, 8), 2)
    sets = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    rng = np.random.default_rng(0)
    assert mechanism.release(sets, rng).tolist() == [5, 6, 7, 8]
    assert (mechanism.channel(sets).matrix.toarray() == np.eye(4)).all()


def test_rates_of_an_attacker_by_hand():
    """A fair bit released as it is: who names it succeeds always, its fresh copy half the time."""
    joint, holds = np.eye(2) / 2, np.eye(2)
    assert cases.rates_of((0, 1), joint, holds, np.array([0.5, 0.5])) == (1.0, 0.5)
    assert cases.rates_of((0, -1), joint, holds, np.array([0.5, 0.5])) == (0.5, 0.25)
    assert len(list(cases.attackers(2, 3))) == 16


def test_channels_have_rows_that_sum_to_one():
    rows = cases.channels(6, 3, 5)
    assert all(one.sum(axis=1) == pytest.approx(1) and one.shape == (3, 5) for one in rows)
    assert any((one == 0).any() for one in rows)


def test_the_studies_that_commands_name_are_shipped():
    named = [
        one.command.split()[3] for one in ALL if one.command.startswith("narcissus init --example")
    ]
    assert len(named) > 20
    for name in named:
        assert "Cohen" in shipped_study(name).source, name
    assert len({one.name for one in ALL}) == len(ALL)
