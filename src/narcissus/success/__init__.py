"""Success criteria for attempts, and the statements made about success."""

from narcissus.success.statements import (
    BayesianSafety,
    Claim,
    EncryptionSecurity,
    FixedBaseline,
    KeptSurprisal,
    MembershipResilience,
    NarcissusResilience,
    NarcissusSinglingOut,
    NotMemorizing,
    OneWayness,
    PairResilience,
    Resilience,
    SafetyGivenKnowledge,
    SinglingOut,
    Statement,
    SurprisalResilience,
    Threshold,
    TwoCriteriaSafety,
)
from narcissus.success.table import CodesRight, ColumnShare, ColumnsRight, exact_match

__all__ = [
    "BayesianSafety", "Claim", "CodesRight", "ColumnShare", "ColumnsRight",
    "EncryptionSecurity", "FixedBaseline", "KeptSurprisal", "MembershipResilience",
    "NarcissusResilience", "NarcissusSinglingOut", "NotMemorizing", "OneWayness",
    "PairResilience", "Resilience", "SafetyGivenKnowledge", "SinglingOut", "Statement",
    "SurprisalResilience", "Threshold", "TwoCriteriaSafety", "exact_match",
]  # fmt: skip
