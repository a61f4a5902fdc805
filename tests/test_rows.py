"""Rows and their numbers: limits, shares, and how a record writes them."""

import math

import pytest
from pydantic import ValidationError

from narcissus.rows import Fact, Quantity, Share, StudyRow


def row(role, value, low=None, high=None, *, of="success", grade="sampled", name="a", **more):
    at = more.pop("at", {})
    limits = Quantity(value=value, low=low, high=high, grade=grade, **more)
    return StudyRow(role=role, of=of, name=name, quantity=limits, at=at)


@pytest.mark.parametrize("limits", [{"low": 0.6}, {"high": 0.4}, {"low": 0.6, "high": 0.4}])
def test_limits_hold_their_value(limits):
    with pytest.raises(ValidationError, match=r"in order|above"):
        row("attack", 0.5, **limits)


@pytest.mark.parametrize(("role", "value"), [("attack", 1.1), ("guess", -0.1), ("gain", -1.1)])
def test_what_is_a_share_is_one(role, value):
    with pytest.raises(ValidationError, match=r"outside \[0, 1\]|out of order"):
        row(role, value)


def test_limits_of_a_measure_may_miss_it_but_are_in_order():
    assert row("measure", 0.5, 0.1, 0.4).value == 0.5
    with pytest.raises(ValidationError, match="limit"):
        row("measure", 0.5, 0.45, 0.4)


def test_a_record_can_hold_infinity_and_no_nan():
    one = row("measure", math.inf, at={"epsilon": math.inf, "group": "x"})
    written = one.model_dump(mode="json")
    assert written["quantity"]["value"] == written["at"]["epsilon"] == "infinite"
    assert StudyRow.model_validate_json(one.model_dump_json(), strict=True) == one
    for wrong in (math.nan, -math.inf):
        with pytest.raises(ValidationError):
            row("measure", wrong)


def test_what_has_its_default_is_not_written_and_what_is_unknown_is_refused():
    written = row("guess", 0.5).model_dump(mode="json")
    assert written.keys() == {"role", "of", "name", "quantity"}
    with pytest.raises(ValidationError, match="extra"):
        StudyRow.model_validate({**written, "more": 1})


class Shared(Fact):
    share: Share
    number: float = 0.0


@pytest.mark.parametrize(
    "wrong", [{"share": 1.5}, {"share": -0.1}, {"share": 0.5, "number": math.nan},
              {"share": 0.5, "number": math.inf}]
)  # fmt: skip
def test_a_share_is_between_0_and_1_and_no_number_is_none(wrong):
    assert Shared(share=1.0, number=2.0).share == 1
    with pytest.raises(ValidationError):
        Shared(**wrong)
