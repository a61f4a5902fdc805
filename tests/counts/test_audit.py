"""Limits, determined cells, data sets and people, against all data sets one by one."""

import itertools
import statistics
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from narcissus.counts import (
    Cell,
    Publication,
    Structure,
    Within,
    audit_next,
    audit_tables,
    differences,
    system,
)
from narcissus.counts.marks import Meaning
from narcissus.counts.ranges import read_ranges
from narcissus.errors import InputError

from .worlds import all_data_sets, world


@pytest.fixture(params=["crossed", "cliques", "tables"])
def crossing(request, monkeypatch):
    """How dimensions are crossed: all of them, by cliques, or each table by itself."""
    if request.param != "crossed":
        monkeypatch.setattr(system, "CROSSED", 0)
    if request.param == "tables":
        monkeypatch.setattr(system, "IN_CLIQUES", 0)
    return request.param


def check(seed, crossing):
    """Compare with enumeration, digit for digit, where all labels that exist are shown."""
    found = world(seed)
    shown = {k: {c.labels[k] for c in found.cells if k in c.labels} for k in found.dimensions}
    if any(shown[k] != set(v) for k, v in found.dimensions.items()):
        return None  # a dimension that no table shows is none
    vectors = all_data_sets(found)
    audit = audit_tables(found.cells, limit=1_000_000)
    inside = np.array([
        [cell.labels.items() <= one.items() for one in found.finest] for cell in found.cells
    ])  # fmt: skip
    sums = vectors @ inside.T
    least, most = sums.min(axis=0), sums.max(axis=0)
    exact = np.array([one.exact for one in audit.cells])
    low = np.array([one.low for one in audit.cells])
    high = np.array([one.high for one in audit.cells])
    assert (low <= least).all()
    assert (high >= most).all()
    assert (low[exact] == least[exact]).all()
    assert (high[exact] == most[exact]).all()
    assert exact.all() or crossing == "tables"
    assert audit.all_counted or crossing != "crossed"
    assert audit.data_sets is None or audit.data_sets <= len(vectors)
    assert audit.data_sets == len(vectors) or not audit.all_counted
    ends = zip(found.finest, vectors.min(axis=0), vectors.max(axis=0), strict=True)
    people = [one for one, n, most in ends for _ in range(n) if n == most]
    if audit.determined_people is not None:
        assert sorted(map(str, audit.people)) == sorted(map(str, people))
        assert audit.determined_people == len(people)
    return len(vectors), (~exact).sum()


@pytest.mark.repeats(40, 1000, "worlds")
def test_small_tables_as_by_enumeration(worlds, crossing):
    played = [one for seed in range(worlds) if (one := check(seed, crossing))]
    assert len(played) > worlds / 2
    assert min(played)[0] == 1
    assert max(played)[0] > 50


SEVEN = """sex,race,marital,age,count,median,mean
*,*,*,*,7,30,38
F,*,*,*,4,30,33.5
M,*,*,*,3,30,44
*,B,*,*,4,51,48.5
*,W,*,*,3,24,24
*,*,S,18+,x,x,x
*,*,M,*,4,51,54
F,B,*,*,3,36,36.7
M,B,*,*,x,x,x
M,W,*,*,x,x,x
F,W,*,*,x,x,x
*,*,*,<5,x,x,x
*,*,*,<18,x,x,x
*,*,*,64+,x,x,x
*,*,M,<18,0,x,x
"""
"""Garfinkel, Abowd and Martindale 2018, Table 1, and that married people are adults."""
FOUND = "8FBS 18MWS 24FWS 30MWM 36FBM 66FBM 84MBM"


def audit(tmp_path, limit=1000, given=None, **tables):
    """Audit tables that are written as files."""
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    said = Publication(texts_tell_nothing=True, **(given or {}))
    cells = said.read([tmp_path / f"{name}.csv" for name in tables])
    return audit_tables(cells, said.structure, limit=limit)


def test_seven_people_are_reconstructed(tmp_path):
    given = {"below": 3, "variable": "age=0:125", "apart": ["marital"]}
    found = audit(tmp_path, given=given, seven=SEVEN)
    assert (found.data_sets, found.all_counted) == (1, True)
    people = [f"{p['age']}{p['sex']}{p['race']}{p['marital']}" for p in found.people]
    assert people == FOUND.split()
    assert all(one.determined and one.exact for one in found.cells)
    # without the mean of the married there are others, and where all was rounded more
    more = audit(tmp_path, given=given, seven=SEVEN.replace("*,*,M,*,4,51,54", "*,*,M,*,4,51,x"))
    rounded = audit(tmp_path, given=given | {"decimals": 0}, seven=SEVEN)
    assert 1 < more.data_sets < rounded.data_sets


HALF = Fraction(1, 20)
SPANS = {"*": (0, 5), "<3": (0, 2), "3+": (3, 5), "1-2": (1, 2)}


def agrees(row, people):
    """Whether a data set agrees with a published row: count, mean and median, by definition."""
    sex, span, count, mean, median = row
    low, high = SPANS[span]
    values = [age for one, age in people if sex in ("*", one) and low <= age <= high]
    if len(values) >= 2 if count is None else len(values) != count:
        return False
    return all(
        printed is None
        or (bool(values) and abs(Fraction(rule(map(Fraction, values))) - printed) <= HALF)
        for rule, printed in ((statistics.mean, mean), (statistics.median, median))
    )


@pytest.mark.repeats(15, 300, "worlds")
def test_means_and_medians_as_by_enumeration(worlds, tmp_path):
    sizes = []
    everyone = list(itertools.product("FM", range(6)))
    for seed in range(worlds):
        rng = np.random.default_rng([7, seed])
        people = [everyone[at] for at in rng.integers(0, 12, rng.integers(2, 5))]
        rows = [("*", "*", len(people), None, None)]
        for sex, span in itertools.product("FM", SPANS):
            if rng.random() < 0.5 and span != "*":
                continue
            (low, high), told = SPANS[span], rng.random(3)
            values = [age for one, age in people if one == sex and low <= age <= high]
            mean, median = (
                round(Fraction(rule(values)), 1) if values and told[at] < 0.3 else None
                for at, rule in enumerate((statistics.mean, statistics.median))
            )
            shown = len(values) >= 2 or told[2] < 0.2 or mean is not None or median is not None
            rows.append((sex, span, len(values) if shown else None, mean, median))
        if all(row[3] is row[4] is None for row in rows):
            continue  # people have ranges alone
        text = "sex,age,count,mean,median\n" + "".join(
            ",".join("x" if one is None else str(float(one) if at > 2 else one)
                     for at, one in enumerate(row)) + "\n"
            for row in rows
        )  # fmt: skip
        expected = [
            one for one in itertools.combinations_with_replacement(everyone, len(people))
            if all(agrees(row, one) for row in rows)
        ]  # fmt: skip
        given = {"variable": "age=0:5", "decimals": 1, "below": 2}
        found = audit(tmp_path, given=given, limit=5000, t=text)
        assert (found.data_sets, found.all_counted) == (len(expected), True)
        shared = Counter(expected[0])
        for one in expected[1:]:  # a lower bound of a cell determines nobody
            shared = Counter({who: n for who, n in shared.items() if Counter(one)[who] == n})
        assert Counter((p["sex"], p["age"]) for p in found.people) == shared
        for cell, row in zip(found.cells, rows, strict=True):
            inside = [
                sum(row[0] in ("*", sex) and SPANS[row[1]][0] <= age <= SPANS[row[1]][1]
                    for sex, age in one) for one in expected
            ]  # fmt: skip
            assert (cell.low, cell.high) == (min(inside), max(inside))
        sizes.append(len(expected))
    assert min(sizes) == 1
    assert max(sizes) > 5


CONTRADICTIONS = {
    "a sum": ("a,count\np,3\nq,4\n*,8\n", {}, 3),
    "two ways": ("a,b,count\np,u,3\np,v,x\nq,u,2\nq,v,1\n*,u,6\n*,*,9\n", {}, 3),
    "a bound": ("a,count\np,x\nq,4\n*,12\n", {"below": 5}, 3),
    "a mean": ("a,count,mean\np,2,4\nq,2,6\n*,4,7\n", {"variable": "age=0:9"}, 3),
    "a median": ("a,count,median\np,1,4\nq,x,x\n*,1,7\n", {"variable": "age=0:9"}, 2),
    "zeros": ("a,b,count\np,u,0\np,v,0\np,*,2\n*,*,9\nq,*,x\n", {}, 3),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_named(tmp_path, name):
    text, given, count = CONTRADICTIONS[name]
    with pytest.raises(InputError, match=f"these {count} cells") as error:
        audit(tmp_path, given=given, t=text)
    named = [int(line.split("line ")[1].split(",")[0]) for line in str(error.value).splitlines()
             if line.startswith("  t.csv")]  # fmt: skip
    assert len(named) == count
    head, *lines = text.splitlines()
    at = head.split(",").index("count")

    def told(kept):
        """The table with the cells of some lines alone; the others are suppressed."""
        rows = [line.split(",") for line in lines]
        rows = [row if n in kept else [*row[:at], "any", *["x"] * (len(row) - at - 1)]
                for n, row in enumerate(rows, 2)]  # fmt: skip
        return "\n".join([head, *map(",".join, rows)]) + "\n"

    given = given | {"mark": ["any=any"], "flat": [name for name in "ab" if name in head]}
    with pytest.raises(InputError, match="contradict each other"):
        audit(tmp_path, given=given, t=told(named))
    for one in named:
        audit(tmp_path, given=given, t=told(set(named) - {one}))


def test_whole_numbers_decide_where_halves_would_do():
    """Three pairs of three cells, each pair with one person: halves agree, people do not."""
    labels = [{"x": k} for k in "abc"]
    cells = [Cell("t", i, "count", "x", labels[i], Meaning(0, 1, "suppressed")) for i in range(3)]
    pairs = [("f1", "ab"), ("f2", "bc"), ("f3", "ac")]
    within = {file: [Within("x", tuple(two))] for file, two in pairs}
    cells += [Cell(file, 9, "count", "1", {}, Meaning(1, 1, "exact")) for file, _ in pairs]
    with pytest.raises(InputError, match="these 3 cells"):
        audit_tables(cells, Structure(within=within))
    loose = [*cells[:5], Cell("f3", 9, "count", "0-1", {}, Meaning(0, 1, "range"))]
    found = audit_tables(loose, Structure(within=within))
    # b and nobody else, by whole numbers; a half each by others
    assert (found.cells[5].low, found.cells[5].high) == (0, 0)
    assert [(one.low, one.high) for one in found.cells[:3]] == [(0, 0), (1, 1), (0, 0)]
    assert found.data_sets == 1


def test_hierarchies_and_parts_join_tables(tmp_path):
    (tmp_path / "tree.csv").write_text("part,whole\nA,AB\nB,AB\n")
    given = {"hierarchy": [f"area={tmp_path / 'tree.csv'}"], "below": 5}
    found = audit(tmp_path, given=given, fine="area,count\nA,x\nB,9\nC,x\n*,14\n",
                  coarse="area,count\nAB,12\n")  # fmt: skip
    assert [(one.low, one.high) for one in found.hidden] == [(3, 3), (2, 2)]


def test_what_is_about_all_but_one_area_is_subtracted(tmp_path):
    texts = {"all": "sex,count\nF,20\nM,31\n", "rest": "sex,count\nF,19\nM,31\n"}
    said = Publication(texts_tell_nothing=True, within=["rest.csv:area!=North"])
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
    cells = said.read([tmp_path / f"{name}.csv" for name in texts])
    found = audit_tables(cells, said.structure)
    small = differences(found, said.structure, 5)
    assert [(dict(one.cell.labels), one.low, one.high) for one in small] == [({"sex": "F"}, 1, 1)]
    assert {"area": "North", "sex": "F"} in [dict(one) for one in found.people]


def test_a_second_release_is_held_to_the_first(tmp_path):
    said = Publication(texts_tell_nothing=True, below=5)
    (tmp_path / "one.csv").write_text("d,ill,count\nA,yes,x\nA,no,20\nB,yes,x\nB,no,18\n*,yes,6\n")
    (tmp_path / "two.csv").write_text("d,count\nA,22\nB,22\n")
    one, two = ([*said.read([tmp_path / name])] for name in ("one.csv", "two.csv"))
    together, narrowed = audit_next(two, one, said.structure)
    assert [(a.low, a.high, b.low, b.high) for a, b in narrowed] == [(2, 4, 2, 2), (2, 4, 4, 4)]
    assert together.data_sets == 1
    again, none = audit_next(two[:1], one[:2], said.structure)
    assert (len(none), again.data_sets) == (1, 1)
    with pytest.raises(InputError, match="among the earlier tables too"):
        audit_next(one, one)


def test_all_of_a_row_in_one_category(tmp_path):
    text = "d,ill,count\nA,yes,7\nA,no,0\nB,yes,x\nB,no,5\n*,yes,7\n*,*,12\n"
    found = audit(tmp_path, t=text)
    assert {(str(one.labels), one.label, one.people) for one in found.disclosed} == {
        ("{'d': 'A'}", "yes", 7), ("{'d': 'B'}", "no", 5), ("{'ill': 'yes'}", "A", 7),
        ("{'ill': 'no'}", "B", 5),
    }  # fmt: skip


def test_what_ends_early_holds_and_is_marked():
    found = world(3)
    late = audit_tables(found.cells, seconds=1e-9)
    true = audit_tables(found.cells)
    assert (late.data_sets, late.all_counted) == (None, False)  # perhaps there is none
    assert true.data_sets > 1
    for one, other in zip(late.cells, true.cells, strict=True):
        assert one.low <= other.low
        assert one.high is None or one.high >= other.high
        assert not one.exact or (one.low, one.high) == (other.low, other.high)
    assert not all(one.exact for one in late.cells)


def test_a_search_has_no_step_after_its_time(tmp_path):
    """Data sets of people with a variable are searched within the same limit of time."""
    (tmp_path / "t.csv").write_text("sex,count,mean\n*,9,40.1\nF,5,38.2\nM,4,42.5\n")
    said = Publication(texts_tell_nothing=True, variable="age=0:125")
    late = audit_tables(said.read([tmp_path / "t.csv"]), said.structure, seconds=0)
    assert "or --seconds" in late.notes[-1]
    assert (late.data_sets, late.all_counted) == (0, False)
    counted = audit_tables(world(3).cells, seconds=0)
    assert not counted.all_counted


def test_tables_that_contradict_each_other_are_refused_without_time(tmp_path):
    (tmp_path / "t.csv").write_text("sex,count\n*,9\nF,5\nM,5\n")
    with pytest.raises(InputError, match="contradict each other"):
        audit_tables(Publication(texts_tell_nothing=True).read([tmp_path / "t.csv"]), seconds=0)


@pytest.mark.parametrize(
    ("labels", "is_named"),
    [
        (["0-17", "10-20", "18+"], True),
        (["0-17", "18-64", "18+"], True),
        (["0-17", "18-64", "65+"], False),
        (["2019-2020", "2020-2021"], False),
        (["North", "South"], False),
    ],
)
def test_ranges_that_overlap_are_named(labels, is_named):
    cells = [
        Cell("t.csv", at, "count", "5", {"a": label}, Meaning(5, 5, "exact"))
        for at, label in enumerate(labels)
    ]
    notes = audit_tables(cells).notes
    assert any("seem to overlap" in note for note in notes) == is_named
    notes = audit_tables(
        cells, Structure(ranges={"a": read_ranges([labels])} if is_named else {})
    ).notes
    assert not any("seem to overlap" in note for note in notes)


def test_nothing_limits_what_has_no_total(tmp_path):
    found = audit(tmp_path, t="a,count\np,x\nq,4\n")
    assert [(one.low, one.high, one.exact) for one in found.cells] == [
        (0, None, True), (4, 4, True),
    ]  # fmt: skip
    assert not found.all_counted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"within": ["t.csv:a=zz"]}, "which no table shows"),
        ({"within": ["u.csv:a=p"]}, "no table is named"),
        ({"others": ["b"]}, "no table has the dimension `b`"),
        ({"variable": "a=0:9"}, "'p' is no range"),
    ],
)
def test_what_is_declared_of_nothing(tmp_path, given, said):
    with pytest.raises(InputError, match=said):
        audit(tmp_path, given=given, t="a,count\np,1\nq,4\n*,5\n")


def test_labels_that_do_not_meet(tmp_path):
    with pytest.raises(InputError, match=r"`p`, `q` appear in one table alone, and `r`, `s`"):
        audit(tmp_path, t="a,count\np,1\nq,40\n", u="a,count\nr,1\ns,40\n")
    with pytest.raises(InputError, match="0-17 and 15-20 of `age` overlap"):
        audit(tmp_path, given={"variable": "age=0:99"}, t="age,count\n0-17,1\n15-20,4\n")


@pytest.mark.parametrize("mark", ["-", "0 (nil)", "nil"])
def test_a_mark_of_nobody_is_not_hidden(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text(
        f"area,F,M,Total\nAlba,12,{mark},12\nBerta,.,.,50\nCora,.,.,9\nTotal,50,21,71\n"
    )
    read = Publication(mark=[f"{mark}=below:1", ".=any"]).understand([path])
    assert [text for text in read.layouts[0].texts if mark in text] == []
    found = audit_tables(read.cells, read.structure)
    assert {one.cell.printed for one in found.hidden} == {"."}
    assert read.layouts[0].marks == (".",)


WHOLE = "sex,count\nF,120\nM,x\n*,c\n"
REST = "area,sex,count\nSouth,F,60\nSouth,M,22\nEast,F,30\nEast,M,11\n"


def held(folder, within, whole=WHOLE, rest=REST, **given):
    for name, text in (("all", whole), ("rest", rest)):
        (folder / f"{name}.csv").write_text(text)
    given = {"mark": ["c=any", "x=any"], "flat": ["area"], "texts_tell_nothing": True} | given
    read = Publication(**given, within=[f"rest.csv:area{within}"]).understand(
        [folder / "all.csv", folder / "rest.csv"]
    )
    return read, audit_tables(*read.sure)


@pytest.mark.parametrize("others", [[], ["area"]])
def test_a_part_with_all_labels_shown_is_not_everybody(tmp_path, others):
    """People with none of the labels are in the other table alone."""
    _, found = held(tmp_path, "=South,East", others=others)
    ends = {one.cell.place: (one.low, one.high) for one in found.hidden}
    assert sorted(ends.values()) == [(33, None), (153, None)]


def test_a_part_of_everybody_in_another_table_is_refused(tmp_path):
    whole = "area,count\nSouth,90\nEast,45\n*,x\n"
    with pytest.raises(InputError, match="these are all labels of `area`"):
        held(tmp_path, "=South,East", whole=whole)
    held(tmp_path, "=South", whole=whole, rest="sex,count\nF,60\nM,x\n")


@pytest.mark.parametrize("label", ["North", "West", "Elsewhere"])
def test_a_label_that_only_a_part_names_is_one_of_the_dimension(tmp_path, label):
    read, found = held(tmp_path, f"!={label}", whole="sex,count\nF,120\nM,x\n*,160\n")
    assert not read.unaccounted
    assert [(one.low, one.high) for one in found.hidden] == [(40, 40)]
    some = {one.labels.get("area") for one in found.groups}
    assert some <= {label, None}
    with pytest.raises(InputError, match="did you mean `South`"):
        held(tmp_path, "!=south")


def test_no_name_of_the_program_s_own_is_shown(tmp_path):
    """While labels are open, what stands beside none of them is compared with no label."""
    rest = "area,sex,count\nSouth,F,60\nSouth,M,2\nEast,F,30\nEast,M,1\n"
    whole = "sex,count\nF,120\nM,x\n*,124\n"
    read, found = held(tmp_path, "=South,East", whole, rest, flat=[], others=["area"], below=5)
    assert read.are_labels_open
    assert "\0" not in "".join(map(str, read.unaccounted))
    assert [(one.low, one.high) for one in found.hidden] == [(4, 4)]
