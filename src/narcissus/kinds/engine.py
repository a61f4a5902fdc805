"""What every kind of study shares: from a study to a record, and from a record to its judgement.

A kind says what is its own (`Kind`); playing, storing, judging, reading, frame and page are here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from narcissus._files import file_digest
from narcissus._unchanged import unchanged_files
from narcissus._version import __version__
from narcissus.errors import InputError
from narcissus.game.block import Arrays
from narcissus.game.executor import Executor
from narcissus.judgement import StudyJudgement, cases_of, judge
from narcissus.observer import Observer
from narcissus.results import Grade, NotAssessed, Status
from narcissus.rows import Conflict, Findings, HoldsResult, StudyResult
from narcissus.study.engines import executor_of
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.pool import Play, play_all
from narcissus.study.registry import loaded
from narcissus.study.store import TrialStore
from narcissus.study.toml import read_policy
from narcissus.study.work import agree

if TYPE_CHECKING:
    from narcissus.kinds.layout import Layout

ModelT = TypeVar("ModelT", bound=BaseModel)
StudyT = TypeVar("StudyT", bound=BaseModel)
WorkT = TypeVar("WorkT", bound="PreparedWork[Any]")

Done = Mapping[str, Arrays]
"""What each task came to, by its key."""
Files = Mapping[str, Path | str | None]
"""Paths from the folder of the study, by what they are; None: not named."""


@dataclass(frozen=True, eq=False)
class PreparedWork(Generic[StudyT]):
    """A study that was read and checked, ready to be played."""

    study: StudyT
    folder: Path
    entropy: int
    digests: dict[str, str] = field(default_factory=dict[str, str])
    """Of what `Kind.files` does not name; the engine adds those and the policy's."""
    assessed: Sequence[str] = ()
    not_assessed: list[NotAssessed] = field(default_factory=list[NotAssessed])
    """What reading and measuring left open; the layout adds what rows show."""


@dataclass(frozen=True)
class Tasks:
    """Keyed pieces of work that any engine may do in any order, and a store may keep."""

    play: Play
    keys: Sequence[str]
    identity: Mapping[str, object]
    """What the pieces depend on, besides the version; others are no continuation of these."""
    what: str
    then: Callable[[Done], Tasks] | None = None
    """Pieces that need what these come to; of the same identity."""


class Kind(Generic[StudyT, WorkT]):
    """A kind of study: what a subclass must say comes first, then what it may, then the engine."""

    model: type[StudyT]
    result: type[StudyResult]
    layout: ClassVar[str]
    """``module:attribute`` of its `Layout`."""
    quantity: ClassVar[str] = "success of the best attacker"
    """What attacks reach and bounds limit."""
    fails: ClassVar[Status] = "inconclusive"
    """Status where attacks fail and nothing is proved."""
    gravest: ClassVar[str] = ""
    """Name of the criterion that stands for all others that are exceeded too."""
    is_sweep: ClassVar[bool] = False
    """Whether its cases are settings that assume the same, and claim to be met in sequence."""

    policy: ClassVar[type[BaseModel] | None] = None
    """Model of a policy file, whose threshold is the study's; None: the kind reads its own."""
    no_policy: ClassVar[str] = "`--policy` is not for studies of this kind: use [threshold]"
    """Why `--policy` is refused where a study has no key `policy`."""
    no_records: ClassVar[str] = "`--records` is for audits of tables: here are no records to name"
    """Why `--records` is refused; empty: the kind writes what is about single records."""

    def prepare(self, study: StudyT, folder: Path, options: RunOptions) -> WorkT:
        """Read what the study names and refuse what cannot be played."""
        raise NotImplementedError

    def files(self, study: StudyT) -> Files:
        """Return files whose digests the record holds, by the names that it has for them."""
        return {}

    def measure(self, work: WorkT, done: Done, options: RunOptions) -> Findings:
        """Turn what tasks came to into numbers: no status and no words."""
        raise NotImplementedError

    def cost(self, work: WorkT, options: RunOptions) -> tuple[float, str] | None:
        """Seconds of work, and what it is in words; None where it is asked while it is done."""
        return None

    def tasks(self, work: WorkT) -> Tasks | None:
        return None

    def confidence(self, result: Any) -> float | None:
        """Level of all limits together."""
        return getattr(result, "confidence", None)

    def premises(self, result: Any) -> tuple[str, ...]:
        """Return what every sampled number assumes."""
        return ()

    def undecided(self, result: Any) -> Status | None:
        """Status of what the kind weighs for itself, where that leaves it open."""
        return None

    def refuted(self, result: Any) -> tuple[str, ...]:
        """Contradictions that do not follow from rows, a sentence each."""
        return ()

    def grade_of_refuted(self, result: Any) -> Grade:
        """Return the weakest grade of what these contradictions are between."""
        return "sampled"

    def is_of_people(self, study: Mapping[str, object]) -> bool:
        """Whether numbers depend on real people's records."""
        return False

    def to_show(self, result: Any) -> Any:
        """Leave out what shows single records."""
        return result

    def check(self, study: StudyT, folder: Path, observer: Observer) -> None:
        self.ready(study, folder, RunOptions(0, observer))

    def ready(self, study: StudyT, folder: Path, options: RunOptions) -> WorkT:
        """Refuse what nothing would use, apply the policy, prepare, and digest what was read."""
        if options.policy is not None and "policy" not in self.model.model_fields:
            raise InputError(self.no_policy)
        if options.internal is not None and self.no_records:
            raise InputError(self.no_records)
        study, digests = self.held_to(study, folder, options)
        with unchanged_files():  # the digests are those of what was read
            work = self.prepare(study, folder, options)
            files = {name: path for name, path in self.files(study).items() if path is not None}
            work.digests.update({name: file_digest(folder / path) for name, path in files.items()})
        work.digests.update(digests)
        return work

    def held_to(
        self, study: StudyT, folder: Path, options: RunOptions
    ) -> tuple[StudyT, dict[str, str]]:
        """Return the study with the threshold of its policy, and the policy's digest."""
        if self.policy is None:
            return study, {}
        policy, digests = read_policy(study, folder, options.policy, self.policy)
        return study.model_copy(update=dict(policy or ())), digests

    def play(self, study: StudyT, folder: Path, options: RunOptions) -> Outcome:
        options.observer.start("reading and checking", 0)
        work = self.ready(study, folder, options)
        if (cost := self.cost(work, options)) is not None:
            seconds, words = cost
            agree(seconds, words, hours=options.hours, observer=options.observer)
        done = self._done(work, options)
        options.observer.start("drawing conclusions", 0)
        with unchanged_files():  # such as the weights of a model
            findings = self.measure(work, done, options)
        return self.outcome(work, findings)

    def outcome(self, work: PreparedWork[StudyT], findings: Findings) -> Outcome:
        case = self.conclude(findings)
        layout: Layout = loaded(self.layout)
        return Outcome(
            title=layout.title(work.study, case),
            status=case.status,
            findings=case.findings,
            grade=case.grade,
            assumptions=case.assumptions,
            contradictions=case.contradictions,
            assessed=[*layout.assessed(case), *work.assessed],
            not_assessed=[*layout.left_open(work.study, case), *work.not_assessed],
            digests=work.digests,
        )

    def _done(self, work: WorkT, options: RunOptions) -> Done:
        tasks = self.tasks(work)
        if tasks is None:
            return {}
        run: Any = getattr(work.study, "run", None)
        workers, done = run.workers or 1, dict[str, Arrays]()
        with self.playing(options, run, tasks.identity, workers=workers) as (store, executor):
            while tasks is not None:
                done |= play_all(
                    tasks.play,
                    tasks.keys,
                    store=store,
                    executor=executor,
                    what=tasks.what,
                    observer=options.observer,
                )
                tasks = tasks.then and tasks.then(done)
        return done

    @contextmanager
    def playing(
        self, options: RunOptions, run: Any, identity: Mapping[str, object], *, workers: int
    ) -> Generator[tuple[TrialStore | None, Executor]]:
        """Yield the store of the results folder, if there is one, and who plays."""
        with (
            self.stored(options, identity) as store,
            executor_of(options, run, workers=workers) as executor,
        ):
            yield store, executor

    @contextmanager
    def stored(
        self, options: RunOptions, identity: Mapping[str, object]
    ) -> Generator[TrialStore | None]:
        """Yield the store of the results folder, if there is one."""
        with ExitStack() as stack:
            store = None
            if options.folder is not None:
                trial_store = TrialStore(
                    options.folder,
                    {**identity, "version": __version__},
                    restart=options.restart,
                    observer=options.observer,
                )
                store = stack.enter_context(trial_store)
            yield store

    def found(self, criteria: Any, result: Any) -> Findings:
        """Make findings of what a record holds, with what follows from it."""
        return Findings(
            tuple(criteria),
            tuple(result.rows()),
            result,
            self.confidence(result),
            self.premises(result),
            tuple(Conflict(text, self.grade_of_refuted(result)) for text in self.refuted(result)),
            self.undecided(result),
        )

    def cases(self, findings: Findings) -> Sequence[Any]:
        """Divide findings into what is judged by itself."""
        return cases_of(findings, quantity=self.quantity, fails=self.fails, gravest=self.gravest)

    def conclude(self, findings: Findings) -> StudyJudgement:
        """Judge findings, whose cases are those of the kind."""
        return judge(findings, self.cases(findings), is_sweep=self.is_sweep)

    def judged(self, record: HoldsResult) -> StudyJudgement:
        """Judge what a record holds."""
        return self.conclude(self.found(record.criteria, record.result))
