"""An experiment in transit to workers, which may lack the theorems of this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from narcissus.bounds import THEOREMS, Theorem
from narcissus.bounds.theorems import from_outside
from narcissus.study.table.experiment import Experiment


@dataclass(frozen=True)
class SentExperiment:
    """Plays the trials of an experiment by their keys, with theorems that others have added."""

    experiment: Experiment
    theorems: dict[str, Theorem]

    @classmethod
    def of(cls, experiment: Experiment) -> SentExperiment:
        return cls(experiment, from_outside())

    def __call__(self, key: str) -> dict[str, Any]:
        """Play one trial; return what is kept of it."""
        for name in from_outside():  # of what this worker played before
            if name not in self.theorems:
                del THEOREMS[name]
        THEOREMS.update(self.theorems)
        return self.experiment.play(key)
