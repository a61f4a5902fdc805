"""Which study is proposed of a table."""

from __future__ import annotations

import tomllib
from itertools import combinations
from math import prod

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.kinds.table.propose import (
    MOST_CELLS,
    UnsureError,
    draft,
    named,
    propose,
    propose_column,
    summary,
    understood,
)
from narcissus.study import load_study
from narcissus.tables.parts import sketch_table


def sketch(people=300, **columns):
    rng = np.random.default_rng(1)
    made = {
        name: rng.integers(0, sizes, people) if isinstance(sizes, int) else sizes
        for name, sizes in columns.items()
    }
    return sketch_table(pd.DataFrame(made))


def test_names_say_what_is_secret_and_what_is_public():
    found = propose(sketch(sex=2, income=4, hobby=5, religion=3, target=2))
    assert found.unknown == ("income", "religion")
    assert found.public == ("sex",)
    assert found.groups == ("sex",)
    assert "keep to themselves" in found.unknown_reason


def test_an_outcome_or_the_last_column_stands_in():
    found = propose(sketch(a=2, target=2, b=3))
    assert found.unknown == ("target",)
    assert "outcome" in found.unknown_reason
    found = propose(sketch(a=2, b=3, age=5, c=25))
    assert found.unknown == ("b",)
    assert "stand-in" in found.unknown_reason
    same = np.arange(300) < 3
    assert propose(sketch(a=2, b=3, c=same.astype(int))).unknown == ("b",)
    assert propose(sketch(c=same.astype(int))).unknown == ("c",)


def test_few_unknown_columns_and_one_that_is_known():
    found = propose(sketch(a=2, income=20, salary=20, wage=20, debt=2))
    assert found.unknown == ("income", "salary")  # 8,000 joint values with the next
    assert found.secret == ("wage", "debt")
    assert propose(sketch(income=3, salary=3)).unknown == ("income",)
    assert propose(sketch(income=3)).unknown == ("income",)


def test_what_is_asked_for_is_taken():
    found = propose(sketch(a=2, b=2, income=3), unknown=["b", "a"], epsilon=[2])
    assert found.unknown == ("b", "a")
    assert found.secret == ("income",)
    assert found.epsilon == (2,)
    found = propose(sketch(a=2, b=2, income=3), drop=["income"])
    assert found.unknown == ("b",)
    assert found.drop == {"income": "as you asked"}


def test_what_is_declared_known_is_never_proposed_to_be_unknown():
    for known in combinations(["a", "b", "income"], 2):
        found = propose(sketch(a=2, b=3, income=4), wanted=known, known=known)
        assert not set(found.unknown) & set(known)
    with pytest.raises(InputError, match="`known` names every column"):
        propose(sketch(a=2, b=3), wanted=["a", "b"], known=["a", "b"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"unknown": ["incme"]}, "no column `incme`; did you mean `income`"),
        ({"unknown": ["a"], "drop": ["a"]}, "decide for one"),
        ({"unknown": ["one"]}, "`one` cannot be unknown: one value only"),
        ({"drop": ["a", "income"]}, r"no column of the data frame can be audited.*1 more"),
    ],
)
def test_what_cannot_be_asked_for(more, message):
    with pytest.raises(InputError, match=message):
        propose(sketch(a=2, income=3, one=np.ones(300), uid=range(300)), **more)


def test_all_unique():
    with pytest.raises(InputError, match="`name`: looks like an identifier"):
        propose(sketch(name=[f"n{i}" for i in range(300)], uid=range(300)))


def test_tables_and_cells_are_those_that_are_released():
    sizes = {"a": 2, "b": 3, "income": 4, "c": 5, "debt": 2}
    found = propose(sketch(**sizes))
    shown = [t for t in combinations(sizes, 3) if {"income", "debt"} & set(t)]
    assert (found.k, found.tables) == (3, len(shown))
    assert found.cells == sum(prod(sizes[name] for name in t) for t in shown)


def test_many_columns_are_released_two_by_two():
    found = propose(sketch(**{f"c{i}": 2 for i in range(40)}))
    assert (found.k, found.tables) == (2, 39)
    found = propose(sketch(4000, **{f"c{i}": 30 for i in range(5)}))
    assert found.k == 3
    assert found.cells <= MOST_CELLS
    assert propose(sketch(4000, **{f"c{i}": 30 for i in range(6)})).k == 2


def test_delta_is_below_one_over_the_people():
    assert propose(sketch(a=2, b=2)).delta == 1e-5
    many = np.arange(1_000_000) % 2
    assert propose(sketch(a=many, b=many)).delta == 1e-7


RNG = np.random.default_rng(5)
AGES = RNG.integers(18, 90, 1000)


def proposed(values, name="x", **more):
    frame = pd.DataFrame({name: values})
    return propose_column(sketch_table(frame).columns[0], **more)


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("x", [f"p{i}@example.org" for i in range(100)], "another text: 100 values among 100"),
        ("x", [f"p{i // 2 if i < 10 else i}" for i in range(100)], "95 values among 100 people"),
        ("x", range(5000, 5100), "one after the other"),
        ("x", RNG.choice(90_000_000, 100, replace=False) + 10_000_000, "cards or telephones"),
        ("user_id", [i // 2 for i in range(100)], "identifier by its name: 50 values"),
        ("email", [f"p{i % 300}" for i in range(3000)], "identifier by its name: 300 values"),
        ("x", [7] * 100, "one value only"),
        ("x", [None] * 100, "no value at all"),
        ("x", [float("inf"), *range(99)], "infinite"),
    ],
)
def test_left_out(name, values, reason):
    found = proposed(values, name)
    assert reason in found.drop
    assert "drop" not in found.drop


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("income", RNG.lognormal(10, 1, 100)),
        ("income", RNG.choice(90_000, 100, replace=False)),
        ("name", list("abcde") * 20),
        ("x", ["a", "b"]),
    ],
)
def test_kept_though_different_or_named_so(name, values):
    assert proposed(values, name).drop == ""


def test_an_identifier_that_is_wanted_is_kept_where_it_can_be():
    half = [i // 2 for i in range(100)]
    assert not proposed(half, "id", wanted=True).drop
    assert proposed([f"p{i}" for i in range(100)], "id", wanted=True).drop


@pytest.mark.parametrize(
    ("values", "bins", "labels"),
    [
        (AGES % 30, {}, 30),
        (AGES, {"width": 10}, 8),
        ([*AGES, *[999] * 20], {"width": 10, "codes": [999]}, 9),
        ([*AGES, *[888, 999] * 20], {"width": 10, "codes": [888, 999]}, 10),
        ([*AGES, *[-9] * 20], {"width": 10, "codes": [-9]}, 9),
        ([*map(str, AGES), "N", "N"], {"width": 10, "codes": ["N"]}, 9),
        ([*map(str, AGES), *["N", "-9"] * 20], {"width": 10, "codes": ["N", -9]}, 10),
        ([*[0] * 1000, *AGES], {"above": 0.0}, 2),
        ([*[40] * 1500, *AGES], {"quantiles": 5}, 3),
        ([*map(str, AGES % 20), "N"], {}, 21),
        ([*AGES, None], {"width": 10}, 9),
    ],
)
def test_bins_of_numbers(values, bins, labels):
    found = proposed(values)
    assert found.bins == bins
    assert found.labels == labels
    assert bool(found.reason) == bool(bins)


def test_numbers_close_together_have_groups_of_equal_size():
    assert proposed(RNG.lognormal(10, 2, 1000)).bins == {"quantiles": 5}


def test_a_code_is_far_from_all_others_and_had_by_many():
    assert "codes" not in proposed([*AGES, *[99] * 20]).bins  # an age
    assert "codes" not in proposed([*AGES, 999]).bins  # one person's: it would be told


def test_rare_texts_become_one():
    towns = [f"t{i}" for i in range(40)] + ["big"] * 500 + ["small"] * 460
    found = proposed(towns)
    assert found.bins == {"common": 2}
    assert "42 values, of which 2 are those of one person in a hundred" in found.reason
    assert found.labels == 3


def test_numbers_that_are_names_are_no_numbers():
    assert "common" in proposed(10_000 + AGES, "zip").bins
    assert "without distances" in proposed(10_000 + AGES, "zip").reason


def test_dates_are_named():
    days = [f"2020-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(1000)]
    assert "look like dates" in proposed(days).reason


def test_texts_that_look_missing_are_named_where_many_have_them():
    found = proposed(["?"] * 20 + ["don't know"] * 3 + ["Not stated"] * 10 + ["a"] * 60)
    assert list(found.missing_like) == [("?", 20), ("Not stated", 10)]


def test_no_reason_quotes_a_rare_value():
    lonely = [*AGES, 12_345, 12_346]
    found = proposed(lonely, "income")
    assert "1234" not in found.reason
    assert "12,34" not in found.reason


RNG_DRAFT = np.random.default_rng(3)
ROWS = 400
PEOPLE = {
    "": range(ROWS),
    "email": [f"p{i}@example.org" for i in range(ROWS)],
    "age": np.append(RNG_DRAFT.integers(18, 90, ROWS - 20), [999] * 20),
    "hours": [*RNG_DRAFT.integers(0, 80, ROWS - 1).astype(str), "N"],
    "sex": RNG_DRAFT.choice(["f", "m"], ROWS),
    "zip": 10_000 + RNG_DRAFT.geometric(0.03, ROWS),
    "job": RNG_DRAFT.choice(["a", "b", "?"], ROWS),
    "income": RNG_DRAFT.lognormal(10, 2, ROWS).round(),
    "diagnosis": RNG_DRAFT.choice(["flu", "none", None], ROWS),
}


def drafted(columns, path="people.csv", **more):
    return draft(propose(sketch_table(pd.DataFrame(columns)), **more), path)


def test_every_proposal_has_its_reason_and_the_study_is_one(tmp_path):
    pd.DataFrame(PEOPLE).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "s.toml").write_text(drafted(PEOPLE), encoding="utf-8")
    settings = load_study(tmp_path / "s.toml").settings
    assert settings.data.drop == [""]
    assert list(settings.data.left_out) == ["email"]
    assert settings.data.missing == "category"
    assert set(settings.data.bins) == {"age", "hours", "zip", "income"}
    assert settings.data.bins["hours"].codes == ["N"]
    assert settings.threat.unknown == ["income", "diagnosis"]
    assert settings.threat.share_of_columns
    assert settings.threshold is None
    lines = (tmp_path / "s.toml").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        key = line.partition(" = ")[0].strip()
        if line.startswith("    ") or key in (*settings.data.bins, "missing", "unknown", "epsilon"):
            assert "#" in lines[number - 1] or "#" in line, line
    assert max(map(len, lines)) <= 100
    text = "\n".join(lines)
    for said in (
        "looks like an identifier by its name: 400 values",
        "has no name: an index",
        "code for a missing value",
        "the 20 most common stay",
        '`job`: "?" (',
        "people) looks like a code",
        "Empty cells:",
        "each counts by itself",
    ):
        assert said in text.replace("\n# ", " "), said


def test_it_is_the_same_each_time():
    assert drafted(PEOPLE) == drafted(PEOPLE)


def test_a_name_stays_what_it_is_and_where_it_is():
    strange = 'q"x\n[run]\ntrials = 7 # \x7f'
    columns = {
        strange: RNG_DRAFT.integers(0, 90, ROWS),
        "é.b": RNG_DRAFT.choice(["u", "v"], ROWS),
        "c": [1] * 400,
    }
    text = drafted(columns, 'a "b"\\c.csv', unknown=["é.b"])
    found = tomllib.loads(text)
    assert found["data"]["path"] == 'a "b"\\c.csv'
    assert list(found["data"]["bins"]) == [strange]
    assert found["threat"]["unknown"] == ["é.b"]
    assert found["run"]["trials"] == 100


def test_a_packaged_table_and_levels():
    found = tomllib.loads(drafted(PEOPLE, "statsmodels:fair", epsilon=[0.5, float("inf")]))
    assert found["data"]["table"] == "statsmodels:fair"
    assert found["mechanism"]["epsilon"] == [0.5, float("inf")]


def test_what_was_not_looked_at_is_said(monkeypatch):
    monkeypatch.setattr("narcissus.tables.parts._CHUNK", 100)
    frame = pd.DataFrame({"a": ["x", "y"] * 200, "b": [1, 2] * 200})
    text = draft(propose(sketch_table(frame, rows=100)), "x.csv")
    assert "the first 100 rows of 400, and not the rest" in text.replace("\n# ", " ")
    assert 'missing = "category"' in text
    assert "No cell that was looked at is empty" in text


def test_one_column():
    text = drafted({"income": PEOPLE["income"]})
    assert "knows nothing else" in text
    assert tomllib.loads(text)["mechanism"]["k"] == 1


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "`a`"),
        ([""], '""'),
        (["a\nb"], '"a\\nb"'),
        ([str(i) for i in range(14)], "and 2 more"),
    ],
)
def test_names_in_comments(names, text):
    assert text in named(names)


def test_a_table_without_a_header_is_told():
    people = {"m": RNG_DRAFT.choice(["m", "f"], ROWS), "40": 20 + RNG_DRAFT.integers(0, 60, ROWS)}
    for more, told in (({}, True), ({"a": [1, 2] * 200, "b": [1, 2] * 200}, False)):
        frame = pd.DataFrame({**people, **more})
        lines = summary(propose(sketch_table(frame)))
        assert any(line.startswith("no header? `m`, `40` are values") for line in lines) == told


def test_the_summary():
    lines = summary(propose(sketch_table(pd.DataFrame(PEOPLE))))
    assert any(line.startswith("unknown: `income`, `diagnosis`") for line in lines)
    assert 'left out: "", `email`' in lines


GERMAN = {
    "Alter": 9, "Geschlecht": 2, "Bundesland": 3, "Zufriedenheit mit der Wohnsituation": 7,
    "Mietquote": 8, "Status": 3,
}  # fmt: skip


@pytest.mark.parametrize("last", ["Mietquote", "Status", "Zufriedenheit mit der Wohnsituation"])
def test_where_nothing_is_surely_sensitive_the_newcomer_is_asked(last):
    """A rent ratio, or an outcome, is a guess: the choices are named, as a shell takes them."""
    columns = {name: size for name, size in GERMAN.items() if name != last} | {last: GERMAN[last]}
    with pytest.raises(UnsureError, match="nothing is played") as asked:
        propose(sketch(**columns), stand_in=False)
    choices = str(asked.value).partition("with COLUMN of ")[2]
    assert "'Zufriedenheit mit der Wohnsituation'" in choices
    assert "Mietquote" in choices
    assert "Alter" not in choices
    found = propose(sketch(**columns), unknown=[last], stand_in=False)
    assert found.unknown == (last,)


@pytest.mark.parametrize(
    "name", ["Haushaltsnettoeinkommen", "Vorerkrankung", "Konsumschulden", "Sehbehinderung"]
)
def test_a_compound_of_a_secret_is_a_secret(name):
    assert propose(sketch(**GERMAN, **{name: 5}), stand_in=False).unknown == (name,)


def test_no_phrase_of_the_table_of_columns_is_cut():
    found = propose(sketch(**GERMAN, Haushaltsnettoeinkommen=60))
    text = "\n".join(understood(found))
    assert "..." not in text
    assert "`Zufriedenheit mit der Wohnsituation`" in text
    words = " ".join(text.split())
    for word in found.unknown_reason.split():
        assert word in words
    assert max(map(len, text.splitlines())) <= 98
