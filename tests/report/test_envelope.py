"""What every report says: what was assessed and not, where it is from, the study as played."""

from narcissus.report import Facts, Grid, Items, Page, Section, Text, Verdict
from narcissus.report.envelope import assessment, complete, flat, provenance
from narcissus.report.format import GRADES, grade_word
from narcissus.report.gives_away import TITLE


def test_settings_are_dotted_and_what_is_not_set_is_left_out():
    study = {
        "title": "", "run": {"seed": 7, "workers": None}, "attacks": {"prior": {}},
        "mechanism": {"epsilon": [1.0, None], "k": 3}, "none": [],
        "attack": [{"name": "a", "row": 0}, {"name": "b", "all": True, "some": False}],
    }  # fmt: skip
    assert dict(flat(study)) == {
        "run.seed": "7", "mechanism.epsilon": "1.0, infinite", "mechanism.k": "3",
        "attack[1].name": "a", "attack[1].row": "0",
        "attack[2].name": "b", "attack[2].all": "yes", "attack[2].some": "no",
    }  # fmt: skip


def boxes(section):
    return {block.title: block for block in section.blocks if isinstance(block, Items)}


def test_what_was_not_assessed_comes_with_its_remedy_as_a_warning(table_record):
    found = boxes(assessment(table_record(1)))
    box = found["Not assessed, so it may be unsafe"]
    assert box.tone == "warning"
    assert list(box.items) == [
        "A bound at no noise: without noise there is no guarantee to start from. "
        "Remedy: read the ceiling instead."
    ]
    assert len(found["Assessed"].items) == 2
    assert found["What this does not cover"].tone == "warning"


def test_that_all_was_assessed_is_said(table_record):
    found = boxes(assessment(table_record(1, not_assessed=[])))
    assert list(found["Not assessed"].items) == ["Everything that the study asked was assessed."]


def test_contradictions_stand_first(table_record):
    blocks = assessment(table_record(1, contradictions=["a and b", "c and d"])).blocks
    assert (blocks[0].tone, list(blocks[0].items)) == ("against", ["a and b", "c and d"])


def test_everything_needed_to_get_the_same_numbers_again_is_there(table_record):
    record = table_record(1)
    text, facts, settings, _, grades, level = provenance(record).blocks
    assert isinstance(text, Text)
    rows = dict(facts.rows)
    assert rows["Digest of the record"] == record.digest
    assert rows["Digest of the data"] == "sha256:" + "2" * 64
    assert rows["Seed"] == "7"
    assert rows["Python"] == "3.11.2; numpy 2.0.0, scipy 1.14.0, pandas 2.2.0"
    assert isinstance(settings, Grid)
    assert ("run.seed", "7") in settings.rows
    assert isinstance(grades, Facts)
    assert "once in twenty at 95%" in level.paragraphs[0]
    assert dict(grades.rows) == {grade_word(grade): text for grade, text in GRADES.items()}


def test_a_kind_s_own_sections_stand_between_and_the_verdict_takes_its_grade(table_record):
    record = table_record(1, assumptions=["the prior is right"], grade="approximate")
    own = Page("T", "S", Verdict("met", ""), [Section("Mine", [])])
    page = complete(own, record)
    titles = [section.title for section in page.sections]
    assert titles == ["What was assessed, and what was not", "Mine", TITLE, "Provenance"]
    assert page.verdict.rests_on == "approximate"
    assert list(page.verdict.assumptions) == ["the prior is right"]
