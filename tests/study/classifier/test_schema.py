"""The study file of a classifier, and its shipped example."""

import base64
from pathlib import Path

import pytest

import narcissus
from narcissus.errors import StudyError
from narcissus.study.classifier.schema import ClassifierStudy

EXAMPLE = Path(__file__).parents[3] / "examples" / "classifiers" / "digits.toml"


def test_the_example_gives_what_it_says():
    study = narcissus.load_study(EXAMPLE)
    assert isinstance(study.settings, ClassifierStudy)
    small = study.to_dict() | {"kind": "classifier"}
    small["training"] |= {"shadows": 0, "steps": 800, "hidden": [40]}
    small["informed"]["targets"] = 2
    record = narcissus.run(narcissus.load_study(small, folder=EXAMPLE.parent)).record
    assert record.status == study.settings.expected == "exceeded"
    assert len(record.results.attacks[0].shown) == study.settings.pictures
    first = record.results.attacks[0].shown[0]
    assert base64.b64decode(first.training).startswith(b"\x89PNG")
    assert first.training != first.fresh


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
