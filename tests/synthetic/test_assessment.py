"""Copies are found, people are divided fairly, and a control of other people is noticed."""

from collections import Counter
from math import comb, log

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.synthetic import FileThreat, Risk, assess_file, assessment, read_files
from narcissus.synthetic.assessment import (
    SPLITS,
    SUBSETS,
    Inference,
    Link,
    NearRows,
    kinds_of_predicates,
    singled_out,
    ways_to_link,
)

ILL = FileThreat(("ill",))


def excess(risk):
    return risk.real.mean() - risk.control.mean()


def households(rng, people, first):
    """Draw rows of households, which share a town and a creed; one column is each row's own."""
    size = rng.integers(2, 9, people)
    shared = pd.DataFrame({"house": np.arange(people) + first, "town": rng.integers(0, 6, people),
                           "creed": rng.integers(0, 5, people)})  # fmt: skip
    rows = shared.loc[shared.index.repeat(size)].reset_index(drop=True)
    return rows.assign(ill=rng.integers(0, 2, len(rows)), age=rng.integers(0, 60, len(rows)))


def test_one_row_of_each_unit_is_tried():
    rng = np.random.default_rng(1)
    real, other, control = (households(rng, 60, k) for k in (0, 0, 500))
    files = read_files(real, other.drop(columns="house"), control, unit="house")
    assert "house" not in files.table.names
    found = assess_file(files, ILL, entropy=1)
    tried = np.concatenate([found.halves.chosen_on, found.halves.scored])
    assert len(tried) == len(set(files.units[tried])) == 60
    # rows in another order, and numbers written as others: the same
    mixed = real.sample(frac=1, random_state=1).astype({"house": float})
    same = read_files(mixed, other.drop(columns="house"), control, unit="house")
    again = assess_file(same, ILL, entropy=1)
    assert [r.real.sum() for r in again.risks] == [r.real.sum() for r in found.risks]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.assign(house=t.house.where(t.index > 3, 3)), "in the real and in the control"),
        (lambda t: t.assign(house=t.house.where(t.index > 0)), "row 1 has no `house`"),
        (lambda t: t.drop(columns="house"), "no column `house`"),
        (lambda t: t.assign(house=900 + t.index // 60), "the control file has [0-9] units"),
    ],
)
def test_units_that_do_not_fit_are_refused(change, said):
    rng = np.random.default_rng(1)
    real, control = households(rng, 60, 0), change(households(rng, 60, 500))
    other = real.drop(columns="house")
    with pytest.raises(InputError, match=said):
        assess_file(read_files(real, other, control, unit="house"), ILL, entropy=1)


def test_households_do_not_make_a_control_foreign():
    """Of 8 controls of the same population, rows alone refuse some; units none."""
    shown = np.zeros(2, int)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        real, other, control = (households(rng, 60, k) for k in (0, 0, 500))
        other = other.drop(columns="house")
        for place, how in enumerate(({"drop": ["house"]}, {"unit": "house"})):
            found = read_files(real, other, control, **how)
            shown[place] += assess_file(found, ILL, entropy=seed).unlike.is_shown
    assert shown[0] >= 2
    assert shown[1] == 0


def test_each_risk_is_higher_for_people_whose_records_were_copied(people):
    real, control, others = people(400, 1), people(400, 2), people(400, 3)
    found = assess_file(read_files(real, real, control), ILL, entropy=1)
    assert [risk.risk for risk in found.risks] == list(assessment.RISKS)
    # no value is anybody's own here
    copied = [risk for risk in found.risks if risk.risk != assessment.BY_VALUE]
    assert all(excess(risk) > 0.2 for risk in copied)
    assert [risk.counts().fisher < 1e-6 for risk in copied] == [True] * 3
    fresh = assess_file(read_files(real, others, control), ILL, entropy=1)
    assert all(abs(excess(risk)) < 0.12 for risk in fresh.risks)


def test_nobody_is_scored_on_whom_an_attack_was_chosen(people):
    files = read_files(people(101, 1), people(50, 2), people(60, 3))
    halves = assess_file(files, FileThreat(("ill",), people=80), entropy=5).halves
    parts = [halves.chosen_on, halves.scored, halves.control_chosen_on, halves.control_scored]
    assert [len(part) for part in parts] == [40, 40, 30, 30]
    every = np.concatenate(parts)
    assert len(set(every.tolist())) == len(every)
    assert set(every[:80].tolist()) <= set(files.rows("real").tolist())
    assert set(every[80:].tolist()) <= set(files.rows("control").tolist())


def test_numbers_follow_from_the_seed(people):
    files = read_files(people(100, 1), people(100, 2), people(100, 3))
    one, same, other = (assess_file(files, ILL, entropy=e) for e in (1, 1, 2))
    assert [r.real.tolist() for r in one.risks] == [r.real.tolist() for r in same.risks]
    assert one.halves.scored.tolist() != other.halves.scored.tolist()


def test_the_attack_is_the_one_that_sets_both_sides_apart_most(people):
    real, control = people(300, 1), people(300, 2)
    found = assess_file(read_files(real, real, control), ILL, entropy=1)
    for risk in (risk for risk in found.risks if risk.risk != assessment.BY_VALUE):
        gaps = {name: ours - theirs for name, (ours, theirs) in risk.tried.items()}
        assert gaps[risk.attack] > 0.5 * max(gaps.values())
    assert found.risks[0].attack == "nearest record"


def test_the_guess_without_the_file_does_not_see_it(people):
    real, control = people(200, 1), people(200, 2)
    one = assess_file(read_files(real, real, control), ILL, entropy=3).risks[0]
    other = assess_file(read_files(real, people(150, 9), control), ILL, entropy=3).risks[0]
    assert one.guess == other.guess
    assert one.guessed_real.tolist() == other.guessed_real.tolist()
    assert 0.4 < one.guessed_real.mean() < 0.9


def test_without_a_control_there_is_a_guess_and_nothing_to_hold_the_rest_against(people):
    found = assess_file(read_files(people(100, 1), people(100, 2)), ILL, entropy=1)
    assert found.unlike is None
    assert all(risk.control is None for risk in found.risks)
    assert len(found.risks[0].guessed_real) == len(found.halves.scored) == 50


def test_a_control_of_other_people_is_noticed(people):
    real, synthetic, control = people(300, 1), people(300, 2), people(300, 3)
    fair = assess_file(read_files(real, synthetic, control), ILL, entropy=1).unlike
    assert not fair.is_shown
    old = control.assign(town=np.where(control["town"] < 3, 5, control["town"]))
    found = assess_file(read_files(real, synthetic, old), ILL, entropy=1).unlike
    assert found.is_shown
    assert (found.column, found.value) == ("town", "5")
    assert found.control > 0.5 > found.real
    assert found.real == pytest.approx((real["town"] == 5).mean())


@pytest.mark.parametrize("few", [1, 9])
def test_a_value_that_few_people_have_is_not_named(people, few):
    real, synthetic, control = people(300, 1), people(300, 2), people(300, 3)
    control = control.assign(town=control["town"].where(np.arange(300) >= 200, 77))
    real = real.assign(town=real["town"].where(np.arange(300) >= few, 77))
    found = assess_file(read_files(real, synthetic, control), ILL, entropy=1).unlike
    assert "77" not in found.value
    assert found.real * 300 >= 10  # and its share is of many as well


def test_where_every_value_is_of_few_none_is_named():
    def alone(start):
        rows = [f"v{n}" for n in range(start, start + 40)]
        return pd.DataFrame({"name": rows, "ill": rows})

    found = assess_file(read_files(alone(0), alone(10), alone(20)), ILL, entropy=1).unlike
    assert "fewer than 10 people" in found.value
    assert not found.is_shown


def test_files_of_few_rows_are_refused(people):
    with pytest.raises(InputError, match="the control file has 19 rows"):
        assess_file(read_files(people(50, 1), people(9, 2), people(19, 3)), ILL, entropy=1)


def test_a_file_of_one_row_can_be_assessed(people):
    real, control = people(60, 1), people(60, 2)
    one = pd.concat([people(1, 3)])
    found = assess_file(read_files(real, one, control), ILL, entropy=1)
    assert len(found.risks) == 4


def guessing(files, unknown, known):
    return Inference(files, unknown, known, NearRows(files, known, (unknown,)))


@pytest.fixture
def inference(people):
    files = read_files(people(80, 1), people(60, 2), bins=None, drop=["age"])
    # ill, job, town; ill is guessed
    return guessing(files, (0,), (1, 2))


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
    joint = guessing(files, (1, 3), (0, 2)).attempts()["nearest record"]
    assert joint(files.rows("real"), files.rows("synthetic")).all()  # each is its own neighbour
    wrong = real.assign(town=(real["town"] + 1) % 6)
    files = read_files(real, wrong)
    joint = guessing(files, (1, 3), (0, 2))
    alone = guessing(files, (1,), (0, 2))
    assert not joint.attempts()["nearest record"](files.rows("real"), files.rows("synthetic")).any()
    assert alone.attempts()["nearest record"](files.rows("real"), files.rows("synthetic")).all()


def test_a_value_that_the_file_does_not_have_is_never_guessed(people):
    real = people(60, 1).assign(ill="maybe")
    files = read_files(real, people(60, 2), read_as={"ill": "text"})
    for attempt in guessing(files, (1,), (0, 2, 3)).attempts().values():
        assert not attempt(files.rows("real"), files.rows("synthetic")).any()
        assert np.all(attempt(files.rows("real"), files.rows("real")))


@pytest.mark.parametrize("is_rare", [False, True])
def test_parts_are_linked_if_both_lead_to_one_row(people, is_rare):
    files = read_files(people(50, 1), people(45, 2))
    found = Link((0, 3), (1, 2), is_rare).links(files, files.rows("real"), {})
    table, rows = files.table, files.rows("synthetic")

    def nearest(person, columns):
        apart = []
        for row in rows:
            total = 0.0
            for j in columns:
                a, b = table.codes[person, j], table.codes[row, j]
                values = table.values[j]
                total += (a != b) if values is None else abs(values[a] - values[b])
            apart.append(total)
        return {i for i, a in enumerate(apart) if a <= min(apart) + 1e-6}

    expected = []
    for person in files.rows("real"):
        one, other = nearest(person, (0, 3)), nearest(person, (1, 2))
        expected.append(bool(one & other) and (not is_rare or len(one) * len(other) < len(rows)))
    assert found.tolist() == expected
    assert 0 < sum(expected) < 50


@pytest.mark.parametrize("width", [2, 3, 4, 7])
def test_divisions_are_disjoint_and_take_every_column(people, width):
    wide = people(30, 1).assign(a=[0, 1, 2] * 10, b=[0, 1] * 15, c=[1, 0] * 15)
    files = read_files(wide.iloc[:, :width], wide.iloc[::-1, :width])
    ways = ways_to_link(files, None, np.random.default_rng(1))
    splits = {(link.one, link.other) for link in ways.values()}
    assert len(splits) == min(SPLITS, {2: 1, 3: 3, 4: 3, 7: 35}[width])
    assert len(ways) == 2 * len(splits)
    for one, other in splits:
        assert sorted(one + other) == list(range(width))


def test_a_given_division_is_the_only_one(people):
    files = read_files(people(30, 1), people(30, 2))
    ways = ways_to_link(files, ((0,), (2, 3)), np.random.default_rng(1))
    assert list(ways) == ["age with job, town, rare meetings", "age with job, town"]


@pytest.mark.parametrize("block", [2**23, 50])
def test_distances_are_sums_over_columns(block, monkeypatch):
    monkeypatch.setattr(assessment, "_BLOCK", block)
    rng = np.random.default_rng(1)

    def some(n):
        return pd.DataFrame(
            {
                "few": rng.integers(0, 9, n),
                "text": rng.choice(list("abc"), n),
                "many": rng.normal(size=n).round(3),
                "words": [f"w{i}" for i in rng.integers(0, 90, n)],
            }
        )

    real, synthetic = some(40), some(25)
    files = read_files(real, synthetic)
    # the files' rows stand in the order of their values
    order = sorted(real)
    real, synthetic = (frame.sort_values(order) for frame in (real, synthetic))
    both = pd.concat([real, synthetic])
    span = {c: np.ptp(both[c]) for c in ("few", "many")}
    columns = [0, 1, 2, 3]
    found = np.zeros((40, 25))
    for part, apart in assessment.distances(
        files.table, files.rows("real"), files.rows("synthetic"), columns
    ):
        found[part] = apart
    for i, a in enumerate(real.itertuples(index=False)):
        for j, b in enumerate(synthetic.itertuples(index=False)):
            expected = abs(a.few - b.few) / span["few"] + abs(a.many - b.many) / span["many"]
            expected += (a.text != b.text) + (a.words != b.words)
            assert found[i, j] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("cached", [1, 7, 100, 2**17])
def test_distances_do_not_depend_on_what_a_cache_holds(cached, people, monkeypatch):
    files = read_files(people(60, 1), people(50, 2))
    sides = files.rows("real"), files.rows("synthetic")
    columns = range(files.table.columns)
    monkeypatch.setattr(assessment, "_FEW", 2)
    (whole,) = (apart for _, apart in assessment.distances(files.table, *sides, columns))
    monkeypatch.setattr(assessment, "_CACHED", cached)
    (parts,) = (apart for _, apart in assessment.distances(files.table, *sides, columns))
    assert np.array_equal(whole, parts)


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_votes_are_the_same_whether_few_rows_are_near_or_many(share, monkeypatch):
    rng = np.random.default_rng(1)
    is_near, keys = rng.random((30, 200)) < share, rng.integers(0, 9, 200)
    ballot = assessment._Ballot(keys)
    votes: list = []
    for limit in (0.0, 1.0):
        monkeypatch.setattr(assessment, "_SPARSE", limit)
        votes.append(ballot.votes(is_near))
    assert np.array_equal(*votes)
    times = np.bincount(keys, minlength=9)
    counted = [np.bincount(keys[row], minlength=9) + times / 400 for row in is_near]
    assert np.allclose(votes[0], counted)


def test_of_large_files_a_sample_of_people_is_tried(people, monkeypatch):
    """Ten thousand people beside a million rows took an hour; a sample is as valid."""
    files = read_files(people(300, 1), people(200, 2), people(250, 3))
    threat = FileThreat(("job",))
    assert threat.tried(files) == 10_000
    monkeypatch.setattr(assessment, "MOST_COMPARED", 100 * 200 * files.table.columns)
    monkeypatch.setattr(assessment, "FEWEST_TRIED", 60)
    assert threat.tried(files) == 100
    assert FileThreat(("job",), people=80).tried(files) == 80
    assert FileThreat(("job",), people=20_000).tried(files) == 20_000
    halves = assess_file(files, threat, entropy=1).halves
    assert len(halves.scored) == len(halves.control_scored) == 50


@pytest.fixture
def files(people):
    return read_files(people(60, 1), people(50, 2), people(40, 3))


def values(files, rows, columns):
    return [tuple(row) for row in files.table.codes[rows][:, columns].tolist()]


SETS = [(0,), (0, 1), (1, 2, 3)]


def test_a_person_is_singled_out_by_what_one_row_has_and_nobody_in_the_crowd(files):
    people, crowd = files.rows("real")[:30], files.rows("real")[30:]
    rows = files.rows("synthetic")
    found = singled_out(files.table.codes, SETS, rows, people, crowd)
    expected = np.zeros(30, bool)
    for columns in SETS:
        rows = Counter(values(files, files.rows("synthetic"), columns))
        around = set(values(files, crowd, columns))
        here = values(files, people, columns)
        expected |= [rows[value] == 1 and value not in around for value in here]
    assert found.tolist() == expected.tolist()
    assert 0 < expected.sum() < 30


def test_who_is_in_the_crowd_may_be_there_once(files):
    crowd = files.rows("real")
    rows = files.rows("synthetic")
    found = singled_out(files.table.codes, SETS, rows, crowd, crowd, inside=True)
    around = {columns: Counter(values(files, crowd, columns)) for columns in SETS}
    for won, person in zip(found, files.table.codes[crowd].tolist(), strict=True):
        alone = [
            around[columns][tuple(person[j] for j in columns)] == 1
            and values(files, files.rows("synthetic"), columns).count(
                tuple(person[j] for j in columns)
            )
            == 1
            for columns in SETS
        ]
        assert won == any(alone)


def test_kinds_take_two_to_all_columns():
    kinds = kinds_of_predicates(4, np.random.default_rng(1))
    assert list(kinds) == ["2 columns", "3 columns", "4 columns"]
    assert [len(kinds[name]) for name in kinds] == [comb(4, size) for size in (2, 3, 4)]
    kinds = kinds_of_predicates(13, np.random.default_rng(1))
    assert list(kinds) == [f"{size} columns" for size in (2, 3, 7, 13)]
    assert all(len(sets) <= SUBSETS for sets in kinds.values())


def test_values_are_compared_by_intervals_and_rare_ones_are_one():
    table = pd.DataFrame({
        "amount": [*np.random.default_rng(1).lognormal(9, 2, 198), None, 1e9],
        "day": [f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(200)],
        "town": ["x"] * 150 + ["y"] * 45 + [f"t{i}" for i in range(5)],
    })  # fmt: skip
    files = read_files(table, table, missing="category")
    alone, linked = assessment.compared(files.table, files.rows("real"))
    amount, day, town = (files.table.names.index(name) for name in ("amount", "day", "town"))
    assert len(np.unique(alone[:, amount])) == 21  # with the missing one
    assert len(np.unique(alone[:, day])) == 20
    assert len(np.unique(alone[:, town])) == 7
    for column in linked.T:
        assert np.bincount(column)[np.unique(column)].min() >= assessment.ALIKE_IN_CROWD
    assert len(np.unique(linked[:, town])) == 3
    few = assessment.compared(files.table, files.rows("real")[:30])[0]
    assert len(np.unique(few[:, day])) <= 6


@pytest.fixture(scope="module")
def rare():
    """Give people with numbers, a few common texts and a town that is nearly everybody's own."""

    def draw(n, seed):
        rng = np.random.default_rng(seed)
        numbers = {f"n{i}": rng.lognormal(9, 1, n).round(2) for i in range(4)}
        texts = {f"t{i}": rng.choice(list("abcd"), n, p=[0.8, 0.1, 0.07, 0.03]) for i in range(6)}
        return pd.DataFrame(
            {**numbers, **texts, "town": [f"w{k}" for k in rng.integers(0, 9**5, n)]}
        )

    return draw


def test_a_shuffle_links_nothing_and_its_column_is_named(rare):
    real, control = rare(400, 1), rare(400, 2)
    real["town"], control["town"] = (
        frame["town"].mask(frame.index % 2 == 0, "w") for frame in (real, control)
    )
    rng = np.random.default_rng(3)
    shuffled = pd.DataFrame({name: rng.permutation(real[name]) for name in real})
    text = {"town": "text"}
    files = read_files(real, shuffled, control, read_as=text)
    found = assess_file(files, FileThreat(("t0",)), entropy=1)
    of = {risk.risk: risk for risk in found.risks}
    assert of[assessment.BY_VALUE].counts().fisher < 1e-6
    assert of[assessment.BY_VALUE].attack == "`town` alone"
    assert of["singling out"].counts().fisher > 0.01
    assert of["linkability"].counts().fisher > 0.01
    files = read_files(real, real, control, read_as=text)
    copied = assess_file(files, FileThreat(("t0",)), entropy=1)
    assert all(r.counts().fisher < 1e-6 for r in copied.risks if r.risk != "inference")


@pytest.mark.parametrize("seed", range(3))
def test_one_copy_in_twenty_is_found(rare, seed):
    """Of 2,000 people 50 of 1,000 scored are copied: the power of each is near 1."""
    real, control, other = (rare(2000, 10 * seed + k).drop(columns="town") for k in range(3))
    planted = pd.concat([other.iloc[100:], real.iloc[:100]])
    files = read_files(real, planted, control)
    found = assess_file(files, FileThreat(("t0",)), entropy=seed)
    assert min(risk.counts().fisher for risk in found.risks) < 1e-6


@pytest.mark.nightly
@pytest.mark.coverage_claim
def test_a_shuffle_is_hardly_ever_taken_for_a_link(rare):
    """At level 0.025 of each side 60 shuffles give 1.5 false alarms; 9 have probability 3e-5."""
    alarms = 0
    for seed in range(60):
        real, control = (rare(300, 2 * seed + k).drop(columns="town") for k in range(2))
        shuffled = pd.DataFrame(np.random.default_rng(seed).permuted(real.to_numpy(), axis=0))
        shuffled = shuffled.set_axis(list(real), axis=1).astype(dict(real.dtypes))
        found = assess_file(read_files(real, shuffled, control), FileThreat(("t0",)), entropy=seed)
        [risk] = (risk for risk in found.risks if risk.risk == "singling out")
        alarms += risk.real.mean() > risk.control.mean() and risk.counts().fisher < 0.05
    assert alarms < 9


def test_secrets_are_each_column_and_all_together(people):
    files = read_files(people(30, 1), people(30, 2))
    assert FileThreat(("ill",)).secrets(files) == {"ill": (1,)}
    secrets = FileThreat(("ill", "age")).secrets(files)
    assert secrets == {"ill": (1,), "age": (0,), "ill and age": (1, 0)}


@pytest.mark.parametrize(
    ("threat", "said"),
    [
        (FileThreat(("il",)), "no column `il`; did you mean `ill`"),
        (FileThreat(("ill", "ill")), "none twice"),
        (FileThreat(("age", "job", "town", "ill")), "must know at least one"),
        (FileThreat(("ill",), linked=(("age",), ("age", "job"))), "disjoint"),
        (FileThreat(("ill",), linked=(("age",), ("jb",))), "no column `jb`"),
    ],
)
def test_a_threat_that_does_not_fit_is_refused(people, threat, said):
    files = read_files(people(30, 1), people(30, 2))
    with pytest.raises(InputError, match=said):
        (threat.secrets(files), threat.division(files))


def test_a_column_of_many_values_needs_bins_to_be_guessed():
    frame = pd.DataFrame({"x": np.arange(400.0), "y": [0, 1] * 200})
    with pytest.raises(InputError, match=r"--bins x=quantiles=5"):
        FileThreat(("x",)).secrets(read_files(frame, frame))


def test_counts_are_of_both_sides_or_of_a_group():
    real, control = np.array([1, 1, 0, 0], bool), np.array([1, 0, 0], bool)
    risk = Risk("linkability", "", "a", {}, real, control)
    counts = risk.counts()
    assert (counts.successes, counts.trials, counts.others, counts.other_trials) == (2, 4, 1, 3)
    counts = risk.counts(np.array([1, 0, 1, 0], bool), np.array([0, 1, 1], bool))
    assert (counts.successes, counts.trials, counts.others, counts.other_trials) == (1, 2, 0, 2)
    assert risk.counts(real, np.zeros(3, bool)) is None
    assert Risk("linkability", "", "a", {}, real, None).counts() is None
