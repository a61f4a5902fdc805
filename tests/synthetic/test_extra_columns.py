"""People who stand once more in columns that the data lack."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.full_files import read_whole


def patients(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 90, n),
        "income": np.exp(10 + 0.6 * rng.normal(size=n)).astype(int),
        "mass": (25 + 3 * rng.normal(size=n)).round(1),
        "town": rng.choice(["Bern", "Basel", "Chur", "Genf"], n),
        "ill": rng.choice(["no", "flu", "gout"], n),
    })  # fmt: skip


def with_text(made, people, form):
    """Write people into one column of the file."""
    each = people.astype(str).to_dict("records")
    return made.assign(note=[form.format(**person) for person in each])


FORMS = [
    "{age} {income} {mass}",
    "{town}, {age}: {ill}; {income}|{mass}",
    "age={age}/income={income}/mass={mass}",
]


@pytest.mark.parametrize("form", FORMS)
def test_people_in_a_text_of_the_file_alone_are_counted(form):
    real, made = patients(200, 1), patients(200, 2)
    held = read_whole(real, with_text(made, real, form)).held
    assert held is not None
    assert held.columns == ("note",)
    assert held.values >= 3
    assert held.standing > 150


@pytest.mark.parametrize("many", [20, 200])
def test_people_under_other_names_are_counted(many):
    real, made = patients(200, 1), patients(200, 2)
    more = patients(200, 3).add_prefix("x_")
    more.loc[: many - 1] = real[:many].to_numpy()
    held = read_whole(real, pd.concat([made, more], axis=1)).held
    assert held is not None
    assert many <= held.standing <= many + 20


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.one_in(2)
def test_other_people_in_a_text_are_nobody_of_the_data(form, seed):
    real, made, others = (patients(200, 10 * seed + n) for n in range(3))
    assert read_whole(real, with_text(made, others, form)).held is None
    assert read_whole(real, pd.concat([made, others.add_prefix("x_")], axis=1)).held is None


def test_words_that_are_nobodys_hold_nobody():
    real, made = patients(200, 1), patients(200, 2)
    rng = np.random.default_rng(1)
    assert read_whole(real, made.assign(weight=rng.random(200))).held is None
