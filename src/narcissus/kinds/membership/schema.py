"""The study file of membership.

The descriptions here are the documentation of the study file (`narcissus init --schema
membership`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from narcissus._options import MOST_COUNT
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee
from narcissus.guarantees.base import Adjacency
from narcissus.study.sections import Approval, FileSection, SeededRun

Rate = Annotated[float, Field(gt=0, lt=1)]
AttackName = Literal[
    "lira", "lira-offline", "lira-fixed", "lira-offline-fixed", "rmia", "rmia-offline", "score"
]


class ScoresSpec(FileSection):
    """Scores of models on records, relative to the study file."""

    scores: str = Field(
        description="`scores` and `members` of shape (models, records), and `priors` (records,) "
        "where coins were not fair, `clusters` where one coin put several in: .npz, .npy, "
        ".safetensors, or .csv and .parquet with a row for each model and record. "
        "Canaries are records of one model or more."
    )
    members: str | None = Field(
        default=None, description="The members, where the scores are a .npy file."
    )
    scale: Literal["score", "probability", "logit", "loss"] = Field(
        default="score", description="What the numbers are; a `score` is larger for members."
    )
    points: str | None = Field(
        default=None,
        description="The records themselves, for a classifier that never sees a "
        "model: a table, a file of arrays (`points`), or .txt, with a row or line for each. The "
        "column `record` of a table names them where the scores are a table.",
    )


class ShadowsSpec(FileSection):
    """Who attacks what."""

    attacks: list[AttackName] = Field(
        default=["lira"], min_length=1, description="Attacks; limits hold jointly for all of them."
    )
    targets: int | None = Field(
        default=None,
        ge=1,
        le=MOST_COUNT,
        description="Models that are attacked, the last ones, and are nobody's "
        "shadows; a quarter if left out.",
    )
    folds: int = Field(
        default=1,
        ge=1,
        le=MOST_COUNT,
        description="Above 1, every model is attacked in one fold, and is a shadow in the others.",
    )
    fpr: list[Rate] = Field(
        default=[0.001, 0.01, 0.1],
        min_length=1,
        description="False-positive rates at which true-positive rates are limited, next to "
        "those that are always reported, 1e-1 to 1e-5.",
    )
    base_rate: Rate | None = Field(
        default=None,
        description="Share of members among those asked about; precisions are limited for it.",
    )

    @model_validator(mode="after")
    def _each_once(self) -> ShadowsSpec:
        for name, choices in (("attacks", self.attacks), ("fpr", self.fpr)):
            if len(set(choices)) < len(choices):
                raise ValueError(f"`{name}` names one twice")
        return self


class DeclaredGuarantee(FileSection):
    """What the training is declared to keep; nothing here tests it but what is refuted."""

    epsilon: float | None = Field(default=None, ge=0, description="Of (epsilon, delta)-DP.")
    delta: float = Field(default=0.0, ge=0, lt=1)
    mu: float | None = Field(default=None, ge=0, description="Of Gaussian DP, instead.")
    adjacency: Adjacency = Field(
        default="add-remove",
        description="What it is about: a record in or out, or another in its place.",
    )

    @model_validator(mode="after")
    def _one(self) -> DeclaredGuarantee:
        if (self.epsilon is None) == (self.mu is None):
            raise ValueError("give `epsilon` (and `delta`) or `mu`")
        return self

    @property
    def guarantee(self) -> Guarantee:
        if self.mu is not None:
            return GaussianDP(self.mu, adjacency=self.adjacency)
        assert self.epsilon is not None
        return ApproximateDP(self.epsilon, self.delta, adjacency=self.adjacency)


class MembershipThreshold(Approval):
    """What the person who approves the model accepts; of two limits both must be kept."""

    tpr: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of members told, at most, at the false-positive rate `at`.",
    )
    at: float | None = Field(
        default=None, description="One of `threat.fpr`; the smallest if left out."
    )
    epsilon: float | None = Field(
        default=None, ge=0, description="An epsilon that must not be refuted, at `guarantee.delta`."
    )

    @model_validator(mode="after")
    def _some(self) -> MembershipThreshold:
        if self.tpr is None and self.epsilon is None:
            raise ValueError("give `tpr`, `epsilon` or both")
        return self


class MembershipRun(SeededRun):
    """How it is run."""

    confidence: float = Field(
        default=0.95, gt=0, lt=1, description="Of all limits of the study together."
    )


class MembershipStudy(FileSection):
    """Membership in a model's training data: what attacks tell, what is refuted, what holds."""

    title: str = Field("", description="A name for the report.")
    data: ScoresSpec
    threat: ShadowsSpec = ShadowsSpec()
    guarantee: DeclaredGuarantee | None = None
    threshold: MembershipThreshold | None = None
    policy: str | None = Field(
        default=None, description="A file with its own [threshold], instead of one here."
    )
    run: MembershipRun = MembershipRun()

    @model_validator(mode="after")
    def _one_threshold(self) -> MembershipStudy:
        if self.threshold is not None and self.policy is not None:
            raise ValueError("give `threshold` or `policy`, not both")
        return self


class MembershipPolicy(FileSection):
    """A policy: the threshold of the person who approves the model, with its origin and reason."""

    threshold: MembershipThreshold
