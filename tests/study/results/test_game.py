"""A game's results: what does not follow from its own numbers is refused."""

import pytest
from pydantic import ValidationError

from narcissus.study.reading import read_record
from narcissus.study.results.game import ExactGame, GameResults


@pytest.fixture
def found(old_record):
    return read_record(old_record("last", "family")).results


def changed(model, **changes):
    return type(model)(**{**dict(model), **changes})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"holds": True}, "`holds` does not follow"),
        ({"grade": "sampled"}, "`grade` does not follow"),
        ({"delta": ()}, "one delta for each epsilon"),
    ],
)
def test_an_exact_answer_follows_from_its_numbers(found, changes, says):
    assert isinstance(found.exact, ExactGame)
    assert not found.exact.holds
    assert changed(found.exact) == found.exact
    with pytest.raises(ValidationError, match=says):
        changed(found.exact, **changes)


def test_a_verdict_comes_no_later_than_the_last_trial(old_record):
    found = read_record(old_record("last", "singling-out")).results
    assert isinstance(found, GameResults)
    assert found.decided is not None
    with pytest.raises(ValidationError, match="decided after"):
        changed(found, trials=found.decided - 1)
    with pytest.raises(ValidationError, match="no trials"):
        changed(found, trials=0, decided=None)
    one = found.attackers[0]
    with pytest.raises(ValidationError, match="more attempts or failures"):
        changed(one, failed=one.success.trials + 1)
