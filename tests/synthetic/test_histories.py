"""People of several rows, whose whole histories are put back."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.copies import Views
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.near_copies import nearer_people
from narcissus.synthetic.traces import traces_of


def panel(people, seed, *, first=0, waves=5):
    rng = np.random.default_rng(seed)
    level = rng.normal(size=people)
    each = [
        pd.DataFrame({
            "person": first + np.arange(people),
            "wave": wave,
            "income": np.exp(10 + 0.5 * level + 0.2 * rng.normal(size=people)).astype(int),
            "score": (50 + 5 * level + 8 * rng.normal(size=people)).round(1),
            "job": rng.choice(list("abc"), people),
        })
        for wave in range(waves)
    ]  # fmt: skip
    return pd.concat(each).sort_values(["person", "wave"], ignore_index=True)


def put_back(real, made, people, way):
    rng, made, many = np.random.default_rng(3), made.copy(), 5 * people
    made["income"] = made["income"].astype(float)
    some = real[:many].copy()
    if way == "percent":
        some["income"] = (some["income"] * rng.uniform(0.97, 1.03, many)).round()
        some["score"] = (some["score"] + rng.uniform(-1, 1, many)).round(1)
    made.loc[: many - 1, ["income", "score", "job"]] = some[["income", "score", "job"]].to_numpy()
    made = made.astype({"income": int, "score": float})
    return made.sample(frac=1, random_state=1) if way == "other order" else made


def nearer(real, made, unit):
    files = read_whole(real, made, unit=unit)
    return traces_of(files, ["job"], ["job"], entropy=1).nearer_together


@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.parametrize("way", ["as they are", "percent", "other order"])
@pytest.mark.one_in(2)
def test_histories_that_are_put_back_are_counted_by_people(unit, way):
    """Whether the column that numbers people is named, or found by the numbers of their rows."""
    real, fresh = panel(100, 1), panel(100, 2, first=1_000)
    people = nearer(real, put_back(real, fresh, 15, way), unit)
    assert people is not None
    assert people.people == 100
    assert 12 <= people.standing <= 60
    assert people.excess > 10


@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.parametrize("first", [0, 1_000])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.one_in(3)
def test_histories_of_other_people_are_near_nobody(unit, first, seed):
    assert nearer(panel(100, 10 + seed), panel(100, 20 + seed, first=first), unit) is None


def test_people_of_one_row_each_have_no_history():
    real, made = (panel(100, seed, waves=1) for seed in (1, 2))
    assert read_whole(real, made, unit="person").together is None
    some = [side.drop(columns="wave") for side in (panel(100, 1), panel(100, 2))]
    assert read_whole(*some).together is None


CONTROLS = {
    "of other people": panel(100, 4, first=2_000),
    "of few people": panel(10, 4, first=2_000),
    "without a column": panel(100, 4, first=2_000).drop(columns="score"),
}


def together(real, made, unit, control=None):
    people = read_whole(real, made, control, unit=unit).together.files
    sides = people.rows("real"), people.rows("control")
    return nearer_people(people, Views(people, np.random.default_rng(1)), sides)


@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_takes_no_history_away(unit, control):
    """Whoever is told without a control is told with one, beside its people where it has enough."""
    real, fresh = panel(100, 1), panel(100, 2, first=1_000)
    made = put_back(real, fresh, 15, "percent")
    alone, people = together(real, made, unit), together(real, made, unit, CONTROLS[control])
    assert alone is not None
    assert people is not None
    assert people.standing == alone.standing
    assert not people.is_explained
    assert (people.beside is not None) == (control == "of other people")


@pytest.mark.parametrize("unit", [None, "person"])
def test_histories_of_the_control_are_no_finding(unit):
    real, control = panel(100, 5), panel(100, 6, first=2_000)
    made = put_back(control, panel(100, 7, first=1_000), 30, "percent")
    assert together(real, made, unit, control) is None
