"""The side file of single people: what was played, and nowhere else."""

import csv
import json
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import narcissus as package
from narcissus.game import executor
from narcissus.game.executor import Serial
from narcissus.study.table import experiment as experiments


@pytest.mark.parametrize("listed", [100_000, 1])
def test_single_people_are_in_the_side_file_only(study, narcissus, monkeypatch, listed):
    """Rows are marked by a column that only known parts hold; no mark leaves but on request."""
    monkeypatch.setattr(experiments, "MAX_JOINT", listed)  # with and without a list of values
    rows = list(csv.reader(Path("people.csv").read_text().splitlines()))
    with Path("people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "mark"])
        writer.writerows([[*row, f"mark{i % 40}"] for i, row in enumerate(rows[1:])])
    code, out, err = narcissus("audit", study(), "--quiet", "--records", "inside.csv", "--json")
    assert code == 0, err
    for text in (out, Path("results/s/report.html").read_text()):
        assert "mark1" not in text
    longest = max(len(v) for v in lists(json.loads(out)))
    assert longest < 15  # nothing in the record is one number a person
    with Path("inside.csv").open() as file:
        inside = list(csv.DictReader(file))
    assert len(inside) == 6 * 15 * 3
    hits = [int(r["right"]) for r in inside if r["attack"] == "posterior"]
    record = json.loads(out)
    counts = record["results"]["attacks"]["posterior"]["distribution"]
    assert sum(hits) == np.dot(counts["targets"], counts["trials"])
    for row in inside:
        assert (row["true_ill"] == row["guess_ill"]) == (row["right"] == "1")


class Sent(Serial):
    """Gets a job as bytes, and keeps the keys that it was asked for."""

    def __init__(self):
        self.keys = []

    def play(self, job, keys, observer=None):
        self.keys += keys
        yield from super().play(cloudpickle.loads(cloudpickle.dumps(job)), keys)


def test_who_plays_again_does_not_change_a_row(study, monkeypatch):
    made = package.load_study(study(run={"trials": 3}))
    package.run(made, engine="serial", internal=Path("one.csv"))
    monkeypatch.setattr(executor, "WORTH_SENDING", -1.0)
    others = Sent()
    package.run(made, engine=others, internal=Path("two.csv"))
    assert others.keys[-2:] == ["1/0", "2/0"]
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


def lists(value):
    if isinstance(value, dict):
        for v in value.values():
            yield from lists(v)
    elif isinstance(value, list):
        yield [v for v in value if isinstance(v, int | float)]
        for v in value:
            yield from lists(v)
