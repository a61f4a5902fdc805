"""How evidence reads."""

from dataclasses import fields

from narcissus.extraction.evidence import CAVEAT, ExtractionEvidence


def test_it_says_its_caveat_and_has_the_grade_of_its_verdict():
    given = {field.name: None for field in fields(ExtractionEvidence)}
    given |= {"verdict": "no extraction", "reasons": ("one", "two"), "verdict_grade": "sampled"}
    found = ExtractionEvidence(**given | {"caveat": CAVEAT})
    assert str(found).splitlines() == ["NO EXTRACTION: one", "two", CAVEAT]
    assert found.grade == "sampled"
