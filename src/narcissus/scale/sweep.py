"""A study of a game, played at each value of a parameter."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

from threadpoolctl import threadpool_limits

from narcissus._version import __version__
from narcissus.audits import Audit, run
from narcissus.errors import InputError, NarcissusError
from narcissus.game import play
from narcissus.game.executor import Executor
from narcissus.observer import SILENT, Observer
from narcissus.scale.fit import SizeCurve, curves_of
from narcissus.scale.variants import Sweep, Variants
from narcissus.study.game.schema import GameStudy, Setup
from narcissus.study.keyed import kept_key, keyed, keyed_digests
from narcissus.study.load import Study
from narcissus.study.reading import read_record
from narcissus.study.record import Record
from narcissus.study.results.game import GameResults
from narcissus.study.work import agree, in_words

ENOUGH = 0.1
"""Seconds of play from which the rest is reckoned."""


def seconds_of(study: Study) -> float:
    """Estimate the seconds that all trials of a game take in one process; 0 without attack.

    The first trial is played alone, since attacks prepare themselves before it; then batches of
    growing size, which take less time a trial. The results are discarded. A game that cannot be
    played takes no time.
    """
    settings = study.settings
    assert isinstance(settings, GameStudy)
    if not settings.attack:
        return 0.0
    most = settings.run.trials
    with study.code.in_use(), threadpool_limits(1):
        try:
            setup = settings.build()
            first = _seconds(settings, setup, 1)
            count, more = 1, 0.0
            while more < ENOUGH and count < most:
                count = min(10 * count, most)
                more = max(0.0, _seconds(settings, setup, count) - first)
        except NarcissusError:
            return 0.0
    return first + (more / (count - 1) * (most - 1) if count > 1 else 0.0)


def _seconds(settings: GameStudy, setup: Setup, trials: int) -> float:
    begin = time.perf_counter()
    play(
        setup.game,
        setup.attacks,
        setup.statement,
        trials=trials,
        fresh=settings.run.fresh,
        stop=False,
        rng=0,
    )
    return time.perf_counter() - begin


VALUES = "values"
"""Folder of the values' own results, beside what is drawn of all."""


@dataclass(frozen=True)
class AtValue:
    """The result at one value: its record, or the reason why there is none."""

    value: float
    record: Record | None
    failed: str = ""

    @property
    def results(self) -> GameResults | None:
        """Results of the study, if any."""
        return None if self.record is None else cast("GameResults", self.record.results)

    @property
    def failures(self) -> list[str]:
        """Messages about attacks that raised errors; their trials count as unsuccessful."""
        attackers = () if self.results is None else self.results.attackers
        return [
            f"the attack {one.name} failed with an error on {one.failed:,} of "
            f"{one.success.trials:,} trials ({one.failures[0].error})"
            for one in attackers
            if one.failed
        ]

    @property
    def is_whole(self) -> bool:
        """Whether it could be played, by each attack in at least one trial."""
        return self.results is not None and all(
            one.failed < one.success.trials for one in self.results.attackers
        )


@dataclass(frozen=True)
class Scaled:
    """A study at all values of a parameter."""

    title: str  # of the study
    about: str
    sweep: Sweep  # the sweep, with values in rising order
    each: tuple[AtValue, ...]  # the result at each value
    # closed forms and bounds, also at larger values, which were not played
    further: tuple[SizeCurve, ...] = ()

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.sweep.over.name

    @cached_property
    def curves(self) -> tuple[SizeCurve, ...]:
        """Success, baseline, gain and bounds against the parameter."""
        found = [(one.value, one.results) for one in self.each if one.results is not None]
        return tuple(curves_of(found, between=self.of_rates))

    @property
    def of_rates(self) -> bool:
        """Whether the study covers every rate of an interval."""
        families = [one.record.study.get("family") for one in self.each if one.record is not None]
        return any(family is not None and family["kind"] == "rates" for family in families)


def scale(
    study: Path | str | Mapping[str, Any],
    sweep: Sweep,
    *,
    folder: Path | str | None = None,
    rng: int | None = None,
    workers: int | None = None,
    engine: str | Executor | None = None,
    restart: bool = False,
    hours: float | None = None,
    allow_code: bool = False,
    observer: Observer = SILENT,
) -> Scaled:
    """Play a study of the kind "game" at each value of a parameter.

    Trials are not stopped early, so that limits are as narrow as they can be.

    Parameters
    ----------
    study, allow_code
        As `load_study` takes them.
    sweep
        The parameters and their values.
    folder
        Where the record and the trials of each value are kept, and found again.
    rng, workers, engine, restart
        As for `narcissus.run`; all values have the same seed.
    hours
        Longest accepted time; None is any.
    observer
        Receives the expected time, and the trials of all values as one stage.

    Raises
    ------
    InputError
        The study is no game, it has no such parameter, it refuses a value, or none can be played.
    LongWorkError
        It takes longer than ``hours``.
    """
    variants, sweep = Variants(study, allow_code=allow_code, observer=observer), sweep.in_order()
    name, values = sweep.over.name, sweep.over.values
    studies = [variants.at(sweep, number) for number in range(len(values))]
    places = [None if folder is None else Path(folder) / VALUES / f"{v:.12g}" for v in values]
    kept = [
        None if restart or place is None else _kept(place, one, rng)
        for place, one in zip(places, studies, strict=True)
    ]
    left = [one for one, record in zip(studies, kept, strict=True) if record is None]
    _say_cost(name, left, len(values), workers or 1, hours, observer)
    settings = cast("GameStudy", studies[0].settings)
    share = max(1, settings.run.trials if settings.attack else 0)
    total, done = share * len(values), share * (len(values) - len(left))
    observer.start(f"trials at {len(values)} values", total, done)
    each: list[AtValue] = []
    for value, one, place, record in zip(values, studies, places, kept, strict=True):
        if record is not None:
            each.append(AtValue(value, record))
            continue
        heard = OneStage(observer, share)

        def play(one: Study = one, place: Path | None = place, heard: Observer = heard) -> Audit:
            return run(
                one, rng=rng, observer=heard, folder=place, workers=workers, restart=restart,
                engine=engine,
            )  # fmt: skip

        each.append(_tried(value, play, place))
        heard.complete()
    observer.finish()
    if all(one.record is None for one in each):
        raise InputError(f"no value of {name} could be played: {each[0].failed}")
    game = variants.game
    return Scaled(game.title, game.about, sweep, tuple(each), variants.beyond(sweep))


class OneStage:
    """An observer of one value that reports it as ``steps`` steps of one stage of all values."""

    def __init__(self, observer: Observer, steps: int) -> None:
        self._observer, self._left = observer, steps

    def start(self, what: str, total: int, done: int = 0) -> None:
        """Count the steps done earlier."""
        self.advance(done)

    def advance(self, steps: int = 1) -> None:
        counted = min(steps, self._left)
        self._left -= counted
        if counted:
            self._observer.advance(counted)

    def finish(self) -> None:
        """Report nothing: another value may come."""

    def note(self, message: str) -> None:
        self._observer.note(message)

    def complete(self) -> None:
        """Count the remaining steps: a value that failed, or was not played, is done as well."""
        self.advance(self._left)


def _kept(place: Path, study: Study, seed: int | None) -> Record | None:
    """Return the record of an earlier run of the same study by the same version, or None."""
    path = place / "record.json"
    if not path.exists():
        return None
    try:
        record = read_record(path)
    except InputError:
        return None  # damaged, or of a later version: it is made anew
    said = record.provenance
    own = seed if seed is not None else cast("GameStudy", study.settings).run.seed
    same = (
        said.digests.get("study") == f"sha256:{study.digest}"
        and said.narcissus == __version__
        and (own is None or said.entropy == str(own))
        and all(
            said.digests.get(name) == digest
            for name, digest in keyed_digests(
                study.code.said, partial(keyed, key=kept_key(place))
            ).items()
        )
    )
    return record if same else None


def _say_cost(
    name: str,
    left: Sequence[Study],
    count: int,
    workers: int,
    hours: float | None,
    observer: Observer,
) -> None:
    """Report the expected time before the start; refuse one longer than accepted."""
    if not left:
        observer.note(f"all {count} values of {name} were played earlier")
        return
    seconds = sum(seconds_of(one) for one in left) / workers
    kept = f" ({count - len(left)} were played earlier)" if len(left) < count else ""
    work = f"{len(left)} values of {name}{kept}"
    agree(
        seconds, work, hours=hours, observer=SILENT, instead="take fewer values, or fewer --trials"
    )
    observer.note(f"about {in_words(seconds)} of trials: {work}")


def _tried(value: float, play: Callable[[], Audit], place: Path | None) -> AtValue:
    """Play one value; one that cannot be played records why, and the others are played."""
    try:
        audit = play()
    except NarcissusError as error:
        return AtValue(value, None, str(error))
    if place is not None:
        audit.save(place)
    return AtValue(value, audit.record)
