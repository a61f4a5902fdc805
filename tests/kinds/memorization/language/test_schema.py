"""How documents are divided: by chance where a model is trained here, as given otherwise."""

from types import SimpleNamespace

import numpy as np
import pytest

from narcissus.errors import InputError, StudyError
from narcissus.extraction.canaries import CanaryPlan, canary_table, to_plant
from narcissus.kinds.memorization.language.schema import LanguageStudy


class Given:
    """A model that somebody else has trained."""

    trains = False
    in_memory = False


def test_a_given_model_needs_fresh_documents(load, tmp_path):
    study = load(canaries=None).settings
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match=r"needs `data\.fresh`"):
        study.division(tmp_path, Given(), rng)
    (tmp_path / "fresh.txt").write_text("another one\n")
    both = {"documents": "letters.txt", "fresh": "fresh.txt"}
    given = study.model_copy(update={"data": study.data.model_validate(both)})
    found = given.division(tmp_path, Given(), rng)
    assert not found.by_chance
    assert (len(found.trained), len(found.fresh), found.reference) == (90, 1, ())


@pytest.fixture
def given(load, tmp_path):
    """A study of a model in a folder, whose text holds canaries, and these."""
    drawn = CanaryPlan(each=2, copies=(1, 3), digits=4).keyed(b"key")
    (tmp_path / "canaries.csv").write_text(canary_table(drawn))
    study = load(canaries=None).settings
    text = (tmp_path / "letters.txt").read_text()
    (tmp_path / "train.txt").write_text(text + to_plant(drawn, b"key"))
    (tmp_path / "fresh.txt").write_text("another one\n")
    both = {"documents": "train.txt", "fresh": "fresh.txt"}
    section = type(load().settings.canaries).model_validate({"file": "canaries.csv"})
    new = {"data": study.data.model_validate(both), "canaries": section}
    return SimpleNamespace(study=study.model_copy(update=new), drawn=drawn)


def test_canaries_of_a_given_model_are_read_and_are_none_of_its_documents(given, tmp_path):
    rng = np.random.default_rng(1)
    planted = given.study.planted(tmp_path, Given(), rng)
    assert planted == given.drawn
    found = given.study.division(tmp_path, Given(), rng, planted)
    assert len(found.trained) == 90
    assert not {one.text() for one in planted} & {one.text for one in found.trained}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"train.txt": "one\n"}, r"4 of 4 canaries .* train\.txt .*: canary 1 .* 0 times, not 1"),
        ({"train.txt": None}, r"2 of 4 canaries .*: canary 3 .* 1 times, not 3; was the model"),
        ({"fresh.txt": None}, r"4 of 4 canaries .* fresh\.txt .*: canary 1 .* 1 times, not 0"),
    ],
)
def test_canaries_that_were_never_planted_are_refused(given, tmp_path, changed, said):
    """So are those whose copies were dropped, and those that fresh documents hold."""
    for name, text in changed.items():
        once = "".join(f"{one.text()}\n" for one in given.drawn)
        (tmp_path / name).write_text(once if text is None else text)
    with pytest.raises(InputError, match=said):
        given.study.planted(tmp_path, Given(), np.random.default_rng(1))


def test_canaries_come_from_a_file_or_are_drawn_here(given, load, tmp_path):
    with pytest.raises(StudyError, match="leave out `digits`"):
        load(canaries={"file": "canaries.csv", "digits": 4})
    with pytest.raises(InputError, match=r"`canaries\.file` is for a model in a folder"):
        load(canaries={"file": "canaries.csv"})
    drawn = given.study.model_copy(update={"canaries": load().settings.canaries})
    with pytest.raises(InputError, match="need `file`: what `narcissus canaries write` wrote"):
        drawn.planted(tmp_path, Given(), np.random.default_rng(1))


def test_the_defaults_are_those_of_the_attacks(load):
    study = load(generation={}, completion={}, membership={}).settings
    assert isinstance(study, LanguageStudy)
    assert study.generation.k == 1
    assert study.membership.false_alarms == [0.1, 0.01]


def test_a_prompt_is_counted_in_tokens_or_in_characters(load):
    def sizes(**completion):
        found = load(completion=completion).settings.completion
        return found.prompt, found.prefix

    assert sizes() == sizes(prompt=None) == (50, None)
    assert sizes(prompt=8) == sizes(prompt=8, prefix=None) == (8, None)
    assert sizes(prefix=8) == sizes(prompt=None, prefix=8) == (None, 8)
    with pytest.raises(StudyError, match="one of them"):
        sizes(prompt=8, prefix=8)
    with pytest.raises(StudyError, match="prompt"):
        sizes(prompt=0)
