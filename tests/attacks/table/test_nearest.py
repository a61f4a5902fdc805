"""The nearest record against a loop over people and rows."""

import numpy as np
import pytest

from narcissus.attacks.table import NearestRecord, View
from narcissus.attacks.table.nearest import FURTHEST, votes_of
from narcissus.mechanisms import Microdata
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
