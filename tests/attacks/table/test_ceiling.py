"""The ceiling: the exact conditionals given all other secrets, and above every attack."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from narcissus.attacks.table import (
    Ceiling,
    GibbsSampling,
    MeanField,
    PriorGuess,
    RelaxedProjection,
    Targets,
)
from narcissus.attacks.table import ceiling as room
from narcissus.attacks.table.ceiling import (
    EliminatedCeiling,
    beliefs_alone,
    insider_beliefs,
    insider_chances,
    posterior_factors,
    work,
)
from narcissus.attacks.table.factored import FactoredCeiling
from narcissus.errors import InputError, TooLargeError
from narcissus.knowledge.columns import FactoredInsider, Insider
from narcissus.mechanisms import (
    Columns,
    GaussianNoise,
    Grouping,
    LaplaceNoise,
    MarginalQueries,
    NoNoise,
    RandomRounding,
    Rounding,
    Suppression,
)
from narcissus.success import ColumnShare, ColumnsRight

from .conftest import factored_of, release, world

TINY = [
    pytest.param(6, (2, 3, 2), (0,), 2, id="one unknown"),
    pytest.param(7, (2, 2, 3), (1,), 1, id="one unknown, k 1"),
    pytest.param(4, (2, 3, 2), (0, 2), 2, id="two unknown"),
]


LISTED = (
    ((0, 2), (3, 1), (2,), (2, 0), (3,), (1,), (0,), (4, 0)),
    (Grouping(2, (0, 1, 1)), Grouping(1, (0, 0, 1))),
)


INSIDE = [
    *TINY,
    pytest.param(9, (2, 3, 3), (2,), LISTED, id="one unknown, listed"),
    pytest.param(7, (2, 3, 3), (2, 0), LISTED, id="two unknown, listed"),
]


@pytest.fixture(params=[False, True], ids=["few", "as many"])
def many(request, monkeypatch):
    """Take the way of many people for few, a few at a time."""
    if request.param:
        monkeypatch.setattr(sys.modules[insider_beliefs.__module__], "PAIRWISE_LIMIT", 0)
        monkeypatch.setattr(sys.modules[insider_beliefs.__module__], "BLOCK", 6)
        monkeypatch.setattr(sys.modules["narcissus.attacks.table.shards"], "BLOCK", 12)


@pytest.mark.usefixtures("many")
@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize("noise", [GaussianNoise(1.2), LaplaceNoise(1.2), NoNoise()])
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), INSIDE)
def test_ceiling_against_enumeration(worlds, people, sizes, unknown, k, noise):
    """The ceiling's beliefs are the exact conditionals given all other secrets."""
    rng = np.random.default_rng(21)
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    targets.prior[people // 2 :] = targets.prior[0]  # some people are alike
    release = worlds.release(targets, noise, secrets, rng)
    found = insider_beliefs(release, Insider(targets, secrets))
    for i in range(people):
        logs = []
        for value in range(targets.prior.shape[1]):
            other = secrets.copy()
            other[i] = value
            if noise.scale == 0:
                same = targets.queries.counts(worlds.complete(targets, other)) == release.cells
                log = 0.0 if same.all() else -np.inf
            else:
                log = worlds.log_density(targets, noise, release.cells, other)
            logs.append(log + targets.log_prior[i, value])
        expected = np.exp(np.array(logs) - max(logs))
        np.testing.assert_allclose(found[i], expected / expected.sum(), atol=1e-9)


PROTECTED = [
    *TINY,
    pytest.param(7, (2, 3, 2), (0, 2), 1, id="two unknown, k 1"),
    pytest.param(7, (2, 2, 3), (2, 0), 3, id="two unknown, k 3"),
    pytest.param(9, (2, 3, 3), (2,), LISTED, id="one unknown, listed"),
    pytest.param(7, (2, 3, 3), (2, 0), LISTED, id="two unknown, listed"),
]


def rounded(base):
    """Return the chance of a cell that is rounded half up, in whole numbers."""
    return lambda cell, count: float(cell == (2 * count + base) // (2 * base) * base)


def randomly_rounded(base):
    def chance(cell, count):
        low = count // base * base
        return {low: (low + base - count) / base, low + base: (count - low) / base}.get(cell, 0.0)

    return chance


def withheld(*counts):
    return lambda cell, count: float(np.isnan(cell) if count in counts else cell == count)


def of_cell(planned, chance):
    return pytest.param(planned, chance, id=f"{type(planned).__name__} {planned.label}")


RULES = [
    of_cell(Rounding(base=1), rounded(1)),
    of_cell(Rounding(base=2), rounded(2)),
    of_cell(Rounding(base=3), rounded(3)),
    of_cell(RandomRounding(base=2), randomly_rounded(2)),
    of_cell(RandomRounding(base=3), randomly_rounded(3)),
    of_cell(Suppression(threshold=2), withheld(1)),
    of_cell(Suppression(threshold=4), withheld(1, 2, 3)),
    of_cell(Suppression(threshold=3, zeros=False), withheld(0, 1, 2)),
]


def protected(worlds, targets, secrets, planned, rng):
    """Release the tables of these people as planned."""
    queries = targets.queries
    columns = Columns(
        tuple("abcdefgh"[: len(queries.sizes)]),
        tuple(tuple(map(str, range(size))) for size in queries.sizes),
        (False,) * len(queries.sizes),
        queries.unknown,
    )
    prepared = replace(planned.prepare(columns), queries=queries)
    [release] = prepared.release(worlds.complete(targets, secrets)[None], rng)
    return release


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize(("planned", "chance"), RULES)
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), PROTECTED)
@pytest.mark.one_in(3)
def test_ceiling_of_protected_cells_against_enumeration(
    worlds, people, sizes, unknown, k, planned, chance
):
    """Bayes' rule over each person's values, with the chance of every cell of the release."""
    informed = 0
    for seed in range(3):
        rng = np.random.default_rng([22, seed])
        targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
        release = protected(worlds, targets, secrets, planned, rng)
        found = insider_beliefs(release, Insider(targets, secrets))
        for i in range(people):
            weights = []
            for value in range(targets.prior.shape[1]):
                other = secrets.copy()
                other[i] = value
                counts = targets.queries.counts(worlds.complete(targets, other)).astype(int)
                chances = [chance(*pair) for pair in zip(release.cells, counts, strict=True)]
                weights.append(np.prod(chances) * targets.prior[i, value])
            expected = np.array(weights) / sum(weights)
            np.testing.assert_allclose(found[i], expected, atol=1e-9)
        informed += (np.abs(found - targets.prior).max(axis=1) > 1e-3).sum()
    assert informed


def test_protected_cells_of_many_people_are_read_in_chunks(worlds, monkeypatch):
    rng = np.random.default_rng(23)
    targets, secrets = worlds.world(rng, people=20, sizes=(2, 3, 3), unknown=(2, 0), k=LISTED)
    insider = Insider(targets, secrets)
    release = protected(worlds, targets, secrets, RandomRounding(base=3), rng)
    whole = insider_beliefs(release, insider)
    room = sys.modules[insider_beliefs.__module__]
    monkeypatch.setattr(
        room, "chunks", lambda _: [slice(a, min(a + 7, 20)) for a in range(0, 20, 7)]
    )
    np.testing.assert_array_equal(insider_beliefs(release, insider), whole)


def test_protected_cells_have_the_last_word_over_a_wrong_prior(worlds):
    rng = np.random.default_rng(24)
    targets, secrets = worlds.world(rng, people=5, sizes=(3, 2), unknown=(0,), k=2)
    targets.prior[np.arange(5), secrets] = 0
    targets.prior[:] /= targets.prior.sum(axis=1, keepdims=True)
    release = protected(worlds, targets, secrets, Rounding(base=1), rng)
    [guess] = Ceiling().attempt([release], [Insider(targets, secrets)], rng)
    np.testing.assert_array_equal(guess, secrets)


def test_cells_that_depend_on_each_other_have_no_ceiling(worlds):
    """Read cell by cell, they would seem to tell less than they do."""
    rng = np.random.default_rng(25)
    targets, secrets = worlds.world(rng, people=9, sizes=(3, 3), unknown=(0,), k=2)
    planned = Suppression(threshold=3, secondary=True)
    release = protected(worlds, targets, secrets, planned, rng)
    with pytest.raises(InputError, match="depend on each other"):
        insider_chances(release, Insider(targets, secrets))


@pytest.mark.usefixtures("many")
def test_ceiling_survives_a_prior_that_rules_out_the_truth(worlds):
    """Real rows may be impossible under a prior; exact counts then have the last word."""
    rng = np.random.default_rng(4)
    targets, secrets = worlds.world(rng, people=5, sizes=(3, 2), unknown=(0,), k=2)
    targets.prior[np.arange(5), secrets] = 0
    targets.prior[:] /= targets.prior.sum(axis=1, keepdims=True)
    release = worlds.release(targets, NoNoise(), secrets, rng)
    [guess] = Ceiling().attempt([release], [Insider(targets, secrets)], rng)
    np.testing.assert_array_equal(guess, secrets)


def test_what_is_kept_for_one_release_is_not_taken_for_another(worlds):
    rng = np.random.default_rng(5)
    targets, secrets = worlds.world(rng, people=8, sizes=(3, 2), unknown=(0,), k=2)
    noise, insider = GaussianNoise(1.0), Insider(targets, secrets)
    first, second = (worlds.release(targets, noise, secrets, rng) for _ in range(2))
    one = insider_chances(first, insider)
    assert insider_chances(first, insider) is one
    np.testing.assert_array_equal(
        insider_chances(second, insider), insider_beliefs(second, insider)
    )
    assert (insider_chances(second, insider) != one).any()
    other = Insider(targets, (secrets + 1) % 3)
    assert (insider_chances(first, other) != one).any()


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.coverage_claim
@pytest.mark.parametrize("noise", [NoNoise(), GaussianNoise(4.0), LaplaceNoise(4.0)])
@pytest.mark.parametrize(
    ("unknown", "success"),
    [
        ((0,), None),
        ((1, 2), ColumnsRight((3, 2), (1, 0), 1)),
        ((3,), ColumnsRight((5,), (1,))),
    ],
)
@pytest.mark.repeats(20, 60)
@pytest.mark.one_in(3)
def test_no_attack_is_above_the_ceiling(worlds, unknown, success, noise, repeats):
    """Many worlds each; paired test of the mean gap, false alarm 1e-6 for each attack."""
    attacks = [
        PriorGuess(),
        MeanField(),
        GibbsSampling(sweeps=40),
        RelaxedProjection(steps=30),
        RelaxedProjection(start="prior", steps=30),
    ]
    gaps = np.zeros((repeats, len(attacks)))
    for seed in range(repeats):
        rng = np.random.default_rng([77, seed])
        targets, secrets = worlds.world(
            rng, people=15, sizes=(2, 3, 2, 5), unknown=unknown, k=2, success=success
        )
        release = worlds.release(targets, noise, secrets, rng)
        score = targets.success.score
        [best] = Ceiling().attempt([release], [Insider(targets, secrets)], rng)
        top = score(secrets, best).mean()
        for place, attack in enumerate(attacks):
            [guess] = attack.attempt([release], [targets], rng)
            gaps[seed, place] = top - score(secrets, guess).mean()
    for gap in gaps.T:
        if gap.std() > 0:
            assert stats.ttest_1samp(gap, 0, alternative="less").pvalue > 1e-6
    if success is None:  # where there is much to gain, it is gained
        assert gaps[:, 1].mean() < gaps[:, 0].mean()
        assert gaps[:, 2].mean() < gaps[:, 3].mean()


SIZES, UNKNOWN, SHAPE = (3, 4, 3, 2), (1, 2, 3), (4, 3, 2)


CRITERIA = [
    ColumnsRight(SHAPE),
    ColumnShare(SHAPE),
    ColumnShare(SHAPE, (1.0, 0.0, 0.0)),
]


COARSE = ((0, 4), (0, 1), (2,), (0, 1, 3)), (Grouping(of=1, groups=(0, 1, 1, 0)),)


NOISES = [GaussianNoise(1.0), LaplaceNoise(0.8), NoNoise()]


def both(noise, success, tables, seed=0, people=30):
    rng = np.random.default_rng(seed)
    targets, secrets = world(
        rng, people=people, sizes=SIZES, unknown=UNKNOWN, k=tables, success=success,
        concentration=0.5,
    )  # fmt: skip
    counts = release(targets, noise, secrets, rng)
    told = FactoredInsider(factored_of(targets), targets.queries.split(secrets))
    return counts, Insider(targets, secrets), told


@pytest.mark.parametrize("tables", [1, 3, COARSE])
@pytest.mark.parametrize("noise", NOISES)
def test_its_factors_are_the_posterior_of_joint_values(noise, tables, monkeypatch):
    """For each person, every joint value; some people at a time."""
    counts, insider, told = both(noise, ColumnsRight(SHAPE), tables)
    expected = insider_beliefs(counts, insider)
    monkeypatch.setattr(room, "HELD", 500)
    parts = list(posterior_factors(counts, told))
    assert len(parts) > 1
    every = np.stack(np.unravel_index(np.arange(24), SHAPE), axis=1)
    found = np.concatenate([
        np.stack([f.log_weights(np.tile(x, (f.people, 1))) for x in every], axis=1)
        for f in parts
    ])  # fmt: skip
    found = np.exp(found - found.max(axis=1, keepdims=True))
    assert found / found.sum(axis=1, keepdims=True) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("success", CRITERIA)
def test_nobody_who_knows_all_other_secrets_decides_better(noise, success):
    """By the exact chances of all guesses; and sampling may fall short of it."""
    counts, insider, told = both(noise, success, 2, seed=1)
    chances = insider_chances(counts, insider)
    rng = np.random.default_rng(2)
    reached = []
    for ceiling in (EliminatedCeiling(), FactoredCeiling(sweeps=3, chains=1)):
        [guess] = ceiling.attempt([counts], [told], rng)
        joint = np.ravel_multi_index(tuple(guess.T), success.guess_shape)
        reached.append(chances[np.arange(30), joint])
    assert reached[0] == pytest.approx(chances.max(axis=1), abs=1e-9)
    if noise.scale > 0:
        assert reached[1].mean() < reached[0].mean() - 1e-6


def test_nobodys_own_secret_is_used():
    """Another value of one person, counted as such: the release is all that tells."""
    counts, _, told = both(GaussianNoise(1.0), ColumnsRight(SHAPE), 2)
    other = told.secrets.copy()
    other[0] = (other[0] + 1) % np.array(SHAPE)
    [guess] = EliminatedCeiling().attempt([counts], [told], None)
    [again] = EliminatedCeiling().attempt(
        [counts], [FactoredInsider(told.targets, other.astype(np.int32))], None
    )
    assert (guess[0] == again[0]).all()
    assert (guess != again).any()  # the others are told of it


def test_a_prior_that_rules_out_exact_counts_gives_way_to_them():
    counts, _, told = both(NoNoise(), ColumnsRight(SHAPE), 3)
    table = told.targets.factors.tables[0].copy()
    table[(np.arange(30), *told.secrets.T)] = -np.inf
    factors = replace(told.targets.factors, tables=(table,))
    wrong = replace(told, targets=replace(told.targets, factors=factors))
    [guess] = EliminatedCeiling().attempt([counts], [wrong], None)
    assert (guess == told.secrets).all()  # three-way tables tell everything but the order


def test_work_is_that_of_the_widest_ties():
    """One-way tables leave the prior's own ties; three-way tables tie all columns."""
    _, _, told = both(GaussianNoise(1.0), ColumnsRight(SHAPE), 1)
    tables = np.zeros((30, 4)), np.zeros((30, 3, 2))
    loose = replace(told.targets.factors, scopes=((0,), (1, 2)), tables=tables)
    targets = replace(told.targets, factors=loose)
    assert work(targets) == 30 * (4 + 6 + 2)
    assert work(told.targets) == 30 * (24 + 6 + 2)


def test_too_wide_ties_are_refused(monkeypatch):
    from narcissus.priors import elimination

    _, _, told = both(GaussianNoise(1.0), ColumnsRight(SHAPE), 3)
    monkeypatch.setattr(elimination, "MAX_CLIQUE", 23)
    with pytest.raises(TooLargeError):
        work(told.targets)


SIZES_ALONE, UNKNOWN_ALONE = (2, 3, 2, 2), (2,)


def targets_of(chance, people, sizes=SIZES_ALONE, unknown=UNKNOWN_ALONE):
    """People of whom a value has the same chances each; two-way tables."""
    queries = MarginalQueries(sizes, unknown, 2)
    codes = np.zeros((people, len(sizes)), dtype=np.int32)
    shape = tuple(sizes[c] for c in unknown)
    return Targets(queries, codes, np.tile(chance, (people, 1)), ColumnsRight(shape))


@pytest.mark.parametrize("scale", [0.7, 2.0, 6.0])
def test_two_values_under_gaussian_noise_have_their_closed_form(scale):
    """Three tables: two normal distributions sqrt(6) / scale apart; z-tests at 1e-6."""
    p, people = 0.7, 40_000
    found = beliefs_alone(targets_of([p, 1 - p], people), GaussianNoise(scale), rng(1))
    d = np.sqrt(2 * 3) / scale
    cut = np.log(p / (1 - p)) / d
    right = p * stats.norm.cdf(d / 2 + cut) + (1 - p) * stats.norm.cdf(d / 2 - cut)
    largest = found.max(axis=1)
    assert abs(largest.mean() - right) < 4.9 * largest.std() / people**0.5
    # the release moves a chance, but not on average
    assert abs(found[:, 0].mean() - p) < 4.9 * found[:, 0].std() / people**0.5
    assert found.sum(axis=1) == pytest.approx(1)


def test_laplace_noise_moves_odds_no_further_than_its_epsilon():
    noise = LaplaceNoise(2.0)
    found = beliefs_alone(targets_of([0.5, 0.5], 3000), noise, rng(2))
    odds = np.abs(special.logit(found[:, 0]))
    assert odds.max() <= noise.guarantee(3).epsilon + 1e-9
    assert odds.max() > 0.9 * noise.guarantee(3).epsilon


def test_without_noise_everything_is_seen():
    found = beliefs_alone(targets_of([0.2, 0.8], 2000), NoNoise(), rng(3))
    assert (found.max(axis=1) == 1).all()
    assert found[:, 0].mean() == pytest.approx(0.2, abs=0.045)  # 5 standard errors


def test_several_unknown_columns_share_their_tables():
    """Without noise each value is told from each: all tables with an unknown column are seen."""
    chance = np.array([0.1, 0.2, 0.3, 0.4])
    targets = targets_of(chance, 4000, unknown=(2, 3))
    found = beliefs_alone(targets, NoNoise(), rng(4))
    assert found.mean(axis=0) == pytest.approx(chance, abs=0.04)
    noisy = beliefs_alone(targets, GaussianNoise(1.0), rng(5))
    assert noisy.mean(axis=0) == pytest.approx(chance, abs=0.04)
    assert 0.4 < noisy.max(axis=1).mean() < 1


def test_people_with_the_same_knowns_have_noise_of_their_own():
    """Sharing a release, such people would see the very same noise."""
    found = beliefs_alone(targets_of([0.5, 0.5], 4000), GaussianNoise(1.0), rng(6))[:, 0]
    pairs = np.corrcoef(found[::2], found[1::2])[0, 1]
    assert abs(pairs) < 4.9 / 2000**0.5
    assert len(np.unique(found)) == 4000


def rng(seed):
    return np.random.default_rng(seed)
