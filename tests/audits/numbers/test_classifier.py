"""The numbers of a classifier in long form."""


def test_rows_are_the_numbers_of_the_record(kept_audit):
    audit = kept_audit("classifier")
    frame = audit.to_frame()
    blind, informed = audit.record.results.attacks
    rows = frame[frame["name"] == "reconstruction"].set_index("quantity")
    assert list(rows.index) == ["recovered", "fresh", "gain", "from shadows"]
    assert rows.loc["recovered", "value"] == blind.share
    assert rows.loc["recovered", "baseline"] == rows.loc["fresh", "value"] == blind.fresh.value
    assert rows.loc["gain", "low"] == blind.gain.low
    assert rows.loc["recovered", "chance"] == blind.chance
    assert rows.loc["from shadows", "chance"] == blind.shadow_chance
    assert rows.loc["from shadows", "value"] == sum(blind.shadows) / 16
    rows = frame[frame["name"] == "informed"].set_index("quantity")
    assert rows.loc["named", "value"] == informed.named / 2
    assert rows.loc["named", "baseline"] == 1 / (audit.record.results.fresh + 1)
    assert "of 8 training images" in repr(audit)
