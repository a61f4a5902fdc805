"""A part as a study file names it: its options, and how it becomes an object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from narcissus._files import is_ours
from narcissus._options import Swept
from narcissus.errors import InputError, NarcissusError, raised_where
from narcissus.study.signatures import Option, marked


@dataclass(frozen=True)
class Part:
    """A part as a study file names it."""

    room: str  # Its room, of `narcissus.study.registry.ROOMS`
    name: str  # As in the file
    # Its options, with the defaults of those that the file does not give; nested parts as
    # `Part`, of a swept option the list
    options: Mapping[str, Any]
    # Keys of the section that belong to the study, not to the part
    also: Mapping[str, Any] = field(default_factory=dict[str, Any])
    # maker, first: What makes the object, and its first arguments, which are no options
    maker: Callable[..., Any] = field(default=dict, compare=False, repr=False)
    first: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    # What the maker takes, by name
    takes: Mapping[str, Option] = field(
        default_factory=dict[str, Option], compare=False, repr=False
    )

    @property
    def level(self) -> str | None:
        """The option of those that can be swept that is given; None where there is none."""
        swept = (name for name, option in self.takes.items() if marked(option.hint, Swept))
        return next((name for name in swept if self.options[name] is not None), None)

    @property
    def swept(self) -> bool:
        """Whether the file gives a list of levels."""
        return self.level is not None and isinstance(self.options[self.level], list)

    @property
    def levels(self) -> list[float]:
        setting = [] if self.level is None else self.options[self.level]
        return [float(v) for v in setting] if isinstance(setting, list) else [float(setting)]

    def build(self, *given: Any, **filled_in: Any) -> Any:
        """Make the object; what the study gives first, and what the game fills in."""
        return self._make(given, {**self.options, **filled_in})

    def each(self) -> list[Any]:
        """Make an object for each level; without a list of levels, the one object."""
        if self.level is None or not self.swept:
            return [self.build()]
        return [self._make((), {**self.options, self.level: v}) for v in self.levels]

    def _make(self, given: Sequence[Any], options: Mapping[str, Any]) -> Any:
        made = {name: _built(value) for name, value in options.items()}
        try:
            return self.maker(*self.first, *given, **made)
        except NarcissusError:
            raise
        except Exception as error:
            if ":" not in self.name and is_ours(error, TypeError, ValueError):
                raise  # the options of a part of ours were checked before
            remark = f" with the options {made}" if made else ""
            raise InputError(
                f"the {self.room} {self.name} cannot be made{remark}: {raised_where(error)}"
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """Return the section, defaults filled in."""
        return {"name": self.name, **self.also, **{k: _plain(v) for k, v in self.options.items()}}

    def to_text(self) -> str:
        """Return part as on the command line, ``NAME:KEY=VALUE,KEY=VALUE``, without defaults."""
        changes = {k: v for k, v in self.options.items() if v != self.takes[k].default}
        options = ",".join(f"{k}={v:g}" for k, v in changes.items())
        return f"{self.name}:{options}" if options else self.name


def _built(value: Any) -> Any:
    if isinstance(value, Part):
        return value.build()
    return [_built(v) for v in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.to_dict()
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def own_parts(value: Any) -> Iterator[str]:
    """Yield the names of the user's own parts of a study, at any depth."""
    if isinstance(value, Part):
        if ":" in value.name:
            yield value.name
        yield from own_parts(list(value.options.values()))
    elif isinstance(value, BaseModel):
        yield from own_parts([getattr(value, name) for name in type(value).model_fields])
    elif isinstance(value, Mapping):
        yield from own_parts(list(value.values()))
    elif isinstance(value, list):
        for entry in value:
            yield from own_parts(entry)
