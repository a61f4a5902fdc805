"""What is said agrees with the numbers."""

from narcissus.study.classifier.words import (
    assessed,
    assumptions,
    not_assessed,
    verdict_words,
)

from .conftest import GIVEN


def test_the_verdict_has_the_counts_and_rounds_the_gain_down(audit):
    results = audit.record.results
    best = results.best
    text = verdict_words(results)
    assert f"gets {best.recovered} of {best.images} images" in text
    said = float(text.partition("at least ")[2].partition(" points")[0])
    assert said <= 100 * best.gain.low < said + 0.11
    assert "5.0 points are accepted" in text


def test_what_is_taken_as_given_depends_on_who_trained(load):
    assert len(assumptions(load().settings)) == 1
    assert len(assumptions(load(GIVEN).settings)) == 2
    assert len(assumptions(load(GIVEN, weights={"shadows": ["shadow.npz"]}).settings)) == 3


def test_what_is_assessed_and_what_is_not(audit, load):
    results = audit.record.results
    assert [one.split()[0] for one in assessed(results)] == ["reconstruction"] * 2
    assert not_assessed(load().settings, results) == []
    worse = results.model_copy(update={"fitted": 0.5, "shadows": 0})
    assert [one.remedy.split("`")[1] for one in not_assessed(load().settings, worse)] == [
        "training.shadows",
        "training.steps",
    ]
