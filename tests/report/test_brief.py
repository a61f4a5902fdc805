"""One page for those who decide: nothing in it is stronger than in the record it is drawn from."""

import itertools
import re
import shutil
import subprocess

import pytest

from narcissus.kinds.table.kind import KIND
from narcissus.report.about import numbers_of
from narcissus.report.brief import NO_GROUPS, accepted, brief_of, no_stronger, render_brief
from narcissus.report.format import SIGNS, STATUS, grade_word, percent
from narcissus.report.page import Grid, Items, Text
from narcissus.report.text import page_text
from narcissus.results import GRADES

REFUTED = {"contradictions": ["a theorem says 1, an attack 2"], "status": "contradicted"}


def parts(record):
    """Give the sections of the brief by their first words."""
    return {s.title.split(",")[0]: s.blocks for s in brief_of(record).sections}


def below_the_status(record):
    return page_text(brief_of(record)).partition("What was released")[2]


def test_every_record_has_its_brief_with_all_parts(every_record):
    for record in every_record.values():
        assert list(parts(record)) == [
            "What was released",
            "What an attacker gets",
            "What nobody can exceed",
            "What was not assessed",
            "Who decides",
        ]
        text = " ".join(page_text(brief_of(record)).split())
        assert record.digest in text
        assert record.provenance.narcissus in text
        assert STATUS[record.status][1].upper() in text
        for remark in record.not_assessed[:3]:
            assert remark.quantity in text


def test_status_grade_assumptions_and_contradictions_are_the_record_s(every_record):
    for record in every_record.values():
        for weak in ({}, {"grade": "approximate"}, {"assumptions": ["it rains"]}, REFUTED):
            changed = record.model_copy(update=weak)
            verdict = brief_of(changed).verdict
            assert (verdict.status, verdict.rests_on) == (changed.status, changed.grade)
            assert verdict.assumptions == changed.assumptions
            assert verdict.contradictions == changed.contradictions
            html = render_brief(changed)
            said = re.search('<h2 id="verdict-title">(.*?)</h2>', html)[1]
            assert STATUS[changed.status][1] in said
            assert f"{grade_word(changed.grade)}</span>" in said
            if "assumptions" in weak:
                assert "it rains" in html
            if weak is REFUTED:
                assert REFUTED["contradictions"][0] in html


def test_every_number_has_its_grade_in_words_and_none_is_stronger(every_record):

    for record in every_record.values():
        known = {row[0]: row[-1] for row in numbers_of(record)}
        for changed in (record, record.model_copy(update=REFUTED)):
            (grid,) = parts(changed)["What an attacker gets"]
            assert isinstance(grid, Grid)
            for label, value, _, sure in grid.rows:
                assert value
                heads = {g: f"{SIGNS[g]} {grade_word(g)}:" for g in reversed(GRADES)}
                grade = next(g for g, head in heads.items() if sure.startswith(head))
                assert GRADES.index(grade) >= GRADES.index(known[label])
                if changed is not record:
                    assert grade not in ("proved", "proved if")


def test_what_contradicts_itself_proves_nothing_here(every_record):
    limited = 0
    for record in every_record.values():
        text = below_the_status(record.model_copy(update=REFUTED))
        assert f"{SIGNS['proved']} proved" not in text
        assert f"{SIGNS['proved if']} proved if" not in text
        limited += f"{SIGNS['proved']} proved" in below_the_status(record)
    assert limited  # else nothing was tested


@pytest.mark.parametrize("grade", GRADES)
def test_grades_only_fall_and_only_proofs_where_statements_are_at_odds(table_record, grade):
    assert no_stronger(grade, table_record()) == grade
    fallen = no_stronger(grade, table_record(contradictions=["a"]))
    assert fallen == ("not assessed" if grade.startswith("proved") else grade)


def test_without_groups_that_is_said(single):
    record = single(groups=[])
    warned = next(b for b in parts(record)["What was not assessed"] if isinstance(b, Items))
    assert NO_GROUPS.rstrip(".") in warned.items


def test_numbers_of_a_sweep_are_those_where_its_status_is_from(table_record):
    """Whoever reads "exceeded" must not see the numbers of a level that is safe."""
    record = table_record(5, status="exceeded")
    result = record.result.model_copy(update={"decided_at": None})
    record = record.model_copy(update={"result": result})
    (grid,) = parts(record)["What an attacker gets"]
    case = KIND.judged(record)
    one = case.worst
    assert one.status == "exceeded" != case.each[0].status
    assert grid.caption.endswith(f": {one.label}")
    assert grid.rows[1][1] == percent(one.result.best_attack.share)
    assert f"without {one.label.removeprefix('no ')}" == "without noise"
    assert "release without noise" in brief_of(record).first.sentences[1][0]
    (grid,) = parts(table_record(5))["What an attacker gets"]
    assert grid.caption.endswith(": ε = 1")


def test_what_limits_every_attacker_stands_with_what_it_needs(single):
    most, given = parts(single())["What nobody can exceed"]
    assert "proved: a theorem" in most.items[0]
    assert given.items == ["people are independent given the prior"]
    (nothing,) = parts(single(bounds=[]))["What nobody can exceed"]
    assert isinstance(nothing, Text)
    assert "Nothing here limits every attacker" in nothing.paragraphs[0]


def test_what_does_not_fit_is_counted(table_record):
    remarks = [{"quantity": f"thing {i}", "reason": "no time", "remedy": "wait"} for i in range(5)]
    record = table_record(1, not_assessed=remarks)
    asked = parts(record)["What was not assessed"][0]
    assert asked.items[-1] == "and 2 more, in the report"
    assert len(asked.items) == 4


@pytest.mark.parametrize("name", ["game", "extraction"])
def test_a_kind_that_is_no_ground_for_a_decision_says_so(every_record, name):
    first = parts(every_record[name])["What was not assessed"][0]
    assert first.paragraphs[0].startswith("No ground for a decision about people: ")


def test_what_was_accepted_has_its_direction_reason_and_author(every_record, table_record):
    said = accepted(table_record(1))
    assert said == "share at most 70.0%; why: Made up for a test; set by: Nobody"
    assert "no threshold was set" in accepted(
        table_record(1, threshold=None, status="inconclusive")
    )
    assert accepted(every_record["game"]).startswith("the statement: success <= ")
    assert accepted(every_record["synthetic"]).startswith("excess at most ")
    channel = every_record["channel"]
    study = {"threshold": {"beta_star": 0.5, "reason": "", "origin": ""}, "policy": None}
    assert accepted(channel.model_copy(update={"study": study})) == "beta star at least 50.0%"


def test_html_is_self_contained_and_escaped(table_record):
    html = render_brief(table_record(1, title="<script>alert(1)</script>"))
    assert "&lt;script&gt;" in html
    for strange in ("<script", "http://", "https://", "@import", "<img", "<link", "javascript:"):
        assert strange not in html
    assert "@page { size: A4" in html
    assert html == render_brief(table_record(1, title="<script>alert(1)</script>"))
    levels = [int(n) for n in re.findall(r"<h(\d)", html)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


@pytest.mark.nightly
def test_it_prints_on_one_sheet_of_a4(every_record, table_record, tmp_path):
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium, which prints pages, is not installed")
    records = {**every_record, "made-up": table_record(5), "exceeded": table_record(4)}
    for name, record in records.items():
        page, sheet = tmp_path / f"{name}.html", tmp_path / f"{name}.pdf"
        page.write_text(render_brief(record), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        subprocess.run(
            [browser, *options, f"--print-to-pdf={sheet}", page.as_uri()],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        printed = sheet.read_bytes()
        assert re.findall(rb"/Type\s*/Pages\b.*?/Count (\d+)", printed, re.S) == [b"1"], name
        assert re.search(rb"/MediaBox\s*\[0 0 59\d\S* 84\d", printed), name
