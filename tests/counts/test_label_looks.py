"""Looks of flags and labels: those that follow from the counts wait, those of names do not."""

import random

import pytest

from narcissus.counts.declared import Publication

AREAS = (
    *("Alm", "Birk", "Cory", "Dell", "Esk", "Fenn", "Gorse", "Holm", "Inch", "Jarrow", "Kilm"),
    *("Lorn", "Merse", "Nairn", "Ogil", "Perth"),
)
RULES = {
    "small": lambda n: n < 4,
    "parity": lambda n: n % 2 == 1,
    "third": lambda n: n % 3 == 0,
    "size": lambda n: n > 40 or n < 4,
}
LOOKS = {
    "capitals": str.upper,
    "small letters": str.lower,
    "quotes": '"{}"'.format,
    "blank behind": "{} ".format,
}


def write_table(path, rng, *, label=None, flag=None):
    """Write a table whose two smallest counts, 3 and 4, are hidden; change labels and flags."""
    ill = [3, 4, *rng.sample(range(6, 90), len(AREAS) - 2)]
    lines = ["area,ill,count" + ",flag" * bool(flag)]
    sums = {"yes": sum(ill), "no": 0}
    for area, count in zip(AREAS, ill, strict=True):
        healthy = rng.randint(20, 99)
        sums["no"] += healthy
        text = label(area, count) if label else area
        for each, number in (("yes", count), ("no", healthy)):
            printed = "x" if number < 5 else number
            lines.append(f"{text},{each},{printed}" + (f",{flag(number)}" if flag else ""))
    lines += [f"TOTAL,{each},{n}" + (f",{flag(n)}" if flag else "") for each, n in sums.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def waits(path):
    tables = Publication(below=5).understand([path])
    return any("wording" in question.subject for question in tables.unaccounted)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("look", LOOKS)
def test_looks_of_labels_that_follow_from_the_counts_wait(tmp_path, look, rule):
    def change(area, n):
        return LOOKS[look](area) if RULES[rule](n) else area

    assert waits(write_table(tmp_path / "t.csv", random.Random(look + rule), label=change))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("look", sorted({*LOOKS, "brackets"} - {"small letters"}))
def test_looks_of_one_flag_wait(tmp_path, look, rule):
    change = {**LOOKS, "brackets": "[{}]".format}[look]
    path = write_table(
        tmp_path / "t.csv",
        random.Random(look + rule),
        flag=lambda n: change("p") if RULES[rule](n) else "p",
    )
    assert waits(path)


def test_blanks_in_place_of_no_flag_wait(tmp_path):
    rng = random.Random(1)
    path = write_table(tmp_path / "t.csv", rng, flag=lambda n: " " if n == 3 else "")
    assert waits(path)


@pytest.mark.parametrize("look", LOOKS)
def test_random_looks_of_labels_do_not_wait(tmp_path, look):
    asked = 0
    for seed in range(40):
        rng = random.Random(seed)
        changed = {area: rng.random() < 0.5 for area in AREAS}
        path = write_table(
            tmp_path / "t.csv",
            rng,
            label=lambda area, _, c=changed: LOOKS[look](area) if c[area] else area,
        )
        asked += waits(path)
    assert asked <= 2


@pytest.mark.parametrize("capital", [(), AREAS[5:6], AREAS[:2], AREAS])
def test_ordinary_labels_do_not_wait(tmp_path, capital):
    path = write_table(
        tmp_path / "t.csv",
        random.Random(2),
        label=lambda area, _: area.upper() if area in capital else area,
    )
    assert not waits(path)


def test_labels_in_capitals_where_six_printed_counts_are_odd_wait(tmp_path):
    ill = {"ALM": 3, "Birk": 4, "CORY": 9, "Dell": 12, "ESK": 17, "Fenn": 8, "GARN": 23, "HOLM": 15}
    lines = [f"{area},{'x' if n < 5 else n}" for area, n in ill.items()]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["area,count", f"Total,{sum(ill.values())}", *lines]) + "\n")
    assert waits(path)
    path.write_text(path.read_text().title().replace("Area,Count", "area,count").replace("X", "x"))
    assert not waits(path)
