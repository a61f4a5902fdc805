"""The command tables: what it prints, its exit codes, one clear error each."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from narcissus.cli.playing import Run
from narcissus.cli.published import TablesOptions
from narcissus.counts import Publication
from narcissus.counts.declared import AS_PRINTED

PEOPLE = """sex,race,count,mean
*,*,4,30
F,*,2,20
F,B,x,x
F,W,x,x
M,*,x,x
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "one.csv").write_text("d,ill,count\nA,yes,x\nA,no,20\nB,yes,x\nB,no,18\n*,yes,6\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "two.csv").write_text("d,count\nA,22\nB,22\n")
    return tmp_path


def test_keys_of_json(folder, call, answer):
    code, out, _ = call(
        "tables --texts-tell-nothing people.csv --below 5 --variable age=0:99 --limit 50 --json"
    )
    found = json.loads(out)
    assert code == 1  # by subtraction there are 2 men, and a mark hides them
    assert found["grade"] == "proved if"  # what is declared of texts and of the variable
    women = next(one for one in found["cells"] if one.get("race") == "B")
    assert (women["sex"], women["printed"], women["determined"]) == ("F", "x", False)
    assert {"low", "high", "file", "line", "exact"} <= set(women)
    assert (found["data_sets"], found["all_counted"]) == (50, False)
    few = answer("tables --texts-tell-nothing one.csv --below 5")
    assert (few["data_sets"], few["all_counted"], few["narrowest"]) == (3, True, 2)
    assert (
        len(few["people"]) == few["determined_people"] == 38
    )  # not those of A and B, of whom 2 to 4 are ill
    assert {"d": "A", "ill": "no"} in few["people"]


def test_the_width_that_is_left_decides(folder, call):
    code, out, _ = call("tables --texts-tell-nothing one.csv --below 5 --width 2")
    assert code == 0
    assert "Threshold met" in out
    code, out, _ = call("tables --texts-tell-nothing one.csv --below 5 --width 3")
    assert code == 1
    assert "2 hidden cells have limits less than 3 apart" in out
    assert "one.csv:2 d = A, ill = yes: x is 2 to 4" in out


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a,12\nb,x\nTotal,15", "--below 5"),  # a hidden cell that subtraction tells
        ("a,12\nb,x\nTotal,15", ""),  # hidden cells mean that none is to be recomputed
        ("a,12\nb,3\nc,9\nTotal,24", "--below 5"),  # a small count that is printed
    ],
)
def test_a_threshold_decides_without_a_width(folder, call, rows, words):
    (folder / "t.csv").write_text(f"d,count\n{rows}\n")
    code, out, _ = call(f"tables --texts-tell-nothing t.csv {words}")
    assert (code, "Threshold exceeded" in out) == (1, True)


def test_limits_that_may_be_narrower_decide_nothing(folder, call):
    people = np.random.default_rng(5).integers(3, 9, (4, 4, 3))
    rows = ["a,b,c,count"]
    for at in np.ndindex(5, 5, 4):
        shown = [k < n for k, n in zip(at, people.shape, strict=True)]
        own = tuple(k if one else slice(None) for k, one in zip(at, shown, strict=True))
        labels = [str(k) if one else "*" for k, one in zip(at, shown, strict=True)]
        rows.append(",".join([*labels, "x" if all(shown) else str(people[own].sum())]))
    (folder / "hard.csv").write_text("\n".join(rows) + "\n")
    code, out, _ = call("tables --texts-tell-nothing hard.csv --width 1 --seconds 1e-6")
    assert (code, "Not decided: " in out, "Threshold met" in out) == (3, True, False)
    assert "At least 0 people determined" in out


def test_the_next_release_is_held_to_those_before(folder, call, answer):
    code, out, _ = call("tables --texts-tell-nothing one.csv --against out --below 5")
    assert code == 1
    assert "x is 2  determined, before 2 to 4" in out
    assert "One data set is consistent" in out
    code, out, _ = call("tables --texts-tell-nothing one.csv --against out --below 5 --json")
    assert code == 1
    assert '"before"' in out
    (folder / "out" / "two.csv").write_text("d,count\nA,24\nB,x\n")
    code, out, _ = call("tables --texts-tell-nothing one.csv --against out --mark x=any")
    assert code == 1  # A is 4, so B is 2


def test_nothing_is_proved_of_sums_while_a_label_may_be_the_total(folder, call):
    (folder / "e.csv").write_text("area,count\nA,c\nB,c\nC,c\nEngland,82\n")
    code, out, _ = call("tables --texts-tell-nothing e.csv --mark c=any --below 5")
    assert (code, "Not decided" in out) == (3, True)
    assert "82 people determined" not in out
    code, out, _ = call("tables --texts-tell-nothing e.csv --mark c=any --below 5 --total England")
    assert (code, "At least 0 people determined" in out or "0 people determined" in out) == (
        0,
        True,
    )


def test_what_a_new_table_gives_away_alone_counts_beside_earlier_ones(folder, call):
    """The earlier tables add nothing; the sum of the new one determines a small count."""
    (folder / "before").mkdir()
    (folder / "before" / "old.csv").write_text("e,count\nP,60\nQ,22\nTotal,82\n")
    (folder / "new.csv").write_text("d,count\nA,x\nB,79\nTotal,82\n")
    for words in ("--below 5", "--mark x=any", ""):
        code, out, _ = call(f"tables --texts-tell-nothing new.csv --against before {words}")
        assert code == 1
        assert "Threshold met" not in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("tables", "Missing argument"),
        ("tables nothing.csv", "does not exist"),
        ("tables people.csv", "--variable age=0:125"),
        ("tables one.csv one.csv", "two tables are named one.csv"),
        ("tables one.csv --others z", "no table has the dimension `z`"),
        ("tables one.csv --against empty", "holds no tables"),
        ("tables one.csv --variable d=0:9", "one.csv: line 2, column count: 'A' is no range"),
        ("tables bad.csv", "these 3 cells"),
        ("tables one.csv --secret ill", "--secret and --known"),
        ("tables one.csv --people one.csv", "--secret and --known"),
        ("tables one.csv --secret ill --known d --width 2", "`--width` does not go with"),
        ("tables one.csv --secret ill --known d --dominance 1:9", "`--dominance` does not go"),
        ("tables one.csv --secret il --known d --out o", "did you mean `ill`"),
    ],
)
def test_what_is_refused(folder, call, words, said):
    (folder / "empty").mkdir()
    (folder / "bad.csv").write_text("a,count\np,3\nq,4\n*,8\n")
    code, out, err = call(words)
    assert code == 2
    assert out == ""
    assert said in err


def test_the_secret_of_people_is_attacked(folder, call, answer):
    people = [("A", "yes")] * 3 + [("A", "no")] * 20 + [("B", "yes")] * 3 + [("B", "no")] * 18
    (folder / "all.csv").write_text("\n".join(["d,ill", *map(",".join, people)]))
    words = "tables one.csv --below 5 --secret ill --known d --out o --seed 1 --quiet"
    code, out, _ = call(f"{words} --people all.csv --trials 4")
    assert code == 0
    assert "It is right about 86 of 100 people in these tables." in out
    assert (folder / "o" / "report.html").exists()
    found = answer(f"{words} --restart")
    assert found["kind"] == "published-tables"
    assert found["provenance"]["digests"]["table one.csv"]
    assert [share["prior"] for share in found["result"]["expected"]] == ["uniform", "people"]


def test_rules_of_a_column_with_one_value(folder, call):
    """It may be published; as a secret it is refused, and no message names a missing option."""
    (folder / "p.csv").write_text("one,sex,ill\n" + "A,F,yes\nA,M,no\nA,M,yes\n" * 4)
    code, out, _ = call("rules p.csv --by one,sex --secret ill --trials 0 --seed 1")
    assert (code, "12 people" in out) == (0, True)
    code, _, err = call("rules p.csv --by sex --secret one")
    assert (code, "name another secret" in err) == (2, True)
    code, out, _ = call("rules p.csv --by sex --secret ill --trials 2 --seconds 1e-6")
    assert (code, "time ran out (--seconds)" in " ".join(out.split())) == (0, True)


def test_rules_give_the_same_numbers_each_time_show_progress_and_refuse_in_their_own_terms(
    folder, call
):
    people = [f"{n},{'AB'[n % 2]},{'yes' if n % 5 else 'no'}" for n in range(300)]
    (folder / "all.csv").write_text("\n".join(["id,d,ill", *people]))
    words = "rules all.csv --by d --secret ill --trials 2 --epsilon 1"
    code, out, err = call(words)
    assert code == 0
    assert "steps" in err
    assert call(words)[1] == out


def test_the_layout_comes_first_and_what_is_left_over_decides_nothing(folder, call, answer):
    (folder / "p.csv").write_text("sex,count,percent\nF,x,35.7\nM,9,64.3\nTotal,14,100\n")
    code, out, _ = call("tables --texts-tell-nothing p.csv --width 1")
    assert code == 1
    assert out.startswith("p.csv, a long table:\n  dimension: `sex`\n  count: `count`\n")
    assert "percent: `percent` (of all `sex`)" in out
    (folder / "t.csv").write_text("sex,count\nF,x\nM,9\nEU27,14\n")
    for width in ("", " --width 1"):
        code, out, _ = call("tables --texts-tell-nothing t.csv" + width)
        assert (code, "Threshold met" in out, "Not decided" in out) == (3, False, True)
        assert "--total EU27" in out
    code, out, _ = call("tables --texts-tell-nothing t.csv --total EU27 --width 1")
    assert code == 1
    assert "x is 5  determined" in out
    code, out, _ = call("tables --texts-tell-nothing t.csv --flat sex --width 1")
    assert (code, "Threshold met" in out) == (0, True)
    found = json.loads(call("tables --texts-tell-nothing p.csv --json")[1])
    assert found["layout"][0]["columns"][2] == {
        "column": "percent", "role": "percent", "detail": "of all `sex`",
    }  # fmt: skip
    assert (found["layout"][0]["totals"], found["unaccounted"]) == ({"sex": ["Total"]}, [])
    code, out, _ = call("tables --texts-tell-nothing t.csv --json")
    assert code == 3
    assert '"declaration": "`--total EU27`' in out
    (folder / "w.csv").write_text("area,F,M,N\nA,3,x,1\nB,4,5,x\n*,x,x,9\n")
    code, out, _ = call("tables --texts-tell-nothing w.csv --across w.csv=sex --flat sex --width 1")
    assert "dimension: `sex` (across)" in out
    assert "count: `F`, `M`, `N`" in out


def test_a_group_that_no_cell_prints_is_judged(folder, call, answer):
    """A row that is left out, and the difference of two tables, break the threshold."""
    (folder / "left.csv").write_text("area,sex,count\nN,F,10\nN,M,12\nS,F,20\n*,*,45\n")
    code, out, _ = call("tables --texts-tell-nothing left.csv --below 5 --width 1")
    assert code == 1
    assert "area = S, sex = M: 3" in out
    assert "Threshold exceeded: 1 group of fewer than 5 people is known exactly." in out
    code, out, _ = call("tables --texts-tell-nothing left.csv --width 1")
    assert code == 3
    assert "Declare the threshold: --below 5" in out
    text = "age,count\n0-15,40\n16-17,{}\n18+,50\n"
    (folder / "all.csv").write_text(text.format(12))
    (folder / "rest.csv").write_text(text.format(10))
    code, out, _ = call(
        "tables --texts-tell-nothing all.csv rest.csv --within rest.csv:area!=N --below 5 --width 2"
    )
    assert code == 1
    assert "age = 16-17, area = N: 2" in out
    code, out, _ = call(
        "tables --texts-tell-nothing all.csv rest.csv --within rest.csv:area!=N --below 2 --width 1"
    )
    assert code == 0
    assert "groups of fewer than 2 people that no cell prints are unknown" in out


def test_two_publications_are_judged_together(folder, call):
    text = "age,count\n0-15,40\n16-17,{}\n18+,50\n"
    (folder / "new.csv").write_text(text.format(12))
    (folder / "before").mkdir()
    (folder / "before" / "old.csv").write_text(text.format(9))
    words = "tables new.csv --against before --within old.csv:area!=N --below 5"
    code, out, _ = call(words)
    assert code == 1
    assert "Threshold exceeded: 1 group of fewer than 5 people is known exactly." in out


def test_a_small_count_that_is_printed_decides_nothing_without_a_threshold(folder, call):
    (folder / "t.csv").write_text("area,sex,count\nA,F,3\nA,M,14\nA,Total,17\n")
    code, out, _ = call("tables --texts-tell-nothing t.csv")
    assert code == 3
    assert "Not decided: 1 group of fewer than 10 people is known" in out
    assert call("tables --texts-tell-nothing t.csv --below 5")[0] == 1
    assert call("tables --texts-tell-nothing t.csv --below 3")[0] == 0
    (folder / "t.csv").write_text("area,sex,count\nA,F,33\nA,M,74\nA,Total,107\n")
    assert call("tables --texts-tell-nothing t.csv")[0] == 0


def test_an_exceeded_verdict_waits_for_no_label(folder, call):
    text = "area,F,M,Total\nAlba,x,17,20\nBrod,12,19,31\nNord,x,x,x\nCern,8,x,30\n"
    (folder / "t.csv").write_text(text)
    code, shown, _ = call("tables t.csv --across t.csv=sex")
    assert code == 1
    assert "2 hidden cells have limits less than 1 apart" in shown
    assert "at least 2 are determined" in shown
    assert "area = Alba, sex = F: x is 3  determined" in shown


def test_a_count_that_rests_on_an_assumption_is_graded_so(tmp_path, monkeypatch, call):
    """Tables that are joined are about the same people, if at all: "proved" said it for sure."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("age,count\n0-17,x\n18+,x\nTotal,30\n")
    (tmp_path / "b.csv").write_text("sex,count\nMen,12\nWomen,18\nTotal,30\n")
    code, out, _ = call("tables a.csv b.csv --mark x=any --texts-tell-nothing")
    assert code == 0
    assert "determined (proved if)." in out


DECLARED = {
    "total": ["All"], "across": ["t.csv=sex"], "within": ["t.csv:area!=North"], "others": ["area"],
    "hierarchy": ["area:West=A,B"], "variable": "age=0:99", "magnitude": "turnover",
    "count": "people", "dimension": ["area"], "percent": ["pc=area"], "group": ["region"],
    "code": ["level"], "irrelevant": ["remarks"], "part": ["rest"], "flat": ["area"],
    "same": ["area=district"], "apart": ["area"], "texts_tell_nothing": True,
    "order": ["t.csv=count"], "sheet": ["Data"], "contributions": Path("firms.csv"),
    "contributor": "firm",
}  # fmt: skip
"""Every option of the command that declares something of the data, with a value."""
OF_RUN = {"p_percent", "dominance", "minimum", "protect", "limit", "seconds", "against", "width",
          "people", "secret", "known", "trials", "run"}  # fmt: skip
"""Options that say what is asked of the tables, and how long."""


def test_every_option_that_declares_is_named():
    """A new option is a rule of printing, of the run, or named with the verdict."""
    options = {field.name for field in fields(TablesOptions)}
    assert options == set(DECLARED) | AS_PRINTED | OF_RUN
    own = {field.name for field in fields(Publication)}
    run = Run()
    said = set()
    for name, value in DECLARED.items():
        given = {"contributions": Path("firms.csv")} if name == "contributor" else {}
        publication = Publication(**({name: value} if name in own else {}))
        clauses = TablesOptions(run=run, **given, **{name: value}).declared(publication)
        assert clauses, name
        first = value[0] if isinstance(value, list) else str(value)
        assert name == "texts_tell_nothing" or first.split(":")[0].split("=")[0] in str(clauses)
        said.add(clauses)
    assert len(said) == len(DECLARED)
    assert Publication(below=5, mark=["c=any"], no_zeros=True).takes_as_given == ()


@pytest.mark.parametrize(
    ("table", "words", "named"),
    [
        ("area,count\nEssen,20\nBrixen,12\nFaro,9\nAitrang,x\nGenua,c\nTotal,50",
         "--below 5 --mark c=any --flat area", ["no label of `area` is the sum of others"]),
        ("area,count\nEssen,30\nBrixen,c\nFaro,9\nGenua,c\nTotal,54",
         "--texts-tell-nothing --mark c=any --below 5 --others area "
         "--hierarchy area:Essen=Brixen,Genua",
         ["none of the labels of `area`", "Brixen, Genua are all of Essen"]),
        ("area,count,level\nEssen,c,3\nBrixen,45,7\nFaro,c,5\nDelft,31,2\nTotal,150,",
         "--flat area --code level --texts-tell-nothing --mark c=any",
         ["`level` holds codes", "no label of `area`"]),
    ],
)  # fmt: skip
def test_what_decides_in_favour_is_named(folder, call, table, words, named):
    (folder / "t.csv").write_text(table + "\n")
    code, out, _ = call(f"tables t.csv {words}")
    [declared] = [line for line in out.splitlines() if line.startswith("This holds if, as you")]
    assert code == 0
    assert all(one in declared for one in named)
    found = json.loads(call(f"tables t.csv {words} --json")[1])
    assert found["grade"] == "proved if"
    assert all(any(one in text for text in found["takes_as_given"]) for one in named)
    but = ", of all dimensions but `area` (--others" in found["notes"][0]
    assert but == ("--others" in words)
