"""The frame of a table audit holds the record's numbers, each once, with its grade."""

import numpy as np
import pytest

from narcissus.audits.outcome import COLUMNS
from narcissus.kinds.table.kind import KIND


@pytest.fixture(scope="module")
def numbers(sweep):
    return sweep.to_frame()


def test_the_columns_are_as_documented(numbers):
    own = ("setting", "epsilon", "mu", "scale", "by", "group", "trials")
    assert set(numbers.columns) == {*COLUMNS, *own}
    assert tuple(numbers.columns[: len(COLUMNS)]) == COLUMNS
    assert set(numbers["quantity"]) == {"guess", "attack", "ceiling", "bound", "bound on targets"}
    assert not numbers.duplicated(
        ["setting", "quantity", "name", "by", "group", "confidence"]
    ).any()


def test_attacks_are_those_of_the_record(numbers, sweep):
    for one in KIND.judged(sweep.record).each:
        whole = numbers[(numbers["setting"] == one.label) & (numbers["by"] == "everyone")]
        rows = whole[whole["quantity"] == "attack"].set_index("name")
        assert set(rows.index) == set(one.result.attacks)
        for name, attack in one.result.attacks.items():
            for key in ("low", "high", "baseline", "trials"):
                assert rows.loc[name, key] == getattr(attack, key)
            assert rows.loc[name, "value"] == attack.share
        [ceiling] = whole.loc[whole["quantity"] == "ceiling", "value"]
        assert ceiling == one.result.ceiling.share
        [guess] = whole.loc[whole["quantity"] == "guess", "value"]
        assert guess == one.result.guess.share


def test_settings_stand_on_an_axis(numbers):
    by = numbers.drop_duplicates("setting").set_index("setting")
    assert by.loc["ε = 1", "epsilon"] == 1
    assert by.loc["ε = 1", "scale"] > 0
    assert by.loc["no noise", ["epsilon", "mu", "scale"]].tolist() == [np.inf, np.inf, 0]


def test_what_is_proved_never_looks_sampled(numbers, sweep):
    bounds = numbers["quantity"].str.startswith("bound")
    assert set(numbers.loc[bounds, "grade"]) == {"proved"}
    assert set(numbers.loc[~bounds, "grade"]) == {"sampled"}
    assert numbers.loc[bounds, ["low", "high"]].isna().all(axis=None)
    shares = numbers[numbers["quantity"] == "bound"]
    assert (shares["setting"] == "ε = 1").all()  # exact counts prove nothing
    proved = [b for b in KIND.judged(sweep.record).each[0].result.bounds if b.counts]
    assert set(shares["value"]) == {b.at_most for b in proved if b.is_share}
    counts = numbers[numbers["quantity"] == "bound on targets"]
    told = {(b.at_most, b.confidence) for b in proved if not b.is_share}
    assert set(zip(counts["value"], counts["confidence"], strict=True)) == told


def test_groups_and_columns_have_rows_of_their_own(numbers, sweep):
    for one in KIND.judged(sweep.record).each:
        here = numbers[numbers["setting"] == one.label]
        columns = here[here["by"] == "column"]
        assert set(columns["group"]) == {"ill", "age"}
        jobs = here[(here["by"] == "job") & (here["quantity"] == "attack")]
        for group in (g for g in one.result.groups if g.by == "job"):
            rows = jobs[jobs["group"] == group.group].set_index("name")["value"]
            assert rows.to_dict() == {n: a.share for n, a in group.attacks.items()}


def test_nothing_is_proved_where_the_record_contradicts_itself(sweep):
    from narcissus.audits.outcome import frame_of

    at_odds = sweep.record.model_copy(update={"contradictions": ["a and b cannot both hold"]})
    numbers = frame_of(at_odds)
    bounds = numbers["quantity"].str.startswith("bound")
    assert set(numbers.loc[bounds, "grade"]) == {"not assessed"}
