"""Suppression and rounding together, held to every data set that prints the very same tables."""

import csv
import itertools
from functools import cache

import numpy as np
import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.errors import InputError

ROWS, COLUMNS = ("North", "South"), ("ill", "well")


def sums(finest):
    """All counts of a table of 2 by 2 with its margins, of vectors of finest counts."""
    a, b, c, d = np.asarray(finest).T
    return np.stack([a, b, a + b, c, d, c + d, a + c, b + d, a + b + c + d], axis=-1)


def printed(counts, below, base):
    """What a publisher prints who marks small counts, and rounds the others half up."""
    near = base * ((2 * counts + base) // (2 * base))
    return np.where((counts > 0) & (counts < below), -1, near)


def audited(folder, shown, below, base):
    labels = [(row, column) for row in (*ROWS, "*") for column in (*COLUMNS, "*")]
    with (folder / "t.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["area", "state", "count"])
        out.writerows([*about, "x" if n < 0 else n] for about, n in zip(labels, shown, strict=True))
    declared = Publication(texts_tell_nothing=True, below=below, rounded=str(base), no_zeros=True)
    return audit_tables(declared.read([folder / "t.csv"]), declared.structure).cells


@cache
def every_table():
    """All tables of finest counts below 20."""
    return sums(list(itertools.product(range(20), repeat=4)))


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.one_in(2)
def test_an_unmarked_number_is_not_a_small_one(seed, tmp_path):
    rng = np.random.default_rng(seed)
    below, base = int(rng.integers(2, 7)), int(rng.choice([2, 3, 4, 5, 10]))
    finest = rng.multinomial(int(rng.integers(0, 15)), rng.dirichlet(np.full(4, 0.7)))
    shown = printed(sums(finest), below, base)
    if (shown >= 0).all():
        pytest.skip("nothing is marked")
    every = every_table()
    is_small = (every > 0) & (every < below)
    is_near = 2 * np.abs(every - shown) <= base  # a half may go either way
    alike = every[np.where(shown < 0, is_small, ~is_small & is_near).all(axis=1)]
    for cell, low, high in zip(
        audited(tmp_path, shown, below, base), alike.min(axis=0), alike.max(axis=0), strict=True
    ):
        assert cell.low <= low <= high <= cell.high
        assert (cell.low, cell.high) == (low, high) or not cell.exact
        assert cell.exact, (cell, low, high)


@pytest.mark.parametrize("base", [2, 3, 5, 10])
@pytest.mark.parametrize("option", ["below", "mark"])
def test_a_declared_mark_tells_of_numbers_whether_it_occurs_or_not(tmp_path, base, option):
    """A file that happens to hide nothing, and the same with one row more that does."""
    given = {"below": {"below": base}, "mark": {"mark": [f"c=below:{base}"]}}[option]
    rows = f"Alba,{base},{4 * base}\nBerta,{6 * base},{7 * base}\n"
    found = []
    note = f"Counts below {base} are shown as x.\n\n" * (option == "below")
    for name, more in (("none", ""), ("one", f"Cora,{'x' if option == 'below' else 'c'},{base}\n")):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"{note}area,F,M\n{rows}{more}")
        declared = Publication(texts_tell_nothing=True, rounded=str(base), flat=["area"], **given)
        read = declared.understand([path])
        found.append({(c.labels["area"], c.labels["sex"]): c.count for c in read.cells})
    assert found[0]["Alba", "F"].low == base
    assert all(found[1][about] == count for about, count in found[0].items())


@pytest.mark.parametrize(
    "note",
    [
        "Counts below 3 are shown as x. Counts are rounded to the nearest 3.",
        "Counts are rounded to the nearest 3",
        "x: fewer than 3",
    ],
)
def test_a_note_of_the_declared_rule_is_understood_where_no_mark_occurs(tmp_path, note):
    path = tmp_path / "t.csv"
    path.write_text(f"{note}\n\narea,F,M,Total\nAlba,15,3,18\nBerta,30,36,66\nTotal,45,39,84\n")
    questions = Publication(below=3, rounded="3").understand([path]).unaccounted
    assert not {q.subject for q in questions} - {"rounded numbers without a mark"}
    assert bool(questions) == ("below" not in note and "fewer" not in note)
    if "rounded" in note:
        assert Publication(below=3).understand([path]).unaccounted


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("random", [False, True])
@pytest.mark.one_in(4)
def test_rounded_numbers_without_marks_keep_their_people(seed, random, tmp_path):
    """A publisher who rounds all counts marks none: `--below` says how few are a small group."""
    rng = np.random.default_rng(seed)
    below, base = int(rng.integers(2, 7)), int(rng.choice([3, 5, 10]))
    counts = sums(rng.multinomial(int(rng.integers(1, 30)), rng.dirichlet(np.full(4, 0.7))))
    up = rng.random(9) * base < counts % base if random else 2 * (counts % base) >= base
    shown = counts // base * base + base * up
    labels = [(row, column) for row in (*ROWS, "*") for column in (*COLUMNS, "*")]
    lines = [f"{row},{column},{n}" for (row, column), n in zip(labels, shown, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["area,state,count", *lines]) + "\n")
    given = {"below": below, "rounded": f"{'random:' * random}{base}", "texts_tell_nothing": True}
    for more in ({}, {"no_marks": True}):
        read = Publication(**given, **more).understand([tmp_path / "t.csv"])
        cells = audit_tables(*read.sure).cells
        for cell, count in zip(cells, counts.tolist(), strict=True):
            assert cell.low <= count <= cell.high
        if more:
            assert not any("mark" in question.subject for question in read.unaccounted)


def test_marks_that_occur_are_not_declared_away(tmp_path):
    (tmp_path / "t.csv").write_text("area,F,M\nAlba,x,10\nBerta,20,30\n")
    with pytest.raises(InputError, match="a count has a mark"):
        Publication(below=5, rounded="5", no_marks=True).understand([tmp_path / "t.csv"])
    (tmp_path / "t.csv").write_text("area,F,M\nAlba,5,10\nBerta,20,30\n")
    with pytest.raises(InputError, match="a count has a mark"):
        Publication(below=5, mark=["x=any"], no_marks=True).understand([tmp_path / "t.csv"])
