"""What all results are made of: order up to rounding, nothing missing, nothing unknown."""

import json
import math
from pathlib import Path

import pytest
from pydantic import ValidationError

from narcissus.results import Estimate
from narcissus.study.reading import read_record
from narcissus.study.results.base import SLACK, SampledNumber, SampledShare, require_order


def test_limits_hold_their_value_up_to_rounding():
    require_order(0.5 + SLACK / 2, 0.5, 0.5 - SLACK / 2)
    require_order(None, 0.5, None)
    with pytest.raises(ValueError, match=r"lower limit 0\.6 is above its value 0\.5"):
        require_order(0.6, 0.5, None)
    with pytest.raises(ValueError, match=r"upper limit 0\.4 is below its value 0\.5"):
        require_order(None, 0.5, 0.4)
    for wrong in ((0.5 + 2 * SLACK, 0.5, None), (None, 0.5, 0.5 - 2 * SLACK)):
        with pytest.raises(ValueError, match="limit"):
            require_order(*wrong)


ESTIMATE = Estimate(0.5, 0.25, None, 0.95, 40, "a share", "by hand", "too few")


def test_an_estimate_is_taken_field_by_field():
    found = SampledShare.of(ESTIMATE)
    assert found.model_dump() == {
        "value": 0.5, "low": 0.25, "high": None, "confidence": 0.95, "trials": 40,
        "quantity": "a share", "method": "by hand", "why": "too few", "grade": "sampled",
    }  # fmt: skip
    assert SampledShare.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    "change",
    [
        {"value": 0.1}, {"value": math.nan}, {"value": "0.5"}, {"value": 1}, {"confidence": 1.0},
        {"confidence": 0.0}, {"trials": 0}, {"grade": "proved"}, {"low": math.inf}, {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_what_no_sampled_number_can_be_is_refused(change):
    good = SampledNumber.of(ESTIMATE).model_dump()
    if change == {"value": 1}:  # a whole number is a number
        assert SampledNumber(**{**good, "value": 1}).value == 1
        return
    with pytest.raises(ValidationError):
        SampledNumber(**{**good, **change})


def test_no_key_is_left_out_and_none_is_changed():
    good = SampledNumber.of(ESTIMATE).model_dump()
    for key in good:
        with pytest.raises(ValidationError, match=key):
            SampledNumber(**{k: v for k, v in good.items() if k != key})
    with pytest.raises(ValidationError, match="frozen"):
        SampledNumber.of(ESTIMATE).value = 0.3


@pytest.mark.parametrize("change", [{"value": 1.5}, {"low": -0.1}, {"high": 1.1}])
def test_a_share_lies_in_0_and_1(change):
    good = {**SampledShare.of(ESTIMATE).model_dump(), "low": None}
    assert SampledNumber(**{**good, **change})
    with pytest.raises(ValidationError):
        SampledShare(**{**good, **change})


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.glob("records/*.json")), ids=lambda path: path.stem
)
def test_what_was_written_is_read(path):
    record = read_record(path)
    if record.rows:  # read as rows: tests/kinds/test_records.py
        assert record.results is None
        return
    found = record.results.model_dump(mode="json")
    assert found == json.loads(path.read_text(encoding="utf-8"))["results"]
