"""People of several rows, whose whole histories are put back."""

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.synthetic.copies import _of_strange, stand_together
from narcissus.synthetic.copies import Views
from narcissus.synthetic.files import all_columns
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.histories import groups_of_rows, rows_bound
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


# What binds rows to one another


def raw_of(frame):
    return {column.name: column for column in all_columns("real", frame, ())[0]}


def stays(seed, people=120, first=1000):
    """Patients of one to three stays, which nothing counts off."""
    rng = np.random.default_rng(seed)
    each = pd.DataFrame({
        "patient": first + np.arange(people),
        "age": rng.integers(18, 95, people),
        "sex": rng.choice(["m", "w"], people),
        "place": rng.choice(list("abcdef"), people),
    })  # fmt: skip
    rows = each.loc[np.repeat(each.index, rng.choice([1, 2, 3], people, p=[0.4, 0.3, 0.3]))]
    rows = rows.reset_index(drop=True)
    costs = np.round(rng.lognormal(7, 1, len(rows)), 2)
    return rows.assign(days=rng.integers(1, 20, len(rows)), costs=costs)


def families(seed, homes=70):
    rng = np.random.default_rng(seed)
    many = rng.integers(2, 7, homes)
    rows = pd.DataFrame({"parish": np.repeat(rng.choice(list("abcdefgh"), homes), many)})
    return rows.assign(
        name=rng.choice(list("ABCDEFGHIJKL"), len(rows)), born=rng.integers(1750, 1890, len(rows))
    )


def measured(seed, n=300):
    """One row of each person: measures, a lot, a day, an age and its group, and a rare yes."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    return pd.DataFrame({
        "hb": np.round(rng.normal(13, 1.5, n), 1),
        "pulse": rng.integers(50, 100, n),
        "lot": rng.choice([f"AB{number}x" for number in range(40)], n),
        "day": pd.to_datetime("2021-01-04") + pd.to_timedelta(rng.integers(0, 60, n), "D"),
        "age": age,
        "group": np.where(age < 40, "young", np.where(age < 60, "middle", "old")),
        "ill": np.where(rng.random(n) < 0.01, "yes", "no"),
    }).assign(day=lambda frame: frame["day"].dt.strftime("%Y-%m-%d"))  # fmt: skip


@pytest.mark.parametrize("is_shuffled", [False, True])
def test_rows_of_patients_are_bound_by_their_number(is_shuffled):
    """Nothing counts off their rows, and a fifth of the patients has one row alone."""
    frame = stays(1)
    frame = frame.sample(frac=1, random_state=2) if is_shuffled else frame
    bound = rows_bound(raw_of(frame))
    assert bound.by == ("patient",)
    assert set(bound.common) == {"age", "sex", "place"}


def test_rows_of_families_are_bound_by_their_order():
    assert rows_bound(raw_of(families(1))).is_by_order
    assert rows_bound(raw_of(families(1).sample(frac=1, random_state=2))) is None


@pytest.mark.parametrize("order", [None, "age", "day"])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_binds_the_rows_of_people_of_one_row(order, seed):
    """Measures, lots and days were named as groups."""
    frame = measured(seed)
    raw = raw_of(frame if order is None else frame.sort_values(order))
    assert rows_bound(raw) is None
    assert not any(groups.is_clear for groups in groups_of_rows({"real": raw, "synthetic": raw}))


def test_a_number_of_patients_is_a_unit_and_not_declared_away():
    """The file counts its patients from 1: the column could not be compared, nor be left out."""
    real, made = stays(1), stays(2, first=1)
    files = read_whole(real, made)
    assert "patient" in files.unread
    assert stand_together(files)
    (question,) = _of_strange(files)
    assert "--unit patient" in question.declaration
    assert "irrelevant" not in question.declaration
    named = read_whole(real, made, unit="patient")
    assert stand_together(named)
    assert not list(_of_strange(named))
