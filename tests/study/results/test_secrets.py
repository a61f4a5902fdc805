"""Results of secrets: a record whose numbers and status disagree is refused."""

import json

import pytest
from pydantic import ValidationError

import narcissus
from narcissus.study.results.secrets import SecretsResults

STUDY = {
    "kind": "secrets",
    "prior": {"name": "uniform", "n": 4},
    "mechanism": {"name": "ngram-dp-sgd", "epsilon": [1.0, 8.0], "steps": 3},
    "attacks": {"argmax": {}},
    "threshold": {"success": 0.42},
    "run": {"models": 400, "seed": 3},
}


@pytest.fixture(scope="module")
def results():
    return narcissus.run(narcissus.load_study(STUDY)).record.results


def read(results, edit=lambda found: None):
    found = results.model_dump(mode="json")
    edit(found)
    return SecretsResults.model_validate_json(json.dumps(found))


def test_what_was_written_is_read(results):
    assert read(results) == results
    assert [one.status for one in results.settings] == ["met", "exceeded"]
    assert results.headline.label == results.settings[1].label
    assert results.settings[1].best.name == "argmax"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ((0, "status"), "exceeded", "the numbers say other"),
        ((1, "status"), "met", "the numbers say other"),
        ((1, "at_most"), 0.9, "the numbers say other"),
        ((0, "grade"), "sampled", "grade"),
        ((1, "grade"), "proved", "grade"),
        ((0, "bound", "value"), 0.2, "below what is guessed"),
        ((1, "bound", "value"), 0.3, "no contradiction"),
        ((0, "contradictions"), ["x"], "no contradiction"),
        ((0, "training", "mu"), None, "guarantee without noise|noise without"),
        ((0, "training", "noise"), 0.0, "guarantee without noise|noise without"),
    ],
)
def test_numbers_that_disagree_are_refused(results, path, value, said):
    def edit(found):
        where = found["settings"]
        for key in path[:-1]:
            where = where[key]
        where[path[-1]] = value

    with pytest.raises(ValidationError, match=said):
        read(results, edit)


def test_some_setting_decides(results):
    def none(found):
        for one in found["settings"]:
            one["decides"] = False

    with pytest.raises(ValidationError, match="no setting decides"):
        read(results, none)
    with pytest.raises(ValidationError, match="one claim"):
        read(results, lambda found: found.update(claims=1))
