"""The words agree with the numbers, and say what they rest on."""

from narcissus.extraction.recovered import Division, TextDocument
from narcissus.study.language.words import assumptions, verdict_words


def test_the_verdict_names_attack_counts_and_gain(audit):
    results = audit.record.results
    whole = results.best.whole
    said = audit.record.verdict
    assert said == verdict_words(results)
    assert f"recovers {whole.recovered} of {whole.documents} documents" in said
    assert "0.0% of documents that it never saw" in said
    shown = float(said.partition("at least ")[2].partition(" points")[0])
    assert 100 * whole.gain.low - 0.1001 <= shown <= 100 * whole.gain.low  # rounded down


def test_what_others_trained_on_is_taken_on_trust():
    sides = (TextDocument("a"),), (TextDocument("b"),)
    assert len(assumptions(Division(*sides, by_chance=True), None)) == 1
    given = assumptions(Division(*sides), None)
    assert "was not trained on them" in given[1]


def test_what_is_not_assessed_is_named(audit):
    named = [one.quantity for one in audit.record.not_assessed]
    assert any("against complexity" in one for one in named)
    assert not any("without the documents" in one for one in named)  # there is a reference model
