"""Labels in the order of their counts tell each hidden one by its neighbours."""

import random

import pytest

from narcissus.counts import Publication

from .test_layouts import write

AGES = ["35-44", "45-54", "25-34", "55-64", "18-24", "65-74", "75-84", "10-17", "0-9", "85+"]
SORTED = [220, 164, 137, 120, 91, "x", 91, 55, "x", 12]


def ask(path, **given):
    asked = Publication(texts_tell_nothing=True, **given).understand([path]).unaccounted
    return [one for one in asked if one.subject.startswith("the order")]


def long(labels, counts):
    rows = [f"{label},{count}" for label, count in zip(labels, counts, strict=True)]
    return "\n".join(["age,count", *rows, "Total,1000"]) + "\n"


@pytest.mark.parametrize("counts", [SORTED, SORTED[::-1]])
def test_rows_in_the_order_of_their_counts_are_asked_about(tmp_path, counts):
    assert ask(write(tmp_path, long(AGES, counts)))
    wide = "area," + ",".join(AGES) + "\nAlba," + ",".join(map(str, counts)) + "\n"
    assert ask(write(tmp_path, wide), across=["t.csv=age"])


def test_rows_by_name_range_or_chance_are_not(tmp_path):
    rng = random.Random(2)
    in_order = sorted(AGES, key=lambda label: int(label.split("-")[0].rstrip("+")))
    assert not ask(write(tmp_path, long(in_order, SORTED)))
    assert not ask(write(tmp_path, long("abcdefghij", SORTED)))
    for _ in range(20):
        counts = [*SORTED]
        rng.shuffle(counts)
        assert not ask(write(tmp_path, long(AGES, counts)))
