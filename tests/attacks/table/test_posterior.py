"""Posterior attacks and the likelihoods that they sum, against enumeration and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.attacks.table import (
    GibbsSampling,
    MeanField,
    PriorGuess,
    Targets,
    View,
)
from narcissus.attacks.table import posterior as posterior_room
from narcissus.attacks.table.base import view_of
from narcissus.attacks.table.posterior import (
    CellLikelihood,
    PairwiseLikelihood,
    consistent_beliefs,
    likelihood,
)
from narcissus.errors import InputError
from narcissus.mechanisms import (
    ChosenQueries,
    GaussianNoise,
    Grouping,
    LaplaceNoise,
    MarginalQueries,
    NoisyMarginals,
    NoNoise,
)
from narcissus.success import ColumnsRight, exact_match

TINY = [
    pytest.param(6, (2, 3, 2), (0,), 2, id="one unknown"),
    pytest.param(7, (2, 2, 3), (1,), 1, id="one unknown, k 1"),
    pytest.param(4, (2, 3, 2), (0, 2), 2, id="two unknown"),
]


def noisy_view(worlds, rng, noise, *, people, sizes, unknown, k, **rest):
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k, **rest)
    release = worlds.release(targets, noise, secrets, rng).cells
    return View(targets, noise, release), secrets


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize("noise", [GaussianNoise(0.8), LaplaceNoise(0.6)])
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), TINY)
@pytest.mark.one_in(2)
def test_gibbs_against_enumeration(worlds, people, sizes, unknown, k, noise):
    """Every marginal of the posterior within 0.03: sampling error, seeded."""
    rng = np.random.default_rng(20)
    view, _ = noisy_view(worlds, rng, noise, people=people, sizes=sizes, unknown=unknown, k=k)
    exact = worlds.posterior(view.targets, noise, view.release)
    found = GibbsSampling(sweeps=8000, chains=40).beliefs(view, rng=np.random.default_rng(1))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found - exact).max() < 0.03
    # The test would notice: the prior is far from the posterior.
    assert np.abs(view.targets.prior - exact).max() > 0.12


@pytest.mark.parametrize("scale", [40.0, 12.0, 5.0])
@pytest.mark.parametrize(("sizes", "unknown"), [((2, 4, 3, 3, 2), (0,)), ((2, 4, 3, 3, 2), (1, 4))])
@pytest.mark.repeats(10, 25, "seeds")
@pytest.mark.one_in(3)
def test_mean_field_against_gibbs(worlds, sizes, unknown, scale, seeds):
    """Hits of 25 worlds of 60 people: no difference that a paired test sees at 1e-6."""
    noise = GaussianNoise(scale)
    gap = []
    close = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        view, secrets = noisy_view(
            worlds, rng, noise, people=60, sizes=sizes, unknown=unknown, k=3, concentration=2.0
        )
        mean_field = MeanField().beliefs(view, rng=rng)
        gibbs = GibbsSampling(sweeps=160).beliefs(view, rng=rng)
        close.append(np.abs(mean_field - gibbs).mean())
        hits = [(b.argmax(axis=1) == secrets).mean() for b in (mean_field, gibbs)]
        gap.append(hits[0] - hits[1])
    gap = np.array(gap)
    if gap.std() > 0:
        assert stats.ttest_1samp(gap, 0).pvalue > 1e-6
    # Beliefs, not only hits: far nearer to each other than to the prior.
    assert np.mean(close) < 0.05


def test_no_information_leaves_the_prior(worlds):
    rng = np.random.default_rng(5)
    noise = GaussianNoise(1e7)
    view, _ = noisy_view(worlds, rng, noise, people=20, sizes=(2, 3), unknown=(1,), k=2)
    for attack in (MeanField(), GibbsSampling(sweeps=400)):
        np.testing.assert_allclose(attack.beliefs(view, rng=rng), view.targets.prior, atol=1e-4)


def test_impossible_values_stay_impossible(worlds):
    rng = np.random.default_rng(6)
    for noise in (GaussianNoise(3.0), LaplaceNoise(3.0)):
        view, _ = noisy_view(worlds, rng, noise, people=20, sizes=(2, 4), unknown=(1,), k=2)
        view.targets.prior[:, 2] = 0
        view.targets.prior[:] /= view.targets.prior.sum(axis=1, keepdims=True)
        for attack in (MeanField(), GibbsSampling(sweeps=40)):
            assert (attack.beliefs(view, rng=rng)[:, 2] == 0).all()


def test_the_decision_follows_the_criterion(worlds):
    """Within one place of {0, 1, 2}, the middle always counts: everybody is right."""
    rng = np.random.default_rng(7)
    noise = GaussianNoise(3.0)
    view, secrets = noisy_view(
        worlds, rng, noise, people=10, sizes=(2, 3), unknown=(1,), k=2,
        success=ColumnsRight((3,), (1,)),
    )  # fmt: skip
    for attack in (PriorGuess(), MeanField(), GibbsSampling(sweeps=8)):
        assert view.targets.success.score(secrets, attack.guess(view, rng=rng)).all()


SMALLER = {"sizes": (2, 3, 2, 3, 3)}


@pytest.mark.parametrize("kind", ["rows", "rounded", "withheld", "random"])
def test_other_releases_are_read_without_training_and_better_with(worlds, kind):
    """Far above the prior at once; what is learned is no worse on the releases learned from."""
    before = worlds.simulated(kind, 6, 8, **SMALLER)
    rng = np.random.default_rng(0)
    trained = MeanField().train(before, rng)

    def share(attack):
        guesses = [attack.guess(view_of(s.targets, s.release), rng=rng) for s in before]
        return np.mean([g == s.secrets for g, s in zip(guesses, before, strict=True)])

    prior, untrained, ours = (share(attack) for attack in (PriorGuess(), MeanField(), trained))
    assert ours >= untrained > prior + 0.05
    assert trained.overlap is not None
    assert (trained.scale is not None) == (kind == "rows")


def test_training_leaves_what_was_given_and_noisy_counts_as_they_are(worlds):
    rng = np.random.default_rng(0)
    assert MeanField().train(worlds.simulated("counts", 2, 9, **SMALLER), rng) == MeanField()
    assert MeanField().train([], rng) == MeanField()
    rows = worlds.simulated("rows", 2, 9, **SMALLER)
    given = MeanField(overlap=3.0, scale=4.0)
    assert given.train(rows, rng) == given
    assert MeanField(scale=4.0).train(rows, rng).scale == 4.0
    assert MeanField(overlap=3.0).train(rows, rng).overlap == 3.0


def test_it_learns_from_so_many_people_and_no_more(worlds, monkeypatch):
    """The first releases are enough: others change nothing."""
    monkeypatch.setattr("narcissus.attacks.table.posterior.ENOUGH", 120)
    rng = np.random.default_rng(0)
    first = worlds.simulated("rounded", 2, 10, **SMALLER)
    other = worlds.simulated("rounded", 4, 11, **SMALLER)
    assert MeanField().train([*first, *other], rng) == MeanField().train(first, rng)


@pytest.mark.parametrize("wrong", [{"overlap": 0.5}, {"scale": 0.0}, {"scale": -1.0}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        MeanField(**wrong)


def agreeing(targets, release):
    """Every assignment of joint values that has these exact counts, by depth-first search."""
    queries = targets.queries
    cells = []
    for person in range(targets.people):
        options = []
        for value in range(queries.values):
            code = targets.codes[person : person + 1].copy()
            code[:, list(queries.unknown)] = queries.split(np.array([value]))
            options.append(queries.cells_of(code)[0])
        cells.append(options)
    left = release.copy()
    found = []

    def place(person, chosen):
        if person == targets.people:
            found.append(tuple(chosen))
            return
        for value, touched in enumerate(cells[person]):
            if (left[touched] > 0.5).all():
                left[touched] -= 1
                place(person + 1, [*chosen, value])
                left[touched] += 1

    place(0, [])
    return np.array(found)


@st.composite
def small_worlds(draw):
    d = draw(st.integers(2, 4))
    sizes = tuple(draw(st.lists(st.integers(2, 3), min_size=d, max_size=d)))
    unknown = tuple(draw(st.permutations(range(d)))[: draw(st.integers(1, min(2, d)))])
    people, seed = draw(st.integers(2, 7)), draw(st.integers(0, 2**32 - 1))
    if draw(st.booleans()):
        return MarginalQueries(sizes, unknown, draw(st.integers(1, d))), people, seed
    # A list of tables, some of which have the groups of an unknown column in its place.
    coarse = Grouping(unknown[0], (0, 1, 1)[: sizes[unknown[0]]])
    columns = st.lists(st.integers(0, d - 1), min_size=1, max_size=d, unique=True)
    sets = draw(st.lists(st.tuples(columns, st.booleans()), min_size=1, max_size=4))
    chosen = [(d,)] + [
        tuple(d if grouped and c == unknown[0] else c for c in names) for names, grouped in sets
    ]
    return ChosenQueries(sizes, unknown, tuple(chosen), coarse=(coarse,)), people, seed


@given(small_worlds())
def test_whatever_is_determined_is_recovered(drawn):
    queries, people, seed = drawn
    sizes, unknown = queries.sizes, queries.unknown
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, s, people) for s in sizes], axis=1).astype(np.int32)
    release = NoisyMarginals(queries, NoNoise()).release(codes[None])[0].cells
    known = codes.copy()
    known[:, list(unknown)] = 0
    prior = rng.dirichlet(np.ones(queries.values), people)
    targets = Targets(queries, known, prior, exact_match(queries.unknown_shape))
    every = agreeing(targets, release)
    truth = queries.joint(codes)
    assert (every == truth).all(axis=1).any()
    beliefs = consistent_beliefs(targets, release)
    np.testing.assert_allclose(beliefs.sum(axis=1), 1, atol=1e-9)
    guess = beliefs.argmax(axis=1)
    determined = (every == every[0]).all(axis=0)
    np.testing.assert_array_equal(guess[determined], truth[determined])
    # Also a column that is determined where another is not.
    split = queries.split(every.ravel()).reshape(*every.shape, len(unknown))
    columns = (split == split[0]).all(axis=0)
    said = queries.split(guess)
    np.testing.assert_array_equal(said[columns], split[0][columns])
    # Somebody known to be in one of several values is never guessed out of them by the tables'
    # own zeros: the guess occurs in some assignment that agrees.
    for person in np.flatnonzero(~determined):
        if len(unknown) == 1 and getattr(queries, "k", 3) <= 2:
            assert beliefs[person, np.unique(every[:, person])].sum() > 0


@given(small_worlds())
def test_a_wrong_prior_gives_way(drawn):
    """The prior of real people may rule out the truth; the counts still decide."""
    queries, people, seed = drawn
    sizes, unknown = queries.sizes, queries.unknown
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, s, people) for s in sizes], axis=1).astype(np.int32)
    release = NoisyMarginals(queries, NoNoise()).release(codes[None])[0].cells
    truth = queries.joint(codes)
    known = codes.copy()
    known[:, list(unknown)] = 0
    prior = rng.dirichlet(np.ones(queries.values), people)
    prior[np.arange(people), truth] = 0
    prior /= prior.sum(axis=1, keepdims=True)
    targets = Targets(queries, known, prior, exact_match(queries.unknown_shape))
    every = agreeing(targets, release)
    beliefs = consistent_beliefs(targets, release)
    assert np.isfinite(beliefs).all()
    determined = (every == every[0]).all(axis=0)
    np.testing.assert_array_equal(beliefs.argmax(axis=1)[determined], truth[determined])


def test_both_posteriors_hand_over():
    rng = np.random.default_rng(2)
    queries = MarginalQueries((2, 4, 4), (0,), 3)
    codes = np.stack([rng.integers(0, s, 12) for s in queries.sizes], axis=1).astype(np.int32)
    release = NoisyMarginals(queries, NoNoise()).release(codes[None])[0].cells
    known = codes.copy()
    known[:, 0] = 0
    targets = Targets(queries, known, rng.dirichlet(np.ones(2), 12), exact_match((2,)))
    view = View(targets, NoNoise(), release)
    a = MeanField().beliefs(view, rng=rng)
    np.testing.assert_array_equal(a, GibbsSampling().beliefs(view, rng=rng))
    np.testing.assert_array_equal(a, consistent_beliefs(targets, release))


@pytest.mark.parametrize(
    ("sizes", "unknown", "k"),
    [
        ((4, 3, 2), (0,), 2),
        ((5, 4, 3, 2, 2), (0,), 2),
        ((4, 3, 5, 2), (0, 2), 2),
        ((6, 3), (0,), 1),
        ((2,) * 12, (0,), 3),
    ],
)
@pytest.mark.one_in(3)
def test_a_hard_world_of_200_people_ends(sizes, unknown, k):
    """Few known columns determine little: integer programs must not run away (node limit)."""
    rng = np.random.default_rng(4)
    queries = MarginalQueries(sizes, unknown, k)
    codes = np.stack([rng.integers(0, s, 200) for s in sizes], axis=1).astype(np.int32)
    release = NoisyMarginals(queries, NoNoise()).release(codes[None])[0].cells
    known = codes.copy()
    known[:, list(unknown)] = 0
    prior = rng.dirichlet(np.full(queries.values, 0.5), 200)
    targets = Targets(queries, known, prior, exact_match(queries.unknown_shape))
    beliefs = consistent_beliefs(targets, release)
    np.testing.assert_allclose(beliefs.sum(axis=1), 1, atol=1e-9)
    # No worse than the prior, which knows nothing of the counts.
    truth = queries.joint(codes)
    assert (beliefs.argmax(axis=1) == truth).mean() >= (prior.argmax(axis=1) == truth).mean() - 0.05


LISTED = (
    ((0, 1), (2,), (2,), (1, 3), (3, 0), (2, 0, 1), (4, 2), (1,), (1, 2)),
    (Grouping(2, (0, 1, 1, 0)), Grouping(1, (0, 0, 1))),
)


SHAPES = [
    pytest.param((2, 3, 2, 3), (1,), 3, id="one unknown, k 3"),
    pytest.param((2, 3, 2), (0,), 1, id="one unknown, k 1"),
    pytest.param((2, 3, 2), (2,), 3, id="one unknown, k = d"),
    pytest.param((2, 3, 2, 2), (0, 3), 2, id="two unknown, k 2"),
    pytest.param((2, 3, 2, 2, 2), (3, 1, 0), 3, id="three unknown out of order, k 3"),
    pytest.param((2, 3), (0, 1), 2, id="all unknown"),
    pytest.param((2, 3, 2), (0, 1, 2), 1, id="all unknown, k 1"),
    pytest.param((2, 3, 4), (2,), LISTED, id="one unknown, listed"),
    pytest.param((2, 3, 4), (2, 0), LISTED, id="two unknown, listed"),
    pytest.param((2, 3, 4), (2,), (((0, 3), (3,)), LISTED[1]), id="only groups of the unknown"),
]


FORMS = [
    pytest.param(PairwiseLikelihood, GaussianNoise, id="pairwise, gaussian"),
    pytest.param(CellLikelihood, GaussianNoise, id="cells, gaussian"),
    pytest.param(CellLikelihood, LaplaceNoise, id="cells, laplace"),
]


def one_hot(secrets, values):
    return (np.asarray(secrets)[..., None] == np.arange(values)).astype(float)


@pytest.mark.parametrize(("form", "noise_kind"), FORMS)
@pytest.mark.parametrize(("sizes", "unknown", "k"), SHAPES)
@pytest.mark.one_in(3)
def test_fields_are_differences_of_log_densities(worlds, sizes, unknown, k, form, noise_kind):
    rng = np.random.default_rng(len(sizes) * 100)
    targets, secrets = worlds.world(rng, people=7, sizes=sizes, unknown=unknown, k=k)
    noise = noise_kind(1.7)
    release = worlds.release(targets, noise, secrets, rng).cells
    values = targets.queries.values
    # Three chains with states of their own; the truth is none of them.
    states = rng.integers(0, values, (7, 3))
    model = form(targets, noise, release)
    model.start(one_hot(states, values))
    for block in (slice(0, 1), slice(2, 6), slice(0, 7)):
        fields = model.fields(block, one_hot(states[block], values))
        assert fields.shape == (block.stop - block.start, 3, values)
        for chain in range(3):
            for place, person in enumerate(range(block.start, block.stop)):
                expected = []
                for value in range(values):
                    state = states[:, chain].copy()
                    state[person] = value
                    expected.append(worlds.log_density(targets, noise, release, state))
                got = fields[place, chain]
                np.testing.assert_allclose(
                    got - got[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-9
                )


@pytest.mark.parametrize(("form", "noise_kind"), FORMS)
@pytest.mark.parametrize(("sizes", "unknown", "k"), SHAPES)
def test_moves_are_like_a_fresh_start(worlds, sizes, unknown, k, form, noise_kind):
    rng = np.random.default_rng(len(sizes) * 10)
    targets, secrets = worlds.world(rng, people=9, sizes=sizes, unknown=unknown, k=k)
    noise = noise_kind(0.9)
    release = worlds.release(targets, noise, secrets, rng).cells
    values = targets.queries.values
    before = rng.dirichlet(np.ones(values), (9, 2))
    after = before.copy()
    moved = form(targets, noise, release)
    moved.start(before.copy())
    for block in (slice(3, 4), slice(0, 5), slice(5, 9), slice(8, 9)):
        new = rng.dirichlet(np.ones(values), (block.stop - block.start, 2))
        moved.move(block, new - after[block])
        after[block] = new
    fresh = form(targets, noise, release)
    fresh.start(after.copy())
    every = slice(0, 9)
    np.testing.assert_allclose(
        moved.fields(every, after), fresh.fields(every, after), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(("sizes", "unknown", "k"), SHAPES)
def test_both_forms_agree_on_soft_beliefs(worlds, sizes, unknown, k):
    rng = np.random.default_rng(5)
    targets, secrets = worlds.world(rng, people=30, sizes=sizes, unknown=unknown, k=k)
    noise = GaussianNoise(2.0)
    release = worlds.release(targets, noise, secrets, rng).cells
    beliefs = rng.dirichlet(np.ones(targets.queries.values), (30, 2))
    fields = []
    couplings = []
    for form in (PairwiseLikelihood, CellLikelihood):
        model = form(targets, noise, release)
        model.start(beliefs)
        f = model.fields(slice(0, 30), beliefs)
        fields.append(f - f[..., :1])
        couplings.append(model.coupling)
    np.testing.assert_allclose(*fields, rtol=1e-9, atol=1e-9)
    assert couplings[0] == pytest.approx(couplings[1], rel=1e-9)


def test_soft_fields_are_expected_log_densities(worlds):
    """Mean field needs the expectation over independent beliefs, also of products of people."""
    rng = np.random.default_rng(6)
    targets, secrets = worlds.world(rng, people=4, sizes=(2, 2, 3), unknown=(0, 2), k=2)
    noise = GaussianNoise(1.1)
    release = worlds.release(targets, noise, secrets, rng).cells
    values = targets.queries.values
    beliefs = rng.dirichlet(np.ones(values), 4)
    model = likelihood(targets, noise, release)
    model.start(beliefs[:, None])
    got = model.fields(slice(0, 4), beliefs[:, None])[:, 0]
    expected = np.zeros((4, values))
    for a in worlds.assignments(targets):
        log = worlds.log_density(targets, noise, release, a)
        each = beliefs[np.arange(4), a]
        for i in range(4):
            expected[i, a[i]] += log * np.prod(np.delete(each, i))
    np.testing.assert_allclose(got - got[:, :1], expected - expected[:, :1], rtol=1e-8, atol=1e-8)


def test_the_form_follows_noise_and_people(worlds):
    rng = np.random.default_rng(0)
    few, _ = worlds.world(rng, people=3, sizes=(2, 2), unknown=(0,), k=2)
    many, _ = worlds.world(rng, people=1501, sizes=(2, 2), unknown=(0,), k=2)
    cells = np.zeros(4)
    assert isinstance(likelihood(few, GaussianNoise(1.0), cells), PairwiseLikelihood)
    assert isinstance(likelihood(few, LaplaceNoise(1.0), cells), CellLikelihood)
    assert isinstance(likelihood(many, GaussianNoise(1.0), cells), CellLikelihood)


def test_a_long_list_of_people_is_started_in_chunks(worlds, monkeypatch):
    """Chunked starts add up to the same residuals."""
    room = posterior_room
    rng = np.random.default_rng(8)
    targets, secrets = worlds.world(rng, people=40, sizes=(2, 3, 2), unknown=(1,), k=2)
    noise = GaussianNoise(1.0)
    release = worlds.release(targets, noise, secrets, rng).cells
    beliefs = targets.prior[:, None]
    whole = CellLikelihood(targets, noise, release)
    whole.start(beliefs)
    expected = whole.fields(slice(0, 40), beliefs)
    monkeypatch.setattr(
        room, "chunks", lambda _t, _c=1: [slice(a, min(a + 7, 40)) for a in range(0, 40, 7)]
    )
    parts = CellLikelihood(targets, noise, release)
    parts.start(beliefs)
    np.testing.assert_allclose(parts.fields(slice(0, 40), beliefs), expected, atol=1e-9)
