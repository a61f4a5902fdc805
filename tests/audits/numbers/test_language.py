"""The numbers of a language model in long form."""


def test_rows_are_the_numbers_of_the_record(kept_audit):
    audit = kept_audit("language-model")
    frame = audit.to_frame()
    whole = audit.record.results.attacks[0].whole
    rows = frame[(frame["copies"] == 0) & (frame["name"] == "generation")].set_index("quantity")
    assert rows.loc["recovered", "value"] == whole.share
    assert rows.loc["recovered", "baseline"] == whole.fresh.value
    assert rows.loc["fresh", "high"] == whole.fresh.high
    assert rows.loc["reference", "high"] == whole.reference.high
    assert rows.loc["gain", "low"] == whole.gain.low
    assert set(frame.loc[frame["quantity"] == "told", "grade"]) == {"sampled", "not assessed"}
    named = frame[frame["quantity"] == "canaries named"]
    assert named["baseline"].tolist() == [0.01] * 3
    assert "generation recovers" in repr(audit)
