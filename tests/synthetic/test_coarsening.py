"""Coarse values: how they are written, what they stand for, and what is made of them."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.synthetic import read_files
from narcissus.synthetic.assessment import distances
from narcissus.synthetic.coarsening import coarse_of, interval_of
from narcissus.synthetic.copies import file_facts

INF = math.inf


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("30-39", (30, 39, True, True)),
        ("30 – 39", (30, 39, True, True)),
        ("20,000 to 29,999", (20000, 29999, True, True)),
        ("-5--1", (-5, -1, True, True)),
        ("[30, 40)", (30, 40, True, False)),
        ("(30;40]", (30, 40, False, True)),
        ("[30, 40[", (30, 40, True, False)),
        ("]30, 40]", (30, 40, False, True)),
        ("<5", (-INF, 5, True, False)),
        ("under 18", (-INF, 18, True, False)),
        ("≤ 5", (-INF, 5, True, True)),
        ("90+", (90, INF, True, True)),
        ("90 and over", (90, INF, True, True)),
        (">=1.5", (1.5, INF, True, True)),
        ("39-30", None),
        ("30,40", None),
        ("24-01004x", None),
        ("a-b", None),
        ("1" * 100 + "-2", None),
    ],
)
def test_intervals_are_read_as_people_write_them(text, ends):
    assert interval_of(text) == ends


def meant(known, own, kind="numbers"):
    """Return which known values each coarse one stands for."""
    found = coarse_of("x", known, own, kind)
    if found is None:
        return {}
    at = {value: number for number, value in enumerate(found.values)}
    return {v: [k for k in known if found.covers[at[v], at[k]]] for v in found.found}


@pytest.mark.parametrize(
    ("known", "own", "kind", "expected"),
    [
        # in whole years, 39.5 is thirty-nine
        ([30, 39, 39.5, 40], ["30-39", "40-49"], "numbers",
         {"30-39": [30, 39, 39.5], "40-49": [40]}),
        ([20, 25, 30], ["20-30", "30-40"], "numbers", {"20-30": [20, 25], "30-40": [30]}),
        (["30-34", "35-39", "40-44"], ["30-39"], "texts", {"30-39": ["30-34", "35-39"]}),
        ([1, 2], [1, "*", None], "numbers", {"*": [1, 2], None: [1, 2]}),
        (["a1", "a2", "b1"], ["a*"], "texts", {"a*": ["a1", "a2"]}),
        (["a", "b", "c"], ["{a, c}"], "texts", {"{a, c}": ["a", "c"]}),
        (["24-01", "24-02", "30-01"], ["24"], "texts", {"24": ["24-01", "24-02"]}),
        ([3211, 3299, 4500], [32, 45], "numbers", {32: [3211, 3299], 45: [4500]}),
        ([3211, 3299, 4500], [32, 45, None], "numbers",
         {32: [3211, 3299], 45: [4500], None: [3211, 3299, 4500]}),
        # an end counts only where the bracket says so
        ([30, 35, 40, 45], ["(30;40]"], "numbers", {"(30;40]": [35, 40]}),
        ([30, 35, 40, 45], ["[30, 40)"], "numbers", {"[30, 40)": [30, 35]}),
        # no codes: other values that happen to begin them, or that have no digit
        (["w10", "w2"], ["w1"], "texts", {}),
        (["none", "north"], ["no"], "texts", {}),
        (["24-01"], ["24", "77"], "texts", {}),
        ([3211, 45], [32], "numbers", {}),
        ([1, 2], ["N"], "numbers", {}),
        (["a", None], [None], "texts", {}),
    ],
)  # fmt: skip
def test_a_coarse_value_stands_for_what_it_says(known, own, kind, expected):
    assert meant(known, own, kind) == expected


@given(
    known=st.lists(st.integers(0, 60), min_size=2, unique=True),
    spans=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), min_size=1, max_size=8),
)
def test_levels_share_no_value_and_parts_are_true(known, spans):
    """Values of one level overlap nowhere; two values of different parts are covered by none."""
    own = [f"[{low}, {low + width}]" for low, width in spans]
    found = coarse_of("x", known, [*known, *own], "numbers")
    if found is None:
        assert not any(low <= k <= low + width for k in known for low, width in spans)
        return
    for level in range(found.levels.max() + 1):
        assert found.covers[found.levels == level].sum(axis=0).max() <= 1
    whole = [i for i, v in enumerate(found.values) if isinstance(v, int)]
    parts = np.array(found.blocks)
    for row in found.covers:
        if row[whole].any() and not row[whole].all() and len(set(parts[whole])) < len(whole):
            assert len(set(parts[row])) == 1


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 95, n),
        "zip": [f"{a}{b}-{c}" for a, b, c in rng.integers(10, 20, (n, 3))],
        "job": rng.choice(["clerk", "cook", "nurse"], n),
        "pay": rng.integers(10, 90, n) * 1000,
    })  # fmt: skip


def grouped(frame, width=10):
    low = frame["age"] // width * width
    age = low.astype(str) + "-" + (low + width - 1).astype(str)
    return frame.assign(age=age, zip=frame["zip"].str[:2] + "**", job="*")


def suppressed(frame, gap):
    keep = np.random.default_rng(3).random(frame.shape) > 0.2
    return frame.astype(object).where(keep, gap)


def mixed(frame):
    width = np.random.default_rng(4).choice([5, 7, 20], len(frame))
    low = frame["age"] // width * width
    age = "[" + low.astype(str) + ", " + (low + width).astype(str) + "["
    return frame.assign(age=age)


@pytest.mark.parametrize(
    "coarser",
    [grouped, mixed, lambda f: suppressed(f, "*"), lambda f: suppressed(f, None)],
    ids=["grouped", "mixed", "stars", "gaps"],
)
def test_every_row_of_a_coarser_file_is_found_and_a_fresh_file_is_not(coarser):
    """By hand: a row is true of a person if each of its values is."""
    real, fresh = people(150, 1), people(150, 2)
    made = read_files(real, coarser(real), missing="category")
    facts = file_facts(made, [0], entropy=1)
    assert facts.verbatim == 150
    assert facts.copies.standing > 0.8 * facts.copies.unique
    assert facts.copies.excess(0.025)[1] > 0.5
    other = file_facts(read_files(real, coarser(fresh), missing="category"), [0], entropy=1)
    assert other.copies.excess(0.025)[1] <= 0
    # the row that a person's was made from is no distance away
    every = list(range(made.table.columns))
    sides = made.rows("real"), made.rows("synthetic")
    apart = np.concatenate(
        [block for _, block in distances(made.table, *sides, every, made.covers)]
    )
    assert (apart.min(axis=1) == 0).all()
    assert (apart.min(axis=0) == 0).all()


def test_too_many_values_beside_coarse_ones_are_an_error():
    real = people(20, 1).assign(pay=0.5)
    real = pd.concat([real] * 300, ignore_index=True)
    real["pay"] = np.arange(6000) / 7
    other = real.astype({"pay": object})
    other.loc[3, "pay"] = "<5"
    with pytest.raises(InputError, match="`pay` has 6,001 values, and coarse ones"):
        read_files(real, other)
    other.loc[3, "pay"] = None  # a gap is a value of its own there
    assert not read_files(real, other, missing="category").covers
