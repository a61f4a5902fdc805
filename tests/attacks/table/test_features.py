"""What a release says near a person, against sums over the tables by hand."""

import numpy as np
import pytest

from narcissus.attacks.table.base import view_of
from narcissus.attacks.table.features import CROWDS, LEAST, cell_sums, features_of, row_scores
from narcissus.attacks.table.nearest import Votes
from narcissus.attacks.table.propagation import USUAL_SCALE
from narcissus.mechanisms import GaussianNoise, Microdata


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
