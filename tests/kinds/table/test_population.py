"""The people of a trial are worked out once for all settings, and change nothing by that."""

import math

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table import Targets
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus.kinds.table import population as module
from narcissus.kinds.table.population import (
    SINGLED,
    UNUSUAL,
    Groups,
    Members,
    TrialStreams,
    proved,
    settings_of,
)
from narcissus.mechanisms import ChosenQueries, Columns, MarginalQueries, Marginals
from narcissus.success import exact_match

SWEEP = {"mechanism": {"epsilon": [0.5, 2.0]}, "run": {"trials": 3}}
ALL = {"threat": {"people": "all", "targets": None}}


@pytest.fixture
def counted(monkeypatch):
    """Count how often something is proved of people."""
    calls = []

    def count(*args):
        calls.append(args)
        return proved(*args)

    monkeypatch.setattr(module, "proved", count)
    return calls


def test_the_settings_of_a_trial_share_its_people(ready):
    experiment = ready(**SWEEP)
    first = experiment.population(0)
    assert experiment.round(0, 0).known[0] is experiment.round(0, 1).known[0] is first.targets
    people = first.inputs.draw.data[0].copy()
    assert experiment.population(1) is not first
    assert (experiment.population(1).inputs.draw.data[0] != people).any()
    np.testing.assert_array_equal(experiment.population(0).inputs.draw.data[0], people)
    queries = experiment.queries
    np.testing.assert_array_equal(first.secrets, queries.joint(people))


@pytest.mark.parametrize("changes", [{}, ALL])
def test_what_is_kept_of_a_trial_does_not_depend_on_those_before(ready, changes):
    keys = [f"{t}/{s}" for t in range(3) for s in range(2)]
    in_order, backwards = ready(**SWEEP, **changes), ready(**SWEEP, **changes)
    one = {key: in_order.play(key) for key in keys}
    other = {key: backwards.play(key) for key in reversed(keys)}
    for key in keys:
        assert one[key].keys() == other[key].keys()
        for name, array in one[key].items():
            np.testing.assert_array_equal(array, other[key][name])


def test_of_the_whole_table_everything_is_proved_once(ready, counted):
    experiment = ready(**SWEEP, **ALL)
    found = [experiment.play(f"{t}/{s}") for t in range(3) for s in range(2)]
    assert len(counted) == 2
    for number in range(2):
        same = [one["bound"].tolist() for one in found[number::2]]
        assert same[0] == same[1] == same[2]
    assert found[0]["bound"][0] < found[1]["bound"][0]
    people = experiment.round(2, 1).draw.data[0]
    np.testing.assert_array_equal(people, experiment.table.codes)


def test_of_people_who_are_drawn_each_is_proved_anew(ready, counted):
    experiment = ready(**SWEEP)
    for key in ("0/0", "0/1", "1/0", "1/1"):
        experiment.play(key)
    assert len(counted) == 4


STUDY = {
    "threat": {"unknown": ["ill"], "targets": 12},
    "groups": {"columns": ["ill", "sex"], "unusual": True, "singled_out": True},
    "mechanism": {"k": 2},
}


def test_everybody_is_in_one_group_of_each_kind(ready):
    experiment = ready(**STUDY)
    groups, played = experiment.groups, experiment.round(0, 0)
    [people], [targets] = played.draw.data, played.known
    secrets = people[:, 4].astype(np.int64)
    masks = groups.members(people, targets, secrets).masks()
    names = [by for by, _ in groups.names]
    assert masks.shape == (len(names), 12)
    for by in set(names):
        own = [g for g, name in enumerate(names) if name == by]
        assert (masks[own].sum(axis=0) == 1).all()
    labels = dict(zip(groups.names, masks, strict=True))
    table = experiment.table
    for column in ("ill", "sex"):
        index = table.index(column)
        for value, label in enumerate(table.labels[index]):
            np.testing.assert_array_equal(labels[column, label], people[:, index] == value)
    chance = targets.prior[np.arange(12), secrets]
    limits = [limit for limit, _ in UNUSUAL]
    for place, (limit, label) in enumerate(UNUSUAL):
        above = limits[place - 1] if place else np.inf
        expected = (chance >= limit) & (chance < above)
        np.testing.assert_array_equal(labels["how unusual the secret is", label], expected)


def test_who_is_alone_in_how_many_tables(ready):
    """Counted from the known columns: with k = 2 each table holds one of them beside the secret."""
    experiment = ready(**{**STUDY, "mechanism": {"k": 2}})
    played = experiment.round(1, 0)
    [people], [targets] = played.draw.data, played.known
    known = [c for c in range(6) if c != 4]
    alone = np.array([
        sum((people[:, c] == people[i, c]).sum() == 1 for c in known) for i in range(12)
    ]) / len(known)  # fmt: skip
    masks = experiment.groups.members(people, targets, people[:, 4].astype(np.int64)).masks()
    labels = dict(zip(experiment.groups.names, masks, strict=True))
    limits = [limit for limit, _ in SINGLED]
    for place, (limit, label) in enumerate(SINGLED):
        above = limits[place - 1] if place else np.inf
        expected = (alone >= limit) & (alone < above)
        found = labels["how often the release singles them out", label]
        np.testing.assert_array_equal(found, expected)
    assert alone.max() > 0
    assert len(set(alone)) > 1


@pytest.mark.parametrize("unusual", [True, False])
@pytest.mark.parametrize("singled", [True, False])
@pytest.mark.parametrize("columns", [[], ["sex"], ["ill", "sex"]])
def test_what_can_be_told_beforehand_and_what_others_decide(ready, columns, unusual, singled):
    experiment = ready(**STUDY)
    groups = Groups.of(experiment.table, columns, unusual, singled)
    told = groups.by_secret(experiment.queries.unknown)
    others = groups.by_others
    assert len(told) == len(others) == len(groups.names)
    for (by, _), secret, other in zip(groups.names, told, others, strict=True):
        assert secret == (by in ("ill", "how unusual the secret is"))
        assert other == (by == "how often the release singles them out")
    assert {by for by, _ in groups.names} == {
        *columns,
        *(["how unusual the secret is"] if unusual else []),
        *(["how often the release singles them out"] if singled else []),
    }


def test_no_groups_are_no_rows(ready):
    experiment = ready(**STUDY)
    none = Groups((), unusual=False, singled_out=False)
    played = experiment.round(0, 0)
    members = none.members(played.draw.data[0], played.known[0], np.zeros(12, int))
    assert members.masks().shape == (0, 12)
    assert members.sums(np.ones((12, 5))).shape == (0, 5)
    assert none.names == []


CODES = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 0], [1, 2, 1]], dtype=np.int32)


def singled(queries):
    """Give the number of the band of each person."""
    known = CODES * [1, 1, 0]
    targets = Targets(queries, known.astype(np.int32), np.full((4, 2), 0.5), exact_match((2,)))
    groups = Groups(columns=(), unusual=False, singled_out=True)
    masks = groups.members(CODES, targets, CODES[:, 2].astype(np.int64)).masks()
    assert masks.sum() == 4
    assert len(groups.names) == len(SINGLED)
    return masks.argmax(axis=0).tolist()


def test_people_who_share_no_known_part_are_alone():
    """Of [a, s] and [b, s]: the first is alone in half, the last in all, the others in none."""
    assert singled(MarginalQueries((2, 3, 2), (2,), 2)) == [0, 3, 3, 0]
    assert singled(MarginalQueries((2, 3, 2), (2,), 1)) == [3, 3, 3, 3]


def test_only_tables_with_an_unknown_column_count():
    """The first is alone in one of two such tables; those of known columns say nothing."""
    more = ((0, 1),) * 4
    assert singled(ChosenQueries((2, 3, 2), (2,), ((0, 2), (1, 2), *more))) == [0, 3, 3, 0]


@pytest.mark.parametrize("block", [3, 5, 1000])
def test_sums_over_members_block_by_block(monkeypatch, block):
    monkeypatch.setattr("narcissus.kinds.table.population.BLOCK", block)
    rng = np.random.default_rng(1)
    members = Members(13, ((rng.integers(0, 4, 13), 5), (rng.integers(0, 2, 13), 2)))
    masks = members.masks()
    assert masks.shape == (7, 13)
    for place, (own, count) in zip((0, 5), members.partitions, strict=True):
        np.testing.assert_array_equal(masks[place : place + count].argmax(axis=0), own)
    for values in (rng.random(13), rng.random((13, 5))):
        expected = [values[mask].sum(axis=0) for mask in masks]
        np.testing.assert_allclose(members.sums(values), expected, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(members.sums(np.ones(13)), masks.sum(axis=1))


def test_few_people_in_large_tables_are_alone_as_in_small_ones():
    """Known parts of far more cells than people are sorted, others counted."""
    rng = np.random.default_rng(2)
    codes = np.stack([*rng.integers(0, 12, (2, 20)), rng.integers(0, 2, 20)], axis=1)
    found = []
    for sizes, scale in (((12, 12, 2), 1), ((12_000, 12_000, 2), 1000)):
        known = (codes * [scale, scale, 0]).astype(np.int32)
        queries = ChosenQueries(sizes, (2,), ((0, 2), (1, 2)))
        targets = Targets(queries, known, np.full((20, 2), 0.5), exact_match((2,)))
        groups = Groups(columns=(), unusual=False, singled_out=True)
        found.append(groups.members(known, targets, codes[:, 2]).masks())
    np.testing.assert_array_equal(found[0], found[1])
    assert 0 < found[0][3].sum() < 20


def columns(tables):
    """Give columns of which so many pairs hold the unknown one."""
    names = tuple(f"c{i}" for i in range(tables + 1))
    return Columns(names, (("a", "b"),) * len(names), (False,) * len(names), (0,))


def one(**options):
    [setting] = settings_of([Marginals(k=2, **options)], columns(6))
    return setting


def delta_of(mu, epsilon):
    """Give the profile of Gaussian DP: Dong et al. 2022, Corollary 1."""
    cdf = stats.norm.cdf
    return cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * cdf(-mu / 2 - epsilon / mu)


def test_laplace_noise_is_pure_and_its_own_point():
    setting = one(noise="laplace", epsilon=1.5)
    assert isinstance(setting.guarantee, PureDP)
    assert setting.guarantee.epsilon == pytest.approx(1.5)
    assert setting.single == setting.guarantee
    assert (setting.epsilon, setting.delta, setting.mu) == (pytest.approx(1.5), 0.0, None)


def test_gaussian_noise_reaches_the_delta_that_it_was_made_for():
    setting = one(epsilon=1.5, delta=1e-3)
    assert isinstance(setting.guarantee, GaussianDP)
    assert setting.mu == setting.guarantee.mu
    assert delta_of(setting.mu, 1.5) == pytest.approx(1e-3, rel=1e-6)
    assert setting.single == ApproximateDP(1.5, 1e-3)
    assert (setting.epsilon, setting.delta) == (1.5, 1e-3)


def test_gaussian_noise_by_mu_is_compared_where_its_profile_reaches_delta():
    setting = one(mu=0.8, delta=1e-4)
    assert setting.mu == pytest.approx(0.8)
    assert delta_of(0.8, setting.epsilon) == pytest.approx(1e-4, rel=1e-6)
    assert setting.single == ApproximateDP(setting.epsilon, 1e-4)
    tiny = one(mu=1e-6)  # delta is nowhere as large as 1e-5
    assert (tiny.epsilon, tiny.single) == (None, None)
    assert tiny.guarantee is not None


@pytest.mark.parametrize("options", [{"epsilon": math.inf}, {"mu": math.inf}, {"scale": 0.0}])
def test_without_noise_nothing_is_guaranteed(options):
    setting = one(**options)
    assert setting.mechanism.noise.scale == 0
    assert setting.guarantee is None
    assert (setting.epsilon, setting.delta, setting.mu, setting.single) == (None,) * 4


def test_more_tables_take_more_noise_for_the_same_guarantee():
    few, many = (settings_of([Marginals(k=2, epsilon=1.0)], columns(n))[0] for n in (4, 16))
    assert many.mechanism.noise.scale == pytest.approx(2 * few.mechanism.noise.scale)
    assert few.guarantee.mu == pytest.approx(many.guarantee.mu)
    pure = [
        settings_of([Marginals(k=2, noise="laplace", epsilon=1.0)], columns(n))[0] for n in (4, 16)
    ]
    assert pure[1].mechanism.noise.scale == pytest.approx(4 * pure[0].mechanism.noise.scale)


def first(rng):
    return int(rng.integers(2**62))


def test_the_settings_of_a_sweep_see_the_same_people_and_shapes_of_noise():
    streams = TrialStreams(5)
    for draws in (streams, streams.decoy):
        one, other, later = draws(3, 0), draws(3, 1), draws(4, 0)
        for part in ("world", "release"):
            same = first(getattr(one, part))
            assert same == first(getattr(other, part))
            assert same != first(getattr(later, part))
    assert first(streams(3, 0).world) != first(TrialStreams(6)(3, 0).world)


@pytest.mark.parametrize("decoy", [False, True])
def test_an_attack_s_chance_does_not_depend_on_which_others_take_part(decoy):
    streams = TrialStreams(5).decoy if decoy else TrialStreams(5)
    seen = {
        (number, place, name): first(streams(number, place).attack(turn, name))
        for number in (0, 1)
        for place in (0, 1)
        for turn, name in enumerate(("gibbs", "rap"))
    }
    assert len(set(seen.values())) == 8
    assert first(streams(1, 1).attack(7, "rap")) == seen[1, 1, "rap"]


def test_no_two_parts_share_a_generator():
    streams = TrialStreams(5)
    every = [
        first(rng)
        for sources in (streams(0, 0), streams.decoy(0, 0))
        for rng in (sources.world, sources.release, sources.attack(0, "a"))
    ]
    assert len(set(every)) == 6
