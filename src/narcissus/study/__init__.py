"""Studies as files: their kinds and schemas, the record, the store of trials."""

from narcissus.study.kinds import KINDS, Outcome, RunOptions, StudyKind, study_kind
from narcissus.study.load import Study, load_study
from narcissus.study.reading import read_record
from narcissus.study.record import Record, digest_of, make_record, portable_digest_of
from narcissus.study.shareable import shareable
from narcissus.study.toml import Document, read_document, validate

__all__ = [
    "KINDS",
    "Document",
    "Outcome",
    "Record",
    "RunOptions",
    "Study",
    "StudyKind",
    "digest_of",
    "load_study",
    "make_record",
    "portable_digest_of",
    "read_document",
    "read_record",
    "shareable",
    "study_kind",
    "validate",
]
