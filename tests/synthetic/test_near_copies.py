"""Rows that are a person's but for a little of each number, and people who are alike by chance."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.copies import Copies, Views
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.near_copies import EXPECTED, most_mixed, nearer_people, nearly_copied


def earners(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 90, n),
        "income": 1_000 + rng.integers(0, 2_500, n),
        "town": rng.choice(list("ABCDEFGHIJKLMNOP"), n),
        "ill": rng.choice(["no", "flu", "hiv"], n),
    })  # fmt: skip


def found(real, made, control):
    files = read_whole(real, made, control)
    sides = files.rows("real"), files.rows("control")
    views = Views(files, np.random.default_rng(1))
    return list(nearly_copied(files, views, sides, Copies(len(real), 0, 0, len(made), 0)))


def test_rows_near_a_person_are_counted_beside_moved_ones():
    """A year more and a franc: the rows of other people are beside nobody in particular."""
    real, made, control = (earners(200, seed) for seed in (1, 2, 3))
    made.loc[:59] = real.loc[:59]
    made.loc[:59, ["age", "income"]] += 1
    each = found(real, made, control)
    assert len(each) == len(EXPECTED)
    best = max(each, key=lambda one: one[0].standing - one[0].most_coincidences(0.001))
    assert best[0].standing > best[0].most_coincidences(0.001)
    assert min(one.fisher for _, one in each) < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_other_people_are_no_nearer_than_by_chance(seed):
    for copies, beside in found(*(earners(200, 10 * seed + k) for k in range(3))):
        assert copies.standing <= copies.most_coincidences(0.001)
        assert beside.fisher > 1e-4


def test_texts_and_few_values_alone_are_near_nobody():
    real, made, control = (earners(200, seed)[["town"]].assign(sex="f") for seed in (1, 2, 3))
    assert found(real, made, control) == []


def answers(n, seed):
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=(n, 2))
    each = {f"q{j}": 5 + 1.2 * trait[:, j % 2] + 1.8 * rng.normal(size=n) for j in range(10)}
    return pd.DataFrame(each).round().clip(0, 10).astype(int)


def measured(n, seed):
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=(n, 1))
    return pd.DataFrame(100 + 10 * trait + 10 * rng.normal(size=(n, 8))).add_prefix("m").round(1)


def moved(real, made, by, seed=7):
    """Replace one row in ten by a person whose numbers are all moved by a share of their range."""
    rng, many = np.random.default_rng(seed), len(made) // 10
    noise = rng.uniform(-by, by, (many, real.shape[1])) * np.ptp(real.to_numpy(), axis=0)
    return pd.concat([(real[:many] + noise).round(0 if "q0" in real else 1), made[many:]])


def nearer(real, made, control=None):
    files = read_whole(real, made, control)
    sides = files.rows("real"), files.rows("control")
    return nearer_people(files, Views(files, np.random.default_rng(1)), sides)


@pytest.mark.parametrize("draw", [answers, measured])
def test_a_part_of_the_rows_moved_widely_is_found(draw):
    """All numbers of a row by up to 5% of their range: no number is the person's any more."""
    real, control = draw(300, 1), draw(300, 3)
    made = moved(real, draw(300, 2), 0.05)
    found = nearer(real, made, control)
    assert found is not None
    assert found.standing > 2 * found.expected + 10
    assert not found.is_explained
    assert found.beside.fisher < 1e-3


@pytest.mark.parametrize("draw", [answers, measured])
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_other_people_are_far_nearer_to_nobody(draw, seed):
    real, fresh = draw(200, 10 + seed), draw(200, 20 + seed)
    middle = (0.6 * fresh + 0.4 * fresh.mean()).round(0 if "q0" in real else 1)
    rng = np.random.default_rng(seed)
    shuffled = real.apply(lambda column: rng.permutation(column.to_numpy()))
    for made in (fresh, middle, shuffled):
        assert nearer(real, made) is None


def questionnaire(n, seed, width=40):
    rng = np.random.default_rng(seed)
    loads = np.random.default_rng(99).normal(size=(3, width))
    traits = rng.normal(size=(n, 3)) @ loads + 2 * rng.normal(size=(n, width))
    return pd.DataFrame(np.digitize(traits, [-2, -0.6, 0.6, 2])).add_prefix("q")


def half_kept(real, made, many, seed=1):
    """Give each of some rows half of the answers of a person, another half each time."""
    rng, made = np.random.default_rng(seed), made.copy()
    for row in range(many):
        kept = rng.permutation(real.shape[1])[: real.shape[1] // 2]
        made.iloc[row, kept] = real.iloc[2 * row, kept]
    return made


@pytest.mark.parametrize("as_texts", [False, True])
def test_half_of_the_answers_of_people_are_found_where_no_three_tell_them(as_texts):
    real, made = questionnaire(200, 1), questionnaire(200, 2)
    sides = [half_kept(real, made, 20), made]
    if as_texts:
        real, *sides = (side.replace(dict(enumerate("abcde"))) for side in (real, *sides))
    found = nearer(real, sides[0])
    assert found is not None
    assert found.standing >= 10
    assert nearer(real, sides[1]) is None


def patients(n, seed):
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 90, n), np.exp(10 + 0.6 * rng.normal(size=n))
    return pd.DataFrame({
        "age": age,
        "income": income.astype(int),
        "rent": (income * rng.uniform(0.2, 0.3, n) / 12).astype(int),
        "mass": (25 + 0.05 * (age - 50) + 3 * rng.normal(size=n)).round(1),
        "pressure": (120 + 0.4 * (age - 50) + 12 * rng.normal(size=n)).astype(int),
        "town": rng.choice(list("ABCDEFGH"), n),
    })  # fmt: skip


NUMBERS = ["age", "income", "rent", "mass", "pressure"]


def two_digits(rows, rng):
    numbers = rows[NUMBERS]
    step = 10.0 ** (np.floor(np.log10(numbers)) - 1)
    return (numbers / step).round() * step


def one_percent(rows, rng):
    return rows[NUMBERS] * rng.uniform(0.99, 1.01, (len(rows), len(NUMBERS)))


def last_digit(rows, rng):
    numbers = rows[NUMBERS] + rng.integers(-4, 5, (len(rows), len(NUMBERS)))
    return numbers.assign(mass=rows["mass"] + rng.integers(-4, 5, len(rows)) / 10)


def in_their_rows_alone(real, made, many, way, times=1):
    """Put people in the place of rows, so many times each, all of them disguised."""
    rng, made = np.random.default_rng(5), made.copy()
    rows = pd.concat([real[:many]] * times)
    disguised = way(rows, rng).round({"mass": 1} | dict.fromkeys(set(NUMBERS) - {"mass"}, 0))
    made[NUMBERS] = made[NUMBERS].astype(float)
    made.loc[: len(rows) - 1, NUMBERS] = disguised.to_numpy()
    made.loc[: len(rows) - 1, "town"] = rows["town"].to_numpy()
    return made


@pytest.mark.parametrize("way", [two_digits, one_percent, last_digit])
@pytest.mark.parametrize("size", [200, 1_000])
@pytest.mark.parametrize("blank", [False, True])
@pytest.mark.one_in(2)
def test_people_disguised_in_their_rows_alone_are_found(way, size, blank):
    """A row that is written coarsely, or has an empty cell, counts with all others."""
    real, fresh = patients(size, 1), patients(size, 2)
    made = in_their_rows_alone(real, fresh, size // 10, way)
    if blank:
        for place, name in enumerate(NUMBERS):
            made.loc[place :: 4 * len(NUMBERS), name] = np.nan
            fresh.loc[place :: 4 * len(NUMBERS), name] = np.nan
    people = nearer(real, made)
    assert people is not None
    assert people.excess > size / 30
    assert nearer(real, fresh) is None


@pytest.mark.parametrize("way", [two_digits, one_percent, last_digit])
def test_people_disguised_twice_each_hide_one_another_no_more(way):
    real, fresh = patients(1_000, 1), patients(1_000, 2)
    people = nearer(real, in_their_rows_alone(real, fresh, 150, way, times=2))
    assert people is not None
    assert people.excess > 30


def some_nearer(made):
    """Return who is near of some of 6,000 people."""
    files = read_whole(patients(6_000, 1), made)
    sides = files.rows("real"), files.rows("control")
    return nearer_people(files, Views(files, np.random.default_rng(1)), sides, largest=10_000)


@pytest.mark.parametrize("way", [two_digits, one_percent, last_digit])
@pytest.mark.one_in(3)
def test_of_many_people_some_are_looked_at(way):
    people = some_nearer(in_their_rows_alone(patients(6_000, 1), patients(6_000, 2), 600, way))
    assert people is not None
    assert people.people <= 6_000


def test_of_many_people_of_whom_some_are_looked_at_nobody_is_near_others():
    assert some_nearer(patients(6_000, 2)) is None


@pytest.mark.parametrize("people", [0, 3, 10])
@pytest.mark.parametrize("rows", [1, 4, 40])
def test_mixed_pairs_are_limited_as_all_pairings_have_them(people, rows):
    """Beside every way to pair a few of both, drawn at random."""
    if (people + rows) % 2:
        rows += 1
    rng = np.random.default_rng(1)
    is_person = np.arange(people + rows) < people
    pairings = [rng.permutation(is_person).reshape(-1, 2).sum(axis=1) == 1 for _ in range(4_000)]
    mixed = np.array([pairing.sum() for pairing in pairings])
    limit = most_mixed(people, rows, 0.05)
    assert (mixed > limit).mean() <= 0.07
    assert limit == 0 or (mixed > limit - 2).mean() > 0.04


def test_rows_that_keep_together_are_nearer_to_nobody():
    """A generator that repeats itself: its rows are near one another, and near no person."""
    real, made = patients(300, 1), patients(30, 2)
    rng = np.random.default_rng(1)
    repeated = pd.concat([made] * 10, ignore_index=True)
    repeated["income"] += rng.integers(-50, 50, 300)
    assert nearer(real, repeated) is None


@pytest.mark.parametrize("times", [1, 3])
def test_several_noisy_copies_of_each_person_are_found(times):
    """A third of a standard deviation apart: the mean of three copies names the person."""
    rng = np.random.default_rng(1)
    trait = rng.normal(size=(150, 1))
    numbers = np.round(50 + 10 * (0.5 * trait + rng.normal(size=(150, 8))), 3)
    real = pd.DataFrame(numbers).add_prefix("m")
    noise = [rng.normal(0, 3, real.shape) for _ in range(times)]
    made = pd.concat([real + each for each in noise], ignore_index=True).round(3)
    files = read_whole(real, made)
    sides = files.rows("real"), files.rows("control")
    people = nearer_people(files, Views(files, rng), sides)
    assert people is not None
    assert people.standing > 75 > 5 * people.expected
