"""What sections of study files have in common: nothing unknown, nothing changed afterwards."""

import math

import pytest
from pydantic import Field, ValidationError

from narcissus.study.sections import Approval, FileSection, SeededRun


class Mine(FileSection):
    share: float = 0.5
    both: int = Field(1, alias="two-words")


def test_keys_that_it_does_not_know_are_errors():
    with pytest.raises(ValidationError, match="shrae"):
        Mine(shrae=0.5)
    assert Mine.model_validate({"two-words": 3}).both == Mine(both=3).both == 3


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_numbers_that_a_record_could_not_hold_are_errors(value):
    with pytest.raises(ValidationError, match="share"):
        Mine(share=value)


def test_a_section_is_not_changed_once_it_is_made():
    with pytest.raises(ValidationError, match="frozen"):
        Mine().share = 0.7


def test_seeds_are_natural_numbers_or_left_open():
    assert SeededRun().seed is None
    assert SeededRun(seed=0).seed == 0
    with pytest.raises(ValidationError, match="seed"):
        SeededRun(seed=-1)
    assert (Approval().reason, Approval().origin) == ("", "")
