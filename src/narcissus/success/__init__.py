"""Success criteria for attempts, and the statements made about success."""

from narcissus.success.claim import Claim
from narcissus.success.codes import CodesRight
from narcissus.success.column_share import ColumnShare
from narcissus.success.definitions import (
    BayesianSafety,
    EncryptionSecurity,
    MembershipResilience,
    NarcissusResilience,
    NarcissusSinglingOut,
    OneWayness,
    PairResilience,
    SafetyGivenKnowledge,
    SurprisalResilience,
    TwoCriteriaSafety,
)
from narcissus.success.kept import KeptSurprisal
from narcissus.success.singling_out import SinglingOut
from narcissus.success.statements import (
    FixedBaseline,
    NotMemorizing,
    Resilience,
    Statement,
    Threshold,
)
from narcissus.success.table import ColumnsRight, exact_match

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
