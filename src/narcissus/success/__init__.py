"""Success criteria for attempts, and the statements made about success."""

from narcissus.success.codes import CodesRight
from narcissus.success.definitions import (
    BayesianSafety,
    EncryptionSecurity,
    KeptSurprisal,
    MembershipResilience,
    NarcissusResilience,
    NarcissusSinglingOut,
    OneWayness,
    PairResilience,
    SafetyGivenKnowledge,
    SurprisalResilience,
    TwoCriteriaSafety,
)
from narcissus.success.singling_out import SinglingOut
from narcissus.success.statements import (
    Claim,
    FixedBaseline,
    NotMemorizing,
    Resilience,
    Statement,
    Threshold,
)
from narcissus.success.table import ColumnShare, ColumnsRight, exact_match

__all__ = [
    "BayesianSafety",
    "Claim",
    "CodesRight",
    "ColumnShare",
    "ColumnsRight",
    "EncryptionSecurity",
    "FixedBaseline",
    "KeptSurprisal",
    "MembershipResilience",
    "NarcissusResilience",
    "NarcissusSinglingOut",
    "NotMemorizing",
    "OneWayness",
    "PairResilience",
    "Resilience",
    "SafetyGivenKnowledge",
    "SinglingOut",
    "Statement",
    "SurprisalResilience",
    "Threshold",
    "TwoCriteriaSafety",
    "exact_match",
]
