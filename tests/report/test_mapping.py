"""Frameworks' items beside a record's findings: all items, grades of the record, honest gaps."""

from pathlib import Path

import pytest

from narcissus.kinds.synthetic.kind import KIND
from narcissus.report.about import verdict_of
from narcissus.report.format import SIGNS, grade_word
from narcissus.report.html import page_html
from narcissus.report.mapping import FRAMEWORKS, answers, mapping_of
from narcissus.report.page import Grid
from narcissus.report.text import page_text
from narcissus.results import GRADES

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reading" / "deciding.md"


def rows(record):
    """Give each item's row, by framework and item."""
    return {
        (section.title, row[0]): row
        for section in mapping_of(record).sections
        for block in section.blocks
        if isinstance(block, Grid)
        for row in block.rows
    }


def test_every_item_of_every_framework_is_there_for_every_kind(every_record):
    items = [(name, one.item) for name, asked in FRAMEWORKS.items() for one in asked]
    assert len(items) == len(set(items))
    for record in every_record.values():
        found = rows(record)
        assert list(found) == items
        for _, asks, says, sure, otherwise in found.values():
            assert asks
            assert otherwise
            assert says
            assert sure == "as stated" or sure in [f"{SIGNS[g]} {grade_word(g)}" for g in GRADES]
            assert (says == "nothing") <= (sure == f"{SIGNS['not assessed']} not assessed")
        assert "not legal advice" in page_text(mapping_of(record))


def test_html_says_the_same(single):
    html = page_html(mapping_of(single()))
    assert "not legal advice" in html
    for asked in FRAMEWORKS.values():
        for one in asked:
            assert f'<th scope="row">{one.item}</th>' in html


def test_every_item_stands_in_the_docs():
    page = DOCS.read_text(encoding="utf-8")
    for name, asked in FRAMEWORKS.items():
        assert name.partition(":")[0] in page
        for one in asked:
            assert f"| {one.item} |" in page, one.item


def test_every_finding_that_an_item_names_is_given_by_some_record(every_record, single):
    named = {one.finding for asked in FRAMEWORKS.values() for one in asked} - {""}
    given = {"correctness"}  # only where something is contradicted, below
    for record in [*every_record.values(), single()]:
        given |= set(answers(record))
    assert named == given


def test_the_outcome_has_the_record_s_grade_and_assumptions(every_record):
    for record in every_record.values():
        changed = record.model_copy(update={"assumptions": ["it rains"]})
        outcome = answers(changed)["outcome"]
        assert outcome.grade == record.grade
        assert outcome.text == f"{verdict_of(record)} Only if it rains."


def test_where_statements_are_at_odds_nothing_is_proved_and_that_answers_correctness(every_record):
    for record in every_record.values():
        changed = record.model_copy(update={"contradictions": ["1 is 2"], "grade": "proved"})
        found = answers(changed)
        assert found["correctness"].text == "1 is 2"
        assert not [one for one in found.values() if one.grade in ("proved", "proved if")]


def test_a_table_answers_inference_and_not_singling_out(single):
    (wp, *_) = FRAMEWORKS
    found = rows(single())
    assert found[wp, "Inference"][2:4] == [
        "56.0% recovered, 53.0% guessed without (ε = 1)", f"{SIGNS['sampled']} estimated"
    ]  # fmt: skip
    for item in ("Singling out", "Linkability"):
        assert found[wp, item][2:4] == ["nothing", f"{SIGNS['not assessed']} not assessed"]


def test_a_guarantee_that_was_declared_is_as_stated(single):
    assert answers(single())["parameters"].grade == "proved"
    assert answers(single(is_declared=True))["parameters"].grade is None
    assert "parameters" not in answers(single(bounds=[]))


def test_a_given_file_answers_all_three_risks(every_record):
    record = every_record["synthetic"]
    found = answers(record)
    for one in KIND.judged(record).each:
        if (risk := one.criterion.name) in found and not one.label:
            assert one.status in found[risk].text
            assert found[risk].grade == "sampled"
    assert {"singling out", "linkability", "inference"} <= set(found)


@pytest.mark.parametrize(("name", "answered"), [("singling-out", True), ("game", False)])
def test_only_a_game_about_singling_out_answers_it(every_record, name, answered):
    found = answers(every_record[name])
    assert ("singling out" in found) == answered
    if answered:
        assert found["singling out"].text.startswith("In the world of the game: ")


def test_only_a_study_of_a_model_answers_what_is_asked_of_models(every_record):
    (edpb,) = (name for name in FRAMEWORKS if name.startswith("EDPB"))
    asked = {one.item: one.finding for one in FRAMEWORKS[edpb]}
    for name, record in every_record.items():
        of_model = record.kind in (
            "classifier", "image-model", "language-model", "secrets", "membership"
        )  # fmt: skip
        found = rows(record)
        for item in ("Direct extraction of personal data", "Personal data in answers to queries",
                     "Tests and resistance to attacks"):  # fmt: skip
            if found[edpb, item][2] != "nothing":
                assert of_model, (name, item, asked[item])
                assert found[edpb, item][2] == answers(record)["inference"].text
    assert rows(every_record["membership"])[edpb, "Direct extraction of personal data"][2] == (
        "nothing"
    )


def test_an_average_is_no_answer_about_the_worst(single):
    assert "worst" in answers(single())
    assert "worst" not in answers(single(groups=[]))
