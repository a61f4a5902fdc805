"""Results of a classifier: a record whose numbers and status disagree is refused."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

import narcissus
from narcissus.study.results.classifier import ClassifierResults

EXAMPLES = Path(__file__).parents[3] / "examples" / "classifiers"


@pytest.fixture(scope="module")
def results():
    study = {
        "kind": "classifier",
        "data": {"images": "digits.npz", "offset": "mean", "scale": 8.0},
        "training": {"images": 10, "hidden": [30], "steps": 800, "shadows": 1},
        "reconstruction": {"starts": 0},
        "informed": {"targets": 2, "steps": 20},
        "pictures": 1,
        "threshold": {"gain": 0.0},
        "run": {"seed": 3},
    }
    return narcissus.run(narcissus.load_study(study, folder=EXAMPLES)).record.results


def read(results, edit=lambda found: None):
    found = results.model_dump(mode="json")
    edit(found)
    return ClassifierResults.model_validate_json(json.dumps(found))


def test_what_was_written_is_read(results):
    assert read(results) == results


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
def test_numbers_that_disagree_are_refused(results, path, value, said):
    def edit(found):
        *places, last = path
        for key in places:
            found = found[key]
        found[last] = value

    with pytest.raises(ValidationError, match=said):
        read(results, edit)


@pytest.mark.parametrize(
    ("gains", "most", "status"),
    [
        ((0.3, 0.2), 0.1, "exceeded"),
        ((0.3, 0.05), 0.1, "too few trials"),
        ((0.08, 0.05), 0.1, "inconclusive"),
        ((0.3, 0.2), None, "no threshold"),
    ],
)
def test_an_attack_that_fails_proves_nothing(results, gains, most, status):
    value, low = gains
    attacks = tuple(
        one.model_copy(update={"gain": one.gain.model_copy(update={"value": value, "low": low})})
        for one in results.attacks
    )
    found = results.model_copy(update={"attacks": attacks, "most_gain": most})
    assert found.status_by_numbers == (status, "sampled")
