"""The kinds of study, and what each must offer. A new kind is one entry here and one module.

A kind is an object with the attributes of `StudyKind`. It is named by the key ``kind`` of a study
file ("table" where there is none).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, TypeAdapter

from narcissus._validation import one_of
from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus.results import Grade, NotAssessed, Status

if TYPE_CHECKING:
    from narcissus.game.executor import Executor

# kind -> module:attribute
KINDS: dict[str, str] = {
    "channel": "narcissus.study.channel:KIND",
    "classifier": "narcissus.study.classifier:KIND",
    "extraction": "narcissus.study.extraction:KIND",
    "game": "narcissus.study.game:KIND",
    "image-model": "narcissus.study.image:KIND",
    "language-model": "narcissus.study.language:KIND",
    "secrets": "narcissus.study.secrets:KIND",
    "synthetic": "narcissus.study.synthetic:KIND",
    "table": "narcissus.study.table:KIND",
}


@dataclass(frozen=True)
class RunOptions:
    """How to play a study, apart from what it says itself.

    Attributes
    ----------
    entropy
        The seed of everything random.
    observer
        Hears of progress.
    folder
        Results folder, where finished work is kept for an interrupted run; None keeps nothing.
    workers
        Worker processes; numbers do not depend on it. None: as the study says.
    engine
        Who plays: a name (`narcissus.study.engines.ENGINES`), or an executor, which stays open.
        None: as the study says.
    restart
        Throw away what an earlier run left in the folder.
    policy
        A file of thresholds that belongs to whoever approves the release; None: the study's own.
    internal
        Where to write what is about single records; None writes nothing of the kind.
    hours
        Longest time that was agreed to; work that is estimated to take longer is refused. None:
        any.
    keyed
        Keys a digest of data (`narcissus.study.keyed`).
    """

    entropy: int
    observer: Observer
    folder: Path | None = None
    workers: int | None = None
    engine: str | Executor | None = None
    restart: bool = False
    policy: Path | None = None
    internal: Path | None = None
    hours: float | None = None
    keyed: Callable[[str], str] = str

    def refuse_policy_and_records(self, studies: str, instead: str = "") -> None:
        """Refuse both for studies that have a threshold of their own and no records to name."""
        if self.policy is not None:
            raise InputError(f"`--policy` is not for studies of {studies}: use [threshold]")
        if self.internal is not None:
            more = instead and f": {instead}"
            raise InputError(f"`--records` is not for studies of {studies}{more}")

    @contextmanager
    def place(self) -> Generator[Path]:
        """Yield where models are kept: the results folder, or a temporary one."""
        if self.folder is not None:
            yield self.folder
            return
        with tempfile.TemporaryDirectory() as place:
            yield Path(place)


@dataclass(frozen=True)
class Outcome:
    """What a kind of study found, ready for the record.

    ``grade`` is the weakest grade of what the status rests on, ``assumptions`` what it takes as
    given, ``contradictions`` the pairs of findings that cannot both hold, each as a sentence.
    """

    title: str
    status: Status
    verdict: str
    results: BaseModel
    assessed: list[str]
    grade: Grade = "not assessed"
    assumptions: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    not_assessed: list[NotAssessed] = field(default_factory=list)
    not_covered: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)


class StudyKind(Protocol):
    """What a kind of study offers."""

    model: type[BaseModel]
    """Schema of the study file, a pydantic model with ``extra="forbid"``."""

    results: TypeAdapter[Any]
    """Model of ``results`` in the record, frozen (`narcissus.study.results`)."""

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse bad input before any work; ``folder`` is where the study file lies."""
        ...

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome:
        """Do the work."""
        ...


def study_kind(name: str) -> StudyKind:
    """Load a kind of study by its name."""
    one_of("kind", name, KINDS)
    module, _, attribute = KINDS[name].partition(":")
    return getattr(import_module(module), attribute)
