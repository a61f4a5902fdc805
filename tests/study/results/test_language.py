"""Results of a language model: a record whose numbers and status disagree is refused."""

import json

import pytest
from pydantic import ValidationError

import narcissus
from narcissus.study.results.language import LanguageResults


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language")
    lines = [f"the {i * 7919 % 1000:03d}rd letter of {i * 31337 % 10**6:06d}" for i in range(60)]
    (folder / "letters.txt").write_text("\n".join([*lines, *lines[:9]]))
    study = {
        "kind": "language-model",
        "data": {"documents": "letters.txt"},
        "model": {"name": "ngram"},
        "canaries": {"each": 3, "copies": [2], "alternatives": 9},
        "generation": {"samples": 50, "length": 40, "top": 20, "window": 12},
        "completion": {"prefix": 10, "window": 8},
        "threshold": {"gain": 0.0},
        "run": {"seed": 2},
    }
    return narcissus.run(narcissus.load_study(study, folder=folder)).record.results


def read(results, edit=lambda found: None):
    found = results.model_dump(mode="json")
    edit(found)
    return LanguageResults.model_validate_json(json.dumps(found))


def test_what_was_written_is_read(results):
    assert read(results) == results


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
        (("attacks", 0, "groups", 0, "copies"), 1, "must come first"),
        (("attacks", 0, "groups", 1, "copies"), 0, "must come first"),
        (("canaries", 0, "named"), 4, "more canaries"),
        (("canaries", 0, "guess"), 0.5, "alternatives"),
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
        found["attacks"][0]["groups"].pop()

    with pytest.raises(ValidationError, match=r"add up|claims"):
        read(results, edit)
