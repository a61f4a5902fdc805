"""Attacks without a list of joint values, held against those that have one."""

import numpy as np
import pytest
from scipy import sparse, stats

from narcissus.attacks.table import (
    Ceiling,
    GibbsSampling,
    MeanField,
    NearestRecord,
    OwnLearner,
    OwnTableAttack,
    PriorGuess,
    RelaxedProjection,
    Simulated,
    TableAttack,
    Trainable,
    View,
    factored_attack,
)
from narcissus.attacks.table import factored as room
from narcissus.attacks.table.ceiling import insider_beliefs, insider_chances
from narcissus.attacks.table.factored import (
    Blankets,
    ColumnSteps,
    FactoredCeiling,
    FactoredGibbs,
    FactoredGuess,
    FactoredOwn,
    LonelyChains,
    Searched,
    reconstruct,
    schedule,
    searched,
    witnesses,
)
from narcissus.attacks.table.rap import FactoredProjection
from narcissus.errors import InputError, TooLargeError
from narcissus.knowledge import FactoredColumns
from narcissus.knowledge.columns import FactoredInsider, Insider
from narcissus.mechanisms import (
    ChosenQueries,
    Counts,
    GaussianNoise,
    Grouping,
    LaplaceNoise,
    MarginalQueries,
    Microdata,
    NoisyMarginals,
    NoNoise,
)
from narcissus.priors import BayesianNetwork
from narcissus.priors.factors import Factors
from narcissus.success import CodesRight, ColumnShare, ColumnsRight
from narcissus.worlds import People

from .conftest import Mine, factored_of, posterior, release, world

SIZES, UNKNOWN, SHAPE = (3, 4, 3, 2), (1, 2, 3), (4, 3, 2)


CRITERIA = [
    ColumnsRight(SHAPE),
    ColumnsRight(SHAPE, at_least=2),
    ColumnsRight(SHAPE, (1.0, 0.0, 0.0)),
    ColumnShare(SHAPE),
]


def joint_guess(success, guess):
    return np.ravel_multi_index(tuple(np.moveaxis(guess, -1, 0)), success.guess_shape)


@pytest.mark.parametrize("noise", [GaussianNoise(1.0), LaplaceNoise(0.8)])
@pytest.mark.parametrize("success", CRITERIA)
@pytest.mark.one_in(2)
def test_the_ceiling_decides_nearly_as_well_as_the_exact_one(success, noise):
    """By the exact chance of its guesses; and never better."""
    rng = np.random.default_rng(0)
    targets, secrets = world(
        rng, people=30, sizes=SIZES, unknown=UNKNOWN, k=2, success=success, concentration=0.5
    )
    counts = release(targets, noise, secrets, rng)
    exact = insider_chances(counts, Insider(targets, secrets))
    told = FactoredInsider(factored_of(targets), targets.queries.split(secrets))
    [guess] = FactoredCeiling(sweeps=100).attempt([counts], [told], rng)
    reached = exact[np.arange(30), joint_guess(success, guess)]
    assert (reached <= exact.max(axis=1) + 1e-12).all()
    assert reached.mean() > exact.max(axis=1).mean() - 0.01
    assert reached.mean() > exact[np.arange(30), targets.best_guess].mean() + 0.02


@pytest.mark.parametrize("success", CRITERIA)
@pytest.mark.one_in(2)
def test_the_posterior_is_as_good_as_that_of_joint_values(success):
    """In five releases, by the exact chances given all other secrets."""
    rng = np.random.default_rng(1)
    gained, lost = [], []
    for _ in range(5):
        targets, secrets = world(
            rng, people=20, sizes=SIZES, unknown=UNKNOWN, k=2, success=success, concentration=0.5
        )
        counts = release(targets, GaussianNoise(2.0), secrets, rng)
        exact = insider_chances(counts, Insider(targets, secrets))
        people = np.arange(20)
        [joint] = GibbsSampling(sweeps=160).attempt([counts], [targets], rng)
        [guess] = FactoredGibbs().attempt([counts], [factored_of(targets)], rng)
        own = exact[people, joint_guess(success, guess)].mean()
        lost.append(exact[people, joint].mean() - own)
        gained.append(own - exact[people, targets.best_guess].mean())
    assert abs(np.mean(lost)) < 0.03
    assert np.mean(gained) > 0.05


@pytest.mark.parametrize("success", CRITERIA)
@pytest.mark.one_in(2)
def test_under_much_noise_it_guesses_as_the_prior_does(success):
    """Never worse than the prior, where the release says nothing."""
    rng = np.random.default_rng(2)
    targets, secrets = world(
        rng, people=40, sizes=SIZES, unknown=UNKNOWN, k=2, success=success, concentration=0.5
    )
    counts = release(targets, GaussianNoise(1e4), secrets, rng)
    factored = factored_of(targets)
    [guess] = FactoredGibbs().attempt([counts], [factored], rng)
    [prior] = FactoredGuess().attempt([counts], [factored], rng)
    assert factored.chance(guess).mean() > factored.chance(prior).mean() - 0.01


def test_which_attacks_have_a_form_without_joint_values():
    assert factored_attack(PriorGuess()) == FactoredGuess()
    assert factored_attack(MeanField()) == FactoredGibbs()
    assert factored_attack(GibbsSampling(200, 8, 0.3)) == FactoredGibbs(25, 8, 0.3)
    assert factored_attack(Ceiling()) == FactoredCeiling()
    assert factored_attack(RelaxedProjection()) == FactoredProjection(RelaxedProjection())
    assert factored_attack(NearestRecord()) is None


def test_options_out_of_range_are_refused():
    for bad in ({"sweeps": 0}, {"chains": 0}, {"burn": 1.0}):
        with pytest.raises(InputError):
            FactoredGibbs(**bad)


ALARM = 1e-6


COARSE = (((1, 2), (0, 3), (0, 2, 3), (1,)), (Grouping(2, (0, 1, 1)),))


def marginals(joint, shape):
    """Return each column's chances from those of the joint values."""
    table = joint.reshape(len(joint), *shape)
    axes = range(1, 1 + len(shape))
    return [table.sum(axis=tuple(a for a in axes if a != 1 + c)) for c in range(len(shape))]


def require_drawn_from(draws, chains, expected):
    """Test the mean over independent chains of how often each value was drawn, n x values tests."""
    n, _, columns = draws.shape
    by_chain = draws.reshape(n, -1, chains, columns)
    count = sum(e.size for e in expected)
    for c, chances in enumerate(expected):
        for value in range(chances.shape[1]):
            share = (by_chain[..., c] == value).mean(axis=1)
            spread = share.std(axis=1, ddof=1) / np.sqrt(chains) + 1e-9
            score = np.abs(share.mean(axis=1) - chances[:, value]) / spread
            assert (score < stats.t.isf(ALARM / count / 2, chains - 1)).all()


SMALL = {"people": 3, "sizes": (2, 2, 3, 2), "unknown": (2, 1), "concentration": 3.0}


"""Few people whose posterior has no far modes, between which finite chains would rarely go."""


@pytest.mark.parametrize("noise", [GaussianNoise(1.5), LaplaceNoise(1.3)])
@pytest.mark.parametrize("k", [1, 2, 3, COARSE])
@pytest.mark.one_in(2)
def test_draws_have_the_exact_posterior(noise, k):
    rng = np.random.default_rng(4)
    targets, secrets = world(rng, k=k, **SMALL)
    counts = release(targets, noise, secrets, rng)
    attack = FactoredGibbs(sweeps=60, chains=200, burn=0.4)
    _, beliefs = attack.run(counts, factored_of(targets), rng)
    expected = marginals(posterior(targets, noise, counts.cells), (3, 2))
    require_drawn_from(beliefs.draws, 200, expected)
    for found, chances in zip(beliefs.marginals, expected, strict=True):
        assert np.abs(found - chances).max() < 0.02
        assert found.sum(axis=1) == pytest.approx(1.0)


def test_a_release_of_little_weight_is_not_the_posterior():
    """The test above finds an error of the size of the noise: half the precision fails it."""
    rng = np.random.default_rng(4)
    targets, secrets = world(rng, k=2, **SMALL)
    counts = release(targets, GaussianNoise(1.5), secrets, rng)
    _, beliefs = FactoredGibbs(60, 200, 0.4).run(counts, factored_of(targets), rng)
    wrong = marginals(posterior(targets, GaussianNoise(2.0), counts.cells), (3, 2))
    with pytest.raises(AssertionError):
        require_drawn_from(beliefs.draws, 200, wrong)


def test_it_agrees_with_the_sampler_of_joint_values():
    rng = np.random.default_rng(8)
    targets, secrets = world(
        rng, people=20, sizes=(3, 4, 3, 2), unknown=(1, 2, 3), k=2, concentration=3.0
    )
    noise = GaussianNoise(3.0)
    counts = release(targets, noise, secrets, rng)
    joint = GibbsSampling(1000, 20).beliefs(View(targets, noise, counts.cells), rng=rng)
    _, beliefs = FactoredGibbs(100, 20, 0.2).run(counts, factored_of(targets), rng)
    for found, other in zip(beliefs.marginals, marginals(joint, (4, 3, 2)), strict=True):
        assert np.abs(found - other).mean() < 0.01


@pytest.mark.parametrize("noise", [GaussianNoise(1.5), LaplaceNoise(1.3)])
def test_a_lonely_chain_has_the_posterior_of_whom_all_others_are_known(noise):
    rng = np.random.default_rng(9)
    targets, secrets = world(rng, k=2, **SMALL)
    counts = release(targets, noise, secrets, rng)
    factored = factored_of(targets)
    steps = ColumnSteps(targets.queries, targets.bases, counts.cells)
    truth = targets.queries.split(secrets)
    chains = LonelyChains(factored.factors, steps, noise, truth)
    tally = [np.zeros((3, s)) for s in (3, 2)]
    start = np.zeros((200, 2), dtype=int)
    draws = np.stack([chains.run(i, start, schedule(60, 0.4), rng, tally) for i in range(3)])
    exact = insider_beliefs(counts, Insider(targets, secrets))
    require_drawn_from(draws, 200, marginals(exact, (3, 2)))
    # the log likelihoods of single values, up to a constant for each person
    every = np.array([[a, b] for a in range(3) for b in range(2)])
    for i in range(3):
        logits = targets.log_prior[i] + chains.fields(i, every)[0]
        weights = np.exp(logits - logits.max())
        assert weights / weights.sum() == pytest.approx(exact[i])


def test_blankets_are_the_conditionals_of_the_factors():
    rng = np.random.default_rng(0)
    shape = (3, 2, 4)
    tables = (rng.normal(size=(5, 3, 4)), rng.normal(size=(5, 3, 2, 4)), rng.normal(size=(5, 2)))
    shared = np.broadcast_to(rng.normal(size=(1, 4)), (5, 4))
    scopes = ((0, 2), (0, 1, 2), (1,), (2,))
    factors = Factors(shape, scopes, (*tables, shared), np.array([4, 0, 2, 4]))
    blankets = Blankets(factors)
    values = np.stack([rng.integers(0, s, 6) for s in shape], axis=1)
    for person, row in enumerate(factors.rows):
        alone = Factors(shape, scopes, factors.tables, np.full(6, row))
        for c, size in enumerate(shape):
            found = np.broadcast_to(blankets.logits(person, c, values), (6, size))
            for value in range(size):
                moved = values.copy()
                moved[:, c] = value
                expected = alone.log_weights(moved) - alone.log_weights(values)
                gained = found[:, value] - found[np.arange(6), values[:, c]]
                assert gained == pytest.approx(expected)


def test_the_weight_of_the_release_rises_to_one():
    weights = schedule(10, 0.4)
    assert weights[:2] == pytest.approx([0.01, 0.01 * 100**0.25])
    assert weights == sorted(weights)
    assert weights[4:] == [1.0] * 6
    assert schedule(3, 0.0) == [1.0] * 3


SIZES_PLACES = (3, 2, 4, 3)


COARSE_PLACES = ChosenQueries(
    SIZES_PLACES,
    (2, 1, 3),
    ((0, 2), (1, 4), (1, 2, 3), (4,), (4,)),
    coarse=(Grouping(2, (0, 0, 1, 2)),),
)


@pytest.mark.parametrize(
    "queries",
    [
        MarginalQueries(SIZES_PLACES, (1, 2, 3), 3),
        MarginalQueries(SIZES_PLACES, (3, 1), 2),
        COARSE_PLACES,
    ],
)
def test_steps_lead_to_the_cells_of_the_tables(queries):
    rng = np.random.default_rng(0)
    people = np.stack([rng.integers(0, s, 9) for s in SIZES_PLACES], axis=1).astype(np.int32)
    known = people.copy()
    known[:, list(queries.unknown)] = 0
    release = rng.random(queries.cells)
    steps = ColumnSteps(queries, queries.bases(known), release)
    expected = release[queries.cells_of(people)]
    for i in range(9):
        cells = steps.cells(i, people[i, list(queries.unknown)])
        assert (steps.released[cells] == expected[i]).all()
    # a change of one column moves a person by the difference of its steps, in its tables only
    before = steps.cells(0, np.zeros(len(queries.unknown), dtype=int))
    for c in range(len(queries.unknown)):
        one = np.zeros(len(queries.unknown), dtype=int)
        one[c] = 1
        moved = steps.cells(0, one) - before
        assert (moved[steps.tables[c]] == steps.steps[c][1]).all()
        assert not np.delete(moved, steps.tables[c]).any()


SIZES_EXACT = (5, 4, 3, 2, 4, 3, 2)


UNKNOWN_EXACT = (2, 3, 4, 5, 6)


SHAPE_EXACT = (3, 2, 4, 3, 2)


def network():
    rng = np.random.default_rng(0)
    parents = ((), (0,), (0, 1), (2, 1), (3,), (4, 0), (5,))
    tables = [
        rng.dirichlet(np.ones(size), size=tuple(SIZES_EXACT[p] for p in own))
        for own, size in zip(parents, SIZES_EXACT, strict=True)
    ]
    return BayesianNetwork(tuple("abcdefg"), parents, tuple(np.asarray(t) for t in tables))


def released(queries, people=40, seed=1, success=None):
    prior, rng = network(), np.random.default_rng(seed)
    world = People(prior, people)
    draw = world.draw(1, rng)
    right = CodesRight(success or ColumnsRight(queries.unknown_shape))
    [targets] = FactoredColumns(prior, queries, right).reveal(world, draw, rng)
    [counts] = NoisyMarginals(queries, NoNoise()).release(draw.data, rng)
    return targets, counts, targets.secrets(draw.data[0])


def steps_of(targets, counts):
    return ColumnSteps(targets.queries, targets.bases, counts.cells)


COARSE_EXACT = ChosenQueries(
    SIZES_EXACT,
    UNKNOWN_EXACT,
    ((0, 1, 2), (0, 1, 3), (0, 1, 7), (0, 4), (1, 4), (0, 1, 5), (0, 1, 6), (2, 3)),
    coarse=(Grouping(4, (0, 0, 1, 1)),),
)


@pytest.mark.parametrize("queries", [MarginalQueries(SIZES_EXACT, UNKNOWN_EXACT, 3), COARSE_EXACT])
def test_the_values_found_agree_with_every_count(queries):
    gained: list[float] = []
    for seed in range(4):
        targets, counts, secrets = released(queries, seed=seed)
        weights = [np.log(m) for m in targets.marginals]
        values, residual = reconstruct(steps_of(targets, counts), weights)
        assert residual == 0
        people = targets.codes.copy()
        people[:, list(UNKNOWN_EXACT)] = values
        assert (queries.counts(people) == counts.cells).all()
        modes = targets.success.modes(targets.marginals)
        gained.append((values == secrets).mean() - (modes == secrets).mean())
    assert np.mean(gained) > 0


def test_the_residual_is_what_the_counts_are_off_by():
    """A count that nobody can have made: no values agree, and the residual says so."""
    targets, counts, _ = released(MarginalQueries(SIZES_EXACT, UNKNOWN_EXACT, 2))
    cells = counts.cells.copy()
    own = targets.queries.cells_of(targets.codes)[0]
    cells[own[:3]] += 2
    steps = ColumnSteps(targets.queries, targets.bases, cells)
    values, residual = reconstruct(steps, [np.log(m) for m in targets.marginals])
    people = targets.codes.copy()
    people[:, list(UNKNOWN_EXACT)] = values
    reached = np.unique(np.concatenate([
        steps.cells(i, row) for i in range(40) for row in [values[i]]
    ]))  # fmt: skip
    assert reached.size
    assert residual == pytest.approx(np.abs(targets.queries.counts(people) - cells).sum())
    assert residual >= 2


def test_people_who_are_alike_in_what_is_known_share_their_values():
    """Nothing tells them apart, so each has each of their values with the same chance."""
    queries = MarginalQueries(SIZES_EXACT, (1, 2, 3, 4, 5, 6), 3)
    prior, rng = network(), np.random.default_rng(0)
    world = People(prior, 30)
    draw = world.draw(1, rng)
    right = CodesRight(ColumnsRight(queries.unknown_shape))
    [targets] = FactoredColumns(prior, queries, right).reveal(world, draw, rng)
    [counts] = NoisyMarginals(queries, NoNoise()).release(draw.data, rng)
    known = targets.codes[:, :1]
    draws, _ = witnesses(steps_of(targets, counts), targets.marginals, known, 1)
    for value in range(5):
        alike = np.flatnonzero(known[:, 0] == value)
        for i in alike:
            assert len(draws[i]) == len(alike)
            assert (draws[i] == draws[alike[0]]).all()


def test_several_solutions_are_kept_where_they_agree_with_all_counts():
    targets, counts, _ = released(MarginalQueries(SIZES_EXACT, UNKNOWN_EXACT, 3))
    known = targets.codes[:, list(targets.queries.known)]
    one, left = witnesses(steps_of(targets, counts), targets.marginals, known, 1)
    three, least = witnesses(steps_of(targets, counts), targets.marginals, known, 3)
    assert left == least == 0
    assert all(len(many) % len(few) == 0 for many, few in zip(three, one, strict=True))
    assert len(three[0]) > len(one[0])


def test_solving_columns_again_brings_counts_nearer(monkeypatch):
    """One known column: the first pass sticks, mending does not make it worse, and helps here."""
    targets, counts, _ = released(MarginalQueries(SIZES_EXACT, (1, *UNKNOWN_EXACT), 3), people=30)
    weights = [np.log(m) for m in targets.marginals]
    _, mended = reconstruct(steps_of(targets, counts), weights)
    monkeypatch.setattr(room, "ROUNDS", 0)
    _, left = reconstruct(steps_of(targets, counts), weights)
    assert mended < left


@pytest.mark.parametrize("success", [None, ColumnsRight(SHAPE_EXACT, at_least=3)])
def test_the_attack_on_exact_counts_beats_the_prior_and_tells_its_residual(success):
    right: list[float] = []
    prior: list[float] = []
    for seed in range(3):
        targets, counts, secrets = released(
            MarginalQueries(SIZES_EXACT, UNKNOWN_EXACT, 3), seed=seed, success=success
        )
        rng = np.random.default_rng(0)
        found = FactoredGibbs().attempt([counts], [targets], rng)
        assert isinstance(found, Searched)
        assert found.residual.tolist() == [0.0]
        right.append(targets.success.score(secrets, found.values[0]).mean())
        [guess] = FactoredGuess().attempt([counts], [targets], rng)
        prior.append(targets.success.score(secrets, guess).mean())
    assert np.mean(right) > np.mean(prior) + 0.1


def test_a_search_that_sticks_still_guesses():
    targets, counts, _ = released(MarginalQueries(SIZES_EXACT, UNKNOWN_EXACT, 2))
    cells = counts.cells.copy()
    cells[:] = np.roll(cells, 3)
    guess, residual = searched(Counts(targets.queries, NoNoise(), cells), targets)
    assert residual > 0
    assert guess.shape == (40, 5)


class Pupil(Mine):
    def train(self, simulated, rng):
        return Mine(lambda view, rng: simulated[0].secrets)


def modes(view, rng):
    return np.stack([m.argmax(axis=1) for m in view.targets.marginals], axis=1)


@pytest.fixture
def small(worlds):
    rng = np.random.default_rng(1)
    targets, secrets = worlds.world(rng, people=9, sizes=(2, 3, 4), unknown=(1, 2), k=2)
    return factored_of(targets), worlds.release(targets, GaussianNoise(1.5), secrets, rng)


def test_each_release_is_guessed_column_by_column(small):
    told, counts = small
    seen = []

    def answer(view, rng):
        seen.append(view)
        return modes(view, rng)

    attack = factored_attack(OwnTableAttack("own", Mine(answer)))
    assert isinstance(attack, TableAttack)
    assert not isinstance(attack, Trainable)
    assert (attack.title, attack.uses, attack.reads) == ("mine", "prior", (object,))
    found = attack.attempt([counts, counts], [told, told], np.random.default_rng(1))
    assert found.shape == (2, 9, 2)
    np.testing.assert_array_equal(found[0], told.success.modes(told.marginals))
    assert [view.targets for view in seen] == [told, told]
    assert seen[0].noise == GaussianNoise(1.5)
    assert seen[0].release is counts.cells


def test_of_other_releases_the_release_itself_is_seen(small):
    told, _ = small
    rows = Microdata(told.codes)

    def answer(view, rng):
        assert view.release is rows
        assert view.noise is None
        return modes(view, rng)

    [found] = FactoredOwn(OwnTableAttack("own", Mine(answer))).attempt([rows], [told], None)
    assert found.shape == (9, 2)


@pytest.mark.parametrize(
    "answer",
    [
        np.zeros(9, dtype=int),
        np.zeros((9, 3), dtype=int),
        np.zeros((9, 2)),
        np.full((9, 2), -1),
        np.tile([2, 4], (9, 1)),  # of columns with 3 and 4 values
    ],
)
def test_other_answers_are_refused_with_what_is_asked_for(small, answer):
    told, counts = small
    attack = FactoredOwn(OwnTableAttack("own", Mine(lambda view, rng: answer)))
    with pytest.raises(InputError, match=r"`own`.*each of the 2 unknown columns of 9.*below 3 x 4"):
        attack.attempt([counts], [told], None)
    best = np.tile([2, 3], (9, 1))
    attack = FactoredOwn(OwnTableAttack("own", Mine(lambda view, rng: best)))
    assert attack.attempt([counts], [told], None).tolist() == [best.tolist()]


def test_a_class_that_asks_for_the_list_is_told_that_there_is_none(small):
    told, counts = small
    attack = FactoredOwn(OwnTableAttack("own", Mine(lambda view, rng: view.targets.prior)))
    with pytest.raises(InputError, match=r"`own` failed.*`FactoredTargets`, see docs/dev"):
        attack.attempt([counts], [told], None)

    def own_words(view, rng):
        raise TooLargeError("too many")

    with pytest.raises(TooLargeError, match=r"^too many$"):
        FactoredOwn(OwnTableAttack("own", Mine(own_words))).attempt([counts], [told], None)


def test_one_that_learns_is_shown_everybodys_columns(small):
    told, counts = small
    attack = factored_attack(OwnLearner("own", Pupil(modes)))
    assert isinstance(attack, Trainable)
    assert attack.learns_from == (object,)
    secrets = np.tile([1, 2], (9, 1))
    learned = attack.train([Simulated(told, counts, secrets)], np.random.default_rng(1))
    assert learned.attempt([counts], [told], None).tolist() == [secrets.tolist()]


def test_what_counts_settle_is_found_and_the_rest_left_open():
    """Of two people and two values, a cell of 2 settles both; one of 1 leaves both open."""
    people = [[1, 1, 0, 0], [0, 0, 1, 1]]
    both = room._Equations(
        sparse.csr_array(np.array([*people, [0, 1, 0, 1]])), np.array([1, 1, 2.0])
    )
    allowed, must = both.settled()
    assert allowed.tolist() == must.tolist() == [False, True, False, True]
    one = room._Equations(
        sparse.csr_array(np.array([*people, [0, 1, 0, 1]])), np.array([1, 1, 1.0])
    )
    allowed, must = one.settled()
    assert (allowed.all(), must.any()) == (True, False)


def test_a_settled_value_is_kept_while_others_are_solved():
    rows = [[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1],
            [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1]]  # fmt: skip
    equations = room._Equations(
        sparse.csr_array(np.array(rows, dtype=float)), np.array([1, 1, 1, 1, 1.0])
    )
    allowed, must = equations.settled()
    assert must.tolist() == [False, True, False, False, False, False]
    weights = np.array([0.0, -5.0, 0.0, -1.0, -1.0, 0.0])
    solved = room._solved(equations, allowed, must, weights)
    assert solved.tolist() == [False, True, True, False, False, True]
