"""The parts of a game that a study file can name, and how each becomes an object.

A section of the file has a key ``name``; its other keys are the parameters of the class behind
it. A name with a colon is the user's own: ``module:attribute``, looked for beside the study file.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Union, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus.study.plugins import load_attribute


@dataclass(frozen=True)
class Entry:
    """Where a named part lives.

    Attributes
    ----------
    target
        ``module:class`` in this package.
    nested
        Parameters that are parts themselves, with their room.
    hidden
        Parameters that the game fills in, not the file.
    """

    target: str
    nested: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    hidden: Sequence[str] = ()


_WORLDS = "narcissus.worlds"
_SIDE = "narcissus.knowledge"
_MECHANISMS = "narcissus.mechanisms"
_ATTACKS = "narcissus.attacks"
_RELATIONS = "narcissus.success.relations"

ROOMS: dict[str, dict[str, Entry]] = {
    "world": {
        "bits": Entry(f"{_WORLDS}:Bits"),
        "family": Entry(f"{_WORLDS}:Family", nested={"parts": "world"}),
        "finite": Entry(f"{_WORLDS}:Finite"),
        "mona-lisa": Entry(f"{_WORLDS}:MonaLisa"),
        "neighbours": Entry(f"{_WORLDS}:Neighbours"),
        "pairs": Entry(f"{_WORLDS}:Pairs"),
        "random-neighbours": Entry(f"{_WORLDS}:RandomNeighbours"),
        "records": Entry(f"{_WORLDS}:Records"),
        "superset": Entry(f"{_WORLDS}:Superset"),
        "tardos": Entry(f"{_WORLDS}:Tardos"),
        "uniform": Entry(f"{_WORLDS}:Uniform"),
    },
    "side-information": {
        "candidates": Entry(f"{_SIDE}:Candidates"),
        "nature": Entry(f"{_SIDE}:Hidden"),
        "rates": Entry(f"{_SIDE}:Rates"),
        "rows": Entry(f"{_SIDE}:KnownRows"),
        "superset": Entry(f"{_SIDE}:Hiding"),
    },
    "mechanism": {
        "cipher": Entry(f"{_MECHANISMS}:Cipher"),
        "constant": Entry(f"{_MECHANISMS}:Constant"),
        "counting-query": Entry(f"{_MECHANISMS}:CountingQuery"),
        "exact-average": Entry(f"{_MECHANISMS}:ExactAverage"),
        "identity": Entry(f"{_MECHANISMS}:Identity"),
        "k-anonymity": Entry(f"{_MECHANISMS}:KAnonymity"),
        "multiply-hash": Entry(f"{_MECHANISMS}:MultiplyHash"),
        "noisy-average": Entry(f"{_MECHANISMS}:NoisyAverage"),
        "parallel": Entry(f"{_MECHANISMS}:Parallel", nested={"parts": "mechanism"}),
        "parity": Entry(f"{_MECHANISMS}:Parity"),
        "public-key": Entry(f"{_MECHANISMS}:PublicKey"),
        "randomized-response": Entry(f"{_MECHANISMS}:RandomizedResponse"),
        "sha256": Entry(f"{_MECHANISMS}:Sha256"),
        "subsample": Entry(f"{_MECHANISMS}:Subsample"),
        "xor-half": Entry(f"{_MECHANISMS}:XorHalf"),
    },
    "attack": {
        "bayes": Entry("narcissus.profiles:Bayes"),
        "bucket-hashing": Entry(f"{_ATTACKS}:BucketHashing", hidden=("levels",)),
        "fingerprint": Entry(f"{_ATTACKS}:Fingerprint"),
        "fixed-guess": Entry(f"{_ATTACKS}:FixedGuess"),
        "inversion": Entry(f"{_ATTACKS}:Inversion", hidden=("function",)),
        "key-search": Entry(f"{_ATTACKS}:KeySearch", hidden=("cipher", "messages")),
        "majority": Entry(f"{_ATTACKS}:Majority"),
        "parity-guess": Entry(f"{_ATTACKS}:ParityGuess"),
        "parity-membership": Entry(f"{_ATTACKS}:ParityMembership"),
        "posterior": Entry(f"{_ATTACKS}:Posterior"),
        "rare-row": Entry(f"{_ATTACKS}:RareRow"),
        "re-encryption": Entry(f"{_ATTACKS}:Reencryption"),
        "released-places": Entry(f"{_ATTACKS}:ReleasedPlaces"),
        "released-row": Entry(f"{_ATTACKS}:ReleasedRow"),
        "subtraction": Entry(f"{_ATTACKS}:Subtraction"),
        "superset-matching": Entry(f"{_ATTACKS}:SupersetMatching"),
        "try-inputs": Entry(f"{_ATTACKS}:TryInputs", hidden=("world", "function")),
        "two-candidates": Entry(f"{_ATTACKS}:TwoCandidates"),
        "two-candidates-centred": Entry(f"{_ATTACKS}:TwoCandidatesCentred"),
    },
    "relation": {
        "any-of": Entry(f"{_RELATIONS}:AnyOf", nested={"relation": "relation"}),
        "at-least": Entry(f"{_RELATIONS}:AtLeast"),
        "close-and-unique": Entry(f"{_RELATIONS}:CloseAndUnique"),
        "first-bit": Entry(f"{_RELATIONS}:FirstBit"),
        "hamming": Entry(f"{_RELATIONS}:Hamming"),
        "isolates": Entry(f"{_RELATIONS}:Isolates"),
        "member": Entry(f"{_RELATIONS}:Member"),
        "one-of-pair": Entry(f"{_RELATIONS}:OneOfPair"),
        "pinned": Entry(f"{_RELATIONS}:Pinned"),
        "prefix": Entry(f"{_RELATIONS}:Prefix"),
        "random-row": Entry(f"{_RELATIONS}:RandomRow"),
        "same-image": Entry(f"{_RELATIONS}:SameImage", nested={"function": "mechanism"}),
    },
}


class Part(BaseModel):
    """A section that names a part of the game."""

    model_config = ConfigDict(extra="forbid")
    room: ClassVar[str] = ""
    name: str

    def build(self, folder: Path) -> Any:
        """Make the object."""
        raise NotImplementedError

    @classmethod
    def options_of(cls) -> str:
        """Say which options the part has: whatever else the file gives would not be used."""
        names = [name for name in cls.model_fields if name != "name"]
        known = f"the options {', '.join(names)}" if names else "no options"
        return f"the {cls.room} `{cls.__name__}` has {known}"

    @model_validator(mode="after")
    def _buildable(self, info: ValidationInfo) -> Part:
        """Make the object once, so that a bad parameter is reported with its section's line."""
        context = info.context if isinstance(info.context, dict) else {}
        self.build(Path(context.get("folder", ".")))
        return self


class OwnPart(Part):
    """A part that the user wrote: ``name = "module:attribute"``."""

    name: str = Field(json_schema_extra={"pattern": "^[^:]+:[^:]+$"})
    options: dict[str, Any] = Field(
        default_factory=dict, description="Arguments for a class of your own."
    )

    @classmethod
    def options_of(cls) -> str:
        """Say where the options of a user's part go."""
        return f"a {cls.room} of your own takes its arguments in `options`"

    def build(self, folder: Path) -> Any:
        """Load the class, function or object."""
        found = load_attribute(self.name, folder)
        if isinstance(found, type):
            try:
                return found(**self.options)
            except TypeError as error:
                raise InputError(f"`options` do not fit {self.name}: {error}") from error
        if callable(found) and not _is_part(found):
            return _wrapped(self.room, found, self.options)
        if self.options:
            raise InputError(f"`options` are for classes and functions, {self.name} is neither")
        return found


def _is_part(found: Any) -> bool:
    return any(hasattr(found, m) for m in ("draw", "release", "attempt", "holds", "reveal"))


def _wrapped(room: str, function: Any, options: dict[str, Any]) -> Any:
    """Make a part of a plain function."""
    from narcissus.attacks import OwnAttack
    from narcissus.knowledge import Told
    from narcissus.study.game.own import OwnMechanism, OwnWorld
    from narcissus.success.relations import Own

    makers: dict[str, Any] = {
        "attack": OwnAttack,
        "relation": Own,
        "side-information": Told,
        "mechanism": OwnMechanism,
        "world": OwnWorld,
    }
    try:
        return makers[room](function, **options)
    except TypeError as error:
        raise InputError(f"`options` do not fit a {room} given by a function: {error}") from error


class ShippedPart(Part):
    """A part of this package."""

    entry: ClassVar[Entry]

    def build(self, folder: Path) -> Any:
        """Make the object from the parameters."""
        module, _, attribute = self.entry.target.partition(":")
        cls = getattr(importlib.import_module(module), attribute)
        given: dict[str, Any] = {}
        for key in type(self).model_fields:
            value = getattr(self, key)
            if key == "name":
                continue
            if key in self.entry.nested:
                value = (
                    [part.build(folder) for part in value]
                    if isinstance(value, list)
                    else value.build(folder)
                )
            given[key] = value
        return cls(**given)


def _parameters(entry: Entry) -> dict[str, Any]:
    """Give the fields of a part's schema from the parameters of its class."""
    module, _, attribute = entry.target.partition(":")
    cls: Any = getattr(importlib.import_module(module), attribute)
    hints = get_type_hints(cls)
    fields: dict[str, Any] = {}
    for parameter in dataclasses.fields(cls):
        if parameter.name in entry.hidden:
            continue
        kind = hints[parameter.name]
        if parameter.name in entry.nested:
            kind = one_part(entry.nested[parameter.name], nested=True)
            if parameter.name == "parts":
                kind = list[kind]  # type: ignore[valid-type]
        default: Any = ...
        if parameter.default is not dataclasses.MISSING:
            default = parameter.default
        elif parameter.default_factory is not dataclasses.MISSING:
            default = Field(default_factory=parameter.default_factory)
        fields[parameter.name] = (kind, default)
    return fields


def one_part(room: str, *, nested: bool = False) -> Any:
    """Give the type of a section that names a part of a room, for a pydantic model."""
    own = create_model("own", __base__=OwnPart, __module__=__name__)
    own.room = room
    models: dict[str, type[BaseModel]] = {}
    for name, entry in ROOMS[room].items():
        if nested and entry.nested:
            continue  # one level of nesting is enough, and keeps the schema finite
        fields: dict[str, Any] = {"name": (Literal[name], ...), **_parameters(entry)}
        model = create_model(name, __base__=ShippedPart, __module__=__name__, **fields)
        model.entry = entry
        model.room = room
        models[name] = model
    return by_name(models, own)


def _nothing(schema: dict[str, Any]) -> None:
    """Make a JSON Schema that nothing satisfies."""
    schema.clear()
    schema["not"] = {}


class _Unknown(BaseModel):
    """A section whose name is not known: refused, with the names that are."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_nothing)
    known: ClassVar[tuple[str, ...]] = ()
    more: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _refuse(cls, value: Any) -> Any:
        given: Any = value.get("name") if isinstance(value, dict) else value
        said = "has no `name`" if given is None else f"has the name {given!r}"
        raise PydanticCustomError(
            "unknown_name",
            "{text}",
            {
                "text": f"{said}; it must be one of {', '.join(cls.known)}{cls.more}"
                + did_you_mean(str(given), cls.known)
            },
        )


def by_name(models: dict[str, type[BaseModel]], own: type[BaseModel] | None = None) -> Any:
    """Give the type of a section that is one of several models, by its key ``name``.

    Parameters
    ----------
    models
        By name. Each is called like its name, by which messages about its keys find it.
    own
        For names with a colon; None if there are none.
    """
    unknown = create_model("unknown", __base__=_Unknown, __module__=__name__)
    unknown.known = tuple(models)
    unknown.more = "" if own is None else ", or `module:attribute` of your own"
    tagged = {**models, "unknown": unknown, **({} if own is None else {"own": own})}

    def tag(value: Any) -> str:
        name = value.get("name") if isinstance(value, dict) else getattr(value, "name", None)
        if not isinstance(name, str):
            return "unknown"
        if name in models:
            return name
        return "own" if own is not None and ":" in name else "unknown"

    choices = [Annotated[model, Tag(name)] for name, model in tagged.items()]
    return Annotated[Union[tuple(choices)], Discriminator(tag)]  # noqa: UP007
