"""The options of a part, read off the signature and the docstring of what makes it."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from narcissus._options import FilledIn, OfRoom, Swept

REQUIRED: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class Option:
    """One option of a part."""

    name: str  # As in the signature and in the study file
    hint: Any  # Its type; Any where the signature does not say
    default: Any  # Its value where the file gives none; `REQUIRED` where it must
    text: str = ""  # What the docstring says of it; "" where it says nothing

    @property
    def required(self) -> bool:
        """Whether a file must give it."""
        return self.default is REQUIRED

    def type_words(self) -> str:
        """Return the type as a reader of a study file would write it."""
        return " or ".join(dict.fromkeys(_words(self.hint)))


def options_of(maker: Callable[..., Any], *, given: int = 0) -> dict[str, Option]:
    """Return the options of a class or function by name, in the order of its signature.

    given: number of first parameters that the study gives, and the file does not.
    """
    hints, texts = _hints(maker), described(maker)
    options: dict[str, Option] = {}
    for number, (name, parameter) in enumerate(_parameters(maker).items()):
        hint = hints.get(name, Any)
        if number >= given and parameter.kind in _BY_NAME and not marked(hint, FilledIn):
            default = parameter.default
            if default is not REQUIRED and type(default).__name__ == _FACTORY:
                default = _made_default(maker, name)
            options[name] = Option(name, hint, default, texts.get(name, ""))
    return options


def waits(maker: Callable[..., Any]) -> bool:
    """Return whether it cannot be made before the game is there."""
    hints = _hints(maker)
    return any(
        p.default is REQUIRED and marked(hints.get(name), FilledIn)
        for name, p in _parameters(maker).items()
    )


def in_a_file(alternatives: tuple[Any, ...]) -> list[Any]:
    """Leave out the arrays among the types of an option: a file writes them as lists.

    `NDArray` is an array's class up to NumPy 2.4, and the name of a type from 2.5 on.
    """
    arrays = {"ndarray", "NDArray"}
    return [
        alternative
        for alternative in alternatives
        if getattr(get_origin(alternative), "__name__", "") not in arrays
    ]


def marked(hint: Any, mark: type | UnionType) -> bool:
    """Return whether a type carries a mark of `narcissus._options`, at any depth."""
    is_marked = any(isinstance(label, mark) for label in getattr(hint, "__metadata__", ()))
    return is_marked or any(marked(inner, mark) for inner in get_args(hint))


def takes_any(maker: Callable[..., Any]) -> bool:
    """Return whether it takes options by any name (``**options``)."""
    return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in _parameters(maker).values())


_FACTORY = "_HAS_DEFAULT_FACTORY_CLASS"  # what a signature shows of a dataclass's factory
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _made_default(maker: Any, name: str) -> Any:
    made = next(f.default_factory for f in dataclasses.fields(maker) if f.name == name)
    return made() if callable(made) else None


def _parameters(maker: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(maker).parameters)
    except (TypeError, ValueError):  # a builtin that does not say
        return {}


def _hints(maker: Any) -> dict[str, Any]:
    """Return the types of the parameters; of a user's code they may not be there to be found."""
    by_init = isinstance(maker, type) and not dataclasses.is_dataclass(maker)
    source = maker.__init__ if by_init else maker
    try:
        return get_type_hints(source, include_extras=True)
    except Exception:  # names that exist for a type checker only, or no types at all
        return {}


def described(maker: Any) -> dict[str, str]:
    """Return what a docstring says of each parameter, on one line.

    It is read in NumPy's form, and as ``name: text`` at the beginning of a line.

    >>> described(options_of)["given"]
    'Number of first parameters that the study gives, and the file does not.'
    """
    descriptions: dict[str, str] = {}
    # what a class does not say of a parameter, the class that it is made from does
    makers = [*getattr(maker, "__mro__", [maker]), getattr(maker, "__init__", None)]
    for text in map(inspect.getdoc, makers):
        for names, description in _entries(text or ""):
            for name in names:
                descriptions.setdefault(name, description)
    return descriptions


_SECTION = re.compile(
    r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n?[A-Z][\w ]*\n-+\n|\Z)", re.S | re.M
)


_SHORT = re.compile(r"^\**(\w+(?:, \w+)*): (\S.*(?:\n +\S.*)*)", re.M)


def _entries(text: str) -> Iterator[tuple[list[str], str]]:
    for names, description in _SHORT.findall(text):
        words = " ".join(description.split())
        yield names.split(", "), words[:1].upper() + words[1:]
    for section in _SECTION.findall(text):
        for entry in re.split(r"\n(?=\S)", section):
            head, _, rest = entry.partition("\n")
            names = [name.strip() for name in head.partition(":")[0].split(",")]
            yield names, " ".join(rest.split())


_NAMES = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    type(None): "",
    Any: "any value",
}


def _words(hint: Any) -> list[str]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _words_of_marked(hint)
    if origin is Literal:
        return [f"`{value}`" if isinstance(value, str) else str(value) for value in arguments]
    if origin is Union or origin is UnionType:
        return [word for argument in in_a_file(arguments) for word in _words(argument) if word]
    if origin is not None:
        inner = [word for argument in arguments[:1] for word in _words(argument)]
        listed = f"list of {' or '.join(_plural(word) for word in inner)}"
        is_keyed = isinstance(origin, type) and issubclass(origin, Mapping)
        return ["keys with values" if is_keyed else listed]
    if hint in _NAMES:
        return [_NAMES[hint]]
    return [f"a {getattr(hint, '__name__', str(hint)).lower()}"]


def _words_of_marked(hint: Any) -> list[str]:
    for mark in hint.__metadata__:
        if isinstance(mark, OfRoom):
            return [f"a {mark.room}"]
        if isinstance(mark, Swept):
            return ["number", "list of numbers"]
    return _words(get_args(hint)[0])


def _plural(word: str) -> str:
    if word.startswith("a "):
        return word[2:] + "s"
    head, of, rest = word.partition(" of ")
    return {"text": "texts", "any value": "any values"}.get(word, f"{head}s{of}{rest}")


def summary_of(maker: Any) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(maker) or "").split("\n\n")[0].split())
