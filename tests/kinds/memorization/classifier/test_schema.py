"""The study file of a classifier, and its shipped example."""

from pathlib import Path

import pytest

import narcissus
from narcissus.errors import StudyError
from narcissus.kinds.memorization.classifier.schema import ClassifierStudy

EXAMPLE = Path(__file__).parents[4] / "examples" / "classifiers" / "digits.toml"


def test_the_example_is_one_of_this_kind():
    """It is played by the test of docs/guides/models/classifiers.md."""
    study = narcissus.load_study(EXAMPLE).settings
    assert isinstance(study, ClassifierStudy)
    assert (study.expected, study.pictures, study.training.shadows) == ("exceeded", 6, 19)


def test_nothing_of_single_images_is_the_default():
    found = {"kind": "classifier", "data": {"images": "x.npz"}, "training": {}}
    assert ClassifierStudy(**{k: v for k, v in found.items() if k != "kind"}).pictures == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"trainin": {}}, "did you mean `training`"),
        ({"success": {"correlation": 1.5}}, "correlation"),
        ({"informed": True}, "informed"),
        ({"threshold": {"gain": 2}}, "gain"),
        ({"data": {"shape": [1, 2, 3, 4]}}, "shape"),
    ],
)
def test_slips_are_named(load, changes, said):
    with pytest.raises(StudyError, match=said):
        load(**changes)
