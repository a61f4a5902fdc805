"""Membership of records in trained models: likelihood-ratio attacks on shadow models' scores."""

from narcissus.membership.across import RateAcrossModels, rates_across_models
from narcissus.membership.attacks import ATTACKS, attack_scores
from narcissus.membership.audit import MembershipAudit, audit_membership
from narcissus.membership.coins import CoinDesign, coin_design
from narcissus.membership.files import SCALES, read_shadow_scores
from narcissus.membership.lira import lira
from narcissus.membership.rmia import rmia
from narcissus.membership.shadows import ShadowScores, shadow_scores

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
