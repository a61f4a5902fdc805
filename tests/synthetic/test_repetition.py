"""Rows of one person are told from coincidences, whatever the people's law is."""

import numpy as np
import pytest

from narcissus.synthetic.files import keys_of
from narcissus.synthetic.repetition import agreeing_columns, repeated_rows


def fine(n, seed):
    """Draw people of whom hardly two are alike."""
    rng = np.random.default_rng(seed)
    return np.column_stack([
        rng.integers(0, 5, n), rng.geometric(0.3, n), rng.integers(0, 3_000, n),
        rng.integers(0, 9_000, n),
    ])  # fmt: skip


def coarse(n, seed):
    """Draw people of few kinds, of which some are far more common."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.geometric(0.4, n).clip(max=6) for _ in range(3)])


def repeat(codes, many, times=2):
    return np.concatenate([codes, *[codes[:many]] * (times - 1)])


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize(("n", "many"), [(400, 400), (400, 300), (400, 40), (3_000, 30)])
def test_rows_that_stand_more_than_once_beside_a_control_are_one_person(n, many, times):
    sides = {"real": repeat(fine(n, 1), many, times), "control": repeat(fine(n, 2), many, times)}
    found = repeated_rows(sides)
    assert (found.real, found.control) == (times * many, times * many)
    assert [len(places) for places in found.kept.values()] == [n, n]
    assert len(np.unique(keys_of(sides["real"][found.kept["real"]]))) == n


def test_one_side_may_have_each_row_once():
    found = repeated_rows({"real": repeat(fine(400, 1), 100), "control": fine(300, 2)})
    assert [len(places) for places in found.kept.values()] == [400, 300]


@pytest.mark.parametrize("many", [400, 300])
def test_rows_that_most_often_stand_twice_are_one_person_without_a_control(many):
    assert len(repeated_rows({"real": repeat(fine(400, 1), many)}).kept["real"]) == 400


def test_few_rows_that_stand_twice_without_a_control_are_asked_about():
    found = repeated_rows({"real": repeat(fine(400, 1), 40)})
    assert (found.real, found.kept) == (80, {})


def test_coarse_rows_that_stand_twice_as_often_are_asked_about():
    sides = {"real": repeat(coarse(400, 1), 400), "control": repeat(coarse(400, 2), 400)}
    found = repeated_rows(sides)
    assert found is None or not found.kept


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("law", [fine, coarse])
def test_independent_people_are_nobodys_rows(law, seed):
    for n in (100, 1_000):
        assert repeated_rows({"real": law(n, seed)}) is None
        assert repeated_rows({"real": law(n, seed), "control": law(n // 2, 99 + seed)}) is None


def test_rows_that_differ_in_a_column_of_the_data_alone_are_not_equal():
    real = repeat(fine(400, 1), 300)
    others = {"real": np.arange(700)[:, None]}
    assert repeated_rows({"real": real, "control": fine(400, 2)}, others) is None


def visits(n, seed, most=2):
    """Draw several rows a person: the last two columns change from row to row."""
    rng = np.random.default_rng(seed)
    people = np.repeat(fine(n, seed), rng.integers(2, most + 1, n), axis=0)
    changing = np.column_stack([rng.poisson(4, len(people)), rng.integers(0, 9, len(people))])
    return np.column_stack([people, changing])


@pytest.mark.parametrize("most", [2, 6])
def test_rows_of_one_person_agree_in_what_stays(most):
    sides = {"real": visits(300, 1, most), "control": visits(250, 2, most)}
    assert {2, 3} <= set(agreeing_columns(sides)) <= {0, 1, 2, 3}


@pytest.mark.parametrize("law", [fine, coarse])
def test_rows_of_independent_people_agree_by_chance_alone(law):
    assert agreeing_columns({"real": law(400, 1), "control": law(400, 2)}) == ()


def test_a_region_of_each_side_is_nobodys_row():
    sides = {n: np.column_stack([coarse(400, s), np.full(400, s)]) for s, n in enumerate(
        ["real", "control"])}  # fmt: skip
    assert agreeing_columns(sides) == ()
