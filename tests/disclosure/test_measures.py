"""A file's measures as a steward sees them: reading, proposals, weights, units, errors."""

import numpy as np
import pandas as pd
import pytest

from narcissus import measure_disclosure, read_table
from narcissus.errors import InputError


def survey(people=400, seed=1):
    g = np.random.default_rng(seed)
    return pd.DataFrame({
        "house": np.arange(people) // 2, "age": g.integers(18, 60, people),
        "sex": g.choice(["f", "m"], people), "income": g.integers(0, 9, people),
        "w": np.full(people, 4.0),
    })  # fmt: skip


KNOWN = {"known": ["age", "sex"], "secrets": ["income"]}


def test_known_columns_and_secrets_are_proposed_by_their_names():
    found = measure_disclosure(survey())
    assert found.known == ("age", "sex")
    assert [one.secret for one in found.secrets] == ["income"]


def test_weights_are_the_population_they_sum_to():
    weighted = measure_disclosure(survey(), weights="w", **KNOWN)
    given = measure_disclosure(survey(), population=1600, **KNOWN)
    assert weighted.population == 1600
    assert weighted.to_dict() == given.to_dict()
    alone = measure_disclosure(survey(), **KNOWN)
    assert alone.expected > weighted.expected
    assert alone.population_unique is None


def test_a_file_three_times_over_has_the_people_of_one():
    table = survey().assign(who=np.arange(400))
    thrice = pd.concat([table] * 3)
    one, other = (measure_disclosure(t, unit="who", weights="w", **KNOWN) for t in (table, thrice))
    assert other.rows == 3 * one.rows
    assert other.to_dict() == one.to_dict() | {"rows": 1200, "secrets": other.to_dict()["secrets"]}
    for key in ("distinct", "entropy", "recursive", "closeness", "told", "commonest"):
        assert getattr(other.secrets[0], key) == pytest.approx(getattr(one.secrets[0], key))
    assert measure_disclosure(thrice, **KNOWN).unique == 0  # what rows without a unit look like


def test_households_count_once():
    table = survey()
    found = measure_disclosure(table, unit="house", **KNOWN)
    assert found.people == 200
    keys = table.groupby(["age", "sex"])["house"].nunique()
    assert found.k == keys.min()
    alone = table.set_index(["age", "sex"]).index.isin(keys[keys == 1].index)
    assert found.unique == table.loc[alone, "house"].nunique()


def test_a_suppressed_value_stands_for_any_or_for_itself():
    table = survey().astype({"age": object})
    table.loc[::3, "age"] = "*"
    any_value, own = (measure_disclosure(table, missing=m, **KNOWN) for m in ("any", "value"))
    assert any_value.k > own.k


def test_the_nearest_row_is_somebody_elses():
    """Rows in pairs of one secret: by rows the twin tells it, by households nobody does."""
    g = np.random.default_rng(2)
    secret = np.repeat(g.integers(0, 50, 100), 2)
    table = pd.DataFrame({"age": np.repeat(np.arange(100) * 10, 2) + np.tile([0, 1], 100),
                          "income": secret, "house": np.repeat(np.arange(100), 2)})  # fmt: skip
    by_row = measure_disclosure(table, known=["age"], secrets=["income"])
    by_house = measure_disclosure(table, known=["age"], secrets=["income"], unit="house")
    assert by_row.secrets[0].nearest == 1
    assert by_house.secrets[0].nearest < 0.1
    shuffled = measure_disclosure(table.sample(frac=1, random_state=0), known=["age"],
                                  secrets=["income"], unit="house")  # fmt: skip
    assert shuffled.to_dict() == by_house.to_dict()


@pytest.mark.parametrize("table", [survey(1), survey(6).assign(age=30, sex="f", income=1)])
def test_one_row_and_equal_rows_are_measured(table):
    found = measure_disclosure(table, **KNOWN)
    assert found.k == len(table)
    assert found.secrets[0].closeness == 0
    assert "k-anonymity" in str(found)
    assert len(found.to_frame()) == len(list(found.lines()))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"known": ["aeg", "sex"], "secrets": ["incom"]}, "did you mean `age`(.|\n)*`income`"),
        ({"known": ["age"], "secrets": ["age"]}, "`age` is named twice"),
        ({"weights": "sex", "known": ["age"]}, "weights must be numbers above 0 in every row"),
        ({"weights": "none", **KNOWN}, "weights must be numbers above 0 in every row"),
        ({"weights": "scaled", **KNOWN}, "the weights sum to 200, and the file has 400 people"),
        ({"population": 10, **KNOWN}, "`population` is 10, and the file has 400 people"),
        ({"population": 9e9, "weights": "w", **KNOWN}, "not both"),
        ({"unit": "gaps", **KNOWN}, "row 8 has no `gaps`"),
        ({"missing": "drop", **KNOWN}, "'any' or 'value'"),
    ],
)
def test_what_cannot_be_used_is_refused(how, said):
    table = survey().assign(none=np.arange(400) % 7, scaled=0.5)
    table["gaps"] = [None if at == 7 else at for at in range(400)]
    with pytest.raises(InputError, match=said):
        measure_disclosure(table, **how)


def test_a_table_that_was_read_is_measured():
    table = survey()
    found = measure_disclosure(read_table(table, drop=["house", "w"]), **KNOWN)
    assert found == measure_disclosure(table, **KNOWN)


def test_a_file_whose_names_tell_nothing_asks_what_is_known():
    with pytest.raises(InputError, match="name the columns that an attacker knows"):
        measure_disclosure({"a": [1, 2], "b": [1, 2]})


def test_people_in_groups_below_a_number_are_those_of_smaller_groups_only():
    """Groups of 1, 2, 3, 4, 5 and 6 people: at each edge, each bound is strict."""
    sizes = [1, 2, 3, 4, 5, 6]
    towns = np.repeat([f"t{n}" for n in sizes], sizes)
    frame = pd.DataFrame({"town": towns, "ill": np.arange(sum(sizes)) % 2})
    found = measure_disclosure(frame, known=["town"], secrets=["ill"])
    assert (found.k, found.unique) == (1, 1)
    assert found.below_3 == 1 + 2
    assert found.below_5 == 1 + 2 + 3 + 4
