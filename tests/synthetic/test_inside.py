"""Names and numbers of people inside other values of the file."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.whole import read_whole

SYLLABLES = [f"{c}{v}" for c in "BDKLMNRST" for v in "aeiou"]


def patients(n, seed):
    rng = np.random.default_rng(seed)
    first, last = ([f"{part}{end}" for part in SYLLABLES] for end in ("n", "ller"))
    return pd.DataFrame({
        "name": [f"{rng.choice(first)} {rng.choice(last)}-{rng.choice(last)}" for _ in range(n)],
        "case": rng.choice(9 * 10**7, n, replace=False) + 10**7,
        "job": rng.choice(["Clerk", "Nurse", "Cook"], n),
        "mass": rng.normal(25, 4, n).round(1),
        "entry": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 5000, n), unit="D"),
        "exit": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 5000, n), unit="D"),
    })  # fmt: skip


def numbers_in_texts(real, made):
    return made.assign(job=[*(f"Cook ({case})" for case in real["case"][:20]), *made["job"][20:]])


def numbers_in_decimals(real, made):
    mass = [f"{mass}000{case}" for mass, case in zip(made["mass"], real["case"], strict=True)]
    return made.assign(mass=[*mass[:20], *made["mass"].astype(str)[20:]])


def names_in_texts(real, made):
    return made.assign(job=[*(f"Cook, {name}" for name in real["name"][:20]), *made["job"][20:]])


def surnames_first(real, made):
    names = [f"{last}, {first}" for first, last in real["name"].str.split()]
    return made.assign(name=[*names[:20], *made["name"][20:]])


def initials(real, made):
    names = [f"{first[0]}. {last}" for first, last in real["name"].str.split()]
    return made.assign(name=[*names[:20], *made["name"][20:]])


@pytest.mark.parametrize(
    ("hide", "column"),
    [
        (numbers_in_texts, "case"),
        (numbers_in_decimals, "case"),
        (names_in_texts, "name"),
        (surnames_first, "name"),
        (initials, "name"),
    ],
)
@pytest.mark.parametrize("leave_out", [False, True])
def test_names_inside_other_values_are_found(hide, column, leave_out):
    """Whether the file has the column of the names itself or not."""
    real, made, control = (patients(200, seed) for seed in (1, 2, 3))
    made = hide(real, made)
    if leave_out and hide not in (surnames_first, initials):
        made = made.drop(columns=["case", "name"])
    inside = read_whole(real, made, control).inside
    assert {names.column for names in inside} == {column}
    assert all(18 <= names.standing <= 22 and not names.is_explained for names in inside)
    explained = read_whole(real, made, pd.concat([real[:20], control])).inside
    assert explained
    assert all(names.is_explained for names in explained)


@pytest.mark.parametrize("seed", range(5))
def test_other_people_have_names_of_their_own(seed):
    real, fresh = patients(200, 10 + seed), patients(200, 20 + seed)
    rng = np.random.default_rng(seed)
    apart = fresh.apply(lambda column: rng.permutation(column.to_numpy()))
    for made in (fresh, apart, *(hide(fresh, fresh) for hide in (numbers_in_texts, initials))):
        assert read_whole(real, made).inside == ()


def test_names_that_stand_as_they_are_are_counted_elsewhere():
    real = patients(200, 1)
    assert read_whole(real, real.sample(frac=1, random_state=1)).inside == ()
