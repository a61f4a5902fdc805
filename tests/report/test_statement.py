"""A statement to sign: nothing in it is stronger than in the record that it is drawn from."""

import io
import re
import xml.etree.ElementTree as ET
import zipfile
from typing import get_args

import pytest

from narcissus.report.about import numbers_of, subject_of, uncovered_of
from narcissus.report.envelope import page_of
from narcissus.report.format import SIGNS, STATUS, grade_word
from narcissus.report.statement import (
    MOST_NAMES,
    STANDING,
    UNDECIDED,
    accepted,
    answers,
    criteria_of,
    no_stronger,
    statement_docx,
    statement_markdown,
    statement_of,
)
from narcissus.results import GRADES, Status
from narcissus.study.kinds import study_kind
from narcissus.study.record import Remark

REFUTED = {"contradictions": ["a theorem says 1, an attack 2"], "status": "contradicted"}
FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?%?")
SURE = [f"{SIGNS[grade]} {grade_word(grade)}" for grade in GRADES]


def sections(record):
    """Give the blocks of each section by its title."""
    return {section.title: section.blocks for section in statement_of(record).sections}


def lists(record):
    """Give the lists of a statement by their titles."""
    blocks = [block for blocks in sections(record).values() for block in blocks]
    return {block.title: block.items for block in blocks if hasattr(block, "items")}


def numbers(record):
    return next(blocks[0].rows for title, blocks in sections(record).items() if "Three" in title)


def test_every_kind_has_one_to_two_pages_with_all_parts(every_record):
    for record in every_record.values():
        text = statement_markdown(statement_of(record))
        assert len(text.split()) <= 900
        for part in (record.digest, "Threshold", "Singling out", "Signature", "Date"):
            assert part in text


def test_the_longest_lists_fit_on_two_pages_and_the_rest_is_counted(every_record):
    long = ["a condition that somebody declared about people like these " * 9 for _ in range(9)]
    remarks = [
        Remark(quantity=f"thing {k}", reason=text, remedy="wait") for k, text in enumerate(long)
    ]
    for record in every_record.values():
        names = ("assumptions", "contradictions")
        update = {**dict.fromkeys(names, long), "not_assessed": remarks}
        changed = record.model_copy(update=update)
        text = statement_markdown(statement_of(changed))
        assert len(text.split()) <= 900
        assert "and 5 more, in the report" in text


def test_the_three_numbers_are_those_of_the_record_with_their_grades(every_record):
    """Each is a sentence of the first screen, which is tested against the row that decided."""
    for record in every_record.values():
        first = page_of(record).first
        drawn = [(text, sure) for _, text, sure in numbers(record)]
        assert drawn == [
            (text, f"{SIGNS[grade or 'not assessed']} {grade_word(grade or 'not assessed')}")
            for text, grade in first.sentences
        ]


def test_no_figure_is_of_the_statement_alone(every_record):
    for record in every_record.values():
        page, subject = page_of(record), subject_of(record)
        known = [*(text for text, _ in page.first.sentences), page.first.answer, page.first.hardest]
        known += [text for row in numbers_of(record) for text in row[:3]]
        known += [answer.text for answer in answers(record).values()]
        known += [limit.text for limit in subject.limits]
        known += [subject.released, page.first.about, accepted(record), record.title, record.digest]
        known += [*record.assumptions, *record.contradictions, *uncovered_of(record)]
        known += [text for limit in subject.limits for text in limit.given]
        known += [f"{gap.quantity} {gap.reason}" for gap in record.not_assessed]
        known += [record.provenance.narcissus, *record.assessed, "WP216", "28/2024", "TEHDAS2"]
        known += [page.first.word, subject.no_ground, subject.against, "more, in the report 1 2 3"]
        known += [str(k) for k in range(10)]  # how many more there are
        figures = {figure for text in known for figure in FIGURE.findall(text)}
        text = statement_markdown(statement_of(record)).replace("\\", "")
        assert set(FIGURE.findall(text)) <= figures


@pytest.mark.parametrize("status", get_args(Status))
@pytest.mark.one_in(3)
def test_only_what_is_met_reads_as_in_favour(every_record, status):
    for record in every_record.values():
        changed = record.model_copy(update={"status": status})
        statement = statement_of(changed)
        assert statement.standing == STANDING.get(status, UNDECIDED)
        assert STATUS[status][1] in statement.answer
        assert f"({grade_word(record.grade)})" in statement.answer
        text = statement_markdown(statement).replace("\\", "")
        assert ("The threshold is kept, for" in text) == (status == "met")
        assert ("✓ Met" in text) == (status == "met")


def test_grades_are_there_and_where_statements_are_at_odds_nothing_is_proved(every_record):
    proved = 0
    for record in every_record.values():
        for changed in (record, record.model_copy(update=REFUTED)):
            rows = [*numbers(changed), *criteria_of(changed).rows]
            assert {row[-1] for row in rows} <= {*SURE, "as stated"}
            sure = {row[-1] for row in rows} & set(SURE[: GRADES.index("proved if") + 1])
            proved += changed is record and bool(sure)
            if changed is not record:
                assert not sure
                assert lists(changed)["Refuted"] == REFUTED["contradictions"]
                assert "It holds only if" not in lists(changed)
    assert proved  # else nothing was tested


@pytest.mark.parametrize("grade", GRADES)
def test_grades_only_fall_and_only_proofs_where_statements_are_at_odds(table_record, grade):
    assert no_stronger(grade, table_record()) == grade
    fallen = no_stronger(grade, table_record(contradictions=["a"]))
    assert fallen == ("not assessed" if grade.startswith("proved") else grade)


def test_what_is_not_accounted_for_is_listed(every_record, monkeypatch):
    from narcissus.rows import Findings, Unaccounted

    record = every_record["synthetic"]
    assert "Not accounted for" not in lists(record)
    names = [f"column {k}" for k in range(MOST_NAMES + 3)]
    items = tuple(Unaccounted(subject=n, reason="Why.", declaration="write") for n in names)
    monkeypatch.setattr(Findings, "unaccounted", property(lambda _: items))
    listed = lists(record)["Not accounted for"]
    assert listed == [*names[:MOST_NAMES], "and 3 more, in the report"]
    assert study_kind(record.kind).judged(record).unaccounted == items


def test_assumptions_and_open_questions_are_listed(every_record):
    for record in every_record.values():
        listed = lists(record.model_copy(update={"assumptions": ["it rains"]}))
        assert listed["It holds only if"][0] == "it rains"
        questions = " ".join(listed.get("Not assessed, so it may be unsafe", []))
        for gap in record.not_assessed[:4]:
            assert gap.quantity[:60] in questions
        subject = subject_of(record)
        risks = listed.get("Residual risk", [])
        assert ("No number here limits every attacker." in risks) == (not subject.limits)


@pytest.mark.parametrize("name", ["game", "extraction"])
def test_a_kind_that_is_no_ground_for_a_decision_says_so(every_record, name):
    risks = lists(every_record[name])["Residual risk"]
    assert any(text.startswith("No ground for a decision about people: ") for text in risks)


def test_a_table_answers_inference_and_not_singling_out(single):
    found = {row[0].partition(" (")[0]: row[1:] for row in criteria_of(single()).rows}
    assert found["Inference"] == (
        "56.0% recovered, 53.0% guessed without (ε = 1)",
        f"{SIGNS['sampled']} estimated",
    )
    nothing = ("nothing in this record", f"{SIGNS['not assessed']} not assessed")
    assert found["Singling out"] == found["Linkability"] == nothing


def test_a_synthetic_file_answers_all_three_criteria(every_record):
    record = every_record["synthetic"]
    found = answers(record)
    for setting in study_kind(record.kind).judged(record).each:
        if (risk := setting.criterion.name) in found and not setting.label:
            assert setting.status in found[risk].text
    assert {"singling out", "linkability", "inference"} <= set(found)


def test_only_a_study_of_a_model_answers_what_is_asked_of_models(every_record):
    of_models = {"classifier", "image-model", "language-model", "secrets"}
    for record in every_record.values():
        names = [row[0] for row in criteria_of(record).rows]
        assert not any("Extraction" in name for name in names) or record.kind in of_models
    assert "extraction" in answers(every_record["language-model"])
    assert "extraction" not in answers(every_record["membership"])


def test_what_was_accepted_has_its_direction_reason_and_author(every_record, table_record):
    said = accepted(table_record(1))
    assert said == "share at most 70.0%; why: Made up for a test; set by: Nobody"
    assert "no threshold was set" in accepted(
        table_record(1, threshold=None, status="inconclusive")
    )
    assert accepted(every_record["game"]).startswith("the statement: success <= ")
    assert accepted(every_record["synthetic"]).startswith("excess at most ")
    study = {"threshold": {"beta_star": 0.5, "reason": "", "origin": ""}, "policy": None}
    channel = every_record["channel"].model_copy(update={"study": study})
    assert accepted(channel) == "beta star at least 50.0%; set by: not stated"


TRAP = "</w:t>&<script>|[x](https://a.example)\u202e\x1b[2J"


def test_names_of_others_are_text(table_record):
    statement = statement_of(table_record(1, title=TRAP))
    text = statement_markdown(statement)
    assert "](" not in text.replace("\\](", "")
    assert "<script" not in text.replace("\\<", "")
    assert not {"\u202e", "\x1b"} & set(text)
    assert TRAP[:20] in "".join(ET.fromstring(document(statement)).itertext())


def document(statement):
    with zipfile.ZipFile(io.BytesIO(statement_docx(statement))) as file:
        assert file.testzip() is None
        return file.read("word/document.xml")


def test_a_docx_holds_the_same_texts_and_is_the_same_each_time(every_record):
    for record in every_record.values():
        statement = statement_of(record)
        assert statement_docx(statement) == statement_docx(statement)
        texts = [
            e.text or "" for e in ET.fromstring(document(statement)).iter() if e.tag[-2:] == "}t"
        ]
        assert texts[0] == statement.title
        assert texts[1] == statement.answer
        for _, text, sure in numbers(record):
            assert text in texts
            assert sure in texts
