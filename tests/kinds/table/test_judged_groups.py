"""A verdict about groups waits for what tells of the secret in one of them alone."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from narcissus.kinds.table import tested, trees
from narcissus.kinds.table.held_out import ERROR, FITS, GUESSERS, SURE, level_of
from narcissus.kinds.table.kind import prepare
from narcissus.observer import SILENT
from narcissus.study import load_study

ROWS, SMALL = 900, 100
WORST_GROUP = {"advantage": 0.15, "worst_group": 0.2}


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(trees, "TREES", 6)


def people_of(rng, rows=ROWS, small=SMALL):
    """Draw people of whom nothing tells the secret, a few of them in the region W."""
    region = rng.permutation(
        np.repeat(["N", "S", "W"], [rows // 2, rows - rows // 2 - small, small])
    )
    bits = {name: rng.integers(0, 2, rows) for name in ("sex", "urban", "owner", "ill")}
    return pd.DataFrame({"region": region, **bits})


def parity_of_a_number(frame):
    frame["rent"] = np.random.default_rng(1).integers(500, 2000, len(frame))
    return frame.rent % 2


def xor_of_columns(frame):
    return frame.sex ^ frame.urban ^ frame.owner


def copy_of_a_column(frame):
    frame["code"] = np.random.default_rng(1).permutation(len(frame))
    return frame.code % 2


def column_of_the_neighbour(frame):
    return frame.sex.shift(1, fill_value=0)


RULES = {
    parity_of_a_number: "the exact value of `rent`",
    xor_of_columns: "",
    copy_of_a_column: "column `code`",
    column_of_the_neighbour: "the order of the rows",
}


def examine(frame, threshold=WORST_GROUP, seed=1, *, order_hidden=True, **groups):
    data = {
        "frame": frame,
        **({"bins": {"rent": {"quantiles": 4}}} if "rent" in frame else {}),
        **({"left_out": {"code": "codes"}} if "code" in frame else {}),
    }
    study = load_study({
        "data": data,
        "threat": {"unknown": ["ill"], "targets": 50, "order_hidden": order_hidden},
        "mechanism": {"k": 2, "epsilon": 0.3},
        "attacks": {"prior": {}},
        "groups": {"columns": ["region"], **groups},
        **({"threshold": {**threshold, "reason": "a trial"}} if threshold else {}),
    })  # fmt: skip
    with study.code.in_use():
        experiment = prepare(study.settings, study.folder, seed, SILENT)
        return experiment, tested.tested_at(study.settings, study.folder, experiment, SILENT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_rule_in_a_small_group_holds_its_verdict_back(rule):
    frame = people_of(np.random.default_rng(3))
    frame["ill"] = np.where(frame.region == "W", rule(frame), frame.ill)
    _, examination = examine(frame, order_hidden=rule is not column_of_the_neighbour)
    if not (subject := RULES[rule]):
        assert {guess.group for guess in examination.guesses if guess.refutes} == {"region: W"}
        return
    assert not examination.is_refuted
    [gap] = examination.unaccounted
    assert gap.subject == subject
    assert "of the group “region: W”" in gap.reason


def test_all_rows_alone_are_examined_where_no_verdict_is_about_groups():
    experiment, examination = examine(people_of(np.random.default_rng(3)), threshold=None)
    assert level_of(experiment) == SURE
    assert {guess.group for guess in examination.guesses} == {""}


def test_limits_for_groups_share_the_error_of_those_for_all():
    experiment, examination = examine(people_of(np.random.default_rng(3)))
    groups = 3 + 4  # regions, and how often a release singles somebody out
    errors = [1 - level_of(experiment)] + FITS * groups * [1 - level_of(experiment, "a group")]
    assert GUESSERS * sum(errors) == pytest.approx(ERROR)
    for guess in examination.guesses:
        assert guess.confidence == level_of(experiment, guess.group)


def test_groups_of_few_rows_are_counted_as_assumed():
    _, examination = examine(people_of(np.random.default_rng(3), small=12), singled_out=False)
    assert examination.small_groups == 1
    assert "region: W" not in {guess.group for guess in examination.guesses}
    questions = [item.quantity for item in tested.untested(examination, ROWS)]
    assert "whether the prior is right about each group that the threshold is about" in questions


@pytest.mark.repeats(4, 200)
def test_groups_without_an_effect_are_seldom_held_back(repeats):
    """A right prior is refuted, or a column asked for, at most at the declared share."""
    wrong = 0
    for seed in range(repeats):
        frame = people_of(np.random.default_rng([8, seed]), rows=300, small=60)
        _, examination = examine(frame, seed=seed)
        wrong += examination.is_refuted or bool(examination.unaccounted)
    assert wrong <= binom.ppf(0.999, repeats, ERROR)
