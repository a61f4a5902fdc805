"""Read a TOML file against a schema, and say where in the file a mistake is.

pydantic finds the mistakes; the standard library's parser keeps no positions, so the line of a
key is looked up in the text afterwards, for messages only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from narcissus._files import file_digest, parsing, read_bytes
from narcissus._toml import DEEPEST, read_toml
from narcissus._validation import did_you_mean
from narcissus.errors import InputError, StudyError
from narcissus.study.part_section import UNKNOWN

Path_ = tuple[str | int, ...]
ModelT = TypeVar("ModelT", bound=BaseModel)

LARGEST = 2**20  # bytes of a study file or a policy
LARGEST_NUMBER = 2**128  # no float holds whole numbers of a thousand bits, and a seed has 128
LONGEST_KEY_LINE = 1000  # longer lines are not searched for keys: messages name the table around

# Of a line without blanks around it. No two parts of it may match the same blanks: a line of a
# thousand of them would take seconds.
_HEADER = re.compile(r"(\[\[?)([^\[\]]+)\]\]?\s*(#.*)?")
_KEY = re.compile(
    r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*="""
)
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(a or b or c for a, b, c in _PART.findall(dotted))


def _lines_of_keys(text: str) -> Iterator[tuple[Path_, int]]:
    """Yield the path of every header and key with its line, counted from one."""
    table: Path_ = ()
    arrays: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > LONGEST_KEY_LINE:
            continue
        if header := _HEADER.fullmatch(line.strip()):
            name = _parts(header[2])
            if header[1] == "[[":
                arrays[name] = arrays.get(name, -1) + 1
                table = (*name, arrays[name])
            else:
                table = name
            yield table, number
        elif key := _KEY.match(line):
            yield (*table, *_parts(key[1])), number


@dataclass(frozen=True)
class Document:
    """What a study says before it is checked: a parsed TOML file, or a dictionary."""

    name: str  # what messages call it: the file
    folder: Path  # where relative paths in it start; for a link, that of the file it leads to
    data: dict[str, Any]
    # line of each key and header, counted from one; empty for a dictionary
    lines: dict[Path_, int] = field(default_factory=dict[Path_, int])

    def place(self, path: Path_) -> str:
        """Return 'file, line 12' for a key, or for the nearest table around it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return f"{self.name}, line {self.lines[path[:end]]}"
        return self.name


def read_document(path: Path | str, text: str | None = None) -> Document:
    """Read a TOML file; raise StudyError if that is not possible, with line and column.

    text: What the file is about to hold; None reads it.
    """
    path = Path(path)
    try:
        if text is None:
            text = read_bytes(path, largest=LARGEST).decode("utf-8-sig").replace("\r\n", "\n")
        with parsing(path, "valid TOML"):
            data = read_toml(text)
        _check_values(path, data)
    except UnicodeDecodeError as error:
        raise StudyError(f"cannot read {path}: {error}{_other_file(path)}") from error
    except InputError as error:
        hint = _other_file(path)
        if not path.exists() and path.parent.is_dir():
            hint = did_you_mean(path.name, sorted(p.name for p in path.parent.glob("*.toml")))
        raise StudyError(f"{error}{hint}") from error
    folder = path.resolve().parent
    return Document(str(path), folder, _with_slashes(data, folder), dict(_lines_of_keys(text)))


def _other_file(path: Path) -> str:
    """Return what to do with a file that is no study by its name."""
    if path.suffix.lower() == ".toml" or not path.is_file():
        return ""
    if path.suffix.lower() == ".json":
        return "; a study is a TOML file; `narcissus report` draws the record of one"
    return f"; a study is a TOML file; `narcissus init {quote(str(path))}` writes one for a table"


def _with_slashes(value: Any, folder: Path) -> Any:
    r"""Read ``data\people.csv``, as Windows writes it, where that file is there and no other."""
    if isinstance(value, dict):
        return {key: _with_slashes(inner, folder) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_slashes(inner, folder) for inner in value]
    if isinstance(value, str) and "\\" in value and "\0" not in value and len(value) < 1000:
        there = value.replace("\\", "/")
        if not os.path.lexists(folder / value) and os.path.lexists(folder / there):
            return there
    return value


def _check_values(path: Path, data: Any) -> None:
    """Refuse what is nested so deeply, or so large, that whoever works with it would fail."""
    level: list[Any] = [data]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for value in level:
            inner += value.values() if isinstance(value, dict) else value
        if any(isinstance(value, int) and abs(value) >= LARGEST_NUMBER for value in inner):
            raise StudyError(f"{path}: a whole number has more than 128 bits")
        level = [value for value in inner if isinstance(value, dict | list)]
        if not level:
            return
    raise StudyError(f"{path}: tables and lists are nested more than {DEEPEST} deep")


def _dotted(path: Path_) -> str:
    return ".".join(str(p + 1) if isinstance(p, int) else p for p in path) or "the file"


def _models_at(model: Any, path: Path_) -> Iterator[type[BaseModel]]:
    """Yield the models that a table at ``path`` may be, through unions, lists and dicts."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        if not path:
            yield model
        elif isinstance(path[0], str):
            field = model.model_fields.get(path[0]) or next(
                (f for f in model.model_fields.values() if f.alias == path[0]), None
            )
            if field is not None:
                yield from _models_at(field.annotation, path[1:])
    elif get_origin(model) is dict:
        yield from _models_at(get_args(model)[1], path[1:])
    else:
        for argument in get_args(model):
            yield from _models_at(argument, path[1:] if path and isinstance(path[0], int) else path)


def _known_keys(model: type[BaseModel], path: Path_) -> list[str]:
    return [
        field.alias or name
        for nested_model in _models_at(model, path)
        for name, field in nested_model.model_fields.items()
    ]


def _in_file(document: Document, path: Path_, *, absent: bool) -> Path_:
    """Drop the parts that pydantic adds for unions: keep what leads somewhere in the file.

    ``absent`` says that the last part is a key that is missing in the file.
    """
    parts: list[str | int] = []
    node: Any = document.data  # untyped on purpose: it is whatever the user wrote
    for position, part in enumerate(path):
        is_last = position == len(path) - 1
        if isinstance(node, dict) and part in node:
            node = cast(Any, node)[part]
            parts.append(part)
        elif isinstance(node, list) and isinstance(part, int) and part < len(cast(Any, node)):
            node = cast(Any, node)[part]
            parts.append(part)
        elif absent and is_last and isinstance(node, dict):
            parts.append(part)
    return tuple(parts)


def read_policy(
    study: Any, folder: Path, policy: Path | None, model: type[ModelT]
) -> tuple[ModelT | None, dict[str, str]]:
    """Read the policy file that a study is held to, with its digest; None without one."""
    if policy is None and study.policy is not None:
        policy = folder / study.policy
    if policy is None:
        return None, {}
    if study.threshold is not None:
        raise InputError(
            f"the study has its own [threshold], and the policy {policy} another: keep one"
        )
    return validate(model, read_document(policy)), {"policy": file_digest(policy)}


def validate(model: type[ModelT], document: Document) -> ModelT:
    """Check a document against a schema.

    The StudyError has one line for each mistake, with file, line, key, what was expected and the
    nearest known key.
    """
    try:
        return model.model_validate(document.data, context={"folder": document.folder})
    except ValidationError as error:
        faults: dict[Path_, list[str]] = {}
        for fault in error.errors(include_url=False):
            path = _in_file(document, fault["loc"], absent=fault["type"] in ("missing", UNKNOWN))
            faults.setdefault(path, []).append(_message(model, fault, path))
        # A value that may be of two types fails once as each: one message, about what is nearest.
        deepest = [p for p in faults if not any(o != p and o[: len(p)] == p for o in faults)]
        messages = [f"{document.place(p)}: {_either(faults[p])}" for p in deepest]
        raise StudyError("\n".join(dict.fromkeys(messages))) from error


def _either(messages: Sequence[str]) -> str:
    """Join what a value may be instead, of messages about one key: "must be a number or a list"."""
    first, *others = dict.fromkeys(messages)
    parts = [message.rpartition(", got ") for message in (first, *others)]
    key, _, _ = parts[0][0].partition(" must be ")
    if others and all(head.startswith(f"{key} must be ") for head, _, _ in parts):
        alternatives = " or ".join(head.removeprefix(f"{key} must be ") for head, _, _ in parts)
        return f"{key} must be {alternatives}, got {parts[0][2]}"
    return " or ".join([first, *others])


_PLAINER = (
    (r"Input should be a valid integer.*", "must be a whole number"),
    (r"Input should be a valid string", "must be a text"),
    (r"Input should be a valid boolean.*", "must be true or false"),
    (r"Input should be a valid dictionary.*", "must be a section"),
    (r"Input should be a valid", "must be a"),
    (r"Input should be greater than or equal to", "must be at least"),
    (r"Input should be less than or equal to", "must be at most"),
    (r"Input should be greater than", "must be above"),
    (r"Input should be less than", "must be below"),
    (
        r"List should have at least (\d+) items? after validation, not \d+",
        r"needs \1 entry or more",
    ),
    (r"Unable to parse input string as an integer.*", "must be a smaller whole number"),
    (r"Input should be", "must be"),
)
"""What pydantic says of a mistake, and what we do."""


def _message(model: type[BaseModel], fault: Any, path: Path_) -> str:
    """Describe one mistake, but for its place."""
    key = _dotted(path)
    if fault["type"] == UNKNOWN:
        return f"unknown key `{key}`: {fault['msg']}"
    if fault["type"] == "extra_forbidden":
        known = _known_keys(model, fault["loc"][:-1]) or _known_keys(model, path[:-1])
        hint = did_you_mean(str(path[-1]), known)
        if not hint and known:
            hint = f"; known keys: {', '.join(dict.fromkeys(known))}"
        if path[0] == "run" and path[-1] in ("budget", "precision", "quick"):
            of = "tables and games" if path[-1] == "budget" else "tables"
            hint = f"; only studies of {of} have it, since their trials end when limits decide"
        return f"unknown key `{key}`{hint}"
    if fault["type"] == "missing":
        return f"the key `{key}` is missing"
    if fault["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return _of_no_kind(fault, key)
    text = fault["msg"].removeprefix("Value error, ")
    for pattern, words in _PLAINER:
        text = re.sub(pattern, words, text)
    remark = "" if isinstance(fault["input"], dict) else f", got {fault['input']!r}"
    if path[:1] == ("run",) and fault["input"] == "auto":
        remark += '; only studies of tables and games take "auto"'
    return f"`{key}`: {text}{remark}" if path else f"{text}{remark}"


def _of_no_kind(fault: Any, key: str) -> str:
    """State that a section names no kind that there is, or none."""
    context = fault["ctx"]
    name = f"{key}.{context['discriminator'].strip(chr(39))}"
    if "tag" not in context:
        return f"the key `{name}` is missing"
    kinds = context["expected_tags"].replace("'", "").split(", ")
    hint = did_you_mean(context["tag"], kinds)
    return f"`{name}` must be one of {', '.join(kinds)}, got {context['tag']!r}{hint}"
