"""The numbers of a language model in long form."""

import narcissus


def test_rows_are_the_numbers_of_the_record(tmp_path):
    lines = [f"the {i * 7919 % 1000:03d}rd letter of {i * 31337 % 10**6:06d}" for i in range(60)]
    (tmp_path / "letters.txt").write_text("\n".join(lines))
    study = {
        "kind": "language-model",
        "data": {"documents": "letters.txt"},
        "model": {"name": "ngram"},
        "canaries": {"each": 3, "copies": [2], "alternatives": 9},
        "generation": False,
        "completion": {"prefix": 10, "window": 8},
        "membership": {"false_alarms": [0.5, 0.01]},
        "run": {"seed": 2},
    }
    audit = narcissus.run(narcissus.load_study(study, folder=tmp_path))
    frame = audit.to_frame()
    whole = audit.record.results.attacks[0].whole
    rows = frame[frame["copies"] == 0].set_index("quantity")
    assert rows.loc["recovered", "value"] == whole.share
    assert rows.loc["recovered", "baseline"] == whole.fresh.value
    assert rows.loc["fresh", "high"] == whole.fresh.high
    assert rows.loc["gain", "low"] == whole.gain.low
    assert set(frame.loc[frame["quantity"] == "told", "grade"]) == {"sampled", "not assessed"}
    named = frame[frame["quantity"] == "canaries named"]
    assert named["baseline"].tolist() == [0.1]
    assert "completion recovers" in repr(audit)
