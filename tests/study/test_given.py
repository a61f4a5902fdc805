"""A study as a dictionary: plain values stay, objects get names, no two objects pass for one."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.errors import InputError, StudyError
from narcissus.study.given import FRAME, digest_of_object, split
from narcissus.tables import Bins

FOLK = pd.DataFrame({"job": ["cook", "clerk"] * 20, "ill": ["no", "no", "no", "yes"] * 10})
PLAIN = {"threat": {"unknown": ["ill"], "targets": 10}, "mechanism": {"k": 2, "epsilon": 1.0}}


class Part:
    def __init__(self, value):
        self.value = value


def test_what_a_file_could_say_stays_as_it_is():
    study = {"a": 1, "b": [True, 0.5, "x"], "c": {"d": {"e": []}}}
    assert split(study) == (study, {})


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3), (np.float64(0.5), 0.5), (np.bool_(True), True),
        (np.array([1, 2]), [1, 2]), ((1, (2,)), [1, [2]]), (range(2), [0, 1]),
        (pd.Index(["a"]), ["a"]), (pd.Series([0.5]), [0.5]), (Path("a/b"), "a/b"),
        (Bins(above=1), {"above": 1}), (np.array([np.float64(1)], dtype=object), [1.0]),
    ],
    ids=repr,
)  # fmt: skip
def test_values_of_numpy_and_pandas_are_taken_for_what_they_say(value, plain):
    found, objects = split({"key": value})
    assert found == {"key": plain}
    assert type(found["key"]) is type(plain)
    assert not objects


def test_none_counts_as_left_out():
    assert split({"a": None, "b": {"c": None}}) == ({"b": {}}, {})


def test_objects_are_named_by_their_place():
    one, two, three = Part(1), Part(2), Part(3)
    study = {"world": one, "attack": [{"name": two, "row": 1}], "attacks": {"mine": three}}
    plain, objects = split(study)
    assert plain == {
        "world": {"name": "python:world"},
        "attack": [{"name": "python:attack.1", "row": 1}],
        "attacks": {"mine": {"name": "python:attacks.mine"}},
    }
    assert objects == {
        "python:world": one, "python:attack.1": two, "python:attacks.mine": three
    }  # fmt: skip
    assert split({"prior": one})[0] == {"prior": {"name": "python:prior"}}


@pytest.mark.parametrize("data", [FOLK, {"frame": FOLK}], ids=["data", "data.frame"])
def test_a_frame_is_the_table(data):
    plain, objects = split({"data": data})
    assert plain == {"data": {"table": FRAME}}
    assert objects[FRAME].equals(FOLK)


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ({"data": {1: "x"}}, "keys in `data` must be text, got 1"),
        ({2: {}}, "keys must be text, got 2"),
    ],
)
def test_keys_are_text(study, message):
    with pytest.raises(StudyError, match=message):
        split(study)


def test_a_dictionary_within_itself_is_refused():
    study = {}
    study["a"] = study
    with pytest.raises(StudyError, match="nested more than 32 deep"):
        split(study)


def test_a_frame_that_is_changed_afterwards_changes_no_study():
    frame = FOLK.copy()
    study = narcissus.load_study({**PLAIN, "data": frame, "run": {"trials": 2, "workers": 1}})
    frame["ill"] = "no"
    [guess, *_] = narcissus.run(study, rng=1).record.rows
    assert guess.role == "guess"
    assert guess.value < 1


def test_a_name_without_its_object_says_so():
    with pytest.raises(InputError, match=r"`python:frame` stands for an object.*give it again"):
        narcissus.load_study({**PLAIN, "data": {"table": FRAME}})
    attacks = {"mine": {"name": "python:attacks.mine"}}
    with pytest.raises(InputError, match=r"`python:attacks\.mine` stands for an object"):
        narcissus.load_study({**PLAIN, "data": FOLK, "attacks": attacks})


def test_digests_tell_objects_apart():
    assert digest_of_object(Part(1)) == digest_of_object(Part(1)) != digest_of_object(Part(2))
    assert digest_of_object(Part) != digest_of_object(Part(1))
    assert digest_of_object(test_none_counts_as_left_out) != digest_of_object(Part)


def test_what_may_hide_something_is_never_the_same():
    def make(value):
        def inner():
            return value

        return inner

    main = type("Main", (), {"__module__": "__main__"})()
    unwritten = Part(sys._getframe())  # no frame can be pickled
    for made in (make(1), main, unwritten, lambda: 1):
        digest = digest_of_object(made)
        assert digest.startswith("not known")
        assert digest != digest_of_object(made)
