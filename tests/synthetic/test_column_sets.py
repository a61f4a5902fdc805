"""Files of which a part of the rows have a part of a person's columns."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.column_sets import SetSearch, look_at_sets
from narcissus.synthetic.copies import Views
from narcissus.synthetic.full_files import read_whole


def people(n, seed):
    g = np.random.default_rng(seed)
    trait = g.normal(size=n)
    return pd.DataFrame({
        "age": g.integers(18, 90, n),
        "height": np.rint(g.normal(170, 9, n) + 3 * trait).astype(int),
        "weight": np.round(g.normal(75, 12, n) + 4 * trait, 1),
        "income": np.round(g.lognormal(10, 0.6, n), -1),
        "region": g.choice(list("NSEW"), n, p=[0.4, 0.3, 0.2, 0.1]),
        "ill": g.choice(["no", "yes"], n),
        "children": g.poisson(1.2, n),
        "rent": np.rint(g.lognormal(6.5, 0.4, n)).astype(int),
    })  # fmt: skip


def planted(many, names, n, seed):
    real, made = people(n, seed), people(n, seed + 100)
    made.loc[: many - 1, names] = real.loc[: many - 1, names]
    return real, made.sample(frac=1, random_state=seed).reset_index(drop=True)


def looked(real, made, control=None):
    files, rng = read_whole(real, made, control), np.random.default_rng(1)
    sides = files.rows("real"), files.rows("control")
    return look_at_sets(files, Views(files, rng), sides, rng)


PARTS = {
    "15 of 200 on three": (15, ["age", "height", "rent"], 200),
    "12 of 500 on two": (12, ["weight", "income"], 500),
    "14 of 408 on two": (14, ["income", "rent"], 408),
    "20 of 300 on four": (20, ["age", "height", "region", "rent"], 300),
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_rows_with_a_part_of_the_columns_strikes(part, seed):
    many, names, n = PARTS[part]
    found = looked(*planted(many, names, n, seed)).striking
    assert found
    assert any(set(one.columns) <= set(names) for one in found)
    assert all(one.expected < one.standing / 2 for one in found)


@pytest.mark.parametrize("seed", range(2))
def test_some_columns_alone_are_named_where_these_tell_of_more(seed):
    """By age and two answers 117 of 300 were there, and the page said 86, by these and sex."""

    def drawn(seed):
        g = np.random.default_rng(seed)
        some = {"sex": g.choice(list("fm"), 300), "age": g.integers(18, 80, 300)}
        return pd.DataFrame(some | {f"p{j}": g.integers(1, 8, 300) for j in range(5)})

    real, made = drawn(seed), drawn(seed + 10)
    made.loc[:99, ["age", "p1", "p3"]] = real.loc[:99, ["age", "p1", "p3"]]
    first, *_ = looked(real, made.sample(frac=1, random_state=seed)).striking
    told = [first, *([] if first.alone is None else [first.alone])]
    assert ("age", "p1", "p3") in [some.columns for some in told]
    assert max(some.standing for some in told) >= 80


def test_a_control_that_has_as_many_explains_them():
    real, made = planted(40, ["income", "rent"], 300, 3)
    control = people(300, 500)
    (one, *_) = looked(real, made, control).striking
    assert one.beside.successes > 10 * max(1, one.beside.others)
    assert not one.is_explained
    twins = control.assign(income=made["income"], rent=made["rent"])
    assert all(one.is_explained for one in looked(real, made, twins).striking)


HARMLESS = {
    "fresh": lambda fresh, g: fresh,
    "shuffled": lambda fresh, g: fresh.apply(lambda column: g.permutation(column.to_numpy())),
    "drawn again": lambda fresh, g: fresh.sample(len(fresh), replace=True, random_state=1),
}


@pytest.mark.parametrize("kind", HARMLESS)
@pytest.mark.parametrize("seed", range(4))
def test_a_file_of_other_people_strikes_by_no_columns(kind, seed):
    g = np.random.default_rng(seed)
    real, fresh = people(300, 10 + seed), people(300, 50 + seed)
    assert looked(real, HARMLESS[kind](fresh, g)).striking == ()


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_are_drawn_from_the_data_one_by_one_strike_by_no_two(seed):
    """A generator that keeps the margins: who stands there by one stands there by no more."""
    g, real = np.random.default_rng(seed), people(300, seed)
    assert looked(real, real.apply(lambda c: g.choice(c.to_numpy(), 600))).striking == ()


def answering(n, g):
    """Draw people who have an income of their own and answer six questions by yes or no."""
    trait = g.normal(size=n)
    yes = {f"q{j}": (trait + g.normal(size=n) > 0.3 * j - 1).astype(int) for j in range(6)}
    return pd.DataFrame({"income": np.round(g.lognormal(10, 0.6, n), 2), **yes})


@pytest.mark.parametrize("kind", ["all columns", "incomes"])
@pytest.mark.parametrize("seed", range(3))
def test_values_of_the_data_strike_by_no_four_columns(kind, seed):
    """By an income and three answers 50 of 300 were there, with 0 expected: nobody shares one."""
    g = np.random.default_rng(seed)
    real, made = answering(300, g), answering(300, g)
    made["income"] = g.choice(real["income"], 300)
    if kind == "all columns":
        made = real.apply(lambda column: g.permutation(column.to_numpy()))
    assert looked(real, made).striking == ()


def test_rows_are_counted_by_larger_sets_as_by_all_smaller_ones():
    """What is expected of a drawn column does not depend on how many columns there are."""
    g = np.random.default_rng(1)
    both = [pd.concat([answering(100, g)] * 2) for _ in "ab"]
    codes = [np.unique(np.r_[a, b], return_inverse=True)[1] for a, b in zip(
        *(frame.to_numpy().T for frame in both), strict=True)]  # fmt: skip
    search = SetSearch(codes, 200)
    ours, rows = (np.column_stack(codes)[:200], np.column_stack(codes)[200:])
    for some in [(1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5, 6)]:
        each = list(search._by_chance(some))
        for j, chance in zip(some, each, strict=True):
            rest = [k for k in some if k != j]
            same = (ours[:, None, rest] == rows[:, rest]).all(axis=2).sum(axis=1)
            alone = (ours[:, None, j] == rows[:, j]).mean(axis=1)
            assert chance == pytest.approx(same * alone)


def test_so_many_sets_that_some_are_left_are_told(monkeypatch):
    monkeypatch.setattr("narcissus.synthetic.column_sets.MOST_WORK", 20 * 600)
    found = looked(people(300, 1), people(300, 2))
    assert (found.sets, found.left) == (20, 28 + 56 - 20)
