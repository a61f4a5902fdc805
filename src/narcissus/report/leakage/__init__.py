"""Pages of what commands about channels found, without a record: one function a kind of result."""

from narcissus.report.leakage.pages import (
    Direction,
    channel_page,
    compose_page,
    design_page,
    guarantee_page,
    refinement_page,
)
from narcissus.report.leakage.sampled_pages import estimate_page, groups_page
from narcissus.report.leakage.sheet import Asked

__all__ = [
    "Asked",
    "Direction",
    "channel_page",
    "compose_page",
    "design_page",
    "estimate_page",
    "groups_page",
    "guarantee_page",
    "refinement_page",
]
