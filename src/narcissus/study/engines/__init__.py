"""Engines that play the trials of a study: one process, several, or the workers of a cluster."""

from narcissus.study.engines.choice import ENGINES, executor_of
from narcissus.study.engines.dask import Dask
from narcissus.study.engines.processes import Processes, play_apart

__all__ = ["ENGINES", "Dask", "Processes", "executor_of", "play_apart"]
