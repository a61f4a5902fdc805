"""People in a file whose row was changed by a rule of that row: a table, a mirror, a shift."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.copies import Copies
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.row_rules import first_alike, look_by_row

QUESTIONS = [f"q{j}" for j in range(20)]
TABLES = ({1: 2, 2: 5, 3: 1, 4: 3, 5: 4}, {1: 4, 2: 1, 3: 5, 4: 2, 5: 3})


def answers(n, seed):
    rng = np.random.default_rng(seed)
    loads = np.random.default_rng(77).normal(size=(3, 20)) * 0.6
    means = 3 + np.random.default_rng(78).uniform(-0.6, 0.6, 20)
    drawn = means + rng.normal(size=(n, 3)) @ loads + 0.8 * rng.normal(size=(n, 20))
    frame = pd.DataFrame(np.clip(np.round(drawn), 1, 5).astype(int)).add_prefix("q")
    return frame.assign(age=rng.integers(18, 90, n), town=rng.choice(list("ABC"), n))


def one_table(rows, seed):
    return rows.replace(TABLES[0])


def two_tables(rows, seed):
    half = len(rows) // 2
    return pd.concat([rows[:half].replace(TABLES[0]), rows[half:].replace(TABLES[1])])


def a_table_for_each(rows, seed):
    rng = np.random.default_rng(seed)
    each = [rng.permutation(5)[row - 1] + 1 for row in rows.to_numpy()]
    return pd.DataFrame(each, columns=rows.columns)


def mirrored(rows, seed):
    return 6 - rows


def mirrored_by_halves(rows, seed):
    other = rows.copy()
    half = len(rows) // 2
    for some, names in ((slice(half), QUESTIONS[:10]), (slice(half, None), QUESTIONS[10:])):
        other.loc[other.index[some], names] = 6 - other.loc[other.index[some], names]
    return other


def moved(rows, seed):
    return rows + np.random.default_rng(seed).integers(1, 4, (len(rows), 1))


RULES = {
    rule.__name__: rule
    for rule in (one_table, two_tables, a_table_for_each, mirrored, mirrored_by_halves, moved)
}


def changed(real, other, rule, part):
    """Return rows of other people, with the changed answers of so many people of the data."""
    made = other.copy()
    values = RULES[rule](real[QUESTIONS][:part].reset_index(drop=True), 4).to_numpy()
    made.loc[made.index[:part], QUESTIONS] = values
    return made.sample(frac=1, random_state=1, ignore_index=True)


def looked(real, made, control=None, like=0):
    files = read_whole(real, made, control)
    sides = files.rows("real"), files.rows("control")
    copies = Copies(len(real), len(real), like, len(made), 0)
    return look_by_row(files, sides, copies, np.random.default_rng(1))


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("part", [300, 60])
def test_people_whose_rows_have_a_rule_of_their_own_are_found(rule, part):
    """All 300 by two tables were said to be a file in which nobody could stand unseen."""
    real, other, control = (answers(300, seed) for seed in (1, 2, 3))
    people = looked(real, changed(real, other, rule, part), control)
    assert people is not None
    assert part - 10 <= people.standing <= part + 5
    assert people.beside is not None
    assert people.beside.others < 5
    assert not people.is_explained


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("seed", range(3))
def test_other_people_by_rules_of_their_own_are_not_asked_about(rule, seed):
    real, other, third = (answers(300, 10 * k + seed) for k in (1, 2, 3))
    assert looked(real, changed(other, third, rule, 150)) is None
    rng = np.random.default_rng(seed)
    apart = real.apply(lambda column: rng.permutation(column.to_numpy()))
    assert looked(real, changed(apart, third, rule, 150)) is None


def test_people_who_stand_as_they_are_are_not_told_again():
    """Copies have the pattern of their person: they are counted as copies."""
    real, other = answers(300, 1), answers(300, 2)
    made = other.copy()
    made.loc[:79, QUESTIONS] = real.loc[:79, QUESTIONS]
    assert looked(real, made) is None


@pytest.mark.parametrize("seed", range(3))
def test_people_who_are_alike_are_no_copies(seed):
    """Of few questions with few answers, many people have one pattern."""
    rng = np.random.default_rng(seed)
    real, made = (pd.DataFrame(rng.integers(1, 4, (300, 6))).add_prefix("q") for _ in "ab")
    assert looked(real, made) is None


def test_a_pattern_stays_as_it_is_under_any_table():
    rng = np.random.default_rng(1)
    real = pd.DataFrame(rng.integers(0, 4, (60, 6))).add_prefix("q")
    tables = [rng.permutation(4) for _ in range(60)]
    made = pd.DataFrame([t[row] for t, row in zip(tables, real.to_numpy(), strict=True)])
    files = read_whole(real, made.add_prefix("q"))
    firsts = first_alike(files.columns)
    here, there = (firsts[files.rows(side)].tolist() for side in ("real", "synthetic"))
    assert sorted(here) == sorted(there)
    assert (firsts[:, 0] == 0).all()
