"""Flags beside counts: those that follow from the counts wait, those of other things do not."""

import random

import pytest

from narcissus.counts.declared import Publication

AREAS = ("Alm", "Birk", "Cory", "Dell", "Esk", "Fenn", "Gorse", "Holm", "Inch", "Jarrow")
TELLING = {
    "small": lambda n: "e" if n < 4 else "p",
    "parity": lambda n: "ab"[n % 2],
    "third": lambda n: "abc"[n % 3],
    "seventh": lambda n: "abcdefg"[n % 7],
    "small and large": lambda n: "*" if n < 4 or n > 50 else "",
    "size": lambda n: "abc"[(n > 3) + (n > 40)],
}


def write_table(path, flag_of, rng, column="flag"):
    """Write a table whose two smallest counts, 3 and 4, are hidden, with a flag in each row."""
    ill = [3, 4, *rng.sample(range(6, 90), 8)]
    rows = []
    for area, count in zip(AREAS, ill, strict=True):
        healthy = rng.randint(20, 99)
        rows += [(area, "yes", count), (area, "no", healthy)]
    for each in ("yes", "no"):
        rows.append(("Total", each, sum(n for _, status, n in rows if status == each)))
    lines = [f"area,ill,count,{column}"]
    for area, status, n in rows:
        is_hidden = area in AREAS[:2] and status == "yes"
        lines.append(f"{area},{status},{'x' if is_hidden else n},{flag_of(n)}")
    path.write_text("\n".join(lines) + "\n")
    return path


def understand(path):
    return Publication(below=5, texts_tell_nothing=True).understand([path])


def waits(tables, column):
    return any(f"`{column}`" in question.subject for question in tables.unaccounted)


@pytest.mark.parametrize("way", TELLING)
@pytest.mark.parametrize("seed", range(4))
def test_flags_that_follow_from_the_counts_wait(tmp_path, way, seed):
    path = write_table(tmp_path / "t.csv", TELLING[way], random.Random(seed))
    assert waits(understand(path), "flag")


def test_flags_of_other_things_are_assumed_to_say_nothing(tmp_path):
    asked = conditions = 0
    for seed in range(40):
        rng = random.Random(seed)
        path = write_table(tmp_path / f"{seed}.csv", lambda _, r=rng: r.choice("pprr"), rng)
        tables = understand(path)
        asked += waits(tables, "flag")
        conditions += any("flags of `flag`" in each for each in tables.takes_as_given)
    assert asked <= 2
    assert 12 <= asked + conditions < 40  # the rest has one flag beside both hidden counts


CODES = {
    "count": lambda n, rank: f"R{n:03d}",
    "more than the count": lambda n, rank: f"{100 + n}",
    "long code": lambda n, rank: f"E{7000011 + n:08d}",
    "rank": lambda n, rank: f"D{rank}",
}


@pytest.mark.parametrize("way", CODES)
@pytest.mark.parametrize("column", ["code", "area_code"])
@pytest.mark.parametrize("total", ["", "TOT"])
def test_codes_that_follow_from_the_counts_of_a_row_wait(tmp_path, way, column, total):
    path = write_table(tmp_path / "t.csv", str, random.Random(1), column)
    rows = [row.split(",") for row in path.read_text().splitlines()]
    ill = {row[0]: int(row[3]) for row in rows if row[1] == "yes" and row[0] != "Total"}
    ranks = {area: 1 + sorted(ill.values()).index(count) for area, count in ill.items()}
    for row in rows[1:]:
        row[3] = total if row[0] == "Total" else CODES[way](ill[row[0]], ranks[row[0]])
    path.write_text("\n".join(map(",".join, rows)) + "\n")
    assert waits(understand(path), column)


def test_codes_of_areas_do_not_wait(tmp_path):
    rng = random.Random(2)
    asked = 0
    for seed in range(40):
        codes = iter(random.Random(seed).sample(range(100), 60))
        of_area = {}
        path = write_table(tmp_path / f"{seed}.csv", lambda _: "", rng, "area_code")
        rows = [row.split(",") for row in path.read_text().splitlines()]
        for row in rows[1:]:
            code = of_area.setdefault(row[0], f"R{next(codes):02d}")
            row[3] = "TOT" if row[0] == "Total" else code
        path.write_text("\n".join(map(",".join, rows)) + "\n")
        asked += waits(understand(path), "area_code")
    assert asked == 0
