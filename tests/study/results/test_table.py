"""A table's results: settings that do not agree with themselves are refused; what is looked up."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from narcissus.report import render_text
from narcissus.study.reading import read_record


@pytest.fixture
def setting(old_record):
    return read_record(old_record("last", "sweep")).results.settings[0]


def changed(model, **changes):
    return type(model)(**{**dict(model), **changes})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"best": "rap"}, "`best` is 'rap'"),
        ({"best": None}, "`best` is None"),
        ({"people": 10}, "more targets are recovered"),
        ({"trials": 3}, "more trials than"),
    ],
)
def test_a_setting_agrees_with_itself(setting, changes, says):
    assert changed(setting) == setting
    with pytest.raises(ValidationError, match=says):
        changed(setting, **changes)


def test_a_threshold_holds_a_limit_at_least(setting):
    assert changed(setting.threshold, targets=3, gain=0.1).gain == 0.1
    with pytest.raises(ValidationError, match="none of"):
        changed(setting.threshold, share=None, advantage=None, targets=None)


def test_only_what_follows_from_a_guarantee_is_leaned_on(setting):
    share, count = setting.share_bound, setting.count_bound
    assert share.name == "mean share"
    assert count.name == "domination"
    assert not share.for_comparison
    assert setting.population_share == share.share_of_population
    trivial = [changed(b, grade="not assessed") for b in setting.bounds]
    without = changed(setting, bounds=tuple(trivial))
    assert not without.is_limited
    assert without.share_bound is None
    assert without.population_share == 1.0
    with pytest.raises(ValidationError, match="the grade is 'proved if'"):
        changed(share, grade="proved if")


def test_what_is_contradicted_is_no_edge(setting):
    share = setting.share_bound
    assert setting.is_edge(share)
    refuted = changed(setting, contradictions=("Refuted: that it is so.",))
    assert refuted.grade_of(share) == "not assessed"
    assert not refuted.is_edge(share)


BEFORE_IDS = Path(__file__).parent / "records"


@pytest.mark.parametrize("kind", ["game", "table"])
def test_a_record_without_ids_is_read_drawn_and_written_as_it_was(kind):
    """They were written by the version before theorems had ids in the record."""
    path = BEFORE_IDS / f"{kind}.json"
    record = read_record(path)
    assert record.to_json() == path.read_text(encoding="utf-8")
    assert "None" not in render_text(record)
    bounds = record.results.proofs if kind == "game" else record.results.settings[0].bounds
    assert {bound.id for bound in bounds} == {""}
    assert all(bound.theorem in " ".join(render_text(record).split()) for bound in bounds)
