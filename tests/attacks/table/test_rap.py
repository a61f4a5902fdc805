"""RAP: what it must recover, with a list of joint values and without, and its slopes."""

import numpy as np
import pytest

from narcissus.attacks.table import RelaxedProjection, View
from narcissus.attacks.table import rap as room
from narcissus.attacks.table.base import softmax
from narcissus.attacks.table.rap import FactoredProjection, RelaxedTables
from narcissus.mechanisms import GaussianNoise, Grouping, NoisyMarginals, NoNoise
from narcissus.success import ColumnsRight

from .conftest import factored_of


@pytest.mark.parametrize("start", ["random", "prior"])
@pytest.mark.parametrize("unknown", [(0,), (0, 3)])
def test_exact_marginals_are_fitted(worlds, start, unknown):
    """Without noise the rounded rows answer nearly all queries, and most secrets are found."""
    rng = np.random.default_rng(9)
    targets, secrets = worlds.world(rng, people=25, sizes=(2, 6, 6, 3, 5), unknown=unknown, k=3)
    codes = worlds.complete(targets, secrets)
    release = NoisyMarginals(targets.queries, NoNoise()).release(codes[None])[0].cells
    view = View(targets, NoNoise(), release)
    attempt = RelaxedProjection(start=start, steps=600).guess(view, rng=rng)
    off = np.abs(targets.queries.counts(worlds.complete(targets, attempt)) - release).sum()
    prior_off = np.abs(
        targets.queries.counts(worlds.complete(targets, targets.prior.argmax(axis=1))) - release
    ).sum()
    assert off < 0.1 * prior_off
    assert (attempt == secrets).mean() > 0.9


def test_several_starts_vote_and_sampling_rounds(worlds):
    rng = np.random.default_rng(10)
    targets, secrets = worlds.world(rng, people=20, sizes=(3, 5, 5, 4), unknown=(0,), k=3)
    release = worlds.release(targets, NoNoise(), secrets, rng).cells
    view = View(targets, NoNoise(), release)
    for attack in (
        RelaxedProjection(starts=3, steps=200),
        RelaxedProjection(rounding="sample", steps=200),
    ):
        attempt = attack.guess(view, rng=np.random.default_rng(1))
        again = attack.guess(view, rng=np.random.default_rng(1))
        np.testing.assert_array_equal(attempt, again)
        assert attempt.shape == (20,)
        assert (attempt == secrets).mean() > 0.7


def test_a_met_release_stops_at_once(worlds):
    """All answers met: no error, no slope, no division by zero."""
    rng = np.random.default_rng(11)
    targets, _ = worlds.world(rng, people=4, sizes=(2, 2), unknown=(0,), k=1)
    view = View(targets, NoNoise(), np.array([2.0, 2.0]))
    attempt = RelaxedProjection(steps=50).guess(view, rng=rng)
    assert attempt.shape == (4,)
    empty = View(targets, NoNoise(), np.zeros(2))
    assert RelaxedProjection(steps=50).guess(empty, rng=rng).shape == (4,)


@pytest.mark.states("Swanberg et al. 2025", "section 6.1")
@pytest.mark.parametrize("start", ["random", "prior"])
@pytest.mark.parametrize("starts", [1, 3])
@pytest.mark.parametrize(
    "success", [ColumnsRight((2, 4, 3)), ColumnsRight((2, 4, 3), (0.0, 1.0, 0.0), at_least=2)]
)
@pytest.mark.one_in(4)
def test_without_a_list_of_joint_values_it_names_the_same_values(worlds, start, starts, success):
    """One block a column either way: the same draws, the same steps, the same guesses."""
    rng = np.random.default_rng(4)
    targets, secrets = worlds.world(
        rng, people=15, sizes=(2, 4, 5, 3), unknown=(0, 1, 3), k=2, success=success
    )
    release = worlds.release(targets, GaussianNoise(0.5), secrets, rng)
    attack = RelaxedProjection(start=start, starts=starts, steps=60)
    joint = attack.attempt([release] * 2, [targets] * 2, np.random.default_rng(7))
    codes = FactoredProjection(attack).attempt(
        [release] * 2, [factored_of(targets)] * 2, np.random.default_rng(7)
    )
    assert codes.shape == (2, 15, 3)
    for one, columns in zip(joint, codes, strict=True):
        np.testing.assert_array_equal(success.split_guess(one), columns)
    assert len(np.unique(joint)) > 3


def test_of_several_starts_the_most_frequent_values_win(worlds):
    """All columns together, and the first in order where two are as frequent."""
    rng = np.random.default_rng(4)
    targets, secrets = worlds.world(rng, people=3, sizes=(3, 3), unknown=(0, 1), k=1)
    release = worlds.release(targets, GaussianNoise(1.0), secrets, rng).cells
    picks = iter([[2, 1], [0, 0], [1, 2], [1, 2], [2, 1], [0, 1], [1, 1], [2, 2]])

    class Picked(RelaxedProjection):
        def _fit(self, model, logits, rng):
            return [np.eye(3)[[v] * 3] for v in next(picks)]

    assert Picked(starts=5).codes(targets, release, rng).tolist() == [[1, 2]] * 3
    assert Picked(starts=3).codes(targets, release, rng).tolist() == [[0, 1]] * 3


def test_why_it_may_be_below_the_prior_names_the_start_and_the_rounding():
    assert "never looks at the prior" in RelaxedProjection().why_below(1)
    assert "starts from the prior and leaves it" in RelaxedProjection(start="prior").why_below(1)
    for attack in (RelaxedProjection(), FactoredProjection(RelaxedProjection())):
        assert "rounded by itself" not in attack.why_below(1)
        assert "rounded by itself" in attack.why_below(2)


def relaxed_counts(blocks, pattern):
    """Counts of one pattern's tables from relaxed rows, by explicit products."""
    joint = np.ones((len(blocks[0]), 1))
    for c, size, grouping in zip(pattern.columns, pattern.shape, pattern.groupings, strict=True):
        factor = blocks[c]
        if grouping is not None:
            factor = np.zeros((len(joint), size))
            for value, group in enumerate(grouping.groups):
                factor[:, group] += blocks[c][:, value]
        joint = np.einsum("ni,nj->nij", joint, factor).reshape(len(joint), -1)
    return joint


class Fixed:
    """A generator that draws the queries that the test says."""

    def __init__(self, away, picks):
        self.away, self.picks = away, iter(picks)

    def binomial(self, _n, _p):
        return self.away

    def random(self, _size):
        return next(self.picks)


@pytest.mark.states("Swanberg et al. 2025", "section 6.1")
@pytest.mark.parametrize(
    ("sizes", "unknown", "k"),
    [
        ((2, 3, 9), (1,), 2),
        ((2, 3, 9, 2), (0, 1), 2),
        ((2, 3, 9, 2), (0, 1, 3), 3),
        ((2, 3, 9), (1,), (((2, 1), (3, 2), (3, 0), (1,)), (Grouping(1, (0, 1, 0)),))),
        ((2, 3, 9), (0, 1), (((2, 1, 0), (3, 0, 2), (2, 3), (0, 2)), (Grouping(1, (0, 1, 0)),))),
    ],
)
def test_slopes_against_finite_differences(worlds, sizes, unknown, k):
    """Loss = L2 norm of the drawn errors over their number, draws fixed."""
    rng = np.random.default_rng(3)
    targets, secrets = worlds.world(rng, people=6, sizes=sizes, unknown=unknown, k=k)
    release = worlds.release(targets, GaussianNoise(1.0), secrets, rng).cells
    model = RelaxedTables(targets, release)
    blocks = [softmax(rng.normal(size=(6, s))) for s in targets.queries.unknown_shape]
    drawn, away = 64, 5
    picks, lost_picks = rng.random(drawn - away), rng.random(away)

    def errors(parts):
        """Errors of every cell, in the order of cells that people can reach, by the long way."""
        found = np.zeros(targets.queries.cells)
        reached = np.zeros(targets.queries.cells, dtype=bool)
        for pattern, base in zip(targets.queries.patterns, targets.bases, strict=True):
            joint = relaxed_counts(parts, pattern)
            for i in range(6):
                for t in range(pattern.tables):
                    cells = base[i, t] + np.arange(pattern.size)
                    found[cells] += joint[i]
                    reached[cells] = True
        return (found - release) / 6, reached

    start, reached = errors(blocks)
    live = np.flatnonzero(reached)
    weights = np.cumsum(np.abs(start[live]))
    hits = np.searchsorted(weights, picks * weights[-1], side="right")
    dead = np.abs(release[~reached]) / 6
    lost = np.cumsum(dead)
    lost_hits = np.searchsorted(lost, lost_picks * lost[-1], side="right")

    def loss(parts):
        values, _ = errors(parts)
        squares = (values[live][hits] ** 2).sum() + (dead[lost_hits] ** 2).sum()
        return np.sqrt(squares) / drawn

    slopes = model.slopes(blocks, drawn, Fixed(away, [picks, lost_picks]))
    for c, block in enumerate(blocks):
        for place in np.ndindex(block.shape):
            step = 1e-6
            up = [b.copy() for b in blocks]
            down = [b.copy() for b in blocks]
            up[c][place] += step
            down[c][place] -= step
            expected = (loss(up) - loss(down)) / (2 * step)
            assert slopes[c][place] == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_slopes_do_not_depend_on_how_many_cells_are_worked_on_at_a_time(worlds, monkeypatch):
    rng = np.random.default_rng(3)
    targets, secrets = worlds.world(rng, people=6, sizes=(2, 3, 9, 2), unknown=(0, 1, 3), k=3)
    release = worlds.release(targets, GaussianNoise(1.0), secrets, rng).cells
    blocks = [softmax(rng.normal(size=(6, s))) for s in targets.queries.unknown_shape]
    found = []
    for entries in (room.ENTRIES, 1, 20):
        monkeypatch.setattr(room, "ENTRIES", entries)
        found.append(RelaxedTables(targets, release).slopes(blocks, 64, np.random.default_rng(1)))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_allclose(same, one, rtol=1e-12)
