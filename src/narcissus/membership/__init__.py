"""Membership of records in trained models: likelihood-ratio attacks on shadow models' scores."""

from narcissus.membership.attacks import ATTACKS, attack_scores, lira, rmia
from narcissus.membership.audit import (
    MembershipAudit,
    RateAcrossModels,
    audit_membership,
    rates_across_models,
)
from narcissus.membership.blind import (
    BlindBaseline,
    blind_baseline,
    blind_baselines,
    read_points,
)
from narcissus.membership.reported import reported_rates
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
    "BlindBaseline",
    "CoinDesign",
    "MembershipAudit",
    "RateAcrossModels",
    "ShadowScores",
    "attack_scores",
    "audit_membership",
    "blind_baseline",
    "blind_baselines",
    "coin_design",
    "lira",
    "rates_across_models",
    "read_points",
    "read_shadow_scores",
    "reported_rates",
    "rmia",
    "shadow_scores",
]
