"""The slope of the loss that RAP descends, against finite differences of it."""

import numpy as np
import pytest

from narcissus.attacks.table import relaxed
from narcissus.attacks.table.base import softmax
from narcissus.attacks.table.relaxed import RelaxedTables
from narcissus.mechanisms import GaussianNoise, Grouping


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
    for entries in (relaxed.ENTRIES, 1, 20):
        monkeypatch.setattr(relaxed, "ENTRIES", entries)
        found.append(RelaxedTables(targets, release).slopes(blocks, 64, np.random.default_rng(1)))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_allclose(same, one, rtol=1e-12)
