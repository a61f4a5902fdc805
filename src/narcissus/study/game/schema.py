"""The study file of a game."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.study.game.parts import by_name, one_part
from narcissus.success.singling_out import SinglingOut
from narcissus.success.statements import (
    FixedBaseline,
    NotMemorizing,
    Resilience,
    Threshold,
)
from narcissus.worlds import (
    Bits,
    Finite,
    Pairs,
    RandomNeighbours,
    Records,
    Superset,
    Tardos,
    members,
)

Expected = Literal["resilient", "violates", "no violation found"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Run(_Section):
    """How to play."""

    trials: int = Field(default=10_000, ge=1, le=10**9, description="Most trials to play.")
    fresh: int = Field(default=1, ge=1, le=10**6, description="Fresh data sets for each attempt.")
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of 'violates'.")
    seed: int | None = Field(default=None, ge=0)
    stop: bool = Field(default=True, description="End once the statement is refuted.")


class Exact(_Section):
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


class Privacy(_Section):
    """A promise of differential privacy, replace-one, that is known of the mechanism."""

    epsilon: float = Field(ge=0, le=100)
    delta: float = Field(default=0.0, ge=0, le=1)


class Claim(_Section):
    """The statement that is tested."""

    name: str
    epsilon: float = Field(default=0.0, ge=0, le=100)
    delta: float = Field(default=0.0, ge=0, le=1)
    surprisal_share: ClassVar[float | None] = None

    def build(self, game: Game) -> Any:
        """Make the statement for a game."""
        worlds = members(game.world).values()
        if self.name == "pairs" and not all(
            isinstance(world, Pairs | RandomNeighbours) for world in worlds
        ):
            raise InputError(
                "the statement `pairs` needs a world of pairs: `pairs`, `neighbours` (each pair "
                "by itself) or `random-neighbours` (one drawn)"
            )
        if self.name == "two-criteria" and game.looser is None:
            raise InputError("the statement `two-criteria` needs a section [looser]")
        if self.name == "side-information" and game.side is None:
            raise InputError("the statement `side-information` needs a section [side-information]")
        return Resilience(self.epsilon, self.delta)


class SurprisalClaim(Claim):
    """Resilience where only rows count that the attacker was not told too much about."""

    share: float = Field(ge=0, le=1, description="xi: share of its surprisal that a row keeps.")


class FixedClaim(Claim):
    """Fixed baseline."""

    best: float | None = Field(
        default=None, ge=0, le=1, description="Chance of the best fixed guess."
    )

    def build(self, game: Game) -> Any:
        """Make the statement; where the best guess has a formula, it is found for the game."""
        return FixedBaseline(self.epsilon, self.delta, self.best)


class ThresholdClaim(_Section):
    """Threshold baseline."""

    name: str
    epsilon: float = Field(ge=0, le=1)
    tau: float = Field(ge=0, le=1)

    def build(self, game: Game) -> Any:
        """Make the statement."""
        return Threshold(self.epsilon, self.tau)


class SinglingOutClaim(Claim):
    """Predicate singling out, Definition 2.4."""

    w_max: float = Field(gt=0, le=1)
    points: int = Field(default=28, ge=1, le=1000)

    def build(self, game: Game) -> Any:
        """Make the statement; the rows are counted in the world."""
        for world in members(game.world).values():
            if isinstance(world, Bits | Records) and world.law is None:
                raise InputError(
                    "the statement `singling-out` is about rows that are drawn from one "
                    f"distribution, and those of the world {type(world).__name__} are not alike"
                )
            if isinstance(world, Finite | Pairs | RandomNeighbours | Superset | Tardos):
                raise InputError(
                    "the statement `singling-out` is about rows that are drawn independently from "
                    f"one distribution, and those of the world {type(world).__name__} are not; it "
                    "works for bits, records, uniform, mona-lisa, or a world of your own"
                )
        return SinglingOut(_rows(game), self.w_max, self.epsilon, self.delta, self.points)


class MemorizingClaim(_Section):
    """(m, xi)-memorizing."""

    name: str
    m: int = Field(ge=1)
    xi: float = Field(gt=0, lt=1)

    def build(self, game: Game) -> Any:
        """Make the statement; the rows are counted in the world."""
        return NotMemorizing(self.m, _rows(game), self.xi)


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


CLAIMS: dict[str, tuple[type[_Section], str]] = {
    "narcissus": (Claim, "Cohen et al. 2024, Definition 1.6"),
    "pairs": (Claim, "Cohen et al. 2024, Definition A.2"),
    "bayesian": (Claim, "Kaplan et al. 2025, Definition 3.1"),
    "two-criteria": (Claim, "Kaplan et al. 2025, Definition 3.6"),
    "side-information": (Claim, "Kaplan et al. 2025, Definition 4.1"),
    "surprisal": (SurprisalClaim, "Kaplan et al. 2025, Definitions 4.4 and 4.11"),
    "membership": (Claim, "Cohen et al. 2024, Definition 2.1 and Theorem 2.3"),
    "npso": (Claim, "Cohen et al. 2024, Definition 2.5"),
    "one-way": (Claim, "Cohen et al. 2024, Theorem B.5"),
    "encryption": (Claim, "Cohen et al. 2024, Theorems B.8 and B.12"),
    "fixed-baseline": (FixedClaim, "Cohen et al. 2024, Definition 1.4"),
    "threshold": (ThresholdClaim, "Cohen et al. 2024, Definition 1.5"),
    "singling-out": (SinglingOutClaim, "Cohen et al. 2024, Definition 2.4"),
    "memorizing": (MemorizingClaim, "Kaplan et al. 2025, Definition 1.2"),
}
"""Statement -> its section and its source."""

TWO_RELATIONS = ("two-criteria", "surprisal")
"""Statements with a relation of their own for fresh data (Definitions 3.6 and 4.11)."""


def _claims() -> Any:
    models: dict[str, type[BaseModel]] = {}
    for name, (base, _) in CLAIMS.items():
        fields: dict[str, Any] = {"name": (Literal[name], ...)}
        models[name] = create_model(name, __base__=base, __module__=__name__, **fields)
    return by_name(models)


@dataclass(frozen=True)
class Setup:
    """A study as objects: the game, who attacks it, what is stated."""

    game: Game
    attacks: dict[str, Any]
    statement: Any


class GameStudyBase(_Section):
    """A game: a world, a mechanism, attackers, a relation, a statement."""

    title: str = "A game"
    about: str = Field(default="", description="One sentence: what this study shows.")
    source: str = Field(default="", description="Paper and number.")
    expected: Expected | None = Field(default=None, description="What the source says comes out.")
    exact: Exact = Exact()
    privacy: Privacy | None = None
    run: Run = Run()

    # The sections that name parts are added below, from the lists of parts.
    world: Any
    mechanism: Any
    attack: Any
    success: Any
    looser: Any
    side_information: Any
    statement: Any

    def build(self, folder: Path) -> Setup:
        """Make the objects.

        Raises
        ------
        InputError
            Parts do not fit each other, or the statement does not use one of them.
        """
        if self.looser and self.statement.name not in TWO_RELATIONS:
            raise InputError(
                f"the statement `{self.statement.name}` has one relation, [success]; [looser] is "
                f"the second one of {' and '.join(f'`{name}`' for name in TWO_RELATIONS)}"
            )
        game = Game(
            self.world.build(folder),
            self.mechanism.build(folder),
            self.success.build(folder),
            side=self.side_information.build(folder) if self.side_information else None,
            looser=self.looser.build(folder) if self.looser else None,
            surprisal=getattr(self.statement, "share", None),
        )
        attacks: dict[str, Any] = {}
        for part in self.attack:
            name, copy = part.name, 2
            while name in attacks:
                name, copy = f"{part.name} ({copy})", copy + 1
            attacks[name] = part.build(folder)
        return Setup(game, attacks, self.statement.build(game))


_SIDE: Any = one_part("side-information") | None
_FIELDS: dict[str, Any] = {
    "world": (one_part("world"), ...),
    "mechanism": (one_part("mechanism"), ...),
    "attack": (list[one_part("attack")], Field(default_factory=list)),
    "success": (one_part("relation"), ...),
    "looser": (one_part("relation") | None, None),
    "side_information": (_SIDE, Field(default=None, alias="side-information")),
    "statement": (_claims(), ...),
}
GameStudy: type[GameStudyBase] = create_model(
    "GameStudy", __base__=GameStudyBase, __module__=__name__, **_FIELDS
)
"""The schema of the study file, with every part that can be named."""
