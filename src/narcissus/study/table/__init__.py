"""Audits of noisy marginals of a table of people: schema, trials, results, verdict."""

from narcissus.study.table.experiment import Experiment
from narcissus.study.table.kind import KIND, TableKind
from narcissus.study.table.population import Setting
from narcissus.study.table.prepare import prepare
from narcissus.study.table.schema import PolicyFile, TableStudy

__all__ = ["KIND", "Experiment", "PolicyFile", "Setting", "TableKind", "TableStudy", "prepare"]
