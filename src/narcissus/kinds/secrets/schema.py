"""The study file of secrets in trained models.

The descriptions here are the documentation of the study file (`narcissus schema study secrets`).
"""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field, field_validator, model_validator

from narcissus.priors.secrets import SecretPrior
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import Approval, FileSection, PlayedRun

Prior = Annotated[Part, PartSection("secret-prior")]
TrainedBy = Annotated[Part, PartSection("secret-mechanism")]
AttackOnSecret = Annotated[Part, PartSection("secret-attack", named=True)]


def _listed(value: Any) -> Any:
    """Take one section [prior] for a list of one."""
    return [value] if isinstance(value, dict | Part) else value


class SecretThreshold(Approval):
    """What the person who approves the training accepts; of two limits both must be kept."""

    success: float | None = Field(
        default=None, gt=0, le=1, description="Chance that a secret is named, at most."
    )
    advantage: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Advantage over the best guess without the model, at most: "
        "(success - guess) / (1 - guess).",
    )
    at: float | None = Field(
        default=None,
        allow_inf_nan=True,
        description="The epsilon (as in [mechanism]) that decides status and exit code; if left "
        "out, every one must meet the threshold.",
    )

    @model_validator(mode="after")
    def _some(self) -> SecretThreshold:
        if self.success is None and self.advantage is None:
            raise ValueError("give `success`, `advantage` or both")
        return self

    def most(self, guess: float) -> float:
        """Return success that is accepted where the best guess without the model is ``guess``."""
        limits = [1.0]
        if self.success is not None:
            limits.append(self.success)
        if self.advantage is not None:
            limits.append(guess + self.advantage * (1.0 - guess))
        return min(limits)


class SecretsRun(PlayedRun):
    """How much work."""

    models: int = Field(
        default=2000,
        ge=10,
        le=10**7,
        description="Models trained for each prior and epsilon, each on a secret of its own.",
    )
    confidence: float = Field(
        default=0.95,
        gt=0,
        lt=1,
        description="Of all limits of the study together: of each attack, prior and epsilon, on "
        "both sides.",
    )
    workers: int | None = Field(default=None, ge=1, description="Processes; one if left out.")


class SecretsStudy(FileSection):
    """Secrets in trained models: what attacks name, the guess without, and what nobody exceeds."""

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    source: str = Field("", description="Paper and number.")
    prior: Annotated[
        list[Prior], BeforeValidator(_listed, json_schema_input_type=Prior | list[Prior])
    ] = Field(
        min_length=1,
        description="How secrets are drawn; several, as [[prior]], are studied one by one.",
    )
    mechanism: TrainedBy
    attacks: dict[str, AttackOnSecret] = Field(
        {"argmax": {}, "posterior": {}, "ranking": {}},
        description="Attacks by name; `name` of the part where it is another one.",
        validate_default=True,
    )
    threshold: SecretThreshold | None = None
    policy: str | None = Field(
        default=None, description="A file with a [threshold] of its own, instead of one here."
    )
    run: SecretsRun = SecretsRun()

    @field_validator("attacks", mode="before")
    @classmethod
    def _by_key(cls, attacks: Any) -> Any:
        if not isinstance(attacks, dict):
            return attacks
        given = cast("dict[str, Any]", attacks)
        return {k: {"name": k, **v} if isinstance(v, dict) else v for k, v in given.items()}

    @model_validator(mode="after")
    def _can_be_played(self) -> SecretsStudy:
        if not self.attacks:
            raise ValueError("name at least one attack")
        if self.threshold is not None and self.policy is not None:
            raise ValueError("give `threshold` or `policy`, not both")
        return self

    def priors(self) -> list[SecretPrior]:
        """Make the priors, in the order of the file."""
        return [part.build() for part in self.prior]


class SecretsPolicy(FileSection):
    """The threshold of the person who approves the training, with its origin and reason."""

    threshold: SecretThreshold
