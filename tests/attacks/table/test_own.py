"""People's own part, against taking each person out of the cells' matrix by hand."""

import numpy as np
import pytest

from narcissus.attacks.table import Targets
from narcissus.attacks.table import own as room
from narcissus.attacks.table.dual import Dual
from narcissus.attacks.table.gathers import Gathers
from narcissus.attacks.table.own import add_own_terms
from narcissus.attacks.table.shares import HeldHere, Share, Shares

WORLDS = [
    pytest.param(12, (2, 3, 2, 4), (0,), 3, id="two values"),
    pytest.param(12, (2, 3, 2, 4), (3,), 2, id="four values"),
    pytest.param(8, (2, 3, 2, 2), (1, 3), 2, id="two unknown"),
    pytest.param(1, (2, 3, 2), (1,), 2, id="one person"),
]


def believed(worlds, people, sizes, unknown, k, alike, scale=1.5, seed=5):
    """Give a problem, its beliefs, and the cells of each value of each type, (t, values, cells)."""
    rng = np.random.default_rng(seed)
    targets, _ = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    if alike:
        prior = np.broadcast_to(targets.prior[0], targets.prior.shape).copy()
        targets = Targets(targets.queries, targets.codes, prior, targets.success)
    gathers = Gathers(targets)
    cells = np.zeros((people, targets.queries.values, targets.queries.cells))
    for value in range(targets.queries.values):
        own = targets.queries.cells_of(worlds.complete(targets, np.full(people, value)))
        cells[np.arange(people)[:, None], value, own] = 1
    cells = cells[gathers.types.first][..., gathers.cells]
    variance = scale**2 * np.linspace(0.5, 2, len(gathers.cells))
    share = Share(gathers, targets.log_prior[gathers.types.first])
    shares = Shares(HeldHere([lambda: share]), people, share.log_prior.size)
    dual = Dual(shares, np.zeros(len(variance)), variance)
    return dual, dual.beliefs(0.3 * rng.normal(size=len(variance))), share, cells


def covariances(beliefs, cells):
    """Give the covariance of what one person of each type adds to the cells."""
    mean = np.einsum("tv,tvc->tc", beliefs, cells)
    off = cells - mean[:, None]
    return np.einsum("tv,tvc,tvd->tcd", beliefs, off, off), off


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), WORLDS)
def test_the_whole_matrix_against_leaving_out_one_person(worlds, people, sizes, unknown, k, alike):
    dual, beliefs, share, cells = believed(worlds, people, sizes, unknown, k, alike)
    each, off = covariances(share.types, cells)
    weights = share.gathers.types.people
    if alike and people > 1:
        assert len(weights) < people
    add_own_terms(dual, beliefs)
    found = share.terms
    every = np.diag(dual.variance) + np.einsum("t,tcd->cd", weights, each)
    for kind in range(len(weights)):
        inverse = np.linalg.inv(every - each[kind])
        expected = -0.5 * np.einsum("vc,cd,vd->v", off[kind], inverse, off[kind])
        np.testing.assert_allclose(found[kind], expected, rtol=1e-6)


@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), WORLDS[:3])
def test_the_diagonal_has_the_right_size_altogether(worlds, monkeypatch, people, sizes, unknown, k):
    """The mean over people is that of the whole matrix with the person in it; 400 probes."""
    monkeypatch.setattr(room, "WHOLE", 0)
    monkeypatch.setattr(room, "PROBED", 400 * people)
    monkeypatch.setattr(room, "MOST_PROBES", 400)
    monkeypatch.setattr(room, "CLOSE", 1e-6)
    dual, beliefs, share, cells = believed(worlds, people, sizes, unknown, k, alike=True)
    each, off = covariances(share.types, cells)
    weights = share.gathers.types.people
    inverse = np.linalg.inv(np.diag(dual.variance) + np.einsum("t,tcd->cd", weights, each))
    expected = -0.5 * np.einsum("tvc,cd,tvd->tv", off, inverse, off)
    add_own_terms(dual, beliefs)
    found = share.terms

    def size(terms):
        return np.einsum("t,tv,tv->", weights, share.types, terms)

    assert size(found) == pytest.approx(size(expected), rel=0.1)
    # What the diagonal alone says is far larger: the tables repeat each other.
    plain = -0.5 * (beliefs.variance / (dual.variance + beliefs.variance)).sum()
    assert size(expected) / plain < 0.8


def test_certain_people_have_no_own_part(worlds, monkeypatch):
    """Rounding leaves nothing to divide by."""
    monkeypatch.setattr(room, "WHOLE", 0)
    dual, beliefs, share, _ = believed(worlds, 12, (2, 3, 2, 4), (0,), 3, alike=False)
    share.log_prior[:] = np.where(np.arange(2) == 0, 0.0, -np.inf)
    beliefs = dual.beliefs(np.zeros(len(dual.variance)))
    add_own_terms(dual, beliefs)
    found = share.terms
    np.testing.assert_array_equal(found[:, 0], 0)
    assert np.isfinite(found).all()
