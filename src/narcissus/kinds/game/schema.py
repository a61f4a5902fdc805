"""The study file of a game, and the distributions for each of which its statement is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb, prod
from typing import Annotated, Any, Literal, Self, cast

import numpy as np
from pydantic import AfterValidator, Field, StringConstraints, model_serializer, model_validator

from narcissus._options import MOST_COUNT
from narcissus._validation import did_you_mean
from narcissus.bounds.threat import Nearby
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.study.part_section import PartSection, refused
from narcissus.study.parts import Part
from narcissus.study.ranges import spread
from narcissus.study.registry import STATEMENT, loaded
from narcissus.study.sections import FileSection, TimedRun, without_defaults
from narcissus.study.signatures import waits
from narcissus.success import Claim, KeptSurprisal
from narcissus.success.statements import Statement
from narcissus.worlds import NamedFamily, Neighbours, OwnWorld, Pairs, Records, members
from narcissus.worlds.base import LISTED, World, all_tuples, tuples
from narcissus.worlds.finite import data_sets

MOST = 10_000  # distributions of a family
GIVEN, NEAR = "the given prior", "a near prior"  # members where near priors are meant

Worlds = Mapping[str, World]


class RatesFamily(FileSection):
    """Every rate of an interval: [world] at each of them, from one end to the other."""

    kind: Literal["rates"]
    low: float = Field(alias="from", ge=0, le=1, description="The lowest rate.")
    high: float = Field(alias="to", ge=0, le=1, description="The highest rate.")
    points: int = Field(11, ge=2, le=1000, description="Rates that are written out and played.")
    spacing: Literal["even", "log"] = Field("even", description="Of the points.")
    tolerance: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="How far the delta that is proved for every rate may be above the one that "
        "the worst rate needs; without it, a tenth of the delta of the statement.",
    )
    budget: int = Field(
        2000, ge=1, le=10**7, description="Most intervals between rates to look at."
    )

    @model_validator(mode="after")
    def _is_an_interval(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"`to` must be above `from`, got {self.low:g} and {self.high:g}")
        if self.spacing == "log" and self.low == 0:
            raise ValueError('`spacing = "log"` needs `from` above 0')
        if self.budget < self.points - 1:
            raise ValueError(f"`budget` must be at least {self.points - 1}, one less than `points`")
        return self

    @property
    def scope(self) -> str:
        return f"every rate from {self.low:g} to {self.high:g}"

    @property
    def rates(self) -> list[float]:
        """Points of the interval, both ends included."""
        spaced = np.geomspace if self.spacing == "log" else np.linspace
        return [self.low, *spaced(self.low, self.high, self.points)[1:-1].tolist(), self.high]

    def worlds(self, world: Part | None) -> Worlds:
        part = _given(world, self.kind)
        return _varied(part, {"rate": self.rates})


class NearFamily(FileSection):
    """Every prior of the data set near that of [world]; attacks are played at that one."""

    kind: Literal["near"]
    prior_factor: float | None = Field(
        default=None,
        ge=1,
        description="Every data set's true probability is between 1 / this and this times that of "
        "[world].",
    )
    prior_distance: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Likewise: no event's true probability is further off (total variation).",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.prior_factor is None) == (self.prior_distance is None):
            raise ValueError("give `prior_factor` or `prior_distance`, one of them")
        return self

    @property
    def nearby(self) -> Nearby:
        return Nearby(self.prior_factor, self.prior_distance)

    @property
    def scope(self) -> str:
        far = f"distance of {self.prior_distance or 0:g}"
        if self.prior_factor is not None:
            far = f"factor of {self.prior_factor:g}"
        return f"every prior within a {far} of the given one"

    def worlds(self, world: Part | None) -> Worlds:
        made = _given(world, self.kind).build()
        if "" not in members(made):
            raise InputError('[family] kind = "near" is for one prior, and [world] has several')
        return {GIVEN: made}


class GridFamily(FileSection):
    """[world] at every combination of values of its parameters: these, and nothing between."""

    kind: Literal["grid"]
    over: dict[str, list[Annotated[float, Field(strict=True)]] | str] = Field(
        min_length=1,
        description="Parameter of [world] -> its values: a list, or a text FROM:TO:STEP.",
    )

    def worlds(self, world: Part | None) -> Worlds:
        part = _given(world, self.kind)
        values = {
            name: spread(grid, f"family.over.{name}") if isinstance(grid, str) else grid
            for name, grid in self.over.items()
        }
        if empty := [name for name, grid in values.items() if not grid]:
            raise InputError(f"`family.over.{empty[0]}` must hold at least one value")
        return _varied(part, values)


class DistributionsFamily(FileSection):
    """The world `records`: every distribution of a record whose chances are whole shares."""

    kind: Literal["distributions"]
    steps: int = Field(ge=1, le=10**6, description="Chances are multiples of 1 / steps.")

    def worlds(self, world: Part | None) -> Worlds:
        part = _given(world, self.kind)
        made = part.build()
        if not isinstance(made, Records):
            raise InputError(
                f'[family] kind = "distributions" is for the world `records`, got `{part.name}`'
            )
        count = len(made.support)
        _few(comb(self.steps + count - 1, count - 1))
        members: dict[str, World] = {}
        for bars in combinations(range(self.steps + count - 1), count - 1):
            shares = np.diff([-1, *bars, self.steps + count - 1]) - 1
            chances = (shares / self.steps).tolist()
            name = f"probabilities {', '.join(f'{int(k)}/{self.steps}' for k in shares)}"
            members[name] = _built(part, {"probabilities": chances})
        return members


class NeighboursFamily(FileSection):
    """Every pair of data sets that differ in one record, each pair by itself."""

    kind: Literal["neighbours"]
    records: int | None = Field(
        default=None, ge=1, le=MOST_COUNT, description="Records of every data set."
    )
    values: int = Field(
        default=2, ge=2, le=MOST_COUNT, description="A record has the values 0 to values - 1."
    )
    universe: list[Any] | None = Field(
        default=None, description="Or the data sets, listed: pairs of these."
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        _one_of(self, "records", "universe", "values")
        return self

    def worlds(self, world: Part | None) -> Worlds:
        _not_given(world, self.kind)
        if self.universe is None:
            assert self.records is not None
            _few(tuples(self.values, self.records) * self.records * (self.values - 1) // 2)
            return Neighbours(self.records, self.values).members
        sets = data_sets("universe", self.universe)
        apart = [
            (a, b)
            for a, b in combinations(sets, 2)
            if int((a != b).reshape(len(a), -1).any(axis=1).sum()) == 1
        ]
        if not apart:
            raise InputError("`family.universe` holds no two data sets that differ in one record")
        _few(len(apart))
        pairs = Pairs(apart)
        return pairs.members or {"the only pair": pairs}


class MessagesFamily(FileSection):
    """Every pair of messages, one of which is encrypted: a bit says which, then the message."""

    kind: Literal["messages"]
    messages: list[list[Annotated[int, Field(le=MOST_COUNT)]]] | None = Field(
        default=None, description="The messages, listed."
    )
    length: int | None = Field(
        default=None, ge=1, le=MOST_COUNT, description="Or all messages of this length."
    )
    values: int = Field(
        default=2, ge=2, le=MOST_COUNT, description="of which an entry is 0 to values - 1."
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        _one_of(self, "length", "messages", "values")
        return self

    def worlds(self, world: Part | None) -> Worlds:
        _not_given(world, self.kind)
        if self.messages is None:
            assert self.length is not None
            if tuples(self.values, self.length) > LISTED:
                raise InputError(
                    f"{self.values}^{self.length} messages are more than {LISTED}, the most that "
                    "are listed; list those you mean in `family.messages`"
                )
            listed = all_tuples(self.values, self.length).tolist()
        else:
            listed = data_sets("family.messages", self.messages).tolist()
        if len(listed) < 2:
            raise InputError("`family.messages` must hold at least two messages")
        _few(comb(len(listed), 2))
        return {
            f"messages {message} and {other}": Pairs([[[0, *message], [1, *other]]])
            for message, other in combinations(listed, 2)
        }


class OwnFamily(FileSection):
    """The distributions that a function of the user's gives."""

    kind: Literal["own"]
    generator: Annotated[Part, PartSection("family")] = Field(
        description='`{ name = "module:function" }`, which gives worlds: a dictionary by name, or '
        "one after the other. Its arguments follow the name."
    )

    def worlds(self, world: Part | None) -> Worlds:
        _not_given(world, self.kind)
        made = self.generator.build()
        members: dict[str, World] = {}
        for name, member in _named(made, self.generator.name):
            if name in members:
                raise InputError(f"the generator {self.generator.name} names {name!r} twice")
            if not hasattr(member, "draw") and not callable(member):
                raise InputError(
                    f"the generator {self.generator.name} must give worlds, or functions of one "
                    f"argument that draw a data set; {name} is {member!r}"
                )
            members[name] = cast("World", member if hasattr(member, "draw") else OwnWorld(member))
            _few(len(members))
        if not members:
            raise InputError(f"the generator {self.generator.name} gives no world")
        return members


FamilySection = Annotated[
    RatesFamily
    | NearFamily
    | GridFamily
    | DistributionsFamily
    | NeighboursFamily
    | MessagesFamily
    | OwnFamily,
    Field(discriminator="kind"),
]


def _named(made: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(made, Mapping):
        yield from ((str(key), world) for key, world in made.items())
        return
    try:
        listed = iter(made)
    except TypeError as error:
        raise InputError(
            f"the generator {name} must give worlds: a dictionary by name, or one after the other; "
            f"got {made!r}"
        ) from error
    yield from ((f"member {number}", world) for number, world in enumerate(listed, start=1))


def _one_of(section: Any, generated: str, listed: str, values: str) -> None:
    """Refuse both ways of naming the members, and neither."""
    fields = section.model_fields_set
    if (getattr(section, generated) is None) == (getattr(section, listed) is None):
        raise ValueError(f"give `{generated}`, of which all are meant, or `{listed}`; one of them")
    if listed in fields and values in fields:
        raise ValueError(f"`{values}` is not used with `{listed}`: leave it out")


def _given(world: Part | None, kind: str) -> Part:
    if world is None:
        raise InputError(f'[family] kind = "{kind}" varies [world], and the study has none')
    return world


def _not_given(world: Part | None, kind: str) -> None:
    if world is not None:
        raise InputError(
            f'[world] is not used: [family] kind = "{kind}" makes the worlds itself: leave it out'
        )


def _few(count: int) -> None:
    if count > MOST:
        size = f"{count:,}" if count < 10**15 else "far more"
        raise InputError(f"the family would have {size} members, at most {MOST:,} are looked at")


def _varied(part: Part, values: Mapping[str, list[float]]) -> Worlds:
    for name in values:
        if name not in part.options:
            raise InputError(
                f"[family]: the world {part.name} has no parameter `{name}`; it has "
                f"{', '.join(part.options) or 'none'}{did_you_mean(name, part.options)}"
            )
    _few(prod(len(grid) for grid in values.values()))
    members: dict[str, World] = {}
    for combination in product(*values.values()):
        options = dict(zip(values, map(_whole, combination), strict=True))
        name = ", ".join(f"{key} = {value!r}" for key, value in options.items())
        members[name] = _built(part, options)
    return members


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _built(part: Part, options: Mapping[str, Any]) -> World:
    return replace(part, options={**part.options, **options}).build()


Relation = Annotated[Part, PartSection("relation")]
Expected = Literal["resilient", "violates", "no violation found"]


class GameRun(TimedRun):
    """How to play."""

    trials: Annotated[int, Field(ge=1, le=10**9)] | Literal["auto"] = Field(
        default=10_000,
        description='Most trials to play. "auto" plays until the statement is refuted, until each '
        "attacker is shown to gain no more than is allowed, or until `--budget` is spent.",
    )
    fresh: int = Field(default=1, ge=1, le=10**6, description="Fresh data sets for each attempt.")
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of 'violates'.")
    stop: bool = Field(default=True, description="End once the statement is refuted.")

    @model_validator(mode="after")
    def _may_stop(self) -> Self:
        if self.trials == "auto" and not self.stop:
            raise ValueError(
                '`trials = "auto"` ends once the statement is refuted, `stop = false` does not: '
                "leave out `stop`, or set a number of trials"
            )
        return self


class Exact(FileSection):
    """Whether to write the game out, against every attacker at the same time."""

    when: Literal["auto", "required", "never"] = "auto"
    limit: int = Field(
        default=2_000_000,
        ge=1,
        le=MOST_COUNT,
        description="Largest number of (data set, release) pairs.",
    )
    epsilons: list[Annotated[float, Field(ge=0, le=100)]] = Field(
        default_factory=lambda: [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0],
        min_length=1,
    )
    abstain: bool = Field(default=True, description="Whether an attacker may make no attempt.")
    memorized: bool = Field(default=False, description="Also give I(S; release | Nature) in bits.")


class Privacy(FileSection):
    """A promise of differential privacy, replace-one, that is known of the mechanism."""

    epsilon: float = Field(ge=0, le=100)
    delta: float = Field(default=0.0, ge=0, le=1)


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable characters")
    return text


Phrase = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=3, max_length=100),
    AfterValidator(_one_line),
]


class Assume(FileSection):
    """An advantage that a class of attackers is assumed not to exceed; others may exceed it."""

    advantage: float = Field(
        ge=0,
        le=1,
        description="The most by which the chance of a yes differs between the releases of two "
        "data sets, for one use. It holds for such an attacker. It also holds for a program that "
        "runs one, makes the other uses and checks the attempt.",
    )
    against: Phrase = Field(
        description='The attackers, in the plural: "efficient attackers". These words are printed '
        "in quotation marks, and nothing checks them."
    )
    of: Phrase = Field(description='What is assumed to be so strong: "the cipher ChaCha20".')
    uses: int = Field(
        default=1, ge=1, le=10**12, description="Independent uses of it in one release."
    )
    ideal: bool = Field(
        default=False,
        description="Whether the advantage is over an ideal one in its place, with which the "
        "release depends on no data; two releases may then differ by twice as much.",
    )
    outside: list[str] = Field(
        default_factory=list, description="Attacks of the study that are not of this class."
    )


@dataclass(frozen=True)
class Setup:
    """A study as objects: the game, its attackers, the statement."""

    game: Game
    attacks: dict[str, Any]
    statement: Statement


class GameStudy(FileSection):
    """A game: a world, a mechanism, attackers, a relation, a statement."""

    title: str = "A game"
    about: str = Field(default="", description="One sentence: what this study shows.")
    source: str = Field(default="", description="Paper and number.")
    expected: Expected | None = Field(default=None, description="What the source says comes out.")
    exact: Exact = Exact()
    privacy: Privacy | None = None
    assume: Assume | None = None
    run: GameRun = GameRun()
    world: Annotated[Part, PartSection("world")] | None = Field(
        default=None, description="Left out where [family] makes the worlds."
    )
    family: FamilySection | None = Field(
        default=None, description="The distributions for each of which the statement is made."
    )
    mechanism: Annotated[Part, PartSection("mechanism")]
    attack: list[Annotated[Part, PartSection("attack")]] = Field(default_factory=list[Part])
    success: Relation
    looser: Relation | None = None
    side_information: Annotated[Part, PartSection("side-information")] | None = Field(
        default=None, alias="side-information"
    )
    statement: Annotated[Part, PartSection("statement")]

    @model_validator(mode="after")
    def _has_a_world(self) -> Self:
        if self.world is None and self.family is None:
            raise refused(("world",), "the key `world` is missing", "missing")
        return self

    _as_before = model_serializer(mode="wrap")(without_defaults(family=None, assume=None))

    def build(self) -> Setup:
        """Build the objects; parts that do not fit each other or are not used raise InputError."""
        two = [name for name, place in STATEMENT.items() if loaded(place).two_relations]
        if self.looser and self.statement.name not in two:
            raise InputError(
                f"the statement `{self.statement.name}` has one relation, [success]; [looser] is "
                f"the second one of {' and '.join(f'`{name}`' for name in two)}"
            )
        game = Game(
            self._world(),
            self.mechanism.build(),
            self.success.build(),
            side=self.side_information.build() if self.side_information else None,
            looser=self.looser.build() if self.looser else None,
            surprisal=asked_of_rows(self.statement),
        )
        attacks: dict[str, Any] = {}
        for part in self.attack:
            name, copy = part.name, 2
            while name in attacks:
                name, copy = f"{part.name} ({copy})", copy + 1
            attacks[name] = part.build()
        return Setup(game, attacks, _statement(self.statement, game))

    def _world(self) -> Any:
        if self.family is not None:
            worlds = self.family.worlds(self.world)
            return NamedFamily(tuple(worlds), tuple(worlds.values()))
        assert self.world is not None  # checked as the file was read
        return self.world.build()


def asked_of_rows(statement: Part) -> float | KeptSurprisal | None:
    """Return the share of surprisal, or more, that a statement asks of recovered rows."""
    options = statement.options
    if "share" not in options:
        return None
    surprisal = KeptSurprisal(
        options["share"], options.get("bits", 0.0), options.get("fresh_share")
    )
    return surprisal.share if surprisal == KeptSurprisal(surprisal.share) else surprisal


def _statement(part: Part, game: Game) -> Statement:
    """Build the statement for a game that it fits; rows are counted in the world."""
    claim: type[Claim] = part.maker  # pyright: ignore[reportAssignmentType] (each begins there)
    claim.require(game)
    return part.build(n=_rows(game)) if waits(part.maker) else part.build()


def _rows(game: Game) -> int:
    counts: set[int] = set()
    for world in members(game.world).values():
        n = getattr(world, "n", None)
        if n is None:
            raise InputError(f"the world {type(world).__name__} has no number of rows `n`")
        counts.add(n)
    if len(counts) > 1:
        raise InputError("the members of the family must have the same number of rows `n`")
    return counts.pop()
