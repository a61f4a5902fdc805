"""Households, classes and addresses whose rows all stand in the file together."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.row_groups import look_grouped

MEMBERS = ["age", "sex", "relation", "school"]


def roster(households, seed, *, first=0):
    """Give rows of people: those of a household have its zone and rent, and a place in it."""
    rng = np.random.default_rng(seed)
    rows = []
    for household in range(households):
        zone, rent = rng.choice(list("NCLS")), round(float(np.exp(rng.normal(6.2, 0.5))))
        age = int(rng.integers(22, 88))
        for place in range(int(rng.choice([1, 2, 3, 4], p=[0.25, 0.35, 0.2, 0.2]))):
            years = int(np.clip(age + rng.normal(0, 4), 18, 95)) if place < 2 else age // 3
            school = rng.choice(["basic", "middle", "high"])
            relation = ["head", "spouse", "child", "child"][place]
            rows.append([
                first + household, zone, rent, place + 1, years, rng.choice(["m", "f"]), relation,
                school,
            ])  # fmt: skip
    return pd.DataFrame(rows, columns=["household", "zone", "rent", "place", *MEMBERS])


def with_families(real, made, many):
    """Put the people of some households into households of the file that are as large."""
    made = made.copy()
    sizes = real.groupby("household").size()
    rooms = made.groupby("household").groups
    taken = set()
    for household in sizes.index[sizes > 1][:many]:
        room = next(h for h, at in rooms.items() if h not in taken and len(at) == sizes[household])
        taken.add(room)
        made.loc[rooms[room], MEMBERS] = real.loc[real.household == household, MEMBERS].to_numpy()
    return made.astype(real.dtypes.to_dict())


BY = {
    "a column that numbers households": lambda frame: frame.drop(columns="place"),
    "a place within, in order": lambda frame: frame.drop(columns="household"),
    "a place within, in any order": lambda frame: frame.drop(columns="household").sample(
        frac=1, random_state=1
    ),
}


def groups_of(by, *frames):
    """Return the groups that stand in the file, as a steward's files are read."""
    groups = read_whole(*(BY[by](frame) for frame in frames)).groups
    return look_grouped(groups, np.random.default_rng(1))


@pytest.mark.parametrize("by", BY)
def test_households_that_stand_together_are_counted(by):
    """Also where columns of the household are synthetic, and each person is like many."""
    real = roster(60, 1)
    groups = groups_of(by, real, with_families(real, roster(60, 2, first=1_000), 14))
    assert groups is not None
    assert 9 <= groups.standing <= 16  # households that share their rent with others are one
    assert groups.expected < 3


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("seed", range(2))
def test_households_of_other_people_are_no_finding(by, seed):
    assert groups_of(by, roster(60, 10 + seed), roster(60, 20 + seed, first=1_000)) is None


def test_households_of_the_control_explain_those_of_the_data():
    by = "a place within, in order"
    real, control = roster(60, 1), roster(60, 3, first=2_000)
    some = with_families(real, roster(60, 2, first=1_000), 12)
    theirs = with_families(control, roster(60, 4, first=3_000), 12)
    groups = groups_of(by, real, pd.concat([some, theirs]), control)
    assert groups is None or groups.is_explained
    alone = groups_of(by, real, some, control)
    assert alone is not None
    assert not alone.is_explained


@pytest.mark.parametrize("left", [["place"], ["sex"], []])
def test_a_control_takes_no_group_away(left):
    """Also one that lacks a column, or has few groups."""
    real, made = roster(60, 1), with_families(roster(60, 1), roster(60, 2, first=1_000), 14)
    control = roster(60 if left else 5, 3, first=2_000).drop(columns=left)
    groups = read_whole(real, made, control).groups
    whole = look_grouped(groups, np.random.default_rng(1))
    assert whole is not None
    assert not whole.is_explained


def test_files_of_smaller_households_are_read():
    """Their last places are empty, which no value stands for."""
    real, made = roster(40, 1), roster(60, 2, first=1_000)
    files = read_whole(real, made[made["place"] <= 2])
    assert {"household", "place"} <= {groups.by for groups in files.groups}


def test_rows_without_groups_have_none():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.choice(list("abc"), 80), "b": rng.normal(size=80).round(3)})
    assert not read_whole(frame, frame.sample(frac=1, random_state=1)).groups


@pytest.mark.parametrize("by", BY)
def test_households_are_counted_by_all_columns_but_a_noisy_one(by):
    """Nobody's school was kept, and the households were named as not looked at."""
    real, made = roster(60, 1), with_families(roster(60, 1), roster(60, 2, first=1_000), 14)
    made["school"] = np.random.default_rng(3).permutation(made["school"].to_numpy())
    groups = groups_of(by, real, made)
    assert groups is not None
    assert not groups.is_whole
    assert "school" not in groups.columns
    assert 9 <= groups.standing <= 16
    assert groups.expected < 3


def panel(people, seed, *, first=0):
    """Give four visits of each person, three measures and a place that rises by what they share."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), 4)
    base = rng.normal(size=people)[who]
    columns = {
        "visit": np.tile(np.arange(1, 5), people),
        "pulse": np.rint(70 + 6 * base + rng.normal(0, 5, len(who))).astype(int),
        "weight": np.rint(75 + 9 * base + rng.normal(0, 2, len(who))).astype(int),
        "pain": rng.integers(0, 5, len(who)),
        "ward": rng.choice(list("abc"), people)[who],
    }
    return pd.DataFrame({"who": first + who, **columns})


def histories_of(*frames):
    files = read_whole(*frames, unit="who")
    return look_grouped(files.groups, np.random.default_rng(1), files.together)


KEPT = {
    "whole": (["pulse", "weight", "pain", "ward"], 0, True, "as they are"),
    "but one column": (["pulse", "pain", "ward"], 0, False, "as they are"),
    "but a place": (["pulse", "weight", "pain"], 0, False, "as they are"),
    "moved": (["pulse", "weight"], 7, False, "less the least of each group"),
}


@pytest.mark.parametrize("how", KEPT)
def test_histories_are_counted_by_some_columns_and_by_differences(how):
    names, by, is_whole, reading = KEPT[how]
    real, made = panel(150, 1), panel(150, 2, first=5_000)
    moved = 1 + np.random.default_rng(3).integers(0, 1 + by, 30)[made["who"][:120] - 5_000]
    made.loc[:119, names] = real.loc[:119, names]
    if by:
        made.loc[:119, names] = real.loc[:119, names].to_numpy() + moved[:, None]
    people = histories_of(real, made)
    assert people is not None
    assert (people.is_whole, people.reading) == (is_whole, reading)
    assert set(people.columns) <= set(names) or is_whole
    assert 25 <= people.standing <= 33
    assert people.expected < 5


def of_columns(real, g):
    """Draw each column of a person, at all visits together, from somebody of the data."""
    many = real["who"].nunique()
    rows = 4 * g.integers(0, many, (many, real.shape[1]))[:, None] + np.arange(4)[None, :, None]
    drawn = real.to_numpy(object)[rows.reshape(-1, real.shape[1]), range(real.shape[1])]
    frame = pd.DataFrame(drawn, columns=real.columns).astype(real.dtypes.to_dict())
    return frame.assign(who=5_000 + real["who"], visit=real["visit"])


HARMLESS = {
    "other people": lambda real, g: panel(150, int(g.integers(10**6)), first=5_000),
    "few other people": lambda real, g: panel(40, int(g.integers(10**6)), first=5_000),
    "columns of the data": of_columns,
}


@pytest.mark.parametrize("kind", HARMLESS)
@pytest.mark.parametrize("seed", range(3))
def test_histories_of_other_people_are_no_finding(kind, seed):
    real = panel(150, 10 + seed)
    made = HARMLESS[kind](real, np.random.default_rng(seed))
    assert histories_of(real, made) is None


def test_people_of_the_control_explain_histories_that_are_copied_in_part():
    real, made, control = panel(150, 1), panel(150, 2, first=5_000), panel(150, 3, first=9_000)
    names = ["pulse", "weight"]
    made.loc[:119, names] = real.loc[:119, names]
    people = histories_of(real, made, control)
    assert people is not None
    assert not people.is_explained
    made.loc[120:239, names] = control.loc[:119, names].to_numpy()
    people = histories_of(real, made, control)
    assert people is not None
    assert people.is_explained
