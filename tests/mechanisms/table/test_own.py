"""Rows of a function: what it is told, what it may give, and how what is wrong is said."""

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Microdata, OwnSynthesizer


def released(function, columns, people, seed=0):
    prepared = OwnSynthesizer(function).prepare(columns)
    return prepared.release(people[None], np.random.default_rng(seed))[0]


def test_a_function_sees_labels_and_gives_rows(columns, people):
    seen = []

    def backwards(frame):
        seen.append(frame)
        return frame.iloc[::-1, ::-1]

    release = released(backwards, columns, people)
    assert isinstance(release, Microdata)
    assert release.rows.tolist() == people[::-1].tolist()
    assert list(seen[0].columns) == list(columns.names)
    assert seen[0]["job"].tolist() == [columns.labels[1][c] for c in people[:, 1]]
    assert list(seen[0]["job"].cat.categories) == list(columns.labels[1])
    assert seen[0]["age"].cat.ordered is False


def test_a_function_with_two_arguments_gets_the_coins(columns, people):
    def some(frame, rng):
        return frame.iloc[rng.integers(len(frame), size=7)]

    one, two, other = (released(some, columns, people, seed).rows for seed in (1, 1, 2))
    assert one.shape == (7, 3)
    assert one.tolist() == two.tolist() != other.tolist()


def test_numbers_are_read_by_their_text(columns, people):
    def numbers(frame):
        return pd.DataFrame({"job": [1, 1], "ill": ["no", "yes"], "age": ["young", "young"]})

    assert released(numbers, columns, people).rows.tolist() == [[0, 1, 0], [0, 1, 1]]


WRONG = {
    "must give a data frame, got list": lambda frame: [1, 2],
    "must give a data frame, got NoneType": lambda frame: None,
    "has no rows": lambda frame: frame.iloc[:0],
    "lacks the columns 'job', 'ill'": lambda frame: frame[["age"]],
    "were not in the data: 'new'": lambda frame: frame.assign(new=1),
    "columns 'age' twice": lambda frame: pd.concat([frame, frame[["age"]]], axis=1),
    "column 'ill' of what the function `<lambda>` gives has values that were not in the data: "
    "'maybe'": lambda frame: frame.assign(ill="maybe"),
    "not in the data: 'maybe', 'nan'": lambda frame: frame.assign(
        ill=[np.nan if value == "no" else "maybe" for value in frame["ill"]]
    ),
    "not in the data: 'None'": lambda frame: frame.assign(ill=None),
    "raised ZeroDivisionError": lambda frame: 1 / 0,
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_is_said_with_the_name(columns, people, said):
    with pytest.raises(InputError, match=said) as caught:
        released(WRONG[said], columns, people)
    assert "`<lambda>`" in str(caught.value)


def test_a_function_is_called_by_its_name():
    plan = OwnSynthesizer(released)
    assert plan.title == "Rows of the function `released`"
    assert plan.label == "the function `released`"
