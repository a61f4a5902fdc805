"""The kinds of study, and what each must offer. A new kind is an entry here and a folder or file.

A kind is an object with the attributes of `StudyKind`. It is named by the key ``kind`` of a study
file ("table" where there is none).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel

from narcissus._scratch import scratch_folder
from narcissus._validation import one_of
from narcissus.errors import InputError
from narcissus.judgement import StudyJudgement
from narcissus.observer import Observer
from narcissus.results import Grade, NotAssessed, Status
from narcissus.rows import Findings, HoldsResult, StudyResult
from narcissus.study.registry import loaded

if TYPE_CHECKING:
    from narcissus.game.executor import Executor

# kind -> module:attribute
KINDS: dict[str, str] = {
    "channel": "narcissus.kinds.channel.kind:KIND",
    "classifier": "narcissus.kinds.memorization.classifier.kind:KIND",
    "extraction": "narcissus.kinds.extraction.kind:KIND",
    "game": "narcissus.kinds.game.kind:KIND",
    "image-model": "narcissus.kinds.memorization.image.kind:KIND",
    "language-model": "narcissus.kinds.memorization.language.kind:KIND",
    "membership": "narcissus.kinds.membership.kind:KIND",
    "published-tables": "narcissus.kinds.published.kind:KIND",
    "secrets": "narcissus.kinds.secrets.kind:KIND",
    "synthetic": "narcissus.kinds.synthetic.kind:KIND",
    "table": "narcissus.kinds.table.kind:KIND",
}
OF_PAPERS = {"copyright": "narcissus_papers.copyright.kind:KIND"}
"""Kinds of the package narcissus-papers, which are among `KINDS` where it is installed."""
if find_spec("narcissus_papers") is not None:
    KINDS.update(OF_PAPERS)


@dataclass(frozen=True)
class RunOptions:
    """How to play a study, apart from what it says itself; no number depends on who plays."""

    entropy: int  # The seed of everything random
    observer: Observer
    folder: Path | None = None  # Where finished work is kept; None keeps nothing
    workers: int | None = None  # Processes; None: as the study says
    # A name (`narcissus.study.engines.ENGINES`), or an executor, which stays open; None: as the
    # study says
    engine: str | Executor | None = None
    restart: bool = False  # Throw away what an earlier run left in the folder
    # Thresholds of the person who approves the release; None: the study's own
    policy: Path | None = None
    internal: Path | None = None  # Where to write what is about single records; None: nowhere
    hours: float | None = None  # Longest time that was agreed to; None: any
    looks: int | None = None  # Look at which a run ended for want of time, to play it again
    keyed: Callable[[str], str] = str  # Keys a digest of data (`narcissus.study.keyed`)

    @contextmanager
    def place(self) -> Generator[Path]:
        """Yield where models are kept: the results folder, or a temporary one."""
        if self.folder is not None:
            yield self.folder
            return
        with scratch_folder() as place:
            yield place


@dataclass(frozen=True)
class Outcome:
    """What a kind of study found, ready for the record.

    ``grade`` is the weakest grade of what the status rests on, ``assumptions`` what it assumes,
    ``contradictions`` the pairs of findings that cannot both hold, each as a sentence.
    """

    title: str
    status: Status
    findings: Findings
    assessed: list[str]
    grade: Grade = "not assessed"
    assumptions: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    not_assessed: list[NotAssessed] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)


class StudyKind(Protocol):
    """What a kind of study offers (`narcissus.kinds.engine.Kind`)."""

    model: type[BaseModel]
    """Schema of the study file, a pydantic model with ``extra="forbid"``."""
    result: type[StudyResult]
    """Model of what a record says next to its rows."""
    layout: str
    """``module:attribute`` of its words and its page."""

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse bad input before any work; ``folder`` is where the study file lies."""
        ...

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome: ...

    def judged(self, record: HoldsResult) -> StudyJudgement: ...

    def conclude(self, findings: Findings) -> StudyJudgement: ...

    def is_of_people(self, study: Mapping[str, object]) -> bool: ...

    def to_show(self, result: Any) -> Any: ...


def study_kind(name: str) -> StudyKind:
    """Load a kind of study by its name."""
    require_installed(name)
    one_of("kind", name, KINDS)
    return loaded(KINDS[name])


def require_installed(name: str) -> None:
    """Refuse a kind of the papers' package where that is not installed."""
    if name in OF_PAPERS and name not in KINDS:
        raise InputError(
            f"studies of kind {name!r} need the package narcissus-papers, which is not installed "
            "here: it is in packages/narcissus-papers of the sources, and has a separate wheel"
        )


def known_kinds() -> str:
    """List all kinds of study for a message, those of the papers' package as well."""
    return ", ".join(sorted(KINDS | OF_PAPERS))
