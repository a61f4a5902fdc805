"""Audits: play a study, or a data frame with plain arguments, and get the outcome."""

from narcissus.audits.of_synthetic import audit_synthetic
from narcissus.audits.of_table import Arguments, audit
from narcissus.audits.outcome import Audit, load_audit
from narcissus.audits.play import run

__all__ = ["Arguments", "Audit", "audit", "audit_synthetic", "load_audit", "run"]
