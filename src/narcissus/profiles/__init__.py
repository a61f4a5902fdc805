"""Exact answers for small worlds: profiles, best attackers, memorized information."""

from narcissus.profiles.cover import Cover, cover, why_not_covered
from narcissus.profiles.profile import (
    EPSILONS,
    Bayes,
    Profile,
    Smallest,
    memorized_information,
    profile,
    sampled_profile,
    smallest,
)
from narcissus.profiles.rational import RationalGame, WorstTold, rational_game, worst_told
from narcissus.profiles.worst_event import (
    WorstEvent,
    WorstNeighbours,
    worst_event,
    worst_neighbours,
)
from narcissus.profiles.write_out import (
    LIMIT,
    WORK,
    WrittenFamily,
    WrittenOut,
    write_out,
    write_out_family,
)

__all__ = [
    "EPSILONS",
    "LIMIT",
    "WORK",
    "Bayes",
    "Cover",
    "Profile",
    "RationalGame",
    "Smallest",
    "WorstEvent",
    "WorstNeighbours",
    "WorstTold",
    "WrittenFamily",
    "WrittenOut",
    "cover",
    "memorized_information",
    "profile",
    "rational_game",
    "sampled_profile",
    "smallest",
    "why_not_covered",
    "worst_event",
    "worst_neighbours",
    "worst_told",
    "write_out",
    "write_out_family",
]
