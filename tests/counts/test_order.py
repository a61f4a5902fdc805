"""Labels in the order of their counts tell each hidden one by its neighbours."""

import random

import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.errors import InputError

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


CAUSES = {"Cancer": (395, 410), "Heart": (360, 300), "Stroke": (110, 130), "Falls": None,
          "Sepsis": (50, 38), "Flu": (30, 50), "Asthma": None, "Measles": (16, 48),
          "Ulcer": (22, 10)}  # fmt: skip
"""In the order of their sums, and neither of women's numbers nor of men's."""


def causes(*, transposed=False, rows=None):
    names = [*(rows or CAUSES), "Total"]
    ends = {"Total": (1048, 1083)}
    each = {n: (*c, sum(c)) if (c := (CAUSES | ends)[n]) else ("x",) * 3 for n in names}
    if transposed:
        lines = [[sex, *(each[n][k] for n in names)]
                 for k, sex in enumerate(["Women", "Men", "Total"])]  # fmt: skip
        return "\n".join(",".join(map(str, row)) for row in [["Sex", *names], *lines]) + "\n"
    lines = [[n, *each[n]] for n in names]
    head = ["Cause", "Women", "Men", "Total"]
    return "\n".join(",".join(map(str, row)) for row in [head, *lines]) + "\n"


@pytest.mark.repeats(3, 10, "draws")
@pytest.mark.parametrize("transposed", [False, True])
def test_rows_in_the_order_of_their_totals_are_asked_about(tmp_path, transposed, draws):
    given = {"across": [f"t.csv={'Cause' if transposed else 'Sex'}"]}
    assert ask(write(tmp_path, causes(transposed=transposed)), **given)
    rng = random.Random(4)
    for _ in range(draws):
        rows = rng.sample(list(CAUSES), len(CAUSES))
        if rows != list(CAUSES):
            assert not ask(write(tmp_path, causes(transposed=transposed, rows=rows)), **given)


def blocks(rng, *, is_sorted, groups=False):
    """Six regions of five occupations, of which two are hidden, each in an order of its own."""
    lines = []
    for region in ["North", "South", "East", "West", "Centre", "Coast"]:
        counts = [rng.randint(40, 400) for _ in range(5)]
        counts = sorted(counts, reverse=True) if is_sorted else counts
        jobs = rng.sample(["Nurses", "Drivers", "Cooks", "Clerks", "Bakers"], 5)
        jobs = [f"{job} of {region}" for job in jobs] if groups else jobs
        shown = [n if k not in (1, 3) else "x" for k, n in enumerate(counts)]
        head = [] if groups else [(region, "Total", sum(counts))]
        lines += [f"{region},{j},{n}" for j, n in zip(jobs, shown, strict=True)]
        lines += [",".join(map(str, row)) for row in head]
    return "\n".join(["region,job,count", *lines]) + "\n"


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.one_in(2)
def test_chances_of_blocks_are_multiplied(tmp_path, seed):
    """Three printed numbers are in order in one of three blocks, and in six of six by a rule."""
    rng = random.Random(seed)
    assert ask(write(tmp_path, blocks(rng, is_sorted=True)))
    assert not ask(write(tmp_path, blocks(rng, is_sorted=False)))


def test_parts_of_groups_are_sequences_of_their_own(tmp_path):
    rng = random.Random(1)
    rows, tree = [], []
    for at, region in enumerate("PQRSTU"):
        counts = sorted(rng.sample(range(20, 90), 4), reverse=True)
        names = rng.sample([f"{region}{k}z" for k in "kmno"], 4)
        shown = [counts[0], "x", *counts[2:]]
        rows += [f"{region}{region},{sum(counts)}"]
        rows += [f"{name},{n}" for name, n in zip(names, shown, strict=True)]
        tree.append(f"area:{region}{region}={','.join(names)}")
        rng.shuffle(rows) if at < 0 else None
    text = "\n".join(["area,count", *rows]) + "\n"
    assert ask(write(tmp_path, text), hierarchy=tree, flat=["area"])


def test_a_declared_order_limits_hidden_cells_or_is_a_premise(tmp_path):
    path = write(tmp_path, causes())
    given = {"texts_tell_nothing": True, "mark": ["x=any"], "flat": ["Cause"],
             "across": ["t.csv=Sex"]}  # fmt: skip
    read = Publication(**given, order=["t.csv=count"]).understand([path])
    assert not read.unaccounted
    found = {
        tuple(one.cell.labels.values()): (one.low, one.high)
        for one in audit_tables(read.cells, read.structure).cells
    }
    # 162 are left for both: from 64 to 80 with asthma, and from 88 to 240 by falls
    assert found["Falls",] == (88, 98)
    assert found["Asthma",] == (64, 74)
    other = Publication(**given, order=["t.csv=other"])
    read = other.understand([path])
    assert not read.unaccounted
    assert not read.structure.ordered
    assert "the order of labels in t.csv tells nothing of counts" in other.takes_as_given


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("t.csv=count", "its printed numbers are in no order"),
        ("u.csv=other", "no table is named"),
        ("t.csv=size", "FILE=count or FILE=other"),
    ],
)
def test_a_declared_order_that_is_not_there_is_refused(tmp_path, order, said):
    path = write(tmp_path, long("abcdefghij", [*SORTED[:2], *SORTED[:1:-1]]))
    with pytest.raises(InputError, match=said):
        Publication(texts_tell_nothing=True, order=[order]).understand([path])


SHORT = {
    "Lindau,25 Essen,15 Faro,13 Delft,10 Brixen,c Genua,9 Aitrang,x": {"Brixen": (9, 10)},
    "Essen,15 Delft,9 Brixen,c Faro,9 Aitrang,x": {"Brixen": (9, 9)},
    "Essen,15 Delft,12 Brixen,12 Faro,c Cadiz,7": {"Faro": (7, 12)},
    "Essen,20 Brixen,c Delft,10": {"Brixen": (10, 20)},
    "Essen,9 Brixen,c Delft,9": {"Brixen": (9, 9)},
    "Essen,c Brixen,12 Delft,9": {"Essen": (12, None)},
}
"""Numbers in order that five or fewer are, by chance often; what a declared order says."""


def short(rows):
    return "\n".join(["area,count", *rows.split()]) + "\n"


@pytest.mark.parametrize(("rows", "expected"), SHORT.items())
def test_a_declared_order_of_few_numbers_limits_them(tmp_path, rows, expected):
    path, given = write(tmp_path, short(rows)), {"mark": ["c=any"], "flat": ["area"], "below": 5}
    assert not ask(path, **given)
    read = Publication(**given, order=["t.csv=count"]).understand([path])
    limits = {
        one.cell.labels["area"]: (one.low, one.high)
        for one in audit_tables(read.cells, read.structure).cells
        if one.cell.labels["area"] in expected
    }
    assert limits == expected


@pytest.mark.parametrize("rows", SHORT)
def test_numbers_in_order_that_chance_explains_are_a_premise(tmp_path, rows):
    """Three printed numbers or more: the verdict names that their order tells nothing."""
    path, given = write(tmp_path, short(rows)), {"mark": ["c=any"], "flat": ["area"], "below": 5}
    premise = "the order of labels in t.csv tells nothing of counts"
    is_named = sum(row.split(",")[1].isdigit() for row in rows.split()) > 2
    assert (premise in Publication(**given).understand([path]).takes_as_given) == is_named
    for order in ("count", "other"):
        read = Publication(**given, order=[f"t.csv={order}"]).understand([path])
        assert premise not in read.takes_as_given
    other = write(tmp_path, short("Essen,9 Brixen,c Delft,12 Faro,7 Genua,8"))
    assert premise not in Publication(**given).understand([other]).takes_as_given
    full = write(tmp_path, short("Essen,15 Delft,9 Brixen,8 Faro,7"))
    assert premise not in Publication(**given).understand([full]).takes_as_given


def test_a_declared_order_of_rows_is_none_of_two_columns(tmp_path):
    """Men are more than women in all printed rows; hidden women may be more."""
    text = "area,M,F\nEssen,40,30\nAlba,30,c\nDelft,20,15\nCadiz,12,c\n"
    given = {"mark": ["c=any"], "flat": ["area"], "across": ["t.csv=sex"], "order": ["t.csv=count"]}
    read = Publication(**given).understand([write(tmp_path, text)])
    assert len(read.structure.ordered) == 6
    labels = {(cell.file, cell.line, cell.column): cell.labels["sex"] for cell in read.cells}
    assert all(labels[one] == labels[other] for one, other in read.structure.ordered)
