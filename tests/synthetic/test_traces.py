"""People in a published file by any of its columns: copies are found however they are written."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from narcissus.synthetic.copies import Copies, Views, copies_but_one
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.traces import (
    BUT_ANY,
    BUT_ANY_SHARE,
    NEAREST,
    NEARLY,
    PARTLY,
    PARTLY_SHARE,
    WHOLE,
    Numbered,
    traces_of,
)

ERROR = 0.025


def hospital(n, seed):
    rng = np.random.default_rng(seed)
    days = rng.geometric(0.2, n)
    admitted = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1095, n), unit="D")
    return pd.DataFrame({
        "row": np.arange(1, n + 1),
        "case": rng.choice(90_000_000, n, replace=False) + 10_000_000,
        "admitted": admitted.strftime("%Y-%m-%d"),
        "age": rng.integers(18, 95, n),
        "ward": rng.choice(["Surgery", "Medicine", "Cardiology"], n),
        "days": days,
        "bill": np.round(days * rng.lognormal(6.5, 0.4, n), 2),
    })  # fmt: skip


USED = ["age", "ward", "days", "bill"]


def sought(real, made, control=None, used=USED):
    """Return all traces, and the lower limit of the set of columns that decides."""
    found = traces_of(read_whole(real, made, control), used, [], entropy=1)
    beside = control is not None
    best = found.deciding(ERROR, beside=beside)
    return found, best, best.excess(ERROR, beside=beside)[1]


@pytest.fixture(scope="module")
def files():
    return hospital(300, 1), hospital(300, 2), hospital(300, 3)


PUT_BACK = [["case"], ["admitted", "bill"], ["case", "admitted", "bill"]]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("columns", PUT_BACK, ids="-".join)
def test_real_values_beside_synthetic_ones_name_the_person(files, columns, beside):
    """The rest of each row is of somebody else, and rows are in another order."""
    real, fresh, control = files
    made = fresh.assign(**{name: real[name] for name in columns})
    made = made.sample(frac=1, random_state=1).assign(row=np.arange(1, 301))
    _, best, low = sought(real, made, control if beside else None)
    assert low > 0.9
    assert best.how != WHOLE
    assert set(best.columns) & set(columns)


@pytest.mark.parametrize("beside", [False, True])
def test_a_fresh_file_leaves_no_trace(files, beside):
    real, fresh, control = files
    found, best, low = sought(real, fresh, control if beside else None)
    assert low <= 0
    assert best.how == WHOLE
    assert best.copies.standing == 0
    assert not any(one.is_alike for one in found.linked)


def test_the_sets_divide_the_error(files):
    """All columns take half, all others together the other half, however many there are."""
    each = sought(*files[:2])[0].each
    assert each[0].how == WHOLE
    assert each[0].share == 0.5
    assert sum(one.share for one in each) == pytest.approx(1)
    assert each[1].how == BUT_ANY
    assert each[1].share == pytest.approx(BUT_ANY_SHARE)
    chosen = [one for one in each if one.how == PARTLY]
    assert [one.share for one in chosen] == [PARTLY_SHARE]
    others = [one for one in each[2:] if one.how not in (NEAREST, PARTLY, NEARLY)]
    assert len({one.columns for one in others}) == len(others) == len(each) - 7


def test_with_a_control_coincidence_is_a_claim_of_its_own(files):
    """Few people of a control cannot hide copies that no coincidence explains."""
    real, fresh, control = files
    made = pd.concat([fresh[25:], real[:25]])
    found, best, low = sought(real, made, control[:30])
    assert sum(one.share for one in found.each) == pytest.approx(1)
    assert [one.share for one in found.each[:2]] == [0.25, 0.25]
    assert (best.beside, best.copies.standing) == (None, 25)
    assert low > 0


def test_rows_with_one_changed_cell_are_found(files):
    """The changed column is another for each: no single set of columns has them all."""
    real, fresh, _ = files
    rng = np.random.default_rng(2)
    names = [name for name in real if name not in ("row", "case")]
    copied = real[:30].astype(object)
    for at in range(len(copied)):
        changed = names[rng.integers(len(names))]
        copied.iloc[at, copied.columns.get_loc(changed)] = fresh[changed].iloc[at]
    found, best, low = sought(real, pd.concat([fresh[30:], copied]))
    assert low > 0
    assert best.copies.standing > 20
    assert found.each[1].copies.standing >= 25


def test_people_who_are_near_are_those_of_a_comparison_of_all_pairs():
    rng = np.random.default_rng(8)
    for _ in range(20):
        real, made = (pd.DataFrame(rng.integers(0, 4, (n, 4)), columns=list("abcd")).astype(str)
                      for n in (30, 25))  # fmt: skip
        views = Views(read_whole(real, made), rng)
        ours = np.arange(30)
        like = Copies(30, 0, 0, 25, 0)
        (ours_rows, their_rows) = (np.column_stack([views.fine[j] for j in range(4)])[part]
                                   for part in (ours, views.rows))  # fmt: skip
        near = (ours_rows[:, None] != ours_rows[None]).sum(2) <= 1
        np.fill_diagonal(near, val=False)
        beside = (their_rows[:, None] != ours_rows[None]).sum(2) <= 1
        unique = ~near.any(1)
        alone = near.sum(1) == 1
        pairs = sum(alone[i] and alone[k] for i, k in zip(*np.nonzero(near), strict=True)) / 2
        hit = {int(row.argmax()) for row in beside if row.sum() == 1}
        found = copies_but_one(views, ours, like)
        assert (found.unique, found.pairs) == (unique.sum(), pairs)
        assert found.standing == sum(unique[i] for i in hit)


def test_what_is_left_out_does_not_matter_to_whole_rows(files):
    real = files[0]
    made = real.drop(columns=["row", "case"]).sample(frac=0.9, random_state=1)
    results = [sought(real, made, used=used)[0].each[0] for used in (USED, ["age"], ["ward"])]
    assert len({(one.columns, one.copies.standing) for one in results}) == 1
    assert results[0].copies.standing == 270


def test_rows_but_for_one_column_are_found(files):
    real, fresh, _ = files
    made = real.assign(case=fresh["case"], bill=fresh["bill"])
    _, best, low = sought(real, made)
    assert low > 0.8
    assert "bill" not in best.columns


def test_numbered_rows_are_harmless_unless_rows_of_one_number_are_alike(files):
    real, fresh, _ = files
    (one,) = sought(real, fresh)[0].linked
    assert (one.column, one.rows, one.is_alike) == ("row", 300, False)
    noise = np.random.default_rng(1).normal(0, 20, 300)
    made = fresh.assign(age=(real["age"] + noise).round().astype(int))
    (one,) = sought(real, made)[0].linked
    assert one.is_alike


def test_numbers_that_lie_close_together_meet_by_chance():
    """Of every third number of a register; a file has others of it, or the very same."""
    rng = np.random.default_rng(1)
    ours, _others = np.split(rng.permutation(3_000)[:1_000] + 1, 2)
    rest = {"age": rng.integers(18, 90, 500), "town": rng.integers(0, 9, 500)}
    real = pd.DataFrame({"id": ours, **rest})
    for numbers, is_copied in ((rng.integers(1, 3_001, 500), False), (ours, True)):
        made = pd.DataFrame({"id": rng.permutation(numbers), "age": rest["age"][::-1]})
        found = sought(real, made, used=["age"])[0]
        (one,) = [trace for trace in found.each if trace.how == "numbers of people"]
        assert (one.excess(ERROR, beside=False)[1] > 0) == is_copied


def test_the_limit_of_numbers_grows_with_what_is_expected():
    limits = [Numbered(500, 0, expected).most_coincidences(0.01) for expected in (0, 1, 10, 100)]
    assert limits == sorted(limits)
    assert limits[0] >= 1
    assert Numbered(0, 0, 0).excess(0.01) == (0, 0, 0)


@pytest.mark.parametrize("expected", [0, 2, 10, 80])
def test_the_limit_of_numbers_takes_the_expected_ones_two_deviations_higher(expected):
    """By the definition: the least count that a Poisson number passes at most so often."""
    limit = Numbered(500, 0, expected).most_coincidences(0.01)
    high = expected + 2 * (expected + 1) ** 0.5
    assert stats.poisson.sf(limit, high) <= 0.01 < stats.poisson.sf(limit - 1, high)
    few = Numbered(3, 3, expected)
    assert few.most_coincidences(0.01) <= 3


def test_any_two_columns_that_are_left_out_are_looked_at_together(files):
    """The ward and the days name nobody by themselves, nor does either name half of the people."""
    real, made, _ = files
    found = sought(real, made, used=["age", "bill"])[0]
    pairs = {one.columns for one in found.each if one.how == "two columns"}
    assert ("days", "ward") in pairs
    used = sought(real, made)[0]
    pairs = {one.columns for one in used.each if one.how == "two columns"}
    assert ("days", "ward") not in pairs
    assert ("admitted", "bill") in pairs


def test_rows_nearer_than_other_people_are_counted():
    rng = np.random.default_rng(1)
    real, fresh, control = (pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
                            for _ in range(3))  # fmt: skip
    noisy = real + rng.normal(0, 1e-4, real.shape)
    for beside in (None, control):
        found, best, low = sought(real, noisy, beside, used=list("abcd"))
        assert found.near.near == 300
        assert best.how in (NEAREST, NEARLY)
        assert low > 0.5 or beside is not None
        assert low > 0
        found, _, low = sought(real, fresh, beside, used=list("abcd"))
        assert found.near.near < 20
        assert low <= 0


def test_rounded_copies_among_synthetic_rows_are_found(files):
    real, fresh, _ = files
    for some in (real[:30], real[:30].round(1)):
        made = pd.concat([some, fresh[30:]]).drop(columns=["row", "case"])
        _, best, low = sought(real, made)
        assert best.copies.standing == 30
        assert low > 0


COLUMNS = {
    "whole": lambda g, n: g.integers(0, 100, n),
    "large": lambda g, n: g.integers(0, 10**6, n),
    "cents": lambda g, n: np.round(g.lognormal(5, 1, n), 2),
    "float": lambda g, n: g.lognormal(9, 1, n),
    "signed": lambda g, n: g.normal(0, 1, n),
    "word": lambda g, n: g.choice(["Red", "Green", "Blue", "Pale blue"], n),
    "code": lambda g, n: [f"K-{v}" for v in g.integers(100, 999, n)],
    "day": lambda g, n: pd.Series(
        pd.Timestamp("2001-01-01") + pd.to_timedelta(g.integers(0, 2000, n), unit="D")
    ).dt.strftime("%Y-%m-%d"),
    "truth": lambda g, n: g.random(n) < 0.5,
}
CHANGES = {
    "as it is": lambda f, g: f,
    "2 digits": lambda f, g: f.round(2),
    "1 digit": lambda f, g: f.round(1),
    "7 significant": lambda f, g: _each(f, lambda x: np.array([float(f"{v:.7g}") for v in x])),
    "32 bits": lambda f, g: _each(f, lambda x: x.astype(np.float32).astype(float)),
    "each differently": lambda f, g: f.round({c: int(g.integers(1, 4)) for c in f}),
    "columns in another order": lambda f, g: f[list(g.permutation(f.columns))],
    "rows in another order": lambda f, g: f.sample(frac=1, random_state=1),
    "blanks and case": lambda f, g: _texts(f, lambda s: "  " + s.str.upper() + " "),
    "lower case": lambda f, g: _texts(f, lambda s: s.str.lower()),
    "dates": lambda f, g: _days(f),
    "most rows": lambda f, g: f.sample(frac=0.8, random_state=1),
}


def _each(frame, change):
    floats = frame.select_dtypes("float")
    return frame.assign(**{name: change(floats[name].to_numpy()) for name in floats})


def _texts(frame, change):
    names = [n for n in frame if n.startswith(("word", "code"))]
    return frame.assign(**{name: change(frame[name]) for name in names})


def _days(frame):
    names = [n for n in frame if n.startswith("day")]
    form = "%d.%m.%Y"
    return frame.assign(**{n: pd.to_datetime(frame[n]).dt.strftime(form) for n in names})


def is_in_favour(found, best, low):
    """Check whether the file would be said to hold no more people than coincidence explains."""
    many = best.copies
    most = many.most_coincidences(ERROR * best.share)
    is_data = found.facts.is_data is not None and found.facts.is_data <= ERROR
    return low <= 0 and not is_data and 2 * most < many.unique


@given(
    kinds=st.lists(st.sampled_from(sorted(COLUMNS)), min_size=2, max_size=6),
    changes=st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=3, unique=True),
    seed=st.integers(0, 10**6),
)
@settings(deadline=None)
def test_the_data_are_never_judged_in_favour_however_they_are_written(kinds, changes, seed):
    rng = np.random.default_rng(seed)
    real = pd.DataFrame({f"{k}{j}": COLUMNS[k](rng, 60) for j, k in enumerate(kinds)})
    made = real
    for name in changes:
        made = CHANGES[name](made, rng)
    assume(not made.isna().any(axis=None))
    assert not is_in_favour(*sought(real, made, used=list(real)))
    fresh = pd.DataFrame({f"{k}{j}": COLUMNS[k](rng, 60) for j, k in enumerate(kinds)})
    found, _best, low = sought(real, fresh, used=list(real))
    assert low <= 0 or found.facts.is_data is None


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_each_change_of_a_table_of_every_kind_is_seen_through(change):
    rng = np.random.default_rng(4)
    real = pd.DataFrame({name: column(rng, 120) for name, column in COLUMNS.items()})
    made = CHANGES[change](real, rng)
    _found, best, low = sought(real, made, used=list(real))
    assert low > 0.5
    assert best.copies.standing == len(made)


def earners(n, seed, most=2_500):
    """Draw people whose whole incomes and rents nearly all differ, and lie close together."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return pd.DataFrame({
        "age": age,
        "town": rng.choice(["Bern", "Basel", "Chur", "Genf"], n),
        "income": 1_000 + rng.integers(0, most, n),
        "rent": 300 + rng.integers(0, most, n),
        "ill": np.where(rng.random(n) < 0.1 + (age > 60) * 0.2, "yes", "no"),
    })  # fmt: skip


EARNED = ["age", "town", "income", "rent", "ill"]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("columns", [EARNED, ["income", "rent"]], ids=["all", "two"])
def test_an_income_that_nobody_else_has_is_evidence(columns, beside):
    """A column of different numbers that lie close measures people; it need not number them."""
    real, made, control = (earners(200, seed) for seed in (1, 2, 3))
    made.loc[:19, columns] = real.loc[:19, columns]
    files = read_whole(real, made)
    assert [c.name for c in files.columns if c.may_number] == ["income", "rent"]
    found, best, low = sought(real, made, control if beside else None, EARNED)
    assert low > 0
    assert {"income", "rent"} <= set(best.columns)
    assert found.facts.sets[0].columns == tuple(sorted(EARNED))
    assert found.facts.sets[0].standing == (20 if columns == EARNED else 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("beside", [False, True])
def test_numbers_given_to_one_person_each_leave_no_trace(seed, beside):
    """Two people with one number are alike in any other column as often as neighbours are."""
    drawn = []
    for number in range(3):
        rng = np.random.default_rng((seed, number))
        case = np.sort(rng.choice(900, 300, replace=False)) + 100
        kind = np.where(case + rng.normal(0, 100, 300) > 500, "late", "early")
        frame = {"case": case, "sex": rng.choice(["f", "m"], 300), "kind": kind}
        drawn.append(pd.DataFrame(frame))
    real, made, control = drawn
    assert read_whole(real, made).column("case").may_number
    found, _, low = sought(real, made, control if beside else None, ["sex", "kind"])
    assert low <= 0
    assert not any(one.is_alike for one in found.linked)


@pytest.mark.parametrize("beside", [False, True])
def test_a_part_of_the_rows_that_is_nearly_a_person_is_found(beside):
    """A year more or less and a few francs: no row equals a person, and most are of nobody."""
    real, made, control = (earners(200, seed).drop(columns="rent") for seed in (1, 2, 3))
    rng = np.random.default_rng(4)
    made.loc[:69] = real.loc[:69]
    made.loc[:69, "age"] += rng.choice([-1, 1], 70)
    made.loc[:69, "income"] += rng.choice([-1, 1], 70) * rng.integers(1, 4, 70)
    used = ["age", "town", "income", "ill"]
    _, best, low = sought(real, made, control if beside else None, used)
    assert low > 0
    assert best.copies.standing >= 40


def test_numbers_of_finer_rows_raise_no_warning(recwarn):
    real = earners(200, 1)
    made = earners(200, 2)
    found = read_whole(real, made.assign(income=made["income"] + 0.5))
    traces_of(found, EARNED, [], entropy=1)
    assert not [one for one in recwarn if one.category is RuntimeWarning]


def panel(seed, people=120, start=1):
    """Five rows of each person; incomes that others have, and that hardly anybody else has."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(people), 5)
    return pd.DataFrame(
        {
            "pid": of + start,
            "wave": np.tile(np.arange(5), people),
            "age": rng.integers(20, 70, people)[of] + np.tile(np.arange(5), people),
            "region": rng.integers(1, 6, people)[of],
            "moved": rng.integers(0, 2, len(of)),
            "income": rng.integers(20_000, 26_000, len(of)),
        }
    )


def test_people_with_a_number_of_their_own_are_those_whom_nobody_equals():
    """Different numbers were counted, as unique people."""
    real, made = panel(1), panel(2)
    made.loc[:99, "income"] = real["income"][:100]
    files = read_whole(real, made.drop(columns="pid"))
    traces = traces_of(files, list(files.names), [], entropy=1)
    (trace,) = [t for t in traces.each if t.how == "numbers of people" and t.columns == ("income",)]
    alone = real["income"].map(real["income"].value_counts()) == 1
    assert trace.copies.unique == int(alone.sum()) < real["income"].nunique()
    assert trace.copies.standing == int(real["income"][alone].isin(made["income"]).sum())


@pytest.mark.parametrize("start", [1, 5001])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.one_in(2)
def test_numbers_that_count_people_are_no_evidence(start, seed):
    """Numbers from 5,001 were moved to those from 1, and rows of fresh people met others."""
    files = read_whole(panel(10 + seed), panel(20 + seed, start=start))
    assert files.numbering == "pid"
    traces = traces_of(files, list(files.names), [], entropy=1)
    assert not [some for some in traces.sets.striking if "pid" in some.columns]
    assert not [
        column.written for column in files.columns if column.name == "pid" and column.written
    ]


def test_numbers_of_people_that_are_no_count_are_evidence():
    names = np.random.default_rng(3).permutation(10**6)[:240]
    real, made = (
        panel(s).assign(pid=lambda f, k=k: names[f["pid"] - 1 + k]) for s, k in ((1, 0), (2, 120))
    )
    planted = pd.concat([real[:60], made[60:]])
    files = read_whole(real, planted)
    traces = traces_of(files, list(files.names), [], entropy=1)
    assert traces.facts.copies.standing == 60


NUMBERED = {
    "from 1": (lambda k: k + 1, lambda k: k + 1),
    "part with zeros": (lambda k: [f"{i:03d}" for i in 3 + 3 * k], lambda k: k + 1),
    "from 100,001": (lambda k: 100_001 + k, lambda k: 100_001 + k),
    "with gaps": (lambda k: 1 + 2 * k + k // 5, lambda k: k + 1),
}


def families(many, numbers, g, places=1):
    """Draw families whose children are counted off, with heights of each."""
    family = np.repeat(np.arange(many), 1 + g.poisson(3.4, many))
    child = np.concatenate([np.arange(n) + 1 for n in np.bincount(family)])
    return pd.DataFrame({
        "family": np.array(numbers(np.arange(many)))[family],
        "father": np.round(g.normal(69, 2.5, many), places)[family],
        "child_number": child,
        "height": np.round(g.normal(67, 3.5, len(family)), places),
    })  # fmt: skip


@pytest.mark.parametrize("numbered", NUMBERED)
@pytest.mark.parametrize("seed", [1, 2])
def test_numbers_of_other_families_show_nobody(numbered, seed):
    """Two numberings share numbers: 59 of 293 children of a holdout were there, 0 by chance."""
    ours, theirs = NUMBERED[numbered]
    g = np.random.default_rng(seed)
    files = read_whole(families(66, ours, g), families(66, theirs, g))
    some = traces_of(files, ["father", "height"], [], entropy=seed)
    assert [t for t in some.each if t.is_striking(0.0025, beside=False)] == []
    assert some.sets.striking == ()


@pytest.mark.parametrize("numbered", NUMBERED)
def test_copied_families_are_there_by_their_heights(numbered):
    """Whatever their numbers are in the file."""
    ours, theirs = NUMBERED[numbered]
    g = np.random.default_rng(3)
    real, made = families(66, ours, g, 2), families(66, theirs, g, 2)
    copied = real[real["family"].isin(real["family"].unique()[:8])]
    made = pd.concat([copied, made[made["family"].isin(made["family"].unique()[8:])]])
    files = read_whole(real, made.astype({"family": str}))
    some = traces_of(files, ["father", "height"], [], entropy=1)
    most = some.deciding(0.025, beside=False)
    assert most.copies.standing >= 0.8 * len(copied)
    assert most.is_striking(0.0025, beside=False)
