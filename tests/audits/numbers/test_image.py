"""The numbers of a model of images in long form."""


def test_rows_are_the_numbers_of_the_record(kept_audit):
    audit = kept_audit("image-model")
    frame = audit.to_frame()
    whole = audit.record.results.whole
    rows = frame[frame["copies"] == 0].set_index("quantity")
    assert rows.loc["reproduced", "value"] == whole.share > 0
    assert rows.loc["reproduced", "baseline"] == whole.fresh.value
    assert rows.loc["fresh", "high"] == whole.fresh.high
    assert rows.loc["shadows", "high"] == whole.shadows.high
    assert rows.loc["gain", "low"] == whole.gain.low
    assert set(frame["copies"]) == {0, 1, 5, 20}
    assert "the model gives back" in repr(audit)
