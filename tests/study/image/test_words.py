"""The words agree with the numbers, and say what they rest on."""

import numpy as np

from narcissus.extraction.images import DividedImages, counted_images
from narcissus.study.image.kind import assumptions, not_assessed, verdict_words


def test_the_verdict_names_counts_and_gain(audit):
    results = audit.record.results
    whole, worst = results.whole, results.worst
    said = audit.record.verdict
    assert said == verdict_words(results)
    assert f"gives back {whole.reproduced} of {whole.images} outliers" in said
    assert "0.0% of those that it never saw" in said
    assert f"with {worst.copies} copies, it gives back {worst.reproduced} of" in said
    assert whole.gain.low > 0 >= whole.shown_gain  # 2 of 10: chance alone may give as many
    assert "no gain is shown" in said
    shown = float(said.partition("at least ")[2].partition(" points")[0])
    assert 100 * worst.gain.low - 0.1001 <= shown <= 100 * worst.gain.low  # rounded down


def test_what_others_trained_on_is_taken_on_trust():
    sides = (counted_images(np.full((1, 2, 2), value)) for value in (0.1, 0.2))
    trained, fresh = sides
    assert len(assumptions(DividedImages(trained, fresh, by_chance=True))) == 1
    assert "was not trained on them" in assumptions(DividedImages(trained, fresh))[1]


def test_what_is_missing_is_named(audit):
    results = audit.record.results
    assert not_assessed(results) == []
    group = results.whole.model_copy(update={"fresh": None, "shadows": None, "gain": None})
    found = not_assessed(results.model_copy(update={"groups": (group,)}))
    assert ["never saw" in found[0].quantity, "shadow" in found[1].quantity] == [True, True]
