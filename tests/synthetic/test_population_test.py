"""Two samples of rows: exact where they are of one population, and whatever hangs together."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from narcissus.synthetic import read_files
from narcissus.synthetic.population_test import (
    LEVELS,
    compare_blocks,
    compare_together,
    merged,
)


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


def homes(many, rng):
    """Draw rows of households, one after the other, which have region, heating and owner alike."""
    home = np.repeat(np.arange(many), rng.integers(2, 7, many))
    return pd.DataFrame({
        "region": rng.choice(list("ABCDEF"), many)[home],
        "heating": rng.choice(["gas", "oil", "wood"], many)[home],
        "owner": rng.choice(["yes", "no"], many)[home],
        "sex": rng.choice(list("mw"), len(home)),
        "score": rng.normal(50, 9, len(home)).round(1),
    })  # fmt: skip


def blocks(real, control, rng, level=0.05):
    files = read_files(real, real[::-1].assign(score=1.5), control, drop=["score"])
    return compare_blocks(files, (files.rows("real"), files.rows("control")), level, rng)


def other_regions(rows, rng):
    return rows.assign(region=rows["region"].replace({"A": "B", "C": "B"}))


def other_links(rows, rng):
    """Keep the shares of each column, and tie the region to the heating."""
    tied = rows["heating"].map({"gas": "A", "oil": "B", "wood": "C"})
    shuffled = rng.permutation(tied)
    return rows.assign(region=np.where(rows["region"].isin(list("ABC")), tied, shuffled))


def test_blocks_of_households_of_one_population_are_told_apart_at_the_level_only():
    wrong = {"rows": 0, "blocks": 0}
    for seed in range(20):
        rng = np.random.default_rng([5, seed])
        real, control = homes(150, rng), homes(110, rng)
        wrong["blocks"] += blocks(real, control, rng) <= 0.05
        wrong["rows"] += compared(real, control, rng).p_value <= 0.05 if seed < 6 else 0
    assert wrong["blocks"] <= stats.binom.isf(1e-6, 20, 0.05)
    assert wrong["rows"] >= 5  # the trap: rows alone take households for another population


@pytest.mark.parametrize("change", [other_regions, other_links])
def test_another_population_of_households_is_told_apart_by_blocks(change):
    for seed in range(5):
        rng = np.random.default_rng([6, seed])
        real, control = homes(150, rng), change(homes(150, rng), rng)
        assert blocks(real, control, rng, 0.009) <= 0.009


def test_of_too_few_rows_no_block_tells_anything():
    rng = np.random.default_rng(7)
    assert blocks(homes(50, rng), homes(50, rng)[:19], rng) == 1
