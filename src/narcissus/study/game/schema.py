"""The study file of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.study import earlier
from narcissus.study.game.family import FamilySection
from narcissus.study.part_section import PartSection, refused
from narcissus.study.parts import Part
from narcissus.study.registry import STATEMENT, loaded
from narcissus.study.sections import FileSection, PlayedRun
from narcissus.study.signatures import waits
from narcissus.success import Claim, KeptSurprisal
from narcissus.worlds import NamedFamily, members

Relation = Annotated[Part, PartSection("relation")]
Expected = Literal["resilient", "violates", "no violation found"]


class GameRun(PlayedRun):
    """How to play."""

    trials: int = Field(default=10_000, ge=1, le=10**9, description="Most trials to play.")
    fresh: int = Field(default=1, ge=1, le=10**6, description="Fresh data sets for each attempt.")
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of 'violates'.")
    stop: bool = Field(default=True, description="End once the statement is refuted.")


class Exact(FileSection):
    """Whether to write the game out, against every attacker at once."""

    when: Literal["auto", "required", "never"] = "auto"
    limit: int = Field(
        default=2_000_000, ge=1, description="Largest number of (data set, release) pairs."
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


@dataclass(frozen=True)
class Setup:
    """A study as objects: the game, its attackers, the statement."""

    game: Game
    attacks: dict[str, Any]
    statement: Any


class GameStudy(FileSection):
    """A game: a world, a mechanism, attackers, a relation, a statement."""

    title: str = "A game"
    about: str = Field(default="", description="One sentence: what this study shows.")
    source: str = Field(default="", description="Paper and number.")
    expected: Expected | None = Field(default=None, description="What the source says comes out.")
    exact: Exact = Exact()
    privacy: Privacy | None = None
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

    _earlier = model_validator(mode="before")(earlier.translated(earlier.game))

    @model_validator(mode="after")
    def _has_a_world(self) -> Self:
        if self.world is None and self.family is None:
            raise refused(("world",), "the key `world` is missing", "missing")
        return self

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out an absent [family], so that older studies are written as before."""
        written: dict[str, Any] = write(self)
        return {key: value for key, value in written.items() if key != "family" or value}

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
    asked = KeptSurprisal(options["share"], options.get("bits", 0.0), options.get("fresh_share"))
    return asked.share if asked == KeptSurprisal(asked.share) else asked


def _statement(part: Part, game: Game) -> Any:
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
