"""Every kind of study offers what the protocol says, and is found by its name alone."""

import pytest
from pydantic import BaseModel

from narcissus.errors import InputError
from narcissus.observer import SILENT
from narcissus.study.kinds import KINDS, RunOptions, named, study_kind


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_refuses_unknown_keys_and_types_its_detail(name):
    kind = study_kind(name)
    assert issubclass(kind.model, BaseModel)
    assert kind.model.model_config["extra"] == "forbid"
    assert kind.detail.model_config["extra"] == "forbid"
    assert named(kind.layout).not_covered
    assert callable(kind.check)
    assert callable(kind.play)
    assert study_kind(name) is kind


def test_a_kind_that_is_not_there_names_the_nearest():
    with pytest.raises(InputError, match="did you mean `channel`"):
        study_kind("chanel")


def test_models_are_kept_in_the_folder_of_the_results_or_nowhere(tmp_path):
    with RunOptions(1, SILENT, folder=tmp_path).place() as place:
        assert place == tmp_path
    with RunOptions(1, SILENT).place() as place:
        assert place.is_dir()
    assert not place.exists()
