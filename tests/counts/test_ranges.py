"""Ranges of whole numbers as offices write them, read as sets that overlap."""

import itertools
import random
from math import inf

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from narcissus.counts import Publication, audit_tables
from narcissus.counts.ranges import (
    ENDLESS,
    cut_ranges,
    overlapping_ranges,
    read_range,
    read_ranges,
)
from narcissus.errors import InputError

from .test_forms import judge
from .test_layouts import write

SPELLINGS = [
    ("18-64", "18+"),
    ("18-64", "18 and over"),
    ("18 to 64", "18 or more"),
    ("18-64 years", "18 years and over"),
    ("18 bis 64", "18 und mehr"),
    ("18 \u00e0 64 ans", "18 ans et plus"),
    ("18\u201364", "\u226518"),
    ("18-64", ">17"),
    ("Y18-64", "Y_GE18"),
    ("Y18T64", "Y_GE18"),
    ("18-64", "18 och \u00e4ldre"),
    ("18-64", "18 or older"),
    ("18-64", "aged 18+"),
    ("18-64 yrs", "18+ yrs"),
    ("18 - 64", "18 +"),
    ("[18,65)", "[18,Inf)"),
    ("18..64", "18.."),
]


@pytest.mark.parametrize(("inner", "outer"), SPELLINGS)
def test_ranges_are_read_in_many_spellings(inner, outer):
    assert read_range(inner) == ("", (18, 64))
    assert read_range(outer) == ("", (18, ENDLESS))


@pytest.mark.parametrize("label", ["North", "F", "2019-05", "01", "1.1", "64-18", "C00-D97", ""])
def test_what_is_no_range(label):
    assert read_range(label) is None


def overlapping(*tables):
    return overlapping_ranges(read_ranges(tables))


def test_ranges_that_touch_do_not_overlap():
    assert not overlapping(["0-10", "10-20", "20+"])
    assert not overlapping(["1", "2", "3+", "Total"])
    assert set(overlapping(["0-10", "10-20", "0-20", "A"])) == {"0-10", "10-20", "0-20"}
    pieces = cut_ranges(read_ranges([["C00-C97", "C18", "I00-I99"]]))
    assert pieces == {
        "C0-C17": ["C00-C97"],
        "C18": ["C00-C97", "C18"],
        "C19-C97": ["C00-C97"],
        "I00-I99": ["I00-I99"],
    }


def test_ranges_of_another_table_do_not_cut_the_last_number_off():
    """A statistician's: 17 is in 0-17 beside 18-64, whatever another table begins at 17."""
    closed, later = ["0-17", "18-64", "65+"], ["0-16", "17-64", "65+"]
    for tables in ([closed, later], [later, closed]):
        pieces = cut_ranges(read_ranges(tables))
        assert pieces["17"] == ["0-17", "17-64"] or pieces["17"] == ["17-64", "0-17"]
        assert set(pieces) == {"0-16", "17", "18-64", "65+"}
    half = ["0-18", "18-65", "65+"]
    assert read_ranges([half, closed])["0-18"] == ("", (0, 17))
    assert not overlapping(half)
    with pytest.raises(InputError, match="whether 17 is in `0-17` is open"):
        read_ranges([["0-17", "Total"], later])


@pytest.mark.parametrize("begin", [16, 17, 18, 30])
def test_limits_beside_ranges_that_touch_hold_the_truth(tmp_path, begin):
    """By subtraction: people from ``begin`` to 17 are in both tables' ranges."""
    ages = dict.fromkeys(range(70), 5)

    def people(low, high):
        return sum(many for age, many in ages.items() if low <= age <= high)

    first = write(tmp_path, f"age,count\n0-17,x\n18-64,{people(18, 64)}\n65+,x\nTotal,350\n")
    second = write(
        tmp_path, f"age,count\n0-{begin - 1},{people(0, begin - 1)}\n{begin}-64,"
        f"{people(begin, 64)}\n65+,{people(65, 69)}\n", "u.csv",
    )  # fmt: skip
    tables = Publication(texts_tell_nothing=True).understand([first, second])
    [young, old] = audit_tables(tables.cells, tables.structure).hidden
    assert (young.low, young.high) == (90, 90)
    assert (old.low, old.high) == (25, 25)


@pytest.mark.parametrize(("inner", "outer"), SPELLINGS)
def test_people_between_two_ranges_are_a_group(tmp_path, inner, outer):
    rows = ["0-17;F;9", "0-17;M;12", f"{inner};F;18", f"{inner};M;14", f"{outer};F;21"]
    text = "\n".join(["age;sex;count", *rows, f"{outer};M;19"]) + "\n"
    assert judge(write(tmp_path, text), 1, below=5)[0] == "exceeded"
    safe = text.replace(";F;21", ";F;41").replace(";M;19", ";M;39")
    assert judge(write(tmp_path, safe), 1, below=5)[0] == "met"


def test_ranges_with_a_total_are_no_contradiction(tmp_path):
    rows = "0-14,F,9\n0-14,M,12\n0-17,F,32\n0-17,M,38\n18+,F,21\n18+,M,19\nTotal,F,53\nTotal,M,57\n"
    assert judge(write(tmp_path, "age,sex,count\n" + rows), 1, below=5)[0] == "met"


def test_chapters_of_a_classification_hold_their_codes(tmp_path):
    rows = "Total,8\nC00-C97,x\nC18,x\nC50,x\nI00-I99,x\nI21,x\nI63,x\n"
    path = write(tmp_path, "icd,count\n" + rows)
    assert judge(path, 1, below=5, no_zeros=True)[0] == "exceeded"


def test_ranges_whose_numbers_do_not_agree_are_asked_for(tmp_path):
    path = write(tmp_path, "age,count\n0-9,20\n10-19,8\n0-19,11\n20+,30\n")
    verdict, left = judge(path, 1, below=5)
    assert (verdict, len(left)) == ("undeclared", 1)
    assert judge(path, 1, below=5, flat=["age"])[0] == "met"


def draw_ranges(rng):
    """Ranges of 0 to 11, some within others or across, people of each number, and what is told."""
    cuts = sorted(rng.sample(range(12), 3))
    spans = [(a, b - 1) for a, b in itertools.pairwise([0, *cuts, 12]) if a < b]
    spans += [tuple(sorted(rng.sample(range(12), 2))) for _ in range(rng.randint(1, 3))]
    spans = list(dict.fromkeys(spans))
    people = [rng.randint(0, 6) for _ in range(12)]
    rows = [(f"{a}-{b}" if a < b else f"{a}", range(a, b + 1)) for a, b in spans]
    rows.append(("Total", range(12)))
    told = [(label, some, sum(people[k] for k in some), rng.random() < 0.4) for label, some in rows]
    return [(label, some, count, hide and label != "Total") for label, some, count, hide in told]


@pytest.mark.repeats(25, 300, "seeds")
def test_limits_of_ranges_are_those_of_an_integer_program(tmp_path, seeds):
    compared = 0
    for seed in range(seeds):
        rows = draw_ranges(random.Random(seed))
        ends = {label: [some.start, some.stop] for label, some, *_ in rows[:-1] if len(some) > 1}
        touching = {some.stop - 1 for _, some, *_ in rows[:-1] if len(some) > 1} & {
            some.start for _, some, *_ in rows[:-1] if len(some) > 1
        }
        if touching or not ends:  # they are half-open
            continue
        body = [f"{label},{'x' if hidden else count}" for label, _, count, hidden in rows]
        path = write(tmp_path, "\n".join(["age,count", *body]) + "\n")
        tables = Publication(texts_tell_nothing=True).understand([path])
        if tables.unaccounted:
            continue
        audit = audit_tables(tables.cells, tables.structure)
        matrix = np.array([[float(k in some) for k in range(12)] for _, some, *_ in rows])
        low = [0 if hidden else count for *_, count, hidden in rows]
        high = [inf if hidden else count for *_, count, hidden in rows]
        for row, found in zip(matrix, audit.cells, strict=True):
            expected = [
                round(sign * milp(
                    sign * row, constraints=LinearConstraint(matrix, low, high),
                    integrality=np.ones(12), bounds=Bounds(0, inf),
                ).fun)
                for sign in (1, -1)
            ]  # fmt: skip
            assert [found.low, found.high] == expected, path.read_text()
            compared += 1
    assert compared > seeds
