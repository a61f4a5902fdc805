"""People in a file whose values stand under other codes: a code table, letters for numbers."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.copies import Copies
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.recoding import look_recoded

TABLE = {1: 2, 2: 5, 3: 1, 4: 3, 5: 4}
WORDS = {1: "never", 2: "seldom", 3: "often", 4: "mostly", 5: "always"}
QUESTIONS = [f"q{j}" for j in range(20)]


def answers(n, seed):
    rng = np.random.default_rng(seed)
    loads = np.random.default_rng(77).normal(size=(3, 20)) * 0.6
    means = 3 + np.random.default_rng(78).uniform(-0.6, 0.6, 20)
    drawn = means + rng.normal(size=(n, 3)) @ loads + 0.8 * rng.normal(size=(n, 20))
    frame = pd.DataFrame(np.clip(np.round(drawn), 1, 5).astype(int)).add_prefix("q")
    return frame.assign(age=rng.integers(18, 90, n), town=rng.choice(list("ABC"), n))


def letters(frame):
    """Write each answer in letters of its question's own."""
    own = {name: {v: f"{v * 7 % 5}{name[-1]}x" for v in range(1, 6)} for name in QUESTIONS}
    return frame.assign(**{name: frame[name].map(own[name]) for name in QUESTIONS})


def each_otherwise(frame):
    rng = np.random.default_rng(5)
    tables = {name: dict(enumerate(rng.permutation(range(1, 6)), start=1)) for name in QUESTIONS}
    return frame.assign(**{name: frame[name].map(tables[name]) for name in QUESTIONS})


WAYS = {
    "one table": lambda f: f.assign(**f[QUESTIONS].replace(TABLE)),
    "words": lambda f: f.assign(**{name: f[name].map(WORDS) for name in QUESTIONS}),
    "a table for each": each_otherwise,
    "letters for each": letters,
}


def looked(real, made, control=None):
    files = read_whole(real, made.sample(frac=1, random_state=1), control)
    sides = files.rows("real"), files.rows("control")
    rng = np.random.default_rng(1)
    return look_recoded(files, sides, Copies(len(real), 0, 0, len(made), 0), rng)


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("part", [300, 60])
def test_people_under_other_codes_are_found(way, part):
    """All people were published so, and the verdict was that none could be copied unseen."""
    real, other, control = (answers(300, seed) for seed in (1, 2, 3))
    made = WAYS[way](pd.concat([real[:part], other[part:]]))
    people = looked(real, made, control)
    assert people is not None
    assert people.way == "recoded"
    assert part - 10 <= people.standing <= part + 5
    assert people.expected < 5
    assert not people.is_explained


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("synthetic", [["age"], ["town"], ["age", "town"]])
def test_people_under_other_codes_next_to_synthetic_columns_are_found(way, synthetic):
    """A column that is synthetic hid all people, since they had to agree in every column."""
    real, other = answers(300, 1), answers(300, 2)
    people = looked(real, WAYS[way](real.assign(**other[synthetic])))
    assert people is not None
    assert people.standing > 200


@pytest.mark.parametrize("way", ["as they are", *sorted(WAYS)])
@pytest.mark.parametrize("seed", range(3))
def test_other_people_under_other_codes_are_not_asked_about(way, seed):
    real, other = answers(300, 10 + seed), answers(300, 20 + seed)
    assert looked(real, WAYS.get(way, lambda f: f)(other)) is None


@pytest.mark.parametrize("many", [3, 6, 12])
def test_few_columns_of_which_tables_always_fit_are_no_copies(many):
    """Where people are alike, a table that is chosen makes rows equal people."""
    rng = np.random.default_rng(many)
    real, made = (
        pd.DataFrame(rng.choice(5, (300, many), p=[0.1, 0.15, 0.2, 0.25, 0.3])).add_prefix("q")
        for _ in "ab"
    )
    assert looked(real, made.replace({0: 3, 3: 0})) is None
