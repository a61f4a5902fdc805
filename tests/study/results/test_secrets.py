"""Results of secrets: a record whose numbers and status disagree is refused."""

import pytest

KIND = "secrets"


def test_the_headline_is_the_setting_that_was_worst(results):
    assert [one.status for one in results.settings][::3] == ["met", "exceeded"]
    assert results.headline.label == results.settings[3].label
    assert results.settings[1].best.name == "argmax"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ((0, "status"), "exceeded", "the numbers say other"),
        ((3, "status"), "met", "the numbers say other"),
        ((3, "at_most"), 0.9, "the numbers say other"),
        ((0, "grade"), "sampled", "grade"),
        ((3, "grade"), "proved", "grade"),
        ((0, "bound", "value"), 0.2, "below what is guessed"),
        ((1, "bound", "value"), 0.3, "no contradiction"),
        ((0, "contradictions"), ["x"], "no contradiction"),
        ((0, "training", "mu"), None, "guarantee without noise|noise without"),
        ((0, "training", "noise"), 0.0, "guarantee without noise|noise without"),
    ],
)
def test_numbers_that_disagree_are_refused(refuses, path, value, said):
    refuses(("settings", *path), value, said)


def test_some_setting_decides(refuses):
    def none(settings):
        return [{**one, "decides": False} for one in settings]

    refuses(("settings",), none, "no setting decides")
    refuses(("claims",), 1, "one claim")
