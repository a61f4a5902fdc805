"""Copies of people in a file: exact counts, coincidences of a known truth, decoys, the control."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from narcissus.synthetic import read_files
from narcissus.synthetic.copies import Copies, file_facts
from narcissus.synthetic.full_files import read_whole


def drawn(n, seed, columns=6, sizes=(12, 9, 8, 7, 6, 5)):
    """Draw people whose columns hang together by what kind they are."""
    rng = np.random.default_rng([5, seed])
    kinds = np.random.default_rng(9)
    kind = rng.integers(0, 6, n)
    found = {}
    for j in range(columns):
        shares = kinds.dirichlet(np.full(sizes[j % len(sizes)], 0.7), size=6).cumsum(axis=1)
        found[f"c{j}"] = [f"v{v}" for v in (rng.random(n)[:, None] > shares[kind]).sum(axis=1)]
    return pd.DataFrame(found)


def facts(real, made, control=None, **how):
    return file_facts(read_files(real, made, control, **how), [0], entropy=1)


cells = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=14)


@given(cells, cells)
@settings(deadline=None)
def test_counts_are_those_of_a_comparison_of_all_pairs(ours, theirs):
    ours, theirs = [(0, 1, 2), (1, 2, 0), *ours], [(2, 0, 1), *theirs]
    real, made = (
        pd.DataFrame([[f"v{v}" for v in row] for row in rows], columns=list("abc"))
        for rows in (ours, theirs)
    )
    found = facts(real, made, read_as=dict.fromkeys("abc", "text"))
    near = [min(sum(x != y for x, y in zip(a, b, strict=True)) for a in ours) for b in theirs]
    assert found.verbatim == near.count(0)
    assert found.near == near.count(1)
    for one in found.sets:
        at = ["abc".index(name) for name in one.columns]
        mine = [tuple(row[j] for j in at) for row in ours]
        there = {tuple(row[j] for j in at) for row in theirs}
        unique = [row for row in mine if mine.count(row) == 1]
        assert (one.unique, one.standing) == (len(unique), sum(row in there for row in unique))
    assert (found.is_data is not None) == (sorted(ours) == sorted(theirs))
    twins = sum(ours.count(row) > 1 for row in ours) / len(ours)
    assert found.verbatim_expected == pytest.approx(len(theirs) * twins)


@pytest.mark.parametrize(("columns", "many"), [(4, 400), (5, 800), (6, 1500)])
def test_coincidences_are_within_a_factor_of_two_of_the_truth(columns, many):
    """The truth: what fresh files of the same population share with the data, on average."""
    real = drawn(800, 0, columns)
    told, seen = [], []
    for seed in range(1, 9):
        found = facts(real, drawn(many, seed, columns))
        told.append((found.verbatim_expected, found.near_expected, found.copies.expected))
        seen.append((found.verbatim, found.near, found.copies.standing))
    ratio = np.mean(told, axis=0) / np.mean(seen, axis=0)
    assert ((ratio > 0.5) & (ratio < 2.0)).all(), ratio


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.one_in(2)
def test_a_copy_of_5_percent_of_the_rows_is_found_with_a_control_and_without(seed):
    """Its size is told within a factor of two: 40 of 800 people."""
    sizes = (40, 30, 20, 12, 10, 9, 8, 7)
    real, control, other = (drawn(800, 10 * seed + k, 8, sizes) for k in range(3))
    made = pd.concat([real.iloc[:40], other.iloc[40:]])
    found = facts(real, made, control)
    value, low, _ = found.copies.excess(0.005)
    assert low > 0
    assert 20 < value * found.copies.unique < 80
    assert found.beside.refuses(0.0, error=0.005)
    assert found.control.excess(0.001)[1] <= 0
    fresh = facts(real, other, control)
    assert fresh.copies.excess(0.005)[1] <= 0
    assert not fresh.beside.refuses(0.0, error=0.005)


def test_near_copies_are_counted_beyond_coincidence():
    """One value of each of 60 people is changed: the truth is 60."""
    sizes = (40, 30, 20, 12, 10, 9, 8, 7)
    real, made = drawn(600, 1, 8, sizes), drawn(600, 2, 8, sizes)
    made.iloc[:60] = real.iloc[:60].to_numpy()
    for row in range(60):
        made.iloc[row, row % 8] = "v0" if made.iloc[row, row % 8] != "v0" else "v1"
    found = facts(real, made)
    assert 30 < found.near - found.near_expected < 120


def test_a_control_that_was_in_the_data_is_found_out():
    whole = drawn(1000, 3, 8, (40, 30, 20, 12))
    found = facts(whole[:500], whole.sample(frac=0.4, random_state=1), whole[500:])
    assert found.control.excess(0.001)[1] > 0.2


def test_rows_of_one_person_are_one_person():
    real = drawn(200, 4, 8, (40, 30, 20, 12)).assign(who=np.arange(200))
    twice = pd.concat([real, real], ignore_index=True)
    made = real.drop(columns="who")
    one, two = facts(real, made, unit="who"), facts(twice, made, unit="who")
    assert one.sets[0].unique == one.sets[0].standing == two.sets[0].unique == two.sets[0].standing
    assert facts(twice.drop(columns="who"), made).copies.unique == 0
    assert two.copies.people == 200


def test_decoys_allow_for_a_law_that_favours_plausible_people():
    """A file of kinds 0 to 2 alone has twice as many of these people, and of their decoys."""
    rng = np.random.default_rng(1)
    real = pd.DataFrame(rng.integers(0, [40, 6, 6], (400, 3)), columns=list("abc")).astype(str)
    made = pd.DataFrame(rng.integers(0, [10, 6, 6], (400, 3)), columns=list("abc")).astype(str)
    found = facts(real, made, read_as=dict.fromkeys("abc", "text")).copies
    assert found.decoys > 100
    assert found.decoys_standing > 0
    assert found.excess(0.025)[1] <= 0


def test_the_limit_of_coincidences_is_exact_by_hand():
    """Without pairs, x of x fall on the file's side with chance (ratio / (1 + ratio))^x."""
    found = Copies(people=100, unique=90, standing=5, rows=50, pairs=0)
    assert [found.most_coincidences(e) for e in (0.6, 0.3, 0.2, 0.1)] == [0, 1, 2, 3]
    assert Copies(100, 0, 0, 50, 0).excess(0.05) == (0, 0, 0)


@given(cells, cells)
@settings(deadline=None)
def test_values_that_nobody_or_two_have_are_those_of_all_pairs(ours, theirs):
    ours, theirs = [(0, 1, 2), (1, 2, 0), *ours], [(2, 0, 1), *theirs]
    real, made = (
        pd.DataFrame([[f"v{v}" for v in row] for row in rows], columns=list("abc"))
        for rows in (ours, theirs)
    )
    found = facts(real, made, read_as=dict.fromkeys("abc", "text")).copies
    times = [ours.count(row) for row in set(theirs)]
    assert (found.absent, found.standing, found.twins) == tuple(map(times.count, (0, 1, 2)))


def test_the_limit_for_any_law_is_that_of_cauchy_and_schwarz_by_hand():
    """Of 200 absent values and 2 pairs, with all error spent: E1 is at most sqrt(2 E0 E2)."""
    found = Copies(300, 290, 60, 300, pairs=2, absent=200, twins=2)
    pairs, absent = stats.gamma.isf(0.0125, 3), stats.gamma.isf(0.00125, 201)
    expected = stats.poisson.isf(0.01125, np.sqrt(2 * pairs * absent))
    assert found.most_of_any_law(0.025) == expected
    assert found.excess_of_any_law(0.025) == (60 - expected) / 290
    assert Copies(300, 290, 60, 300, pairs=2).most_of_any_law(0.025) == 290  # not counted


@pytest.mark.parametrize("scale", [0.05, 0.5, 2.0])
def test_no_list_of_people_made_without_the_data_is_beyond_any_law(scale):
    """A file of 600 plausible people, each of whom is there as often: the bound is met exactly."""
    wrong = 0
    for seed in range(200):
        counts = np.random.default_rng([7, seed]).poisson(scale, 600)
        absent, standing, twins = (int((counts == k).sum()) for k in range(3))
        found = Copies(600, 600, standing, 600, 0, absent=absent, twins=twins)
        wrong += found.excess_of_any_law(0.05) > 0
    assert wrong <= stats.binom.isf(1e-6, 200, 0.05)


def test_the_factor_of_decoys_allows_for_two_standard_errors_of_what_is_expected():
    """Of 30 decoys in the file and 9 expected, 2 rows for each of one half of the data."""
    found = Copies(100, 90, 20, 100, pairs=4, decoys=200, decoys_standing=30, decoys_expected=9.0)
    assert found.factor(surely=False) == pytest.approx(30 / (9 + 2 * np.sqrt(2 * (9 + 2))))
    assert found.factor(surely=True) == pytest.approx(31 / 10)
    assert found.expected == pytest.approx(90 * -np.expm1(-2 * 4 * 30 / (9 + 2 * np.sqrt(22)) / 90))


@pytest.mark.parametrize("times", [1.0, 4.0])
def test_the_factor_is_seldom_above_that_of_a_fresh_file(times):
    """Decoys are in half of the data, and in the file so many times as often.

    Counts are small and skewed: in one of ten at most, where one standard error allows one in five.
    """
    above = 0
    for seed in range(400):
        rng = np.random.default_rng([3, seed])
        half, stand = rng.poisson(10), rng.poisson(2 * 10 * times)
        found = Copies(
            100, 90, 0, 100, 3, decoys=500, decoys_standing=stand, decoys_expected=2.0 * half
        )
        above += found.factor(surely=False) > times
    assert above <= 400 * 0.12


def test_the_data_itself_is_known_even_where_nobody_is_unique():
    real = pd.concat([drawn(60, 5, 3)] * 2, ignore_index=True)
    found = facts(real, real.sample(frac=1, random_state=1))
    assert found.copies.unique == 0
    assert found.is_data < 1e-6
    assert facts(real, real.iloc[1:]).is_data is None


@pytest.mark.parametrize("rule", ["half to even", "half up"])
@pytest.mark.parametrize("many", [12, 300])
def test_copies_are_counted_by_either_rule_of_rounding(rule, many):
    """One of twelve was missed: 4.5 becomes 4 in one program, and 5 in another."""
    rng = np.random.default_rng(7)
    tenths = rng.integers(0, 1000, (3, 300, 6)) // 5 * 5
    real, other, fresh = (pd.DataFrame(side / 10).add_prefix("m") for side in tenths)
    made = pd.concat([real[:many], other[many:]], ignore_index=True)

    def rounded(frame):
        return frame.round(0) if rule == "half to even" else np.floor(frame + 0.5)

    files = read_whole(real, rounded(made).astype(int))
    facts = file_facts(files, [], entropy=1)
    assert facts.copies.standing == many
    assert (
        file_facts(read_whole(real, rounded(fresh).astype(int)), [], entropy=1).copies.standing == 0
    )


@pytest.mark.parametrize("rule", ["half to even", "half up"])
@pytest.mark.parametrize("seed", range(3))
def test_few_copies_are_counted_where_columns_are_rounded_and_cut(rule, seed):
    """What other people's numbers suggest of each column, one rule holds of all that are rounded.

    An age that is cut to tens looks as if it were rounded, where few rows tell.
    """
    rng = np.random.default_rng(seed)

    def people(many):
        sides = np.round(rng.normal([50, 45, 40, 30], 12, (many, 4)) * 2) / 2
        return pd.DataFrame(sides, columns=list("abcd")).assign(age=rng.integers(18, 90, many))

    def rounded(frame):
        halves = frame / 2  # .5 in one of four
        many = halves.round() if rule == "half to even" else np.floor(halves + 0.5)
        return (2 * many).assign(age=frame["age"] // 10 * 10)

    real, other, fresh = people(200), people(200), people(200)
    made = pd.concat([rounded(real[:12]), rounded(other[12:])], ignore_index=True)
    facts = file_facts(read_whole(real, made), [], entropy=1)
    by_chance = file_facts(read_whole(real, rounded(fresh)), [], entropy=1).copies
    assert facts.copies.standing >= 12
    assert by_chance.standing <= by_chance.most_coincidences(0.001)
