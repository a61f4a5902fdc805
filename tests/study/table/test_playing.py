"""Trials are played once, kept, and played on for."""

from __future__ import annotations

import narcissus as library


def record(path, folder=None, **changes):
    return library.run(library.load_study(path), rng=7, folder=folder, **changes).record


def test_kept_trials_are_not_played_again(study, tmp_path, monkeypatch):
    path = study()
    first = record(path, tmp_path / "out")

    def never(self, key):
        raise AssertionError(f"played {key} again")

    monkeypatch.setattr("narcissus.study.table.experiment.Experiment.play", never)
    assert record(path, tmp_path / "out").results == first.results


def test_a_run_that_looks_is_the_same_when_it_goes_on(study, tmp_path):
    """The second run finds the trials of the first look and plays those of the later ones."""
    path = study(run={"precision": 40, "trials": 12})
    whole = record(path)
    assert record(path, tmp_path / "out").results == whole.results
    assert record(path, tmp_path / "out").results == whole.results
