"""A channel as a mechanism: its rows, sampled and written out."""

import numpy as np
import pytest
from scipy import sparse, stats

from narcissus.channels import channel, local_dp_epsilon
from narcissus.mechanisms import ThroughChannel

ROWS = np.array([[0.7, 0.3, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_outputs_follow_the_rows(kind):
    mechanism, count = ThroughChannel(channel(kind(ROWS))), 20_000
    secrets = np.tile([0, 1], count)
    outputs = mechanism.release(secrets, np.random.default_rng(1))
    for secret, row in enumerate(ROWS):
        seen = np.bincount(outputs[secrets == secret], minlength=4)
        assert (seen[row == 0] == 0).all()
        # a false alarm once in a million
        assert stats.chisquare(seen[row > 0], row[row > 0] * count).pvalue > 1e-6


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_written_out_it_is_the_channel(kind):
    mechanism = ThroughChannel(channel(kind(ROWS)))
    written = mechanism.channel(np.array([1, 0, 1]))
    assert (written.matrix.toarray() == ROWS[[1, 0, 1]]).all()
    assert written.releases.tolist() == [0, 1, 2, 3]
    assert mechanism.privacy(np.array([0])) == (local_dp_epsilon(ROWS), 0.0)


def test_a_data_set_of_one_record_is_a_secret():
    """As worlds of pairs and lists of data sets give them: an axis of records."""
    mechanism = ThroughChannel(channel(np.eye(3)))
    sets = np.array([[2], [0]])
    assert mechanism.release(sets, np.random.default_rng(0)).tolist() == [2, 0]
    assert (mechanism.channel(sets).matrix.toarray() == np.eye(3)[[2, 0]]).all()
