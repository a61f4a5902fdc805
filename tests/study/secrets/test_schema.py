"""The study file: one prior or several, attacks by key, what is refused with its place."""

import pytest

import narcissus
from narcissus.errors import InputError, StudyError
from narcissus.study.secrets.schema import SecretsStudy, SecretThreshold


def test_one_prior_is_a_list_of_one(study):
    one = narcissus.load_study(study()).settings
    assert [part.name for part in one.prior] == ["zipf"]
    two = narcissus.load_study(study(prior=[{"name": "pii"}, {"name": "uniform"}])).settings
    assert [prior.words for prior in two.priors()] == ["PII-like over 10, assumed",
                                                       "uniform over 10"]  # fmt: skip
    assert narcissus.load_study(study(attacks=None)).settings.attacks.keys() == {
        "argmax", "posterior", "ranking",
    }  # fmt: skip


def test_the_schema_tells_of_both_forms():
    prior = SecretsStudy.model_json_schema()["properties"]["prior"]
    [several] = [form for form in prior["anyOf"] if form.get("type") == "array"]
    one = [form["title"] for form in prior["anyOf"] if form.get("type") == "object"]
    assert one == [form["title"] for form in several["items"]["anyOf"]]
    assert one == ["language-model", "listed", "names", "pii", "uniform", "zipf"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prior": {"name": "zipff"}}, "did you mean `zipf`"),
        ({"prior": {"name": "zipf", "k": 3}}, "options s, n"),
        ({"prior": []}, "prior"),
        ({"prior": {"name": "listed", "chances": [0.5, 0.4]}}, "sum to 1"),
        ({"prior": {"name": "names", "file": "none.txt"}}, "no such file"),
        ({"prior": {"name": "language-model", "model": "gpt", "candidates": "x"}}, "no such file"),
        ({"mechanism": {"steps": 0}}, "steps"),
        ({"mechanism": {"epsilon": [1.0, 1.0]}}, "different levels"),
        ({"mechanism": {"start": "warm"}}, "start"),
        ({"attacks": {}}, "at least one attack"),
        ({"attacks": {"argmin": {}}}, "did you mean `argmax`"),
        ({"threshold": {"reason": "x"}}, "`success`, `advantage` or both"),
        ({"threshold": {"success": 0.5}, "policy": "p.toml"}, "not both"),
        ({"run": {"models": 5}}, "run.models"),
    ],
)
def test_what_is_refused(study, changes, said):
    document = study(**changes)
    whole = {key: changes[key] for key in ("attacks", "prior") if key in changes}
    document |= whole
    with pytest.raises((StudyError, InputError), match=said):
        narcissus.load_study(document)


def test_both_limits_must_be_kept():
    assert SecretThreshold(advantage=0.1).most(0.5) == pytest.approx(0.55)
    assert SecretThreshold(success=0.3).most(0.1) == 0.3
    assert SecretThreshold(success=0.3, advantage=0.5).most(0.1) == 0.3
    assert SecretThreshold(success=0.9, advantage=0.5).most(0.1) == pytest.approx(0.55)


def test_a_level_that_is_not_played(study):
    with pytest.raises(InputError, match=r"no epsilon of \[mechanism\]: 1, 8"):
        narcissus.load_study(study(threshold={"success": 0.5, "at": 3.0}))
