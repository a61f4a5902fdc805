"""Results of a model of images: a record whose numbers and status disagree is refused."""

import pytest

KIND = "image-model"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("status",), "inconclusive", "by the numbers"),
        (("grade",), "proved", "by the numbers"),
        (("most_gain",), None, "by the numbers"),
        (("claims",), 3, "claims"),
        (("groups", 0, "share"), 0.01, "`share`"),
        (("groups", 0, "gain", "low"), 0.999, "`gain`"),
        (("groups", 0, "gain"), None, "without fresh"),
        (("groups", 0, "reproduced"), 99, "more images"),
        (("groups",), lambda groups: [groups[0], *groups[2:]], "add up"),
        (("pictures", 0, "fresh"), "AAAA", "pixels"),
        (("pictures", 1, "generated"), "no base64!", "pixels"),
        (("shown_shape",), [4, 4, 3], "pixels"),
    ],
)
def test_numbers_that_disagree_are_refused(refuses, path, value, said):
    refuses(path, value, said)


def test_one_number_of_copies_over_the_threshold_is_enough(results):
    """The status is that of the group with the largest gain, whatever the others hide."""
    assert results.worst.copies == 20
    assert results.whole.gain.low < 0.2 < results.worst.gain.low
    made = results.model_copy(update={"most_gain": 0.2})
    assert made.status_by_numbers == "exceeded"
    made = results.model_copy(update={"most_gain": 0.999})
    assert made.status_by_numbers == "too few trials"
