"""A published file as its steward tries it: the command, default options, what the screen says."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from narcissus import load_audit
from narcissus.audits import run
from narcissus.errors import InputError
from narcissus.kinds.synthetic.copies import (
    UNIQUE,
    WRITTEN,
    Coincidences,
    CopiedPeople,
    CountedQuestion,
)
from narcissus.kinds.synthetic.copy_sentences import no_more
from narcissus.kinds.synthetic.excess import ExcessShare
from narcissus.kinds.synthetic.propose import completed
from narcissus.report import page_of
from narcissus.rows import Quantity
from narcissus.study.load import load_study


def people(n=600, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return pd.DataFrame({
        "age": age,
        "height": np.round(rng.normal(170, 9, n), 6),
        "income": np.exp(rng.normal(10, 0.7, n) + (age - 50) / 100),
        "region": rng.choice(["North", "South", "East", "West"], n),
        "ill": np.where(rng.random(n) < 0.1 + (age > 60) * 0.2, "yes", "no"),
    })  # fmt: skip


def hospital(n=400, seed=1):
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
        "diagnosis": rng.choice(list("ABCDEF"), n),
    })  # fmt: skip


def audited(real, made, folder, control=None, **data):
    """Audit files as `narcissus synth` does, with what it proposes; return audit and screen."""
    paths = {}
    for name, frame in {"real": real, "synthetic": made, "control": control}.items():
        paths[name] = None if frame is None else str(folder / f"{name}.csv")
        if frame is not None:
            frame.to_csv(paths[name], index=False)
    names = ("columns", "drop", "irrelevant", "same", "bins", "missing", "read_as", "unit")
    settings, _ = completed({
        "kind": "synthetic",
        "data": {**paths, **{name: data.get(name) for name in names}},
        "threat": {"unknown": None},
        "groups": {"columns": None},
        "threshold": None,
    })  # fmt: skip
    audit = run(load_study(settings), rng=1)
    return audit, page_of(audit.record, internal=True).first


def short(values, significant):
    return np.array([float(f"{value:.{significant}g}") for value in values])


def single(frame):
    return frame.assign(**{n: frame[n].astype("float32") for n in ("height", "income")})


ROUNDED = {
    "2 digits": lambda f: f.round(2),
    "1 digit": lambda f: f.round(1),
    "no digit": lambda f: f.round(0),
    "7 significant": lambda f: f.assign(**{n: short(f[n], 7) for n in ("height", "income")}),
    "32 bits": single,
    "32 bits, widened": lambda f: single(f).astype({"height": "float64", "income": "float64"}),
    "each differently": lambda f: f.round({"height": 1, "income": -2}),
    "two of its columns": lambda f: f[["height", "income"]].round(2),
}
EXPORTED = {
    "another order": lambda f: f[f.columns[::-1]].sample(frac=1, random_state=1),
    "other names": lambda f: f.rename(columns={"income": "Income ", "height": "HEIGHT"}),
    "blanks and case": lambda f: f.assign(
        region=" " + f["region"].str.upper() + "  ", ill=f["ill"].str.upper()
    ),
    "without columns": lambda f: f.drop(columns=["age", "region"]),
}


@pytest.mark.parametrize("change", sorted(ROUNDED))
def test_the_data_rounded_are_said_to_be_that(change, tmp_path):
    audit, first = audited(people(), ROUNDED[change](people()), tmp_path)
    assert audit.status == "exceeded"
    assert first.answer == "The file is the data itself, rounded."
    assert first.with_it == 100
    assert any("Counted on" in line and "rounded to" in line for line in first.rests_on)


@pytest.mark.parametrize("change", sorted(EXPORTED))
def test_the_data_written_otherwise_are_said_to_be_that(change, tmp_path):
    audit, first = audited(people(), EXPORTED[change](people()), tmp_path)
    assert audit.status == "exceeded"
    assert first.answer == "The file is the data itself."


def test_a_stata_file_of_32_bits_is_the_data(tmp_path):
    pytest.importorskip("pyreadstat")
    single(people()).to_stata(tmp_path / "made.dta", write_index=False)
    audit, first = audited(people(), pd.read_stata(tmp_path / "made.dta"), tmp_path)
    assert audit.status == "exceeded"
    assert first.answer == "The file is the data itself, rounded."


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d %H:%M:%S", "%b %d, %Y"])
def test_dates_of_other_forms_hide_nothing(form, tmp_path):
    real = hospital()
    days = pd.to_datetime(real["admitted"]).dt.strftime(form)
    made = real.assign(admitted=days).drop(columns=["case", "row"])
    audit, first = audited(real, made, tmp_path)
    assert (audit.status, first.answer) == ("exceeded", "The file is the data itself.")


def test_the_data_in_so_few_digits_that_nobody_is_unique_are_the_data(tmp_path):
    real = people()[["age", "ill"]]
    made = real.assign(age=real["age"].round(-1))
    audit, first = audited(real, made, tmp_path)
    assert audit.status == "exceeded"
    assert first.answer == "The file is the data itself, rounded."
    assert first.with_it == 100


@pytest.mark.parametrize("digits", [6, 2])
def test_most_rows_of_a_wide_table_are_found(digits, tmp_path):
    """The proposal bins and leaves out so much of such a table that few people stay unique."""
    rng = np.random.default_rng(3)
    spread = np.linspace(2, 0.3, 28)
    real = pd.DataFrame(np.round(rng.normal(size=(500, 28)) * spread, 6)).add_prefix("V")
    real["Time"] = np.sort(rng.integers(0, 172_800, 500))
    real["Amount"] = np.round(rng.lognormal(3, 1.5, 500), 2)
    real["Class"] = (rng.random(500) < 0.03).astype(int)
    made = real.sample(frac=0.9, random_state=1).round(digits)
    audit, first = audited(real, made, tmp_path)
    assert audit.status == "exceeded"
    assert first.with_it == 90


@pytest.mark.parametrize("digits", [6, 1])
def test_one_planted_row_in_twenty_is_found(digits, tmp_path):
    real, fresh = people(), people(seed=2)
    made = pd.concat([real[:30].round(digits), fresh[30:]])
    audit, first = audited(real, made, tmp_path)
    assert audit.status == "exceeded"
    assert first.with_it == 5


def test_few_copies_are_counted_and_not_called_a_coincidence(tmp_path):
    """Nine rows of 600 are not shown to be more than chance, where numbers have no last digits."""
    real, fresh = (people(seed=seed).round({"height": 1, "income": -3}) for seed in (1, 2))
    audit, first = audited(real, pd.concat([real[:9], fresh[9:]]), tmp_path)
    assert audit.status == "not shown"
    assert first.answer.startswith("9 people of the data appear in the file, where coincidence")
    assert "no more people" not in first.answer
    assert "No gain from the release is shown" not in first.key
    assert first.is_open
    assert "▲" in first.squares


OTHERWISE = (
    "by several code tables, a factor or shift of each row's own, errors, rules for some rows, "
    "means of rows"
)
"""Disguises of copies that nobody looks for."""


@pytest.fixture(scope="module")
def of_other_patients(tmp_path_factory):
    """An audit of a file of other patients: nobody of the data stands in it."""
    return audited(hospital(), hospital(seed=2), tmp_path_factory.mktemp("others"))


def copula(frame, n, seed):
    """Draw rows of a coarse model of the data: ranks of numbers, all else by itself."""
    rng = np.random.default_rng(seed)
    names = ["age", "days", "bill"]
    ranks = stats.norm.ppf(frame[names].rank() / (len(frame) + 1))
    root = np.linalg.cholesky(np.corrcoef(ranks.T) + 1e-9 * np.eye(3))
    drawn = stats.norm.cdf(rng.normal(size=(n, 3)) @ root.T)
    made = {name: np.quantile(frame[name], drawn[:, j]) for j, name in enumerate(names)}
    made = {k: np.round(v, 2) if k == "bill" else np.rint(v).astype(int) for k, v in made.items()}
    made |= {name: rng.choice(frame[name].to_numpy(), n) for name in ("ward", "diagnosis")}
    return pd.DataFrame(made)


@pytest.mark.parametrize("with_control", [False, True])
def test_a_case_number_put_back_decides(with_control, tmp_path):
    real, control = hospital(), hospital(seed=5) if with_control else None
    made = copula(real, 400, 2)
    back = made.assign(case=real["case"], admitted=real["admitted"], bill=real["bill"])
    audit, first = audited(real, back, tmp_path, control)
    assert audit.status == "exceeded"
    assert "case" in first.answer
    assert first.with_it == 100
    audit, first = audited(real, made.assign(row=real["row"]), tmp_path, control)
    assert audit.status == "not shown"


def test_a_column_that_nobody_knows_of_asks_for_a_declaration(tmp_path):
    real = hospital()
    rng = np.random.default_rng(1)
    made = copula(real, 400, 2).assign(score=rng.integers(0, 50, 400), level=rng.random(400))
    audit, first = audited(real, made, tmp_path)
    assert audit.status == "undeclared"
    assert "`score`, `level`" in first.answer
    assert "--irrelevant score,level" in first.answer
    assert len(audit.record.result.unaccounted) == 1
    audit, first = audited(real, made, tmp_path, irrelevant=["score", "level"])
    assert audit.status == "not shown"
    assert first.answer.startswith("No copied people are shown; ")
    assert "as you declare, nothing about a person follows from `score`, `level`" in first.answer


def test_a_line_number_is_shown_to_be_harmless_or_asked_about(of_other_patients, tmp_path):
    """Rows of one number are no more alike than others, unless the file was made row by row."""
    real, fresh = hospital(), hospital(seed=2)
    audit, _ = of_other_patients
    assert audit.status == "not shown"
    (linked,) = audit.record.result.copies.linked
    assert (linked.column, linked.is_alike) == ("row", False)
    noise = np.random.default_rng(1).normal(0, 20, 400)
    audit, first = audited(real, fresh.assign(age=(real["age"] + noise).round()), tmp_path)
    assert audit.status == "undeclared"
    assert "Column `row` and the order of the rows are not accounted for" in first.answer


def test_a_declaration_takes_the_column_out_of_everything(tmp_path):
    real = hospital()
    made = hospital(seed=2).assign(bill=real["bill"])
    assert audited(real, made, tmp_path)[0].status == "undeclared"
    audit, _first = audited(real, hospital(seed=2), tmp_path, irrelevant=["bill"])
    assert audit.status == "not shown"
    assert all("bill" not in count.columns for count in audit.record.result.counts)


def test_own_values_are_counted_before_a_declaration_is_believed(tmp_path):
    """All bills of the data in the file were "no copied people" once `bill` was declared."""
    real = hospital()
    made = hospital(seed=2).assign(bill=real["bill"])
    audit, _ = audited(real, made, tmp_path, irrelevant=["bill"])
    assert audit.status == "undeclared"
    (gap,) = audit.record.result.unaccounted
    assert "column `bill`, which is declared to say nothing" in gap.subject


def test_numbers_of_people_are_counted_before_a_declaration_is_believed(tmp_path):
    """Whoever put all case numbers back, and declared the column, was told of no copied people."""
    real = hospital()
    made = hospital(seed=2).assign(case=real["case"])
    assert audited(real, made, tmp_path)[0].status == "exceeded"
    for control in (None, hospital(seed=3)):
        audit, first = audited(real, made, tmp_path, control, irrelevant=["case"])
        assert audit.status == "undeclared"
        (gap,) = audit.record.result.unaccounted
        assert "`case`" in gap.subject
        assert "400 of 400 people of the data" in gap.reason
        assert "coincidence explains about 0" in gap.reason
        assert "No copied people are shown" not in first.answer
    audit, _ = audited(real, hospital(seed=2), tmp_path, irrelevant=["case"])
    assert audit.status == "not shown"


HARMLESS = {
    "fresh people": lambda real, fresh, g: fresh,
    "fresh people, rounded": lambda real, fresh, g: fresh.round(1),
    "people drawn again of fresh ones": lambda real, fresh, g: fresh.sample(
        frac=1, replace=True, random_state=int(g.integers(1000))
    ),
    "columns of fresh people, shuffled": lambda real, fresh, g: fresh.apply(
        lambda column: g.permutation(column.to_numpy())
    ),
    "a coarse model": lambda real, fresh, g: copula(real, len(real), int(g.integers(1000))),
}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", sorted(HARMLESS))
@pytest.mark.one_in(4)
def test_twenty_harmless_files_beside_a_control(kind, seed, tmp_path):
    """Nothing is claimed of them, nothing is asked for; all by one seed, at a declared .05."""
    real, fresh, control = (hospital(300, 10 * seed + k) for k in range(3))
    made = HARMLESS[kind](real, fresh, np.random.default_rng(seed))
    audit, first = audited(real, made, tmp_path, control)
    assert audit.status == "not shown"
    assert audit.record.result.unaccounted == ()
    starts = "No attack is shown to exceed your threshold, ", "No copied people are shown; "
    assert first.answer.startswith(starts)  # by a risk, or by copies, whichever is open most


def test_the_command_takes_a_declaration(narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hospital(200).to_csv("real.csv", index=False)
    hospital(200, 2).assign(mark=np.arange(200) % 7).to_csv("made.csv", index=False)
    words = ["synth", "real.csv", "made.csv", "--seed", "1", "--out", "o", "--restart"]
    code, told, err = narcissus(*words)
    assert code == 3, err
    assert "--irrelevant mark" in " ".join(told.split())
    code, told, err = narcissus(*words, "--irrelevant", "mark")
    assert code == 3, err
    assert "--irrelevant" not in told
    study = load_audit("o").record.study
    assert study["data"]["irrelevant"] == ["mark"]


def renamed(frame):
    return frame.rename(columns=dict(zip(frame, "vwxyz", strict=True)))


def in_other_units(frame):
    return frame.assign(height=np.round(frame["height"] / 2.54, 3), age=frame["age"] + 2,
                        income=np.round(frame["income"] * 1.05, 2))  # fmt: skip


def in_wide_steps(frame):
    return frame.assign(height=np.floor(frame["height"] / 5 + 0.5) * 5, age=frame["age"] // 5 * 5,
                        income=np.round(frame["income"] / 250) * 250)  # fmt: skip


@pytest.mark.parametrize("change", [renamed, in_other_units, in_wide_steps,
                                    lambda frame: frame.astype({"income": "float32"})])  # fmt: skip
def test_the_data_are_found_in_other_names_units_and_steps(change, tmp_path):
    real = people()
    made = change(real).sample(frac=1, random_state=1)
    audit, screen = audited(real, made, tmp_path)
    assert audit.record.status == "exceeded"
    assert screen.with_it > 50


def test_files_without_a_column_in_common_are_refused_with_the_remedy(tmp_path):
    real, made = people(), people(seed=2).drop(columns=["ill", "region"])
    made.columns = ["a", "b", "c"]
    made["a"] += 200
    with pytest.raises(InputError, match="no column of the real data was found"):
        audited(real, made, tmp_path)


LABS = ("iron", "zinc", "sodium", "iodine")


def noisy(frame):
    rng = np.random.default_rng(4)
    return frame.assign(**{name: frame[name] + rng.normal(0, frame[name].std() / 4, len(frame))
                           for name in ("age", "height", *LABS)})  # fmt: skip


def telling(seed):
    """People whose illness nobody can tell from the rest."""
    rng = np.random.default_rng(seed)
    frame = people(seed=seed).drop(columns="income")
    labs = {name: np.round(rng.normal(100, 15, len(frame)), 1) for name in LABS}
    return frame.assign(**labs, ill=rng.choice(["a", "b", "c", "d"], len(frame)))


def test_rows_that_are_people_with_noise_are_not_coincidence(tmp_path):
    real = telling(1)
    audit, screen = audited(real, noisy(real), tmp_path)
    assert audit.record.status == "undeclared"
    assert "a row is far nearer than other people are" in screen.answer
    assert "no more people" not in screen.answer


@pytest.mark.parametrize("seed", range(2, 8))
def test_a_fresh_file_gives_no_secret_away(seed, tmp_path):
    real, made = telling(1), telling(seed)
    _, screen = audited(real, made, tmp_path)
    assert "No copied people are shown" in screen.answer
    assert not screen.is_shown


@pytest.mark.parametrize("column", ["income", "height"])
@pytest.mark.parametrize("part", [60, 600])
def test_own_values_that_stand_in_the_file_wait_for_a_control(column, part, tmp_path):
    """Real incomes in fresh rows: a generator may draw them from the data, and a control tells."""
    real, made = people(), people(seed=2)
    made.loc[: part - 1, column] = np.random.default_rng(1).permutation(real[column][:part])
    audit, screen = audited(real, made, tmp_path)
    assert audit.record.status == "undeclared"
    assert f"Column `{column}` is not accounted for" in screen.answer
    assert f"{part} of 600 people; coincidence explains about 0" in screen.answer
    assert "--control" in screen.answer


def test_own_values_in_a_few_rows_of_a_column_wait_for_a_control(tmp_path):
    """Most people have no gain: those who have one are known by it."""
    rng = np.random.default_rng(3)
    gain = np.where(np.arange(600) < 40, np.round(rng.lognormal(8, 1, 600), 2), 0)
    real, made = people().assign(gain=gain), people(seed=2).assign(gain=rng.permutation(gain))
    audit, screen = audited(real, made, tmp_path)
    assert audit.record.status == "undeclared"
    assert "`gain`" in screen.answer
    fresh = np.where(np.arange(600) < 40, np.round(rng.lognormal(8, 1, 600), 2), 0)
    audit, screen = audited(real, made.assign(gain=fresh), tmp_path)
    assert audit.record.status == "not shown"


def test_own_values_that_a_control_does_not_explain_exceed(tmp_path):
    real, made, control = (people(seed=seed) for seed in (1, 2, 3))
    made = made.assign(income=np.random.default_rng(1).permutation(real["income"]))
    audit, screen = audited(real, made, tmp_path, control)
    assert audit.record.status == "exceeded"
    assert "more values of single people of the data than of the control, by income" in (
        screen.answer
    )


def test_values_that_a_control_has_as_often_are_explained_by_it(tmp_path):
    """A generator that writes a list of prices: people of the control pay these too."""
    prices = np.round(np.random.default_rng(4).lognormal(6, 1, 1800), 2)
    rng = np.random.default_rng(5)
    real, made, control = (
        people(seed=seed).assign(income=rng.choice(prices, 600, replace=False))
        for seed in (1, 2, 3)
    )
    audit, _ = audited(real, made.assign(income=prices[:600]), tmp_path, control)
    assert audit.record.status == "not shown"


@pytest.mark.parametrize("places", [6, 2])
@pytest.mark.parametrize(("copies", "times"), [(20, 3), (10, 1)])
def test_a_few_copies_among_many_rows_are_found_by_their_last_digits(
    copies, times, places, tmp_path
):
    real, fresh = people(500), people(2000, seed=2)
    rows = [real[:copies]] * times
    made = pd.concat([fresh[: 2000 - copies * times], *rows]).round(places)
    audit, screen = audited(real, made, tmp_path)
    assert audit.record.status == "exceeded"
    first = next(count for count in audit.record.result.counts if count.what == UNIQUE)
    assert first.standing == copies
    if places == 6:
        assert f"{copies} of 500" in " ".join(text for text, _ in screen.sentences)
    assert "generator that merely favours" not in screen.answer


def test_a_few_copies_beside_a_control_are_named(tmp_path):
    real, made, control = (
        people(seed=seed).round({"height": 1, "income": -3}) for seed in (1, 2, 3)
    )
    audit, screen = audited(real, pd.concat([real[:5], made[5:]]), tmp_path, control)
    assert audit.record.status == "not shown"
    assert any(
        line.startswith("5 people of the data appear in the file") for line in screen.rests_on
    )


def test_a_small_control_hides_no_copies(tmp_path):
    real, made, control = (people(seed=seed) for seed in (1, 2, 3))
    made = pd.concat([made[30:], real[:30]]).sample(frac=1, random_state=1)
    audit, screen = audited(real, made, tmp_path, control[:60])
    assert audit.record.status == "exceeded"
    assert "30 of 600 people" in " ".join(text for text, _ in screen.sentences)


def test_what_is_not_sought_in_large_files_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("narcissus.synthetic.full_files.LARGE", 1_000)
    monkeypatch.setattr("narcissus.kinds.synthetic.copies.MOST_SOUGHT", 500)
    _, screen = audited(people(), people(seed=2), tmp_path)
    assert "copies by two columns" in screen.not_looked_at
    assert "under other codes, in files of so many rows" in screen.not_looked_at
    assert "recoded" not in screen.answer
    assert "nearest records" in screen.not_looked_at


@pytest.mark.parametrize("most", [2, 200])
def test_nobody_is_said_to_be_surely_seen_by_code_tables(most, tmp_path, monkeypatch):
    """A table may be told by no column, as where these are independent, or hold with errors."""
    monkeypatch.setattr("narcissus.kinds.synthetic.copies.MOST_RECODED", most)
    _, screen = audited(people(200), people(200, seed=2), tmp_path)
    left = "copies under other codes, in files of so many columns"
    assert (left in screen.not_looked_at) == (most == 2)
    assert OTHERWISE in screen.not_looked_at
    assert "recoded" not in screen.answer
    assert "unseen whole, or rounded by one rule for all rows" in screen.answer


def test_columns_that_are_looked_at_for_copies_are_not_said_to_be_left(of_other_patients):
    _, screen = of_other_patients
    assert any("columns" in note for note in screen.rests_on)
    assert "admitted" not in screen.not_looked_at


def test_a_control_with_people_of_the_data_is_none(tmp_path):
    real, made, control = (people(seed=seed) for seed in (1, 2, 3))
    audit, screen = audited(real, made, tmp_path, pd.concat([control[:300], real[:300]]))
    assert audit.record.status == "contradicted"
    assert "300 unique people of the data appear in the control" in screen.answer


@pytest.mark.parametrize("seed", range(2, 6))
def test_a_genuine_control_shares_nobody_beyond_coincidence(seed, tmp_path):
    audit, _ = audited(people(), people(seed=seed), tmp_path, people(seed=10 + seed))
    assert not audit.record.result.copies.is_shared
    assert audit.record.status == "not shown"


def earners(n=200, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 90, n),
        "town": rng.choice(["Bern", "Basel", "Chur", "Genf"], n),
        "income": 1_000 + rng.integers(0, 3_000, n),
        "ill": rng.choice(["no", "flu", "hiv"], n),
    })  # fmt: skip


def of_files(real, made, tmp_path, control=None, irrelevant=None):
    """Audit files as they lie there; return audit and first screen."""
    earners(seed=1).to_csv(tmp_path / "real.csv", index=False) if real is None else None
    names = dict.fromkeys(("columns", "drop", "bins", "missing", "read_as", "unit"))
    real = real or tmp_path / "real.csv"
    data = {"real": str(real), "synthetic": str(made), "control": control, **names}
    settings, _ = completed({
        "kind": "synthetic",
        "data": data | {"irrelevant": irrelevant},
        "threat": {"unknown": ["ill"]},
        "groups": {"columns": None},
        "threshold": None,
    })  # fmt: skip
    audit = run(load_study(settings), rng=1)
    return audit, page_of(audit.record, internal=True).first


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A harmless file, and a sheet that nobody sees with the people it was made from."""
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path_factory.mktemp("book") / "made.xlsx"
    found = openpyxl.Workbook()
    for sheet, frame in (
        (found.active, earners(seed=2)),
        (found.create_sheet("source"), earners()),
    ):
        for row in [list(frame), *frame.astype(object).to_numpy().tolist()]:
            sheet.append(row)
    found["source"].sheet_state = "hidden"
    found.save(path)
    return path


def test_a_hidden_sheet_is_not_judged_in_favour(book, tmp_path):
    """It holds every person of the data, and no cell of it was read as a row of the file."""
    audit, screen = of_files(None, book, tmp_path)
    (left,) = audit.record.result.unaccounted
    assert left.subject == "sheet `source`"
    assert "is hidden" in left.reason
    assert "200 of its rows are rows of the data" in left.reason
    assert left.declaration.endswith('`--irrelevant "sheet source"`')
    assert "not accounted for" in screen.answer
    assert "no more people" not in screen.answer


def test_a_sheet_that_is_declared_is_accounted_for(book, tmp_path):
    audit, screen = of_files(None, book, tmp_path, irrelevant=["sheet source"])
    assert audit.record.result.unaccounted == ()
    assert "No copied people are shown" in screen.answer


def test_notes_below_a_file_are_said_and_hide_no_verdict(tmp_path):
    made = tmp_path / "made.csv"
    made.write_text(earners(seed=2).to_csv(index=False) + "\nSource: drawn from a model of 2020\n")
    audit, screen = of_files(None, made, tmp_path)
    assert audit.record.result.unaccounted == ()
    assert audit.record.result.copies.left_out == (
        "line 203 below the last row of the synthetic file",
    )
    assert "No copied people are shown" in screen.answer
    assert any("line 203 below the last row" in line for line in screen.rests_on)


def test_many_lines_that_are_left_out_wait_for_a_declaration(tmp_path):
    """Prose may name people, too."""
    made = tmp_path / "made.csv"
    prose = "".join(f"Note: {name} of Bern is ill\n" for name in "ABCDEFGHIJKL")
    made.write_text(earners(seed=2).to_csv(index=False) + "\n" + prose)
    audit, _ = of_files(None, made, tmp_path)
    (left,) = audit.record.result.unaccounted
    assert left.subject == "the lines left out"
    assert left.is_plural


def files_and_control(change=None):
    real, made, control = hospital(seed=1), hospital(seed=2), hospital(300, seed=3)
    if change is not None:
        made = change(real, made)
    return [frame.drop(columns="row") for frame in (real, made, control)]


def with_cases(real, made):
    return made.assign(case=real["case"])


@pytest.mark.parametrize(("change", "status"), [(with_cases, "exceeded"), (None, "not shown")])
def test_a_column_that_the_control_lacks_is_judged_as_without_a_control(change, status, tmp_path):
    real, made, control = files_and_control(change)
    (tmp_path / "without").mkdir()
    alone, _ = audited(real, made, tmp_path / "without")
    audit, screen = audited(real, made, tmp_path, control.drop(columns="case"))
    assert (alone.status, audit.status) == (status, status)
    assert "The data have no such column" not in str(screen)
    assert "lacks `case`" in f"{screen.answer} {screen.rests_on}"


def test_own_values_of_a_column_that_the_control_lacks_are_asked_about(tmp_path):
    real, made, control = people(), people(seed=2), people(seed=3)
    made.loc[:59, "income"] = np.random.default_rng(1).permutation(real["income"][:60])
    audit, screen = audited(real, made, tmp_path, control.drop(columns="income"))
    assert audit.record.status == "undeclared"
    assert "The control lacks `income`" in screen.answer
    assert "--control FILE" in screen.answer


def baskets(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        (rng.random((n, 40)) < np.linspace(0.02, 0.54, 40) ** 2).astype(int)
    ).add_prefix("b")


def words(unique, *, control=0, shown=False):
    """Say what is open of 300 people, where coincidence may explain 190 who stand in the file."""
    copied = CopiedPeople(
        how="row by row",
        people=Quantity(value=87 / unique, grade="counted", counted=(87, unique)),
        coincidences=Coincidences(share=0.05, most=190),
        control=(9, control) if control else None,
        excess=ExcessShare(share=Quantity(value=0.0, grade="approximate")),
    )
    result = SimpleNamespace(
        files=SimpleNamespace(synthetic=300, control=control),
        copied=copied,
        copies=SimpleNamespace(people=SimpleNamespace(people=300), refutes_control=False),
        unlike=SimpleNamespace(is_shown=shown),
        may_be_grouped=False,
        units=(),
        numbering="",
        one_of_each="",
        not_sought=(),
        agreeing=(),
    )
    return no_more(result)


def test_a_weak_limit_of_coincidences_is_not_said_to_be_few_unique_people():
    everybody = "the 266 people who are unique in the data"
    text = f"Coincidence may explain up to 190 of {everybody}, and 87 appear in the file: "
    assert words(266) == f"{text}only a control tells"
    counted = "9 of its 50 unique people appear in the file"
    assert words(266, control=50) == f"{text}the control given does not settle it: {counted}"
    assert words(266, control=50, shown=True).endswith("of another population than the data")
    assert words(149).startswith("Too few people are unique in the data")


def test_where_few_people_are_unique_that_is_said(tmp_path):
    rng = np.random.default_rng(1)
    real, made = (
        pd.DataFrame(rng.integers(0, 4, (300, 4)), columns=list("abcd")) for _ in range(2)
    )
    assert "Too few people are unique" in audited(real, made, tmp_path)[0].verdict


def test_with_a_control_nobody_is_told_to_take_one(tmp_path):
    real = baskets(300, 1)
    made = real.where(np.random.default_rng(2).random(real.shape) > 0.35, 0)
    audit, screen = audited(real, made, tmp_path, baskets(300, 3))
    for text in (screen.answer, audit.verdict):
        assert "only a control tells" not in text
        assert "a control would decide" not in text.lower()


def test_with_a_control_the_screen_says_how_many_could_be_copied_unseen(tmp_path):
    real, made, control = files_and_control()
    audit, screen = audited(real, made, tmp_path, control)
    assert audit.status == "not shown"
    text = " ".join([screen.answer, *screen.rests_on])
    assert "No copied people are shown; fewer than " in text
    copied = audit.record.result.copied
    scored = copied.deciding[1]
    least = np.ceil(copied.excess.detectable * scored)
    assert f"fewer than {least:.0f} of the {scored:.0f} people who are" in text


def test_few_columns_are_said_to_be_two_or_three(tmp_path):
    _, screen = audited(people(), people(seed=2), tmp_path)
    assert "people who are unique in the data could be copied unseen whole, or" in screen.answer
    assert "or rounded by one rule for all rows, and fewer than" in screen.answer
    assert screen.answer.endswith("in the same two or three columns.")
    assert "disguised copies" in screen.not_looked_at
    assert "other columns in each row" in screen.not_looked_at


def test_who_could_be_copied_unseen_is_said_where_it_is_nobody(tmp_path):
    """A clause was left out where a single whole copy is seen, and rounded ones were not."""
    _, screen = audited(people(200), people(200, seed=2), tmp_path)
    assert "; none of the 200 people who are unique in the data could be copied" in screen.answer
    assert "unseen whole, or rounded by one rule for all rows" in screen.answer


def households(homes, seed):
    rng = np.random.default_rng(seed)
    size = rng.integers(2, 5, homes)
    of = np.repeat(np.arange(homes), size)
    town, income = rng.integers(0, 60, homes)[of], np.round(rng.lognormal(8, 0.5, homes))[of]
    return pd.DataFrame(
        {
            "household": [f"H{seed}-{number:04d}" for number in of],
            "age": rng.integers(0, 95, len(of)),
            "sex": rng.choice(list("mw"), len(of)),
            "town": town,
            "heating": rng.choice(list("abcd"), homes)[of],
            "rooms": rng.integers(1, 8, homes)[of],
            "income": income,
        }
    )


def test_rows_of_households_are_not_said_to_be_another_population(tmp_path):
    audit, screen = audited(households(90, 1), households(90, 2), tmp_path, households(90, 3))
    assert audit.status == "contradicted"
    assert "--unit household" in screen.answer
    text = f"{screen.answer} {' '.join(screen.rests_on)} {' '.join(audit.record.contradictions)}"
    assert "other people than the data" not in text
    assert "another population" not in text


def moved(real, made):
    """Return real measures with noise, each row at its place."""
    rng = np.random.default_rng(4)
    return made.assign(**{name: real[name] + rng.normal(0, 30, len(real)) for name in LABS})


def renamed(real, made):
    mixed = real[list(LABS)].sample(frac=1, random_state=1, ignore_index=True)
    return made.assign(**mixed.set_axis([LABS[1], LABS[0], LABS[3], LABS[2]], axis=1))


def mirrored(real, made):
    mixed = real[list(LABS)].sample(frac=1, random_state=1, ignore_index=True)
    return made.assign(**(mixed.min() + mixed.max() - mixed).round(1))


@pytest.mark.parametrize(
    ("change", "subject"),
    [
        (moved, "the order of the rows"),
        (renamed, "values under the names of other columns"),
        (mirrored, "mirrored columns"),
    ],
)
def test_copies_that_no_count_by_column_sees_wait_for_a_control(change, subject, tmp_path):
    real, made, control = (telling(seed).head(300) for seed in (1, 2, 3))
    audit, screen = audited(real, change(real, made), tmp_path)
    gaps = {gap.subject: gap for gap in audit.record.result.unaccounted}
    assert audit.record.status in ("undeclared", "exceeded")
    assert "--control FILE" in gaps[subject].declaration
    assert "No copied people are shown" not in screen.answer
    audit, _ = audited(real, change(real, made), tmp_path, control)
    gaps = {gap.subject: gap for gap in audit.record.result.unaccounted}
    assert audit.status == "exceeded" or "--control FILE" not in gaps[subject].declaration


def noise_added(real, made):
    return noisy(real)


@pytest.mark.parametrize("change", [renamed, noise_added])
@pytest.mark.one_in(2)
def test_the_screen_shows_the_people_of_the_question_that_is_open(change, tmp_path):
    """It showed that nobody stands in the file whole, under a headline that counted dozens."""
    real, made = (telling(seed).head(300) for seed in (1, 2))
    audit, screen = audited(real, change(real, made), tmp_path)
    assert audit.status == "undeclared"
    case = audit.record.result.unaccounted
    question = next(each for each in case if isinstance(each, CountedQuestion))
    count = f"{question.standing:,} of {question.of:,}"
    assert count in question.reason
    text, grade = screen.sentences[1]
    assert text.startswith(f"{count} {question.who} {question.does}")
    assert grade == "counted"
    assert screen.with_it == round(100 * question.standing / question.of) > screen.without
    assert "nothing is shown" not in screen.key
    assert "open" in screen.key
    (row,) = [row for row in audit.record.result.rows() if row.about == question]
    assert row.quantity.counted == (question.standing, question.of)


def test_numbers_of_people_inside_a_text_wait_for_a_control(tmp_path):
    real, made = hospital(200, 1), hospital(200, 2).drop(columns="case")
    made["ward"] = [*(f"Surgery ({case})" for case in real["case"][:40]), *made["ward"][40:]]
    audit, _ = audited(real, made, tmp_path)
    gaps = {gap.subject: gap for gap in audit.record.result.unaccounted}
    assert "40 of 200 people appear in `ward`" in gaps["column `case`"].reason
    settled, _ = audited(real, made, tmp_path, irrelevant=["case"])
    assert all(gap.subject != "column `case`" for gap in settled.record.result.unaccounted)


def twice(frame, part, seed=1):
    """Return people of whom a part stands in two rows."""
    return pd.concat([frame, frame.iloc[: int(part * len(frame))]]).sample(
        frac=1, random_state=seed
    )


@pytest.mark.parametrize("part", [1, 0.75, 0.1])
@pytest.mark.one_in(2)
def test_rows_that_stand_twice_are_one_person(part, tmp_path):
    """They were taken for people who are alike: the control was blamed, or nobody was unique."""
    real, control = (people(400, seed).drop(columns="height") for seed in (1, 2))
    made = people(400, 3).drop(columns="height")
    planted = pd.concat([real.iloc[:40], made.iloc[40:]])
    audit, screen = audited(twice(real, part), planted, tmp_path, twice(control, part))
    assert audit.status == "exceeded"
    assert audit.record.result.copies.people.standing == 40
    assert audit.record.result.files.real == 400
    assert "people" in screen.answer


def test_a_harmless_file_beside_rows_that_stand_twice_blames_no_control(tmp_path):
    real, control, made = (people(400, seed) for seed in (1, 2, 3))
    audit, _ = audited(twice(real, 0.75), made, tmp_path, twice(control, 0.75))
    assert audit.record.result.can_tell
    assert audit.status == "not shown"


def test_a_few_rows_that_stand_twice_are_asked_about_without_a_control(tmp_path):
    real, made = people(400, 1), people(400, 2)
    audit, screen = audited(twice(real, 0.1), made, tmp_path)
    assert "repeated rows" in screen.answer
    declared, _ = audited(twice(real, 0.1), made, tmp_path, irrelevant=["repeated rows"])
    assert audit.status != "met"
    assert not any("more than once" in u.subject for u in declared.record.result.unaccounted)


def test_a_panel_without_a_column_of_people_asks_for_one(tmp_path):
    """The control was said to be of another population."""

    def years(seed):
        frame = people(300, seed)
        each = [frame.assign(year=year, days=np.random.default_rng(year + seed).poisson(4, 300))
                for year in (2021, 2022)]  # fmt: skip
        return pd.concat(each).sort_values("income", kind="stable")

    audit, screen = audited(years(1), years(2), tmp_path, years(3))
    assert "another population" not in screen.answer
    assert "may be of one person" in screen.answer
    assert audit.status == "contradicted"


def test_a_text_among_numbers_of_the_file_is_asked_about(tmp_path):
    """The bins that the program proposes itself refused the file."""
    real, made = (people(400, seed).astype({"income": int}) for seed in (1, 2))
    made = made.astype({"income": object})
    made.iloc[::80, made.columns.get_loc("income")] = "confidential"
    audit, screen = audited(real, made, tmp_path, people(400, 3).astype({"income": int}))
    subjects = [gap.subject for gap in audit.record.result.unaccounted]
    assert subjects == ["the texts among the numbers of `income`"]
    assert "texts among numbers" in screen.answer
    copied = made.copy()
    copied.iloc[100:140] = real.iloc[100:140]
    declared, _ = audited(
        real, copied, tmp_path, people(400, 3).astype({"income": int}),
        irrelevant=["texts among numbers"],
    )  # fmt: skip
    assert declared.status == "exceeded"


def panel(people=100, waves=6, seed=1):
    """Return people of whom each has a row of every wave."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "person": np.repeat(rng.permutation(10 * people)[:people], waves),
        "wave": np.tile(np.arange(waves), people),
        "income": rng.lognormal(10, 0.6, people * waves).round(2),
        "hours": rng.integers(0, 60, people * waves),
        "region": np.repeat(rng.choice(["North", "South", "East"], people), waves),
    })  # fmt: skip


@pytest.mark.parametrize("is_numbered", [True, False])
@pytest.mark.one_in(2)
def test_copies_in_a_panel_are_rows_while_no_unit_is_named(
    is_numbered, of_other_patients, tmp_path
):
    """Ten people with all of their rows were "60 of 600 people who are unique in the data"."""
    real, made = panel(), panel(seed=2)
    made = pd.concat([real[real["person"].isin(real["person"].unique()[:10])], made.iloc[60:]])
    made = made if is_numbered else made.drop(columns="person")
    audit, screen = audited(real, made, tmp_path)
    assert audit.status == "exceeded"
    assert audit.record.result.numbering == "person"
    text = " ".join([*screen.rests_on, audit.verdict])
    assert "600 rows (several of each `person`) that are unique" in text
    assert "people who are unique" not in text
    assert "`--unit person`" in text
    audit, screen = audited(real, made, tmp_path, unit="person")
    assert audit.record.result.numbering == ""
    assert "--unit" not in " ".join([*screen.rests_on, audit.verdict])
    assert of_other_patients[0].record.result.numbering == ""


def test_rows_near_rows_of_a_panel_are_rows_while_no_unit_is_named(tmp_path):
    """Sixty rows of twelve people were "60 of 600 people"."""
    rng = np.random.default_rng(4)
    measures = list("abcdef")
    real, made = (
        panel(waves=5, seed=seed).assign(**{m: rng.normal(50, 9, 500).round(1) for m in measures})
        for seed in (1, 2)
    )
    made.loc[:59, measures] = real.loc[:59, measures] + rng.choice([-0.1, 0.1], (60, 6)).round(1)
    made[measures] = made[measures].round(1)
    made.loc[:59, ["hours", "region"]] = real.loc[:59, ["hours", "region"]]
    made.loc[:59, "income"] = (real.loc[:59, "income"] * 1.01).round(2)
    audit, _ = audited(real, made, tmp_path)
    asked = [each for each in audit.record.result.unaccounted if isinstance(each, CountedQuestion)]
    many = {each.who: each.of for each in asked}
    assert many["rows (several of each `person`)"] == 500
    assert many.get("people", 100) == 100
    assert "500 people" not in " ".join([audit.verdict, *(each.reason for each in asked)])


def test_a_verdict_on_a_data_frame_names_what_a_file_of_it_may_hold(of_other_patients):
    """Not shown, of a frame: what is written of it may hold more than its cells."""
    real, made = hospital(), hospital(seed=2)
    settings = {
        "kind": "synthetic",
        "data": {"real": real, "synthetic": made},
        "threat": {"unknown": ["diagnosis"]},
    }
    audit = run(load_study(settings), rng=1)
    assert WRITTEN in page_of(audit.record, internal=True).first.not_looked_at
    assert WRITTEN not in of_other_patients[1].not_looked_at


SCALE = [f"q{j}" for j in range(12)]


def on_a_scale(n, seed):
    rng = np.random.default_rng(seed)
    drawn = 3 + np.random.default_rng(7).uniform(-0.6, 0.6, 12) + rng.normal(size=(n, 1))
    frame = pd.DataFrame(np.clip(np.round(drawn + rng.normal(size=(n, 12))), 1, 5).astype(int))
    return frame.set_axis(SCALE, axis=1).assign(age=rng.integers(18, 90, n))


def by_two_tables(rows):
    half = len(rows) // 2
    tables = {1: 2, 2: 5, 3: 1, 4: 3, 5: 4}, {1: 4, 2: 1, 3: 5, 4: 2, 5: 3}
    return pd.concat([rows[:half].replace(tables[0]), rows[half:].replace(tables[1])])


def by_names(rows):
    return rows.set_axis([*SCALE[5:], *SCALE[:5]], axis=1)[SCALE]


CHANGES = {
    "one table": lambda rows: rows.replace({1: 2, 2: 5, 3: 1, 4: 3, 5: 4}),
    "two tables": by_two_tables,
    "mirrored": lambda rows: 6 - rows,
    "other names": by_names,
}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("way", "part"),
    [*((way, 300) for way in CHANGES), *((way, 90) for way in CHANGES if way != "other names")],
)
def test_a_control_decides_on_people_who_are_looked_up_after_a_change(way, part, tmp_path):
    """A control was asked for, and with it the same question was asked again."""
    real, made, control = (on_a_scale(300, seed) for seed in (1, 2, 3))
    for folder in ("with", "without"):
        (tmp_path / folder).mkdir()
    made[SCALE] = pd.concat([CHANGES[way](real[SCALE])[:part], made[SCALE][part:]]).to_numpy()
    made = made.sample(frac=1, random_state=1, ignore_index=True)
    audit, screen = audited(real, made, tmp_path / "without")
    assert audit.status == "undeclared"
    assert "--control FILE" in screen.answer
    audit, screen = audited(real, made, tmp_path / "with", control)
    assert audit.status == "exceeded"
    copied = audit.record.result.copied
    assert copied.control[0] < 5
    assert copied.change
    assert copied.change in screen.answer


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("way", sorted(CHANGES))
def test_other_people_after_a_change_are_accused_by_no_control(way, seed, tmp_path):
    real, made, control = (on_a_scale(300, 10 * k + seed) for k in (4, 5, 6))
    made[SCALE] = CHANGES[way](made[SCALE]).to_numpy()
    assert audited(real, made, tmp_path, control)[0].status != "exceeded"


def test_few_rows_by_a_table_are_said_to_be_looked_at_where_they_are(tmp_path):
    """None was said to be copied unseen "recoded where all rows are": all were, by two tables."""
    _, screen = audited(on_a_scale(60, 1), on_a_scale(60, 2), tmp_path)
    assert "recoded where all rows are" not in screen.answer
    assert OTHERWISE in screen.not_looked_at


def test_a_column_under_another_name_is_asked_for_by_both_names(tmp_path):
    made = people(seed=2).rename(columns={"income": "Einkommen"})
    outcome, _ = audited(people(), made, tmp_path)
    questions = outcome.record.result.unaccounted
    (question,) = (each for each in questions if "`Einkommen`" in each.subject)
    assert 'same = {"income" = "Einkommen"}' in question.declaration
    assert "--same income=Einkommen" in question.declaration
    outcome, _ = audited(people(), made, tmp_path, same={"income": "Einkommen"})
    assert not [each for each in outcome.record.result.unaccounted if "Einkommen" in each.subject]


def test_a_further_column_is_no_other_name_where_the_file_has_all(tmp_path):
    made = people(seed=2).assign(note=[f"{n * 37 % 601} visits" for n in range(600)])
    outcome, _ = audited(people(), made, tmp_path)
    left = outcome.record.result.unaccounted
    questions = [each.declaration for each in left if "`note`" in each.subject]
    assert questions
    assert not any("same =" in text for text in questions)


def split_homes(homes=240):
    """Split households of one population at random: data, file and control."""
    rng = np.random.default_rng(1)
    frames = []
    for first in (0, homes):
        home = np.repeat(np.arange(first, first + homes), rng.integers(2, 7, homes))
        shared = {
            "region": list("ABCDEF"),
            "heating": ["gas", "oil", "heat", "wood"],
            "owner": ["yes", "no"],
        }
        frames.append(pd.DataFrame({
            "home": home,
            **{name: rng.choice(v, homes)[home - first] for name, v in shared.items()},
            "age": rng.integers(0, 95, len(home)),
            "score": rng.normal(50, 9, len(home)).round(2),
        }))  # fmt: skip
    every, made = frames
    is_ours = np.isin(every["home"], rng.permutation(homes)[: homes // 2])
    return every[is_ours], made.drop(columns="home"), every[~is_ours]


def test_a_control_of_households_is_not_assessed_until_they_are_named(tmp_path):
    real, made, control = split_homes()
    frames = [frame.drop(columns="home") for frame in (real, control)]
    audit, screen = audited(frames[0], made, tmp_path, frames[1])
    assert audit.record.result.unlike.is_shown
    assert audit.status == "not assessed"
    for text in (screen.answer, audit.verdict):
        assert "ows that follow one another are alike, as those of one household are" in text
        assert "`--unit COLUMN`" in text
    assert not audit.record.contradictions


def test_a_control_of_households_that_are_named_decides(tmp_path):
    real, made, control = split_homes()
    audit, _ = audited(real, made, tmp_path, control, unit="home")
    assert audit.status == "not shown"
    assert audit.record.result.can_tell


@pytest.mark.parametrize("is_grouped", [True, False])
def test_households_excuse_no_control_of_another_population(is_grouped, tmp_path):
    """Six regions beside four were "not assessed", since rows of a household are alike."""
    real, made, control = (frame.drop(columns="home", errors="ignore") for frame in split_homes())
    control = control.assign(region=control["region"].replace({"A": "B", "C": "B"}))
    if not is_grouped:
        real, control = (f.sample(frac=1, random_state=1) for f in (real, control))
    audit, screen = audited(real, made, tmp_path, control)
    assert audit.status == "contradicted"
    assert "other people than the data" in screen.answer
