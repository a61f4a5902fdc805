"""A study of a game, played at each value of a parameter such as ``world.n``.

At values that are not played there are bounds by lemmas, and closed forms of success. They hold at
every size by themselves, so they are computed at larger values too; no played result is
extrapolated.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, cast

from narcissus._threads import one_thread
from narcissus._validation import fraction, integer
from narcissus._version import __version__
from narcissus.audits import Audit, run
from narcissus.errors import InputError, NarcissusError, StudyError
from narcissus.game import Game, play
from narcissus.game.executor import Executor
from narcissus.kinds.game.judgement import JudgedGame, game_of
from narcissus.kinds.game.kind import KIND
from narcissus.kinds.game.schema import GameStudy, Setup
from narcissus.knowledge import Candidates
from narcissus.mechanisms.plain import ExactAverage, NoisyAverage, Parity
from narcissus.observer import SILENT, Observer
from narcissus.profiles.closed_forms.candidates import candidates_success
from narcissus.profiles.closed_forms.parities import ParityRelease
from narcissus.profiles.proofs import from_lemmas
from narcissus.results import Grade
from narcissus.study.keyed import kept_key, keyed, keyed_digests
from narcissus.study.load import Study, load_study
from narcissus.study.marks import require_marked
from narcissus.study.ranges import spread
from narcissus.study.reading import read_record
from narcissus.study.record import Record
from narcissus.study.toml import read_document
from narcissus.study.work import agree, in_words
from narcissus.success.relations import Member
from narcissus.worlds import Tardos, Uniform
from narcissus_papers.scale.fit import Known, SizeCurve, curves_of

SECTIONS = (
    "world",
    "mechanism",
    "attack",
    "success",
    "looser",
    "side-information",
    "statement",
    "privacy",
)
"""Sections of a study whose keys change what is asked, and not how it is answered."""
MOST = 1000
"""Most values of a parameter: each is a study by itself."""
LISTED = 12

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter and its values."""

    name: str  # ``SECTION.key``, with further keys or numbers for what is nested
    values: tuple[float, ...]  # at least one

    def __str__(self) -> str:
        first, last = self.values[0], self.values[-1]
        return f"{self.name} = {first:g}" + (f" to {last:g}" if last != first else "")


def read_parameter(text: str, option: str) -> Parameter:
    """Read ``SECTION.key=VALUES``, by the name of its ``option`` in messages: ``--over``.

    VALUES is ``FROM:TO:STEP`` (``x2`` is a factor) or a list with commas.
    """
    name, separator, values = text.partition("=")
    if not separator or not name.strip() or not values.strip():
        raise InputError(
            f"`{option}` must be SECTION.key=VALUES, such as world.n=8:64:8, world.n=8:4096:x2 or "
            f"world.n=3,5,9; got {text!r}"
        )
    numbers = spread(values.strip(), f"{option} {name.strip()}")
    if len(numbers) > MOST:
        raise InputError(f"`{option} {name.strip()}` has {len(numbers):,} values, at most {MOST:,}")
    return Parameter(name.strip(), tuple(numbers))


def located(settings: Mapping[str, Any], name: str, option: str) -> Place:
    """Find a numeric parameter in a study with all defaults filled in.

    Of several attacks, or other parts in a list, one is named by its ``name`` or its number from 0;
    a single one needs no name.
    """
    places = {alias: place for names, place in _numbers(settings) for alias in names}
    if name not in places:
        raise _unknown(settings, name, option)
    return places[name]


def names_of(settings: Mapping[str, Any]) -> list[str]:
    """List the names of all parameters that are numbers, or could be."""
    return [names[0] for names, place in _numbers(settings) if not isinstance(place[-1], int)]


def _numbers(settings: Mapping[str, Any]) -> Iterator[tuple[list[str], Place]]:
    """Yield all names of each number of a study, the usual one first, and its place."""
    sections = {key: settings[key] for key in SECTIONS if settings.get(key)}
    for names, place in _leaves(sections, [()], ()):
        yield [".".join(name) for name in names], place


def _leaves(
    node: Any, above: Sequence[tuple[str, ...]], place: Place
) -> Iterator[tuple[Sequence[tuple[str, ...]], Place]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, [(*name, key) for name in above], (*place, key))
    elif isinstance(node, list):
        labels = [part.get("name") if isinstance(part, dict) else None for part in node]
        times = Counter(map(str, labels))
        for number, (part, label) in enumerate(zip(node, labels, strict=True)):
            words = [(str(label),)] if label and times[str(label)] == 1 else []
            words = [*([()] if label and len(node) == 1 else []), *words, (str(number),)]
            inner = [(*name, *word) for name in above for word in words]
            yield from _leaves(part, inner, (*place, number))
    elif node is None or (isinstance(node, int | float) and not isinstance(node, bool)):
        yield above, place


def _unknown(settings: Mapping[str, Any], name: str, option: str) -> InputError:
    known = names_of(settings)
    # what was meant may be the key alone, or lie in another section
    last = {word: n for n in reversed(known) if (word := n.rpartition(".")[2])}
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    near += [last[w] for w in get_close_matches(name.rpartition(".")[2], last, n=2, cutoff=0.6)]
    near = list(dict.fromkeys(near))[:3]
    text = f"`{option} {name}`: the study has no such number"
    if near:
        return InputError(f"{text}; did you mean {', '.join(f'`{match}`' for match in near)}?")
    shown = ", ".join(known[:LISTED]) + (", ..." if len(known) > LISTED else "")
    return InputError(f"{text}; it has {shown or 'none'}")


def with_value(
    given: Mapping[str, Any], settings: Mapping[str, Any], place: Place, value: float
) -> dict[str, Any]:
    """Return a study as given in its file, unchanged, with another value of a parameter.

    Parts that are not given are taken from ``settings``, the study with all defaults filled in.
    """
    study = _copied(given)
    node, filled = study, settings
    for key in place[:-1]:
        if isinstance(node, dict) and key not in node:
            node[key] = _copied(filled[key])  # pyright: ignore[reportArgumentType]
        node, filled = node[key], filled[key]  # pyright: ignore[reportArgumentType]
    node[place[-1]] = value  # pyright: ignore[reportArgumentType]
    return study


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


FURTHER = (2, 4, 8)
"""How many times the largest value that was played."""
LARGEST = 64
"""Most rows for which the closed form of parities takes little time."""
CANDIDATES: Mapping[str, Literal["raw", "centred"]] = {
    "two-candidates": "raw",
    "two-candidates-centred": "centred",
}

Name = tuple[str, str, bool]
"""Whose it is, what it limits or is, whether it is a closed form and no bound."""


def beyond(
    game_at: Callable[[float], Game], attacks: Sequence[str], values: Sequence[float]
) -> list[SizeCurve]:
    """Compute closed forms at the played values, in rising order, and at larger ones; lemmas there.

    An error of ``game_at`` ends the way upwards. At played values bounds are among the results.
    """
    points: dict[Name, list[tuple[Known, Grade]]] = {}
    for value in (*values, *(values[-1] * k for k in FURTHER)):
        try:
            game = game_at(value)
        except NarcissusError:
            break
        is_played = value <= values[-1]
        for name, number, grade in _known(game, attacks):
            if name[2] or not is_played:
                known = Known(value, number, number, number, exact=True)
                points.setdefault(name, []).append((known, grade))
    curves: list[SizeCurve] = []
    for (whose, limits, is_form), pairs in points.items():
        known = tuple(k for k, _ in pairs)
        quantity = "closed form" if is_form else "bound"
        curves.append(SizeCurve(whose, quantity, known, pairs[0][1], limits))
    return curves


def _known(game: Game, attacks: Sequence[str]) -> Iterator[tuple[Name, float, Grade]]:
    """Yield the closed forms and bounds of one game: a name, a number, its grade."""
    lemma = from_lemmas(game)
    if lemma is not None:
        grade: Grade = "proved if" if lemma.assumptions else "proved"
        yield (lemma.theorem, "success", False), lemma.value, grade
    world, mechanism = game.world, game.mechanism
    if type(game.relation) is not Member or game.looser is not None:
        return
    is_plain = game.side is None and game.surprisal is None
    is_bits = isinstance(world, Uniform) and world.levels == 2 and world.n <= LARGEST
    if is_bits and is_plain and isinstance(mechanism, Parity):
        form = ParityRelease(world.n, world.d)
        yield ("any attacker, Example 1.3", "success", True), float(form.best_success), "proved"
    if (
        isinstance(world, Tardos)
        and isinstance(mechanism, ExactAverage | NoisyAverage)
        and isinstance(game.side, Candidates)
    ):
        noise = mechanism.epsilon if isinstance(mechanism, NoisyAverage) else math.inf
        both = world.n / world.N  # the second candidate is in the data as well
        for name, attack in CANDIDATES.items():
            if name in attacks:
                success = candidates_success(world.n, world.d, noise, attack)
                # rows of two people may be equal, which is not counted
                yield (name, "success", True), (1 - both) * success + both, "approximate"


@dataclass(frozen=True)
class Sweep:
    """The parameters that a study is played over."""

    over: Parameter  # the parameter, with at least two values
    together: tuple[Parameter, ...] = ()  # others set with it: as many values, or one for all
    trials: int | None = None  # at each value; None as the study says
    confidence: float = 0.95  # of all limits of all values, attacks and quantities together

    def __post_init__(self) -> None:
        over = self.over
        fraction("confidence", self.confidence)
        if self.trials is not None:
            integer("trials", self.trials, low=1)
        if len(over.values) < 2 or len(set(over.values)) < len(over.values):
            raise InputError(
                f"`--over {over.name}` needs at least two values, all different; got "
                f"{', '.join(f'{v:g}' for v in over.values)}"
            )
        for other in self.together:
            if len(other.values) not in (1, len(over.values)):
                raise InputError(
                    f"`--with {other.name}` has {len(other.values)} values, and `--over "
                    f"{over.name}` {len(over.values)}: give as many, or one for all"
                )
            if other.name == over.name:
                raise InputError(f"`--with {other.name}` is what is drawn over: leave it out")

    def in_order(self) -> Sweep:
        """Return the sweep with its values in rising order, and the others' permuted alike."""
        order = sorted(range(len(self.over.values)), key=self.over.values.__getitem__)

        def sort(one: Parameter) -> Parameter:
            values = one.values if len(one.values) == 1 else tuple(one.values[i] for i in order)
            return replace(one, values=values)

        return replace(self, over=sort(self.over), together=tuple(map(sort, self.together)))

    @property
    def confidence_each(self) -> float:
        """Confidence of one value's run, in which rates and gains may fail separately."""
        return 1 - (1 - self.confidence) / (2 * len(self.over.values))


class Variants:
    """A study of a game as given, and its variants; the arguments are as for `load_study`."""

    def __init__(
        self, study: Path | str | Mapping[str, Any], *, allow_code: bool, observer: Observer
    ) -> None:
        self._allow_code = allow_code
        self.study = load_study(study, allow_code=allow_code, observer=observer)
        if self.study.kind != "game":
            raise InputError(
                f"the study is of the kind {self.study.kind!r}; only a game has a success to draw"
            )
        self._given = dict(study if isinstance(study, Mapping) else read_document(study).data)
        if "side_information" in self._given:
            self._given["side-information"] = self._given.pop("side_information")
        self._settings = self.study.to_dict()

    @property
    def game(self) -> GameStudy:
        return cast("GameStudy", self.study.settings)

    def at(self, sweep: Sweep, number: int) -> Study:
        """Return the study at one value of each parameter, with limits for all values together."""
        data = self._given
        assignments: list[str] = []
        for option, parameter in (("--over", sweep.over), *(("--with", o) for o in sweep.together)):
            place = located(self._settings, parameter.name, option)
            value = parameter.values[number % len(parameter.values)]
            data = with_value(data, self._settings, place, value)
            assignments.append(f"{parameter.name} = {value:g}")
        data["kind"] = "game"
        if self.game.attack:
            run: dict[str, Any] = dict(data.get("run", {}))
            run |= {"stop": False, "confidence": sweep.confidence_each}
            data["run"] = run if sweep.trials is None else {**run, "trials": sweep.trials}
        elif sweep.trials is not None:
            raise InputError("`--trials` is not used: the study has no [[attack]]: leave it out")
        try:
            return load_study(data, folder=self.study.folder, allow_code=self._allow_code)
        except (StudyError, InputError) as error:
            why = str(error).removeprefix("the study: ")
            raise InputError(f"{', '.join(assignments)} is refused: {why}") from error

    def beyond(self, sweep: Sweep) -> tuple[SizeCurve, ...]:
        """Compute `beyond`; nothing where other parameters vary independently."""
        if any(len(other.values) > 1 for other in sweep.together):
            return ()

        def game_at(value: float) -> Game:
            ends = replace(sweep.over, values=(value, sweep.over.values[0] - 1))
            study = self.at(replace(sweep, over=ends), 0)
            with study.code.in_use():
                return cast("GameStudy", study.settings).build().game

        attacks: Sequence[str] = [part.name for part in self.game.attack]
        return tuple(beyond(game_at, attacks, sweep.over.values))


ENOUGH = 0.1
"""Seconds of play from which the rest is reckoned."""


def seconds_of(study: Study) -> float:
    """Estimate the seconds that all trials of a game take in one process; 0 without attack.

    The first trial is played alone, since attacks prepare themselves before it; then batches of
    growing size, which take less time a trial. A game that cannot be played takes no time.
    """
    settings = study.settings
    assert isinstance(settings, GameStudy)
    if not settings.attack:
        return 0.0

    def seconds(setup: Setup, trials: int) -> float:
        begin = time.perf_counter()
        parts, fresh = (setup.game, setup.attacks, setup.statement), settings.run.fresh
        play(*parts, trials=trials, fresh=fresh, stop=False, rng=0)
        return time.perf_counter() - begin

    limit = _number_of_trials(settings)
    with study.code.in_use(), one_thread():
        try:
            setup = settings.build()
            first = seconds(setup, 1)
            count, extra_time = 1, 0.0
            while extra_time < ENOUGH and count < limit:
                count = min(10 * count, limit)
                extra_time = max(0.0, seconds(setup, count) - first)
        except NarcissusError:
            return 0.0
    return first + (extra_time / (count - 1) * (limit - 1) if count > 1 else 0.0)


def _number_of_trials(settings: GameStudy) -> int:
    if settings.run.trials == "auto":
        raise InputError('`run.trials = "auto"` is for one study: name a number for each value')
    return settings.run.trials


VALUES = "values"
"""Folder of the values' own results, next to what is drawn of all."""


@dataclass(frozen=True)
class AtValue:
    """The result at one value: its record, or the reason why there is none."""

    value: float
    record: Record | None
    failed: str = ""

    @cached_property
    def found(self) -> JudgedGame | None:
        return None if self.record is None else game_of(KIND.judged(self.record))

    @property
    def failures(self) -> list[str]:
        """Messages about attacks that raised errors; their trials count as unsuccessful."""
        attackers = () if self.found is None else self.found.attackers
        return [
            f"the attack {attacker.name} failed with an error on {attacker.failed:,} of "
            f"{attacker.success.trials:,} trials ({attacker.failures[0].error})"
            for attacker in attackers
            if attacker.failed
        ]

    @property
    def is_whole(self) -> bool:
        """Whether it could be played, by each attack in at least one trial."""
        return self.found is not None and not any(
            attacker.is_useless for attacker in self.found.attackers
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
        return self.sweep.over.name

    @cached_property
    def curves(self) -> tuple[SizeCurve, ...]:
        judgements = [(point.value, point.found) for point in self.each if point.found is not None]
        return tuple(curves_of(judgements, between=self.of_rates))

    @property
    def of_rates(self) -> bool:
        """Whether the study covers every rate of an interval, or every prior near one."""
        families = [
            point.record.study.get("family") for point in self.each if point.record is not None
        ]
        return any(
            family is not None and family["kind"] in ("rates", "near") for family in families
        )


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

    sweep: the parameters and their values.
    folder: where the record and the trials of each value are kept, and found again.
    rng, workers, engine, restart: as for `narcissus.run`; all values have the same seed.
    hours: longest accepted time; None is any.
    observer: receives the expected time, and the trials of all values as one stage.
    """
    variants, sweep = Variants(study, allow_code=allow_code, observer=observer), sweep.in_order()
    name, values = sweep.over.name, sweep.over.values
    studies = [variants.at(sweep, number) for number in range(len(values))]
    places = [None if folder is None else Path(folder) / VALUES / f"{v:.12g}" for v in values]
    for place in () if folder is None else (Path(folder), *filter(None, places)):
        require_marked(place, restart=restart)
    records = [
        None if restart or place is None else _kept(place, variant, rng)
        for place, variant in zip(places, studies, strict=True)
    ]
    left = [variant for variant, record in zip(studies, records, strict=True) if record is None]
    _say_cost(name, left, len(values), workers or 1, hours, observer)
    settings = cast("GameStudy", studies[0].settings)
    share = max(1, _number_of_trials(settings) if settings.attack else 0)
    total, done = share * len(values), share * (len(values) - len(left))
    observer.start(f"trials at {len(values)} values", total, done)
    each: list[AtValue] = []
    for value, variant, place, record in zip(values, studies, places, records, strict=True):
        if record is not None:
            each.append(AtValue(value, record))
            continue
        heard = OneStage(observer, share)

        def play(
            one: Study = variant, place: Path | None = place, heard: Observer = heard
        ) -> Audit:
            return run(
                one,
                rng=rng,
                observer=heard,
                folder=place,
                workers=workers,
                restart=restart,
                engine=engine,
            )

        each.append(_tried(value, play, place, restart=restart))
        heard.complete()
    observer.finish()
    if all(variant.record is None for variant in each):
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
    provenance = record.provenance
    entropy = seed if seed is not None else cast("GameStudy", study.settings).run.seed
    same = (
        provenance.digests.get("study") == f"sha256:{study.digest}"
        and provenance.narcissus == __version__
        and (entropy is None or provenance.entropy == str(entropy))
        and all(
            provenance.digests.get(name) == digest
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
    seconds = sum(seconds_of(study) for study in left) / workers
    remark = f" ({count - len(left)} were played earlier)" if len(left) < count else ""
    work = f"{len(left)} values of {name}{remark}"
    agree(
        seconds, work, hours=hours, observer=SILENT, instead="take fewer values, or fewer --trials"
    )
    observer.note(f"about {in_words(seconds)} of trials: {work}")


def _tried(
    value: float, play: Callable[[], Audit], place: Path | None, *, restart: bool
) -> AtValue:
    """Play one value; one that cannot be played records why, and the others are played."""
    try:
        audit = play()
    except NarcissusError as error:
        return AtValue(value, None, str(error))
    if place is not None:
        audit.save(place, restart=restart)
    return AtValue(value, audit.record)
