"""One attacked release of the paper's tables, small: what must hold whatever the people are."""

from __future__ import annotations

import json
import shutil
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus_papers import Given
from narcissus_papers.swanberg import tables
from narcissus_papers.swanberg.tables import (
    ACS,
    ATTACKS,
    COLUMNS,
    FIRE,
    LABELS,
    SOURCES,
    LikeliestValue,
    attacked,
    kept_below,
    lines,
    never_above,
)


def played(epsilon=1.0, unknown=("SEX",), **changes):
    settings = {"trials": 2, "people": 20, "attacks": ("posterior",), **changes}
    return attacked(Given(), source="acs", unknown=unknown, epsilon=epsilon, **settings)


@pytest.mark.states("Swanberg et al. 2025", "section 6")
def test_the_columns_and_priors_are_those_of_the_tables():
    for source, columns in COLUMNS.items():
        table = SOURCES[source].read(Given())
        assert set(columns) == set(table.names)
        order = SOURCES[source].in_order(Given())
        assert len(order) == {"acs": 13, "fire": 7}[source]
        assert set(order) < set(columns)
    network = ACS.network(Given())
    place = {name: at for at, name in enumerate(ACS.in_order(Given()))}
    for name, at in place.items():  # parents come before their children
        for parent in network.parents[network.names.index(name)]:
            assert place[network.names[parent]] < at


@pytest.mark.states("Swanberg et al. 2025", "section 6.2")
def test_more_epsilon_recovers_more_and_is_proved_less_of():
    small, large = (played(e, unknown=("SCHL",)) for e in (0.1, 10.0))
    exact = played(inf, unknown=("SCHL",))
    shares = [one["posterior"]["share"] for one in (small, large, exact)]
    assert shares == sorted(shares)
    assert shares[0] < shares[2]
    assert small["guess"] == large["guess"] == exact["guess"]  # the same people
    assert set(small["published"]) == {"0.05", "0.5", "0.95"}
    for key in ("published", "ours"):
        values = list(small[key].values())
        assert values == sorted(values)  # in the level
        assert all(one <= large[key][level] for level, one in small[key].items())
        assert set(exact[key].values()) == {1.0}
        assert all(small["ours"][level] <= small["published"][level] for level in small["ours"])
    assert small["guess"]["share"] <= small["mean"] <= large["mean"] < exact["mean"] == 1.0
    assert never_above({"small": small, "large": large, "exact": exact})
    assert json.loads(json.dumps(small)) == small


@pytest.mark.states("Swanberg et al. 2025", "section 6.4")
def test_a_distance_makes_it_easier():
    attacks = ("posterior", "likeliest")
    exact, near = (played(unknown=("AGEP",), within=w, attacks=attacks) for w in (0.0, 1.0))
    for name in ("guess", "posterior"):
        assert near[name]["share"] > exact[name]["share"]
    assert near["mean"] > exact["mean"]
    # What covers most is the better guess of the two without the release; exactly, they are one.
    assert near["likeliest"]["share"] < near["guess"]["share"]
    assert "likeliest" not in exact


def test_the_likeliest_value_is_that_of_each_column_whatever_is_released():
    chances = [np.array([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]]), np.array([[0.1, 0.9], [0.8, 0.2]])]
    joined = SimpleNamespace(marginals=chances, success=SimpleNamespace(join_guess=np.asarray))
    guess = LikeliestValue().guess(SimpleNamespace(targets=joined), rng=None)
    assert guess.tolist() == [[1, 1], [0, 0]]


def test_only_of_one_column_there_is_a_ceiling_and_rap_starts_from_the_prior():
    assert set(ATTACKS) == set(LABELS)
    assert {ATTACKS[name]["start"] for name in ("rap", "short")} == {"prior"}
    one = played(attacks=("posterior", "ceiling"))
    two = played(attacks=("posterior", "ceiling"), unknown=("SEX", "MAR"))
    assert "ceiling" in one
    assert "ceiling" not in two


def test_lines_are_per_hundred_and_leave_out_what_was_not_played(answer):
    alone = answer(guess=0.3)
    del alone["ceiling"], alone["likeliest"]
    drawn = {one.label: one for one in lines([1, 2], [answer(guess=0.2, ours=0.6), alone])}
    assert list(drawn["prior"].y) == [20.0, 30.0]
    assert list(drawn[LABELS["ceiling"]].x) == [1]
    assert list(drawn["ours, 50%"].y) == [60.0, 80.0]
    assert drawn["Corollary 3.4, 95%"].style == "dashed"
    points = {one.label: one for one in lines([0], [alone], joined=False)}
    assert points[LABELS["rap"]].style == "points"
    assert LABELS["ceiling"] not in points
    beside = [points[LABELS[name]].x[0] for name in ("rap", "short", "posterior")]
    assert beside == pytest.approx([-0.18, 0.0, 0.18])  # not one on the other


def test_an_attack_above_the_bound_is_said(answer):
    assert kept_below({"a": answer(), "b": answer(posterior=0.79)}).holds
    for name in LABELS:
        assert not kept_below({"a": answer(), "b": answer(**{name: 0.81})}).holds


def test_the_file_is_the_users_else_that_beside_a_checkout(tmp_path, monkeypatch):
    assert FIRE.path(Given(data=tmp_path)) == tables.BESIDE / FIRE.needed.name
    shutil.copy(ACS.path(Given()), tmp_path / ACS.needed.name)
    assert ACS.path(Given(data=tmp_path)) == tmp_path / ACS.needed.name
    monkeypatch.setattr(tables, "BESIDE", tmp_path / "nowhere")
    assert ACS.read(Given(data=tmp_path)).names[0] == "MAR"
    with pytest.raises(InputError, match=r"fire_10col.csv.gz is not in .*nowhere.*--data"):
        FIRE.path(Given(data=tmp_path))
