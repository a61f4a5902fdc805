"""The studies that come with the package are found by the names of their files."""

import pytest

from narcissus.errors import InputError
from narcissus.study import shipped
from narcissus.study.shipped import Shipped, shipped_studies, shipped_study


def test_each_file_is_a_study_of_its_name_and_tells_what_it_shows():
    found = shipped_studies()
    assert [study.name for study in found] == sorted(p.stem for p in shipped.FOLDER.glob("*.toml"))
    assert len(found) > 40
    for study in found:
        assert study.about.endswith((".", "?", "!")), study.name
        assert study.source, study.name
        assert shipped_study(study.name) == study


def test_what_a_file_does_not_say_is_empty_and_a_title_stands_in(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    (tmp_path / "b.toml").write_text('title = "A title"\nexpected = "violates"\n')
    (tmp_path / "a.toml").write_text('title = "A title"\nabout = "About."\nsource = "S 2020"\n')
    assert shipped_studies() == [
        Shipped("a", "About.", "S 2020", "", tmp_path / "a.toml"),
        Shipped("b", "A title", "", "violates", tmp_path / "b.toml"),
    ]


def test_a_name_that_is_not_there_names_the_nearest():
    with pytest.raises(InputError, match=r"'counting-querry'.*did you mean.*`counting-query`"):
        shipped_study("counting-querry")
