"""Labels that are sums of others: how much evidence there must be, counted by hand."""

from __future__ import annotations

import math
import re

import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.counts.marks import Meaning, Rules
from narcissus.counts.totals import ODDS, _LabelSums
from narcissus.errors import InputError

from .test_layouts import conclude, limits, write


def labels(*rows, is_open=False):
    """Give the labels of a dimension, with a row of numbers for each context.

    A number is printed exactly, or is a pair of its limits.
    """

    def meaning(number):
        low, high = number if isinstance(number, tuple) else (number, number)
        return Meaning(low, high, "exact" if low == high else "suppressed")

    contexts = {
        frozenset({("area", str(at))}): {label: meaning(number) for label, number in row.items()}
        for at, row in enumerate(rows)
    }
    return _LabelSums("t", "sex", contexts, Rules(), {}, is_open=is_open)


@pytest.mark.parametrize(("whole", "is_total"), [(2980, False), (3010, True)])
def test_a_sum_is_no_coincidence_at_odds_of_a_thousand_for_each_label(whole, is_total):
    """A number of 0 to n is the sum of two others by chance once in n + 1: of three labels."""
    assert (whole + 1 >= 3 * ODDS) == is_total
    sums = labels({"F": 1000, "M": whole - 1000, "x": whole})
    assert sums.total() == ("x" if is_total else None)


@pytest.mark.parametrize(("whole", "is_total"), [(50, False), (60, True)])
def test_the_evidence_of_rows_multiplies(whole, is_total):
    assert ((whole + 1) ** 2 >= 3 * ODDS) == is_total
    rows = [{"F": part, "M": whole - part, "x": whole} for part in (20, 7)]
    assert labels(*rows).total() == ("x" if is_total else None)


def test_a_row_that_contradicts_a_sum_decides_against_it():
    rows = [{"F": part, "M": 9_000 - part, "x": 9_000} for part in (20, 7)]
    assert labels(*rows).total() == "x"
    assert labels(*rows, {"F": 1, "M": 2, "x": 4}).total() is None
    assert labels(*rows, {"F": 1, "M": 2, "x": 4}, is_open=True).total() is None


@pytest.mark.parametrize(("hidden", "is_total"), [((1, 4), False), ((1, 2), True)])
def test_limits_of_hidden_parts_take_of_the_evidence(hidden, is_total):
    """Two hidden parts, each of k numbers, sum to 2 (k - 1) + 1 numbers: so often by chance."""
    whole, width = 10_000, 2 * (hidden[1] - hidden[0]) + 1
    assert ((whole + 1) / width >= 3 * ODDS) == is_total
    sums = labels({"F": hidden, "M": (whole - hidden[1], whole - hidden[0]), "x": whole})
    assert sums.total() == ("x" if is_total else None)
    assert math.isfinite(sums._weigh("x", ["F", "M"]))


PARTLY = "area,count\nNorth,12\nN1,x\nN2,8\nSouth,x\nS1,10\nS2,20\nTotal,42\n"


@pytest.mark.parametrize("names", [["North", "N1", "N2", "South"], ["Abo", "Ber", "Cel", "Dor"]])
def test_groups_that_are_partly_hidden_are_asked_for_with_an_example(tmp_path, names):
    text = PARTLY
    for old, new in zip(["North", "N1", "N2", "South"], names, strict=True):
        text = text.replace(f"\n{old},", f"\n{new},")
    path = write(tmp_path, text)
    verdict, tables = conclude(path, 1)
    assert verdict == "undeclared"
    north, one, two, south = names
    assert f"`--hierarchy area:{north}={one},{two}`" in tables.unaccounted[0].declaration
    given = [f"area:{north}={one},{two}", f"area:{south}=S1,S2"]
    found, tables = limits(path, hierarchy=given)
    assert found == [(4, 4), (30, 30)]
    assert not tables.unaccounted


def test_a_slip_that_no_groups_explain_is_refused(tmp_path):
    path = write(tmp_path, "area,count\nA,30\nB,9\nC,25\nTotal,24\n")
    tables = Publication(texts_tell_nothing=True).understand([path])
    with pytest.raises(InputError, match="contradict each other"):
        audit_tables(tables.cells, tables.structure)


@pytest.mark.parametrize("text", ["area:North=", "area:North=North,N1", "area"])
def test_a_hierarchy_that_is_not_understood(tmp_path, text):
    with pytest.raises(InputError, match="hierarchy"):
        Publication(texts_tell_nothing=True, hierarchy=[text]).understand([write(tmp_path, PARTLY)])


def test_a_group_that_sums_show_settles_no_other(tmp_path):
    """Xanti is Istrel and Berol; whether these hold the hidden labels is open, and decides."""
    rows = [
        *("K,Q,x", "K,P,17", "K,H,x", "K,E,30", "K,Xanti,70", "K,Berol,29", "K,Istrel,41"),
        *("Y,Q,20", "Y,P,2", "Y,H,16", "Y,E,30", "Y,Xanti,68", "Y,Berol,18", "Y,Istrel,50"),
        *("N,Q,x", "N,P,33", "N,H,36", "N,E,x", "N,Xanti,116", "N,Berol,69", "N,Istrel,47"),
    ]
    path = write(tmp_path, "\n".join(["u,v,count", *rows]) + "\n")
    verdict, tables = conclude(path, 1)
    assert verdict == "undeclared"
    assert "`v`" in tables.unaccounted[0].subject
    assert conclude(path, 1, total=["Xanti"])[0] == "exceeded"


AREAS = {"North": (43, 26), "Alba": (18, 12), "Berta": (25, 14), "South": (14, 34),
         "Cora": (6, 14), "Dora": (8, 20), "East": (50, 40)}  # fmt: skip
"""Women and men; North holds Alba and Berta, and South holds Cora and Dora."""


def areas(hidden, shown=tuple(AREAS), total=(140, 160)):
    """A table of some areas, of which some are hidden, and of more people than these."""
    rows = [
        f"{name},{sex},{'c' if name in hidden else n}"
        for name in shown
        for sex, n in zip("FM*", (*AREAS[name], sum(AREAS[name])), strict=True)
    ]
    ends = [f"*,{sex},{n}" for sex, n in zip("FM*", (*total, sum(total)), strict=True)]
    return "\n".join(["area,sex,count", *rows, *ends]) + "\n"


def understood(folder, text, **given):
    (folder / "t.csv").write_text(text)
    given = {"mark": ["c=any"], "texts_tell_nothing": True} | given
    return Publication(**given).understand([folder / "t.csv"])


@pytest.mark.parametrize("hidden", [["Cora"], ["Dora"], ["South"], ["Alba", "Cora"]])
@pytest.mark.parametrize(
    "shown", [("South", "Cora", "Dora"), ("South", "Cora", "Dora", "East"), tuple(AREAS)]
)
def test_people_with_none_of_the_labels_settle_no_group(tmp_path, hidden, shown):
    """`--others` says that there are more people, and not that no label holds others."""
    text = areas([name for name in hidden if name in shown], shown)
    if not set(hidden) & set(shown):
        return
    asked = understood(tmp_path, text, others=["area"]).unaccounted
    assert any("`area`" in one.subject for one in asked)
    tree = ["area:South=Cora,Dora"] + ["area:North=Alba,Berta"] * (len(shown) == 7)
    given = {"others": ["area"], "hierarchy": tree, "flat": ["area"]}
    assert not understood(tmp_path, text, **given).unaccounted


@pytest.mark.parametrize("shown", [("South", "Cora", "Dora"), ("Dora", "East", "Cora", "South")])
def test_the_example_of_groups_agrees_with_all_numbers(tmp_path, shown):
    read = understood(tmp_path, areas(["Cora"], shown[:3] + shown[3:]), others=["area"])
    [asked] = [one for one in read.unaccounted if "`area`" in one.subject]
    example = re.search(r"--hierarchy (area:[^`]+)`", asked.declaration)
    assert example is not None
    cells, structure = understood(
        tmp_path, areas(["Cora"], shown), others=["area"], hierarchy=[example[1]]
    ).sure
    assert audit_tables(cells, structure).cells


@pytest.mark.parametrize("declared", ["area:South=Cora,Dora", "area:North=Alba,Berta"])
def test_declared_groups_are_added_to_those_that_sums_show(tmp_path, declared):
    read = understood(tmp_path, areas([]), others=["area"], hierarchy=[declared])
    tree = read.structure.parents["area"]
    assert tree == {"Cora": "South", "Dora": "South", "Alba": "North", "Berta": "North"}


def test_a_group_that_no_declaration_names_is_asked_for(tmp_path):
    text = areas([], tuple(AREAS)[:6]).replace("North,F,43", "North,F,c")
    text = text.replace("North,*,69", "North,*,c")
    part = ["area:South=Cora,Dora"]
    asked = understood(tmp_path, text, others=["area"], hierarchy=part).unaccounted
    assert "--hierarchy area:North=Alba,Berta" in asked[0].declaration
    both = [*part, "area:North=Alba,Berta"]
    assert not understood(tmp_path, text, others=["area"], hierarchy=both).unaccounted
    assert not understood(
        tmp_path, text, others=["area"], hierarchy=part, flat=["area"]
    ).unaccounted


def test_a_question_without_a_printed_total_names_labels_of_the_table(tmp_path):
    text = "area,count\nSouth,48\nCora,c\nDora,28\nEast,90\n"
    asked = understood(tmp_path, text).unaccounted
    assert not re.search("LABEL|WHOLE|PART", asked[0].declaration)
    assert "--flat area" in asked[0].declaration
