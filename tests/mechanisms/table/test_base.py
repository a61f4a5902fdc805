"""What a mechanism of a table study is told, offers and releases."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus.mechanisms import (
    Columns,
    MarginalQueries,
    Microdata,
    Prepared,
    ProtectedCounts,
    PublishedRows,
    TableMechanism,
)
from narcissus.mechanisms.table.base import DEFAULT_DELTA, epsilon_at
from narcissus.mechanisms.table.protected import RoundedTo


def gaussian_delta(epsilon, mu):
    """Dong, Roth and Su 2022, Corollary 2.13, from SciPy's distribution."""
    low, high = -epsilon / mu - mu / 2, -epsilon / mu + mu / 2
    return stats.norm.cdf(high) - math.exp(epsilon + stats.norm.logcdf(low))


@pytest.mark.parametrize(("mu", "delta"), [(0.3, 1e-5), (1.0, 1e-3), (1.0, 0.3), (3.0, 1e-12)])
def test_the_point_of_gaussian_dp(mu, delta):
    expected = optimize.brentq(lambda e: gaussian_delta(e, mu) - delta, 0, 100, xtol=1e-13)
    assert epsilon_at(GaussianDP(mu), delta) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (1.0, 0.4), (20.0, 0.1)])
def test_the_point_of_pure_dp_is_that_of_randomized_response(epsilon, delta):
    """Its chances are e^eps and 1 over their sum, so delta(x) = (e^eps - e^x) / (e^eps + 1)."""
    expected = math.log(math.exp(epsilon) - delta * (math.exp(epsilon) + 1))
    assert epsilon_at(PureDP(epsilon), delta) == pytest.approx(expected, rel=1e-8)


def test_a_large_epsilon_is_found():
    """About mu^2 / 2 where mu is large."""
    assert epsilon_at(GaussianDP(2000.0), 0.5) == pytest.approx(2e6, rel=0.01)


@pytest.mark.parametrize(
    ("guarantee", "delta"),
    [
        (GaussianDP(1.0), 0.0),
        (GaussianDP(1.0), stats.norm.cdf(0.5) - stats.norm.cdf(-0.5)),  # no epsilon is needed
        (PureDP(1.0), 0.99),
        (ApproximateDP(1.0, 1e-3), 1e-4),  # no epsilon is enough
    ],
)
def test_some_deltas_have_no_epsilon(guarantee, delta):
    assert epsilon_at(guarantee, delta) is None


def test_a_delta_just_above_that_of_the_guarantee_has_one():
    assert 0.99 < epsilon_at(ApproximateDP(1.0, 1e-3), 1.0001e-3) <= 1.0


class Plan(TableMechanism):
    label, title = "mine", "Something"

    def prepare(self, columns):
        return PublishedRows().prepare(columns)


def test_a_plan_says_no_more_than_it_knows(columns):
    plan = Plan()
    assert plan.strength is None
    assert plan.point(GaussianDP(1.0)) == (epsilon_at(GaussianDP(1.0), 1e-5), DEFAULT_DELTA)
    assert plan.point(ApproximateDP(1.0, 0.1)) == (None, 1e-5)
    prepared: Prepared = plan.prepare(columns)
    assert prepared.releases.__name__ == "Microdata"


@pytest.mark.parametrize("member", ["label", "title", "prepare"])
def test_a_plan_must_be_called_something_and_prepare(member):
    members = {name: vars(Plan)[name] for name in ("label", "title", "prepare") if name != member}
    with pytest.raises(TypeError, match=f"abstract .*{member}"):
        type("Half", (TableMechanism,), members)()


GOOD = {"age": ["young"], "job": ["cook"], "ill": ["no"]}


def test_people_as_labels(columns):
    frame = columns.frame(np.array([[2, 3, 0], [0, 2, 1], [2, 1, 1]]))
    assert list(frame.columns) == ["age", "job", "ill"]
    assert frame.to_numpy().tolist() == [
        ['very "old"', "é\nà", "no"],
        ["young", "", "yes"],
        ['very "old"', "1", "yes"],
    ]
    for name, labels in zip(columns.names, columns.labels, strict=True):
        assert frame[name].cat.categories.tolist() == list(labels)  # those of nobody as well
        assert not frame[name].cat.ordered


def test_labels_and_back(columns, people):
    frame = columns.frame(people)
    codes = columns.codes(frame, of="the release")
    assert codes.dtype == np.int32
    np.testing.assert_array_equal(codes, people)
    turned = frame.iloc[:, ::-1].astype(object)
    turned.index = range(100, 160)
    np.testing.assert_array_equal(columns.codes(turned, of="the release"), people)


def test_nobody_is_no_error(columns, people):
    none = columns.frame(people[:0])
    assert none.shape == columns.codes(none, of="the release").shape == (0, 3)


def test_names_and_values_are_read_by_their_text():
    columns = Columns(("7", "b"), (("1", "2.5"), ("True", "False")), (False,) * 2, (0,))
    frame = pd.DataFrame({"b": [False, True], 7: [2.5, "1"]})
    assert columns.codes(frame, of="the release").tolist() == [[1, 1], [0, 0]]


def test_sizes(columns):
    assert columns.sizes == (3, 4, 2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"age": None, "ill": None}, "the file lacks the columns 'age', 'ill'"),
        ({"new": ["x"], "old": ["x"]},
         "the file has columns that were not in the data: 'new', 'old'"),
        ({"ill": ["maybe"]}, "column 'ill' of the file has values that were not in the data: "
         "'maybe'"),
        ({"ill": [None]}, "column 'ill' of the file has values that were not in the data: 'None'"),
        ({"job": [1.5]}, "column 'job' of the file has values that were not in the data: '1.5'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(columns, changes, said):
    given = {name: values for name, values in (GOOD | changes).items() if values is not None}
    with pytest.raises(InputError) as caught:
        columns.codes(pd.DataFrame(given), of="the file")
    assert str(caught.value) == said


def test_a_column_twice_is_named_once(columns):
    frame = pd.DataFrame([["young", "cook", "no", "old, or so"]])
    frame.columns = ["age", "job", "ill", "age"]
    with pytest.raises(InputError, match=r"^the file has the columns 'age' twice$"):
        columns.codes(frame, of="the file")


def test_of_many_strange_values_five_are_named_in_order(columns):
    def said(values):
        frame = pd.DataFrame({"age": values, "job": "cook", "ill": "no"})
        with pytest.raises(InputError) as caught:
            columns.codes(frame, of="the file")
        return str(caught.value).partition("data: ")[2]

    assert said([*"edcba", "young", "a"]) == "'a', 'b', 'c', 'd', 'e'"
    assert said([*"fedcba"]) == "'a', 'b', 'c', 'd', 'e' ..."


def test_a_missing_value_is_none_of_the_labels():
    """Also where a label reads as one does."""
    columns = Columns(("a",), (("nan", "x"),), (False,), (0,))
    with pytest.raises(InputError, match="not in the data: 'nan'"):
        columns.codes(pd.DataFrame({"a": ["x", np.nan]}), of="the file")
    assert columns.codes(pd.DataFrame({"a": ["x", "nan"]}), of="the file").tolist() == [[1], [0]]


QUERIES = MarginalQueries((2, 3), (1,), 2)


ROWS = np.array([[0, 0], [0, 0], [1, 2], [0, 1]], dtype=np.int32)


def test_rows_are_counted_as_of_so_many_people():
    alike = Microdata(ROWS).counts(QUERIES, 4)
    np.testing.assert_array_equal(alike, QUERIES.counts(ROWS))
    assert sorted(alike) == [0, 0, 0, 1, 1, 2]
    np.testing.assert_allclose(Microdata(ROWS).counts(QUERIES, 10), 2.5 * alike)


def test_each_table_of_counted_rows_has_as_many_people():
    queries = MarginalQueries((2, 3, 2), (1, 2), 2)
    rows = np.array([[0, 2, 1], [1, 2, 0], [1, 0, 0]], dtype=np.int32)
    assert Microdata(rows).counts(queries, 7).sum() == pytest.approx(7 * queries.tables)


def test_no_rows_are_no_counts():
    np.testing.assert_array_equal(Microdata(ROWS[:0]).counts(QUERIES, 9), np.zeros(6))


def test_cells_are_each_by_their_own_rule_if_nothing_else_is_said():
    release = ProtectedCounts(QUERIES, RoundedTo(3), np.zeros(6))
    assert release.cellwise
    assert not ProtectedCounts(QUERIES, RoundedTo(3), np.zeros(6), cellwise=False).cellwise
    with pytest.raises(AttributeError):
        release.cells = np.ones(6)


def test_releases_are_told_apart_by_which_they_are_and_not_by_their_numbers():
    """Arrays have no truth value: comparing them by their fields would raise."""
    assert Microdata(ROWS) != Microdata(ROWS)
    one = ProtectedCounts(QUERIES, RoundedTo(3), np.zeros(6))
    assert len({one, one, ProtectedCounts(QUERIES, RoundedTo(3), np.zeros(6))}) == 2
