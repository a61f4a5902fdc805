"""The numbers of an audit of a given file in long form."""

import pytest


@pytest.fixture
def audit(kept_audit):
    return kept_audit("synthetic")


def test_rows_are_the_numbers_of_the_record(audit):
    frame = audit.to_frame()
    everybody = frame[frame["group"] == ""].set_index(["quantity", "name"])
    for risk in audit.record.results.risks:
        row = everybody.loc["risk", risk.name]
        assert (row["value"], row["baseline"]) == (risk.real.share, risk.control.share)
        row = everybody.loc["excess", risk.name]
        assert (row["low"], row["high"]) == (risk.excess.low, risk.excess.high)
        assert row["confidence"] == pytest.approx(1 - 0.05 / 3)
    guess = audit.record.results.risks[0].guess
    assert everybody.loc["guess", "inference of ESR"]["value"] == guess.real.share
    assert everybody.loc["taught", "inference of ESR"]["value"] == guess.taught.value
    groups = frame[(frame["group"] != "") & (frame["quantity"] == "excess")]
    assert len(groups) == sum(len(r.groups) for r in audit.record.results.risks)
    assert set(frame["grade"]) == {"sampled"}


def test_the_headline_names_both_sides(audit):
    risk = audit.record.results.risks[-1]
    assert "synthetic: exceeded, sampled" in repr(audit)
    assert f"against {100 * risk.control.share:.1f}%" in repr(audit)
