"""Every kind of study offers what the protocol says, and is found by its name alone."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from narcissus.errors import InputError, StudyError
from narcissus.observer import SILENT
from narcissus.study.kinds import KINDS, RunOptions, study_kind
from narcissus.study.load import load_study
from narcissus.study.reading import read_record
from narcissus.study.registry import loaded


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_refuses_unknown_keys_and_types_its_detail(name):
    kind = study_kind(name)
    assert issubclass(kind.model, BaseModel)
    assert kind.model.model_config["extra"] == "forbid"
    assert kind.result.model_config["extra"] == "forbid"
    assert loaded(kind.layout).not_covered
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


@pytest.mark.parametrize("kind", ["secrets", "synthetic", "membership", "channel"])
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('budget = "10m"', "only studies of tables and games have it"),
        ("quick = true", "only studies of tables have it"),
        ('seed = "auto"', 'only studies of tables and games take "auto"'),
    ],
)
def test_what_only_a_study_of_a_table_takes_is_said_to_be_its(tmp_path, kind, line, said):
    (tmp_path / "s.toml").write_text(f'kind = "{kind}"\n[run]\n{line}\n')
    with pytest.raises(InputError, match=said):
        load_study(tmp_path / "s.toml")


def test_a_kind_of_the_papers_without_their_package_is_answered_by_its_name(monkeypatch):
    """A study, a record and a schema: the sentence names the package and where it is."""
    monkeypatch.delitem(KINDS, "copyright", raising=False)
    says = "need the package narcissus-papers, which is not installed here: it is in packages/"
    with pytest.raises(InputError, match=says):
        study_kind("copyright")
    with pytest.raises(StudyError, match=f"the study.*{says}"):
        load_study({"kind": "copyright"})
    with pytest.raises(InputError, match=f"copyright.json cannot be read: .*{says}"):
        read_record(Path(__file__).with_name("kept") / "copyright.json")
    with pytest.raises(StudyError, match="must be one of channel, classifier, copyright, "):
        load_study({"kind": "copyrite"})
