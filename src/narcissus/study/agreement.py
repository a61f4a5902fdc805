"""What a record's status must agree with in its own results, whatever its digest says."""

from __future__ import annotations

from collections.abc import Sequence

from narcissus.study.record import Record, Status, study_digest
from narcissus.study.results.classifier import ClassifierResults
from narcissus.study.results.game import GameOutcome, GameResults
from narcissus.study.results.image import ImageResults
from narcissus.study.results.language import LanguageResults
from narcissus.study.results.secrets import SecretsResults
from narcissus.study.results.synthetic import SyntheticResults
from narcissus.study.results.table import SettingResult, TableResults

# outcome of a game -> statuses that it allows
OUTCOMES: dict[GameOutcome, set[Status]] = {
    "resilient, proved": {"met"},
    "resilient, proved if": {"met"},
    "violates, proved": {"exceeded"},
    "violates, proved if": {"exceeded"},
    "violates": {"exceeded"},
    "no violation found": {"inconclusive", "too few trials"},
    "contradicted": {"contradicted"},
    "not assessed": {"not assessed"},
}


def disagreement(record: Record) -> str:
    """Say where a record's status, verdict and results do not agree; '' where they do.

    The rules are those that hold whatever a kind of study weighs: a threshold that is met or
    exceeded is so by some setting of the results, a proof is named in a game's outcome, and what
    contradicts itself is not met.
    """
    if why := _contradicted(record):
        return why
    if not record.verdict.strip():
        return "there is no verdict"
    said = record.provenance.digests.get("study")
    if said != f"sha256:{study_digest(record.kind, record.study)}":
        return "the study is another one than that of the digest in its provenance"
    return _of_its_kind(record)


def _of_its_kind(record: Record) -> str:
    status, results = record.status, record.results
    if isinstance(results, TableResults):
        return _table(record, results.settings)
    if isinstance(results, SyntheticResults) and status != results.verdict:
        return f"the status is {status!r}, and that of the results {results.verdict!r}"
    if isinstance(results, SecretsResults):
        return _secrets(record, results)
    if (
        isinstance(results, ClassifierResults | ImageResults | LanguageResults)
        and status != results.status
    ):
        return f"the status is {status!r}, and that of the results {results.status!r}"
    if isinstance(results, GameResults) and status not in OUTCOMES[results.outcome]:
        return f"the status is {status!r}, and the outcome {results.outcome!r}"
    return ""


def _contradicted(record: Record) -> str:
    status = record.status
    # what an attack was seen to do needs nothing that a contradiction can refute
    seen = isinstance(record.results, TableResults | SecretsResults) and status == "exceeded"
    if record.contradictions and status != "contradicted" and not seen:
        return f"the status is {status!r}, and statements of the record contradict each other"
    if status == "contradicted" and not record.contradictions:
        return "the status is 'contradicted', and no contradiction is named"
    return ""


def _secrets(record: Record, results: SecretsResults) -> str:
    worst = results.headline
    if record.status != worst.status:
        return f"the status is {record.status!r}, and that of the results {worst.status!r}"
    return "" if worst.verdict in record.verdict else "the verdict is not that of the results"


def _table(record: Record, settings: Sequence[SettingResult]) -> str:
    found: set[str] = {setting.status for setting in settings}
    if record.status in {"met", "exceeded"} and record.status not in found:
        return f"the status is {record.status!r}, and that of the results {_listed(found)}"
    if record.status == "no threshold" and found & {"met", "exceeded"}:
        return f"the status is 'no threshold', and that of the results {_listed(found)}"
    if len(settings) == 1:
        own = settings[0]
        if record.status not in {own.status, "contradicted"}:
            return f"the status is {record.status!r}, and that of the results {own.status!r}"
        if own.verdict not in record.verdict:
            return "the verdict is another one than that of the results"
    return ""


def _listed(found: set[str]) -> str:
    return " and ".join(repr(status) for status in sorted(found))
