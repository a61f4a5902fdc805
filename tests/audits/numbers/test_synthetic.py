"""The numbers of an audit of a given file in long form."""

import numpy as np
import pandas as pd
import pytest

import narcissus


@pytest.fixture(scope="module")
def audit():
    rng = np.random.default_rng(1)
    real, control = (
        pd.DataFrame({name: rng.integers(0, 8, 120) for name in "abcd"}) for _ in range(2)
    )
    return narcissus.audit_synthetic(
        real, real, control=control, unknown=["d"], groups=["a"], rng=1
    )


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
    assert everybody.loc["guess", "inference of d"]["value"] == guess.real.share
    assert everybody.loc["taught", "inference of d"]["value"] == guess.taught.value
    groups = frame[(frame["group"] != "") & (frame["quantity"] == "excess")]
    assert len(groups) == sum(len(r.groups) for r in audit.record.results.risks)
    assert set(frame["grade"]) == {"sampled"}


def test_the_headline_names_both_sides(audit):
    risk = audit.record.results.risks[-1]
    assert "synthetic: exceeded, sampled" in repr(audit)
    assert f"against {100 * risk.control.share:.1f}%" in repr(audit)
