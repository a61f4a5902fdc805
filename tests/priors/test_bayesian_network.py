"""The network's answers against enumeration of the whole joint distribution."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from narcissus.errors import InputError, TooLargeError
from narcissus.priors import BayesianNetwork, RecordPrior, bayesian_network, fit_bayesian_network
from narcissus.priors.bayesian_network import (
    _bdeu,
    _bic,
    best_structure,
    climb_structure,
)
from narcissus.tables import Bins, CountedTable, Table, read_table

from .conftest import as_table, planted

FALSE_ALARM = 1e-6


def random_network(seed, d, zeros=False):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, size=d)
    order = rng.permutation(d)
    parents = [()] * d
    for position, j in enumerate(order):
        count = int(rng.integers(0, min(3, position) + 1))
        parents[j] = tuple(int(p) for p in rng.choice(order[:position], size=count, replace=False))
    tables = []
    for j in range(d):
        weights = rng.gamma(0.5, size=(*(sizes[p] for p in parents[j]), sizes[j])) + 1e-3
        if zeros:
            weights *= rng.random(weights.shape) < 0.8
            weights[..., 0] += 0.1
        tables.append(weights / weights.sum(axis=-1, keepdims=True))
    return BayesianNetwork(tuple(f"c{j}" for j in range(d)), tuple(parents), tuple(tables))


def all_records(sizes):
    return np.array(list(itertools.product(*(range(s) for s in sizes))), dtype=np.int32)


def joint(network):
    """Multiply the factors record by record, in plain Python."""
    records = all_records(network.sizes)
    probabilities = []
    for record in records:
        product = 1.0
        for j, table in enumerate(network.tables):
            product *= table[(*(record[p] for p in network.parents[j]), record[j])]
        probabilities.append(product)
    return np.array(probabilities).reshape(network.sizes)


@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 6),
    data=st.data(),
    zeros=st.booleans(),
)
def test_conditional_is_that_of_the_enumerated_joint(seed, d, data, zeros):
    network = random_network(seed, d, zeros)
    unknown = data.draw(st.permutations(range(d)))[: data.draw(st.integers(1, d))]
    full = joint(network)
    known = [j for j in range(d) if j not in unknown]
    codes = all_records(network.sizes)
    if zeros:
        codes = codes[[full[tuple(r)] > 0 for r in codes]]
    expected = []
    for row in codes:
        index = [slice(None)] * d
        for j in known:
            index[j] = row[j]
        rest = sorted(unknown)
        block = full[tuple(index)].transpose([rest.index(u) for u in unknown])
        expected.append((block / block.sum()).ravel())
    hidden = codes.copy()
    hidden[:, unknown] = -99  # what stands there must not matter
    answer = network.conditional(hidden, unknown)
    np.testing.assert_allclose(answer, expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(answer.sum(axis=1), 1, rtol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 5))
def test_log_probability_is_that_of_the_enumerated_joint(seed, d):
    network = random_network(seed, d)
    full = joint(network)
    assert full.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(
        network.log_probability(all_records(network.sizes)), np.log(full.ravel()), rtol=1e-10
    )


@pytest.mark.parametrize("seed", range(3))
def test_samples_follow_the_enumerated_joint(seed):
    network = random_network(seed, 4)
    full = joint(network).ravel()
    n = 40_000
    codes = network.sample(n, rng=seed)
    assert codes.dtype == np.int32
    assert codes.shape == (n, 4)
    counts = np.bincount(np.ravel_multi_index(codes.T, network.sizes), minlength=full.size)
    tail = FALSE_ALARM / (2 * 3 * full.size)
    assert (counts >= binom.ppf(tail, n, full)).all()
    assert (counts <= binom.isf(tail, n, full)).all()


def test_repeated_people_get_the_same_answer_as_single_ones():
    network = random_network(11, 5)
    codes = network.sample(40, rng=2)
    many = np.tile(codes, (50, 1))
    np.testing.assert_array_equal(
        network.conditional(many, (3, 1)), np.tile(network.conditional(codes, (3, 1)), (50, 1))
    )


def test_chunks_do_not_change_the_answer(monkeypatch):
    network = random_network(12, 6)
    codes = all_records(network.sizes)
    whole = network.conditional(codes, (0, 5))
    monkeypatch.setattr("narcissus.priors.bayesian_network._CHUNK_BYTES", 200)
    np.testing.assert_array_equal(whole, network.conditional(codes, (0, 5)))


def test_fitted_tables_are_smoothed_counts():
    codes = np.array([[0, 0]] * 6 + [[0, 1]] * 2 + [[1, 1]] * 7 + [[1, 0]])
    table = Table(("x", "y"), (("0", "1"), ("0", "1")), (True, True), codes)
    network = fit_bayesian_network(table, smoothing=0.5)
    child = 0 if network.parents[0] else 1
    assert network.parents[child] == (1 - child,)
    counts = np.array([[6.0, 2.0], [1.0, 7.0]]) + 0.5
    expected = counts / counts.sum(axis=1, keepdims=True)
    if child == 0:
        expected = (counts / counts.sum(axis=0)).T
    np.testing.assert_allclose(network.tables[child], expected)


def test_fit_is_deterministic_and_ignores_the_order_of_rows():
    table = as_table(planted(), 2_000, 4)
    shuffled = np.random.default_rng(1).permutation(table.codes)
    other = Table(table.names, table.labels, table.ordered, shuffled)
    first, second = fit_bayesian_network(table), fit_bayesian_network(other)
    assert first.parents == second.parents
    for a, b in zip(first.tables, second.tables, strict=True):
        np.testing.assert_array_equal(a, b)


def test_fair():
    table = read_table("statsmodels:fair", bins={"affairs": Bins(above=0)})
    network, apart = fit_bayesian_network(table), fit_bayesian_network(table, parents=0)
    assert (network.names, apart.parents) == (table.names, ((),) * table.columns)
    assert max(map(len, network.parents)) <= 2
    answer = network.conditional(table.codes, [table.index("affairs")])
    share = (table.codes[:, -1] == 1).mean()
    assert answer[:, 1].mean() == pytest.approx(share, abs=0.01)
    assert answer.max(axis=1).mean() > max(share, 1 - share)
    assert "affairs" in network.describe()
    likelihoods = [n.log_probability(table.codes).sum() for n in (network, apart)]
    assert likelihoods[0] > likelihoods[1]


@pytest.mark.parametrize(
    ("name", "how", "rows", "column", "success"),
    [
        # theory, section 9: 0.582 in the prototype, with a standard error of 0.004
        (
            "acs_employment_ny2018_20k.csv.gz",
            {"drop": ["ESR"], "bins": {"AGEP": Bins(width=10)}},
            (20_000, 16),
            "SEX",
            0.582,
        ),
        ("fire_10col.csv.gz", {}, (305_119, 10), "ALS Unit", 0.721),
    ],
)
def test_the_best_guess_of_example_data(example_data, name, how, rows, column, success):
    table = read_table(example_data(name), **how)
    assert (table.rows, table.columns) == rows
    network = fit_bayesian_network(table)
    people = network.sample(20_000, rng=1)
    best = network.conditional(people, [table.index(column)]).max(axis=1).mean()
    assert best == pytest.approx(success, abs=0.012)


def test_too_large_joints_say_how_large():
    shares = np.full(100, 0.01)
    network = BayesianNetwork(("a", "b", "c"), ((),) * 3, (shares,) * 3)
    with pytest.raises(TooLargeError, match=r"1,000,000 joint values \(100 x 100 x 100\)"):
        network.conditional(np.zeros((1, 3), dtype=np.int32), [0, 1, 2])
    with pytest.raises(TooLargeError, match=r"30,000 rows need 2\.4 GB"):
        network.conditional(np.zeros((30_000, 3), dtype=np.int32), [0, 1])


BAD = np.array([[0, 0, 7, 0]])


@pytest.mark.parametrize(
    ("unknown", "change", "said"),
    [
        ([], lambda c: c, "at least one column"),
        ([0, 0], lambda c: c, r"different positions in 0\.\.3"),
        ([4], lambda c: c, r"different positions in 0\.\.3"),
        ([-1], lambda c: c, r"different positions in 0\.\.3"),
        ([0], lambda c: c[:, :3], r"shape \(n, 4\)"),
        ([0], lambda c: c.astype(float), "must be integers"),
        ([0], lambda c: c + BAD, r"column 2 must be in 0\.\..*got \d in row 0"),
    ],
)
def test_bad_questions(unknown, change, said):
    network = random_network(1, 4)
    codes = np.zeros((3, 4), dtype=np.int32)
    with pytest.raises(InputError, match=said):
        network.conditional(change(codes), unknown)
    with pytest.raises(InputError, match="column 2"):
        network.log_probability(codes + BAD)
    assert isinstance(network, RecordPrior)


def test_impossible_known_part():
    parents, first = ((), (0,)), np.array([1.0, 0.0])
    network = BayesianNetwork(("x", "y"), parents, (first, np.array([[1.0, 0.0], [0.5, 0.5]])))
    with pytest.raises(InputError, match="impossible"):
        network.conditional(np.array([[0, 1]]), [0])


@pytest.mark.parametrize(
    ("parents", "tables", "message"),
    [
        (((1,), (0,)), (np.full((2, 2), 0.5), np.full((2, 2), 0.5)), "cycle"),
        (((), (0,)), (np.full(2, 0.5), np.full(2, 0.5)), "shape"),
        (((), ()), (np.full(2, 0.6), np.full(2, 0.5)), "sum to 1"),
        (((), ()), (np.array([np.nan, 1]), np.full(2, 0.5)), "probabilities"),
        (((0,), ()), (np.full((2, 2), 0.5), np.full(2, 0.5)), "different other columns"),
        (((),), (np.full(2, 0.5),), "names"),
    ],
)
def test_networks_that_make_no_sense(parents, tables, message):
    with pytest.raises(InputError, match=message):
        BayesianNetwork(("x", "y"), parents, tables)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parents": -1}, "parents"),
        ({"parents": 1.5}, "parents"),
        ({"smoothing": 0}, "smoothing"),
        ({"smoothing": float("nan")}, "smoothing"),
        ({"score": "bix"}, "did you mean `bic`"),
    ],
)
def test_bad_fit_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        fit_bayesian_network(as_table(planted(), 50, 1), **arguments)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 4), most=st.integers(0, 3))
def test_exact_search_is_the_best_of_all_graphs(seed, d, most):
    scores = {}
    rng = np.random.default_rng(seed)
    for j in range(d):
        others = [p for p in range(d) if p != j]
        for size in range(d):
            for own in itertools.combinations(others, size):
                scores[j, own] = rng.normal()

    def acyclic(graph):
        return any(
            all(set(graph[j]) <= set(order[:k]) for k, j in enumerate(order))
            for order in itertools.permutations(range(d))
        )

    def total(graph):
        return sum(scores[j, own] for j, own in enumerate(graph))

    choices = [[own for (k, own) in scores if k == j and len(own) <= most] for j in range(d)]
    best = max(total(graph) for graph in itertools.product(*choices) if acyclic(graph))
    for search in (best_structure, climb_structure):
        found = search(d, min(most, d - 1), lambda j, own: scores[j, own])
        assert acyclic(found)
        assert all(len(own) <= most for own in found)
        if search is best_structure:
            assert total(found) == pytest.approx(best, abs=1e-9)
        else:
            assert total(found) <= best + 1e-9
            assert total(found) >= total(((),) * d)


def test_many_columns_are_climbed():
    rng = np.random.default_rng(3)
    first = rng.integers(0, 2, size=3000)
    columns = [first]
    for _ in range(24):
        columns.append(np.where(rng.random(3000) < 0.85, columns[-1], 1 - columns[-1]))
    names = tuple(f"c{j}" for j in range(25))
    table = Table(names, (("0", "1"),) * 25, (True,) * 25, np.column_stack(columns))
    network = fit_bayesian_network(table)
    edges = {frozenset((p, j)) for j, own in enumerate(network.parents) for p in own}
    assert {frozenset((j, j + 1)) for j in range(24)} <= edges


def skeleton_and_colliders(parents):
    """Give what all Markov equivalent networks share (Verma and Pearl)."""
    edges = {frozenset((p, j)) for j, own in enumerate(parents) for p in own}
    colliders = {
        (frozenset((a, b)), j)
        for j, own in enumerate(parents)
        for a, b in itertools.combinations(own, 2)
        if frozenset((a, b)) not in edges
    }
    return edges, colliders


@pytest.mark.parametrize("score", ["bic", "bdeu"])
@pytest.mark.parametrize("seed", range(3))
def test_search_recovers_a_planted_structure(score, seed):
    truth = planted()
    found = fit_bayesian_network(as_table(truth, 20_000, seed), score=score)
    assert skeleton_and_colliders(found.parents) == skeleton_and_colliders(truth.parents)


def test_scores_against_plain_formulas():
    rng = np.random.default_rng(8)
    counts = rng.integers(0, 9, size=(3, 4)).astype(float)
    counts[1] = 0
    n = int(counts.sum())
    likelihood = sum(c * math.log(c / row.sum()) for row in counts if row.sum() for c in row if c)
    assert _bic(counts, n) == pytest.approx(likelihood - 0.5 * math.log(n) * 3 * 3, rel=1e-12)
    bdeu = sum(
        math.lgamma(1 / 3)
        - math.lgamma(1 / 3 + row.sum())
        + sum(math.lgamma(1 / 12 + c) - math.lgamma(1 / 12) for c in row)
        for row in counts
    )
    assert _bdeu(counts, n) == pytest.approx(bdeu, rel=1e-10)


def counted(table):
    """Give the distinct records of a table with their counts."""
    records, counts = np.unique(table.codes, axis=0, return_counts=True)
    return CountedTable(table.names, table.labels, table.ordered, records, counts)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
@pytest.mark.parametrize("n", [70, 5000])
def test_a_counted_table_gives_the_same_network_to_the_last_digit(score, n):
    table = as_table(planted(), n, seed=4)
    whole, again = (fit_bayesian_network(t, 2, 0.3, score) for t in (table, counted(table)))
    assert whole.parents == again.parents
    for one, other in zip(whole.tables, again.tables, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("step", [7, 10**6])
@pytest.mark.parametrize("room", [0, 20, 10**6])
def test_families_are_counted_as_numpy_counts_them(step, room, monkeypatch):
    monkeypatch.setattr(bayesian_network, "_STEP", step)
    table = as_table(planted(), 50, seed=5)
    few = counted(table)
    for families in (
        bayesian_network._Families(table.codes, table.sizes, "bic"),
        bayesian_network._Families(few.records, few.sizes, "bic", few.counts),
    ):
        families._room = room
        assert families.rows == 50
        for columns in [(3,), (2, 0), (0, 2), (1, 4, 2), (4, 2, 1), (2, 1, 4), (2, 0)]:
            *parents, child = columns
            expected = np.zeros([table.sizes[c] for c in columns])
            np.add.at(expected, tuple(table.codes[:, c] for c in columns), 1)
            found = families.counts(child, tuple(parents))
            np.testing.assert_array_equal(found, expected)
            assert found.flags.c_contiguous
