"""How documents are divided: by chance where a model is trained here, as given otherwise."""

import numpy as np
import pytest

from narcissus.errors import InputError, StudyError
from narcissus.kinds.memorization.language.schema import LanguageStudy


class Given:
    """A model that somebody else has trained."""

    trains = False
    in_memory = False


def test_a_given_model_needs_fresh_documents_and_takes_no_canaries(load, tmp_path):
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
    planted = given.model_copy(update={"canaries": load().settings.canaries})
    with pytest.raises(InputError, match="leave it out"):
        planted.division(tmp_path, Given(), rng)


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
