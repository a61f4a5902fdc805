"""Training a classifier, and what it refuses."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.classifier import TrainedClassifier, train_classifier
from narcissus.extraction.files import DataSet


def test_the_mechanism_trains_on_labelled_rows():
    rows, labels = np.array([[1.0, 0], [-1, 0]]), np.array([1.0, -1])
    mechanism = TrainedClassifier(width=5, steps=50)
    data = DataSet.of_rows(rows, labels=labels)
    net = mechanism.release([data], np.random.default_rng(1))[0]
    direct = train_classifier(rows, labels, width=5, steps=50, rng=1)
    assert np.array_equal(net.W, direct.W)
    with pytest.raises(InputError, match="needs labels"):
        mechanism.release([DataSet.of_rows(rows)], np.random.default_rng(1))


def test_bad_input():
    with pytest.raises(InputError, match="labels"):
        train_classifier(np.zeros((3, 2)), [1, 1, 1])
    with pytest.raises(InputError, match="finite"):
        train_classifier([[np.nan], [1]], [1, -1])
