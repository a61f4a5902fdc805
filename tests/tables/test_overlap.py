"""Files that hardly share a column's values stop the run; those that are of one kind never do."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.tables.overlap import FEWEST, require_overlap

NAMES = ("real", "synthetic")
CODED = {"N": 400, 1: 300, 2: 200, 3: 100}
INCOMES = {37 * i: 1 for i in range(1000)}


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (CODED, {"N": 500, "one": 300, "two": 200}),  # the code is all that they share
        (CODED, {"N": 500, 1.37: 250, 2.91: 250}),
        ({"m": 50, "f": 50}, {"M": 50, "F": 50}),
        ({"m": 50, "f": 50}, {1: 50, 2: 50}),
        ({1: 50, 2: 50}, {0: 50, 1: 50}),
        ({"no": 990, "yes": 10}, {"no": 980, "ja": 20}),
        (INCOMES, {37 * i * 1000 + 40_000: 1 for i in range(1000)}),  # other units
        ({v * 1000: n for v, n in INCOMES.items()}, INCOMES | {0: 500}),
        (INCOMES, {"a lot": 50, "little": 50}),
        ({f"{i} Main St": 1 for i in range(99)}, {f"Main St {i}": 1 for i in range(99)}),
    ],
)
def test_other_spellings_are_refused_with_both_and_the_remedy(first, other):
    with pytest.raises(InputError, match="hardly overlap") as caught:
        require_overlap("town", NAMES, first, other)
    said = str(caught.value)
    for part in ("in the real file", "in the synthetic file", "--read-as town=text",
                 'read_as = {"town" = "numbers"}', "--drop town", 'drop = ["town"]'):  # fmt: skip
        assert part in said
    assert any(repr(str(value)) in said for value in first)
    assert any(repr(str(value)) in said for value in other)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (CODED, {"N": 10}),  # a generator that makes one value
        (CODED, {1: 500, 3: 1}),
        (INCOMES, {37 * i + 11: 1 for i in range(900)}),  # no value is the same
        (INCOMES, {0: 500}),
        (CODED, {"other": FEWEST - 1}),
        ({"a": 5, "b": 1}, {"a": 9}),
    ],
)
def test_the_same_scale_or_fewer_values_pass(first, other):
    assert require_overlap("x", NAMES, first, other) == ""


def test_bins_are_of_places_on_a_scale():
    with pytest.raises(InputError, match="hardly overlap"):
        require_overlap("x", NAMES, {1: 9, 3: 9, 5: 9}, {2: 9, 4: 9})
    assert require_overlap("x", NAMES, {1: 9, 3: 9, 5: 9}, {2: 9, 4: 9}, binned=True) == ""


def test_values_that_some_people_have_alone_are_told():
    said = require_overlap("x", NAMES, {"a": 50, "b": 50}, {"a": 60, "b": 30, "B": 10})
    assert "25% of the people of the synthetic file" in said
    assert "'B'" in said


def test_samples_of_one_population_pass():
    """400 pairs of samples, of few values to many: none is refused, whatever its tail."""
    rng = np.random.default_rng(1)
    for trial in range(400):
        values = int(rng.integers(2, 2000))
        weights = rng.dirichlet(np.full(values, rng.choice([0.05, 0.3, 1.0])))
        kind = str if trial % 2 else int
        first, other = (
            {kind(v): int(n) for v, n in enumerate(rng.multinomial(size, weights)) if n}
            for size in (300, int(rng.integers(20, 300)))
        )
        require_overlap("x", NAMES, first, other)
