"""People in a file of which scales are turned round, or questions have changed their names."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.copies import Copies, Views
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.mirrors import look_mirrored, nearer_mirrored


def answers(n, seed):
    rng = np.random.default_rng(seed)
    loads = np.random.default_rng(77).normal(size=(3, 20)) * 0.6
    means = 3 + np.random.default_rng(78).uniform(-0.6, 0.6, 20)
    drawn = means + rng.normal(size=(n, 3)) @ loads + 0.8 * rng.normal(size=(n, 20))
    frame = pd.DataFrame(np.clip(np.round(drawn), 1, 5).astype(int)).add_prefix("q")
    return frame.assign(age=rng.integers(18, 90, n), town=rng.choice(list("ABC"), n))


QUESTIONS = [f"q{j}" for j in range(20)]


def looked(real, made, control=None):
    files = read_whole(real, made, control)
    rng = np.random.default_rng(1)
    sides = files.rows("real"), files.rows("control")
    return look_mirrored(files, sides, Copies(len(real), 0, 0, len(made), 0), rng)


def turned(real, other):
    return other.assign(**(6 - real[QUESTIONS]).sample(frac=1, random_state=1, ignore_index=True))


def renamed(real, other):
    moved = real[QUESTIONS].sample(frac=1, random_state=1, ignore_index=True)
    return other.assign(**moved.set_axis([*QUESTIONS[7:], *QUESTIONS[:7]], axis=1))


def one_turned(real, other):
    return real.assign(age=real["age"].min() + real["age"].max() - real["age"])


@pytest.mark.parametrize(
    ("change", "way"),
    [(turned, "mirrored"), (renamed, "exchanged"), (one_turned, "mirrored")],
)
def test_answers_turned_round_or_under_other_names_are_found(change, way):
    real, other, control = (answers(300, seed) for seed in (1, 2, 3))
    people = looked(real, change(real, other), control)
    assert people is not None
    assert people.way == way
    assert people.standing > 280
    assert not people.is_explained


def test_measures_mirrored_beside_synthetic_values_are_found():
    rng = np.random.default_rng(1)
    real, made = (pd.DataFrame(rng.normal(50, 10, (300, 4)).round(2)).add_prefix("m") for _ in "ab")
    real["age"], made["age"] = rng.integers(18, 90, (2, 300))
    for name in ("m0", "m1", "m2"):
        made[name] = (real[name].min() + real[name].max() - real[name]).round(2)
    people = looked(real, made.sample(frac=1, random_state=1))
    assert people is not None
    assert people.standing == 300


def test_rows_that_are_nearly_a_mirrored_person_are_found():
    real, made = answers(300, 1)[QUESTIONS], answers(300, 2)[QUESTIONS]
    rng = np.random.default_rng(1)
    noise = rng.random((150, 20)) < 0.2
    made[:150] = np.where(noise, made[:150], 6 - real[:150])
    files = read_whole(real, made)
    sides = files.rows("real"), files.rows("control")
    people = nearer_mirrored(files, Views(files, rng), sides, rng)
    assert people is not None
    assert people.standing > 50


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_other_people_stand_nowhere_mirrored(seed):
    real, fresh = answers(300, 10 + seed), answers(300, 20 + seed)
    rng = np.random.default_rng(seed)
    apart = real.apply(lambda column: rng.permutation(column.to_numpy()))
    for made in (fresh, apart, turned(fresh, fresh), renamed(fresh, fresh)):
        assert looked(real, made) is None
        files = read_whole(real, made)
        sides = files.rows("real"), files.rows("control")
        assert nearer_mirrored(files, Views(files, rng), sides, rng) is None
