"""Names and numbers of people inside other values of the file."""

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.synthetic.copies import _of_columns
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.traces import traces_of

SYLLABLES = [f"{c}{v}" for c in "BDKLMNRST" for v in "aeiou"]


def patients(n, seed):
    rng = np.random.default_rng(seed)
    first, last = ([f"{part}{end}" for part in SYLLABLES] for end in ("n", "ller"))
    return pd.DataFrame({
        "name": [f"{rng.choice(first)} {rng.choice(last)}-{rng.choice(last)}" for _ in range(n)],
        "case": rng.choice(9 * 10**7, n, replace=False) + 10**7,
        "job": rng.choice(["Clerk", "Nurse", "Cook"], n),
        "mass": rng.normal(25, 4, n).round(1),
        "entry": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 5000, n), unit="D"),
        "exit": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 5000, n), unit="D"),
    })  # fmt: skip


def numbers_in_texts(real, made):
    return made.assign(job=[*(f"Cook ({case})" for case in real["case"][:20]), *made["job"][20:]])


def numbers_in_decimals(real, made):
    mass = [f"{mass}000{case}" for mass, case in zip(made["mass"], real["case"], strict=True)]
    return made.assign(mass=[*mass[:20], *made["mass"].astype(str)[20:]])


def names_in_texts(real, made):
    return made.assign(job=[*(f"Cook, {name}" for name in real["name"][:20]), *made["job"][20:]])


def surnames_first(real, made):
    names = [f"{last}, {first}" for first, last in real["name"].str.split()]
    return made.assign(name=[*names[:20], *made["name"][20:]])


def initials(real, made):
    names = [f"{first[0]}. {last}" for first, last in real["name"].str.split()]
    return made.assign(name=[*names[:20], *made["name"][20:]])


@pytest.mark.parametrize(
    ("hide", "column"),
    [
        (numbers_in_texts, "case"),
        (numbers_in_decimals, "case"),
        (names_in_texts, "name"),
        (surnames_first, "name"),
        (initials, "name"),
    ],
)
@pytest.mark.parametrize("leave_out", [False, True])
def test_names_inside_other_values_are_found(hide, column, leave_out):
    """Whether the file has the column of the names itself or not."""
    real, made, control = (patients(200, seed) for seed in (1, 2, 3))
    made = hide(real, made)
    if leave_out and hide not in (surnames_first, initials):
        made = made.drop(columns=["case", "name"])
    inside = read_whole(real, made, control).inside
    assert {names.column for names in inside} == {column}
    assert all(18 <= names.standing <= 22 and not names.is_explained for names in inside)
    explained = read_whole(real, made, pd.concat([real[:20], control])).inside
    assert explained
    assert all(names.is_explained for names in explained)


@pytest.mark.parametrize("seed", range(5))
def test_other_people_have_names_of_their_own(seed):
    real, fresh = patients(200, 10 + seed), patients(200, 20 + seed)
    rng = np.random.default_rng(seed)
    apart = fresh.apply(lambda column: rng.permutation(column.to_numpy()))
    for made in (fresh, apart, *(hide(fresh, fresh) for hide in (numbers_in_texts, initials))):
        assert read_whole(real, made).inside == ()


def test_names_that_stand_as_they_are_are_counted_elsewhere():
    real = patients(200, 1)
    assert read_whole(real, real.sample(frac=1, random_state=1)).inside == ()


def numbered(n, seed, letters=""):
    """Draw people with a case number each; a leading zero may be one of its digits."""
    rng = np.random.default_rng(seed)
    cases = [f"{letters}{case:08d}" for case in rng.choice(9 * 10**7, n, replace=False)]
    return patients(n, seed).assign(case=cases)


PARTS = {
    "last digits": lambda case: case[-5:],
    "first digits": lambda case: case[:6],
    "middle": lambda case: case[2:7],
    "reversed": lambda case: case[::-1],
    "last digits reversed": lambda case: case[-5:][::-1],
    "last digits as a number": lambda case: str(int(case[-5:])),
}


@pytest.mark.parametrize("letters", ["", "F"])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.one_in(2)
def test_parts_of_case_numbers_are_found(part, letters):
    real, made, control = (numbered(400, seed, letters) for seed in (1, 2, 3))
    hide = PARTS[part]
    cut = made.assign(case=[hide(case) for case in [*real["case"][:40], *made["case"][40:]]])
    (names, *_) = read_whole(real, cut, control).inside
    assert names.column == "case"
    assert names.standing >= 35
    assert not names.is_explained
    fresh = made.assign(case=[hide(case) for case in made["case"]])
    assert read_whole(real, fresh, control).inside == ()
    assert read_whole(real, fresh).inside == ()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.one_in(2)
def test_rounded_pay_and_its_digits_are_nobodys_number(seed):
    def paid(n, seed):
        rng = np.random.default_rng(seed)
        return patients(n, seed).assign(pay=(rng.lognormal(10.8, 0.3, n) // 10 * 10).astype(int))

    real, made = paid(300, seed), paid(300, 50 + seed)
    for pay in (made["pay"], made["pay"] // 10, made["pay"] // 100):
        assert read_whole(real, made.assign(pay=pay)).inside == ()


@pytest.mark.parametrize("form", ["CH-{}", "CH {}", "CH.{}", "CH{}", "CH_{}", "ch / {}"])
@pytest.mark.parametrize("place", ["job", "remark"])
@pytest.mark.one_in(2)
def test_names_with_another_mark_are_names(form, place):
    """40 case numbers of people stood in texts with a blank for a hyphen, and were not seen."""
    real, made = patients(200, 1), patients(200, 2)
    real["case"] = [f"CH-{case % 10**6}" for case in real["case"]]
    cells = [f"A01 ({form.format(case[3:])})" for case in real["case"][:20]]
    made = made.drop(columns=["case"]).assign(**{place: [*cells, *made["job"][20:]]})
    (names,) = read_whole(real, made).inside
    assert (names.column, names.within, names.standing) == ("case", place, 20)


def in_brackets(real, made):
    return made.assign(note=[f"seen ({case})" for case in real["case"]])


PUT_BACK = {
    "numbers": lambda real, made: made.assign(note=real["case"]),
    "numbers of a few": lambda real, made: made.assign(
        note=[*real["case"][:20], *made["case"][20:]]
    ),
    "numbers as texts": lambda real, made: made.assign(note=[f"P-{case}" for case in real["case"]]),
    "numbers in texts": in_brackets,
    "names": lambda real, made: made.assign(note=real["name"].sample(frac=1, random_state=1)),
}


@pytest.mark.parametrize("way", sorted(PUT_BACK))
def test_names_in_a_column_that_is_declared_irrelevant_are_counted(way):
    """A column of all case numbers, declared to say nothing about anybody, was not looked at."""
    real, made = patients(200, 1), patients(200, 2)
    made = PUT_BACK[way](real, made).drop(columns=["case", "name"])
    declared = read_whole(real, made, irrelevant=["note", "case", "name"])
    assert {names.within for names in declared.put_back} == {"note"}
    (names,) = declared.put_back
    assert names.standing == (20 if way == "numbers of a few" else len(set(made["note"])))
    named = real.rename(columns={names.column: "note"})  # the same name in both files
    assert read_whole(named, made, irrelevant=["note"]).put_back


HARMLESS = {
    "other numbers": lambda real, made: made["case"],
    "running numbers": lambda real, made: range(1, 1 + len(made)),
    "measures": lambda real, made: real["mass"],
    "few words": lambda real, made: real["job"],
    "days": lambda real, made: real["entry"],
}


@pytest.mark.parametrize("way", sorted(HARMLESS))
def test_a_declared_column_that_names_nobody_is_not_asked_about(way):
    real = patients(200, 1).assign(number=range(1, 201))
    made = patients(200, 2).assign(note=HARMLESS[way](real, patients(200, 2)))
    made = made.drop(columns=["case", "name"])
    assert read_whole(real, made, irrelevant=["note", "case"]).put_back == ()


def test_running_numbers_of_many_digits_are_expected_in_a_declared_column():
    real = patients(200, 1).assign(number=range(10**6, 10**6 + 200))
    made = patients(200, 2).assign(number=range(10**6, 10**6 + 200)).drop(columns="case")
    assert read_whole(real, made, irrelevant=["number"]).put_back == ()


def test_a_control_counts_names_in_a_declared_column_as_well():
    real, made, control = (patients(200, seed) for seed in (1, 2, 3))
    made = made.assign(case=real["case"])
    (names,) = read_whole(real, made, control, irrelevant=["case"]).put_back
    assert (names.beside.successes, names.beside.others) == (200, 0)


# Numbers of people in texts


def accounts(seed, n=200):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "saldo": np.round(rng.lognormal(7.5, 0.8, n), 2),
        "price": rng.integers(5, 3 * n, n) + 0.99,
        "rent": 50 * rng.integers(8, 2 * n, n),
        "age": rng.integers(18, 90, n),
    })  # fmt: skip


def noted(made, values, form="account {}"):
    notes = [form.format(str(value)) for value in values]
    return made.assign(note=notes + [""] * (len(made) - len(notes)))


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("column", ["saldo", "price", "rent"])
def test_numbers_of_people_in_notes_are_counted(column, mark):
    """Forty balances stood in notes, to the cent, and the notes were to be declared away."""
    real = accounts(1)
    alone = real[column][~real[column].duplicated(keep=False)]
    values = [str(value).replace(".", mark) for value in alone[:40]]
    made = noted(accounts(2), values, "account {} closed")
    files = read_whole(real, made)
    inside = {each.column: each for each in files.inside if each.within == "note"}
    assert inside[column].standing >= 40
    assert inside[column].expected < 10
    questions = list(_of_columns(files, traces_of(files, [column], [column], entropy=1), 0.0,
                                 can_tell=False, is_exceeded=False))  # fmt: skip
    assert not any("--irrelevant note" in each.declaration for each in questions)
    assert any(
        "control" in each.declaration
        and "in `note`" in each.reason
        and f"`{column}`" in each.reason
        for each in questions
    )
    declared = read_whole(real, made, irrelevant=["note"])
    assert [each.within for each in declared.put_back if each.column == column] == ["note"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("column", ["saldo", "price", "rent", "age"])
def test_numbers_of_other_people_in_notes_are_nobodys(seed, column):
    """Prices end alike, and rents are round: others have the same."""
    made, others = accounts(20 + seed), accounts(30 + seed)
    files = read_whole(accounts(10 + seed), noted(made, others[column]))
    assert not files.inside
    assert "note" in files.strange


def stays(ids, seed):
    """Return one to three stays of each patient, in any order."""
    rng = np.random.default_rng(seed)
    each = rng.permutation(np.repeat(ids, rng.integers(1, 4, len(ids))))
    return pd.DataFrame({
        "patient_id": each,
        "age": rng.integers(20, 90, len(each)),
        "ward": rng.choice(list("abcde"), len(each)),
    })  # fmt: skip


PATIENTS = np.random.default_rng(0).choice(10**7, 900, replace=False) + 10**7
TAKEN = np.concatenate([PATIENTS[:205], PATIENTS[300:345]])


@pytest.mark.parametrize("unit", [None, "patient_id"])
@pytest.mark.parametrize(
    "write",
    [
        lambda made: made,
        lambda made: made.rename(columns={"patient_id": "number"}),
        lambda made: made.assign(patient_id=made.patient_id.map("P{:012}".format)),
        lambda made: made.assign(patient_id=made.patient_id.astype(float)),
    ],
    ids=["as_they_are", "other_name", "padded", "decimal"],
)
def test_numbers_of_people_with_several_rows_are_counted_over_people(write, unit):
    """A file with 205 of 250 of them passed as no more people than coincidence."""
    files = read_whole(stays(PATIENTS[:250], 1), write(stays(TAKEN, 2)), unit=unit)
    [names] = files.several.there
    assert (names.column, names.standing, names.people) == ("patient_id", 205, 250)
    assert names.expected < 1
    if unit is None:
        assert files.counts_rows == "patient_id"
    control = stays(PATIENTS[500:750], 3)
    beside = read_whole(stays(PATIENTS[:250], 1), write(stays(TAKEN, 2)), control, unit=unit)
    [names] = beside.several.there
    assert not names.is_explained


def test_other_numbers_and_running_numbers_of_people_are_coincidence():
    real, fresh = stays(PATIENTS[:250], 1), stays(PATIENTS[300:550], 2)
    assert read_whole(real, fresh).several.there == ()
    running = read_whole(stays(np.arange(1, 251), 1), stays(np.arange(1, 251), 2)).several
    assert (running.there, running.running) == ((), ("patient_id",))
    dense = np.random.default_rng(4)
    of_data, of_file = (dense.choice(900, 200, replace=False) + 100 for _ in range(2))
    assert read_whole(stays(of_data, 1), stays(of_file, 2)).several.there == ()
    taken = read_whole(stays(of_data, 1), stays(of_data, 2)).several
    assert [names.standing for names in taken.there] == [200]


def test_numbers_of_people_that_the_control_shares_are_explained():
    """All files are of one register, so the file holds people of all of them."""
    real, control = stays(PATIENTS[:250], 1), stays(PATIENTS[:250], 3)
    [names] = read_whole(real, stays(TAKEN, 2), control).several.there
    assert names.is_explained


def test_names_of_people_with_several_rows_in_declared_columns_are_sought():
    real, made = stays(PATIENTS[:250], 1), stays(TAKEN, 2)
    [names] = read_whole(real, made, irrelevant=["patient_id"]).put_back
    assert (names.within, names.standing) == ("patient_id", 205)


def residents(seed, many=400):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "row": np.arange(many),
        "bill": rng.lognormal(8, 1, many).round(2),
        "age": rng.integers(20, 90, many),
        "zip": rng.integers(10000, 10300, many),
        "score": rng.integers(100, 999, many),
        "answer": rng.integers(0, 5, many),
    })  # fmt: skip


DECLARED = ["row", "bill", "age", "zip", "score"]


@pytest.mark.parametrize("names", [["bill"], ["age", "zip"]])
def test_values_in_declared_columns_contradict_the_declaration(names):
    """Each age and each postcode is of many; both together are of one person."""
    real = residents(0)
    made = residents(1).assign(**{name: real[name] for name in names})
    [values] = read_whole(real, made, irrelevant=names).put_back
    assert values.column == "`, `".join(names)
    assert values.standing == values.people > 300


def test_values_of_other_people_contradict_no_declaration():
    for seed in range(10):
        files = [residents(3 * seed + k) for k in range(3)]
        assert read_whole(*files[: 2 + seed % 2], irrelevant=DECLARED).put_back == ()
