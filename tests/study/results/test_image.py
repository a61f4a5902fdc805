"""Results of a model of images: a record whose numbers and status disagree is refused."""

import json

import numpy as np
import pytest
from pydantic import ValidationError

import narcissus
from narcissus.study.results.image import ImageResults


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("image")
    pixels = np.random.default_rng(1).integers(0, 256, (60, 4, 4), dtype=np.uint8)
    np.save(folder / "images.npy", pixels)
    study = {
        "kind": "image-model",
        "data": {"images": "images.npy"},
        "model": {"name": "mixture", "components": 5},
        "duplicates": {"each": 2, "copies": [20]},
        "relation": {"close": 0.06, "unique": 0.2},
        "pictures": 2,
        "threshold": {"gain": 0.0},
        "run": {"seed": 2},
    }
    return narcissus.run(narcissus.load_study(study, folder=folder)).record.results


def read(results, edit=lambda found: None):
    found = results.model_dump(mode="json")
    edit(found)
    return ImageResults.model_validate_json(json.dumps(found))


def test_what_was_written_is_read(results):
    assert read(results) == results
    assert results.status == "exceeded"


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
        (("groups", 0, "copies"), 1, "must come first"),
        (("groups", 1, "copies"), 0, "must come first"),
        (("pictures", 0, "fresh"), "AAAA", "pixels"),
        (("pictures", 1, "generated"), "no base64!", "pixels"),
        (("shown_shape",), [4, 4, 3], "pixels"),
    ],
)
def test_numbers_that_disagree_are_refused(results, path, value, said):
    def edit(found):
        *places, last = path
        for key in places:
            found = found[key]
        found[last] = value

    with pytest.raises(ValidationError, match=said):
        read(results, edit)


def test_groups_that_do_not_add_up_are_refused(results):
    def edit(found):
        found["groups"].pop(1)

    with pytest.raises(ValidationError, match=r"add up|claims"):
        read(results, edit)


def test_one_number_of_copies_over_the_threshold_is_enough(results):
    """The status is that of the group with the largest gain, whatever the others hide."""
    assert results.worst.copies == 20
    assert results.whole.gain.low < 0.2 < results.worst.gain.low
    made = results.model_copy(update={"most_gain": 0.2})
    assert made.status_by_numbers == "exceeded"
    made = results.model_copy(update={"most_gain": 0.999})
    assert made.status_by_numbers == "too few trials"
