"""A study of a game at other values of its parameters, such as ``world.n``.

At values that are not played there are bounds by lemmas, and closed forms of success. They hold at
every size by themselves, so they are computed at larger values too; no played result is
extrapolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast

from narcissus._validation import fraction, integer
from narcissus.errors import InputError, NarcissusError, StudyError
from narcissus.game import Game
from narcissus.knowledge import Candidates
from narcissus.mechanisms.plain import ExactAverage, NoisyAverage, Parity
from narcissus.observer import Observer
from narcissus.profiles.closed_forms.candidates import candidates_success
from narcissus.profiles.closed_forms.parities import ParityRelease
from narcissus.profiles.proofs import from_lemmas
from narcissus.results import Grade
from narcissus.scale.fit import Known, SizeCurve
from narcissus.study.game.schema import GameStudy
from narcissus.study.load import Study, load_study
from narcissus.study.ranges import spread
from narcissus.study.toml import read_document
from narcissus.success.relations import Member
from narcissus.worlds import Tardos, Uniform

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
    """Read ``SECTION.key=VALUES``.

    Parameters
    ----------
    text
        VALUES is ``FROM:TO:STEP`` (``x2`` is a factor) or a list with commas.
    option
        Its name in messages: ``--over``.

    Raises
    ------
    InputError
        It has another form, a value twice, or too many values.
    """
    name, given, values = text.partition("=")
    if not given or not name.strip() or not values.strip():
        raise InputError(
            f"`{option}` must be SECTION.key=VALUES, such as world.n=8:64:8, world.n=8:4096:x2 or "
            f"world.n=3,5,9; got {text!r}"
        )
    found = spread(values.strip(), f"{option} {name.strip()}")
    if len(found) > MOST:
        raise InputError(f"`{option} {name.strip()}` has {len(found):,} values, at most {MOST:,}")
    return Parameter(name.strip(), tuple(found))


def located(settings: Mapping[str, Any], name: str, option: str) -> Place:
    """Find a numeric parameter in a study with all defaults filled in.

    Of several attacks, or other parts in a list, one is named by its ``name`` or its number from 0;
    a single one needs no name. The `InputError` for an unknown parameter names the nearest;
    ``option`` is what messages call it.
    """
    given = {key: settings[key] for key in SECTIONS if settings.get(key)}
    place = _walked(given, name.split("."))
    if place is None:
        raise _unknown(settings, name, option)
    return place


def _walked(node: Any, words: Sequence[str]) -> Place | None:
    """Return the way from a node to the number that words name; None where there is none."""
    if not words:
        return () if _is_number(node) else None
    word, *rest = words
    if isinstance(node, list):
        named = [i for i, part in enumerate(node) if _names(part, word, i)]
        if len(named) == 1:
            further = _walked(node[named[0]], rest)
            return None if further is None else (named[0], *further)
        further = _walked(node[0], words) if len(node) == 1 else None
        return None if further is None else (0, *further)
    further = _walked(node[word], rest) if isinstance(node, dict) and word in node else None
    return None if further is None else (word, *further)


def _names(part: Any, word: str, number: int) -> bool:
    return word == str(number) or (isinstance(part, dict) and part.get("name") == word)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def names_of(settings: Mapping[str, Any]) -> list[str]:
    """List the names of all parameters that are numbers, or could be."""
    given = {key: settings[key] for key in SECTIONS if settings.get(key)}
    return list(_leaves(given, ()))


def _leaves(node: Any, above: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, (*above, key))
    elif isinstance(node, list):
        parts = [part for part in node if isinstance(part, dict)]
        labels = [str(part.get("name")) for part in parts]
        for number, (part, label) in enumerate(zip(parts, labels, strict=True)):
            word = label if labels.count(label) == 1 else str(number)
            yield from _leaves(part, (*above, word) if len(parts) > 1 else above)
    elif _is_number(node):
        yield ".".join(above)


def _unknown(settings: Mapping[str, Any], name: str, option: str) -> InputError:
    known = names_of(settings)
    # what was meant may be the key alone, or lie in another section
    last = {word: n for n in reversed(known) if (word := n.rpartition(".")[2])}
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    near += [last[w] for w in get_close_matches(name.rpartition(".")[2], last, n=2, cutoff=0.6)]
    near = list(dict.fromkeys(near))[:3]
    said = f"`{option} {name}`: the study has no such number"
    if near:
        return InputError(f"{said}; did you mean {', '.join(f'`{one}`' for one in near)}?")
    shown = ", ".join(known[:LISTED]) + (", ..." if len(known) > LISTED else "")
    return InputError(f"{said}; it has {shown or 'none'}")


def with_value(
    given: Mapping[str, Any], settings: Mapping[str, Any], place: Place, value: float
) -> dict[str, Any]:
    """Return a study as given in its file, unchanged, with another value of a parameter.

    Parts that are not given are taken from ``settings``, the study with all defaults filled in.
    """
    found = _copied(given)
    node, filled = found, settings
    for key in place[:-1]:
        if isinstance(node, dict) and key not in node:
            node[key] = _copied(filled[key])  # pyright: ignore[reportArgumentType]
        node, filled = node[key], filled[key]  # pyright: ignore[reportArgumentType]
    node[place[-1]] = value  # pyright: ignore[reportArgumentType]
    return found


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


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
    """Compute closed forms at the played values, and closed forms and lemmas at larger ones.

    ``values`` are in rising order; an error of ``game_at`` ends the way upwards. Curves have the
    quantity "closed form" (at all values) or "bound" (at larger ones only: the played ones have it
    among their results). Empty where nothing is known.
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
    return [
        SizeCurve(
            whose,
            "closed form" if is_form else "bound",
            tuple(k for k, _ in found),
            found[0][1],
            limits,
        )
        for (whose, limits, is_form), found in points.items()
    ]


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
                one = candidates_success(world.n, world.d, noise, attack)
                # rows of two people may be equal, which is not counted
                yield (name, "success", True), (1 - both) * one + both, "approximate"


@dataclass(frozen=True)
class Sweep:
    """The parameters that a study is played over.

    Attributes
    ----------
    over
        The parameter, with at least two values.
    together
        Other parameters that are set with it: the same number of values, or one for all of them.
    trials
        Trials at each value; None as the study says.
    confidence
        Of all limits together: of all values, all attacks, success, baseline and gain.
    """

    over: Parameter
    together: tuple[Parameter, ...] = ()
    trials: int | None = None
    confidence: float = 0.95

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
    """A study as given, and its variants; the arguments are as for `load_study`.

    Raises
    ------
    InputError
        It is no game.
    """

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
        """Return the study at one value of each parameter, with limits for all values together.

        Raises `InputError` where there is no such parameter, or the study refuses the value.
        """
        data = self._given
        said: list[str] = []
        for option, one in (("--over", sweep.over), *(("--with", o) for o in sweep.together)):
            place = located(self._settings, one.name, option)
            value = one.values[number % len(one.values)]
            data = with_value(data, self._settings, place, value)
            said.append(f"{one.name} = {value:g}")
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
            raise InputError(f"{', '.join(said)} is refused: {why}") from error

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
