"""What attacks recovered: limits hold their value, sums are those of the trials."""

import pytest
from pydantic import ValidationError

from narcissus.study.reading import read_record
from narcissus.study.results.table_attacks import (
    ColumnResult,
    GroupAttack,
    HitCounts,
    Interval,
    MedianShare,
    PriorTest,
)


@pytest.fixture
def attack(old_record):
    return read_record(old_record("last", "sweep")).results.settings[0].best_attack


def changed(model, **changes):
    return type(model)(**{**dict(model), **changes})


def test_limits_hold_their_value(attack):
    assert changed(attack) == attack
    for changes in ({"low": attack.share + 0.01}, {"high": attack.share - 0.01},
                    {"gain_low": 0.9}, {"gain_high": attack.gain - 0.01},
                    {"baseline_high": 0.0}, {"baseline_low": attack.baseline + 0.01},
                    {"advantage_low": 0.99}, {"advantage_high": attack.advantage - 0.1},
                    ):  # fmt: skip
        with pytest.raises(ValidationError, match="limit"):
            changed(attack, **changes)


def test_counts_are_those_of_the_trials(attack):
    with pytest.raises(ValidationError, match="`distribution`"):
        changed(attack, trials=attack.trials + 1)
    with pytest.raises(ValidationError, match="one number of trials for each"):
        HitCounts(targets=(1, 2), trials=(3,))
    with pytest.raises(ValidationError):
        HitCounts(targets=(1,), trials=(0,))


@pytest.mark.parametrize(
    ("model", "good", "bad"),
    [
        (Interval, {"low": 0.2, "high": 0.3}, {"low": 0.4}),
        (MedianShare, {"share": 0.5, "low": None, "high": 0.6}, {"high": 0.4}),
        (MedianShare, {"share": 0.5, "low": 0.4, "high": None}, {"low": 0.6}),
        (
            PriorTest,
            {"by_the_prior": 0.5, "confidence": 0.99, "off": 0.0, "off_low": -0.1, "off_high": 0.1},
            {"off_low": 0.1},
        ),
        (ColumnResult, {"share": 0.5, "low": 0.4, "high": 0.6, "baseline": 0.1}, {"low": 0.55}),
        (
            GroupAttack,
            {"share": 0.5, "low": 0.4, "high": 0.6, "baseline": 0.1, "over_guess": 0.2,
             "over_guess_low": 0.1, "people": 3},
            {"over_guess_low": 0.3},
        ),
    ],
)  # fmt: skip
def test_every_number_lies_within_its_limits(model, good, bad):
    assert model(**good)
    with pytest.raises(ValidationError, match="limit"):
        model(**{**good, **bad})
    for name in good:
        with pytest.raises(ValidationError):
            model(**{k: v for k, v in good.items() if k != name})
        with pytest.raises(ValidationError):
            model(**{**good, name: 1.5 if name != "people" else 0})
