"""Results of a classifier: a record whose numbers and status disagree is refused."""

import pytest

KIND = "classifier"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("status",), "no threshold", "by the numbers"),
        (("grade",), "proved", "by the numbers"),
        (("claims",), 3, "claims"),
        (("shadows",), 4, "shadow networks"),
        (("attacks", 0, "share"), 0.91, "`share`"),
        (("attacks", 0, "gain", "low"), 0.999, "`gain`"),
        (("attacks", 0, "shadow_chance"), None, "among shadows"),
        (("attacks", 0, "shadow_chance"), 0.001, "rank"),
        (("attacks", 1, "named"), 3, "more images"),
        (("attacks", 0, "shown", 0, "training"), '"><script>', "pattern"),
        (("attacks", 0, "shown", 0, "training"), "aGFsbG8=", "pattern"),
    ],
)
def test_numbers_that_disagree_are_refused(refuses, path, value, said):
    refuses(path, value, said)
