"""A given file from Python: the arguments are those of a study file."""

import pandas as pd
import pytest

import narcissus
from narcissus.errors import InputError


@pytest.fixture(scope="module")
def halves():
    from random import Random

    chance = Random(1)
    rows = [[chance.randint(0, 7) for _ in range(4)] for _ in range(360)]
    frame = pd.DataFrame(rows, columns=["age", "job", "town", "ill"])
    return frame.iloc[:120], frame.iloc[120:240], frame.iloc[240:]


def test_arguments_mean_what_a_study_file_says(halves, tmp_path):
    names = ("real", "control", "synthetic")
    for name, frame in zip(names, halves, strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    study = tmp_path / "study.toml"
    study.write_text(
        """kind = "synthetic"
        [data]
        real = "real.csv"
        synthetic = "synthetic.csv"
        control = "control.csv"
        drop = ["town"]
        bins.age = { width = 2 }
        [threat]
        unknown = ["ill"]
        linked = [["age"], ["job", "ill"]]
        people = 100
        [threshold]
        at_most = 0.05
        [groups]
        columns = ["job"]
        [run]
        confidence = 0.9
        """,
        encoding="utf-8",
    )
    real, control, synthetic = halves
    found = narcissus.audit_synthetic(
        real, synthetic, control=control, drop=["town"], bins={"age": narcissus.Bins(width=2)},
        unknown=["ill"], linked=(["age"], ["job", "ill"]), people=100, at_most=0.05,
        groups=["job"], confidence=0.9, rng=4,
    )  # fmt: skip
    results, of_files = found.results, narcissus.run(narcissus.load_study(study), rng=4).results
    # a frame may be written with more than its cells: a file of it is there to be read
    assert results["result"].pop("not_sought")
    assert results == of_files
    assert found.results["result"]["files"]["real_scored"] == 50


def test_mistakes_are_refused(halves):
    real, control, synthetic = halves
    with pytest.raises(InputError, match="`il`"):
        narcissus.audit_synthetic(real, synthetic, control=control, unknown="il")
    with pytest.raises(InputError, match="not both"):
        narcissus.audit_synthetic(
            real, synthetic, control=control, unknown=["ill"], at_most=0.1, threshold={}
        )


def test_each_frame_stays_itself(halves):
    real, control, synthetic = halves
    found = narcissus.audit_synthetic(real, synthetic, control=control, unknown=["ill"], rng=1)
    said = found.record.study["data"]
    assert [said[k] for k in ("real", "synthetic", "control")] == [
        "python:data.real", "python:data.synthetic", "python:data.control"
    ]  # fmt: skip
    digests = found.record.provenance.digests
    assert {digests[k] for k in ("real", "synthetic", "control")} == {"withheld"}  # no folder
