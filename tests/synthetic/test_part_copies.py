"""Files that keep some columns of each person: these are found, whichever they are."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.part_copies import Partners, partly_copied
from narcissus.synthetic.traces import PARTLY, traces_of

ERROR = 0.025


def answers(people, columns, seed):
    """Draw mildly correlated answers to questions, from 1 to 5."""
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=(people, 1))
    drawn = 3 + 0.7 * trait + 1.1 * rng.normal(size=(people, columns))
    names = [f"item{j:02}" for j in range(columns)]
    return pd.DataFrame(np.clip(np.round(drawn), 1, 5).astype(int), columns=names)


def partly(real, other, kept, seed=3):
    return other.assign(**{name: real[name] for name in kept}).sample(frac=1, random_state=seed)


def sought(real, made, control=None):
    files = read_whole(real, made, control)
    rng = np.random.default_rng(5)
    found = partly_copied(files, files.rows("real"), files.rows("control"), rng)
    assert found is not None
    return found


@pytest.mark.parametrize("columns", [10, 16])
def test_columns_that_a_file_keeps_are_found_and_named(columns):
    """No row equals a person in all columns, or in all but one."""
    real, other = answers(600, columns, 1), answers(600, columns, 2)
    kept = [*list(real)[1 : columns - 1 : 2], "item00"]
    names, many, _ = sought(real, partly(real, other, kept))
    assert set(names) == set(kept)
    # half of the people chose the columns; nobody is counted who is like one of these by them
    alike = real.duplicated(kept, keep=False).sum()
    assert 300 - alike <= many.people <= 300
    assert many.standing == many.unique
    assert many.all_standing == many.all_unique == (~real.duplicated(kept, keep=False)).sum()
    assert many.excess(ERROR / 10)[1] > 0.2


def test_the_headline_set_of_columns_is_what_was_kept():
    real, other = answers(600, 12, 1), answers(600, 12, 2)
    kept = ["item00", "item02", "item03", "item05", "item08", "item11"]
    files = read_whole(real, partly(real, other, kept))
    found = traces_of(files, list(real), ["item10"], entropy=1)
    best = found.deciding(ERROR, beside=False)
    assert (best.how, best.columns) == (PARTLY, tuple(kept))
    assert sum(one.share for one in found.each) == pytest.approx(1)


def test_a_control_is_compared_by_the_same_columns():
    real, other, control = (answers(600, 12, seed) for seed in (1, 2, 4))
    kept = ["item00", "item02", "item03", "item05", "item08", "item11"]
    names, _, beside = sought(real, partly(real, other, kept), control)
    assert set(names) == set(kept)
    assert beside.successes == beside.trials
    assert beside.excess(confidence=0.99).low > 0.5


@pytest.mark.parametrize("seed", range(6))
def test_a_file_of_other_people_keeps_nothing(seed):
    real, other = answers(400, 8, 10 + seed), answers(400, 8, 20 + seed)
    _, many, _ = sought(real, other)
    assert many.excess(ERROR)[1] <= 0


@pytest.mark.parametrize("seed", range(4))
def test_values_of_one_column_that_are_drawn_from_the_data_are_no_people(seed):
    """Everybody's exact income is there, beside the answers of others."""
    rng = np.random.default_rng(seed)
    real, other = answers(400, 6, 30 + seed), answers(400, 6, 40 + seed)
    income = np.round(rng.lognormal(10, 1, 400), 2)
    real, other = real.assign(income=income), other.assign(income=rng.permutation(income))
    _, many, _ = sought(real, other)
    assert many.excess(ERROR)[1] <= 0


def test_few_people_or_columns_are_not_divided():
    for real in (answers(90, 8, 1), answers(400, 2, 1)):
        files = read_whole(real, real)
        found = partly_copied(files, files.rows("real"), files.rows("control"),
                              np.random.default_rng(1))  # fmt: skip
        assert found is None


def test_the_fit_is_that_of_its_formula():
    """One step, beside the sum over all pairs of a person and a row."""
    rng = np.random.default_rng(6)
    people, rows = rng.integers(0, 4, (7, 3)), rng.integers(0, 5, (9, 3))
    fit, start = Partners(people, rows), np.array([0.3, 0.6, 0.5])
    share = np.stack([np.bincount(rows[:, j], minlength=5) for j in range(3)], axis=1)
    frequency = np.stack([(share[people[:, j], j] + 0.5) / 10 for j in range(3)], axis=1)
    assert fit.frequency == pytest.approx(frequency)
    total, weight = np.zeros(3), 0.0
    for person, often in zip(people, frequency, strict=True):
        same = rows == person
        likely = np.where(same, start / often + 1 - start, 1 - start).prod(axis=1) * 0.5 / len(rows)
        chance = likely / (likely.sum() + 0.5)
        total += (chance[:, None] * same).sum(axis=0) * start / (start + (1 - start) * often)
        weight += chance.sum()
    assert fit.step(start, 0.5)[0] == pytest.approx(total / weight, rel=1e-4)


def of_fresh(real, names, seeds):
    """Return the share of unique people who stand in fresh samples by some columns, on average."""
    alone = real[names][~real.duplicated(names, keep=False)].apply(tuple, axis=1)
    fresh = (answers(len(real), len(real.columns), seed) for seed in seeds)
    return np.mean([alone.isin(set(f[names].apply(tuple, axis=1))).mean() for f in fresh])


def test_coincidences_are_those_of_fresh_samples():
    """None was expected of 100, where pairs of the scored half alone are counted: they are few."""
    shares = []
    for seed in range(8):
        real, other = answers(240, 8, 50 + seed), answers(240, 8, 70 + seed)
        names, many, _ = sought(real, partly(real, other, list(real)[:6]))
        shares.append((many.expected / many.unique, of_fresh(real, list(names), range(200, 210))))
    told, true = np.transpose(shares)
    assert (told > true / 4).all()
    assert told.mean() == pytest.approx(true.mean(), rel=0.3)


def test_whoever_is_scored_is_unique_in_the_data():
    """150 of 150 were called unique, where 279 of 300 are."""
    real, other = answers(240, 7, 51), answers(240, 7, 71)
    _, many, _ = sought(real, partly(real, other, list(real)[:5]))
    assert many.unique == pytest.approx(many.all_unique / 2, rel=0.1)
