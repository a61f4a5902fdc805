"""The study file of a table audit: what may be written in it, and what it means.

The descriptions here are the documentation of the study file (`narcissus schema study table`).
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from narcissus.study.options import options_of_kind

LOWEST, HIGHEST = 1e-9, 1e9  # of a level of noise: beyond, squares and exponentials overflow
NAMED_ATTACKS = ("prior", "posterior", "rap", "ceiling")
# kind -> its options and their defaults
PRIOR_OPTIONS: dict[str, dict[str, Any]] = {
    "bayesian-network": {"parents": 2, "smoothing": 1.0, "score": "bic"},
    "independent": {"smoothing": 0.0},
    "empirical": {"smoothing": 0.01},
}


class Section(BaseModel):
    """A part of the study file; keys that it does not know are errors."""

    # Strict: "100" and true are no numbers. TOML tells them apart, and so do we.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)


class BinsSpec(Section):
    """How to turn a column of numbers into a few values; give exactly one key."""

    width: float | None = Field(
        default=None, gt=0, description="Bins of this width, from multiples of it."
    )
    edges: list[float] | None = Field(
        default=None, min_length=1, description="Where a new bin starts."
    )
    quantiles: int | None = Field(
        default=None, ge=2, le=100, description="So many bins of equal share."
    )
    above: float | None = Field(default=None, description="Two values: at most this, and above it.")

    @model_validator(mode="after")
    def _one(self) -> BinsSpec:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of width, edges, quantiles, above")
        return self


class DataSpec(Section):
    """The table of people."""

    path: str | None = Field(
        default=None, description="CSV (also .csv.gz, .tsv) or Parquet, relative to the study file."
    )
    table: str | None = Field(
        default=None, description="A packaged table instead of a file, such as 'statsmodels:fair'."
    )
    columns: list[str] | None = Field(default=None, description="Columns to use; all if left out.")
    drop: list[str] = Field(default=[], description="Columns to leave out.")
    bins: dict[str, BinsSpec] = Field(default={}, description="How to bin numeric columns.")
    missing: Literal["refuse", "drop", "category"] = Field(
        default="refuse",
        description="Missing values: an error, rows dropped, or a value of their own.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> DataSpec:
        if (self.path is None) == (self.table is None):
            raise ValueError("give exactly one of `path` and `table`")
        return self


class ThreatSpec(Section):
    """What the attacker knows, wants, and when they succeed."""

    unknown: list[str] | None = Field(
        default=None, min_length=1, description="Columns to reconstruct."
    )
    known: list[str] | None = Field(
        default=None, description="Columns that the attacker knows; all others are unknown."
    )
    targets: int = Field(
        default=100, gt=0, le=1_000_000, description="People whose tables are released together."
    )
    people: Literal["prior", "rows"] = Field(
        default="prior",
        description="Where they come from: drawn from the prior, which is then known exactly, "
        "or real rows of the table; then baselines, ceiling and bounds lean on the prior.",
    )
    within: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default={},
        description="For ordered unknown columns: how far off (L1) still counts as right, in the "
        "column's own numbers; for a binned column in bins.",
    )
    at_least: int | None = Field(
        default=None, gt=0, description="How many unknown columns must be right; all if left out."
    )

    @model_validator(mode="after")
    def _one_side(self) -> ThreatSpec:
        if (self.unknown is None) == (self.known is None):
            raise ValueError("give exactly one of `unknown` and `known`")
        return self


class PriorSpec(Section):
    """What the attacker knows beforehand about how columns go together."""

    kind: str = Field(
        default="bayesian-network",
        description="'bayesian-network', 'independent', 'empirical', or your own class as "
        "'module:attribute'.",
    )
    parents: int | None = Field(
        default=None,
        ge=0,
        le=5,
        description="Of 'bayesian-network': most parents of a column; 2 if left out.",
    )
    smoothing: float | None = Field(
        default=None,
        ge=0,
        description="Of 'bayesian-network': Dirichlet pseudo-count, above 0; 1 if left out. Of "
        "'independent': pseudo-count of each value; 0 if left out. Of 'empirical': share of "
        "independent columns that is mixed in, at most 1; 0.01 if left out.",
    )
    score: Literal["bic", "bdeu"] | None = Field(
        default=None,
        description="Of 'bayesian-network': score of the structure search; bic if left out.",
    )

    @model_validator(mode="before")
    @classmethod
    def _of_its_kind(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        given = cast("dict[str, Any]", values)
        kind = given.get("kind", "bayesian-network")
        if isinstance(kind, str) and ":" in kind:
            return options_of_kind(given, kind, {**PRIOR_OPTIONS, kind: {}})
        return options_of_kind(given, str(kind), PRIOR_OPTIONS)

    @model_validator(mode="after")
    def _smoothing_fits(self) -> PriorSpec:
        if self.kind == "bayesian-network" and self.smoothing == 0:
            raise ValueError("`smoothing` of a Bayesian network must be above 0, got 0")
        if self.kind == "empirical" and (self.smoothing or 0) > 1:
            raise ValueError(
                f"`smoothing` of an empirical prior must be in [0, 1], got {self.smoothing}"
            )
        return self


DEFAULT_TRIALS = 100

Level = Annotated[float, Field(allow_inf_nan=True)]


class MechanismSpec(Section):
    """What is released: all k-way tables that touch an unknown column, with noise on each cell."""

    kind: Literal["marginals"] = "marginals"
    k: int = Field(default=3, ge=1, description="Columns in each table.")
    noise: Literal["gaussian", "laplace"] = "gaussian"
    epsilon: Level | list[Level] | None = Field(
        default=None, description="Privacy level or list of them; `inf` is no noise."
    )
    delta: float | None = Field(
        default=None,
        description="Of Gaussian noise, in (0, 1); 1e-5 if left out. With `epsilon` it sets the "
        "noise, with `mu` and `scale` the point (epsilon, delta) of the bounds for comparison.",
    )
    mu: Level | list[Level] | None = Field(
        default=None, description="Gaussian DP level instead of epsilon; `inf` is no noise."
    )
    scale: Level | list[Level] | None = Field(
        default=None, description="Noise scale in counts instead of a level; 0 is no noise."
    )

    @model_validator(mode="after")
    def _one_level(self) -> MechanismSpec:
        given = [n for n in ("epsilon", "mu", "scale") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of epsilon, mu and scale")
        name = given[0]
        for value in self.levels:
            if math.isnan(value) or value < 0 or (value == 0 and name != "scale"):
                limit = "at least 0" if name == "scale" else "above 0"
                raise ValueError(f"`{name}` must be {limit}, got {value}")
            if name == "scale" and math.isinf(value):
                raise ValueError("`scale` must be finite")
            if value != 0 and not math.isinf(value) and not LOWEST <= value <= HIGHEST:
                raise ValueError(f"`{name}` must be in [{LOWEST:g}, {HIGHEST:g}], got {value:g}")
        if len(set(self.levels)) != len(self.levels) or not self.levels:
            raise ValueError(f"`{name}` must be a list of different levels")
        if self.noise == "laplace" and name == "mu":
            raise ValueError("`mu` is a level of Gaussian noise; give epsilon or scale")
        if self.delta is not None:
            if not 0 <= self.delta < 1:
                raise ValueError(f"`delta` must be in [0, 1), got {self.delta}")
            if self.noise == "laplace":
                raise ValueError("Laplace noise gives pure DP: leave `delta` out")
            if self.delta == 0:
                raise ValueError(
                    "Gaussian noise needs a `delta` above 0; or take noise = 'laplace'"
                )
            if all(v == 0 if name == "scale" else math.isinf(v) for v in self.levels):
                raise ValueError("exact counts guarantee nothing: leave `delta` out")
        return self

    @property
    def levels(self) -> list[float]:
        """The levels, in the order of the file."""
        value = next(
            getattr(self, n) for n in ("epsilon", "mu", "scale") if getattr(self, n) is not None
        )
        return [float(v) for v in value] if isinstance(value, list) else [float(value)]

    @property
    def swept(self) -> bool:
        """Whether the file gives a list."""
        return any(isinstance(getattr(self, n), list) for n in ("epsilon", "mu", "scale"))


class AttackSpec(Section):
    """One attack; `kind` is the attack's name in the file unless given."""

    kind: str | None = Field(
        default=None,
        description="'prior', 'posterior', 'rap', 'ceiling', or your own class as "
        "'module:attribute'.",
    )
    trials: int | None = Field(
        default=None, ge=1, description="Fewer trials than the rest, for a slow attack."
    )
    method: Literal["mean-field", "gibbs"] | None = Field(
        default=None, description="Of `posterior`."
    )
    sweeps: int | None = Field(
        default=None, ge=1, description="Of `posterior`: passes over the people."
    )
    start: Literal["random", "prior"] | None = Field(default=None, description="Of `rap`.")
    steps: int | None = Field(default=None, ge=1, description="Of `rap`: gradient steps.")
    starts: int | None = Field(
        default=None, ge=1, description="Of `rap`: random starts, with a vote."
    )
    rounding: Literal["largest", "sample"] | None = Field(default=None, description="Of `rap`.")
    options: dict[str, Any] = Field(default={}, description="Arguments of your own class.")


class BoundsSpec(Section):
    """What is to be proved, and at which confidence limits are drawn."""

    confidence: float | list[float] = Field(
        default=0.95,
        description="Levels of 'no attacker gets more than v of n'; the highest is the headline. "
        "Sampled limits have a level of their own, `run.confidence`.",
    )

    @field_validator("confidence")
    @classmethod
    def _level(cls, value: float | list[float]) -> float | list[float]:
        for level in value if isinstance(value, list) else [value]:
            if not 0 < level < 1:
                raise ValueError(f"`confidence` must be in (0, 1), got {level}")
        if value == []:
            raise ValueError("`confidence` must have at least one level")
        return value

    @property
    def levels(self) -> list[float]:
        """The different levels, the highest first: it is the headline."""
        given = self.confidence if isinstance(self.confidence, list) else [self.confidence]
        return sorted(set(given), reverse=True)


class ThresholdSpec(Section):
    """What whoever approves the release accepts; give exactly one of share, advantage, targets."""

    share: float | None = Field(
        default=None, gt=0, le=1, description="Mean share recovered, at most."
    )
    advantage: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Mean advantage over the best guess without the release, at most: "
        "(share - guess) / (1 - guess).",
    )
    targets: int | None = Field(
        default=None,
        ge=0,
        description="Targets recovered, not exceeded with the highest confidence of [bounds].",
    )
    worst_group: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="The same as `share` or `advantage` beside it, for each group of [groups] "
        "whose members an attacker can tell beforehand.",
    )
    at: Level | None = Field(
        default=None,
        description="In a sweep, the level (as in [mechanism]) that decides status and exit code; "
        "if left out, every level must meet the threshold.",
    )
    reason: str = Field("", description="Why this limit.")
    origin: str = Field("", description="Who set it, and where.")

    @model_validator(mode="after")
    def _one(self) -> ThresholdSpec:
        if sum(v is not None for v in (self.share, self.advantage, self.targets)) != 1:
            raise ValueError("give exactly one of share, advantage, targets")
        if self.worst_group is not None and self.targets is not None:
            raise ValueError("`worst_group` goes with `share` or `advantage`, not with `targets`")
        return self


class GroupsSpec(Section):
    """Whose numbers are shown beside the average."""

    columns: list[str] = Field(default=[], description="A group for each value of these columns.")
    unusual: bool = Field(default=True, description="By how unusual a person's secret is.")
    singled_out: bool = Field(
        default=True, description="Those alone with their known values in a table."
    )


class RunSpec(Section):
    """How much work."""

    trials: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Independent releases played; 100 if neither this nor `precision` is given.",
    )
    precision: float | None = Field(
        default=None,
        gt=0,
        le=50,
        description="Instead of `trials`: how far the limits of a mean share may be from it, in "
        "percentage points. A pilot of its own chooses the number of releases beforehand.",
    )
    confidence: float = Field(
        default=0.95, gt=0, lt=1, description="Level of all sampled limits, both sides together."
    )
    seed: int | None = Field(default=None, ge=0, description="Everything random follows from it.")
    workers: int | None = Field(
        default=None, ge=1, description="Processes; one for each core if left out."
    )

    @model_validator(mode="after")
    def _one_measure(self) -> RunSpec:
        if self.trials is not None and self.precision is not None:
            raise ValueError("give `trials` or `precision`, not both")
        return self


class TableStudy(Section):
    """Audit of a planned release of noisy marginals of a table of people."""

    title: str = Field("", description="A name for the report.")
    data: DataSpec
    threat: ThreatSpec
    prior: PriorSpec = PriorSpec()
    mechanism: MechanismSpec
    attacks: dict[str, AttackSpec] = Field(
        default={"prior": AttackSpec(), "posterior": AttackSpec(), "ceiling": AttackSpec()},
        description="Attacks by name.",
    )
    bounds: BoundsSpec = BoundsSpec()
    threshold: ThresholdSpec | None = None
    policy: str | None = Field(
        default=None, description="A file with a [threshold] of its own, instead of one here."
    )
    groups: GroupsSpec = GroupsSpec()
    run: RunSpec = RunSpec()

    @field_validator("attacks")
    @classmethod
    def _kinds(cls, attacks: dict[str, AttackSpec]) -> dict[str, AttackSpec]:
        from narcissus._validation import did_you_mean

        if not attacks:
            raise ValueError("name at least one attack")
        kinds = [spec.kind or name for name, spec in attacks.items()]
        if kinds.count("ceiling") > 1:
            raise ValueError("`ceiling` is asked for twice; it has no options that could differ")
        for (name, spec), kind in zip(attacks.items(), kinds, strict=True):
            if kind not in NAMED_ATTACKS and ":" not in kind:
                raise ValueError(
                    f"`{name}` is no attack: {', '.join(NAMED_ATTACKS)}, or your own as "
                    f"'module:attribute'{did_you_mean(kind, NAMED_ATTACKS)}"
                )
            allowed = {
                "posterior": {"method", "sweeps"},
                "rap": {"start", "steps", "starts", "rounding"},
            }.get(kind, set())
            for option in ("method", "sweeps", "start", "steps", "starts", "rounding"):
                if getattr(spec, option) is not None and option not in allowed:
                    raise ValueError(f"attack `{name}` has no option `{option}`")
            if spec.options and ":" not in kind:
                raise ValueError(f"attack `{name}`: `options` are for your own classes")
        return attacks

    @model_validator(mode="after")
    def _trials_are_played(self) -> TableStudy:
        most = self.run.trials or DEFAULT_TRIALS
        for name, spec in self.attacks.items():
            if spec.trials is not None and self.run.precision is None and spec.trials > most:
                raise ValueError(
                    f"attack `{name}`: `trials` must be at most run.trials ({most}), "
                    f"got {spec.trials}"
                )
        return self

    @model_validator(mode="after")
    def _one_threshold(self) -> TableStudy:
        if self.threshold is not None and self.policy is not None:
            raise ValueError("give `threshold` or `policy`, not both")
        return self


class PolicyFile(Section):
    """A policy: the threshold of whoever approves releases, with its origin and reason."""

    threshold: ThresholdSpec
