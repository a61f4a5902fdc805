"""The papers' definitions that are one inequality: resilience, each in its own kind of game.

`KeptSurprisal` is the surprisal that a row must keep, given the side information, to count.
Source: Kaplan et al. 2025, Definition 4.4 and Remark 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import non_negative, probability
from narcissus.errors import InputError
from narcissus.success.statements import Resilience
from narcissus.worlds.base import members
from narcissus.worlds.finite import Pairs, RandomNeighbours

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Bits by which a surprisal may miss what is asked of it."""


@dataclass(frozen=True)
class KeptSurprisal:
    """The condition on ``h(z | K, others)`` for a recovered row ``z`` of the data set to count.

    Parameters
    ----------
    share
        Share of ``h(z | others)``, in [0, 1].
    bits
        Bits that must be left in addition, whatever the row had before, at least 0.
    fresh_share
        The same share for rows of fresh data, which count for the baseline only where they
        keep it; None sets no condition.
    """

    share: float
    bits: float = 0.0
    fresh_share: float | None = None

    def __post_init__(self) -> None:
        probability("share", self.share)
        non_negative("bits", self.bits)
        if self.fresh_share is not None:
            probability("fresh_share", self.fresh_share)

    @classmethod
    def of(cls, asked: float | KeptSurprisal) -> KeptSurprisal:
        """Convert a share alone to a condition."""
        return asked if isinstance(asked, KeptSurprisal) else cls(asked)

    @property
    def of_fresh(self) -> KeptSurprisal | None:
        """The condition on rows of fresh data; None for none."""
        return None if self.fresh_share is None else KeptSurprisal(self.fresh_share)

    def enough(self, told: Floats, plain: Floats) -> NDArray[np.bool_]:
        """Check surprisals with (``told``) and without (``plain``) ``K`` against the condition."""
        return np.asarray(told >= np.maximum(self.share * plain, self.bits) - ROUNDING)


@dataclass(frozen=True)
class NarcissusResilience(Resilience):
    """The mechanism is Narcissus resilient: success against the attacker on a fresh data set."""

    definition: ClassVar[str] = "Cohen et al. 2024, Definition 1.6"


@dataclass(frozen=True)
class PairResilience(Resilience):
    """Narcissus resilience over pairs: the fresh data set is the other one of the pair."""

    definition: ClassVar[str] = "Cohen et al. 2024, Definition A.2"

    @classmethod
    def require(cls, game: Any) -> None:
        worlds = members(game.world).values()
        if not all(isinstance(world, Pairs | RandomNeighbours) for world in worlds):
            raise InputError(
                "the statement `pairs` needs a world of pairs: `pairs`, `neighbours` (each pair "
                "by itself) or `random-neighbours` (one drawn)"
            )


@dataclass(frozen=True)
class BayesianSafety(Resilience):
    """The mechanism is Bayesian extraction-safe: a distribution is drawn from a meta-distribution.

    Data and fresh data are drawn from it independently: the fresh data set is drawn given Nature,
    and not given the release.
    """

    definition: ClassVar[str] = "Kaplan et al. 2025, Definition 3.1"


@dataclass(frozen=True)
class TwoCriteriaSafety(Resilience):
    """Bayesian extraction-safety with a looser relation for the fresh data set."""

    definition: ClassVar[str] = "Kaplan et al. 2025, Definition 3.6"
    two_relations: ClassVar[bool] = True

    @classmethod
    def require(cls, game: Any) -> None:
        if game.looser is None:
            raise InputError("the statement `two-criteria` needs a section [looser]")


@dataclass(frozen=True)
class SafetyGivenKnowledge(Resilience):
    """Extraction-safety against an attacker with side information.

    The definition covers all side information; a study tells one. A violation of the statement
    violates the definition, and resilience is shown for the side information of the study.
    """

    definition: ClassVar[str] = "Kaplan et al. 2025, Definition 4.1"
    whatever_is_told: ClassVar[bool] = True

    @classmethod
    def require(cls, game: Any) -> None:
        if game.side is None:
            raise InputError("the statement `side-information` needs a section [side-information]")


@dataclass(frozen=True)
class SurprisalResilience(Resilience):
    """Resilience where a row counts only if the attacker was not told too much about it.

    Parameters
    ----------
    share
        xi: share of its surprisal that a row keeps, in [0, 1].
    bits
        Bits of surprisal that a row must keep in addition, whatever it had, at least 0.
    fresh_share
        Share that recovered rows of fresh data must keep to count for the baseline; by default all
        of them count.

    Notes
    -----
    Source: Kaplan et al. 2025, Definitions 4.4 and 4.11; Remark 4.5 (``bits``, ``fresh_share``).
    """

    share: float = field(kw_only=True)
    bits: float = field(default=0.0, kw_only=True)
    fresh_share: float | None = field(default=None, kw_only=True)
    definition: ClassVar[str] = "Kaplan et al. 2025, Definitions 4.4 and 4.11"
    two_relations: ClassVar[bool] = True
    whatever_is_told: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        KeptSurprisal(self.share, self.bits, self.fresh_share)

    def words(self) -> str:
        asked = [super().words()]
        if self.bits:
            asked.append(f"where a row counts that keeps {self.bits:g} bits")
        if self.fresh_share is not None:
            asked.append(
                f"a row of fresh data where it keeps {self.fresh_share:g} of its surprisal"
            )
        return ", ".join(asked)


@dataclass(frozen=True)
class MembershipResilience(Resilience):
    """Membership inference as resilience: the attempt names a record, in the data set or not."""

    definition: ClassVar[str] = "Cohen et al. 2024, Definition 2.1 and Theorem 2.3"


@dataclass(frozen=True)
class NarcissusSinglingOut(Resilience):
    """Narcissus predicate singling out: a predicate isolates a row, or one of fresh data."""

    definition: ClassVar[str] = "Cohen et al. 2024, Definition 2.5"


@dataclass(frozen=True)
class OneWayness(Resilience):
    """One-wayness as resilience: the attempt is a preimage."""

    definition: ClassVar[str] = "Cohen et al. 2024, Theorem B.5"


@dataclass(frozen=True)
class EncryptionSecurity(Resilience):
    """Security of encryption as resilience: the attempt names the message of a pair."""

    definition: ClassVar[str] = "Cohen et al. 2024, Theorems B.8 and B.12"
