"""A record's status against its own results: what agrees is taken, each slip has its sentence."""

import pytest

from narcissus.report.about import verdict_of
from narcissus.report.acro import acro_output
from narcissus.report.statement import statement_markdown, statement_of
from narcissus.study.reading import disagreement, read_record


@pytest.fixture
def record(old_record):
    """Give the function that reads a record, changes it, and asks whether it agrees."""

    def changed(name, results=None, **values):
        found = read_record(old_record("last", name))
        if results is not None:
            values["results"] = results(found.results)
        return disagreement(found.model_copy(update=values))

    return changed


def test_records_of_every_kind_agree_with_themselves(any_old_record):
    assert disagreement(read_record(any_old_record)) == ""


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("channel", {"verdict": " "}, "there is no verdict"),
        ("channel", {"contradictions": ["a and b"]}, "statements of the record contradict"),
        ("channel", {"status": "contradicted"}, "no contradiction is named"),
        ("game", {"status": "inconclusive"}, "'inconclusive', and that of the rows 'met'"),
        ("table", {"status": "exceeded"}, "'exceeded', and that of the rows 'met'"),
        ("sweep", {"status": "no threshold"}, "'no threshold', and that of the rows"),
    ],
)
def test_what_does_not_agree_is_said(record, name, changes, says):
    assert says in record(name, **changes)


def test_a_study_other_than_the_digest_s_is_said(old_record):
    found = read_record(old_record("last", "channel"))
    found.study["title"] = "Another"
    assert "another one than that of the digest" in disagreement(found)


def test_what_an_attack_was_seen_to_do_stands_whatever_is_refuted(record):
    """Alone among statuses: it needs no statement that a contradiction could refute."""
    seen = {"status": "exceeded", "contradictions": ["a and b"]}
    assert "contradict each other" not in record("sweep", **seen)
    said = record("game", status="exceeded", contradictions=["a and b"])
    assert said == "the status is 'exceeded', and that of the rows 'met'"


def test_no_page_repeats_a_verdict_that_the_results_do_not_give(any_old_record):
    """A sentence in favour was taken from the record by a page and the export."""
    found = read_record(any_old_record)
    written = found.model_copy(update={"verdict": "Nothing at all is given away."})
    pages = [statement_markdown(statement_of(written))]
    pages.append(str(acro_output(written, [], "")))
    for page in pages:
        joined = " ".join(page.split())
        assert written.verdict not in joined
    assert verdict_of(written) in acro_output(written, [], "")["comments"]


def test_contradictions_are_those_of_the_results(old_record):
    found = read_record(old_record("last", "channel"))
    seen = {"status": "exceeded", "contradictions": ["a and b"]}
    assert disagreement(found.model_copy(update=seen))
