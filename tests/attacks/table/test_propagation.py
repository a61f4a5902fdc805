"""Belief propagation over rounded and withheld cells, against enumeration."""

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table import propagation as room
from narcissus.attacks.table.base import Simulated, view_of
from narcissus.attacks.table.propagation import (
    LEVELS,
    LIMIT,
    CountSets,
    learned_overlap,
    passes,
    propagated_beliefs,
    reader_of,
    runs_of,
    table_factors,
    usual_overlap,
)
from narcissus.mechanisms import ProtectedCounts

RULES = ["rounded", "random", "withheld"]


WORLDS = [
    pytest.param(11, (2, 2), (1,), 2, id="one table, two values"),
    pytest.param(10, (2, 2, 3, 2), (0,), 3, id="three tables, two values"),
    pytest.param(7, (3, 2, 2), (0,), 2, id="two tables, three values"),
    pytest.param(5, (2, 2, 3), (0, 1), 2, id="two unknown columns"),
]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), WORLDS)
@pytest.mark.repeats(5, 12, "seeds")
@pytest.mark.one_in(3)
def test_near_the_exact_posterior(worlds, people, sizes, unknown, k, name, seeds):
    """Decisions lose at most a tenth of what the release gives, in exact chances of being right."""
    lost, gained, moved = [], [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        targets, secrets = worlds.world(
            rng, people=people, sizes=sizes, unknown=unknown, k=k, concentration=2.0
        )
        release = worlds.protect(targets, worlds.rules[name], secrets, rng)
        exact = worlds.protected_posterior(targets, release)
        found = propagated_beliefs(view_of(targets, release), usual_overlap(targets), 1.0)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        rows = np.arange(people)
        best = exact.max(axis=1)
        lost.append((best - exact[rows, found.argmax(axis=1)]).mean())
        gained.append((best - exact[rows, targets.prior.argmax(axis=1)]).mean())
        moved.append([np.abs(b - exact).mean() for b in (found, targets.prior)])
    assert np.mean(gained) > 0.01
    assert np.mean(lost) < 0.15 * np.mean(gained)
    ours, prior = np.mean(moved, axis=0)
    assert ours < 0.5 * prior


def test_impossible_values_stay_impossible(worlds):
    rng = np.random.default_rng(6)
    targets, _ = worlds.world(rng, people=20, sizes=(2, 4), unknown=(1,), k=2)
    targets.prior[:, 2] = 0
    targets.prior[:] /= targets.prior.sum(axis=1, keepdims=True)
    secrets = np.where(targets.prior[:, 1] > 0.3, 1, 0)
    release = worlds.protect(targets, worlds.rules["rounded"], secrets, rng)
    assert (propagated_beliefs(view_of(targets, release), 1.0, 1.0)[:, 2] == 0).all()


def test_a_prior_that_is_wrong_gives_way(worlds):
    """Real rows: the prior rules out what a person has, the release leaves nothing else."""
    rng = np.random.default_rng(7)
    targets, _ = worlds.world(rng, people=12, sizes=(2, 3), unknown=(1,), k=2)
    targets.prior[:] = [1.0, 0.0, 0.0]
    release = worlds.protect(targets, worlds.rules["withheld"], np.full(12, 1), rng)
    found = propagated_beliefs(view_of(targets, release), 1.0, 1.0)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found.argmax(axis=1) == 1).all()


def test_nothing_published_leaves_the_prior(worlds):
    rng = np.random.default_rng(8)
    targets, _ = worlds.world(rng, people=12, sizes=(2, 3), unknown=(1,), k=2)
    everything = np.full(targets.queries.cells, np.nan)
    release = ProtectedCounts(targets.queries, Silent(), everything)
    np.testing.assert_allclose(
        propagated_beliefs(view_of(targets, release), 1.0, 1.0), targets.prior, atol=1e-9
    )


class Silent:
    """Every cell is withheld, whatever its count."""

    title = "withheld"

    def log_likelihood(self, cells, counts):
        return np.zeros(np.broadcast_shapes(cells.shape, counts.shape))


def test_people_are_taken_in_blocks(worlds, monkeypatch):
    """Memory is bounded, and beliefs are the same."""
    rng = np.random.default_rng(9)
    targets, secrets = worlds.world(rng, people=30, sizes=(2, 3, 2), unknown=(1,), k=2)
    release = worlds.protect(targets, worlds.rules["random"], secrets, rng)
    whole = propagated_beliefs(view_of(targets, release), 2.0, 1.0)
    monkeypatch.setattr("narcissus.attacks.table.propagation.BLOCK", 7)
    np.testing.assert_allclose(
        propagated_beliefs(view_of(targets, release), 2.0, 1.0), whole, rtol=1e-12
    )


def test_tables_of_two_unknown_columns_sum_and_spread(worlds):
    rng = np.random.default_rng(10)
    targets, secrets = worlds.world(rng, people=6, sizes=(2, 2, 3), unknown=(0, 2), k=2)
    release = worlds.protect(targets, worlds.rules["rounded"], secrets, rng)
    joint = rng.random((6, 6))
    for table in table_factors(targets, reader_of(view_of(targets, release), 1.0)):
        place = joint.reshape(6, 2, 3)
        wanted = {(0,): place.sum(axis=2), (1,): place.sum(axis=1), (0, 1): joint}[
            table.pattern.columns
        ]
        np.testing.assert_allclose(table.pattern.sum_to(joint), wanted)
        back = table.whole(wanted).reshape(6, 2, 3)
        np.testing.assert_allclose(
            table.pattern.sum_to(back.reshape(6, 6)), wanted * (6 // wanted.shape[1])
        )


def test_the_overlap_is_learned_where_tables_repeat_each_other(worlds):
    """The level learned recovers as much on its releases as any other does."""
    rng = np.random.default_rng(11)
    simulated = []
    for _ in range(4):
        targets, secrets = worlds.world(
            rng, people=80, sizes=(2, 3, 2, 3, 2), unknown=(0,), k=3, concentration=2.0
        )
        release = worlds.protect(targets, worlds.rules["rounded"], secrets, rng)
        simulated.append(Simulated(targets, release, secrets))

    def share(overlap):
        beliefs = [
            propagated_beliefs(view_of(s.targets, s.release), overlap, 1.0) for s in simulated
        ]
        return np.mean(
            [
                (b.argmax(axis=1) == s.secrets).mean()
                for b, s in zip(beliefs, simulated, strict=True)
            ]
        )

    learned, found = learned_overlap(simulated, 1.0)
    assert learned in LEVELS
    shares = [share(level) for level in LEVELS]
    assert share(learned) == found == max(shares) > min(shares)


def test_passes_give_the_levels_one_by_one(worlds):
    rng = np.random.default_rng(12)
    targets, secrets = worlds.world(rng, people=20, sizes=(2, 3, 2), unknown=(0,), k=2)
    release = worlds.protect(targets, worlds.rules["rounded"], secrets, rng)
    every = list(passes(view_of(targets, release), LEVELS, 1.0))
    assert len(every) == len(LEVELS)
    for place in (0, 5, len(LEVELS) - 1):
        again = propagated_beliefs(view_of(targets, release), float(LEVELS[place]), 1.0)
        np.testing.assert_array_equal(again, every[place])


def published(worlds, name, counts, seed=0):
    return worlds.rules[name].publish(counts.astype(float), np.random.default_rng(seed))


def chance(rule, cells, counts):
    return np.exp(rule.log_likelihood(np.asarray(cells), np.asarray(counts, dtype=float)))


@pytest.mark.parametrize("name", RULES)
def test_runs_are_the_counts_that_the_rule_allows(worlds, name):
    counts = np.array([[0, 3, 4], [9, 1, 0], [2, 2, 12]])
    rule, people = worlds.rules[name], counts.sum(axis=1)
    cells = published(worlds, name, counts)
    runs = runs_of(rule, cells, people)
    for number, cell in enumerate(cells.ravel()):
        every = np.arange(people[number // 3] + 1)
        wanted = chance(rule, cell, every)
        found = np.zeros(every.size)
        for place in np.flatnonzero(runs.cell == number):
            found[runs.low[place] : runs.high[place] + 1] += runs.weight[place]
        np.testing.assert_allclose(found, wanted / wanted.max(), atol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_two_cells_are_one_count(worlds, name):
    """Both cells of a group say something of one number, and what they say is multiplied."""
    counts = np.array([[5, 2], [1, 0], [0, 8]])
    rule, people = worlds.rules[name], counts.sum(axis=1)
    cells = published(worlds, name, counts)
    runs = runs_of(rule, cells, people)
    for g, (zero, one) in enumerate(cells):
        every = np.arange(people[g] + 1)
        wanted = chance(rule, one, every) * chance(rule, zero, people[g] - every)
        found = np.zeros(every.size)
        for place in np.flatnonzero(runs.cell == g):
            found[runs.low[place] : runs.high[place] + 1] += runs.weight[place]
        np.testing.assert_allclose(found, wanted / wanted.max(), atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", RULES)
def test_log_odds_against_the_sum_over_counts(worlds, name, size):
    """The others' count is a normal distribution cut into whole numbers."""
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, (12, size))
    counts[0] = 0
    counts[0, 0] = 1  # somebody alone
    rule, people = worlds.rules[name], counts.sum(axis=1)
    keep = people > 0
    counts, people = counts[keep], people[keep]
    cells = published(worlds, name, counts)
    evidence = CountSets.of(rule, cells, people)
    width = 1 if size == 2 else size
    mean = np.maximum(counts[:, -width:] + rng.normal(0, 1, (len(people), width)), 0)
    deviation = rng.uniform(0.5, 2, mean.shape)
    found = evidence.log_odds(np.arange(len(people)), mean, deviation)
    for g, total in enumerate(people):
        others = np.arange(total)
        for v in range(width):
            law = stats.norm(mean[g, v], deviation[g, v])
            mass = law.cdf(others + 0.5) - law.cdf(others - 0.5)
            full = np.arange(total + 1)
            column = v + size - width
            says = chance(rule, cells[g, column], full)
            if size == 2:
                says = says * chance(rule, cells[g, 0], total - full)
            else:  # a cell leaves at most what the least of the others does
                least = [
                    [full[chance(rule, cells[g, w], full) > 0][k] for w in range(size) if w != v]
                    for k in (0, -1)
                ]
                says = says * (full <= total - sum(least[0])) * (full >= total - sum(least[1]))
            with np.errstate(divide="ignore"):
                wanted = np.log(mass @ says[1:]) - np.log(mass @ says[:-1])
            assert found[g, v] == pytest.approx(np.clip(wanted, -LIMIT, LIMIT), abs=1e-6)


def test_what_no_count_explains_says_nothing(worlds):
    """A release that contradicts its rule: no information, and no error."""
    cells = np.array([[7.0, 7.0, 7.0]])  # no multiples of three
    evidence = CountSets.of(worlds.rules["rounded"], cells, np.array([9]))
    odds = evidence.log_odds(np.zeros(1, dtype=int), np.full((1, 3), 3.0), np.ones((1, 3)))
    np.testing.assert_allclose(odds, 0, atol=1e-3)


def test_beliefs_far_from_the_release_still_pull(worlds):
    """Six deviations are enough: finite, and in the right direction."""
    cells = np.array([[30.0, 3.0, 6.0]])
    evidence = CountSets.of(worlds.rules["rounded"], cells, np.array([39]))
    nobody = np.zeros(1, dtype=int)
    far = evidence.log_odds(nobody, np.array([[1e3, -1e3, 6.0]]), np.ones((1, 3)))
    assert -LIMIT <= far[0, 0] < -4
    assert 4 < far[0, 1] <= LIMIT


def test_a_scale_is_learned_step_by_step_while_more_are_right(monkeypatch):
    tried = []

    def overlap(simulated, scale):
        tried.append(scale)
        return 1.0, 1 - abs(np.log2(scale / room.USUAL_SCALE) - 2) / 10

    monkeypatch.setattr(room, "learned_overlap", overlap)
    monkeypatch.setattr(room, "SCALES", (room.USUAL_SCALE / 16, room.USUAL_SCALE * 16))
    assert room.learned_scale([]) == 4 * room.USUAL_SCALE
    steps = [scale / room.USUAL_SCALE for scale in tried]
    assert steps == [1.0, 0.5, 2.0, 4.0, 8.0]
