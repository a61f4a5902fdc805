"""Counts of a trial: the least of the theorem's forms, what is reached, and near-fair values."""

import numpy as np
import pytest

from narcissus.bounds import (
    PoissonBinomial,
    coin_tails,
    interpolation_tails,
    reached_tails,
    split_chances,
    swap_program,
    threat,
)
from narcissus.bounds.interpolation import target_multipliers
from narcissus.guarantees import ApproximateDP, BayesSecurity, GaussianDP, PureDP
from narcissus.study.table import counts
from narcissus.study.table.bound_summary import bound_results
from narcissus.study.table.counts import (
    at_most_if_fair,
    count_tails,
    evenness,
    mean_tails,
    packed,
    reached,
    unpacked,
)

STUDY = {
    "threat": {"unknown": ["ill"], "targets": 12},
    "mechanism": {"epsilon": None, "mu": 0.8},
    "bounds": {"confidence": [0.9, 0.7]},
    "run": {"trials": 10},
}


@pytest.fixture
def targets(ready):
    return ready(**STUDY).known(0)


def test_the_least_of_all_forms_person_by_person(targets):
    guarantee, epsilon = GaussianDP(0.8), 0.4
    rows, mu, o, c = target_multipliers(targets.prior, guarantee, epsilon)
    found = count_tails(targets, guarantee, epsilon, o, c)
    forms = [interpolation_tails(o, c)]
    for q in (0.25, 0.5, round(float(o.mean()), 2)):
        forms.append(coin_tails(o, c, *split_chances(rows, mu, q), q))
    assert found == pytest.approx(np.min(forms, axis=0), abs=1e-14)
    assert (found < forms[0] - 1e-4).any()
    assert (np.diff(found) <= 0).all()


def test_a_coin_needs_exact_match_few_people_and_something_that_leaks(targets, ready, monkeypatch):
    o, c = np.full(12, 0.6), np.full(12, 0.01)
    plain = interpolation_tails(o, c)
    none = count_tails(targets, PureDP(1.0), 1.0, o, np.zeros(12))
    assert none == pytest.approx(interpolation_tails(o, np.zeros(12)))
    threat_to_one = {**STUDY["threat"], "unknown": ["ill", "age"], "at_least": 1}
    near = ready(**{**STUDY, "threat": threat_to_one}).known(0)
    assert count_tails(near, GaussianDP(0.8), 0.4, o, c).tolist() == plain.tolist()
    assert reached(near, GaussianDP(0.8)) is None
    assert evenness(near) is None
    monkeypatch.setattr(counts, "COIN_PEOPLE", 11)
    assert count_tails(targets, GaussianDP(0.8), 0.4, o, c).tolist() == plain.tolist()


def test_what_some_mechanism_reaches(targets, monkeypatch):
    exactly = reached(targets, ApproximateDP(1.0, 0.01))
    assert exactly == pytest.approx(reached_tails(targets.prior, ApproximateDP(1.0, 0.01)))
    roughly, finely = reached(targets, GaussianDP(0.8)), reached_tails(
        targets.prior, GaussianDP(0.8)
    )  # fmt: skip
    assert (roughly <= finely + 1e-12).all()
    assert roughly == pytest.approx(finely, abs=0.02)
    assert reached(targets, BayesSecurity(0.5)) is None
    monkeypatch.setattr(counts, "REACHED_PEOPLE", 11)
    assert reached(targets, GaussianDP(0.8)) is None


def test_evenness_is_of_the_worst_person(targets):
    prior = np.asarray(targets.prior)
    assert evenness(targets) == pytest.approx([prior.max(), (prior**2).sum(axis=1).min()])


def test_fair_people_have_the_number_of_the_swap_program():
    guarantee = GaussianDP.from_epsilon_delta(1.0, 1e-5)
    fair = np.array([0.5, 0.5])
    most = at_most_if_fair(fair, 30, guarantee, 0.95)
    danger = threat(prior=0.5, targets=30, inseparable=0.5)
    assert most is not None
    assert swap_program(danger, guarantee, int(most.value) + 1) <= 0.05
    assert swap_program(danger, guarantee, int(most.value)) > 0.05
    assert at_most_if_fair(np.array([0.6, 0.52]), 30, guarantee, 0.95) is None
    assert at_most_if_fair(fair, 30, PureDP(1.0), 0.95) is None
    assert at_most_if_fair(fair, 1000, guarantee, 0.95) is None


def test_limits_of_the_program_stand_beside_those_that_they_are_below(ready, made_up):
    made = made_up(ready(**STUDY), 10)
    ones = np.append(np.ones(13), 0.0)  # nothing else is proved
    trials = [{**t, "tails/0": ones, "tails/1": ones} for t in made.trials]
    found = bound_results(made.experiment, 0, trials)
    assert "swap-program" not in [b.id for b in found]
    fair = [{**t, "evenness": np.array([0.5, 0.5])} for t in trials]
    found = [b for b in bound_results(made.experiment, 0, fair) if "swap" in b.id]
    expected = [at_most_if_fair(np.array([0.5, 0.5]), 12, GaussianDP(0.8), x) for x in (0.9, 0.7)]
    assert [b.at_most for b in found] == [int(b.value) for b in expected if b is not None]
    assert [b.at_most_of_population for b in found] == [None, None]
    one = [*fair[1:], {**fair[0], "evenness": np.array([0.6, 0.5])}]  # one person is not
    assert not [b for b in bound_results(made.experiment, 0, one) if "swap" in b.id]


def test_what_is_reached_is_kept_and_left_out_where_it_is_not_known(ready, made_up):
    made = made_up(ready(**STUDY), 10)
    found = bound_results(made.experiment, 0, made.trials)
    assert "reached" not in found[0].model_dump()
    low = made.tails[:, 0].mean(axis=0) / 2
    trials = [{**t, "reached": low} for t in made.trials]
    found = bound_results(made.experiment, 0, trials)
    assert found[0].model_dump()["reached"] == int(np.argmax(low[1:] <= 0.1))
    assert found[0].reached <= found[0].at_most


def table_of(chances, spent):
    table = np.minimum(PoissonBinomial(chances).tails() + spent, 1.0)
    table[-1] = 0.0
    return table


def test_of_few_people_all_is_kept():
    table = table_of(np.full(20, 0.3), 0.01)
    kept = packed("tails/0", table)
    assert list(kept) == ["tails/0"]
    assert kept["tails/0"] is table
    np.testing.assert_array_equal(unpacked(kept, "tails/0", 20), table)


@pytest.mark.parametrize("chance", [0.0001, 0.3, 0.9999])
@pytest.mark.parametrize("spent", [0.0, 0.02, 0.7, 2.0])
def test_of_many_people_nothing_is_too_small(monkeypatch, chance, spent):
    """With 40 standard deviations kept, the rest is told to the last digit that counts."""
    n = 20_000
    monkeypatch.setattr(counts, "KEPT", 4000)
    table = table_of(np.full(n, chance), spent)
    kept = packed("published", table)
    assert kept["published"].shape == (4000,)
    whole = unpacked(kept, "published", n)
    assert whole.shape == table.shape
    assert (whole >= table).all()
    assert (np.diff(whole) <= 0).all()
    np.testing.assert_allclose(whole, table, rtol=0, atol=1e-100)


def test_means_are_over_whole_tables(monkeypatch):
    monkeypatch.setattr(counts, "KEPT", 700)
    tables = [table_of(np.full(3000, chance), 0.01) for chance in (0.2, 0.5, 0.6)]
    trials = [packed("tails/0", table) for table in tables]
    np.testing.assert_allclose(mean_tails(trials, "tails/0", 3000), np.mean(tables, axis=0))
    few = [{"tails/0": table} for table in tables]
    np.testing.assert_array_equal(mean_tails(few, "tails/0", 3000), np.mean(tables, axis=0))
