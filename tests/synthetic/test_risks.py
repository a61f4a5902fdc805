"""What is asked, and counts of what came of it."""

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.synthetic import FileThreat, Risk, read_files


def test_secrets_are_each_column_and_all_together(people):
    files = read_files(people(30, 1), people(30, 2))
    assert FileThreat(("ill",)).secrets(files) == {"ill": (1,)}
    secrets = FileThreat(("ill", "age")).secrets(files)
    assert secrets == {"ill": (1,), "age": (0,), "ill and age": (1, 0)}


@pytest.mark.parametrize(
    ("threat", "said"),
    [
        (FileThreat(("il",)), "no column `il`; did you mean `ill`"),
        (FileThreat(("ill", "ill")), "none twice"),
        (FileThreat(("age", "job", "town", "ill")), "must know at least one"),
        (FileThreat(("ill",), linked=(("age",), ("age", "job"))), "share none"),
        (FileThreat(("ill",), linked=(("age",), ("jb",))), "no column `jb`"),
    ],
)
def test_a_threat_that_does_not_fit_is_refused(people, threat, said):
    files = read_files(people(30, 1), people(30, 2))
    with pytest.raises(InputError, match=said):
        (threat.secrets(files), threat.division(files))


def test_a_column_of_many_values_needs_bins_to_be_guessed():
    frame = pd.DataFrame({"x": np.arange(400.0), "y": [0, 1] * 200})
    with pytest.raises(InputError, match="give it bins"):
        FileThreat(("x",)).secrets(read_files(frame, frame))


def test_counts_are_of_both_sides_or_of_a_group():
    real, control = np.array([1, 1, 0, 0], bool), np.array([1, 0, 0], bool)
    risk = Risk("linkability", "", "a", {}, real, control)
    counts = risk.counts()
    assert (counts.successes, counts.trials, counts.others, counts.other_trials) == (2, 4, 1, 3)
    counts = risk.counts(np.array([1, 0, 1, 0], bool), np.array([0, 1, 1], bool))
    assert (counts.successes, counts.trials, counts.others, counts.other_trials) == (1, 2, 0, 2)
    assert risk.counts(real, np.zeros(3, bool)) is None
    assert Risk("linkability", "", "a", {}, real, None).counts() is None
