"""Membership of records in trained models: likelihood-ratio attacks on shadow models' scores."""

from narcissus.membership.attacks import ATTACKS, attack_scores, lira, rmia
from narcissus.membership.audit import (
    MembershipAudit,
    RateAcrossModels,
    audit_membership,
    rates_across_models,
)
from narcissus.membership.shadows import (
    SCALES,
    CoinDesign,
    ShadowScores,
    coin_design,
    read_shadow_scores,
    shadow_scores,
)

__all__ = [
    "ATTACKS",
    "SCALES",
    "CoinDesign",
    "MembershipAudit",
    "RateAcrossModels",
    "ShadowScores",
    "attack_scores",
    "audit_membership",
    "coin_design",
    "lira",
    "rates_across_models",
    "read_shadow_scores",
    "rmia",
    "shadow_scores",
]
