"""A sweep is shown by the numbers that its status is from."""

import pytest

from narcissus.study.reading import read_record
from narcissus.study.results.table import decisive


@pytest.fixture
def setting(old_record):
    return read_record(old_record("last", "sweep")).results.settings[0]


def test_the_numbers_that_stand_for_a_sweep_are_those_its_status_is_from(setting):
    """What exceeds is never shown by the numbers of what does not."""

    def among(*found, decides=None):
        return decisive(
            [
                setting.model_copy(
                    update={
                        "status": status,
                        "strength": None,
                        "noise": setting.noise.model_copy(update={"scale": scale}),
                        "decides": decides is None or number == decides,
                    }
                )
                for number, (status, scale) in enumerate(found)
            ]
        ).noise.scale

    met, more, over, worse, none = (
        ("met", 5.0), ("met", 9.0), ("exceeded", 2.0), ("exceeded", 1.0), ("exceeded", 0.0)
    )  # fmt: skip
    assert among(more, met) == 5  # of what is met the least noise
    assert among(more, over, worse, none, met) == 1  # the least that is noise at all
    assert among(more, none) == 0
    assert among(more, ("inconclusive", 4.0), ("too few trials", 3.0)) == 3
    assert among(more, over, met, decides=2) == 5
    assert among(("no threshold", 9.0), ("no threshold", 2.0), ("no threshold", 0.0)) == 2
