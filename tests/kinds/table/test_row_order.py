"""Rows that tell the secrets of the next ones leave a verdict in favour open."""

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.table import tested, trees
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.nearest import nearest_rows
from narcissus.kinds.table.recent_rows import recent_secrets
from narcissus.kinds.table.row_order import sorted_columns
from narcissus.observer import SILENT
from narcissus.study import load_study
from narcissus.study.reading import read_record

ROWS = 800


def in_time(rng, ages):
    """Return secrets of which 95 of 100 are that of the row before."""
    fresh, changes = rng.integers(0, 3, ROWS), rng.random(ROWS) < 0.07
    changes[0] = True
    return fresh[np.maximum.accumulate(np.where(changes, np.arange(ROWS), 0))]


def in_a_slow_season(rng, ages):
    """Return secrets whose chance moves with time; the row before alone tells little."""
    chance = 0.5 + 0.4 * np.sign(np.sin(np.arange(ROWS) * 2 * np.pi / 300))
    return (rng.random(ROWS) < chance).astype(int)


def independent(rng, ages):
    return (rng.random(ROWS) < 0.2 + 0.5 * (ages > 50)).astype(int)


def sorted_by_the_secret(rng, ages):
    return np.sort(independent(rng, ages))


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Grow few trees: all that is said here is said as well by them."""
    monkeypatch.setattr(trees, "TREES", 6)


def examined(frame, unknown, **threat):
    """Return what the rows of a table, as they stand, say of a study of it."""
    study = load_study({
        "data": {"frame": frame},
        "threat": {"unknown": unknown, **threat},
        "prior": {"name": "bayesian-network", "parents": 2},
        "mechanism": {"k": 2, "epsilon": 0.05},
        "attacks": {"prior": {}},
    })  # fmt: skip
    with study.code.in_use():
        experiment = prepare(study.settings, study.folder, 2, SILENT)
        return tested.tested_at(study.settings, study.folder, experiment, SILENT)


def subjects(found):
    return [one.subject for one in found.unaccounted]


ORDER = ["the order of the rows"]


@pytest.fixture
def audited(tmp_path, monkeypatch, narcissus, study):
    monkeypatch.chdir(tmp_path)

    def audit(make, *, seed=5, **threat):
        rng = np.random.default_rng(seed)
        ages = rng.integers(2, 8, ROWS) * 10
        frame = pd.DataFrame({"age": ages, "town": rng.integers(0, 4, ROWS)})
        frame["illness"] = make(rng, ages)
        frame.to_csv("people.csv", index=False)
        path = study(
            data={"path": "people.csv"},
            threat={"unknown": ["illness"], "targets": 100, **threat},
            mechanism={"k": 2, "epsilon": 0.05},
            run={"trials": 5, "seed": 2},
            threshold={"share": 0.9},
        )
        code, _, err = narcissus("audit", path, "--quiet", "--restart")
        assert code in (0, 1, 3), err
        return code, read_record("results/s/record.json")

    return audit


def test_rows_that_depend_on_their_neighbours_wait_for_one_declaration(audited):
    """Rows in time order, 98 of 100 with the diagnosis of the row before, were *met*."""
    code, record = audited(in_time)
    assert (code, record.status) == (3, "undeclared")
    [left] = record.result.unaccounted
    assert left.subject == "the order of the rows"
    assert "`order_hidden = true` in [threat]" in left.declaration
    assert audited(in_time, order_hidden=True)[0] == 0


@pytest.mark.parametrize("make", [in_time, in_a_slow_season])
def test_rows_that_depend_on_their_neighbours_are_an_order(make):
    frame = in_order(make)
    assert subjects(examined(frame, ["illness"])) == ORDER
    assert subjects(examined(frame, ["illness"], order_hidden=True)) == []
    assert subjects(examined(frame.sample(frac=1, random_state=1), ["illness"])) == []


def test_an_order_that_tells_nothing_stays():
    found = examined(in_order(independent), ["illness"])
    assert (found.is_refuted, found.unaccounted) == (False, ())
    assert found.order_examined


def test_a_file_sorted_by_its_secret_waits_for_one_declaration(audited):
    """Whoever knows where a person stands in it reads the secret: it was *met* all the same."""
    code, record = audited(sorted_by_the_secret)
    assert (code, record.status) == (3, "undeclared")
    [left] = record.result.unaccounted
    assert left.subject == "the order of the rows"
    assert "sorted by `illness`" in left.reason
    assert "`order_hidden = true` in [threat]" in left.declaration
    assert audited(sorted_by_the_secret, order_hidden=True)[0] == 0
    assert audited(independent)[0] == 0


def test_a_long_file_sorted_by_its_secret_is_sorted():
    """The first 12,000 rows hold one value, which 999 of 1,000 people have."""
    rng = np.random.default_rng(6)
    ill = (np.arange(20_000) < 20).astype(int)
    frame = pd.DataFrame({"age": rng.integers(2, 8, len(ill)), "illness": ill})
    assert "sorted by `illness`" in reason_of(frame[::-1])
    assert subjects(examined(frame.sample(frac=1, random_state=1), ["illness"])) == []


def test_a_secret_that_follows_from_the_order_of_known_columns_is_no_order():
    """The file is sorted by age, which tells the secret: the attacker knows it anyway."""
    frame = in_order(lambda rng, ages: (ages > 50).astype(int))
    frame = frame[["illness", "age"]].sort_values("age", kind="stable")
    assert subjects(examined(frame, ["illness"])) == []
    by_both = frame.assign(illness=independent(np.random.default_rng(2), frame.age.to_numpy()))
    assert subjects(examined(by_both.sort_values("age", kind="stable"), ["illness"])) == []
    assert "sorted by `illness`" in reason_of(by_both.sort_values(["age", "illness"]))


def reason_of(frame, unknown=("illness",)):
    """Return why the order of the rows is open, and of nothing else."""
    [left] = examined(frame, [*unknown]).unaccounted
    assert left.subject == "the order of the rows"
    return left.reason


def test_what_is_sorted_is_told_from_what_is_in_time():
    """Column 2 is the secret: sorted in all, by a known column, or by both of them."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 3, (90, 2)), rng.integers(0, 4, 90)])
    for keys in ([2], [2, 1], [2, 1, 0], [0, 2]):
        by = rows[np.lexsort(rows[:, keys].T)]
        assert {*sorted_columns(by)} >= {2}
        assert {*sorted_columns(by[::-1])} >= {2}
    assert sorted_columns(rows) == ()
    assert sorted_columns(np.repeat(rows, 5, axis=0)) == ()
    days = np.column_stack([np.arange(80) // 8, (np.arange(80) + 4) // 8 % 2])
    assert sorted_columns(days) == (0,)
    age = np.arange(90) // 5
    assert sorted_columns(np.column_stack([age > 8, age]), last=(0,)) == (1,)


def test_few_rows_are_not_called_sorted():
    """By chance, one of ten files of three rows is."""
    assert sorted_columns(np.array([[0], [0], [1]])) == ()


def test_the_row_most_like_it_is_found_among_those_before():
    """By enumeration: the largest sum of -log shares of equal values."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, (60, 5))
    asked, like = nearest_rows(values, 30)
    assert len(asked) == 7

    def alike(i, j):
        return sum(
            -np.log((values[:, c] == values[i, c]).mean())
            for c in range(5)
            if values[i, c] == values[j, c]
        )

    best = {i: max(alike(i, j) for j in range(i)) for i in range(30, 60)}
    for i, j in zip(asked.tolist(), like.tolist(), strict=True):
        assert j < i
        assert alike(i, j) == pytest.approx(best[i])
    assert min(best[i] for i in asked) >= sorted(best.values())[-7] - 1e-9


def changing_at_noon(rng, ages):
    """Return secrets that change in the middle of each day of eight rows."""
    return (np.arange(ROWS) + 4) // 8 % 2


def in_order(make, seed=5):
    rng = np.random.default_rng(seed)
    ages = rng.integers(2, 8, ROWS) * 10
    return pd.DataFrame({"age": ages, "illness": make(rng, ages)})


def test_days_of_a_few_rows_hide_no_order():
    """Within a day no value of the secret has a gap: that was taken for a file that is sorted."""
    frame = in_order(changing_at_noon).assign(day=np.arange(ROWS) // 8)
    assert subjects(examined(frame, ["illness"])) == ORDER


def two_secrets(other, seed=4):
    """Return a file that is sorted by one secret; the other one is as ``other`` makes it."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(2, 8, ROWS) * 10
    frame = pd.DataFrame({"age": ages, "income": rng.integers(0, 3, ROWS)})
    frame = frame.sort_values("income", kind="stable", ignore_index=True)
    return frame.assign(illness=other(rng, frame.age.to_numpy()))


@pytest.mark.parametrize(("other", "tells"), [(in_time, True), (independent, False)])
def test_a_sorted_secret_hides_no_order_of_another(other, tells):
    """One declaration decides both, and both reasons are there."""
    reason = reason_of(two_secrets(other), ["income", "illness"])
    assert "sorted by `income`" in reason
    assert ("By other rows of the file" in reason) == tells


@pytest.mark.parametrize("by", [["illness"], ["age", "illness"], ["income", "illness"]])
def test_a_file_that_is_sorted_within_columns_names_its_secrets(by):
    frame = two_secrets(independent).sort_values(by, kind="stable")
    unknown = ["illness"] if "income" not in by else ["income", "illness"]
    secrets = " and ".join(f"`{name}`" for name in by if name in unknown)
    assert f"sorted by {secrets}" in reason_of(frame, unknown)


@pytest.mark.parametrize(("is_shuffled", "said"), [(False, ORDER), (True, [])])
def test_blocks_within_a_site_are_an_order(is_shuffled, said):
    """Arms in permuted blocks of four at each of 12 sites: 71 of 100 are guessed, *met* at 56."""
    rng = np.random.default_rng(8)
    site = rng.integers(0, 12, 2000)
    arm = np.zeros(len(site), dtype=int)
    for place in range(12):
        rows = np.flatnonzero(site == place)
        drawn = [rng.permutation([0, 0, 1, 1]) for _ in range(len(rows) // 4 + 1)]
        arm[rows] = np.concatenate(drawn)[: len(rows)]
    frame = pd.DataFrame({"age": rng.integers(0, 6, len(site)), "site": site, "arm": arm})
    frame = frame.sample(frac=1, random_state=1) if is_shuffled else frame
    assert subjects(examined(frame, ["arm"])) == said


def test_a_secret_that_comes_again_later_is_an_order():
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"age": rng.integers(0, 6, ROWS), "ill": rng.integers(0, 2, ROWS)})
    for row in np.flatnonzero(rng.random(ROWS) < 0.9).tolist():
        frame.loc[row, "ill"] = frame.ill[row - 12] if row >= 12 else frame.ill[row]
    assert subjects(examined(frame, ["ill"])) == ORDER


def in_blocks(rng, rows, blocks, noise, secrets):
    """Return secrets that are one in each block of rows, but for some that are any."""
    each = rng.permutation(np.arange(blocks) % secrets)
    drawn = each[np.arange(rows) * blocks // rows]
    return np.where(rng.random(rows) < noise, rng.integers(0, secrets, rows), drawn)


@pytest.mark.parametrize("secrets", [2, 4, 12])
@pytest.mark.parametrize("blocks", range(2, 21))
def test_a_secret_that_is_one_in_each_block_of_rows_is_guessed(blocks, secrets):
    """Whatever the block is, and though its secret may be new."""
    for seed, noise in enumerate((0.1, 0.3, 0.5)):
        secret = in_blocks(
            np.random.default_rng([seed, blocks, secrets]), 800, blocks, noise, secrets
        )
        right = (recent_secrets(secret, secrets) == secret)[400:].mean()
        best = 1 - noise + noise / secrets
        assert right > best - 0.02 * blocks * (best - 1 / secrets) - 0.1


def test_what_is_guessed_by_rows_before_does_not_see_the_row():
    rng = np.random.default_rng(3)
    secret = rng.integers(0, 3, 400)
    for at in (0, 1, 17, 250, 399):
        other = secret.copy()
        other[at:] = (other[at:] + rng.integers(1, 3, 400 - at)) % 3
        guesses = recent_secrets(secret, 3)
        assert (recent_secrets(other, 3)[: at + 1] == guesses[: at + 1]).all()


@pytest.mark.parametrize("blocks", [3, 4, 7, 20])
@pytest.mark.parametrize("is_joint", [False, True])
def test_blocks_of_rows_are_an_order(blocks, is_joint):
    rng = np.random.default_rng(blocks)
    ages = rng.integers(2, 8, ROWS) * 10
    frame = pd.DataFrame({"age": ages, "town": rng.integers(0, 4, ROWS)})
    frame["illness"] = in_blocks(rng, ROWS, blocks, 0.2, 4)
    unknown = ["illness"]
    if is_joint:
        frame["job"] = rng.integers(0, 2, ROWS)
        unknown = ["illness", "job"]
    assert subjects(examined(frame, unknown)) == ORDER
