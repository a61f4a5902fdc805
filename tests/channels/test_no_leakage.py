"""The test of no leakage: its p-value is exact, and it finds what it says that it finds."""

from itertools import islice

import numpy as np
import pytest
from scipy import stats

from narcissus.channels import no_leakage as module
from narcissus.channels.no_leakage import evidence_of_leakage, no_leakage_test
from narcissus.channels.prequential import paid_ahead

from .conftest import refused

REPEATS = pytest.mark.repeats(60, 5000)


def normal(rng, secret):
    return rng.normal(size=len(secret))


def masked(rng, secret):
    mask = rng.integers(2, size=len(secret))
    return np.c_[mask, mask ^ secret] + rng.normal(size=(len(secret), 2)) * 0.4


def ring(rng, secret):
    angle = rng.uniform(0, 2 * np.pi, len(secret))
    around = np.c_[np.cos(angle), np.sin(angle)] * (1 + 0.8 * secret)[:, None]
    return around + rng.normal(size=around.shape) * 0.1


LEAKS = {
    "the level of a column": lambda rng, s: rng.normal(s * 0.8),
    "the spread of a column": lambda rng, s: rng.normal(size=len(s)) * (1 + s),
    "a product of two columns": masked,
    "heavy tails": lambda rng, s: rng.standard_cauchy(len(s)) + 1.5 * s,
    "ring": ring,
    "which outputs come how often": lambda rng, s: np.where(
        rng.random(len(s)) < 0.5, s * 2, rng.integers(3, size=len(s))
    ).astype(str),
    "many columns": lambda rng, s: rng.normal(size=(len(s), 60)) + np.eye(60)[7] * s[:, None],
}


@pytest.mark.parametrize("name", LEAKS)
def test_it_finds_leaks_of_many_kinds(name):
    rng = np.random.default_rng(1)
    secret = rng.integers(2, size=200)
    found = no_leakage_test(secret, LEAKS[name](rng, secret), permutations=199, rng=2)
    assert found.p_value == 1 / 200
    if name in found.alone:
        assert found.alone[name] == 1 / 200
    assert "depend on the secret" in str(found)
    assert found.strongest in found.alone


@pytest.mark.coverage_claim
@REPEATS
@pytest.mark.parametrize("kind", ["continuous", "discrete", "unlike numbers"])
def test_false_alarms_are_as_rare_as_the_p_value_says(kind, repeats):
    """At the level .2, exact; false alarm 1e-6 on either side (ties make it rarer)."""
    rng, alarms = np.random.default_rng(7), 0
    for _ in range(repeats):
        secret = rng.permutation(np.repeat([0, 1, 2], [20, 15, 15]))
        if kind == "unlike numbers":
            secret = rng.permutation(np.repeat([0, 1], [45, 5]))
        shown = rng.integers(4, size=50) if kind == "discrete" else rng.normal(size=(50, 2))
        alarms += no_leakage_test(secret, shown, permutations=19, rng=rng).p_value <= 0.2
    assert alarms <= stats.binom.isf(1e-6, repeats, 0.2)
    assert alarms >= stats.binom.ppf(1e-6, repeats, 0.1 if kind == "discrete" else 0.2)


def test_the_smallest_of_several_p_values_would_be_caught():
    """The test above has power: trying several kinds without paying for it alarms too often."""
    rng, alarms = np.random.default_rng(7), 0
    for _ in range(150):
        secret = rng.integers(2, size=50)
        found = no_leakage_test(secret, rng.normal(size=(50, 2)), permutations=19, rng=rng)
        alarms += min(found.alone.values()) <= 0.2
    assert alarms > stats.binom.isf(1e-6, 150, 0.2)


@pytest.mark.coverage_claim
@REPEATS
@pytest.mark.parametrize("columns", [1, 2])
def test_false_alarms_are_as_rare_where_tables_are_drawn(columns, repeats, monkeypatch):
    """At the level .2; false alarm 1e-6 on either side; 10 of 80 one by one, for neighbours."""
    monkeypatch.setattr(module, "MOST_POINTS", 10)
    rng, alarms = np.random.default_rng(8), 0
    for _ in range(repeats):
        secret, shown = rng.integers(2, size=80), rng.integers(3, size=(80, columns))
        alarms += no_leakage_test(secret, shown, permutations=19, rng=rng).p_value <= 0.2
    assert alarms <= stats.binom.isf(1e-6, repeats, 0.2)
    assert alarms >= stats.binom.ppf(1e-6, repeats, 0.1)


@pytest.mark.parametrize("columns", [1, 2])
def test_tables_that_are_drawn_have_the_law_of_permuted_secrets(columns, monkeypatch):
    """Means of each statistic over 999 ways, within 5 standard errors; the first one is alike."""
    rng = np.random.default_rng(9)
    secret, shown = rng.integers(3, size=400), rng.integers(1, 4, size=(400, columns)) ** 2
    data, values = module.samples(secret, shown), {}
    for most in (20_000, 60):
        monkeypatch.setattr(module, "MOST_POINTS", most)
        singly = module._one_by_one(data, rng)
        assert len(singly) == (400 if most > 400 else 60 * (columns - 1))
        found = dict(module._statistics(data, singly, rng))
        turns = islice(module._handed(data, singly, rng), 1000)
        values[most] = np.array([[one(turn) for one in found.values()] for turn in turns])
    names = [name for name in found if name != "neighbours"]  # of fewer points
    assert len(names) > 2
    for place, name in enumerate(names):
        one, other = values[20_000][:, place], values[60][:, place]
        assert one[0] == pytest.approx(other[0]), name
        room = 5 * np.hypot(one.std(), other.std()) / np.sqrt(999)
        assert abs(one[1:].mean() - other[1:].mean()) < room, name
        assert other[1:].std() == pytest.approx(one[1:].std(), rel=0.2), name


def test_it_says_when_nothing_was_found_and_takes_secrets_with_few_samples(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(module, "MOST_POINTS", 50)
    monkeypatch.setattr(module, "WIDEST", 3)
    secret = np.array([*"ab"] * 60 + ["c"])
    found = no_leakage_test(secret, rng.normal(size=(121, 5)), permutations=99, rng=1)
    assert found.p_value > 0.05
    assert found.secrets == 3
    assert "though there may be some" in str(found)
    refused("`permutations`", no_leakage_test, secret, rng.normal(size=121), permutations=5)


OFTEN = pytest.mark.repeats(50, 5000)


@pytest.mark.states("Narcissus theory", "6.16")
@pytest.mark.coverage_claim
@OFTEN
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.1, 0.2, 0.7]])
def test_the_largest_capital_of_all_times_is_seldom_large(prior, repeats):
    """The level .2, by the largest value in 150 samples; false alarm 1e-6."""
    rng, alarms = np.random.default_rng(2), 0
    names = [str(i) for i in range(len(prior))]
    for _ in range(repeats):
        secret = rng.choice(names, 150, p=prior)
        shown = rng.integers(3, size=150)
        given = dict(zip(names, prior, strict=True))
        found = evidence_of_leakage(secret, shown, given, estimators=["frequentist"])
        alarms += found.p_value <= 0.2
    assert alarms <= stats.binom.isf(1e-6, repeats, 0.2)


def test_secrets_that_never_came_are_among_those_bet_on(monkeypatch):
    """To leave them out would be to know beforehand that they never come."""
    known = []

    def watched(data, *more):
        known.extend(data.names)
        return paid_ahead(data, *more)

    monkeypatch.setattr(module, "paid_ahead", watched)
    evidence_of_leakage(["a", "b"] * 40, np.zeros(80), {"a": 0.25, "b": 0.25, "c": 0.5})
    assert known == ["a", "b", "c"]


def test_what_is_bet_does_not_depend_on_what_comes_later():
    rng = np.random.default_rng(1)
    secret = rng.integers(2, size=600)
    shown = secret ^ (rng.random(600) < 0.35)
    half = [0.5, 0.5]
    least = [evidence_of_leakage(secret[:n], shown[:n], half).log_capital for n in (200, 400, 600)]
    assert 0 < least[0] < least[1] < least[2]
    changed = np.r_[shown[:200], 1 - shown[200:]]
    again = evidence_of_leakage(secret[:200], changed[:200], half)
    assert again.log_capital == least[0]
    assert evidence_of_leakage(secret, changed, half).log_capital >= least[0]


def test_leaks_are_found_and_priors_checked():
    rng = np.random.default_rng(3)
    secret = rng.integers(2, size=400)
    found = evidence_of_leakage(secret, rng.normal(secret), [0.5, 0.5])
    assert found.p_value < 0.001
    assert "whenever one stops" in str(found)
    refused("above 0", evidence_of_leakage, secret, secret, {"0": 1.0, "1": 0.0})
    refused("lacks", evidence_of_leakage, secret, secret, {"0": 1.0})
