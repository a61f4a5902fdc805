"""The network's answers against enumeration of the whole joint distribution."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from narcissus.errors import InputError, TooLargeError
from narcissus.priors import BayesianNetwork, RecordPrior, bayesian_network, fit_bayesian_network
from narcissus.priors.bayesian_network import (
    _bdeu,
    _bic,
    _Families,
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
@settings(max_examples=60, deadline=None)
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
@settings(max_examples=30, deadline=None)
def test_log_probability_is_that_of_the_enumerated_joint(seed, d):
    network = random_network(seed, d)
    full = joint(network)
    assert full.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(
        network.log_probability(all_records(network.sizes)), np.log(full.ravel()), rtol=1e-10
    )


@pytest.mark.parametrize("seed", range(3))
def test_samples_follow_the_enumerated_joint(seed):
    """Every cell's count within binomial limits; all cells together miss once in 1e6 runs."""
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


def test_samples_depend_on_the_seed_only():
    network = random_network(5, 4)
    assert (network.sample(100, rng=3) == network.sample(100, rng=3)).all()
    assert (network.sample(100, rng=3) != network.sample(100, rng=4)).any()
    assert network.sample(0, rng=1).shape == (0, 4)


def test_it_is_a_record_prior():
    assert isinstance(random_network(1, 3), RecordPrior)


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


def test_no_parents_means_independent_columns():
    network = fit_bayesian_network(as_table(planted(), 500, 1), parents=0)
    assert network.parents == ((),) * 6


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
    network = fit_bayesian_network(table)
    assert network.names == table.names
    assert max(map(len, network.parents)) <= 2
    answer = network.conditional(table.codes, [table.index("affairs")])
    share = (table.codes[:, -1] == 1).mean()
    assert answer[:, 1].mean() == pytest.approx(share, abs=0.01)
    assert answer.max(axis=1).mean() > max(share, 1 - share)
    assert "affairs" in network.describe()
    assert network.log_probability(table.codes).sum() > (
        fit_bayesian_network(table, parents=0).log_probability(table.codes).sum()
    )


def test_acs(example_data):
    """Theory, section 9: the prior attack on SEX succeeds with 0.582 in the prototype."""
    path = example_data("acs_employment_ny2018_20k.csv.gz")
    table = read_table(path, drop=["ESR"], bins={"AGEP": Bins(width=10)})
    network = fit_bayesian_network(table)
    people = network.sample(20_000, rng=1)
    best = network.conditional(people, [table.index("SEX")]).max(axis=1).mean()
    # 150 trials of 100 people: one standard error of the prototype is 0.004.
    assert best == pytest.approx(0.582, abs=0.012)


def test_fire(example_data):
    table = read_table(example_data("fire_10col.csv.gz"))
    assert (table.rows, table.columns) == (305_119, 10)
    network = fit_bayesian_network(table)
    people = network.sample(20_000, rng=1)
    best = network.conditional(people, [table.index("ALS Unit")]).max(axis=1).mean()
    assert best == pytest.approx(0.721, abs=0.012)


@pytest.mark.parametrize(
    ("unknown", "message"),
    [
        ([], "at least one column"),
        ([0, 0], r"different positions in 0\.\.3"),
        ([4], r"different positions in 0\.\.3"),
        ([-1], r"different positions in 0\.\.3"),
    ],
)
def test_bad_unknown_columns(unknown, message):
    network = random_network(1, 4)
    with pytest.raises(InputError, match=message):
        network.conditional(network.sample(3, rng=1), unknown)


def test_bad_codes():
    network = random_network(1, 4)
    codes = network.sample(3, rng=1)
    with pytest.raises(InputError, match=r"shape \(n, 4\)"):
        network.conditional(codes[:, :3], [0])
    with pytest.raises(InputError, match="must be integers"):
        network.conditional(codes.astype(float), [0])
    codes[1, 2] = 7
    with pytest.raises(InputError, match=r"column 2 must be in 0\.\..*got 7 in row 1"):
        network.conditional(codes, [0])
    with pytest.raises(InputError, match="column 2"):
        network.log_probability(codes)


def uniform_network(sizes):
    names = tuple(f"c{j}" for j in range(len(sizes)))
    return BayesianNetwork(
        names, ((),) * len(sizes), tuple(np.full(size, 1 / size) for size in sizes)
    )


def test_too_large_joints_say_how_large():
    network = uniform_network((100, 100, 100))
    with pytest.raises(TooLargeError, match=r"1,000,000 joint values \(100 x 100 x 100\)"):
        network.conditional(np.zeros((1, 3), dtype=np.int32), [0, 1, 2])
    with pytest.raises(TooLargeError, match=r"30,000 rows need 2\.4 GB"):
        network.conditional(np.zeros((30_000, 3), dtype=np.int32), [0, 1])


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


def test_sizes_that_nobody_has_stay_possible():
    """A label without people (an empty bin) keeps a place and some probability."""
    codes = np.array([[0, 0], [2, 1], [0, 1], [2, 0]])
    table = Table(("x", "y"), (("a", "b", "c"), ("0", "1")), (False, True), codes)
    network = fit_bayesian_network(table)
    assert network.sizes == (3, 2)
    assert np.isfinite(network.log_probability(np.array([[1, 0]]))).all()


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 4), most=st.integers(0, 3))
@settings(max_examples=25, deadline=None)
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


def test_climbing_comes_near_the_best_network_of_fair():
    table = read_table("statsmodels:fair", bins={"affairs": Bins(above=0)})
    families = _Families(table.codes, table.sizes, "bic")

    def total(parents):
        return sum(families.score(j, own) for j, own in enumerate(parents))

    empty = total(((),) * table.columns)
    best = total(best_structure(table.columns, 2, families.score))
    climbed = total(climb_structure(table.columns, 2, families.score))
    assert empty < climbed <= best + 1e-6
    assert climbed - empty > 0.95 * (best - empty)


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
    """BIC and BDeu from their definitions, cell by cell."""
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
    """Whichever column is the child, with or without room to keep what was counted."""
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


def test_the_search_is_the_same_whichever_way_a_table_was_read(monkeypatch):
    """Whether all graphs are looked at is decided by a length that both ways have."""
    for n in (70, 5000):
        table = as_table(planted(), n, seed=6)
        few = counted(table)
        lengths = {
            bayesian_network._Families(table.codes, table.sizes, "bic").length,
            bayesian_network._Families(few.records, few.sizes, "bic", few.counts).length,
        }
        assert len(lengths) == 1
