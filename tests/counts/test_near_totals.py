"""Totals that hold people with none of the labels, and totals with slips, are asked for."""

import random

import pytest

from .test_layouts import conclude, write

W4 = "area,employed,unemployed,population\nA,120,33,155\nB,88,20,140\nC,301,12,420\nT,509,65,715\n"
W6 = "status,count\nemployed,509\nunemployed,65\npopulation,576\n"
W3 = "area,employed,unemployed,population\nA,120,x,190\nB,88,x,140\nC,301,12,420\nT,509,19,750\n"
S4 = (
    "area,Residents in all,Very good,Good,Fair,Bad\nE1,1473,812,447,160,54\nE2,1384,751,401,229,c\n"
    "E3,1613,963,560,c,88\nE5,1101,533,301,165,98\nE6,1844,948,642,170,84\n"
)
S2 = (
    "area,Residents in all,Very good,Good,Fair,Bad\nE1,1473,812,447,160,54\nE2,1384,751,401,c,c\n"
    "E3,1613,c,560,c,88\nE5,1101,533,c,165,c\nE6,1844,948,c,c,84\n"
)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (W4, "population"),
        (W4.replace("population", "Q"), "Q"),
        (W6, "population"),
        (W6.replace("population", "Q"), "Q"),
        (W3, "population"),
        (S4, "Residents in all"),
        (S4.replace("Residents in all", "Q"), "Q"),
        (S2, "Residents in all"),
        (S2.replace("Residents in all", "Q"), "Q"),
    ],
)
def test_a_total_of_more_people_or_with_a_slip_is_asked_for(tmp_path, text, whole):
    path = write(tmp_path, text)
    given = {"below": 5} if "count" in text else {"below": 5, "across": ["t.csv=kind"]}
    verdict, tables = conclude(path, 1, **given)
    assert verdict == "undeclared"
    assert any(f"--total {whole}" in q.declaration.replace('"', "") for q in tables.unaccounted)
    assert not conclude(path, 1, part=[whole], **given)[1].unaccounted


@pytest.mark.parametrize("seed", range(40))
def test_no_total_of_any_name_is_a_category_in_silence(tmp_path, seed):
    """A total with a few others in some rows, or with slips in a few, is never a part."""
    rng = random.Random(seed)
    many = rng.randint(2, 4)
    names = rng.sample(["Ambo", "Berol", "Calen", "Dorit", "Eskan"], many)
    rows = []
    for at in range(rng.randint(3, 6)):
        counts = [rng.randint(20, 900) for _ in names]
        others = rng.choice([0, 0, rng.randint(1, 9)]) if seed % 2 else (-4 if at == 1 else 0)
        rows.append([f"a{at}", *map(str, counts), str(sum(counts) + others)])
    order = [0, *rng.sample(range(1, many + 2), many + 1)]
    lines = [["area", *names, "Whole"], *rows]
    text = "\n".join(",".join(line[at] for at in order) for line in lines) + "\n"
    _, tables = conclude(write(tmp_path, text), 1, across=["t.csv=kind"])
    summed = tables.layouts[0].summed.get("kind", ())
    assert summed == ("Whole",) or any("--total Whole" in q.declaration for q in tables.unaccounted)


@pytest.mark.repeats(25, 60, "seeds")
def test_ordinary_tables_without_a_total_are_hardly_asked_for(tmp_path, seeds):
    """Labels of unlike sizes, drawn by themselves; one in ten tables may be asked for."""
    asked = 0
    for seed in range(seeds):
        rng = random.Random(seed)
        many = rng.randint(3, 7)
        scale = [rng.lognormvariate(5, 1) for _ in range(many)]
        rows = [
            [f"a{at}", *(str(round(size * rng.uniform(0.6, 1.6))) for size in scale)]
            for at in range(rng.randint(1, 5))
        ]
        names = [f"k{chr(97 + at)}" for at in range(many)]
        path = write(tmp_path, "\n".join(map(",".join, [["area", *names], *rows])) + "\n")
        _, tables = conclude(path, 1, across=["t.csv=kind"])
        asked += bool(tables.unaccounted)
    assert asked <= max(3, seeds // 10)


def test_a_printed_total_settles_that_a_large_label_is_a_part(tmp_path):
    path = write(tmp_path, "state,count\nhealthy,509\nill,400\nunknown,105\nTotal,1014\n")
    assert conclude(path, 1)[0] == "met"
