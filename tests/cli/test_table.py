"""A table's audit from the file to the report, through the commands, at the size of a toy."""

import csv
import json
import random
from pathlib import Path

import jsonschema
import pytest

STUDY = """
title = "A small town"
[data]
path = "people.csv"
[threat]
unknown = ["smokes"]
targets = 20
[mechanism]
k = 2
epsilon = {epsilon}
[attacks]
prior = {{}}
posterior = {{}}
ceiling = {{}}
[groups]
columns = ["town"]
[run]
trials = 4
seed = 1
workers = 1
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Write a table of 200 people, and give a function that writes a study of it."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(7)
    with open("people.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["town", "age", "smokes"])
        for _ in range(200):
            age = chance.choice(["young", "middle", "old"])
            smokes = chance.random() < {"young": 0.2, "middle": 0.5, "old": 0.7}[age]
            out.writerow([chance.choice("AB"), age, "yes" if smokes else "no"])

    def write(epsilon="[1, inf]", more=""):
        Path("town.toml").write_text(STUDY.format(epsilon=epsilon) + more)
        return "town.toml"

    return write


@pytest.mark.parametrize("epsilon", ["[1, inf]", "2"])
def test_record_fits_its_schema_and_is_drawn(study, narcissus, epsilon):
    code, out, err = narcissus("audit", study(epsilon), "--json")
    assert code == 0, err
    record = json.loads(out)
    for kind in ((), ("table",)):
        schema = json.loads(narcissus("schema", "record", *kind)[1])
        jsonschema.validate(record, schema)
    assert isinstance(record["results"], list) == (epsilon != "2")
    drawn = Path("results/town/report.html").read_text()
    narcissus("report", "results/town", "--out", "again.html")
    assert Path("again.html").read_text() == drawn
    assert "A small town" in drawn


def test_study_fits_its_schema(study, narcissus):
    import tomllib

    schema = json.loads(narcissus("schema", "study")[1])
    document = tomllib.loads(Path(study("[1, 2]")).read_text())
    jsonschema.validate(document, schema)
    document["threat"]["unknwon"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_a_policy_decides_and_its_hash_and_reason_stand_in_the_record(study, narcissus):
    Path("policy.toml").write_text(
        '[threshold]\nshare = 0.05\nreason = "Small towns."\norigin = "The board"\n'
    )
    code, out, err = narcissus("audit", study(), "--policy", "policy.toml", "--json", "--quiet")
    assert (code, err) == (1, "")
    record = json.loads(out)
    assert record["provenance"]["digests"]["policy"].startswith("sha256:")
    assert "Small towns." in narcissus("report", "results/town", "--text")[1]


def test_single_records_go_to_the_internal_file_only(study, narcissus):
    narcissus("audit", study(), "--records", "internal.json", "--quiet")
    assert Path("internal.json").exists()
    assert {p.name for p in Path("results/town").iterdir()} == {
        "record.json", "report.html", "trials.sqlite",
    }  # fmt: skip


def test_a_finished_run_can_be_extended(study, narcissus):
    path = Path(study())
    narcissus("audit", path, "--quiet")
    path.write_text(path.read_text().replace("trials = 4", "trials = 6"))
    code, _, err = narcissus("audit", path)
    assert code == 0
    assert "8 done earlier" in err
