"""The study file of a table audit: what may be written in it, and what it means.

The descriptions here are the documentation of the study file (`narcissus init --schema table`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    field_validator,
    model_serializer,
    model_validator,
)

from narcissus._options import MOST_COUNT, MOST_WORKERS
from narcissus.bounds.threat import Nearby
from narcissus.results import NotAssessed
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import (
    Approval,
    FileSection,
    LeastGroup,
    TimedRun,
    named_by_key,
    without_default_least_group,
    without_defaults,
)
from narcissus.study.signatures import Option
from narcissus.tables.spelling import ReadAs

DEFAULT_TRIALS = 100
DEFAULT_TRAINING = 10


class Strictly(FileSection):
    """A section in which "100" and true are no numbers: TOML tells them apart, and so do we."""

    model_config = ConfigDict(strict=True)


class BinsSpec(Strictly):
    """How to turn a column of many values into a few; give exactly one key, and perhaps `codes`."""

    width: float | None = Field(None, gt=0, description="Bins of this width, from multiples of it.")
    edges: list[float] | None = Field(None, min_length=1, description="Where a new bin starts.")
    quantiles: int | None = Field(None, ge=2, le=100, description="So many bins of equal share.")
    above: float | None = Field(None, description="Two values: at most this, and above it.")

    common: int | None = Field(
        None,
        ge=1,
        le=MOST_COUNT,
        description="So many values stay, those that most people have; all others become one, "
        "'(other)'. Also for texts.",
    )
    codes: list[str | float] | None = Field(
        None,
        description="With one of the first four: values that are codes in place of numbers, such "
        "as 'N' or -9; each stays a separate value.",
    )

    _as_before = model_serializer(mode="wrap")(without_defaults(common=None, codes=None))

    @model_validator(mode="after")
    def _one(self) -> BinsSpec:
        ways = [name for name in type(self).model_fields if name != "codes"]
        if sum(getattr(self, name) is not None for name in ways) != 1:
            raise ValueError(f"give exactly one of {', '.join(ways)}")
        if self.common is not None and self.codes is not None:
            raise ValueError("`codes` go with bins of numbers: `common` keeps values as they are")
        return self


class DataSpec(Strictly):
    """The table of people."""

    path: str | None = Field(
        None, description="CSV (also .csv.gz, .tsv) or Parquet, relative to the study file."
    )
    table: str | None = Field(
        None, description="A packaged table instead of a file, such as 'statsmodels:fair'."
    )
    columns: list[str] | None = Field(None, description="Columns to use; all if left out.")
    drop: list[str] = Field([], description="Columns to leave out; '' for those without a name.")
    left_out: dict[str, str] = Field(
        {},
        description="Columns that `narcissus init` leaves out by itself, with the reason. Each is "
        "examined: one that tells of the secret leaves a verdict in favour open. Move to `drop` "
        "what no attacker knows.",
    )
    bins: dict[str, BinsSpec] = Field({}, description="How to bin columns of many values.")
    missing: Literal["refuse", "drop", "category"] = Field(
        "refuse", description="Missing values: an error, rows dropped, or a separate value."
    )
    read_as: dict[str, ReadAs] = Field(
        {},
        description="How to read columns whose values do not settle it: as 'text', as 'numbers' "
        "(with a decimal point), with a 'decimal-comma', as dates 'day-first' or 'month-first'.",
    )
    unit: str | None = Field(
        None,
        description="A column that names each row's person, household or cluster, where some have "
        "several rows; it is no column of the table. One row of each is kept, drawn at random, so "
        "that rows are independent people.",
    )
    max_rows: int | None = Field(
        None,
        gt=0,
        le=MOST_COUNT,
        description="Most rows that are read, and a 20th of the cells; 200 million if left out.",
    )

    @property
    def undeclared(self) -> list[str]:
        """The columns that are left out, and that `drop` does not name."""
        return [name for name in self.left_out if name not in self.drop]

    _held: tuple[object, Any] | None = PrivateAttr(default=None)

    def hold(self, stamp: object, table: Any) -> None:
        """Keep a table that was counted, so that a check and a run read it once."""
        self._held = (stamp, table)

    def held(self, stamp: object) -> Any:
        """Return the table kept under a stamp, or None."""
        return None if self._held is None or self._held[0] != stamp else self._held[1]

    _as_before = model_serializer(mode="wrap")(
        without_defaults(max_rows=None, read_as={}, unit=None, left_out={})
    )

    @model_validator(mode="after")
    def _one_source(self) -> DataSpec:
        if (self.path is None) == (self.table is None):
            raise ValueError("give exactly one of `path` and `table`")
        return self


class ThreatSpec(Strictly):
    """What the attacker knows, wants, and when they succeed."""

    unknown: list[str] | None = Field(None, min_length=1, description="Columns to reconstruct.")
    known: list[str] | None = Field(
        None, description="Columns that the attacker knows; all others are unknown."
    )
    targets: int = Field(
        100, gt=0, le=1_000_000, description="People whose tables are released together."
    )
    people: Literal["prior", "rows", "all"] = Field(
        "prior",
        description="Where they come from: drawn from the prior, which is then known exactly, "
        "or real rows of the table, or all of them; then baselines, ceiling and bounds depend on "
        "the prior.",
    )
    within: dict[str, Annotated[float, Field(ge=0)]] = Field(
        {},
        description="For ordered unknown columns: how far off (L1) still counts as right, in the "
        "column's own numbers; for a binned column in bins.",
    )
    at_least: int | None = Field(
        None,
        gt=0,
        le=MOST_COUNT,
        description="How many unknown columns must be right; all if left out.",
    )
    share_of_columns: bool = Field(
        False,
        description="Score a guess by the share of its unknown columns that are right, instead of "
        "whether all or `at_least` so many are.",
    )
    prior_factor: float | None = Field(
        None,
        ge=1,
        description="How far the prior may be from the true one, given what the attacker knows: "
        "every value's true probability is between 1 / this and this times that of the prior. "
        "What is proved then holds for all such priors.",
    )
    prior_distance: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Likewise: no event's true probability is further off (total variation).",
    )

    bins_only: list[str] = Field(
        [],
        description="Known columns in bins of which no attacker knows more than the bin. Of others "
        "the exact values are examined: where these tell more of the secret, a verdict in favour "
        "stays open.",
    )
    order_hidden: bool = Field(
        False,
        description="No attacker knows the place of a person in the file. Else a verdict in favour "
        "stays open where rows tell the secrets of others, or the file is sorted by one.",
    )
    spelling_hidden: bool = Field(
        False,
        description="No attacker knows how the file writes equal values. Else a verdict in favour "
        "stays open where that tells of the secret: an empty cell or `NA`, 12 or 12.0.",
    )

    _as_before = model_serializer(mode="wrap")(
        without_defaults(
            share_of_columns=False,
            prior_factor=None,
            prior_distance=None,
            bins_only=[],
            order_hidden=False,
            spelling_hidden=False,
        )
    )

    @property
    def nearby(self) -> Nearby | None:
        """How far the prior may be from the true one; None: it is taken as it is."""
        if self.prior_factor is None and self.prior_distance is None:
            return None
        return Nearby(self.prior_factor, self.prior_distance)

    @model_validator(mode="after")
    def _one_side(self) -> ThreatSpec:
        if (self.unknown is None) == (self.known is None):
            raise ValueError("give exactly one of `unknown` and `known`")
        if self.share_of_columns and self.at_least is not None:
            raise ValueError("give `at_least` or `share_of_columns`, not both")
        if self.prior_factor is not None and self.prior_distance is not None:
            raise ValueError("give `prior_factor` or `prior_distance`, not both")
        return self


Prior = Annotated[Part, PartSection("record-prior")]
Mechanism = Annotated[Part, PartSection("table-mechanism")]
Trials = Annotated[int, Field(ge=1, le=MOST_COUNT)]
_FEWER = Option("trials", Trials | None, None, "Fewer trials than the rest, for a slow attack.")
Attack = Annotated[Part, PartSection("table-attack", also=(_FEWER,), named=True)]


class ReleaseSpec(Strictly):
    """A release that was already made, or is about to be, of what [mechanism] releases.

    It is attacked as it stands, about all people of [data]; the simulated releases are shown next
    to it.
    """

    path: str = Field(
        description="Rows as the table has them; or counts, one line a cell with the values of "
        "its columns and a column `count`, empty where withheld. Relative to the study file."
    )


class BoundsSpec(Strictly):
    """What is to be proved, and at which confidence limits are drawn."""

    confidence: float | list[float] = Field(
        default=0.95,
        description="Levels of 'no attacker gets more than v of n'; the highest is the headline. "
        "Estimated limits have a separate level, `run.confidence`.",
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
        """Return the different levels, the highest first, which is the headline."""
        confidences = self.confidence if isinstance(self.confidence, list) else [self.confidence]
        return sorted(set(confidences), reverse=True)


class ThresholdSpec(Approval, Strictly):
    """What the approver of the release accepts; of several limits every one must be kept."""

    share: float | None = Field(None, gt=0, le=1, description="Mean share recovered, at most.")
    advantage: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Mean advantage over the best guess without the release, at most: "
        "(share - guess) / (1 - guess).",
    )
    gain: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Mean share recovered above what the same attempts score on fresh people, at "
        "most: what is due to the release.",
    )
    targets: int | None = Field(
        None,
        ge=0,
        le=MOST_COUNT,
        description="Targets recovered, not exceeded with the highest confidence of [bounds].",
    )
    worst_group: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The same as `share`, `advantage` or `gain` next to it (one of them), for each "
        "group of [groups] whose members an attacker can tell beforehand.",
    )
    at: float | None = Field(
        None,
        allow_inf_nan=True,
        description="In a sweep, the level (as in [mechanism]) that decides status and exit code; "
        "if left out, every level must meet the threshold.",
    )

    @model_validator(mode="after")
    def _some(self) -> ThresholdSpec:
        means = sum(v is not None for v in (self.share, self.advantage, self.gain))
        if not means and self.targets is None:
            raise ValueError("give at least one of share, advantage, gain, targets")
        if self.worst_group is not None and means != 1:
            raise ValueError("`worst_group` goes with one of `share`, `advantage` and `gain`")
        return self


class GroupsSpec(Strictly):
    """Whose numbers are shown next to the average."""

    columns: list[str] = Field(default=[], description="A group for each value of these columns.")
    unusual: bool = Field(default=True, description="By how unusual a person's secret is.")
    singled_out: bool = Field(
        default=True, description="Those alone with their known values in a table."
    )
    least_group: int = LeastGroup

    _as_before = model_serializer(mode="wrap")(without_default_least_group)


class RunSpec(TimedRun, Strictly):
    """How much work."""

    trials: Annotated[int, Field(ge=1, le=1_000_000)] | Literal["auto"] | None = Field(
        default=None,
        description="Independent releases played; 100 if neither this nor `precision` is given. "
        'With `precision` the most that are played. "auto" plays until the verdict on the '
        "threshold is decided or `--budget` is spent; limits hold whenever the run ends.",
    )
    precision: float | None = Field(
        default=None,
        gt=0,
        le=50,
        description="Half the distance between the limits of the headline (guess, best attack, "
        "ceiling) at which the run ends, in percentage points. A separate pilot says when the "
        "run looks at its limits; these hold at their level whenever it ends.",
    )
    quick: bool = Field(
        default=False,
        description="A rough first answer: few trials, fast attacks, the level of the threshold.",
    )
    training: int = Field(
        default=DEFAULT_TRAINING,
        ge=1,
        le=10_000,
        description="Simulated releases from which attacks learn that do; none is scored.",
    )
    confidence: float = Field(
        default=0.95, gt=0, lt=1, description="Level of all estimated limits, both sides together."
    )
    workers: int | None = Field(
        default=None, ge=1, le=MOST_WORKERS, description="Processes; one for each core if left out."
    )

    _as_before = model_serializer(mode="wrap")(without_defaults(quick=False))

    @property
    def most(self) -> int | None:
        """The number of trials that is given; None where the run decides."""
        return None if self.trials == "auto" else self.trials

    @property
    def looks(self) -> bool:
        """Whether limits decide when the run ends."""
        return self.precision is not None or self.trials == "auto"

    @model_validator(mode="after")
    def _one_end(self) -> RunSpec:
        if self.precision is not None and self.trials == "auto":
            raise ValueError(
                '`trials = "auto"` ends when the verdict is decided, `precision` when limits are '
                "near enough: give one of them"
            )
        return self


class TableStudy(Strictly):
    """Audit of something that is to be released about a table of people."""

    title: str = Field("", description="A name for the report.")
    data: DataSpec
    threat: ThreatSpec
    prior: Prior = Field({}, validate_default=True)
    mechanism: Mechanism
    release: ReleaseSpec | None = None
    attacks: dict[str, Attack] = Field(
        {"prior": {}, "posterior": {}, "ceiling": {}},
        description="Attacks by name; `name` of the part where it is another one.",
        validate_default=True,
    )
    bounds: BoundsSpec = BoundsSpec()
    threshold: ThresholdSpec | None = None
    policy: str | None = Field(
        default=None, description="A file with its own [threshold], instead of one here."
    )
    groups: GroupsSpec = GroupsSpec()
    run: RunSpec = RunSpec()

    _by_key = field_validator("attacks", mode="before")(named_by_key)

    @field_validator("attacks")
    @classmethod
    def _some(cls, attacks: dict[str, Part]) -> dict[str, Part]:
        if not attacks:
            raise ValueError("name at least one attack")
        if [part.name for part in attacks.values()].count("ceiling") > 1:
            raise ValueError("`ceiling` is asked for twice; it has no options that could differ")
        return attacks

    @model_validator(mode="after")
    def _bins_are_made(self) -> TableStudy:
        for name in self.threat.bins_only:
            if name not in self.data.bins:
                raise ValueError(f"`threat.bins_only`: `{name}` has no bins in [data.bins]")
        return self

    @model_validator(mode="after")
    def _trials_are_played(self) -> TableStudy:
        limit = self.run.most or DEFAULT_TRIALS
        for name, part in self.attacks.items():
            trials = part.also["trials"]
            if trials is not None and not self.run.looks and trials > limit:
                raise ValueError(
                    f"attack `{name}`: `trials` must be at most run.trials ({limit}), got {trials}"
                )
        return self

    @model_validator(mode="after")
    def _one_threshold(self) -> TableStudy:
        if self.threshold is not None and self.policy is not None:
            raise ValueError("give `threshold` or `policy`, not both")
        return self


class PolicyFile(Strictly):
    """A policy: the threshold of the person who approves releases, with its origin and reason."""

    threshold: ThresholdSpec


TRIALS = 20
SLOW = ("rap", "stack")
"""Attacks that are left out, by the name of their part; so is what samples by Gibbs."""


def quicker(study: TableStudy) -> tuple[TableStudy, NotAssessed]:
    """Cut a study down to what takes seconds, and report what was cut.

    Its limits hold at their level, and are wider. Kept are fast attacks, or all where none is,
    `TRIALS` trials or fewer, and of a sweep the level that the threshold is about, else the first
    with a guarantee.
    """
    run, mechanism, level = study.run, study.mechanism, study.mechanism.level
    trials = min(TRIALS, run.most or TRIALS)
    cut = [f"{trials} trials"]
    levels = mechanism.levels
    at = next(iter(levels), None) if study.threshold is None else study.threshold.at
    if level is not None and len(levels) > 1 and at is not None:  # else all must meet it
        mechanism = replace(mechanism, options={**mechanism.options, level: [at]})
        cut.append(f"{level} {at:g} alone")
    slow = [n for n, p in study.attacks.items() if "gibbs" in (p.name, p.options.get("method"))]
    slow += [n for n, p in study.attacks.items() if p.name in SLOW]
    fast = {name: part for name, part in study.attacks.items() if name not in slow}
    if fast and slow:
        cut.append(f"without {', '.join(slow)}")
    attacks = {
        n: replace(p, also={**p.also, "trials": None}) for n, p in (fast or study.attacks).items()
    }
    run = run.model_copy(update={"trials": trials, "precision": None})
    changed = {"run": run, "mechanism": mechanism, "attacks": attacks}
    return study.model_copy(update=changed), NotAssessed(
        "what a quick look leaves out",
        f"this is a quick look: {', '.join(cut)}. Its limits hold, and are wider",
        "run `narcissus audit` without `--quick`",
    )
