"""Guesses from the rows of a file, against loops."""

from collections import Counter
from math import log

import numpy as np
import pytest

from narcissus.synthetic import read_files
from narcissus.synthetic.assess import Inference


@pytest.fixture
def inference(people):
    files = read_files(people(80, 1), people(60, 2), bins=None, drop=["age"])
    # ill, job, town; ill is guessed
    return Inference(files, (0,), (1, 2))


def codes_of(inference, which):
    return inference.files.table.codes[inference.files.rows(which)].tolist()


def test_nearest_records_vote(inference):
    rows, truth = codes_of(inference, "synthetic"), codes_of(inference, "real")
    towns = inference.files.table.values[2]
    overall = Counter(row[0] for row in rows)
    for name, neighbours in (("nearest record", 1), ("ten nearest records", 10)):
        people, there = inference.files.rows("real"), inference.files.rows("synthetic")
        found = inference.attempts()[name](people, there)
        for won, person in zip(found, truth, strict=True):
            apart = [(person[1] != row[1]) + abs(towns[person[2]] - towns[row[2]]) for row in rows]
            reach = sorted(apart)[neighbours - 1] + 1e-6
            votes = Counter(r[0] for r, a in zip(rows, apart, strict=True) if a <= reach)
            best = max(votes, key=lambda v: (votes[v], overall[v]))
            assert won == (best == person[0])


def test_naive_bayes_multiplies(inference):
    rows, truth = codes_of(inference, "synthetic"), codes_of(inference, "real")
    found = inference.attempts()["naive Bayes"](
        inference.files.rows("real"), inference.files.rows("synthetic")
    )
    sizes = inference.files.table.sizes
    for won, person in zip(found, truth, strict=True):
        scores = {}
        for value in {row[0] for row in rows}:
            alike = [row for row in rows if row[0] == value]
            scores[value] = log(len(alike)) + sum(
                log(
                    (sum(row[j] == person[j] for row in alike) + 0.5)
                    / (len(alike) + 0.5 * sizes[j])
                )
                for j in (1, 2)
            )
        assert won == (max(scores, key=scores.get) == person[0])


def test_all_columns_of_a_joint_secret_must_be_right(people):
    real = people(100, 1).drop_duplicates(["age", "job"])
    files = read_files(real, real)
    joint = Inference(files, (1, 3), (0, 2)).attempts()["nearest record"]
    assert joint(files.rows("real"), files.rows("synthetic")).all()  # each is its own neighbour
    wrong = real.assign(town=(real["town"] + 1) % 6)
    files = read_files(real, wrong)
    joint = Inference(files, (1, 3), (0, 2))
    alone = Inference(files, (1,), (0, 2))
    assert not joint.attempts()["nearest record"](files.rows("real"), files.rows("synthetic")).any()
    assert alone.attempts()["nearest record"](files.rows("real"), files.rows("synthetic")).all()


def test_a_value_that_the_file_does_not_have_is_never_guessed(people):
    real = people(60, 1).assign(ill="maybe")
    files = read_files(real, people(60, 2), read_as={"ill": "text"})
    for attempt in Inference(files, (1,), (0, 2, 3)).attempts().values():
        assert not attempt(files.rows("real"), files.rows("synthetic")).any()
        assert np.all(attempt(files.rows("real"), files.rows("real")))
