"""What a study file of this kind may say."""

import pytest

from narcissus import load_study
from narcissus.errors import StudyError
from narcissus.study.synthetic.schema import ExcessThreshold


def test_each_risk_may_have_a_threshold_of_its_own():
    threshold = ExcessThreshold.model_validate({"at_most": 0.1, "singling_out": 0.0})
    accepted = [threshold.accepts(r) for r in ("inference", "singling out", "linkability")]
    assert accepted == [0.1, 0.0, 0.1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"threat": {"unknown": []}}, "threat.unknown"),
        ({"threat": {"unkown": ["ill"]}}, "did you mean `unknown`"),
        ({"threshold": {"at_most": 1.0}}, "threshold.at_most"),
        ({"threshold": {"worst_group": 0.1}}, "needs `groups.columns`"),
        ({"threshold": {"at_most": 0.1}, "policy": "p.toml"}, "not both"),
        ({"threat": {"unknown": ["ill"], "linked": [["age"], []]}}, "linked"),
        ({"run": {"confidence": "0.9"}}, "run.confidence"),
    ],
)
def test_mistakes_are_named(files, change, said):
    study = {
        "kind": "synthetic",
        "data": {name: files[name] for name in ("real", "control")} | {"synthetic": files["fresh"]},
        "threat": {"unknown": ["ill"]},
    }
    with pytest.raises(StudyError, match=said):
        load_study(study | change)
