"""A section of a study file that names a part: how it is checked, described, and written short.

The section has a key ``name``; its other keys are the options of the class or function behind it,
checked by its signature. A name with a colon is the user's own, ``module:attribute``
(`narcissus.study.plugins`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import AfterValidator, Field, PydanticUserError, Strict, TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema
from pydantic_core.core_schema import ValidationInfo

from narcissus._options import (
    LARGEST_SEED,
    MOST_COUNT,
    MOST_WORK,
    BesideStudy,
    OfRoom,
    RunsProgram,
    Swept,
)
from narcissus._validation import did_you_mean, real
from narcissus.errors import InputError, NarcissusError
from narcissus.study.parts import Part
from narcissus.study.plugins import allow_program, load_attribute
from narcissus.study.registry import ROOMS, loaded
from narcissus.study.signatures import (
    Option,
    in_a_file,
    marked,
    options_of,
    summary_of,
    takes_any,
    waits,
)

# Type of the error of an option that a part does not take: its message names the key itself.
UNKNOWN = "unknown_option"
# Keys of a section that cannot be options of a part: the last two are those of version 0.1.
KEYS = ("name", "options", "kind")
# What parts offer: an object with one of these is a part, and no function that makes one.
OFFERED = [
    "answers",
    "attempt",
    "converse",
    "draw",
    "encrypt",
    "guess",
    "holds",
    "prepare",
    "release",
    "reveal",
]


@dataclass(frozen=True)
class PartSection:
    """Type of a section that names a part, for pydantic: ``Annotated[Part, PartSection(...)]``."""

    room: str  # Whose parts it can name
    # Keys of the section that belong to the study, with their types and defaults
    also: tuple[Option, ...] = ()
    # Whether parts that take parts are left out: one level of them is enough, and keeps the
    # JSON Schema finite
    flat: bool = False
    named: bool = False  # Whether the file names the part elsewhere too: by the key of the section

    def names(self) -> list[str]:
        """Return the names of this package's parts that it can have."""
        parts = ROOMS[self.room].parts
        return [n for n, target in parts.items() if not (self.flat and _nests(loaded(target)))]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Check sections by this class, and write them as they are in a file."""
        written = core_schema.plain_serializer_function_ser_schema(Part.to_dict)
        return core_schema.with_info_plain_validator_function(self._check, serialization=written)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Describe every part that the section can name."""
        return schema_of(self)

    def _check(self, value: Any, info: ValidationInfo) -> Part:
        """Check a section: its name, its options, and that the part can be made."""
        if isinstance(value, Part):
            return value
        room, rest = ROOMS[self.room], dict(value) if isinstance(value, dict) else {}
        name = rest.pop("name", room.default)
        if not isinstance(value, dict) or not self._known(name):
            raise self._refusal(value, name)
        context: Any = info.context or {}
        folder = Path(context.get("folder", "."))
        maker, first = _found(self.room, name, folder)
        takes = options_of(maker, given=len(first) + room.given)
        if reserved := [key for key in KEYS if key in takes]:
            raise InputError(
                f"the parameter `{reserved[0]}` of {name} cannot be given in a study file, where "
                "that key means something else: give it another name"
            )
        also = {option.name: option for option in self.also}
        free = {k: v for k, v in rest.items() if k not in takes and k not in also}
        lines = [] if takes_any(maker) else _unknown(self.room, name, free, takes)
        options = {**_checked(takes, rest, info.context, lines), **free}
        other_options = _checked(also, rest, info.context, lines)
        if lines:
            raise ValidationError.from_exception_data("section", lines)
        for key in (n for n, option in takes.items() if marked(option.hint, RunsProgram)):
            _allow(options[key], folder)
        if any(marked(option.hint, RunsProgram | BesideStudy) for option in takes.values()):
            maker = partial(maker, folder=str(folder))
        part = Part(self.room, name, options, other_options, maker, first, takes)
        if not room.given and not waits(maker):
            _make_once(part)
        return part

    def _known(self, name: Any) -> bool:
        if not isinstance(name, str):
            return False
        return name in self.names() or (ROOMS[self.room].own and ":" in name)

    def _refusal(self, value: Any, name: Any) -> Exception:
        if not isinstance(value, dict):
            message = f"must be a table with the key `name`, got {value!r}"
            return refused((), message)
        alternative = ", or a custom `module:attribute`" if ROOMS[self.room].own else ""
        known = f"one of {', '.join(self.names())}{alternative}"
        if name in (None, ""):
            return refused((), f"has no `name`; it must be {known}")
        hint = did_you_mean(str(name), self.names())
        return refused(("name",), f"must be {known}; got {name!r}{hint}")


def checked(room: str, section: Mapping[str, Any], folder: Path | None = None) -> Part:
    """Check a section that names a part, or raise `pydantic.ValidationError`."""
    kind = TypeAdapter[Part](Annotated[Part, PartSection(room)])
    return kind.validate_python(dict(section), context={"folder": str(folder or ".")})


def _make_once(part: Part) -> None:
    """Make the object, so that what is wrong is said with the line where it is."""
    try:
        part.each()
    except NarcissusError as error:
        named = re.match(r"`(\w+)`", str(error))  # messages begin with the argument
        place = (named[1],) if named is not None and named[1] in part.takes else ()
        raise refused(place, str(error)) from error


def refused(place: tuple[str, ...], text: str, kind: str = "refused") -> ValidationError:
    """Make the error of one key of a file."""
    return ValidationError.from_exception_data("section", [_line(place, text, kind)])


def _line(place: tuple[str | int, ...], text: str, kind: str, got: Any = None) -> InitErrorDetails:
    error = PydanticCustomError(cast("Any", kind), "{text}", {"text": text})
    return InitErrorDetails(type=error, loc=place, input={} if got is None else got)


def _unknown(
    room: str, name: str, free: Iterable[str], takes: Mapping[str, Option]
) -> list[InitErrorDetails]:
    known = f"the options {', '.join(takes)}" if takes else "no options"
    message, unknown = f"the {room} `{name}` has {known}", list(free)
    if "kind" in unknown:  # then all others are of another part, which it names
        return [_line(("kind",), f"{message}; did you mean `name`?", UNKNOWN)]
    return [_line((key,), message + did_you_mean(key, takes), UNKNOWN) for key in unknown]


def _found(room: str, name: str, folder: Path) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return what makes a part, and its first arguments that are no options."""
    place = ROOMS[room]
    if name in place.parts:
        return loaded(place.parts[name]), ()
    attribute = load_attribute(name, folder)
    if isinstance(attribute, type) or (callable(attribute) and not place.of_function):
        return attribute, ()
    if callable(attribute) and not any(hasattr(attribute, offered) for offered in OFFERED):
        return loaded(place.of_function), (attribute,)
    return _itself, (attribute,)


def _allow(command: Sequence[str], folder: Path) -> None:
    """Refuse a program that the study may not run."""
    from narcissus.mechanisms.table.command import named_files

    allow_program(command, named_files(command, folder).values())


def _itself(found: Any, *_: Any) -> Any:
    return found


def _checked(
    takes: Mapping[str, Option],
    given: Mapping[str, Any],
    context: Any,
    lines: list[InitErrorDetails],
) -> dict[str, Any]:
    """Return every option with its value or its default; what is wrong is added to ``lines``."""
    checked_options: dict[str, Any] = {}
    for name, option in takes.items():
        if name not in given:
            checked_options[name] = deepcopy(option.default)
            if option.required:
                lines.append(InitErrorDetails(type="missing", loc=(name,), input=dict(given)))
            continue
        try:
            kind = TypeAdapter[Any](strict(option.hint, most_of(name)))
            checked_options[name] = kind.validate_python(given[name], context=context)
        except ValidationError as error:
            lines += [
                _line((name, *fault["loc"]), fault["msg"], fault["type"], fault["input"])
                for fault in error.errors(include_url=False)
            ]
    return checked_options


def _nests(maker: Callable[..., Any]) -> bool:
    return any(marked(option.hint, OfRoom) for option in options_of(maker).values())


def _levels(value: Any) -> Any:
    if isinstance(value, list) and (not value or len(set(value)) != len(value)):
        raise ValueError("must be a list of different levels")
    return value


_WORK = frozenset(
    {
        *("batch", "budget", "chains", "documents", "encryptions", "epochs", "messages", "points"),
        *("public", "queries", "questions", "repeat", "samples", "shadow_models", "starts"),
        *("steps", "sweeps", "training"),
    }
)
"""Options that say how often something is done, or of how many it is done."""
_SMALL = {"components": 10**4, "layers": 10**3, "order": 10**3, "width": 10**5}
_NUMBERS = frozenset({"exponent", "modulus", "seed"})
"""Options that are numbers to compute with, and count nothing."""


def most_of(option: str) -> int:
    """Return the largest whole number that an option of a part may be, by its name."""
    if option in _NUMBERS:
        return LARGEST_SEED
    return MOST_WORK if option in _WORK else _SMALL.get(option, MOST_COUNT)


def strict(hint: Any, most: int = MOST_COUNT) -> Any:
    """Return a type as pydantic checks it: "100" and true are no numbers, as TOML tells them apart.

    A whole number is ``most`` at most: what counts beyond it would run without end. Of a type that
    is not known to pydantic (an array, a class of the user's) nothing is checked.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _marked(hint, most)
    if hint in (int, float, str, bool):
        return Annotated[hint, Strict(), *([Field(le=most)] if hint is int else ())]
    if origin is Literal or not inner:
        return hint if _is_known(hint) else Any
    if origin in (Union, UnionType):
        return Union[tuple(strict(alternative, most) for alternative in in_a_file(inner))]  # noqa: UP007
    if origin in (list, Sequence):
        return list[strict(inner[0], most)]
    return hint if _is_known(hint) else Any


def _marked(hint: Any, most: int) -> Any:
    """Return the type of an option that is a part, that may be a list of levels, or neither."""
    for mark in hint.__metadata__:
        if isinstance(mark, OfRoom):
            return Annotated[Part, PartSection(mark.room, flat=True)]
        if isinstance(mark, Swept):
            number_type = Annotated[float, Strict()]
            return Annotated[number_type | list[number_type], AfterValidator(_levels)]
    return Annotated[strict(get_args(hint)[0], most), *hint.__metadata__]


def _is_known(hint: Any) -> bool:
    try:
        TypeAdapter(hint)
    except PydanticUserError:
        return False
    return True


def schema_of(section: PartSection) -> dict[str, Any]:
    """Return JSON Schema of a section: one alternative for each part, and one for the user's."""
    room = ROOMS[section.room]
    choices = [_part(section, name) for name in section.names()]
    if room.own:
        name_schema = {"type": "string", "pattern": "^[^:]+:[^:]+$", "description": "Your own."}
        choices.append(
            {"type": "object", "properties": {"name": name_schema}, "required": ["name"]}
        )
    return {"anyOf": choices}


def _part(section: PartSection, name: str) -> dict[str, Any]:
    room = ROOMS[section.room]
    maker = loaded(room.parts[name])
    takes = [*section.also, *options_of(maker, given=room.given).values()]
    entry: dict[str, Any] = {"const": name}
    required = [option.name for option in takes if option.required]
    if name == room.default:
        entry["default"] = name
    elif not section.named:
        required.insert(0, "name")
    return {
        "title": name,
        "description": summary_of(maker),
        "type": "object",
        "properties": {"name": entry, **{option.name: _option(option) for option in takes}},
        "required": required,
        "additionalProperties": False,
    }


def _option(option: Option) -> dict[str, Any]:
    try:
        schema = TypeAdapter(strict(option.hint, most_of(option.name))).json_schema()
    except PydanticUserError:  # a type that JSON has no word for
        schema = cast("dict[str, Any]", {})
    if option.text:
        schema["description"] = option.text
    if not option.required:
        schema["default"] = option.default
    return schema


def listed(room: str) -> list[tuple[str, str, list[Option]]]:
    """Return name, first sentence and options of every part of a room."""
    parts: list[tuple[str, str, list[Option]]] = []
    for name, target in ROOMS[room].parts.items():
        maker = loaded(target)
        takes = options_of(maker, given=ROOMS[room].given)
        parts.append((name, summary_of(maker), list(takes.values())))
    return parts


def as_text(room: str) -> str:
    """Return the parts of a room for a terminal, a line for each part and each option."""
    lines = [f"{room}: {ROOMS[room].sections}"]
    for name, summary, options in listed(room):
        lines.append(f"  {name}: {summary}")
        for option in options:
            lines.append(f"      {option.name}  ({_facts(option)})  {option.text}".rstrip())
    return "\n".join(lines)


def _facts(option: Option) -> str:
    needed = "required" if option.required else f"{default_words(option.default)} if left out"
    return f"{option.type_words()}; {needed}"


def default_words(value: Any) -> str:
    if value is None or value in ((), [], {}):
        return "none" if value is None else "empty"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def from_text(text: str) -> dict[str, Any]:
    """Return the section for a part as on the command line, ``NAME:KEY=VALUE,KEY=VALUE``.
    Raises InputError: it has another form, a value is no number, or a key is given twice.

    >>> from_text("randomized-response:values=10,epsilon=0.5")
    {'name': 'randomized-response', 'values': 10, 'epsilon': 0.5}
    """
    name, _, rest = text.partition(":")
    section: dict[str, Any] = {"name": name.strip()}
    for option in rest.split(",") if rest.strip() else []:
        key, equals, value = option.partition("=")
        key = key.strip()
        if not equals:
            raise InputError(f"{option!r} is not KEY=VALUE; the form is NAME:KEY=VALUE,KEY=VALUE")
        if key in section:
            raise InputError(f"`{key}` is given twice in {text!r}")
        try:
            number = real(key, float(value))
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"`{key}` must be a number, got {value!r}") from error
        whole = number.is_integer() and abs(number) < 2**53  # floats exactly
        section[key] = int(number) if whole else number
    return section


def part_from_text(room: str, text: str) -> Part:
    """Return the part that a text names (`from_text`), checked.
    Raises InputError: there is no such part, or it does not take an option.
    """
    try:
        return checked(room, from_text(text))
    except ValidationError as error:
        message = "; ".join(_fault_words(fault) for fault in error.errors(include_url=False))
        raise InputError(f"{text}: {message}") from error


def _fault_words(fault: Any) -> str:
    key = ".".join(map(str, fault["loc"]))
    if fault["type"] == "missing":
        return f"`{key}` is missing"
    text = fault["msg"].removeprefix("Value error, ")
    return f"unknown option `{key}`: {text}" if fault["type"] == UNKNOWN else text
