"""What a release says near a person, by hand, and the attacks that learn from it."""

import numpy as np
import pytest
from scipy import optimize, special

from narcissus.attacks.table import (
    Learned,
    MeanField,
    NearestRecord,
    Stack,
    TableAttack,
    Trainable,
    View,
)
from narcissus.attacks.table.base import view_of
from narcissus.attacks.table.nearest import (
    CROWDS,
    FURTHEST,
    LEAST,
    ConditionalLogit,
    Votes,
    cell_sums,
    features_of,
    row_scores,
    votes_of,
)
from narcissus.attacks.table.propagation import USUAL_SCALE
from narcissus.errors import InputError
from narcissus.mechanisms import GaussianNoise, Microdata
from narcissus.success import ColumnsRight


def drawn(worlds, seed, *, people=40, rows=60, sizes=(2, 3, 2, 3, 2, 2), unknown=(1, 4), **rest):
    rng = np.random.default_rng(seed)
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=2, **rest)
    released = np.stack([rng.integers(0, s, rows) for s in sizes], axis=1).astype(np.int32)
    return targets, secrets, released


def test_votes_against_a_loop(worlds):
    targets, _, rows = drawn(worlds, 1)
    votes = votes_of(targets, rows)
    known = [0, 2, 3, 5]
    values = targets.queries.joint(rows)
    at = np.zeros_like(votes.at)
    nearest = np.zeros_like(votes.nearest)
    for i, person in enumerate(targets.codes):
        apart = [int((row[known] != person[known]).sum()) for row in rows]
        for d, value in zip(apart, values, strict=True):
            if d <= FURTHEST:
                at[d, i, value] += 1
            if d == min(apart):
                nearest[i, value] += 1
    np.testing.assert_array_equal(votes.at, at)
    np.testing.assert_array_equal(votes.nearest, nearest)


def test_people_are_taken_in_blocks(worlds, monkeypatch):
    targets, _, rows = drawn(worlds, 2)
    whole = votes_of(targets, rows)
    monkeypatch.setattr("narcissus.attacks.table.nearest.BLOCK", 1)
    again = votes_of(targets, rows)
    np.testing.assert_array_equal(again.at, whole.at)
    np.testing.assert_array_equal(again.nearest, whole.nearest)


def test_the_people_themselves_give_their_secrets_away(worlds):
    """Rows as they are, everybody's known columns different: everybody is right."""
    rng = np.random.default_rng(3)
    targets, secrets = worlds.world(rng, people=24, sizes=(24, 3), unknown=(1,), k=2)
    targets.codes[:, 0] = np.arange(24)
    release = Microdata(rng.permutation(worlds.complete(targets, secrets)))
    guess = NearestRecord().guess(View(targets, None, release), rng=rng)
    np.testing.assert_array_equal(guess, secrets)


@pytest.mark.parametrize(("values", "wanted"), [((2, 2, 1), 2), ((2, 1), 1), ((0, 2), 2)])
def test_the_majority_wins_and_ties_go_to_the_prior(worlds, values, wanted):
    rng = np.random.default_rng(4)
    targets, _ = worlds.world(rng, people=1, sizes=(2, 3), unknown=(1,), k=2)
    targets.prior[:] = [[0.1, 0.6, 0.3]]
    rows = np.array([[targets.codes[0, 0], v] for v in values], dtype=np.int32)
    guess = NearestRecord().guess(View(targets, None, Microdata(rows)), rng=rng)
    assert guess[0] == wanted


def test_no_rows_leave_the_prior(worlds):
    targets, _, rows = drawn(worlds, 5)
    view = View(targets, None, Microdata(rows[:0]))
    guess = NearestRecord().guess(view, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(guess, targets.prior.argmax(axis=1))


def test_the_decision_follows_the_criterion(worlds):
    """Within one place of {0, 1, 2}, the middle always counts, whatever the votes say."""
    rng = np.random.default_rng(6)
    success = ColumnsRight((3,), (1,))
    targets, secrets = worlds.world(
        rng, people=10, sizes=(2, 3), unknown=(1,), k=2, success=success
    )
    release = Microdata(worlds.complete(targets, secrets))
    guess = NearestRecord().guess(View(targets, None, release), rng=rng)
    assert success.score(secrets, guess).all()


def released(worlds, kind, seed=1, **rest):
    rng = np.random.default_rng(seed)
    shape = {"people": 30, "sizes": (2, 4, 3, 2), "unknown": (2,), "k": 2, **rest}
    targets, secrets = worlds.world(rng, **shape)
    if kind == "counts":
        return view_of(targets, worlds.release(targets, GaussianNoise(1.5), secrets, rng)), secrets
    if kind == "rows":
        return view_of(targets, Microdata(worlds.complete(targets, secrets))), secrets
    return view_of(targets, worlds.protect(targets, worlds.rules[kind], secrets, rng)), secrets


@pytest.mark.parametrize(("kind", "number"), [("counts", 9), ("rounded", 9), ("rows", 14)])
def test_shapes_of_all_releases(worlds, kind, number):
    view, _ = released(worlds, kind)
    found = features_of(view)
    assert found.shape == (30, 3, number)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:, :, 0], np.maximum(view.targets.log_prior, LEAST))


@pytest.mark.parametrize("kind", ["counts", "rows"])
def test_sums_of_counted_cells_by_hand(worlds, kind):
    """Each table: how far the cell is from what the others' prior says, over its variance."""
    view, _ = released(worlds, kind)
    targets = view.targets
    if kind == "counts":
        cells, variance = view.release, 1.5**2
    else:
        cells = targets.queries.counts(view.release.rows)
        variance = USUAL_SCALE**2
    wanted = np.zeros((len(CROWDS) + 1, 30, 3))
    [pattern], [base] = targets.queries.patterns, targets.bases
    for i in range(30):
        for t in range(pattern.tables):
            like = np.flatnonzero(base[:, t] == base[i, t])
            others = like[like != i]
            mean = targets.prior[others].sum(axis=0)
            spread = (targets.prior[others] * (1 - targets.prior[others])).sum(axis=0)
            said = cells[base[i, t] : base[i, t] + 3] - mean - 0.5
            said = said / (np.maximum(spread, 0.05) + variance) * 2 / 3
            crowd = sum(like.size > c for c in CROWDS)
            wanted[crowd, i] += said - said.mean()
    np.testing.assert_allclose(cell_sums(view)[:5], wanted, atol=1e-9)
    assert (np.abs(wanted).sum(axis=(1, 2)) > 0).sum() >= 2  # more than one kind of crowd


def test_a_table_that_settles_a_value_is_counted(worlds):
    """Somebody alone in their group, everything published: for the truth, against the rest."""
    view, secrets = released(worlds, "withheld", people=1, sizes=(2, 3), unknown=(1,))
    view.targets.prior[:] = 1 / 3
    release = worlds.protect(view.targets, worlds.rules["rounded"], secrets, None)
    exact = type(release)(release.queries, Exact(), view.targets.queries.counts(
        worlds.complete(view.targets, secrets)))  # fmt: skip
    sums = cell_sums(view_of(view.targets, exact))
    truth = np.arange(3) == secrets[0]
    np.testing.assert_array_equal(sums[-2, 0] > 0, truth)
    np.testing.assert_array_equal(sums[-1, 0] > 0, ~truth)


class Exact:
    title = "as it is"

    def log_likelihood(self, cells, counts):
        return np.where(cells == counts, 0.0, -np.inf)


def test_scores_of_rows(worlds):
    """No rows say nothing; many say their share against the prior's."""
    rng = np.random.default_rng(2)
    targets, _ = worlds.world(rng, people=2, sizes=(2, 2), unknown=(1,), k=2)
    targets.prior[:] = [0.8, 0.2]
    at = np.zeros((4, 2, 2))
    at[1, 0] = [0, 1e6]
    scores = row_scores(targets, Votes(at, at[1]))
    assert scores.shape == (5, 2, 2)
    np.testing.assert_allclose(scores[[0, 2, 3]], 0, atol=1e-12)
    np.testing.assert_allclose(scores[1, 0, 1], np.log(1 / 0.2), atol=1e-5)
    np.testing.assert_array_equal(scores[4], [[0, 1], [0, 0]])


@pytest.mark.parametrize("kind", ["counts", "withheld", "rows"])
def test_it_recovers_more_than_the_prior(worlds, kind):
    trained = Learned().train(worlds.simulated(kind, 6, 1, unknown=(1,)), np.random.default_rng(0))
    assert isinstance(trained, TableAttack)
    assert isinstance(Learned(), Trainable)
    gains = []
    for one in worlds.simulated(kind, 10, 2, unknown=(1,)):
        [guess] = trained.attempt([one.release], [one.targets], np.random.default_rng(0))
        ours = (guess == one.secrets).mean()
        gains.append(ours - (one.targets.prior.argmax(axis=1) == one.secrets).mean())
    gains = np.array(gains)
    assert gains.mean() > 4 * gains.std(ddof=1) / np.sqrt(len(gains))
    assert gains.mean() > 0.05


def test_beliefs_are_calibrated_on_new_releases(worlds):
    """Mean belief in the guess is the share of right guesses, within four errors."""
    trained = Learned().train(
        worlds.simulated("withheld", 10, 3, unknown=(1,)), np.random.default_rng(0)
    )
    said, right = [], []
    for one in worlds.simulated("withheld", 20, 4, unknown=(1,)):
        beliefs = trained.beliefs(view_of(one.targets, one.release), rng=np.random.default_rng(0))
        np.testing.assert_allclose(beliefs.sum(axis=1), 1)
        said.append(beliefs.max(axis=1))
        right.append(beliefs.argmax(axis=1) == one.secrets)
    said, right = np.concatenate(said), np.concatenate(right)
    assert abs(said.mean() - right.mean()) < 4 * right.std() / np.sqrt(right.size)


def test_the_same_training_gives_the_same_attack(worlds, monkeypatch):
    """Also where only some people are learned from; and then from others with another seed."""
    monkeypatch.setattr("narcissus.attacks.table.nearest.ENTRIES", 60 * 3 * 9)
    releases = worlds.simulated("withheld", 3, 5, unknown=(1,))
    one, two, three = (
        Learned().train(releases, np.random.default_rng(seed)).logit.weights for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != three).any()


def test_it_must_be_trained(worlds):
    [one] = worlds.simulated("rows", 1, 6, unknown=(1,))
    with pytest.raises(InputError, match="train"):
        Learned().guess(view_of(one.targets, one.release), rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="at least one training release"):
        Learned().train([], np.random.default_rng(0))
    with pytest.raises(InputError, match="ridge"):
        Learned(ridge=0.0)


def drawn_logit(seed, *, people=3000, alternatives=4, weights=(1.0, -2.0, 0.5)):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(people, alternatives, len(weights))) * [1.0, 0.3, 10.0]
    chances = special.softmax(features @ np.array(weights), axis=1)
    chosen = (chances.cumsum(axis=1) < rng.random((people, 1))).sum(axis=1)
    return features, np.minimum(chosen, alternatives - 1)


def test_it_finds_the_weights_that_made_the_data():
    features, chosen = drawn_logit(1, people=20_000)
    found = ConditionalLogit.fit(features, chosen, 1e-6).weights
    np.testing.assert_allclose(found, [1.0, -2.0, 0.5], atol=0.12)


def test_the_maximum_is_that_of_a_general_optimiser():
    features, chosen = drawn_logit(2, people=300)
    centred = features - features.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=(0, 1)))
    ridge = 5.0

    def loss(weights):
        logits = features @ weights
        logs = logits[np.arange(len(chosen)), chosen] - special.logsumexp(logits, axis=1)
        return -logs.sum() + ridge / 2 * ((weights * deviation) ** 2).sum()

    wanted = optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    found = ConditionalLogit.fit(features, chosen, ridge).weights
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    # The ridge is felt: without it the weights are others.
    assert np.abs(ConditionalLogit.fit(features, chosen, 1e-9).weights - found).max() > 1e-3


def test_useless_and_separating_features_do_no_harm():
    """A constant gets no weight; one that tells the truth outright a finite one."""
    features, chosen = drawn_logit(3, people=200)
    told = np.zeros((*features.shape[:2], 2))
    told[:, :, 0] = 7.0
    told[np.arange(len(chosen)), chosen, 1] = 1.0
    logit = ConditionalLogit.fit(np.concatenate([features, told], axis=2), chosen, 1.0)
    assert logit.weights[3] == 0
    assert np.isfinite(logit.weights).all()
    chances = logit.chances(np.concatenate([features, told], axis=2))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances.argmax(axis=1) == chosen).all()


@pytest.mark.parametrize("kind", ["counts", "swapped", "rounded", "withheld"])
@pytest.mark.one_in(2)
def test_never_far_below_the_best_single_attack(worlds, kind):
    """Within .02 of the best of the others, which is chosen after the fact (2,500 people)."""
    before, after = (
        worlds.simulated(kind, *drawn, noise=3.0, people=100) for drawn in ((8, 1), (25, 2))
    )
    attacks = {"posterior": MeanField(), "learned": Learned(), "stack": Stack()}
    if kind == "swapped":
        attacks["nearest"] = NearestRecord()
    shares = {}
    for name, attack in attacks.items():
        rng = np.random.default_rng(0)
        played = attack.train(before, rng) if hasattr(attack, "train") else attack
        guesses = [played.guess(view_of(s.targets, s.release), rng=rng) for s in after]
        shares[name] = np.mean([g == s.secrets for g, s in zip(guesses, after, strict=True)])
    guess = np.mean([s.targets.prior.argmax(axis=1) == s.secrets for s in after])
    stack = shares.pop("stack")
    assert stack > max(shares.values()) - 0.02
    assert stack > guess + 0.03


def test_it_carries_its_own_posterior(worlds):
    """What the posterior learns is learned on the way, and used."""
    [first, second] = worlds.simulated("rounded", 2, 3, people=100)
    rng = np.random.default_rng(0)
    trained = Stack().train([first], rng)
    alone = MeanField().train([first], rng)
    assert trained.posterior == alone
    view = view_of(second.targets, second.release)
    told = trained.features(view, rng=rng)
    assert told.shape == (*second.targets.prior.shape, 11)
    np.testing.assert_array_equal(told[:, :, -1], alone.beliefs(view, rng=rng))
    assert trained.logit.weights[-1] != 0
