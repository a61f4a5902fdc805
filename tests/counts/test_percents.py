"""Percentages: of which counts they are, with hidden wholes, and what no declaration hides."""

import itertools

import numpy as np
import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.errors import InputError

from .test_layouts import conclude, limits, write

HIDDEN_TOTAL = "area,count,percent\nA,x,10.5\nB,x,31.6\nC,20,52.6\nD,2,5.3\n"


@pytest.mark.parametrize("total", ["", "Total,x,100\n", "Total,,\n"])
def test_a_share_of_a_total_that_is_not_printed_limits_counts(tmp_path, total):
    path = write(tmp_path, HIDDEN_TOTAL + total)
    found, _ = limits(path, flat=["area"])
    assert found[:2] == [(4, 4), (12, 12)]
    with pytest.raises(InputError, match="tells hidden counts"):
        Publication(texts_tell_nothing=True, flat=["area"], irrelevant=["percent"]).understand(
            [path]
        )


def rounded(part, whole, places):
    unit = 10**places
    return int(np.floor(100 * part / whole * unit + 0.5)) / unit


@pytest.mark.repeats(8, 200, "seeds")
def test_limits_by_hidden_wholes_are_those_of_all_data_sets(tmp_path, seeds):
    """Three labels, percentages beside marks and a hidden total: all data sets up to 40 people."""
    every = np.array(list(itertools.product(range(26), repeat=3)))
    for seed in range(seeds):
        rng = np.random.default_rng([3, seed])
        counts = rng.integers(1, 9, 3)
        places = int(rng.integers(0, 2))
        shares = [rounded(n, counts.sum(), places) for n in counts]
        hidden = rng.random(3) < 0.6
        rows = [
            f"{label},{'x' if is_hidden else n},{share:.{places}f}"
            for label, n, is_hidden, share in zip("pqr", counts, hidden, shares, strict=True)
        ]
        text = "\n".join(["a,count,percent", *rows, "Total,x,100"]) + "\n"
        given = {"mark": ["x=below:26"], "flat": ["a"], "percent": ["percent=a"]}
        totals = every.sum(axis=1)
        is_near = np.abs(100 * every - np.array(shares) * totals[:, None]) <= (
            (0.5 / 10**places + 1e-9) * totals[:, None]
        )
        is_same = (every == counts) | hidden
        alike = every[(is_near & is_same).all(axis=1) & (totals > 0) & (totals < 26)]
        tables = Publication(texts_tell_nothing=True, **given).understand([write(tmp_path, text)])
        audit = audit_tables(tables.cells, tables.structure)
        got = {one.cell.labels["a"]: (one.low, one.high) for one in audit.cells if one.cell.labels}
        for at, label in enumerate("pqr"):
            assert got[label] == (alike[:, at].min(), alike[:, at].max()), f"seed {seed}\n{text}"


def test_of_what_they_are_percentages_is_asked_where_it_is_open(tmp_path):
    path = write(tmp_path, "sex,count,percent\nF,x,35.7\nM,9,\nO,x,\n*,x,\n")
    verdict, tables = conclude(path, 1)
    assert verdict == "undeclared"
    assert "`--percent percent=sex`" in tables.unaccounted[0].declaration
    verdict, tables = conclude(path, 1, percent=["percent=sex"], flat=["sex"])
    assert not tables.unaccounted
    assert tables.cells[0].share.whole == {}


def test_a_declared_margin_that_no_counts_agree_with_is_refused(tmp_path):
    path = write(tmp_path, "sex,count,percent\nF,30,35.7\nM,9,64.3\nTotal,39,100\n")
    with pytest.raises(InputError, match="no counts agree with percentages"):
        Publication(texts_tell_nothing=True, percent=["percent=sex"]).understand([path])


def test_shares_of_people_with_none_of_the_labels_are_asked_for(tmp_path):
    text = "area,count,percent\nA,x,10.0\nB,x,20.0\nC,20,40.0\nD,10,20.0\n"
    path = write(tmp_path, text)
    verdict, tables = conclude(path, 1, flat=["area"])
    assert verdict == "undeclared"
    assert "`--others area`" in tables.unaccounted[0].declaration
    with pytest.raises(InputError, match="tells hidden counts"):
        Publication(texts_tell_nothing=True, flat=["area"], irrelevant=["percent"]).understand(
            [path]
        )
    assert limits(path, flat=["area"], others=["area"])[0] == [(5, 5), (10, 10)]


def test_shares_in_a_wide_table_limit_counts(tmp_path):
    text = "area,F,M,F %\nN,x,x,36\nS,x,x,50\nTotal,30,40,43\n"
    path = write(tmp_path, text)
    found, tables = limits(path, across=["t.csv=sex"])
    assert max(high - low for low, high in found) <= 4  # without percentages, 30
    assert not tables.unaccounted
    shown = "area,F,M,F %\nN,x,x,36\nS,7,7,50\nTotal,x,x,43\n"
    with pytest.raises(InputError, match="tells hidden counts"):
        Publication(texts_tell_nothing=True, across=["u.csv=sex"], irrelevant=["F %"]).understand(
            [write(tmp_path, shown, "u.csv")]
        )


@pytest.mark.parametrize("places", [0, 2, 3, 4, 5, 6])
def test_rates_of_other_people_limit_counts_whatever_they_are_per(tmp_path, places):
    """Per person, 100, 1,000, ..., a million: with as many figures of each."""
    rows = [("A", 90_000, 1_000_000, 0.09), ("B", 72_000, 900_000, 0.08), ("C", "x", 800_000, 1e-5)]
    text = "area,count,population,rate\n" + "".join(
        f"{area},{count},{people},{share * 10**places:.{7 - places}f}\n"
        for area, count, people, share in rows
    )
    found, tables = limits(write(tmp_path, text), flat=["area"], below=10)
    assert not tables.unaccounted
    assert found == [(8, 8)]


COUNTS = [12, 40, None, 77, 105, 33, None, 51, 64]


@pytest.mark.parametrize(
    "values",
    [
        [12, 40, 3, 77, 105, 33, 9, 51, 64],  # the counts themselves
        [24, 80, 6, 154, 210, 66, 18, 102, 128],
        ["10-19", "20-49", "1-4", "50-99", "100-199", "20-49", "5-9", "50-99", "50-99"],
        [7, 5, 9, 2, 1, 6, 8, 4, 3],  # ranks
    ],
)
@pytest.mark.parametrize("option", ["irrelevant", "code", "dimension"])
def test_a_column_that_tells_counts_is_never_left_out(tmp_path, values, option):
    rows = zip("ABCDEFGHI", COUNTS, values, strict=True)
    lines = [f"{label},{'x' if n is None else n},{value}" for label, n, value in rows]
    path = write(tmp_path, "\n".join(["area,count,more", *lines]) + "\n")
    with pytest.raises(InputError, match=f"declared by `--{option}`, and tells hidden counts"):
        Publication(texts_tell_nothing=True, flat=["area"], **{option: ["more"]}).understand([path])


@pytest.mark.parametrize("seed", range(5))
def test_a_column_of_chance_may_be_left_out(tmp_path, seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([*map(str, rng.integers(1, 200, 9)), "see page 3", ""], 9)
    rows = zip("ABCDEFGHI", COUNTS, values, strict=True)
    lines = [f"{label},{'x' if n is None else n},{value}" for label, n, value in rows]
    path = write(tmp_path, "\n".join(["area,count,more", *lines]) + "\n")
    assert conclude(path, 1, flat=["area"], irrelevant=["more"])[0] == "met"


def grouped(rng, *, is_hidden=False, missing=()):
    """Return a table of areas in two groups, by sex, with percentages of all areas."""
    tree = {"North": ["Alba", "Brixen"], "South": ["Cadiz", "Delft", "Essen"]}
    lines = []
    for sex in "FM":
        finest = {area: int(rng.integers(40, 200)) for some in tree.values() for area in some}
        sums = {group: sum(finest[area] for area in some) for group, some in tree.items()}
        total = sum(finest.values())
        for area, n in {"Total": total, **sums, **finest}.items():
            shown = "x" if is_hidden and (area, sex) in (("Cadiz", "F"), ("Delft", "F")) else n
            if area not in missing:
                lines.append(f"{area},{sex},{shown},{rounded(n, total, 1):.1f}")
    named = [f"area:{group}={','.join(some)}" for group, some in tree.items()]
    return "\n".join(["area,sex,count,percent", *lines]) + "\n", named


@pytest.mark.parametrize("is_declared", [False, True])
@pytest.mark.parametrize("is_hidden", [False, True])
@pytest.mark.parametrize("missing", [(), ("Total",)])
def test_only_finest_labels_sum_to_a_whole(tmp_path, is_declared, is_hidden, missing):
    text, tree = grouped(np.random.default_rng(7), is_hidden=is_hidden, missing=missing)
    given = {"mark": ["x=any"], "percent": ["percent=area"], "below": 5, "texts_tell_nothing": True}
    given |= {"hierarchy": tree} if is_declared or (missing and is_hidden) else {}
    tables = Publication(**given).understand([write(tmp_path, text)])
    assert not tables.unaccounted
    hidden = [one for one in audit_tables(tables.cells, tables.structure).cells if one.is_hidden]
    assert len(hidden) == 2 * is_hidden
    assert all(one.width < 3 for one in hidden)


def test_a_printed_total_is_the_whole_where_rows_are_left_out(tmp_path):
    full = "area,count\nBrixen,8\nDelft,10\nGenua,10\nFaro,17\nAlba,13\nTotal,58\n"
    some = "area,count,percent\nTotal,58,100.0\nDelft,10,17.2\nFaro,x,29.3\n"
    paths = [write(tmp_path, full, "t0.csv"), write(tmp_path, some, "t1.csv")]
    given = {"mark": ["x=any"], "below": 5, "percent": ["t1.csv:percent=area"]}
    tables = Publication(texts_tell_nothing=True, **given).understand(paths)
    assert not tables.unaccounted
    assert [cell.share.whole for cell in tables.cells if cell.share] == [{}, {}]
