"""What those who decide are told of each kind: what was released, who is hurt, what limits all."""

import pytest

from narcissus.kinds.table.kind import KIND
from narcissus.report.about import subject_of
from narcissus.report.format import percent
from narcissus.study.kinds import KINDS


def test_every_kind_says_what_was_released(every_record):
    assert {record.kind for record in every_record.values()} == set(KINDS)
    for record in every_record.values():
        found = subject_of(record)
        assert found.released.endswith(".")


def test_without_groups_that_is_said(single):
    found = subject_of(single(groups=[]))
    assert not found.groups
    assert subject_of(single()).groups


def test_a_sweep_is_shown_where_its_status_is_from(table_record):
    """The made-up sweep is met at the most noise, and exceeded without any."""
    record = table_record(5, threshold=0.65, status="exceeded")
    result = record.result.model_copy(update={"decided_at": None})
    record = record.model_copy(update={"result": result})
    case = KIND.judged(record)
    one = case.worst
    assert one.status == "exceeded" != case.each[0].status
    assert f"({one.label.replace(' ', chr(160))})" in subject_of(record).released


def test_limits_of_a_table_are_rounded_up_and_have_their_bounds_grade(single):
    def between(result):
        result["bounds"][1]["share_at_most"] = 0.61512
        result["bounds"][1]["share_of_population"] = 0.62213

    record = single(between)
    (setting,) = KIND.judged(record).each
    share, count = subject_of(record).limits
    assert (
        share.text
        == "At most 61.6% of these people on average; of all like them 62.3% (estimated)."
    )
    bound = setting.result.share_bound
    said = float(share.text.split("%")[0].rpartition(" ")[2]) / 100
    assert bound.at_most <= said < bound.at_most + 0.0011
    assert share.grade == "proved"
    assert share.given == bound.assumptions
    assert f"at most {setting.result.count_bound.at_most} of 100" in count.text

    def assume(result):
        for one in result["bounds"]:
            one |= {"grade": "proved if", "takes_as_given": ["the prior is right"]}

    for one in subject_of(single(assume)).limits:
        assert one.grade == "proved if"
        assert "the prior is right" in one.given


def test_a_bound_that_limits_nothing_is_left_out(single):
    def all_of_them(result):
        for one in result["bounds"]:
            is_share = "share_at_most" in one
            one.update({"share_at_most": 1.0} if is_share else {"at_most": 100})

    assert subject_of(single(all_of_them)).limits == ()


def test_what_is_contradicted_limits_nobody(every_record):
    limited = 0
    for record in every_record.values():
        refuted = record.model_copy(update={"contradictions": ["a is not b"]})
        for one in subject_of(refuted).limits:
            limited += 1
            assert one.grade == "not assessed"
    assert limited


@pytest.mark.parametrize("name", ["channel", "samples"])
def test_a_channel_is_limited_at_the_worse_end(every_record, name):
    record = every_record[name]
    sampled = name == "samples"
    risks = [row for row in record.rows if row.name == "bayes_risk"]
    risk = risks[-1].quantity.low if sampled else risks[-1].value
    said = subject_of(record).limits[0]
    assert percent(1 - risk, "up") in said.text
    assert said.grade == ("sampled" if sampled else "proved")
    assert said.given
