"""Results of a language model: a record whose numbers and status disagree is refused."""

import pytest

KIND = "language-model"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("status",), "inconclusive", "by the numbers"),
        (("grade",), "proved", "by the numbers"),
        (("most_gain",), None, "by the numbers"),
        (("claims",), 3, "claims"),
        (("attacks", 0, "groups", 0, "share"), 0.01, "`share`"),
        (("attacks", 0, "groups", 0, "gain", "low"), 0.999, "`gain`"),
        (("attacks", 0, "groups", 0, "gain"), None, "without fresh"),
        (("attacks", 0, "groups", 0, "chance"), None, "without fresh"),
        (("attacks", 0, "groups"), lambda groups: groups[:-1], "add up"),
        (("canaries", 0, "named"), 11, "more canaries"),
        (("canaries", 0, "guess"), 0.5, "alternatives"),
    ],
)
def test_numbers_that_disagree_are_refused(refuses, path, value, said):
    refuses(path, value, said)
