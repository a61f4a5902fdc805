"""The numbers of a model of images in long form."""

import numpy as np

import narcissus


def test_rows_are_the_numbers_of_the_record(tmp_path):
    pixels = np.random.default_rng(1).integers(0, 256, (60, 4, 4), dtype=np.uint8)
    np.save(tmp_path / "images.npy", pixels)
    study = {
        "kind": "image-model",
        "data": {"images": "images.npy"},
        "model": {"name": "mixture", "components": 5},
        "duplicates": {"each": 2, "copies": [20]},
        "relation": {"close": 0.06, "unique": 0.2},
        "run": {"seed": 2},
    }
    audit = narcissus.run(narcissus.load_study(study, folder=tmp_path))
    frame = audit.to_frame()
    whole = audit.record.results.whole
    rows = frame[frame["copies"] == 0].set_index("quantity")
    assert rows.loc["reproduced", "value"] == whole.share > 0
    assert rows.loc["reproduced", "baseline"] == whole.fresh.value
    assert rows.loc["fresh", "high"] == whole.fresh.high
    assert rows.loc["shadows", "high"] == whole.shadows.high
    assert rows.loc["gain", "low"] == whole.gain.low
    assert set(frame["copies"]) == {0, 1, 20}
    assert "the model gives back" in repr(audit)
