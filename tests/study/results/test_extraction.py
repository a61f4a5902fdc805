"""Evidence of extraction: what does not follow from its own lengths is refused."""

import pytest
from pydantic import ValidationError

from narcissus.study.reading import read_record


@pytest.fixture
def found(old_record):
    return read_record(old_record("last", "extraction")).results


def changed(model, **changes):
    return type(model)(**{**dict(model), **changes})


def test_lengths_agree_with_each_other(found):
    assert changed(found) == found
    length, shortest = found.program_bytes, found.complexity_estimate
    assert found.complexity[found.complexity_method] == shortest
    assert found.quality == pytest.approx(1 - length / shortest)
    margin = max(0, shortest - length)
    assert (found.margin_bytes, found.extractable_bits) == (margin, 8 * margin)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: {"complexity_estimate": f.complexity_estimate + 1}, "`complexity_estimate`"),
        (lambda f: {"complexity_method": "no such"}, "`complexity_estimate`"),
        (lambda f: {"quality": f.quality - 1e-6}, "`quality` does not follow"),
        (lambda f: {"margin_bytes": f.margin_bytes + 1}, "do not follow from the lengths"),
        (lambda f: {"extractable_bits": f.extractable_bits + 8}, "do not follow from the lengths"),
        (lambda f: {"quality": 1.5}, "less than or equal to 1"),
        (lambda f: {"verdict": "maybe"}, "verdict"),
    ],
)
def test_what_does_not_follow_is_refused(found, change, says):
    with pytest.raises(ValidationError, match=says):
        changed(found, **change(found))


def test_a_program_longer_than_the_data_has_no_margin(found):
    longer = found.complexity_estimate + 10
    quality = 1 - longer / found.complexity_estimate
    made = changed(found, program_bytes=longer, quality=quality, margin_bytes=0, extractable_bits=0)
    assert made.quality < 0
    with pytest.raises(ValidationError, match="do not follow"):
        changed(found, program_bytes=longer, quality=quality, margin_bytes=10, extractable_bits=80)
