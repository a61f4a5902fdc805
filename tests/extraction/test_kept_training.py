"""Which model is there: said beside its folder, for its owner alone; not in what is released."""

import os
import stat

import pytest

from narcissus.extraction.kept_training import keep, trained_already

SAID = {"width": 8, "entropy": "7", "images": "a" * 64}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "model"
    made.mkdir()
    keep(made, SAID)
    return made


def test_the_same_training_is_found_and_another_is_not(folder):
    assert trained_already(folder, SAID)
    assert not trained_already(folder, {**SAID, "images": "b" * 64})
    assert not trained_already(folder.with_name("shadow-1"), SAID)


def test_the_folder_that_is_released_says_nothing_of_it(folder):
    assert list(folder.iterdir()) == []
    (mark,) = (path for path in folder.parent.iterdir() if path != folder)
    if os.name != "nt":
        assert stat.S_IMODE(mark.stat().st_mode) == 0o600


def test_a_model_that_is_gone_or_a_mark_that_is_broken_counts_as_none(folder):
    (mark,) = (path for path in folder.parent.iterdir() if path != folder)
    mark.write_text("{")
    assert not trained_already(folder, SAID)
    keep(folder, SAID)
    folder.rmdir()
    assert not trained_already(folder, SAID)
