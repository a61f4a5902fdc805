"""Two samples of rows: exact where they are of one population, and whatever hangs together."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from narcissus.synthetic import read_files
from narcissus.synthetic.population_test import LEVELS, compare_together, merged


def drawn(people, rng):
    """Draw numbers and texts that hang together by a hidden kind."""
    kind = rng.integers(0, 3, people)
    return pd.DataFrame({
        "age": np.round(30 + 12 * kind + 6 * rng.normal(size=people), 1),
        "town": np.array(list("abcdefghijkl"))[(4 * kind + rng.integers(0, 5, people)) % 12],
        "ill": np.where(rng.random(people) < 0.2 + 0.3 * kind, "yes", "no"),
    })  # fmt: skip


def compared(real, control, rng, level=0.05):
    files = read_files(real, real, control)
    return compare_together(files, (files.rows("real"), files.rows("control")), level, rng)


def test_samples_of_one_population_are_told_apart_at_the_level_only():
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng([1, seed])
        wrong += compared(drawn(120, rng), drawn(80, rng), rng).p_value <= 0.05
    assert wrong <= stats.binom.isf(1e-6, 60, 0.05)


def test_equal_columns_that_hang_together_in_another_way_are_told_apart():
    rng = np.random.default_rng(2)
    real, control = drawn(400, rng), drawn(300, rng)
    apart = control.apply(lambda column: rng.permutation(column.to_numpy().copy()))
    found = compared(real, apart, rng, 0.009)
    assert found.p_value <= 0.009
    assert set(found.columns) <= {"age", "town", "ill"}
    assert len(found.columns) == 2


def test_an_interaction_of_three_columns_is_told_apart():
    """No pair differs: the third column is the parity of two others, or a coin."""
    rng = np.random.default_rng(3)
    real, control = (pd.DataFrame(rng.integers(0, 2, (600, 3)), columns=list("abc"))
                     for _ in range(2))  # fmt: skip
    found = compared(real.assign(c=real.a ^ real.b), control, rng, 0.009)
    assert found.p_value <= 0.009


@pytest.mark.parametrize("width", [1, 2])
def test_columns_that_vary_in_the_file_alone_are_compared(width):
    real = pd.DataFrame({"a": ["x"] * 40, "b": ["y"] * 40}).iloc[:, :width]
    made = pd.DataFrame({"a": ["x", "z"] * 20, "b": ["y", "x"] * 20}).iloc[:, :width]
    files = read_files(real, made, real[:30], read_as=dict.fromkeys(real, "text"))
    sides = files.rows("real"), files.rows("control")
    assert compare_together(files, sides, 0.009, np.random.default_rng(1)).p_value == 1


def test_values_are_merged_into_few_classes():
    rng = np.random.default_rng(4)
    files = read_files(drawn(300, rng), drawn(10, rng), drawn(200, rng))
    rows = np.concatenate([files.rows("real"), files.rows("control")])
    for column, name in enumerate(files.table.names):
        places = merged(files, column, rows)
        assert len(np.unique(places)) == (2 if name == "ill" else LEVELS)
        assert np.bincount(places).min() > 10
